/* SPDX-License-Identifier: MIT */
#include "query/query_durations.h"

#include "query/query_companion.h"
#include "query/query_spans.h"

#include <limits.h>
#include <stdlib.h>

struct one {
	uint64_t place, ns; /* group << 16 | row */
};
struct durations {
	struct build_space space;
	struct one *list; /* in it; by place */
	size_t count;
	uint32_t group_count;
	size_t *first; /* of each group; one more: all */
	bool cut;      /* of spans, or there was no room for all */
};

static int by_place(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Is it one that ended, as an event of a group of this index told? */
static bool has_ended(const struct durations *d, const struct span *p)
{
	return p->end != SPAN_NO_END && p->to != INT64_MAX && p->end >> 16 < d->group_count;
}

/* How many there are in each group, then where those of a group begin. */
static void find_groups(struct durations *d, const struct spans *const all[3])
{
	for (uint32_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < all[k]->count; i++) {
			if (has_ended(d, &all[k]->list[i])) {
				d->first[(all[k]->list[i].end >> 16) + 1]++;
			}
		}
		d->cut = d->cut || all[k]->cut;
	}
	for (uint32_t g = 0; g < d->group_count; g++) {
		d->first[g + 1] += d->first[g];
	}
	d->count = d->first[d->group_count];
}

static int fill(struct durations *d, const struct spans *const all[3])
{
	size_t *next = malloc((d->group_count + 1ull) * sizeof *next);
	if (!next) {
		return -ENOMEM;
	}
	memcpy(next, d->first, (d->group_count + 1ull) * sizeof *next);
	for (uint32_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < all[k]->count; i++) {
			const struct span *p = &all[k]->list[i];
			if (has_ended(d, p)) {
				d->list[next[p->end >> 16]++] =
					(struct one){p->end, (uint64_t)p->to - (uint64_t)p->from};
			}
		}
	}
	free(next);
	for (uint32_t g = 0; g < d->group_count; g++) {
		size_t n = d->first[g + 1] - d->first[g];
		if (n > 1) {
			qsort(d->list + d->first[g], n, sizeof *d->list, by_place);
		}
	}
	return 0;
}

static int make(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	const struct index_file *f = &q->x->files[file];
	const struct spans *all[3];
	char folder[PATH_MAX];
	bool disk = companion_folder(f, folder, sizeof folder);
	struct durations *d = calloc(1, sizeof *d);
	if (!d) {
		return -ENOMEM;
	}
	for (enum kept_kind k = KEPT_EVENTS; k <= KEPT_FILES; k++) {
		all[k - KEPT_EVENTS] = kept_there(q, file, k);
	}
	d->space.fd = -1;
	d->group_count = f->store.group_count;
	d->first = calloc(d->group_count + 2ull, sizeof *d->first);
	int err = d->first ? 0 : -ENOMEM;
	if (err == 0) {
		find_groups(d, all);
		uint64_t bytes = (d->count + 1) * sizeof *d->list;
		if (!disk && *inout_bytes + bytes > KEPT_BYTES_MAX) {
			/* No part of them would say which. */
			d->cut = true;
			d->count = 0;
			memset(d->first, 0, (d->group_count + 2ull) * sizeof *d->first);
			bytes = sizeof *d->list;
		}
		err = build_space_grow(&d->space, disk ? folder : NULL, bytes);
		d->list = d->space.p;
		*inout_bytes += disk || err < 0 ? 0 : bytes;
	}
	err = err < 0 || d->count == 0 ? err : fill(d, all);
	if (err < 0) {
		durations_free(d);
		return err;
	}
	*ret = d;
	return 0;
}

int durations_of(struct openetw_query *q, uint32_t file, const struct durations **ret)
{
	const struct spans *s;
	const void *kept;
	int err = 0;
	for (int kind = OPENETW_SPANS_EVENTS; kind <= OPENETW_SPANS_FILES && err == 0; kind++) {
		err = spans_of(q, file, (enum openetw_spans)kind, &s);
	}
	err = err < 0 ? err : kept_of(q, file, KEPT_DURATIONS, make, &kept);
	if (err == 0) {
		*ret = kept;
		q->answer.partial = q->answer.partial || (*ret)->cut;
	}
	return err;
}

bool durations_get(const struct durations *d, uint32_t group, uint32_t row, uint64_t *ret_ns)
{
	if (group >= d->group_count) {
		return false;
	}
	const struct one wanted = {.place = (uint64_t)group << 16 | row};
	const size_t from = d->first[group];
	const struct one *o = bsearch(&wanted, d->list + from, d->first[group + 1] - from, sizeof *o, by_place);
	if (o) {
		*ret_ns = o->ns;
	}
	return o != NULL;
}

void durations_free(struct durations *d)
{
	if (d) {
		build_space_free(&d->space);
		free(d->first);
		free(d);
	}
}
