/* SPDX-License-Identifier: MIT */
#include "etl/etl_run.h"

#include <stdlib.h>

/* A message without a time stamp takes the time of what stands before it in the buffer, or else of
 * the first record behind it that has one, or else that of the buffer. */
static void time_guess(const struct etl_run *run, struct etl_record_head *h, bool first, uint64_t before)
{
	if (!first) {
		h->time_raw = before;
		return;
	}
	struct etl_record_head next = *h;
	while (etl_record_peek(run->buf, run->used, etl_record_after(&next), &next, NULL) > 0) {
		if (next.timed) {
			h->time_raw = next.time_raw;
			return;
		}
	}
	h->time_raw = le64_get(run->buf + ETL_BH_TIME_STAMP);
}

static int advance(const struct etl_run *run, uint32_t at, bool first, uint64_t before, struct etl_record_head *h,
		   struct diag *d)
{
	int got = etl_record_peek(run->buf, run->used, at, h, d);
	if (BASE_UNLIKELY(got > 0 && !h->timed)) {
		time_guess(run, h, first, before);
	}
	return got;
}

static int by_time_and_place(const void *pa, const void *pb)
{
	const struct etl_record_head *a = pa, *b = pb;
	if (a->time_raw != b->time_raw) {
		return a->time_raw < b->time_raw ? -1 : 1;
	}
	return a->at < b->at ? -1 : a->at > b->at;
}

static int sort(struct etl_run *run, uint32_t count)
{
	struct etl_record_head *list = malloc(count * sizeof *list);
	if (!list) {
		return -ENOMEM;
	}
	struct etl_record_head h = run->head;
	uint32_t n = 0;
	do {
		list[n++] = h;
	} while (n < count && advance(run, etl_record_after(&h), false, h.time_raw, &h, NULL) > 0);
	qsort(list, n, sizeof *list, by_time_and_place);
	run->sorted = list;
	run->sorted_count = n;
	run->sorted_at = 0;
	run->head = list[0];
	return 1;
}

int etl_run_start(struct etl_run *run, const uint8_t *buf, uint32_t used, uint32_t flags, struct diag *d)
{
	bool first = (flags & ETL_RUN_CONTINUE) == 0;
	uint64_t before = first ? 0 : run->head.time_raw;
	*run = (struct etl_run){.buf = buf, .used = used};
	int got = advance(run, ETL_BUFFER_HEADER_SIZE, first, before, &run->head, d);
	if (got <= 0 || (flags & ETL_RUN_KEEP_ORDER)) {
		return got;
	}
	struct etl_record_head h = run->head;
	uint32_t count = 1;
	bool sorted = true;
	uint64_t last = h.time_raw;
	while (advance(run, etl_record_after(&h), false, last, &h, NULL) > 0) {
		sorted = sorted && h.time_raw >= last;
		last = h.time_raw;
		count++;
	}
	return BASE_LIKELY(sorted) ? 1 : sort(run, count);
}

int etl_run_next(struct etl_run *run, struct diag *d)
{
	if (BASE_LIKELY(!run->sorted)) {
		return advance(run, etl_record_after(&run->head), false, run->head.time_raw, &run->head, d);
	}
	if (++run->sorted_at < run->sorted_count) {
		run->head = run->sorted[run->sorted_at];
		return 1;
	}
	/* What ended the walk: the end of the data, or damage worth telling. */
	uint32_t end = ETL_BUFFER_HEADER_SIZE;
	for (uint32_t i = 0; i < run->sorted_count; i++) {
		end = BASE_MAX(end, etl_record_after(&run->sorted[i]));
	}
	struct etl_record_head h;
	int got = etl_record_peek(run->buf, run->used, end, &h, d);
	return BASE_MIN(got, 0);
}

void etl_run_finish(struct etl_run *run)
{
	free(run->sorted);
	*run = (struct etl_run){0};
}
