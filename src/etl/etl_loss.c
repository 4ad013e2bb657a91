/* SPDX-License-Identifier: MIT
 *
 * When something was lost, as far as a file shows it: buffers that say that events or buffers were
 * lost before them, the times of the last loss that newer builds write, and numbers of buffers that
 * are not there. All of it is in the index and the first buffer; no record is read for it.
 */
#include "etl/etl_loss.h"
#include "base/vec.h"

#include "etw/values/session_modes.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

#include <stdlib.h>

#define HOOK_DROPPED KERNEL_HOOK(KERNEL_GROUP_TRACE, KP_EVENT_TRACE_LAST_DROPPED_TIMES)
#define LATEST_NEVER 0u
#define CPUS         2048u

struct list {
	struct etl_loss_range *items;
	size_t count, cap;
	const struct etl_clock *clock;
	int err;
};

static void add(struct list *l, enum etl_loss_kind kind, uint64_t count, uint16_t cpu, uint64_t from_raw,
		uint64_t to_raw)
{
	if (!VEC_ROOM(l->items, l->count, l->cap)) {
		l->err = -ENOMEM;
		return;
	}
	l->items[l->count++] = (struct etl_loss_range){
		.kind = kind,
		.cpu = cpu,
		.count = count,
		.from_filetime = etl_clock_to_filetime(l->clock, from_raw),
		.to_filetime = etl_clock_to_filetime(l->clock, to_raw),
	};
}

static int by_sequence(const void *pa, const void *pb)
{
	const struct etl_index_entry *a = pa, *b = pb;
	if (a->sequence != b->sequence) {
		return a->sequence < b->sequence ? -1 : 1;
	}
	return a->file_offset < b->file_offset ? -1 : a->file_offset > b->file_offset;
}

/* A loss lies between the first record of the buffer of the same processor that came before, or the
 * session's start, and the first one behind it. */
static void look_at_flags(struct list *l, const struct etl_index_entry *list, size_t n, uint64_t start)
{
	uint64_t last[CPUS];
	for (size_t i = 0; i < CPUS; i++) {
		last[i] = start;
	}
	for (size_t i = 0; i < n; i++) {
		const struct etl_index_entry *e = &list[i];
		uint64_t to = e->first_raw, from = BASE_MIN(last[e->cpu % CPUS], to);
		if (e->loss & ETL_BF_EVENTS_LOST) {
			add(l, ETL_LOSS_EVENTS, 0, e->cpu, from, to);
		}
		if (e->loss & ETL_BF_BUFFER_LOST) {
			add(l, ETL_LOSS_BUFFERS, 0, e->cpu, from, to);
		}
		if (e->loss & ETL_BF_RTBACKUP_CORRUPT) {
			add(l, ETL_LOSS_BACKUP, 0, e->cpu, from, to);
		}
		if (e->file_offset != 0) {
			last[e->cpu % CPUS] = to;
		}
	}
}

static void look_at_numbers(struct list *l, const struct etl_index_entry *list, size_t n,
			    const struct etl_file_info *info)
{
	bool ring = (info->log_file_mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_BUFFERING_MODE)) != 0;
	uint64_t last = 0, last_raw = info->start_raw;
	for (size_t i = 0; i < n; i++) {
		const struct etl_index_entry *e = &list[i];
		if (e->file_offset == 0) {
			continue;
		}
		if (e->sequence > last + 1) {
			/* Numbers are given when a buffer is taken: its events are not much older. */
			add(l, ring && last == 0 ? ETL_LOSS_OVERWRITTEN : ETL_LOSS_MISSING, e->sequence - last - 1,
			    UINT16_MAX, BASE_MIN(last_raw, e->first_raw), e->first_raw);
		}
		last = BASE_MAX(last, e->sequence);
		last_raw = e->first_raw;
	}
}

static void look_at_times(struct list *l, const struct etl_file_info *info)
{
	uint32_t at = 0;
	struct etl_record r;
	while (etl_buffer_next(info->header, info->header_bytes, &at, l->clock, &r, NULL) > 0) {
		const struct kernel_payload in = {r.payload, r.payload_bytes, r.pointer_size};
		struct bytes times = kernel_payload_from(in, KP_EVENT_TRACE_LAST_DROPPED_TIMES_SINCE_V0_TIME_STAMP);
		if (r.hook != HOOK_DROPPED || times.bad) {
			continue;
		}
		uint32_t count = kernel_payload_get32(in, KP_EVENT_TRACE_LAST_DROPPED_TIMES_SINCE_V0_TIME_STAMP_COUNT);
		count = (uint32_t)BASE_MIN((size_t)count, bytes_left(&times) / 8);
		for (uint32_t i = 0; i < count; i++) {
			uint64_t raw = bytes_u64(&times);
			if (raw != LATEST_NEVER) {
				add(l, ETL_LOSS_LATEST, 0, (uint16_t)i, raw, raw);
			}
		}
	}
}

int etl_loss_collect(const struct etl_index *x, const struct etl_file_info *info, const struct etl_clock *clock,
		     struct etl_loss_range **ret, size_t *ret_count)
{
	struct list l = {.clock = clock};
	size_t n = x->count;
	struct etl_index_entry *list = malloc((n ? n : 1) * sizeof *list);
	if (!list) {
		return -ENOMEM;
	}
	memcpy(list, x->list, n * sizeof *list);
	qsort(list, n, sizeof *list, by_sequence);
	look_at_flags(&l, list, n, info->start_raw);
	if (!info->old && !info->spill && !(info->log_file_mode & EVENT_TRACE_RELOG_MODE)) {
		look_at_numbers(&l, list, n, info);
	}
	if (info->header) {
		look_at_times(&l, info);
	}
	free(list);
	if (l.err < 0) {
		free(l.items);
		return l.err;
	}
	*ret = l.items;
	*ret_count = l.count;
	return 0;
}
