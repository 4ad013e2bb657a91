/* SPDX-License-Identifier: MIT
 *
 * Helpers of the tests and benchmarks of this folder; not part of the library.
 */
#ifndef POOL_POOL_TESTING_H
#define POOL_POOL_TESTING_H

#include "pool/pool_quick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Drain and writer of one process in one process. */
struct rig {
	void *mem;
	uint32_t chunk_size;
	struct pool_writer *w;
	struct pool_view *v;
	struct pool_pass *p;
};

#define RIG_GUARD_BYTES 65536u

/* Before it and behind its last chunk lies memory that nobody may touch. */
static inline void *rig_segment(uint32_t chunk_size)
{
	static const uint8_t id[16] = {1, 2, 3};
	uint64_t bytes = pool_segment_bytes(chunk_size);
	uint8_t *all = (uint8_t *)mmap(NULL, bytes + 2 * RIG_GUARD_BYTES, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *mem = all == MAP_FAILED ? MAP_FAILED
				      : mmap(all + RIG_GUARD_BYTES, bytes, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (mem == MAP_FAILED) {
		abort();
	}
	pool_segment_init(mem, chunk_size, id);
	return mem;
}

static inline void rig_segment_free(void *mem, uint32_t chunk_size)
{
	munmap((uint8_t *)mem - RIG_GUARD_BYTES, pool_segment_bytes(chunk_size) + 2 * RIG_GUARD_BYTES);
}

static inline struct pool_view *rig_view(void *mem, uint32_t chunk_size, void *cookie)
{
	struct pool_view *v;
	struct pool_limits limits = {.provider_count = 8};
	if (pool_view_create(cookie, &v) != 0 || pool_view_add_segment(v, mem, pool_segment_bytes(chunk_size)) != 0) {
		abort();
	}
	pool_view_set_limits(v, &limits);
	return v;
}

static inline struct rig rig_make(uint32_t chunk_size)
{
	struct rig r = {.mem = rig_segment(chunk_size), .chunk_size = chunk_size};
	r.w = pool_writer_create();
	r.v = rig_view(r.mem, chunk_size, r.mem);
	if (!r.w || pool_pass_create(&r.p) != 0 ||
	    pool_writer_add_segment(r.w, r.mem, pool_segment_bytes(chunk_size), chunk_size) != 0) {
		abort();
	}
	return r;
}

static inline void rig_free(struct rig *r)
{
	pool_pass_destroy(r->p);
	pool_view_destroy(r->v);
	pool_writer_destroy(r->w);
	rig_segment_free(r->mem, r->chunk_size);
}

static inline struct seg_header *rig_header(const struct rig *r)
{
	return (struct seg_header *)r->mem;
}

static inline uint32_t test_tid(void)
{
	static __thread uint32_t tid;
	if (tid == 0) {
		tid = (uint32_t)syscall(SYS_gettid);
	}
	return tid;
}

static const uint64_t test_descriptor[2] = {0x0102030405060708ull, 0x1112131415161718ull};

/* One event with one piece of payload, quick where possible every other time, as the write path of
 * a program does it. */
static inline int test_write(struct pool_writer *w, const void *payload, uint32_t bytes)
{
	static __thread uint32_t turn;
	struct pool_piece piece = {payload, bytes, 0};
	if (turn++ % 2 != 0 && bytes <= POOL_EVENT_MAX && pool_writer_is_quick(w)) {
		struct pool_quick q = {
			.head = pool_rec_head(POOL_REC_EVENT, 3, 7),
			.mask = {0, 5},
			.tid = test_tid(),
			.room = POOL_EVENT_MAX,
			.descriptor = test_descriptor,
			.piece = &piece,
			.piece_count = 1,
			.many = true,
		};
		if (pool_write_quick(w, &q, NULL) == POOL_QUICK_DONE) {
			return 0;
		}
	}
	struct pool_write_args a = {
		.kind = POOL_REC_EVENT,
		.prov = 3,
		.cfg_gen = 7,
		.tid = test_tid(),
		.mask = 5,
		.descriptor = test_descriptor,
		.piece = &piece,
		.piece_count = 1,
		.payload_bytes = bytes,
	};
	return pool_write(w, &a);
}

/* One whole round; `flags` as for begin. */
static inline uint64_t test_round(struct pool_pass *p, struct pool_view **views, uint32_t count, uint32_t flags,
				  uint64_t now, pool_emit_fn emit, void *ctx)
{
	pool_pass_begin(p, now, 1000000000ull, flags);
	for (uint32_t i = 0; i < count; i++) {
		if (pool_pass_collect(p, views[i], flags, 0) != 0) {
			abort();
		}
	}
	uint64_t n = pool_pass_emit(p, emit, ctx);
	pool_pass_commit(p);
	return n;
}

static inline void emit_nothing(void *ctx, const struct pool_event *ev)
{
}

static inline uint64_t rig_flush(struct rig *r, pool_emit_fn emit, void *ctx)
{
	return test_round(r->p, &r->v, 1, POOL_PASS_FLUSH, clock_now(), emit ? emit : emit_nothing, ctx);
}

static inline uint64_t test_lost(const struct rig *r, uint32_t bit)
{
	return order_load_relaxed(&rig_header(r)->lost[bit]);
}

#endif
