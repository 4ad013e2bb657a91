/* SPDX-License-Identifier: MIT
 *
 * Writing an event. provider_write() is the inline case: one destination, plain descriptors, nothing
 * extended. Everything else is provider_emit().
 *
 * context: async-signal-safe, errno preserved. Results are Win32 codes, since the caller's caller wants
 * one and the fast path has no time for two translations.
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

/* The filter rows in force, all of them; NULL when the block makes no sense. For the rare questions that
 * pool_ctl_evaluate() does not answer. */
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

static inline __attribute__((always_inline)) uint32_t provider_write(const struct provider_event *ev)
{
	struct provider_hot *hot = ev->hot;
	const struct ctl_entry *entry = order_load_acquire(&hot->entry);
	if (order_load_relaxed(&entry->enabled) == 0) {
		return PROVIDER_OK;
	}
	if (BASE_UNLIKELY(entry == &provider_entry_on ||
			  (order_load_relaxed(&hot->flags) & PROVIDER_HOT_TYPED) || ev->related ||
			  ev->flags || ev->exclude || ev->rec_flags)) {
		return provider_emit(ev);
	}
	const uint8_t *desc = ev->descriptor;
	const struct provider_link *link = provider_link_of(entry);
	struct pool_verdict v = pool_ctl_evaluate(entry, provider_ctl_of(entry), link->ctl_bytes,
						  desc[4], le64_get(desc + 8));
	if (v.mask == 0) {
		return PROVIDER_OK;
	}
	uint32_t total = 0;
	for (uint32_t i = 0; i < ev->count; i++) {
		uint32_t n = ev->piece[i].size;
		/* 128 sizes of 32 bits would wrap a 32-bit sum. */
		if (BASE_UNLIKELY(n > PROVIDER_EVENT_ROOM)) {
			total = PROVIDER_EVENT_ROOM + 1;
			break;
		}
		total += n;
	}
	if (BASE_UNLIKELY((v.props & FILTER_ROW_STACK) || total > PROVIDER_EVENT_ROOM)) {
		return provider_emit(ev);
	}
	struct pool_write_args args = {
		.kind = POOL_REC_EVENT,
		.prov = (uint16_t)provider_hot_index(hot),
		.cfg_gen = v.cfg_gen,
		.tid = provider_tid(),
		.mask = v.mask,
		.descriptor = desc,
		.activity = provider_activity_or(ev->activity),
		.piece = ev->piece,
		.piece_count = ev->count,
		.payload_bytes = total,
	};
	args.flags = args.activity ? POOL_REC_ACTIVITY : 0;
	int r = pool_write(link->writer, &args);
	return BASE_LIKELY(r == 0) ? PROVIDER_OK : provider_code_of(r);
}

#endif
