/* SPDX-License-Identifier: MIT
 *
 * Values of a key, with their counts.
 */
#include "query/query_key.h"

#include "base/sized.h"
#include "base/win32_error.h"

#include <stdlib.h>

struct facet {
	uint64_t count;
	int64_t first, last;
	uint32_t slot;
};
struct facets {
	const struct key *key;
	struct facet *of; /* each slot */
};

static int add_part(void *sink, struct scan *s, const struct scan_part *p)
{
	const struct facets *f = sink;
	key_slots(f->key, p, s->slots);
	for (uint32_t i = 0; i < p->count; i++) {
		struct facet *to = &f->of[s->slots[i]];
		int64_t time = store_time(&p->c, scan_row(p, i));
		time += p->file->offset;
		to->first = to->count == 0 || time < to->first ? time : to->first;
		to->last = to->count == 0 || time > to->last ? time : to->last;
		to->count++;
	}
	return 0;
}

static void add_up(struct facet *to, const struct facet *more)
{
	if (more->count == 0) {
		return;
	}
	to->first = to->count ? BASE_MIN(to->first, more->first) : more->first;
	to->last = to->count ? BASE_MAX(to->last, more->last) : more->last;
	to->count += more->count;
}

static int more_first(const void *a, const void *b)
{
	const struct facet *x = a, *y = b;
	return x->count > y->count ? -1 : x->count < y->count ? 1 : x->slot < y->slot ? -1 : x->slot > y->slot;
}

static int tell(const struct key *k, const struct facet *f, uint32_t n, openetw_facet_fn fn, void *context)
{
	struct strbuf text = {0};
	bool more = true;
	for (uint32_t i = 0; i < n && f[i].count && more; i++) {
		strbuf_clear(&text);
		key_text(k, f[i].slot, &text);
		struct openetw_facet tell = {.size = sizeof tell,
					     .id = key_id(k, f[i].slot),
					     .text = text.s ? text.s : "",
					     .count = f[i].count,
					     .first = f[i].first,
					     .last = f[i].last};
		more = !text.failed && fn(context, &tell);
	}
	bool failed = text.failed;
	strbuf_finish(&text);
	return failed ? -ENOMEM : 0;
}

static int facets(struct openetw_query *q, const struct key *k, uint32_t most, openetw_facet_fn fn, void *context)
{
	struct facets *sinks = calloc(q->threads, sizeof *sinks);
	int err = sinks ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		sinks[i] = (struct facets){k, calloc(k->slots + 1ull, sizeof *sinks[i].of)};
		err = sinks[i].of ? 0 : -ENOMEM;
	}
	err = err < 0 ? err : question_run(q, INT64_MIN, INT64_MAX, add_part, sinks, sizeof *sinks);
	if (err == 0 || err == -ECANCELED) {
		struct facet *all = sinks[0].of;
		for (uint32_t slot = 0; slot < k->slots; slot++) {
			all[slot].slot = slot;
			for (uint32_t i = 1; i < q->threads; i++) {
				add_up(&all[slot], &sinks[i].of[slot]);
			}
		}
		qsort(all, k->slots, sizeof *all, more_first);
		int told = tell(k, all, BASE_MIN(most, k->slots), fn, context);
		err = told < 0 ? told : err;
	}
	for (uint32_t i = 0; sinks && i < q->threads; i++) {
		free(sinks[i].of);
	}
	free(sinks);
	return err;
}

uint32_t openetw_query_facets(struct openetw_query *q, enum openetw_key by, uint32_t most, openetw_facet_fn fn,
			      void *context, struct openetw_answer *ret)
{
	struct key k = {0};
	if (!fn || (ret && !SIZED_VALID(ret, undecided))) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	err = err < 0 ? err : key_make(q, by, &k);
	if (err == 0) {
		err = facets(q, &k, most, fn, context);
		key_free(&k);
	}
	return question_end(q, err, ret);
}
