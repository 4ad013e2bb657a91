/* SPDX-License-Identifier: MIT
 *
 * The write path, inline. One uncontended compare-and-swap, one clock read, one copy, one
 * store-release; no system call, no allocation, no lock another process can hold.
 *
 *   slot   by concurrency id (rseq), so that threads running at the same time do not meet
 *   lock   taken by cas-acquire; a signal handler or the next thread on this CPU that finds it
 *          taken goes to an overflow slot, far away from everybody's normal slot
 *   fill   bytes behind `committed` are invisible to the drain
 *   word   the store-release that publishes; a writer that dies before it leaves nothing behind
 *
 * The function is inlined so that a caller's constants (no activity, no items, kind) remove the
 * code they do not need. context: async-signal-safe, errno preserved, < 1 KB of stack.
 */
#ifndef POOL_POOL_WRITE_H
#define POOL_POOL_WRITE_H

#include "base/order.h"
#include "pool/pool_writer.h"

#include <sched.h>

/* How far ahead of the write position lines are requested for writing. The drain has just read
 * them on another CPU, and waiting for their ownership costs more than all the rest. */
#define POOL_PREFETCH_BYTES 640u

static inline void pool_prefetch_write(const void *p)
{
#if defined(__x86_64__)
	/* The builtin yields a read prefetch unless the CPU is chosen at build time. Where the CPU
	 * lacks it, this opcode is defined to do nothing. */
	__asm__ volatile("prefetchw (%0)" : : "r"(p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* The same, with the distance as part of the instruction. */
static inline __attribute__((always_inline)) void pool_prefetch_write_at(const uint8_t *p, int bytes)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(p[bytes]));
#else
	__builtin_prefetch(p + bytes, 1);
#endif
}

static inline uint64_t pool_thread_pointer(void)
{
	uint64_t tp;
#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(tp));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
#endif
	return tp;
}

static inline uint32_t pool_thread_u32(int64_t offset)
{
	uint32_t v;
#if defined(__x86_64__)
	__asm__ volatile("movl %%fs:(%1), %0" : "=r"(v) : "r"(offset));
#else
	const uint8_t *tp;
	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	v = order_load_relaxed((const uint32_t *)(tp + offset));
#endif
	return v;
}

/* Which slot, and which CPU to write down. */
static inline uint32_t pool_place(const struct pool_writer *w, uint32_t tid, uint32_t *ret_cpu)
{
	int64_t at = w->rseq_cpu;
	if (BASE_LIKELY(at != 0)) {
		uint32_t index = pool_thread_u32(w->rseq_slot);
		uint32_t cpu = pool_thread_u32(at);
		if (BASE_LIKELY(cpu < 0x10000u)) { /* negative: this thread is not registered */
			*ret_cpu = cpu;
			return index % POOL_SLOTS;
		}
	}
	int cpu = sched_getcpu();
	*ret_cpu = cpu < 0 ? 0 : (uint32_t)cpu;
	return tid % POOL_SLOTS;
}

/* Overlapping moves of fixed size: no loop and no call for the sizes fields usually have. */
static inline void pool_copy(uint8_t *to, const void *from, uint32_t n)
{
	const uint8_t *p = (const uint8_t *)from;
	if (n <= 16) {
		if (n >= 8) {
			uint64_t a = le64_get(p), b = le64_get(p + n - 8);
			le64_put(to, a);
			le64_put(to + n - 8, b);
		} else if (n >= 4) {
			uint32_t a = le32_get(p), b = le32_get(p + n - 4);
			le32_put(to, a);
			le32_put(to + n - 4, b);
		} else if (n != 0) {
			uint8_t a = p[0], b = p[n >> 1], c = p[n - 1];
			to[0] = a;
			to[n >> 1] = b;
			to[n - 1] = c;
		}
	} else if (n <= 32) {
		struct {
			uint64_t a, b;
		} head, tail;
		memcpy(&head, p, 16);
		memcpy(&tail, p + n - 16, 16);
		memcpy(to, &head, 16);
		memcpy(to + n - 16, &tail, 16);
	} else {
		memcpy(to, p, n);
	}
}

/* The pieces, in order, at most `room` bytes in all: the sizes may change while we read them. */
static inline void pool_copy_pieces(uint8_t *to, uint32_t room, const struct pool_piece *piece, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = piece[i].size;
		if (BASE_UNLIKELY(n > room)) {
			n = room;
		}
		pool_copy(to, piece[i].ptr, n);
		to += n;
		room -= n;
	}
	if (BASE_UNLIKELY(room != 0)) {
		memset(to, 0, room);
	}
}

static inline uint64_t pool_write_clock(const struct pool_writer *w, uint64_t wanted)
{
	uint64_t now = clock_now_of((enum clock_kind)w->clock_kind);
	/* A time given by the caller may not lie ahead: later events would be clamped to it. */
	return wanted != 0 && wanted < now ? wanted : now;
}

/* 0 or what pool_write_slow() says. `a->tid` is not 0 and names the calling thread. */
static inline __attribute__((always_inline)) int pool_write(struct pool_writer *w, const struct pool_write_args *a)
{
	if (BASE_UNLIKELY(order_load_relaxed(&w->alive) == 0)) {
		return pool_write_refuse(w, a->mask, POOL_LOST_DETACHED);
	}
	uint32_t items_bytes = a->flags & POOL_REC_ITEMS ? a->items_bytes : 0;
	uint32_t payload_at =
		(uint32_t)sizeof(struct pool_rec) + (a->flags & POOL_REC_ACTIVITY ? 16u : 0u) + items_bytes;
	uint32_t size = BASE_ALIGN8(payload_at + a->payload_bytes);
	if (BASE_UNLIKELY(a->payload_bytes > POOL_EVENT_MAX || items_bytes > POOL_ITEMS_MAX)) {
		return pool_write_refuse(w, a->mask, POOL_LOST_TOO_BIG);
	}
	uint32_t cpu;
	uint32_t index = pool_place(w, a->tid, &cpu);
	struct pool_slot *s = &w->slot[index];
	uint32_t me = a->tid;
	uint64_t frame = (uint64_t)(uintptr_t)(a->frame ? a->frame : __builtin_frame_address(0));
	uint32_t seen = 0;
	/* L: pairs with U below, in whichever thread held the slot before */
	if (BASE_UNLIKELY(!order_cas_acquire(&s->lock, &seen, me))) {
		s = pool_slot_take(w, index, me, frame);
		if (!s) {
			return pool_write_refuse(w, a->mask, POOL_LOST_NESTING);
		}
	}
	order_store_relaxed(&s->frame, frame); /* pool_reclaim.c looks from another thread */
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-lock");
	if (BASE_UNLIKELY((int64_t)size > s->limit - s->at)) {
		s = pool_slot_make_room(w, s, size);
		if (!s) {
			return pool_write_no_room(w, a->mask);
		}
		order_store_relaxed(&s->frame, frame);
	}
	struct chunk_desc *desc = s->desc;
	uint8_t *at = s->at, *next = at + size;
	int64_t ahead = s->limit - at;
	uint64_t word = (uintptr_t)next + s->bias;
	order_fence_compiler();
	/* A signal handler that forks inside a write makes the rest of it run twice. In the child
	 * the writer reads as zero and the chunk is its parent's: what was loaded before this line
	 * may be a mixture. */
	if (BASE_UNLIKELY(order_load_relaxed(&s->lock) != me)) {
		return pool_write_refuse(w, a->mask, POOL_LOST_DETACHED);
	}
	/* Never into the next chunk, which is another writer's. */
	if (BASE_LIKELY(ahead > (int64_t)POOL_PREFETCH_BYTES + 64)) {
		pool_prefetch_write(at + POOL_PREFETCH_BYTES);
		pool_prefetch_write(at + POOL_PREFETCH_BYTES + 64);
	}
	/* "In flight", before the clock is read: the drain's watermark rests on this order. */
	order_store_relaxed(&desc->begun, word);
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-begun");
	uint64_t ts = pool_write_clock(w, a->timestamp);
	ts = ts < s->last_ts ? s->last_ts : ts; /* the lock does not order the clock */
	s->last_ts = ts;

	struct pool_rec *rec = (struct pool_rec *)(void *)at;
	le64_put(at + size - 8, 0); /* padding, before the payload covers what it needs */
	rec->size8 = (uint16_t)(size / 8);
	rec->kind = a->kind;
	rec->flags = a->flags;
	rec->prov = a->prov;
	rec->cpu = (uint16_t)cpu;
	rec->tid = a->tid;
	rec->user_len = (uint16_t)a->payload_bytes;
	rec->cfg_gen = a->cfg_gen;
	rec->ts = ts;
	rec->mask = a->mask;
	memcpy(&rec->id, a->descriptor, 16);
	uint8_t *to = at + sizeof *rec;
	if (a->flags & POOL_REC_ACTIVITY) {
		memcpy(to, a->activity, 16);
		to += 16;
	}
	if (a->flags & POOL_REC_ITEMS) {
		memcpy(to, a->items, items_bytes);
	}
	POOL_TESTPOINT("writer-mid-copy");
	pool_copy_pieces(at + payload_at, a->payload_bytes, a->piece, a->piece_count);
	POOL_TESTPOINT("writer-before-publish");
	/* The same again: a child must not move its parent's word. */
	if (BASE_UNLIKELY(order_load_relaxed(&s->lock) != me)) {
		return pool_write_refuse(w, a->mask, POOL_LOST_DETACHED);
	}
	/* P: publish; pairs with the load-acquire in pool_drain.c */
	order_store_release(&desc->word, word);
	order_store_relaxed(&s->at, next);
	POOL_TESTPOINT("writer-after-publish");
	if (BASE_UNLIKELY(order_load_relaxed(&w->bell_allowed) & POOL_CTL_LOW_LATENCY)) {
		pool_writer_ring(w);
	}
	POOL_TESTPOINT("writer-before-unlock");
	order_store_release(&s->lock, 0u); /* U */
	return 0;
}

#endif
