/* SPDX-License-Identifier: MIT
 *
 * Inside of the drain, shared by pool_drain.c (one process) and pool_pass.c (one round). Not for
 * other folders.
 *
 *   view ---- segments ---- chunk states: generation, consumed, last time
 *   pass ---- blocks (private copies of bytes) ---- runs (one a chunk) ---- pieces (one cpu each)
 *
 * Nothing of a view changes until commit, so a round that is never committed never happened.
 */
#ifndef POOL_POOL_VIEW_H
#define POOL_POOL_VIEW_H

#include "base/order.h"
#include "pool/pool.h"

/* What we know of one chunk. `live`: we have seen generation `gen` open and have not freed it. When
 * not live, `gen` is the last one freed, and a word that still shows it says nothing new. */
struct view_chunk {
	uint32_t gen;
	uint32_t consumed;
	uint64_t last_ts;
	uint64_t rest_ts; /* newest round in which no record was in flight here */
	uint16_t span;
	bool live;
};

static inline uint64_t view_chunk_bits(const struct view_chunk *c, uint32_t i)
{
	return (c->span >= POOL_CHUNKS ? UINT64_MAX : (1ull << c->span) - 1) << i;
}

struct view_segment {
	struct seg_header *h;
	struct chunk_desc *desc;
	const uint8_t *theirs; /* what the process wrote; only view_read() looks there */
	uint64_t theirs_bytes; /* as far as our mapping reaches */
	uint32_t chunk_size;
	uint64_t idle; /* bits of open chunks in which nothing waited when we last looked */
	struct view_chunk chunk[POOL_CHUNKS];
};

/* The only way to the bytes that a process wrote: copies `need` bytes from position `at` of the run
 * of chunks that begins with `chunk`, if they lie before `to`, the end of what the process committed
 * there as we read it, and inside our mapping. False: they do not, and nothing was read. */
static inline bool view_read(const struct view_segment *s, uint32_t chunk, uint32_t at, uint32_t to, void *out,
			     uint32_t need)
{
	uint64_t begin = (uint64_t)chunk * s->chunk_size + at;
	if (at > to || need > to - at || begin > s->theirs_bytes || need > s->theirs_bytes - begin) {
		return false;
	}
	memcpy(out, s->theirs + begin, need);
	order_fence_compiler(); /* from here on only the copy is looked at */
	return true;
}

struct pool_view {
	void *cookie;
	struct pool_limits limits;
	uint32_t segment_count;
	bool final_done;
	uint64_t created_ns; /* 0: adopted, older than us */
	uint64_t last_now;   /* `now` of the last round that collected us */
	/* Of this round: */
	bool impatient; /* emit up to own_limit, whatever the others hold back */
	uint64_t own_limit;
	uint64_t watermark; /* a budget left something behind that begins here */
	struct pool_view_stats stats;
	uint64_t lost_base[POOL_SESSION_BITS];
	bool lied; /* a counter of losses ran backwards, or faster than any process can write */
	struct view_segment *segment[POOL_SEGMENTS_MAX]; /* most pools have one */
};

/* The bytes taken from one chunk in this round. */
struct pass_run {
	struct pool_view *view;
	uint8_t *data; /* private copy of [from, to) */
	uint32_t from;
	uint32_t to;
	uint32_t valid;   /* bytes of the copy that passed; the rest is rejected */
	uint32_t held;    /* bytes of the copy that are emitted; <= valid */
	uint64_t last_ts; /* of the last record emitted */
	uint8_t segment;
	uint8_t chunk;
	bool closed;
	bool bad;
};

/* Records of one run with equal cpu, in order. */
struct pass_piece {
	uint8_t *at;
	uint8_t *end;
	uint64_t head_ts;
	uint64_t last_ts;
	uint32_t run;
	uint32_t seq;
	uint16_t cpu;
};

struct pass_block {
	uint8_t *mem;
	uint32_t size;
	uint32_t used;
};

struct pool_pass {
	uint64_t now;
	uint64_t freq;
	uint64_t slack;     /* ticks a store may need to become visible */
	uint64_t oldest;    /* the watermark never falls below: hold-back limit */
	uint64_t lowered;   /* watermark so far, without the limit */
	uint64_t watermark; /* valid after emit */
	uint32_t flags;
	bool again;
	struct pass_block *block;
	uint32_t block_count, block_cap, block_current;
	struct pass_run *run;
	uint32_t run_count, run_cap;
	struct pass_piece *piece;
	uint32_t piece_count, piece_cap;
	struct pool_view **view;
	uint32_t view_count, view_cap;
};

static inline uint32_t view_hint(uint32_t gen, uint32_t consumed)
{
	return gen << POOL_HINT_SHIFT | BASE_MIN(consumed / 8, POOL_HINT_FREEING - 1);
}

/* Copy and validate everything new of `v` (up to the budget) into `p`. -ENOMEM leaves what does not
 * fit in the pool, for a later round. */
int pool_view_collect(struct pool_view *v, struct pool_pass *p, uint32_t flags, uint64_t budget_bytes);
/* More than half of the chunks hold something for us. An open chunk that is drained does not: each
 * slot keeps one, and a machine with many processors would never be at rest. */
bool pool_view_half_full(const struct pool_view *v);

/* From pool_pass.c: room in the round's private memory; NULL on ENOMEM. Valid until the next begin
 * (the arrays: until the next call). */
uint8_t *pool_pass_bytes(struct pool_pass *p, uint32_t bytes);
struct pass_run *pool_pass_run(struct pool_pass *p);
struct pass_piece *pool_pass_piece(struct pool_pass *p);

#endif
