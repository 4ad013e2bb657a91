/* SPDX-License-Identifier: MIT
 *
 * Writer state of one process towards one destination (an etwd, or the in-process logger), and the
 * slow path. The fast path is in pool_write.h; what becomes of a write that never returns, in pool_reclaim.c.
 *
 * context: every function here is async-signal-safe unless it says otherwise.
 */
#ifndef POOL_POOL_WRITER_H
#define POOL_POOL_WRITER_H

#include "pool/pool.h"

#define POOL_SLOTS       256u /* normal; the same number of overflow slots follows */
#define POOL_SLOTS_TOTAL 512u

/* A record may be longer than an event's payload, but not without limit. */
#define POOL_ITEMS_MAX 65528u

/* In the form in which an event needs it: pointers, and the chunk's word as a distance from them. */
struct pool_slot {
	uint32_t lock;  /* 0, or the id of the thread that holds it */
	uint32_t chunk; /* segment << 8 | first chunk; POOL_CHUNK_NONE; or a claim, see pool_claim_note() */
	uint8_t *at;    /* where the next record goes; NULL: no chunk, and the rest means nothing */
	struct chunk_desc *desc;
	uint64_t bias;  /* chunk_desc.word of a position is its address + this */
	uint8_t *limit; /* end of the chunk */
	uint64_t last_ts;
	/* Stack address of the holder, to recognise a stale lock after siglongjmp. */
	uint64_t frame;
	uint32_t gen;
	uint32_t doubt; /* how often the lock looked stale: see pool_reclaim.c */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct pool_slot) == 64, "own cache line");

#define POOL_CHUNK_NONE UINT32_MAX
/* In pool_slot.chunk while its holder claims a chunk: which one, and the generation it had when it was free. Who
 * finds this in a slot whose holder never came back knows what to look for. */
#define POOL_CLAIM_FLAG (1u << 31)
#define POOL_CLAIM_GENS 0x7FFFu
static inline uint32_t pool_claim_note(uint32_t seg, uint32_t first, uint32_t span, uint32_t gen)
{
	return POOL_CLAIM_FLAG | (gen & POOL_CLAIM_GENS) << 16 | seg << 14 | first << 8 | span;
}
static inline bool pool_is_claim(uint32_t chunk)
{
	return (chunk & POOL_CLAIM_FLAG) != 0 && chunk != POOL_CHUNK_NONE;
}

/* First byte of the chunk. */
static inline uint8_t *pool_slot_base(const struct pool_slot *s)
{
	return (uint8_t *)(uintptr_t)(((uint64_t)s->gen << 33) - s->bias);
}
static inline uint32_t pool_slot_pos(const struct pool_slot *s)
{
	return s->at ? (uint32_t)(s->at - pool_slot_base(s)) : 0;
}

enum pool_alive {
	POOL_ALIVE = 1,
	POOL_ALIVE_QUICK = 3, /* and the clock is a counter: see pool_writer_is_quick() */
};

/* Lives in an anonymous MADV_WIPEONFORK mapping: reads as zero in a forked child. */
struct pool_writer {
	/* 0 in a forked child or before attach: write nothing. Set by pool_writer_add_segment() for
	 * segment 0 to POOL_ALIVE or POOL_ALIVE_QUICK; the owner may clear it to detach. Atomic. */
	uint32_t alive;
	uint32_t segment_count; /* release by the attaching thread, acquire by writers */
	uint32_t clock_kind;
	uint32_t bell_allowed; /* ctl_header.flags as they are: enum pool_ctl_flags. Atomic */
	/* Futex word the bell thread sleeps on, with FUTEX_WAIT_PRIVATE (the wake is private too);
	 * incremented by each ring. */
	uint32_t bell;
	uint32_t cpu_cached; /* the next two lead to a copy, made now and then */
	/* From the thread pointer to two fields of struct rseq, or of what stands in for it. */
	int64_t rseq_cpu;
	int64_t rseq_slot; /* the slot number: mm_cid, else cpu_id */
	struct seg_header *segment[POOL_SEGMENTS_MAX];
	uint64_t segment_bytes[POOL_SEGMENTS_MAX];
	/* Losses while there is no usable segment 0 (detached, not yet attached). */
	uint64_t lost_detached;
	uint32_t chunk_size[POOL_SEGMENTS_MAX];
	uint64_t used[POOL_SLOTS_TOTAL / 64]; /* bit: this slot has had a chunk, or claims one. Atomic */
	uint32_t reap_wanted;                 /* by writers that find too many slots locked; atomic */
	uint32_t refused;                     /* how often there was no slot or no chunk; atomic */
	uint32_t crowded;                     /* a thread has met many locked slots of its own; atomic */
	uint32_t settling;                    /* the thread that finds out what a claim came to; atomic */
	uint32_t abandoned;                   /* writes that never returned, as far as they were found; atomic */
	struct pool_slot slot[POOL_SLOTS_TOTAL] __attribute__((aligned(64)));
	/* Reaper only: what a locked slot looked like, and since when (ms). */
	struct {
		uint32_t picture, since;
	} suspect[POOL_SLOTS_TOTAL];
};

/* Map a zeroed writer (not signal-safe). NULL on ENOMEM. */
struct pool_writer *pool_writer_create(void);
/* The same in zeroed memory of the caller's, which a fork wipes. Not signal-safe. */
void pool_writer_init(struct pool_writer *w);
void pool_writer_destroy(struct pool_writer *w); /* not signal-safe; no writer may be inside */
/* Add a mapped segment. Not concurrent with itself. -EINVAL when the header does not make sense. An
 * all-zero segment 0 is accepted (etwd makes it ready at the first enable). */
int pool_writer_add_segment(struct pool_writer *w, void *mem, uint64_t bytes, uint32_t chunk_size);
/* Can pool_write_quick() tell on which CPU this thread is? From here on it can as long as the thread
 * lives. */
bool pool_thread_ready(void);
/* The same for one that etwd has just made and that was not made ready: its memory stays untouched. */
int pool_writer_add_fresh(struct pool_writer *w, void *mem, uint64_t bytes, uint32_t chunk_size);
/* Frees the slots of threads that never come back to them: they no longer exist (cancelled inside a write), or
 * they jumped out of it and sleep somewhere else. By a thread of ours, now and then and when reap_wanted. Not
 * signal-safe. */
void pool_writer_reap(struct pool_writer *w);
/* The same for threads that no longer exist, by any thread. */
void pool_writer_reap_dead(struct pool_writer *w);

/* What to write; filled by the caller on its stack. */
struct pool_piece { /* same size and leading members as EVENT_DATA_DESCRIPTOR */
	const void *ptr;
	uint32_t size;
	uint32_t reserved;
};
struct pool_write_args {
	uint8_t kind;
	uint8_t flags;
	uint16_t prov;
	uint16_t cfg_gen;
	uint32_t tid;
	uint64_t mask;
	const void *descriptor; /* 16 bytes, EVENT_DESCRIPTOR */
	const void *activity;   /* 16 bytes or NULL (then flags lacks POOL_REC_ACTIVITY) */
	const uint8_t *items;   /* on-disk items, multiple of 8 bytes, or NULL */
	uint32_t items_bytes;
	const struct pool_piece *piece; /* an EVENT_DATA_DESCRIPTOR array may be passed as it is */
	uint32_t piece_count;
	uint32_t payload_bytes; /* sum of sizes, checked by the caller <= 65535 */
	uint64_t timestamp;     /* 0 = read the clock under the slot lock */
	const void *frame;      /* of the function that the program called; NULL: of the one that writes */
};

/* 0, -ENOSPC (pool full; counted), -EMSGSIZE (too big; counted), -EDEADLK (slots exhausted;
 * counted), -ENOTCONN (no pool; counted in lost_detached). */
int pool_write_slow(struct pool_writer *w, const struct pool_write_args *a);
/* Make room for `size` bytes in the slot of this CPU, when it is free; best effort. */
void pool_writer_prepare(struct pool_writer *w, uint32_t tid, uint32_t size);
/* Take a new chunk for a locked slot; -ENOSPC leaves the slot and its chunk as they were. */
int pool_switch_chunk(struct pool_writer *w, struct pool_slot *s, uint32_t size);
/* Called by the inline fast path when the slot of this CPU is locked: an overflow slot, or a slot
 * whose lock this thread left behind. `me` is its thread id. NULL when all are taken. */
struct pool_slot *pool_slot_take(struct pool_writer *w, uint32_t index, uint32_t me, uint64_t frame);
/* Of this process. context: async-signal-safe. */
bool pool_thread_is_dead(uint32_t tid);
/* pool_reclaim.c: what may be in a locked slot of ours. `frame` as in pool_write_args. */
bool pool_slot_is_stale(struct pool_slot *s, uint64_t frame, uint32_t doubts);
/* Brings a slot whose holder never comes back to the state of its last published record. The lock is the
 * caller's. False: it cannot be told yet what it claimed. */
bool pool_slot_repair(struct pool_writer *w, struct pool_slot *s, uint32_t me, uint64_t frame);
/* Frees the slots of this thread, besides `keep`, that it jumped out of; how many. `exhausted`: there is no slot
 * left. */
uint32_t pool_reclaim_mine(struct pool_writer *w, uint32_t me, uint64_t frame, const struct pool_slot *keep,
			   bool exhausted);
/* A thread of ours is to look, and is woken. */
void pool_want_reap(struct pool_writer *w);
/* Wakes whoever sleeps on w->bell. */
void pool_writer_wake(struct pool_writer *w);
/* NULL also when a fork has just wiped `w` under our feet. */
struct seg_header *pool_writer_segment(const struct pool_writer *w, uint32_t i);
/* No chunk any more. */
void pool_slot_clear(struct pool_slot *s);
/* Called when `size` does not fit: a locked slot with room (perhaps another one than `s`, which is
 * then unlocked), or NULL (then `s` is unlocked and nothing is counted yet). */
struct pool_slot *pool_slot_make_room(struct pool_writer *w, struct pool_slot *s, uint32_t size);
/* The two ends of a write that cannot be done: count, and say which error. */
int pool_write_refuse(struct pool_writer *w, uint64_t mask, enum pool_lost_cause cause);
int pool_write_no_room(struct pool_writer *w, uint64_t mask);
/* Wake the bell thread if etwd asked for it (armed). */
void pool_writer_ring(struct pool_writer *w);
/* Count `mask` as lost for `cause` (segment 0, or lost_detached). */
void pool_count_lost(struct pool_writer *w, uint64_t mask, enum pool_lost_cause cause);

#endif
