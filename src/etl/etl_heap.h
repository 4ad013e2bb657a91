/* SPDX-License-Identifier: MIT
 *
 * A small binary heap for k-way merges: the oldest time on top, the lower sequence first among
 * equals. Only the root ever changes, which is one comparison with its two children while one
 * stream leads.
 */
#ifndef ETL_ETL_HEAP_H
#define ETL_ETL_HEAP_H

#include "base/base.h"

struct etl_heap_item {
	uint64_t time;
	uint64_t sequence;
	uint32_t who;
};
struct etl_heap {
	struct etl_heap_item *items; /* room for as many as are ever pushed */
	uint32_t count;
};

static inline bool etl_heap_before(const struct etl_heap_item *a, const struct etl_heap_item *b)
{
	return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

/* The root was replaced or grew later. */
static inline void etl_heap_sift(struct etl_heap *h)
{
	uint32_t i = 0;
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= h->count) {
			return;
		}
		if (c + 1 < h->count && etl_heap_before(&h->items[c + 1], &h->items[c])) {
			c++;
		}
		if (!etl_heap_before(&h->items[c], &h->items[i])) {
			return;
		}
		struct etl_heap_item t = h->items[i];
		h->items[i] = h->items[c];
		h->items[c] = t;
		i = c;
	}
}

static inline void etl_heap_pop(struct etl_heap *h)
{
	h->items[0] = h->items[--h->count];
	etl_heap_sift(h);
}

static inline void etl_heap_push(struct etl_heap *h, struct etl_heap_item item)
{
	uint32_t i = h->count++;
	while (i > 0 && etl_heap_before(&item, &h->items[(i - 1) / 2])) {
		h->items[i] = h->items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->items[i] = item;
}

#endif
