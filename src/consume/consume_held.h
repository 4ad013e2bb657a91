/* SPDX-License-Identifier: MIT
 *
 * Buffers that have arrived and wait for their records' turn: a merge by buffer, for sources whose
 * buffers come one by one (real time, buffer streams). One thread.
 */
#ifndef CONSUME_CONSUME_HELD_H
#define CONSUME_CONSUME_HELD_H

#include "consume/consume.h"
#include "etl/etl_heap.h"
#include "etl/etl_run.h"

struct held_buffer {
	const uint8_t *buf;
	uint32_t used;
	void *owner; /* whatever release() needs */
	struct etl_run run;
};
struct held_set {
	/* All records of the buffer have been taken, or it had none. */
	void (*release)(void *ctx, const struct held_buffer *b);
	void *ctx;
	uint32_t run_flags;
	/* private */
	struct held_buffer *list;
	uint32_t cap;
	uint32_t *vacant; /* stack of free places in list */
	uint32_t vacant_count;
	struct etl_heap heap;
	uint64_t arrivals; /* ties are broken by order of arrival */
	uint64_t bytes;
	bool root_taken;
};

/* 0; -errno: then the buffer is not taken and not released. */
int held_add(struct held_set *h, const uint8_t *buf, uint32_t used, void *owner);
static inline bool held_empty(const struct held_set *h)
{
	return h->heap.count == 0;
}
/* Time of the oldest record. There must be one. */
static inline uint64_t held_time(const struct held_set *h)
{
	return h->heap.items[0].time;
}
/* Take the oldest record; valid until held_advance(). */
void held_take(struct held_set *h, const struct etl_clock *clock, struct etl_record *ret);
/* Move past the record taken, if one was. */
void held_advance(struct held_set *h);
/* Releases what is left. */
void held_finish(struct held_set *h);

#endif
