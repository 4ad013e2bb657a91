/* SPDX-License-Identifier: MIT
 *
 * Each source is sorted by itself, so the oldest of the waiting heads is the next of all.
 *
 * The order is that of Windows: a file's header comes at its time, and while heads are equally old the file that gave
 * the last record goes on. Files of one clock are compared by its ticks: their headers pair ticks and dates at different
 * moments, so dates made of the ticks may disagree about which of two came first. If clocks differ, the ticks of each are
 * turned to nanoseconds with one pair for all files of that clock.
 */
#include "consume/consume.h"
#include "etl/etl_heap.h"

#include <stdlib.h>

#define SECOND 10000000ull /* FILETIME */

struct consume_merge {
	struct consume_source *sources[CONSUME_SOURCES_MAX];
	struct etl_record heads[CONSUME_SOURCES_MAX];
	struct etl_heap_item items[CONSUME_SOURCES_MAX];
	uint32_t clock_of[CONSUME_SOURCES_MAX]; /* the first source with the same clock */
	struct etl_heap heap;
	uint32_t count;
	uint32_t opened; /* sources whose first record has been fetched */
	bool one_clock;
	bool headers_first;
	bool root_delivered;
};

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* FILETIME of the clock's tick 0; may wrap. */
static uint64_t origin(const struct etl_file_info *f)
{
	struct etl_clock c = {.clock_type = f->clock_type,
			      .perf_freq = f->perf_freq,
			      .cpu_mhz = f->cpu_mhz,
			      .start_filetime = 0,
			      .start_raw = 0};
	return f->start_filetime - etl_clock_to_filetime(&c, f->start_raw);
}

bool consume_same_clock(const struct etl_file_info *a, const struct etl_file_info *b)
{
	if (a->clock_type == 2 || b->clock_type == 2) {
		return a->clock_type == b->clock_type;
	}
	if (a->clock_type != b->clock_type || a->perf_freq != b->perf_freq ||
	    (a->clock_type == 3 && a->cpu_mhz != b->cpu_mhz) ||
	    apart(a->boot_filetime, b->boot_filetime) >= 10 * SECOND) {
		return false;
	}
	/* The counter and the clock on the wall drift apart, so what two headers say of tick 0 differs a little. */
	uint64_t between = apart(a->start_filetime, b->start_filetime);
	uint64_t difference = origin(a) - origin(b);
	difference = BASE_MIN(difference, 0 - difference);
	return difference < SECOND / 10 + between / 1000;
}

int consume_merge_create(struct consume_source *const *sources, uint32_t n, bool headers_first,
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
	m->headers_first = headers_first;
	m->one_clock = true;
	for (uint32_t i = 0; i < n; i++) {
		while (m->clock_of[i] < i && (m->clock_of[m->clock_of[i]] != m->clock_of[i] ||
					      !consume_same_clock(&sources[m->clock_of[i]]->info, &sources[i]->info))) {
			m->clock_of[i]++;
		}
		m->one_clock = m->one_clock && m->clock_of[i] == 0;
	}
	*ret = m;
	return 0;
}

/* Nanoseconds since 1601. */
static uint64_t nanoseconds(const struct etl_clock *c, uint64_t raw)
{
	uint64_t hz = c->clock_type == 3 ? c->cpu_mhz * 1000000ull : c->perf_freq;
	if (c->clock_type == 2 || hz == 0) {
		return 100 * etl_clock_to_filetime(c, raw);
	}
	__extension__ typedef __int128 wide;
	wide ns = (wide)c->start_filetime * 100 + (wide)(int64_t)(raw - c->start_raw) * 1000000000 / (wide)hz;
	return ns < 0 ? 0 : ns > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static struct etl_heap_item item_of(const struct consume_merge *m, uint32_t i)
{
	uint64_t raw = m->heads[i].time_raw;
	return (struct etl_heap_item){.time = m->one_clock ? raw : nanoseconds(&m->sources[m->clock_of[i]]->clock, raw),
				      .sequence = i,
				      .who = i};
}

/* The root's source has another record. It stays the root while nobody is older. */
static void replace_root(struct consume_merge *m, struct etl_heap_item item)
{
	struct etl_heap *h = &m->heap;
	bool older = false;
	for (uint32_t c = 1; c < 3 && c < h->count; c++) {
		older = older || h->items[c].time < item.time;
	}
	h->items[0] = item;
	if (older) {
		etl_heap_sift(h);
	}
}

/* The first record of each source. 1: *ret is a header that goes before everything. */
static int open_sources(struct consume_merge *m, uint32_t *ret)
{
	while (m->opened < (m->headers_first ? 2 : 1) * m->count) {
		uint32_t i = m->opened % m->count;
		bool header = m->headers_first && m->opened < m->count;
		m->opened++;
		int r = consume_source_next(m->sources[i], &m->heads[i]);
		if (r < 0) {
			return r;
		}
		if (r > 0 && header) {
			*ret = i;
			return 1;
		}
		if (r > 0) {
			etl_heap_push(&m->heap, item_of(m, i));
		}
	}
	return 0;
}

int consume_merge_next(struct consume_merge *m, const struct etl_record **ret, uint32_t *ret_source)
{
	int r = open_sources(m, ret_source);
	if (r > 0) {
		*ret = &m->heads[*ret_source];
	}
	if (r != 0) {
		return r;
	}
	if (m->root_delivered) {
		uint32_t i = m->heap.items[0].who;
		r = consume_source_next(m->sources[i], &m->heads[i]);
		if (r < 0) {
			return r;
		}
		m->root_delivered = false;
		if (r > 0) {
			replace_root(m, item_of(m, i));
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
