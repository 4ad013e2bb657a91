/* SPDX-License-Identifier: MIT
 *
 * Writing an event. provider_write() is the inline case: one destination, plain descriptors,
 * nothing extended. Everything else is provider_emit().
 *
 * context: async-signal-safe, errno preserved. Results are Win32 codes, since the caller's caller
 * wants one and the fast path has no time for two translations.
 */
#ifndef PROVIDER_PROVIDER_EMIT_H
#define PROVIDER_PROVIDER_EMIT_H

#include "pool/pool_evaluate.h"
#include "pool/pool_write.h"
#include "provider/provider_region.h"

enum provider_code {
	PROVIDER_OK = 0,
	PROVIDER_INVALID_HANDLE = 6,
	PROVIDER_NOT_ENOUGH_MEMORY = 8,
	PROVIDER_INVALID_PARAMETER = 87,
	PROVIDER_MORE_DATA = 234,
	PROVIDER_ARITHMETIC_OVERFLOW = 534,
};
#define PROVIDER_PIECES_MAX 128u
/* A record with its 80-byte header and extended items fits 16 bits [doc]. */
#define PROVIDER_EVENT_ROOM (65535u - 80u)

struct provider_event {
	struct provider_hot *hot;
	const void *descriptor; /* 16 bytes */
	const void *activity;	/* 16 bytes; NULL: the thread's */
	const void *related;	/* 16 bytes or NULL */
	const struct pool_piece *piece;
	uint32_t count;
	uint32_t flags;	  /* EVENT_WRITE_FLAG_* */
	uint64_t exclude; /* EventWriteEx.Filter */
	uint8_t rec_flags;
	const void *frame; /* of the API function: stacks start at its caller */
};
#define PROVIDER_WRITE_INPRIVATE 2u

uint32_t provider_emit(const struct provider_event *ev);
uint32_t provider_code_of(int err);

/* The filter rows in force, all of them; NULL when the block makes no sense. For the rare questions
 * that pool_ctl_evaluate() does not answer. */
const struct filter_table *provider_rows(const struct ctl_entry *e, const void *ctl,
					 uint32_t ctl_bytes, uint32_t *ret_rows);

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

void provider_cache_fill(struct provider_hot *hot);

/* pool_ctl_evaluate() from the cache; false: it does not know. */
static inline __attribute__((always_inline)) bool
provider_cache_mask(const struct provider_hot *hot, const struct ctl_entry *entry,
		    const uint8_t *desc, struct pool_verdict *ret, struct pool_writer **ret_writer)
{
	uint32_t cfg = order_load_acquire(&hot->cfg); /* T */
	if (BASE_UNLIKELY(cfg != order_load_acquire(&entry->cfg) ||
			  order_load_relaxed(&hot->cached_entry) != entry)) {
		return false;
	}
	uint64_t head = order_load_relaxed(&hot->head), heads = head;
	uint64_t keyword = le64_get(desc + 8);
	uint8_t level = desc[4];
	*ret_writer = order_load_relaxed(&hot->writer);
	uint32_t rows = order_load_relaxed(&hot->rows);
	if (BASE_LIKELY(rows == 1)) {
		bool passes =
			pool_level_passes(POOL_HEAD_LEVEL(head), (uint8_t)(level - (level != 0)));
		if (BASE_LIKELY(keyword != 0)) {
			passes &= (keyword & order_load_relaxed(&hot->any)) != 0 &&
				  (order_load_relaxed(&hot->match_all) & ~keyword) == 0;
		} else {
			passes &= (POOL_HEAD_PROPS(head) & FILTER_ROW_IGNORE_KEYWORD_0) == 0;
		}
		ret->mask = passes ? 1ull << (head & 63) : 0;
	} else {
		const struct filter_table *t = order_load_relaxed(&hot->table);
		ret->mask = pool_rows_match(t->row, rows, level, keyword, &heads);
	}
	ret->props = POOL_HEAD_PROPS(heads);
	ret->cfg_gen = (uint16_t)(head >> 32);
	order_fence_acquire(); /* pairs with Q, and with the fence in pool_ctl.c */
	return BASE_LIKELY(order_load_relaxed(&hot->cfg) == cfg &&
			   order_load_relaxed(&entry->cfg) == cfg);
}

/* One destination, no extended items of the caller's. */
static inline __attribute__((always_inline)) uint32_t
provider_write(struct provider_hot *hot, const void *descriptor, const void *activity,
	       const struct pool_piece *piece, uint32_t count, const void *frame)
{
	const struct ctl_entry *entry = order_load_acquire(&hot->entry);
	if (order_load_relaxed(&entry->enabled) == 0) {
		return PROVIDER_OK;
	}
	struct pool_verdict v;
	struct pool_writer *writer;
	/* Also false for provider_entry_on, which is never cached. */
	if (BASE_UNLIKELY(!provider_cache_mask(hot, entry, descriptor, &v, &writer))) {
		provider_cache_fill(hot);
		return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
	}
	if (v.mask == 0) {
		return PROVIDER_OK;
	}
	uint64_t total = 0; /* 128 sizes of 32 bits */
	for (uint32_t i = 0; i < count; i++) {
		total += piece[i].size;
	}
	if (BASE_UNLIKELY((v.props & FILTER_ROW_STACK) || total > PROVIDER_EVENT_ROOM ||
			  (order_load_relaxed(&hot->flags) & PROVIDER_HOT_TYPED))) {
		return provider_emit_plain(hot, descriptor, activity, piece, count, frame);
	}
	struct pool_write_args args = {
		.kind = POOL_REC_EVENT,
		.prov = (uint16_t)provider_hot_index(hot),
		.cfg_gen = v.cfg_gen,
		.tid = provider_tid(),
		.mask = v.mask,
		.descriptor = descriptor,
		.activity = provider_activity_or(activity),
		.piece = piece,
		.piece_count = count,
		.payload_bytes = (uint32_t)total,
	};
	args.flags = args.activity ? POOL_REC_ACTIVITY : 0;
	int r = pool_write(writer, &args);
	return BASE_LIKELY(r == 0) ? PROVIDER_OK : provider_code_of(r);
}

#endif
