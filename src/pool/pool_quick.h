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
 * Reading the counter takes as long as some hundred other instructions. The CPU does both at the same
 * time, but not what comes behind the reading as well as what comes before it [measured: read right after
 * `begun` an event takes 2.3 ns more than read just before it is published, as it is now]. So the time
 * of an event is that of its end. It is read after `begun` in program order, which is what the watermark
 * of the drain rests on. Apart from that, what counts is how many instructions there are in all.
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
/* No longer items. */
#define POOL_QUICK_ITEM 2048u
/* What a chunk must have room for, besides larger pieces: header, activity, the head of an item, small
 * pieces, padding, and the slack. */
#define POOL_QUICK_ROOM (48u + 16u + 8u + 16u * POOL_QUICK_PIECES + 16u + POOL_QUICK_SLACK)

struct pool_quick {
	order_pair head; /* see pool_rec_head() */
	order_pair mask; /* the second half: it is behind the time */
	uint32_t tid;
	uint32_t room;          /* most bytes of the record; more than that is somebody else's */
	const void *descriptor; /* 16 bytes */
	const void *activity;   /* 16 bytes or NULL */
	const struct pool_piece *piece;
	uint32_t piece_count;
	bool many; /* piece_count may be above POOL_QUICK_PIECES, and perhaps pool_thread_ready() was not asked */
	/* Not 0: the low byte of pool_piece.reserved says what a piece is (0 payload). At the front
	 * may stand one of skip_type (0 none), which is left out, and one of item_type, which
	 * becomes an extended item of kind `item`. Both are there when `many` is false. */
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
	order_store_relaxed(&s->frame, (uint64_t)(uintptr_t)__builtin_frame_address(0));
#endif
}

/* Keep the compiler from holding several addresses of one structure in as many registers. */
#define POOL_QUICK_ONE_BASE(p) __asm__("" : "+r"(p))

/* A piece of unusual size; no call, since around one everything live would have to be saved. Two
 * moves that may overlap cover each class of sizes. */
static inline __attribute__((always_inline)) void pool_quick_copy(uint8_t *to, const uint8_t *from, uint64_t n)
{
	struct {
		uint64_t a, b;
	} two, last;
	if (BASE_LIKELY(n > 16)) {
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
}

/* Each look at a size stands for itself, since it may change. With types, what has one is of no usual
 * size. */
static inline bool pool_quick_size_differs(const struct pool_piece *p, uint32_t size, bool typed)
{
	const void *at = (const uint8_t *)p + offsetof(struct pool_piece, size);
	return typed ? order_differs((const uint64_t *)at, (uint64_t)size) : order_differs((const uint32_t *)at, size);
}

/* Piece k of p, or on to `rest` with it and what follows. */
#define POOL_QUICK_PIECE(p, k)                                                                     \
	if (count == lead + (k)) {                                                                 \
		goto done;                                                                         \
	}                                                                                          \
	if (BASE_LIKELY(!pool_quick_size_differs(&p[lead + (k)], 4, q->item_type != 0))) {         \
		le32_put(to, le32_get(p[lead + (k)].ptr));                                         \
		to += 4;                                                                           \
	} else if (BASE_LIKELY(!pool_quick_size_differs(&p[lead + (k)], 8, q->item_type != 0))) {  \
		le64_put(to, le64_get(p[lead + (k)].ptr));                                         \
		to += 8;                                                                           \
	} else if (BASE_LIKELY(!pool_quick_size_differs(&p[lead + (k)], 16, q->item_type != 0))) { \
		memcpy(&two, p[lead + (k)].ptr, 16);                                               \
		memcpy(to, &two, 16);                                                              \
		to += 16;                                                                          \
	} else {                                                                                   \
		next_piece = lead + (k);                                                           \
		goto rest;                                                                         \
	}

/* How far pieces of more than 16 bytes may reach. */
static inline uint8_t *pool_quick_limit(const struct pool_slot *s, uint8_t *at, uint32_t room, bool many)
{
	const uint32_t small = POOL_QUICK_SLACK + 16u * (many ? 1 : POOL_QUICK_PIECES);
	uint8_t *reach = at + room;
	/* As a number: in a child that was forked in the middle of a write the slot reads as zero. */
	return (uint8_t *)((uintptr_t)BASE_MIN(reach, s->limit) - small);
}

/* The pieces from p on; the end of them in the record, or NULL. */
static inline __attribute__((always_inline)) uint8_t *
pool_quick_pieces(uint8_t *to, const uint8_t *limit, const struct pool_piece *p, uint64_t count, bool typed, bool many)
{
	for (; count != 0; p++, count--) {
		uint64_t n = order_load_relaxed(&p->size); /* once: it may change */
		if (BASE_UNLIKELY((typed && (uint8_t)p->reserved != 0) || (many && to > limit) ||
				  (n > 16 && (int64_t)n > limit - to))) {
			return NULL;
		}
		pool_quick_copy(to, p->ptr, n);
		to += n;
	}
	return to;
}

/* False: a forked child. */
static inline __attribute__((always_inline)) bool pool_quick_publish(struct pool_slot *s, uint8_t *at, uint8_t *to,
								     uint64_t before, uint32_t tid)
{
	le64_put(to, 0); /* padding */
	uint32_t user_len = (uint32_t)((uintptr_t)to - before - (uintptr_t)at);
	le16_put(at + 12, (uint16_t)user_len);
	le16_put(at, (uint16_t)((user_len + before + 7) >> 3));
	uint8_t *next = (uint8_t *)(((uintptr_t)to + 7) & ~(uintptr_t)7);
	uint64_t word = (uintptr_t)next + s->bias;
	struct chunk_desc *desc = s->desc;
	/* As late as possible, see above. The lock does not order the clock: should this be earlier
	 * than the record before, the drain puts it right. */
	le64_put(at + 16, clock_read_counter());
	order_fence_compiler();
	POOL_TESTPOINT("writer-before-publish");
	/* A child must not move its parent's word. */
	if (BASE_UNLIKELY(order_differs(&s->lock, tid))) {
		return false;
	}
	order_store_release(&desc->word, word); /* P */
	order_store_relaxed(&s->at, next);
	POOL_TESTPOINT("writer-after-publish");
	POOL_TESTPOINT("writer-before-unlock");
	order_store_release(&s->lock, 0u); /* U */
	return true;
}

/* Only under our own lock: a forked child's chunk is its parent's. */
static inline void pool_quick_undo(struct pool_slot *s, uint32_t tid)
{
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == tid)) {
		order_store_relaxed(&s->desc->begun, (uint64_t)pool_slot_pos(s));
	}
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == tid)) {
		order_store_release(&s->lock, 0u); /* U */
	}
}

enum pool_quick_result {
	POOL_QUICK_NOTHING = 0, /* nothing happened */
	POOL_QUICK_DONE,
	POOL_QUICK_REST, /* the slot is locked, and pool_quick_finish() is to be called at once */
};

/* What is left to do from a piece of no usual size on. Pieces are copied in a loop there, which needs
 * registers; here, they would have to be saved for every event. */
struct pool_quick_rest {
	struct pool_slot *s;
	uint8_t *at;
	uint8_t *to;
	uint64_t before; /* bytes of the record before its payload */
	uint64_t next_piece;
};

/* True: written. False: nothing happened. */
static inline __attribute__((always_inline)) bool pool_quick_finish(const struct pool_quick_rest *r,
								    const struct pool_piece *piece, uint32_t count,
								    uint32_t tid, uint32_t room, bool typed)
{
	uint8_t *to = pool_quick_pieces(r->to, pool_quick_limit(r->s, r->at, room, false), piece + r->next_piece,
					count - r->next_piece, typed, false);
	if (BASE_UNLIKELY(!to)) {
		pool_quick_undo(r->s, tid);
		return false;
	}
	return pool_quick_publish(r->s, r->at, to, r->before, tid);
}

/* `q->many` false: at most POOL_QUICK_PIECES pieces, and *ret_rest may be set. */
static inline __attribute__((always_inline)) enum pool_quick_result
pool_write_quick(struct pool_writer *w, const struct pool_quick *q, struct pool_quick_rest *ret_rest)
{
	uint32_t tid = q->tid, seen = 0;
	uint32_t cpu = pool_thread_u32(w->rseq_cpu);
	uint64_t index = pool_thread_u32(w->rseq_slot) % POOL_SLOTS * (uint64_t)sizeof *w->slot;
	POOL_QUICK_ONE_BASE(index);
	struct pool_slot *s = (struct pool_slot *)(void *)((uint8_t *)w->slot + index);
	POOL_QUICK_ONE_BASE(s);
	if (q->many && BASE_UNLIKELY(cpu >= 0x10000u)) { /* negative: this thread is not registered */
		return POOL_QUICK_NOTHING;
	}
	union {
		order_pair pair;
		uint16_t word __attribute__((vector_size(16)));
	} with_cpu = {q->head};
	with_cpu.word[3] = (uint16_t)cpu; /* one instruction, no store */
	order_pair head = with_cpu.pair;
	/* L */
	if (BASE_UNLIKELY(!order_cas_acquire(&s->lock, &seen, tid))) {
		return POOL_QUICK_NOTHING;
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
	if (BASE_LIKELY(left > (int64_t)POOL_PREFETCH_BYTES + 64)) {
		pool_prefetch_write_at(at, POOL_PREFETCH_BYTES);
		pool_prefetch_write_at(at, POOL_PREFETCH_BYTES + 64);
	} else if (BASE_UNLIKELY(left < (int64_t)POOL_QUICK_ROOM)) {
		goto unlock;
	}
	/* "In flight"; its end is not known yet, but its beginning is enough for the drain. */
	order_store_relaxed(&desc->begun, begun);
	order_fence_compiler();
	POOL_TESTPOINT("writer-after-begun");
	struct {
		uint64_t a, b;
	} two;
	memcpy(at, &head, 16); /* the gaps are filled in below */
	memcpy(at + 16, &q->mask, 16);
	le32_put(at + 8, tid);
	memcpy(&two, q->descriptor, 16);
	memcpy(at + 32, &two, 16);
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
	/* Without `many`, these two are there, as the caller has seen. */
	const uint32_t lead = !q->many && q->item_type != 0 ? 2 : 0;
	if (lead != 0) {
		uint64_t n = order_load_relaxed(&p[1].size), whole = (n + 15) & ~7ull;
		if (BASE_UNLIKELY(n - 1 >= POOL_QUICK_ITEM || (int64_t)whole > s->limit - to - POOL_QUICK_ROOM)) {
			goto undo;
		}
		le64_put(to + whole - 8, 0);
		le64_put(to, whole | (uint64_t)q->item << 16 | n << 48);
		pool_quick_copy(to + 8, p[1].ptr, n);
		to += whole;
		at[3] = POOL_REC_ITEMS;
	} else if (q->item_type != 0) {
		if (count != 0 && q->skip_type != 0 && (uint8_t)p->reserved == q->skip_type) {
			p++;
			count--;
		}
		if (count != 0 && (uint8_t)p->reserved == q->item_type) {
			uint64_t n = order_load_relaxed(&p->size), whole = (n + 15) & ~7ull;
			if (BASE_UNLIKELY(n - 1 >= POOL_QUICK_ITEM ||
					  (int64_t)whole > s->limit - to - POOL_QUICK_ROOM)) {
				goto undo;
			}
			le64_put(to + whole - 8, 0);
			le64_put(to, whole | (uint64_t)q->item << 16 | n << 48);
			pool_quick_copy(to + 8, p->ptr, n);
			to += whole;
			at[3] |= POOL_REC_ITEMS;
			p++;
			count--;
		}
	}
	uint64_t before = q->many || q->item_type != 0 ? (uint64_t)(to - at) : sizeof(struct pool_rec);
	uint64_t next_piece = 0;
	if (!q->many) { /* without a loop, and what fields usually are without a jump */
		POOL_QUICK_PIECE(p, 0)
		POOL_QUICK_PIECE(p, 1)
		POOL_QUICK_PIECE(p, 2)
		POOL_QUICK_PIECE(p, 3)
		next_piece = lead + 4;
	}
rest:
	if (next_piece != count) {
		if (!q->many) {
			*ret_rest = (struct pool_quick_rest){s, at, to, before, next_piece};
			return POOL_QUICK_REST;
		}
		to = pool_quick_pieces(to, pool_quick_limit(s, at, q->room, true), p + next_piece, count - next_piece,
				       q->item_type != 0, true);
		if (BASE_UNLIKELY(!to)) {
			goto undo;
		}
	}
done:
	return pool_quick_publish(s, at, to, before, tid) ? POOL_QUICK_DONE : POOL_QUICK_NOTHING;
undo:
	pool_quick_undo(s, tid);
	return POOL_QUICK_NOTHING;
unlock:
	if (BASE_LIKELY(order_load_relaxed(&s->lock) == tid)) {
		order_store_release(&s->lock, 0u); /* U */
	}
	return POOL_QUICK_NOTHING;
}

#endif
