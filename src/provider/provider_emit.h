/* SPDX-License-Identifier: MIT
 *
 * Writing an event. provider_write() is the inline case: one destination, and of the extended items
 * only the description of a TraceLogging event. Everything else is provider_emit().
 *
 * context: async-signal-safe, errno preserved. Results are Win32 codes, since the caller's caller
 * wants one and the fast path has no time for two translations.
 */
#ifndef PROVIDER_PROVIDER_EMIT_H
#define PROVIDER_PROVIDER_EMIT_H

#include "format/etl_layout.h"
#include "pool/pool_evaluate.h"
#include "pool/pool_quick.h"
#include "provider/provider_region.h"
#include "etw/values/errors.h"
#include "etw/values/event_write.h"
#include "etw/values/filter_types.h"

/* A record with its 80-byte header and extended items fits 16 bits [doc]. */
#define PROVIDER_EVENT_ROOM (65535u - 80u)

struct provider_event {
	struct provider_hot *hot;
	const void *descriptor; /* 16 bytes */
	const void *activity;   /* 16 bytes; NULL: the thread's */
	const void *related;    /* 16 bytes or NULL */
	const struct pool_piece *piece;
	uint32_t count;
	uint32_t flags;   /* EVENT_WRITE_FLAG_* */
	uint64_t exclude; /* EventWriteEx.Filter */
	uint8_t rec_flags;
	const void *frame; /* of the API function: stacks start at its caller */
};

uint32_t provider_emit(const struct provider_event *ev);
uint32_t provider_code_of(int err);

/* The filter rows in force, all of them; NULL when the block makes no sense. For the rare questions
 * that pool_ctl_evaluate() does not answer. */
const struct filter_table *provider_rows(const struct ctl_entry *e, const void *ctl, uint32_t ctl_bytes,
					 uint32_t *ret_rows);

static inline const void *provider_activity_or(const void *given)
{
	if (given) {
		return given;
	}
	const uint64_t *a = provider_thread.activity;
	return (a[0] | a[1]) != 0 ? a : NULL;
}

/* provider_emit() with its arguments in registers: as long as nobody takes the address of a
 * structure, the inline path keeps everything there, too. */
uint32_t provider_emit_plain(struct provider_hot *hot, const void *descriptor, const void *activity,
			     const struct pool_piece *piece, uint32_t count, const void *frame);

/* The same where provider_write() did not get through: without a verdict (keeps one for the next
 * such event) or with a full chunk. */
uint32_t provider_emit_again(struct provider_hot *hot, const void *descriptor, const void *activity,
			     const struct pool_piece *piece, uint32_t count, const void *frame);
/* Keep the verdict on this descriptor, decided under `cfg` of `e`. */
void provider_cache_fill(struct provider_hot *hot, const void *descriptor, const struct ctl_entry *e, uint32_t cfg,
			 const struct pool_verdict *pv);

/* Events usually have constant descriptors, one beside the other. */
static inline struct provider_verdict *provider_verdict_place(struct provider_hot *hot, const void *descriptor)
{
	size_t at = ((uintptr_t)descriptor << 2) & ((PROVIDER_VERDICTS - 1) << 6);
	return (struct provider_verdict *)(void *)((uint8_t *)hot->verdict + at);
}
_Static_assert(sizeof(struct provider_verdict) == 1u << 6, "provider_verdict_place");

enum provider_shape {                           /* constants for provider_write() */
		      PROVIDER_SHAPE_PLAIN = 0, /* provider_thread_plain(), at most POOL_QUICK_PIECES */
		      PROVIDER_SHAPE_TYPED = 1, /* descriptor types count: TraceLogging; alone: as its macros do */
		      PROVIDER_SHAPE_ANY = 2,   /* with an activity, with many pieces: all that is possible */
};

/* What is written when verdict and thread id are known. */
static inline __attribute__((always_inline)) enum pool_quick_result
provider_write_known(const struct provider_hot *hot, const void *descriptor, const void *activity,
		     const struct pool_piece *piece, uint32_t count, struct pool_writer *writer, order_pair head,
		     order_pair mask, unsigned shape, struct pool_quick_rest *ret_rest)
{
	struct pool_quick q = {
		.head = head,
		.mask = mask,
		.tid = provider_thread.tid,
		.descriptor = descriptor,
		.activity = shape & PROVIDER_SHAPE_ANY ? provider_activity_or(activity) : NULL,
		.piece = piece,
		.piece_count = count,
		.many = (shape & PROVIDER_SHAPE_ANY) != 0,
		.room = PROVIDER_EVENT_ROOM,
	};
	if (shape & PROVIDER_SHAPE_TYPED) {
		q.skip_type = order_load_relaxed(&hot->flags) & PROVIDER_HOT_TRAITS
				      ? EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA
				      : 0;
		q.item_type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
		q.item = ETL_ITEM_EVENT_SCHEMA_TL;
	}
	return pool_write_quick(writer, &q, ret_rest);
}

/* The way of nearly all events: one destination, no related activity, no stack. Anything unusual is
 * left to `again`, which starts from the beginning with provider_emit_again(); nothing is published
 * by then. It is a function of the caller's for the sake of its frame, and has the caller's parameters
 * in the caller's order, so that a jump is all it takes to get there. */
typedef uint32_t provider_again_fn(struct provider_hot *hot, const void *descriptor, uint32_t count,
				   const struct pool_piece *piece, const void *activity);
/* Ends an event whose slot is locked, for the same reason by a jump: provider_write_rest() with what its
 * parameters are, six registers full. */
typedef uint32_t provider_rest_fn(struct pool_slot *s, uint8_t *at, uint8_t *to, const struct pool_piece *piece,
				  uint64_t numbers, const void *descriptor);

static inline __attribute__((always_inline)) uint32_t provider_write_rest(struct pool_slot *s, uint8_t *at, uint8_t *to,
									  const struct pool_piece *piece,
									  uint64_t numbers, const void *descriptor,
									  provider_again_fn *again, bool typed)
{
	uint32_t count = (uint8_t)numbers;
	struct pool_quick_rest r = {s, at, to, numbers >> 32, (uint8_t)(numbers >> 8)};
	if (BASE_LIKELY(pool_quick_finish(&r, piece, count, provider_thread.tid, PROVIDER_EVENT_ROOM, typed))) {
		return ERROR_SUCCESS;
	}
	return again(&provider_memory.hot[(uint16_t)(numbers >> 16)], descriptor, count, piece, NULL);
}

static inline __attribute__((always_inline)) uint32_t
provider_write(struct provider_hot *hot, const struct ctl_entry *entry, const void *descriptor, const void *activity,
	       const struct pool_piece *piece, uint32_t count, provider_again_fn *again, provider_rest_fn *rest,
	       unsigned shape)
{
	const uint8_t *desc = descriptor;
	/* Needed again only when something is unusual: not worth a register. */
	struct provider_hot *volatile kept_hot = hot;
	const void *volatile kept_descriptor = descriptor;
	if (shape == PROVIDER_SHAPE_TYPED &&
	    (BASE_UNLIKELY(count < 2 || (uint8_t)piece[0].reserved != EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA) ||
	     BASE_UNLIKELY((uint8_t)piece[1].reserved != EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA ||
			   !order_has(&hot->flags, PROVIDER_HOT_TRAITS)))) {
		goto miss;
	}
	struct provider_verdict *v = provider_verdict_place(hot, descriptor);
	__asm__("" : "+r"(v));                      /* one base register */
	uint64_t tag = order_load_acquire(&v->tag); /* T */
	if (BASE_UNLIKELY(provider_tag_differs(v, tag, order_load_relaxed(&entry->cfg)) ||
			  order_differs(&v->keyword, le64_get(desc + 8)) || order_differs(&v->entry, entry) ||
			  order_differs(&v->level, (uint64_t)desc[4]))) {
		goto miss;
	}
	order_pair mask = order_load_pair((const uint64_t(*)[2])(const void *)&v->level);
	order_pair head = order_load_pair(&v->head);
	struct pool_writer *writer = order_load_relaxed(&v->writer);
	order_fence_acquire(); /* pairs with Q */
	if (BASE_UNLIKELY(order_differs(&v->tag, tag) ||
			  ((shape & PROVIDER_SHAPE_ANY) != 0 && !provider_tid_known()))) {
		goto miss;
	}
	if (BASE_UNLIKELY(order_load_relaxed(&v->mask) == 0)) {
		return ERROR_SUCCESS;
	}
	struct pool_quick_rest r = {0};
	enum pool_quick_result result =
		provider_write_known(hot, descriptor, activity, piece, count, writer, head, mask, shape, &r);
	if (result == POOL_QUICK_REST) {
		/* count, next_piece and before fit 8, 8 and 32 bits, the registration 16 */
		return rest(r.s, r.at, r.to, piece,
			    count | r.next_piece << 8 | (uint64_t)provider_hot_index(kept_hot) << 16 | r.before << 32,
			    kept_descriptor);
	}
	if (BASE_LIKELY(result == POOL_QUICK_DONE)) {
		return ERROR_SUCCESS;
	}
miss:
	return again(kept_hot, kept_descriptor, count, piece, activity);
}

#endif
