/* SPDX-License-Identifier: MIT
 *
 * Each source is sorted by itself, so the oldest of the waiting heads is the next of all.
 */
#include "consume/consume.h"
#include "etl/etl_heap.h"

#include <stdlib.h>

struct consume_merge {
	struct consume_source *sources[CONSUME_SOURCES_MAX];
	struct etl_record heads[CONSUME_SOURCES_MAX];
	struct etl_heap_item items[CONSUME_SOURCES_MAX];
	struct etl_heap heap;
	uint32_t count;
	uint32_t opened; /* sources whose first record has been fetched and delivered */
	bool root_delivered;
};

int consume_merge_create(struct consume_source *const *sources, uint32_t n,
			 struct consume_merge **ret)
{
	if (n == 0 || n > CONSUME_SOURCES_MAX) {
		return -EINVAL;
	}
	struct consume_merge *m = calloc(1, sizeof *m);
	if (!m) {
		return -ENOMEM;
	}
	memcpy(m->sources, sources, n * sizeof *sources);
	m->count = n;
	m->heap.items = m->items;
	*ret = m;
	return 0;
}

static struct etl_heap_item item_of(const struct consume_merge *m, uint32_t i)
{
	return (struct etl_heap_item){.time = m->heads[i].time_filetime, .sequence = i, .who = i};
}

int consume_merge_next(struct consume_merge *m, const struct etl_record **ret, uint32_t *ret_source)
{
	/* The first record of every file is its header: consumers get all of them before any event,
	 * for they need them to read the rest. */
	while (m->opened < 2 * m->count) {
		uint32_t i = m->opened % m->count;
		bool header = m->opened < m->count;
		m->opened++;
		int r = consume_source_next(m->sources[i], &m->heads[i]);
		if (r < 0) {
			return r;
		}
		if (r > 0 && header) {
			*ret = &m->heads[i];
			*ret_source = i;
			return 1;
		}
		if (r > 0) {
			etl_heap_push(&m->heap, item_of(m, i));
		}
	}
	if (m->root_delivered) {
		uint32_t i = m->heap.items[0].who;
		int r = consume_source_next(m->sources[i], &m->heads[i]);
		if (r < 0) {
			return r;
		}
		m->root_delivered = false;
		if (r > 0) {
			m->heap.items[0] = item_of(m, i);
			etl_heap_sift(&m->heap);
		} else {
			etl_heap_pop(&m->heap);
		}
	}
	if (m->heap.count == 0) {
		return 0;
	}
	*ret_source = m->heap.items[0].who;
	*ret = &m->heads[*ret_source];
	m->root_delivered = true;
	return 1;
}

void consume_merge_destroy(struct consume_merge *m)
{
	free(m);
}
