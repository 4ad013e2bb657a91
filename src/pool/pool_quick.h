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
/* So many pieces of up to 16 bytes each have room where pool_write_quick() begins. */
#define POOL_QUICK_PIECES 8u
/* What a chunk must have room for, besides larger pieces: header, activity, the head of an item, small
 * pieces, padding, and the slack. */
#define POOL_QUICK_ROOM (48u + 16u + 8u + 16u * POOL_QUICK_PIECES + 16u + POOL_QUICK_SLACK)

struct pool_quick {
	order_pair head; /* see pool_rec_head() */
	uint64_t mask;
	uint32_t tid;
	uint32_t room;		/* most bytes of the record; more than that is somebody else's */
	const void *descriptor; /* 16 bytes */
	const void *activity;	/* 16 bytes or NULL */
	const struct pool_piece *piece;
	uint32_t piece_count;
	bool many; /* piece_count may be above POOL_QUICK_PIECES */
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
/* What is the same in all records of one kind of event; the gaps are filled in for each. */
static inline order_pair pool_rec_head(enum pool_rec_kind kind, uint16_t prov, uint16_t cfg_gen)
{
	return (order_pair){(uint64_t)kind << 16 | (uint64_t)prov << 32, (uint64_t)cfg_gen << 48};
}

/* May events of this writer go by pool_write_quick()? Asked when a verdict is made, not for each
 * event: a writer that stops for good has no registration that leads to it, and in a forked child
 * its slots have no room. */
static inline bool pool_writer_is_quick(const struct pool_writer *w)
{
	return order_load_relaxed(&w->alive) == POOL_ALIVE_QUICK &&
	       (order_load_relaxed(&w->bell_allowed) & POOL_CTL_LOW_LATENCY) == 0;
}

/* Where this thread's stack is, roughly; without asking for a frame pointer. */
static inline __attribute__((always_inline)) void pool_quick_frame(struct pool_slot *s)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %0" : "=m"(s->frame));
#else
	s->frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
#endif
}

/* Keep the compiler from holding several addresses of one structure in as many registers. */
#define POOL_QUICK_ONE_BASE(p) __asm__("" : "+r"(p))

/* A piece of unusual size; no call, since around one everything live would have to be saved. Two
 * moves that may overlap cover each class of sizes. False: not here. */
static inline __attribute__((always_inline)) bool pool_quick_copy(uint8_t *to, const uint8_t *from,
								  uint64_t n, const uint8_t *limit)
{
	struct {
		uint64_t a, b;
	} two, last;
	if (n > 16) {
		/* Counted from the end: what small pieces may still need stays untouched. */
		if (BASE_UNLIKELY((int64_t)n > limit - to)) {
			return false;
		}
		uint8_t *last_at = to + n - 16;
		memcpy(&last, from + n - 16, 16);
		do {
			memcpy(&two, from, 16);
			memcpy(to, &two, 16);
			from += 16;
			to += 16;
		} while (to < last_at);
		memcpy(last_at, &last, 16);
	} else if (n > 8) {
		uint64_t a = le64_get(from), b = le64_get(from + n - 8);
		le64_put(to, a);
		le64_put(to + n - 8, b);
	} else if (n >= 4) {
		uint32_t a = le32_get(from), b = le32_get(from + n - 4);
		le32_put(to, a);
		le32_put(to + n - 4, b);
	} else if (n != 0) {
		to[0] = from[0];
		to[n >> 1] = from[n >> 1];
		to[n - 1] = from[n - 1];
	}
	return true;
}

/* How far pieces of more than 16 bytes may reach. */
static inline uint8_t *pool_quick_limit(const struct pool_slot *s, uint8_t *at,
					const struct pool_quick *q)
{
	const uint32_t small = POOL_QUICK_SLACK + 16u * (q->many ? 1 : POOL_QUICK_PIECES);
	int64_t reach = s->limit - at, room = q->room;
	return at + BASE_MIN(reach - small, room - small);
}

/* `q->many` false: at most POOL_QUICK_PIECES pieces. True: written. False: nothing happened. */
static inline __attribute__((always_inline)) bool pool_write_quick(struct pool_writer *w,
								   const struct pool_quick *q)
{
	uint32_t tid = q->tid, seen = 0;
	uint32_t cpu = pool_thread_u32(w->rseq_cpu);
	uint64_t index = pool_thread_u32(w->rseq_slot) % POOL_SLOTS * (uint64_t)sizeof *w->slot;
	POOL_QUICK_ONE_BASE(index);
	struct pool_slot *s = (struct pool_slot *)(void *)((uint8_t *)w->slot + index);
	POOL_QUICK_ONE_BASE(s);
	if (BASE_UNLIKELY(cpu >= 0x10000u)) { /* negative: this thread is not registered */
		return false;
	}
	/* L */
	if (BASE_UNLIKELY(!order_cas_acquire(&s->lock, &seen, tid))) {
		return false;
	}
	pool_quick_frame(s);
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-lock");
	uint8_t *at = s->at;
	struct chunk_desc *desc = s->desc;
	uint64_t begun = (uintptr_t)at + sizeof(struct pool_rec) + s->bias;
	/* The limit last: in a forked child it reads as zero, and if the others were still those of
	 * the parent (a signal handler that forks came in between), there is no room, either. */
	order_fence_compiler();
	int64_t left = s->limit - at;
	order_fence_compiler();
	if (BASE_UNLIKELY(left < (int64_t)(POOL_QUICK_ROOM))) {
		goto unlock;
	}
	/* "In flight"; its end is not known yet, but its beginning is enough for the drain. */
	order_store_relaxed(&desc->begun, begun);
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-begun");
	struct {
		uint64_t a, b;
	} two;
	memcpy(at, &q->head, 16); /* the gaps are filled in below */
	le16_put(at + 6, (uint16_t)cpu);
	le32_put(at + 8, tid);
	le64_put(at + 24, q->mask);
	memcpy(&two, q->descriptor, 16);
	memcpy(at + 32, &two, 16);
	if (BASE_LIKELY(left > (int64_t)POOL_PREFETCH_BYTES + 64)) {
		pool_prefetch_write_at(at, POOL_PREFETCH_BYTES);
		pool_prefetch_write_at(at, POOL_PREFETCH_BYTES + 64);
	}
	uint64_t ts = clock_read_counter();
	uint64_t last_ts = s->last_ts;
	ts = ts < last_ts ? last_ts : ts; /* the lock does not order the clock */
	s->last_ts = ts;
	le64_put(at + 16, ts);
	uint8_t *to = at + sizeof(struct pool_rec);
	if (q->activity) {
		memcpy(&two, q->activity, 16);
		memcpy(to, &two, 16);
		to += 16;
		at[3] |= POOL_REC_ACTIVITY;
	}
	POOL_TESTPOINT("writer-mid-copy");
	const struct pool_piece *p = q->piece;
	uint32_t count = q->piece_count;
	if (q->item_type != 0) {
		if (count != 0 && q->skip_type != 0 && (uint8_t)p->reserved == q->skip_type) {
			p++;
			count--;
		}
		if (count != 0 && (uint8_t)p->reserved == q->item_type) {
			uint64_t n = order_load_relaxed(&p->size), whole = (n + 15) & ~7ull;
			uint8_t *limit = pool_quick_limit(s, at, q);
			if (BASE_UNLIKELY(n - 1 >= 0xFFE0u || (int64_t)whole > limit - to)) {
				goto undo;
			}
			le64_put(to + whole - 8, 0);
			le64_put(to, whole | (uint64_t)q->item << 16 | n << 48);
			if (!pool_quick_copy(to + 8, p->ptr, n, limit)) {
				goto undo;
			}
			to += whole;
			at[3] |= POOL_REC_ITEMS;
			p++;
			count--;
		}
	}
	uint64_t before = q->many || q->item_type != 0 ? (uint64_t)(to - at) : sizeof(struct pool_rec);
	/* Upwards to zero: one register counts and points. */
	const uint8_t *p_end = (const uint8_t *)(p + count);
	int64_t i = -(int64_t)((uint64_t)count * sizeof *p);
	POOL_QUICK_ONE_BASE(p_end);
	while (i != 0) {
		p = (const struct pool_piece *)(const void *)(p_end + i);
		/* Once: it may change. With types: a size with a type is no usual size. */
		uint64_t n = q->item_type != 0 ? order_load_relaxed(
							 (const uint64_t *)(const void *)&p->size)
					       : order_load_relaxed(&p->size);
		const uint8_t *from = p->ptr;
		i += (int64_t)sizeof *p;
		POOL_QUICK_ONE_BASE(i);
		if (BASE_UNLIKELY(q->many && to > pool_quick_limit(s, at, q))) {
			goto undo;
		}
		if (n == 8) {
			le64_put(to, le64_get(from));
			to += 8;
		} else if (n == 4) {
			le32_put(to, le32_get(from));
			to += 4;
		} else if (n == 16) {
			memcpy(&two, from, 16);
			memcpy(to, &two, 16);
			to += 16;
		} else {
			if (q->item_type != 0 && (uint8_t)(n >> 32) != 0) {
				goto undo;
			}
			n = (uint32_t)n;
			if (!pool_quick_copy(to, from, n, pool_quick_limit(s, at, q))) {
				goto undo;
			}
			to += n;
		}
	}
	le64_put(to, 0); /* padding */
	le16_put(at + 12, (uint16_t)((uint64_t)(to - at) - before));
	uint8_t *next = (uint8_t *)(((uintptr_t)to + 7) & ~(uintptr_t)7);
	le16_put(at, (uint16_t)((uint64_t)(next - at) >> 3));
	uint64_t word = (uintptr_t)next + s->bias;
	desc = s->desc;
	order_fence_compiler();
	POOL_TESTPOINT("writer-before-publish");
	/* A child must not move its parent's word. */
	if (BASE_UNLIKELY(order_differs(&s->lock, tid))) {
		return false;
	}
	order_store_release(&desc->word, word); /* P */
	s->at = next;
	POOL_TESTPOINT("writer-after-publish");
	POOL_TESTPOINT("writer-before-unlock");
	order_store_release(&s->lock, 0u); /* U */
	return true;
undo:
	/* Only under our own lock: a forked child's chunk is its parent's. */
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == tid)) {
		order_store_relaxed(&s->desc->begun, (uint64_t)pool_slot_pos(s));
	}
unlock:
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == tid)) {
		order_store_release(&s->lock, 0u); /* U */
	}
	return false;
}

#endif
