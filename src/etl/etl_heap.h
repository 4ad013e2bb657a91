/* SPDX-License-Identifier: MIT
 *
 * A small binary heap for k-way merges: the oldest time on top, the lower sequence first among
 * equals. Only the root ever changes, which is one comparison with its two children while one
 * stream leads.
 */
#ifndef ETL_ETL_HEAP_H
#define ETL_ETL_HEAP_H

#include "base/base.h"

#include <stdlib.h>

struct etl_heap_item {
	uint64_t time;
	uint64_t sequence;
	uint32_t who;
};
struct etl_heap {
	struct etl_heap_item *items; /* room for as many as are ever pushed */
	uint32_t count;
};

/* Room for `cap` streams: what the owner keeps of each (elements of `bytes`), the heap's items, and the numbers that are
 * vacant. -ENOMEM: there is room for as many as before. */
static inline int etl_heap_room(struct etl_heap *h, uint32_t **vacant, void **list, size_t bytes, uint32_t cap)
{
	void *more = realloc(*list, cap * bytes);
	*list = more ? more : *list;
	struct etl_heap_item *items = more ? realloc(h->items, cap * sizeof *items) : NULL;
	h->items = items ? items : h->items;
	uint32_t *numbers = items ? realloc(*vacant, cap * sizeof *numbers) : NULL;
	*vacant = numbers ? numbers : *vacant;
	return numbers ? 0 : -ENOMEM;
}

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
