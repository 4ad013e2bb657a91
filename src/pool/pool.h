/* SPDX-License-Identifier: MIT
 *
 * pool: the staging memory between one provider process and one drain. Front door.
 *
 * Nouns: segment (one memfd or one private mapping), chunk, record, slot (process-private writer
 * state), view (the drain's private picture of one process's pool), pass (one round of draining
 * many views, ordered and merged).
 *
 * Writer side (pool_write.h, inline; pool_writer.c, slow path) runs inside other people's processes:
 * no allocation, no lock another process can hold, no system call on the fast path, safe in
 * signal handlers. Drain side (pool_drain.c, pool_pass.c) treats every byte as hostile: it copies,
 * then validates the copy.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "base/base.h"
#include "pool/pool_abi.h"

/* ---- making segments (drain side) ----------------------------------------------------------- */

/* Bytes of a segment with that chunk size. */
static inline uint64_t pool_segment_bytes(uint32_t chunk_size)
{
	return POOL_DATA_OFFSET + (uint64_t)POOL_CHUNKS * chunk_size;
}
/* Write header and descriptors, then free all chunks (release). The memory must read as zero. */
void pool_segment_init(void *mem, uint32_t chunk_size, const uint8_t pool_id[16]);

/* ---- control block tables (drain side) ------------------------------------------------------ */

/* What a row says of an enable with these properties (EVENT_ENABLE_PROPERTY_*). */
uint16_t pool_row_props(uint32_t properties);

/* Publish rows as the entry's next configuration: fills table `index` (0 or 1, the one not in use),
 * which is at `table_offset`, then stores cfg, then the unions, then enabled (each a release/relaxed
 * store as pool_abi.h says). `generation` must grow by one each call. The table must have room for
 * `count` rows. The block is not read: an old kernel may let its process write there. */
void pool_ctl_publish_to(void *ctl, uint32_t entry_offset, uint32_t index, uint32_t table_offset, uint32_t generation,
			 const struct filter_row *rows, uint32_t count, uint32_t entry_flags);
/* The same; index and offset are read from the block, which nobody else may write. */
void pool_ctl_publish(void *ctl, uint32_t entry_offset, uint32_t generation, const struct filter_row *rows,
		      uint32_t count, uint32_t entry_flags);

/* ---- drain ---------------------------------------------------------------------------------- */

/* What the drain knows about one process. Private memory; survives nothing. */
struct pool_view;

struct pool_limits {
	uint32_t provider_count; /* indices below this are acceptable in records */
};

/* `cookie` comes back with every event. Segments are borrowed: unmap after pool_view_destroy. */
int pool_view_create(void *cookie, struct pool_view **ret_view);
void pool_view_destroy(struct pool_view *v);
int pool_view_add_segment(struct pool_view *v, void *mem, uint64_t bytes);
void pool_view_set_limits(struct pool_view *v, const struct pool_limits *limits);
/* Only for the exceptional process: a pool adopted from an earlier etwd starts at cons_hint. */
void pool_view_adopt(struct pool_view *v);
/* Which session a bit stands for, kept in the pool for an etwd that adopts it. A claim there. */
void pool_view_set_bit_name(struct pool_view *v, uint32_t bit, uint64_t name);
uint64_t pool_view_bit_name(const struct pool_view *v, uint32_t bit);

struct pool_view_stats {
	uint64_t events;           /* records emitted */
	uint64_t bytes_rejected;   /* bytes skipped after a violation */
	uint64_t records_rejected; /* violations */
	uint64_t torn;             /* records begun but never published, counted at the final drain */
	uint64_t lost_cause[8];    /* clamped claims of the process */
	uint64_t times_clamped;    /* timestamps before their predecessor or in the future */
	uint32_t used_chunks;      /* of the newest segment, at the last pass */
	uint32_t busy_chunks;      /* of those: not open and drained */
	uint32_t total_chunks;
};
void pool_view_stats(const struct pool_view *v, struct pool_view_stats *ret);
/* Increase of lost[bit] since the last call, clamped to what is physically possible. Takes it. */
uint64_t pool_view_take_lost(struct pool_view *v, uint32_t bit, uint64_t elapsed_ns);
/* Some of what was taken was impossible: what this process says of losses is nothing to go by. */
bool pool_view_lied(const struct pool_view *v);

/* An event as it leaves a pass: validated, private, valid until the callback returns. */
struct pool_event {
	const struct pool_rec *rec;
	const uint8_t *activity; /* 16 bytes or NULL */
	const uint8_t *items;    /* on-disk extended items or NULL */
	uint32_t items_bytes;    /* multiple of 8 */
	const uint8_t *payload;
	uint32_t payload_bytes;
	void *cookie; /* of the view */
};
typedef void (*pool_emit_fn)(void *ctx, const struct pool_event *ev);
/* Many records at once: [at, end) holds whole records of one view and one cpu in order of time,
 * validated and private, valid until the next begin; POOL_READ_AHEAD bytes more may be read behind
 * the end, whatever they are. Returns how many there were. For who wants to
 * look at the route once and not for every event; pool_event_read() takes one apart. */
#define POOL_READ_AHEAD 64u
typedef uint64_t (*pool_emit_run_fn)(void *ctx, void *cookie, const uint8_t *at, const uint8_t *end);

/* The record at `at`, which passed validation; returns the place of the next one. Leaves cookie. */
static inline const uint8_t *pool_event_read(const uint8_t *at, struct pool_event *ret)
{
	const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
	const uint8_t *end = at + rec->size8 * 8u;
	at += sizeof *rec;
	ret->rec = rec;
	ret->activity = NULL;
	if (rec->flags & POOL_REC_ACTIVITY) {
		ret->activity = at;
		at += 16;
	}
	ret->payload_bytes = rec->user_len;
	ret->items_bytes = (uint32_t)(end - at) - BASE_ALIGN8(ret->payload_bytes);
	ret->items = ret->items_bytes ? at : NULL;
	ret->payload = at + ret->items_bytes;
	return end;
}

/* One round over many views. Reused between rounds; holds the scratch memory. */
struct pool_pass;
int pool_pass_create(struct pool_pass **ret_pass);
void pool_pass_destroy(struct pool_pass *p);

enum pool_pass_flags {
	POOL_PASS_FLUSH = 1u << 0, /* no hold-back: FLUSH, STOP, process death */
	POOL_PASS_FINAL = 1u << 1, /* the process is gone: count torn records */
};
/* begin ... collect (each view, at most once) ... emit. `budget_bytes` limits one view (0 = none).
 * `now` is the clock at the start of the round; records newer than the watermark stay in their
 * chunk. Emission is in non-decreasing timestamp order per cpu over all views of the round. A view
 * must outlive the commit of the round that collected it. -ENOMEM from collect: what was not taken
 * stays in the pool; the round goes on. */
void pool_pass_begin(struct pool_pass *p, uint64_t now, uint64_t clock_freq, uint32_t flags);
int pool_pass_collect(struct pool_pass *p, struct pool_view *v, uint32_t flags, uint64_t budget_bytes);
uint64_t pool_pass_emit(struct pool_pass *p, pool_emit_fn emit, void *ctx); /* events emitted */
uint64_t pool_pass_emit_runs(struct pool_pass *p, pool_emit_run_fn emit, void *ctx);
uint64_t pool_pass_watermark(const struct pool_pass *p); /* everything up to here was emitted */
/* Free consumed closed chunks, arm bells. After emit, when its results are safe (journal's place). */
void pool_pass_commit(struct pool_pass *p);
/* After commit: some pool was more than half taken when its bell was armed, so do not sleep. */
bool pool_pass_again(const struct pool_pass *p);

/* Kill points: POOL_TESTPOINT("writer-after-claim") calls this in builds with -Dtestpoints=true;
 * tests raise SIGKILL/SIGSTOP there. Compiled to nothing otherwise. */
#ifdef OPENETW_TESTPOINTS
extern void (*pool_testpoint_hook)(const char *name);
#define POOL_TESTPOINT(name)                       \
	do {                                       \
		if (pool_testpoint_hook) {         \
			pool_testpoint_hook(name); \
		}                                  \
	} while (0)
#else
#define POOL_TESTPOINT(name) ((void)0)
#endif

#endif
