/* SPDX-License-Identifier: MIT */
#include "query/query_durations.h"

#include "query/query_spans.h"

#include <stdlib.h>

struct one {
	uint64_t place, ns; /* group << 16 | row */
};
struct durations {
	struct one *list; /* by place */
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

static void fill(struct durations *d, const struct spans *s, size_t most)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct span *p = &s->list[i];
		if (p->end == SPAN_NO_END || p->to == INT64_MAX) {
			continue;
		}
		if (d->count == most) {
			d->cut = true;
			return;
		}
		d->list[d->count++] = (struct one){p->end, (uint64_t)p->to - (uint64_t)p->from};
	}
}

static void find_groups(struct durations *d)
{
	size_t at = 0;
	for (uint32_t g = 0; g <= d->group_count; g++) {
		while (at < d->count && d->list[at].place >> 16 < g) {
			at++;
		}
		d->first[g] = at;
	}
}

static int make(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	size_t most = 0;
	uint64_t room = KEPT_BYTES_MAX - BASE_MIN(*inout_bytes, KEPT_BYTES_MAX);
	struct durations *d = calloc(1, sizeof *d);
	for (enum kept_kind k = KEPT_EVENTS; k <= KEPT_FILES; k++) {
		const struct spans *s = kept_there(q, file, k);
		most += s->count;
	}
	if (!d) {
		return -ENOMEM;
	}
	d->group_count = q->x->files[file].store.group_count;
	d->cut = most > room / sizeof *d->list;
	most = (size_t)BASE_MIN(most, room / sizeof *d->list);
	d->list = malloc((most + 1) * sizeof *d->list);
	d->first = malloc((d->group_count + 1ull) * sizeof *d->first);
	if (!d->list || !d->first) {
		durations_free(d);
		return -ENOMEM;
	}
	for (enum kept_kind k = KEPT_EVENTS; k <= KEPT_FILES; k++) {
		const struct spans *s = kept_there(q, file, k);
		d->cut = d->cut || s->cut;
		fill(d, s, most);
	}
	qsort(d->list, d->count, sizeof *d->list, by_place);
	find_groups(d);
	*inout_bytes += d->count * sizeof *d->list;
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
		free(d->list);
		free(d->first);
		free(d);
	}
}
