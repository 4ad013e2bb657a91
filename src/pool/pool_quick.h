/* SPDX-License-Identifier: MIT
 *
 * pool_write() for the events that are nearly all events, in one pass over the pieces: what is
 * copied is counted while it is copied, so that nothing has to be known before. The protocol
 * towards the drain, and the letters L, P and U, are those of pool_write.h.
 *
 * Whatever is unusual (slot taken, chunk full, detached, clock not a counter, types in unusual
 * order) makes it give up before anything is published, and the caller starts again with
 * pool_write().
 *
 * Reading the counter takes as long as some hundred other instructions, and the CPU does both at
 * the same time. So the counter is read early, there is no fence near it, and what counts is how
 * many instructions there are in all. It is still read after `begun` in program order, which is what the
 * watermark of the drain rests on.
 *
 * context: async-signal-safe, errno untouched.
 */
#ifndef POOL_POOL_QUICK_H
#define POOL_POOL_QUICK_H

#include "pool/pool_write.h"

/* The last bytes of a chunk stay unused here, so that the padding and a piece of up to 16 bytes can
 * be written before looking whether they still belong. */
#define POOL_QUICK_SLACK 24u
/* What a chunk must have room for, besides the pieces: header, activity, the head of an item,
 * padding of both, and the slack. */
#define POOL_QUICK_ROOM (48u + 16u + 8u + 16u + POOL_QUICK_SLACK)

struct pool_quick {
	uint64_t rec0; /* see pool_rec0() */
	uint64_t rec1;
	uint64_t mask;
	uint32_t tid;
	uint32_t room;		/* most bytes after the record's header */
	const void *descriptor; /* 16 bytes */
	const void *activity;	/* 16 bytes or NULL */
	const struct pool_piece *piece;
	uint32_t piece_count;
	/* Not 0: the low byte of pool_piece.reserved says what a piece is (0 payload). At the front
	 * may stand one of skip_type (0 none), which is left out, and one of item_type, which
	 * becomes an extended item of kind `item`. */
	uint8_t item_type;
	uint8_t skip_type;
	uint16_t item;
};

/* The first 16 bytes of a record, as two words, little-endian like the rest. */
_Static_assert(offsetof(struct pool_rec, kind) == 2 && offsetof(struct pool_rec, flags) == 3 &&
		       offsetof(struct pool_rec, prov) == 4 && offsetof(struct pool_rec, cpu) == 6,
	       "pool_rec0");
_Static_assert(offsetof(struct pool_rec, tid) == 8 && offsetof(struct pool_rec, user_len) == 12 &&
		       offsetof(struct pool_rec, cfg_gen) == 14,
	       "pool_rec1");
static inline uint64_t pool_rec0(enum pool_rec_kind kind, uint16_t prov)
{
	return (uint64_t)kind << 16 | (uint64_t)prov << 32;
}
static inline uint64_t pool_rec1(uint16_t cfg_gen)
{
	return (uint64_t)cfg_gen << 48;
}

/* Keep the compiler from holding several addresses of one structure in as many registers. */
#define POOL_QUICK_ONE_BASE(p) __asm__("" : "+r"(p))

/* No call: around one, everything that is live would have to be saved. Two moves that may overlap
 * cover each class of sizes; what fields usually are comes first. */
static inline __attribute__((always_inline)) void
pool_quick_copy(uint8_t *to, const uint8_t *from, uint64_t n, const uint8_t *limit)
{
	struct {
		uint64_t a, b;
	} two, last;
	if (BASE_LIKELY(n - 4 <= 4)) {
		uint32_t a = le32_get(from), b = le32_get(from + n - 4);
		le32_put(to, a);
		le32_put(to + n - 4, b);
	} else if (BASE_LIKELY(n - 9 <= 7)) {
		uint64_t a = le64_get(from), b = le64_get(from + n - 8);
		le64_put(to, a);
		le64_put(to + n - 8, b);
	} else if (n > 16) {
		uint8_t *last_at = to + n - 16;
		if (BASE_UNLIKELY(last_at + 16 > limit)) {
			return; /* which the caller finds out himself */
		}
		memcpy(&last, from + n - 16, 16);
		do {
			memcpy(&two, from, 16);
			memcpy(to, &two, 16);
			from += 16;
			to += 16;
		} while (to < last_at);
		memcpy(last_at, &last, 16);
	} else if (n != 0) {
		to[0] = from[0];
		to[n >> 1] = from[n >> 1];
		to[n - 1] = from[n - 1];
	}
}

/* True: written. False: nothing happened. */
static inline __attribute__((always_inline)) bool pool_write_quick(struct pool_writer *w,
								   const struct pool_quick *q)
{
	if (BASE_UNLIKELY(order_differs(&w->alive, (uint32_t)POOL_ALIVE_QUICK))) {
		return false;
	}
	uint32_t cpu = pool_thread_u32(w->rseq_cpu);
	struct pool_slot *s = &w->slot[pool_thread_u32(w->rseq_slot) % POOL_SLOTS];
	POOL_QUICK_ONE_BASE(s);
	uint32_t me = q->tid | POOL_SLOT_LOCKED, seen = 0;
	if (BASE_UNLIKELY(cpu >= 0x10000u)) { /* negative: this thread is not registered */
		return false;
	}
	/* L */
	if (BASE_UNLIKELY(!order_cas_acquire(&s->lock, &seen, me))) {
		return false;
	}
	s->frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-lock");
	uint32_t pos = s->pos;
	/* As numbers: a slot without a chunk has no base, and its limit lies before it. */
	uintptr_t base = (uintptr_t)s->base;
	uint8_t *limit = (uint8_t *)(base + s->end - POOL_QUICK_SLACK), *at = (uint8_t *)(base + pos);
	struct chunk_desc *desc = s->desc;
	order_fence_compiler();
	/* A forked child: see pool_write(). */
	if (BASE_UNLIKELY(order_differs(&s->lock, me))) {
		return false;
	}
	/* Room for a header and an activity; no chunk at all has none. */
	int64_t left = (int64_t)((uintptr_t)limit - (uintptr_t)at);
	if (BASE_UNLIKELY(left < (int64_t)sizeof(struct pool_rec) + 16)) {
		goto unlock;
	}
	/* "In flight"; its end is not known yet, but its beginning is enough for the drain. */
	order_store_relaxed(&desc->begun, (uint64_t)pos + sizeof(struct pool_rec));
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-begun");
	struct {
		uint64_t a, b;
	} two;
	le64_put(at, q->rec0 | (uint64_t)cpu << 48); /* the gaps are filled in below */
	le64_put(at + 8, q->rec1 | q->tid);
	le64_put(at + 24, q->mask);
	memcpy(&two, q->descriptor, 16);
	memcpy(at + 32, &two, 16);
	if (BASE_LIKELY(left > (int64_t)POOL_PREFETCH_BYTES + 64)) {
		pool_prefetch_write(at + POOL_PREFETCH_BYTES);
		pool_prefetch_write(at + POOL_PREFETCH_BYTES + 64);
	}
	uint64_t ts = clock_read_counter();
	uint64_t last_ts = s->last_ts;
	ts = ts < last_ts ? last_ts : ts; /* the lock does not order the clock */
	s->last_ts = ts;
	le64_put(at + 16, ts);
	uint8_t *to = at + sizeof(struct pool_rec);
	if (BASE_UNLIKELY(q->activity)) {
		memcpy(&two, q->activity, 16);
		memcpy(to, &two, 16);
		to += 16;
		at[3] |= POOL_REC_ACTIVITY;
	}
	POOL_TESTPOINT("writer-mid-copy");
	const struct pool_piece *p = q->piece, *p_end = p + q->piece_count;
	if (q->item_type != 0) {
		if (p != p_end && q->skip_type != 0 && (uint8_t)p->reserved == q->skip_type) {
			p++;
		}
		if (p != p_end && (uint8_t)p->reserved == q->item_type) {
			uint64_t n = order_load_relaxed(&p->size), whole = (n + 15) & ~7ull;
			if (BASE_UNLIKELY(n - 1 >= 0xFFE0u || to + whole > limit)) {
				goto undo;
			}
			le64_put(to + whole - 8, 0);
			le64_put(to, whole | (uint64_t)q->item << 16 | n << 48);
			pool_quick_copy(to + 8, p->ptr, n, limit);
			to += whole;
			at[3] |= POOL_REC_ITEMS;
			p++;
		}
	}
	uint64_t before = q->activity || q->item_type != 0 ? (uint64_t)(to - at)
							   : sizeof(struct pool_rec);
	for (; p != p_end; p++) {
		uint64_t n = order_load_relaxed(&p->size); /* once: it may change */
		if (q->item_type != 0 && BASE_UNLIKELY((uint8_t)p->reserved != 0)) {
			goto undo;
		}
		pool_quick_copy(to, p->ptr, n, limit);
		to += n;
		if (BASE_UNLIKELY(to > limit)) {
			goto undo;
		}
	}
	le64_put(to, 0); /* padding */
	uint64_t used = (uint64_t)(to - at), user_len = used - before, size = (used + 7) & ~7ull;
	if (BASE_UNLIKELY(size > q->room)) {
		goto undo;
	}
	le16_put(at, (uint16_t)(size >> 3));
	le16_put(at + 12, (uint16_t)user_len);
	uint64_t next = s->pos + size;
	uint64_t word = (uint64_t)s->gen << 33 | next;
	desc = s->desc;
	order_fence_compiler();
	POOL_TESTPOINT("writer-before-publish");
	/* The same again: a child must not move its parent's word. */
	if (BASE_UNLIKELY(order_differs(&s->lock, me))) {
		return false;
	}
	order_store_release(&desc->word, word); /* P */
	s->pos = (uint32_t)next;
	POOL_TESTPOINT("writer-after-publish");
	POOL_TESTPOINT("writer-before-unlock");
	order_store_release(&s->lock, 0u); /* U */
	if (BASE_UNLIKELY(order_load_relaxed(&w->bell_allowed) & POOL_CTL_LOW_LATENCY)) {
		pool_writer_ring(w);
	}
	return true;
undo:
	/* Only under our own lock: a forked child's chunk is its parent's. */
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == me)) {
		order_store_relaxed(&s->desc->begun, (uint64_t)s->pos);
	}
unlock:
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == me)) {
		order_store_release(&s->lock, 0u); /* U */
	}
	return false;
}

#endif
