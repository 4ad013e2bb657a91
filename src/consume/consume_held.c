/* SPDX-License-Identifier: MIT */
#include "consume/consume_held.h"

#include <stdlib.h>

static int grow(struct held_set *h)
{
	uint32_t cap = h->cap ? 2 * h->cap : 32;
	void *list = h->list;
	int err = etl_heap_room(&h->heap, &h->vacant, &list, sizeof *h->list, cap);
	h->list = list;
	if (err < 0) {
		return err;
	}
	for (uint32_t i = cap; i-- > h->cap;) {
		h->list[i].buf = NULL;
		h->vacant[h->vacant_count++] = i;
	}
	h->cap = cap;
	return 0;
}

static void let_go(struct held_set *h, uint32_t i)
{
	struct held_buffer *b = &h->list[i];
	h->bytes -= b->used;
	etl_run_finish(&b->run);
	h->release(h->ctx, b);
	b->buf = NULL;
	h->vacant[h->vacant_count++] = i;
}

int held_add(struct held_set *h, const uint8_t *buf, uint32_t used, void *owner)
{
	int err = h->vacant_count ? 0 : grow(h);
	if (err < 0) {
		return err;
	}
	uint32_t i = h->vacant[h->vacant_count - 1];
	struct held_buffer *b = &h->list[i];
	/* Damage costs the rest of this buffer, nothing else. */
	int got = etl_run_start(&b->run, buf, used, h->run_flags, NULL);
	if (got == -ENOMEM) {
		return got;
	}
	h->vacant_count--;
	b->buf = buf;
	b->used = used;
	b->owner = owner;
	h->bytes += used;
	if (got <= 0) {
		let_go(h, i);
		return 0;
	}
	etl_heap_push(&h->heap,
		      (struct etl_heap_item){.time = b->run.head.time_raw, .sequence = h->arrivals++, .who = i});
	return 0;
}

void held_take(struct held_set *h, const struct etl_clock *clock, struct etl_record *ret)
{
	struct held_buffer *b = &h->list[h->heap.items[0].who];
	etl_record_split(b->buf, &b->run.head, clock, ret, NULL);
	h->root_taken = true;
}

void held_advance(struct held_set *h)
{
	if (!h->root_taken) {
		return;
	}
	h->root_taken = false;
	uint32_t i = h->heap.items[0].who;
	struct held_buffer *b = &h->list[i];
	if (etl_run_next(&b->run, NULL) > 0) {
		h->heap.items[0].time = b->run.head.time_raw;
		etl_heap_sift(&h->heap);
		return;
	}
	etl_heap_pop(&h->heap);
	let_go(h, i);
}

void held_finish(struct held_set *h)
{
	for (uint32_t i = 0; i < h->cap; i++) {
		if (h->list[i].buf) {
			let_go(h, i);
		}
	}
	free(h->list);
	free(h->heap.items);
	free(h->vacant);
	h->list = NULL;
	h->heap = (struct etl_heap){0};
	h->vacant = NULL;
	h->cap = h->vacant_count = 0;
}
