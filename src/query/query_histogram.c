/* SPDX-License-Identifier: MIT
 *
 * Counts over time. Events stand in the order of time, nearly always: a loop keeps the bucket that it is in, and looks for
 * another only when a time leaves it.
 */
#include "query/query_key.h"

#include "base/sized.h"
#include "base/win32_error.h"

#include <stdlib.h>

#define BUCKETS_MAX (1u << 20)
#define CELLS_MAX   (1u << 26) /* series × buckets */
/* Of each thread: up to here all values are counted at once. Rows stand in the order of time, so the counts of one
 * bucket, which lie beside each other, stay in the cache. */
#define CELLS_AT_ONCE (1u << 22)

struct histogram {
	const struct key *key;
	const uint32_t *series_of; /* of each slot; NULL: each slot is one */
	uint32_t series, buckets;
	int64_t from, to;
	uint64_t *counts; /* of one thread: [bucket][series] */
};

/* The first time of a bucket: from + ceil(bucket × length / buckets). */
static int64_t edge_of(const struct histogram *h, uint32_t bucket)
{
	uint64_t length = (uint64_t)h->to - (uint64_t)h->from;
	unsigned __int128 product = (unsigned __int128)length * bucket + (h->buckets - 1);
	return (int64_t)((uint64_t)h->from + (uint64_t)(product / h->buckets));
}

static uint32_t bucket_of(const struct histogram *h, int64_t time)
{
	uint64_t length = (uint64_t)h->to - (uint64_t)h->from;
	uint64_t at = (uint64_t)time - (uint64_t)h->from;
	return (uint32_t)((unsigned __int128)at * h->buckets / length);
}

/* Where one is: times from `first` on, `width` of them, belong to `bucket`. */
struct place {
	uint64_t first, width;
	uint32_t bucket;
};

/* False: the time is outside. That happens in a damaged index alone: a group's times are not what it says. */
static bool find_place(const struct histogram *h, int64_t time, struct place *ret)
{
	if (time < h->from || time >= h->to) {
		return false;
	}
	ret->bucket = bucket_of(h, time);
	ret->first = (uint64_t)edge_of(h, ret->bucket);
	ret->width = (uint64_t)edge_of(h, ret->bucket + 1) - ret->first;
	return true;
}

static void add_series(const struct histogram *h, const struct scan_part *p, const uint32_t *slots)
{
	struct place at = {0};
	uint64_t *cell = h->counts;
	for (uint32_t i = 0; i < p->count; i++) {
		int64_t time = store_time(&p->c, scan_row(p, i)) + p->file->offset;
		if (BASE_UNLIKELY((uint64_t)time - at.first >= at.width)) {
			if (!find_place(h, time, &at)) {
				at.width = 0;
				continue;
			}
			cell = h->counts + (uint64_t)at.bucket * h->series;
		}
		uint32_t series = h->series_of ? h->series_of[slots[i]] : slots[i];
		cell[series]++;
	}
}

static void add_times(const struct histogram *h, const struct scan_part *p)
{
	struct place at = {0};
	uint64_t run = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		int64_t time = store_time(&p->c, scan_row(p, i)) + p->file->offset;
		if (BASE_UNLIKELY((uint64_t)time - at.first >= at.width)) {
			h->counts[at.bucket] += run;
			run = 0;
			if (!find_place(h, time, &at)) {
				at.width = 0;
				continue;
			}
		}
		run++;
	}
	h->counts[at.bucket] += run;
}

typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t four_unaligned __attribute__((vector_size(16), aligned(4)));

/* How many of the first n offsets are below the limit. */
static uint32_t count_below(const uint32_t *time, uint32_t n, uint32_t limit)
{
	four sum = {0}, edge = {limit, limit, limit, limit};
	uint32_t i = 0;
	for (; i + 4 <= n; i += 4) {
		sum -= (four)(*(const four_unaligned *)(time + i) < edge);
	}
	uint32_t r = sum[0] + sum[1] + sum[2] + sum[3];
	for (; i < n; i++) {
		r += time[i] < limit;
	}
	return r;
}

#define FEW_EDGES 6

/* All rows of a group that lies in few buckets: how many are before each edge. */
static bool add_whole(const struct histogram *h, const struct scan_part *p)
{
	const struct store_group *g = &p->file->store.groups[p->group];
	int64_t first, last;
	if (!p->c.time4 || __builtin_add_overflow(g->from, p->file->offset, &first) ||
	    __builtin_add_overflow(g->to, p->file->offset, &last) || first < h->from || last >= h->to) {
		return false;
	}
	uint32_t a = bucket_of(h, first), b = bucket_of(h, last);
	if (b - a > FEW_EDGES) {
		return false;
	}
	uint32_t before = 0;
	for (uint32_t k = a; k < b; k++) {
		uint64_t edge = (uint64_t)edge_of(h, k + 1) - (uint64_t)first;
		uint32_t n = edge > UINT32_MAX ? p->c.rows : count_below(p->c.time4, p->c.rows, (uint32_t)edge);
		h->counts[k] += n - before;
		before = n;
	}
	h->counts[b] += p->c.rows - before;
	return true;
}

static int add_part(void *sink, struct scan *s, const struct scan_part *p)
{
	const struct histogram *h = sink;
	if (h->series > 1) {
		key_slots(h->key, p, s->slots);
		add_series(h, p, s->slots);
	} else if (!p->whole || !add_whole(h, p)) {
		add_times(h, p);
	}
	return 0;
}

/* ---- which series -------------------------------------------------------------------------------- */

struct total {
	uint64_t count;
	uint32_t slot;
};

static int more_first(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	return x->count > y->count ? -1 : x->count < y->count ? 1 : x->slot < y->slot ? -1 : x->slot > y->slot;
}

struct totals {
	const struct key *key;
	uint64_t *count; /* of each slot */
};

static int add_totals(void *sink, struct scan *s, const struct scan_part *p)
{
	const struct totals *t = sink;
	key_slots(t->key, p, s->slots);
	for (uint32_t i = 0; i < p->count; i++) {
		t->count[s->slots[i]]++;
	}
	return 0;
}

/* Which slots are told, and as what. */
struct series {
	uint32_t *of;  /* of each slot */
	uint32_t *ids; /* of each series */
	uint32_t count;
};

/* Those with most events first; what does not fit is the last one. */
static int rank(const struct key *k, const uint64_t *totals, uint32_t most, struct series *ret)
{
	struct total *order = calloc(k->slots + 1ull, sizeof *order);
	uint32_t n = 0;
	ret->of = calloc(k->slots + 1ull, sizeof *ret->of);
	for (uint32_t slot = 0; order && slot < k->slots; slot++) {
		if (totals[slot]) {
			order[n++] = (struct total){totals[slot], slot};
		}
	}
	if (order && n == 0 && k->slots == 1) { /* of nothing: the one line that everybody draws, of zeros */
		order[n++] = (struct total){0, 0};
	}
	ret->count = BASE_MIN(n, most);
	ret->ids = calloc(ret->count + 1ull, sizeof *ret->ids);
	if (!order || !ret->of || !ret->ids) {
		free(order);
		return -ENOMEM;
	}
	qsort(order, n, sizeof *order, more_first);
	for (uint32_t i = 0; i < n; i++) {
		bool other = n > most && i >= most - 1;
		ret->of[order[i].slot] = other ? most - 1 : i;
		ret->ids[other ? most - 1 : i] = other ? UINT32_MAX : key_id(k, order[i].slot);
	}
	free(order);
	return 0;
}

/* Counts first which slots there are: there are too many for a histogram of each. */
static int rank_first(struct openetw_query *q, const struct key *k, int64_t from, int64_t to, uint32_t most,
		      struct series *ret)
{
	struct totals *sinks = calloc(q->threads, sizeof *sinks);
	int err = sinks ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		sinks[i] = (struct totals){k, calloc(k->slots + 1ull, sizeof *sinks[i].count)};
		err = sinks[i].count ? 0 : -ENOMEM;
	}
	err = err < 0 ? err : question_run(q, from, to, add_totals, sinks, sizeof *sinks);
	for (uint32_t i = 1; i < q->threads && err == 0; i++) {
		for (uint32_t slot = 0; slot < k->slots; slot++) {
			sinks[0].count[slot] += sinks[i].count[slot];
		}
	}
	err = err < 0 ? err : rank(k, sinks[0].count, most, ret);
	for (uint32_t i = 0; sinks && i < q->threads; i++) {
		free(sinks[i].count);
	}
	free(sinks);
	return err;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

/* Of all threads, and turned: [series][bucket]. `fold`: which series each of the histograms' columns is. */
static int gather(struct openetw_query *q, const struct histogram *h, const uint32_t *fold, uint32_t series,
		  struct openetw_histogram *ret)
{
	uint64_t *counts = question_keep(q, calloc((uint64_t)series * h->buckets + 1, sizeof *counts));
	uint64_t *totals = question_keep(q, calloc(series + 1ull, sizeof *totals));
	if (!counts || !totals) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < q->threads && series; i++) {
		for (uint32_t b = 0; b < h->buckets; b++) {
			for (uint32_t k = 0; k < h->series; k++) {
				uint64_t n = h[i].counts[(uint64_t)b * h->series + k];
				uint32_t to = fold ? fold[k] : k;
				counts[(uint64_t)to * h->buckets + b] += n;
				totals[to] += n;
			}
		}
	}
	ret->series = series;
	ret->counts = counts;
	ret->totals = totals;
	return 0;
}

/* Afterwards: which columns are told. */
static int rank_last(struct openetw_query *q, const struct histogram *h, uint32_t most, struct series *ret)
{
	uint64_t *totals = calloc(h->key->slots + 1ull, sizeof *totals);
	int err = totals ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		for (uint64_t at = 0; at < (uint64_t)h->series * h->buckets; at++) {
			totals[at % h->series] += h[i].counts[at];
		}
	}
	err = err < 0 ? err : rank(h->key, totals, most, ret);
	free(totals);
	return err;
}

static int count_cells(struct openetw_query *q, struct histogram *h, const struct histogram *proto)
{
	int err = (uint64_t)proto->series * proto->buckets > CELLS_MAX ? -E2BIG : 0;
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		h[i] = *proto;
		h[i].counts = calloc((uint64_t)proto->series * proto->buckets + 1, sizeof *h[i].counts);
		err = h[i].counts ? 0 : -ENOMEM;
	}
	if (err == 0 && proto->series && proto->from < proto->to) {
		err = question_run(q, proto->from, proto->to - 1, add_part, h, sizeof *h);
	}
	return err;
}

static int histogram(struct openetw_query *q, struct histogram *proto, uint32_t most, struct openetw_histogram *ret)
{
	const struct key *k = proto->key;
	bool all = (uint64_t)k->slots * proto->buckets <= CELLS_AT_ONCE;
	struct histogram *h = calloc(q->threads, sizeof *h);
	struct series s = {0};
	int err = h ? 0 : -ENOMEM;
	proto->series = proto->from < proto->to ? k->slots : 0;
	if (err == 0 && !all && proto->from < proto->to) {
		err = rank_first(q, k, proto->from, proto->to - 1, most, &s);
		proto->series_of = s.of;
		proto->series = s.count;
	}
	err = err < 0 ? err : count_cells(q, h, proto);
	if (err == 0 || err == -ECANCELED) {
		int told = s.of ? 0 : rank_last(q, h, most, &s);
		told = told < 0 ? told : gather(q, h, all ? s.of : NULL, s.count, ret);
		err = told < 0 ? told : err;
	}
	for (uint32_t i = 0; h && i < q->threads; i++) {
		free(h[i].counts);
	}
	free(h);
	free(s.of);
	ret->ids = s.ids ? question_keep(q, s.ids) : NULL;
	return err;
}

uint32_t openetw_query_histogram(struct openetw_query *q, int64_t from, int64_t to, uint32_t buckets,
				 enum openetw_key by, uint32_t most, struct openetw_histogram *ret)
{
	struct openetw_histogram known = {0};
	if (!SIZED_VALID(ret, answer) || buckets == 0 || buckets > BUCKETS_MAX || most == 0 || from > to) {
		return win32_from_errno(-EINVAL);
	}
	struct histogram h = {.from = from, .to = to, .buckets = buckets};
	struct key k = {0};
	int err = question_begin(q);
	err = err < 0 ? err : key_make(q, by, &k);
	if (err == 0) {
		h.key = &k;
		err = histogram(q, &h, most, &known);
		key_free(&k);
	}
	known.answer.size = sizeof known.answer;
	uint32_t code = question_end(q, err, &known.answer);
	if (err == 0 || err == -ECANCELED) {
		SIZED_GIVE(ret, &known);
	}
	return code;
}
