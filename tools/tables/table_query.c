/* SPDX-License-Identifier: MIT
 *
 * One pass over the rows finds the group of each; then every aggregate is one more pass. Percentiles sort the values of
 * each group.
 */
#include "tools/tables/table_query.h"

#include "base/map.h"
#include "base/vec.h"
#include "tools/tables/table_ask.h"
#include "tools/tables/table_choose.h"

#include <math.h>
#include <stdlib.h>

/* ---- values --------------------------------------------------------------------------------------- */

static void copy_value(struct table_value *to, const struct table_value *from)
{
	*to = *from;
	if (from->kind == TABLE_TEXT && from->s == from->guid) {
		to->s = to->guid;
	}
}

/* NaN is above all numbers, as in SQL: an order that depended on where it stands would be none. */
static int compare_numbers(const struct table_value *a, const struct table_value *b)
{
	if (a->kind == TABLE_FLOAT || b->kind == TABLE_FLOAT) {
		double x = a->kind == TABLE_FLOAT ? a->f : a->kind == TABLE_UNSIGNED ? (double)a->u : (double)a->i;
		double y = b->kind == TABLE_FLOAT ? b->f : b->kind == TABLE_UNSIGNED ? (double)b->u : (double)b->i;
		return isnan(x) || isnan(y) ? !!isnan(x) - !!isnan(y) : x < y ? -1 : x > y;
	}
	if (a->kind != b->kind) {
		return a->kind == TABLE_INTEGER ? -1 : 1; /* the other one is above all that INTEGER has */
	}
	return a->kind == TABLE_UNSIGNED ? (a->u < b->u ? -1 : a->u > b->u) : (a->i < b->i ? -1 : a->i > b->i);
}

/* NULL is before everything. */
static int compare_values(const struct table_value *a, const struct table_value *b)
{
	if (a->kind == TABLE_NULL || b->kind == TABLE_NULL) {
		return (a->kind != TABLE_NULL) - (b->kind != TABLE_NULL);
	}
	if (a->kind == TABLE_TEXT && b->kind == TABLE_TEXT) {
		int r = memcmp(a->s, b->s, BASE_MIN(a->n, b->n));
		return r ? r : a->n < b->n ? -1 : a->n > b->n;
	}
	return a->kind == TABLE_TEXT ? 1 : b->kind == TABLE_TEXT ? -1 : compare_numbers(a, b);
}

/* A value as bytes that are the same where the value is: what groups are found by. */
struct atom {
	uint64_t kind, a, b;
};
static struct atom atom_of(const struct table_view *v, int column, uint64_t row)
{
	struct table_value x;
	struct atom r = {0};
	if (!table_view_value(v, column, row, &x)) {
		return r;
	}
	r.kind = x.kind;
	if (x.kind == TABLE_TEXT && x.s == x.guid) {
		struct guid g;
		if (guid_parse(x.guid, &g) == 0) {
			memcpy(&r.a, g.b, 8);
			memcpy(&r.b, g.b + 8, 8);
		}
	} else if (x.kind == TABLE_TEXT) {
		r.a = table_view_text_id(v, column, row);
	} else {
		memcpy(&r.a, &x.u, 8);
	}
	return r;
}

/* Rows that begin before the range, and reach into it, are of its first part. */
static uint32_t slice_of(const struct table_plan *p, uint64_t row)
{
	double from = (double)p->slice_from, whole = (double)p->slice_to - from;
	double at = ((double)table_view_integer(p->view, p->time, row, p->slice_from) - from) / (whole > 0 ? whole : 1);
	return at <= 0 ? 0 : at >= 1 ? p->slices - 1 : BASE_MIN((uint32_t)(at * p->slices), p->slices - 1);
}

static struct atom key_atom(const struct table_plan *p, uint32_t term, uint64_t row)
{
	int column = p->term[term].column;
	return column == TABLE_COLUMN_SLICE ? (struct atom){TABLE_INTEGER, slice_of(p, row), 0}
					    : atom_of(p->view, column, row);
}

/* ---- groups --------------------------------------------------------------------------------------- */

struct groups {
	uint32_t *of;    /* by number of a chosen row */
	uint64_t *first; /* a row of each */
	uint32_t count;
	size_t cap;
};

static bool find_groups(const struct table_plan *p, const struct table_chosen *x, struct groups *g)
{
	struct atom key[TABLE_ASK_COLUMNS], other[TABLE_ASK_COLUMNS];
	struct map of = {0};
	size_t bytes = p->keys * sizeof *key;
	bool ok = (g->of = malloc((x->count + 1) * sizeof *g->of)) != NULL;
	for (uint64_t i = 0; ok && i < x->count; i++) {
		uint32_t group = UINT32_MAX;
		for (uint32_t k = 0; k < p->keys; k++) {
			key[k] = key_atom(p, k, x->rows[i]);
		}
		uint64_t hash = map_hash(&of, key, bytes);
		MAP_EACH(&of, hash, at) {
			uint32_t c = (uint32_t)map_value(&of, at);
			for (uint32_t k = 0; k < p->keys; k++) {
				other[k] = key_atom(p, k, g->first[c]);
			}
			if (memcmp(key, other, bytes) == 0) {
				group = c;
				break;
			}
		}
		if (group == UINT32_MAX) {
			group = g->count;
			ok = group < MAP_MOST && VEC_ROOM(g->first, group, g->cap) && map_add(&of, hash, group) == 0;
			if (ok) {
				g->first[g->count++] = x->rows[i];
			}
		}
		g->of[i] = group;
	}
	/* Without keys there is one group, also of no rows. */
	if (ok && p->keys == 0 && g->count == 0) {
		ok = VEC_ROOM(g->first, 0u, g->cap);
		if (ok) {
			g->first[g->count++] = UINT64_MAX;
		}
	}
	map_free(&of);
	return ok;
}

struct sums {
	__int128 whole;
	double real;
	uint64_t count, below; /* values; those below 0 */
	bool floats;
	struct table_value least, most;
};

static void add_value(struct sums *s, const struct table_value *v)
{
	if (s->count == 0 || compare_numbers(v, &s->least) < 0) {
		s->least = *v;
	}
	if (s->count == 0 || compare_numbers(v, &s->most) > 0) {
		s->most = *v;
	}
	s->count++;
	if (v->kind == TABLE_FLOAT) {
		s->floats = true;
		s->real += v->f;
		s->below += v->f < 0;
	} else {
		s->whole += v->kind == TABLE_UNSIGNED ? (__int128)v->u : (__int128)v->i;
		s->below += v->kind == TABLE_INTEGER && v->i < 0;
	}
}

static struct table_value whole_number(__int128 n)
{
	struct table_value v = {.kind = TABLE_INTEGER};
	if (n > INT64_MAX && n <= UINT64_MAX) {
		v.kind = TABLE_UNSIGNED;
		v.u = (uint64_t)n;
	} else if (n < INT64_MIN || n > INT64_MAX) {
		v.kind = TABLE_FLOAT;
		v.f = (double)n;
	} else {
		v.i = (int64_t)n;
	}
	return v;
}

static struct table_value sum_value(const struct table_term *t, const struct sums *s)
{
	struct table_value v = {.kind = TABLE_NULL};
	double all = s->real + (double)s->whole;
	switch (t->function) {
	case TABLE_COUNT: return whole_number((__int128)s->count);
	case TABLE_ERRORS: return whole_number((__int128)s->below);
	default: break;
	}
	if (s->count == 0) {
		return v;
	}
	switch (t->function) {
	case TABLE_MIN: return s->least;
	case TABLE_MAX: return s->most;
	case TABLE_SUM:
		if (!s->floats) {
			return whole_number(s->whole);
		}
		v.f = all;
		break;
	default: v.f = all / (double)s->count; break;
	}
	v.kind = TABLE_FLOAT;
	return v;
}

static bool outside(const struct table_chosen *x, uint64_t i)
{
	return x->outside && x->outside[i];
}

/* The sum of an interval's column is of the parts that lie in the range. */
static bool add_sums(const struct table_plan *p, uint32_t term, const struct table_chosen *x, const struct groups *g,
		     struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	struct sums *sums = calloc(g->count + 1u, sizeof *sums);
	struct table_value v;
	bool parts = x->cut && t->interval && t->function == TABLE_SUM;
	for (uint64_t i = 0; sums && i < x->count; i++) {
		struct sums *s = &sums[g->of[i]];
		if (!parts && outside(x, i)) {
			continue;
		}
		if (t->column < 0) {
			s->count++;
		} else if (table_view_value(p->view, t->column, x->rows[i], &v)) {
			if (v.kind == TABLE_TEXT) {
				s->count++; /* count(C) */
				continue;
			}
			v.i = parts ? table_chosen_part(x, p->view, t->column, x->rows[i]) : v.i;
			add_value(s, &v);
		}
	}
	for (uint32_t i = 0; sums && i < g->count; i++) {
		cells[(size_t)i * p->terms + term] = sum_value(t, &sums[i]);
	}
	bool ok = sums != NULL;
	free(sums);
	return ok;
}

static int by_atom(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct atom));
}

/* Values of each group lie together, beginning at at[group]. */
static uint64_t *places(const struct groups *g, const struct table_chosen *x)
{
	uint64_t *at = calloc(g->count + 2u, sizeof *at);
	for (uint64_t i = 0; at && i < x->count; i++) {
		at[g->of[i] + 1]++;
	}
	for (uint32_t i = 0; at && i < g->count; i++) {
		at[i + 1] += at[i];
	}
	return at;
}

struct point { /* a number, and how much it counts */
	enum table_value_kind kind;
	uint64_t bits, weight;
};

static struct table_value point_value(const struct point *p)
{
	struct table_value v;
	v.kind = p->kind;
	v.u = p->bits;
	if (p->kind == TABLE_FLOAT) {
		memcpy(&v.f, &p->bits, sizeof v.f);
	}
	return v;
}

static int by_point(const void *a, const void *b)
{
	const struct table_value x = point_value(a), y = point_value(b);
	return compare_numbers(&x, &y);
}

/* False: the row has no such number, or counts for nothing. */
static bool take_point(const struct table_plan *p, const struct table_term *t, uint64_t row, struct point *ret)
{
	struct table_value v, w;
	if (!table_view_value(p->view, t->column, row, &v)) {
		return false;
	}
	*ret = (struct point){.kind = v.kind, .bits = v.u, .weight = 1};
	if (v.kind == TABLE_FLOAT) {
		memcpy(&ret->bits, &v.f, sizeof ret->bits);
	}
	if (t->weight < 0) {
		return true;
	}
	bool known = table_view_value(p->view, t->weight, row, &w);
	ret->weight = !known ? 0 : w.kind == TABLE_INTEGER ? (uint64_t)BASE_MAX(w.i, (int64_t)0) : w.u;
	return ret->weight > 0;
}

/* The smallest value that so many percent of the whole weight do not exceed. */
static struct table_value percentile(struct point *points, uint64_t n, unsigned percent)
{
	unsigned __int128 all = 0, below = 0;
	uint64_t i = 0;
	for (uint64_t k = 0; k < n; k++) {
		all += points[k].weight;
	}
	qsort(points, n, sizeof *points, by_point);
	for (below = points[0].weight; below * 100 < all * percent; below += points[i].weight) {
		i++;
	}
	return point_value(&points[i]);
}

static struct table_value weighted_mean(const struct point *points, uint64_t n)
{
	struct table_value r = {.kind = TABLE_FLOAT, .f = 0};
	double all = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct table_value v = point_value(&points[i]);
		double w = (double)points[i].weight;
		r.f += w * (v.kind == TABLE_FLOAT ? v.f : v.kind == TABLE_UNSIGNED ? (double)v.u : (double)v.i);
		all += w;
	}
	r.f /= all;
	return r;
}

static bool add_points(const struct table_plan *p, uint32_t term, const struct table_chosen *x, const struct groups *g,
		       struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	uint64_t *at = places(g, x), *used = calloc(g->count + 1u, sizeof *used);
	struct point *points = malloc((x->count + 1) * sizeof *points);
	bool ok = at && used && points;
	for (uint64_t i = 0; ok && i < x->count; i++) {
		uint32_t group = g->of[i];
		used[group] += !outside(x, i) && take_point(p, t, x->rows[i], &points[at[group] + used[group]]);
	}
	for (uint32_t i = 0; ok && i < g->count; i++) {
		struct table_value *v = &cells[(size_t)i * p->terms + term];
		struct point *own = points + at[i];
		v->kind = TABLE_NULL;
		if (used[i]) {
			*v = t->function == TABLE_PERCENTILE ? percentile(own, used[i], t->percent)
							     : weighted_mean(own, used[i]);
		}
	}
	free(at);
	free(used);
	free(points);
	return ok;
}

static bool add_distinct(const struct table_plan *p, uint32_t term, const struct table_chosen *x,
			 const struct groups *g, struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	uint64_t *at = places(g, x), *used = calloc(g->count + 1u, sizeof *used);
	struct atom *values = malloc((x->count + 1) * sizeof *values);
	bool ok = at && used && values;
	for (uint64_t i = 0; ok && i < x->count; i++) {
		struct atom a = atom_of(p->view, t->column, x->rows[i]);
		if (a.kind != TABLE_NULL && !outside(x, i)) {
			values[at[g->of[i]] + used[g->of[i]]++] = a;
		}
	}
	for (uint32_t i = 0; ok && i < g->count; i++) {
		uint64_t count = 0;
		qsort(values + at[i], used[i], sizeof *values, by_atom);
		for (uint64_t k = 0; k < used[i]; k++) {
			count += k == 0 || by_atom(&values[at[i] + k - 1], &values[at[i] + k]) != 0;
		}
		cells[(size_t)i * p->terms + term] = whole_number((__int128)count);
	}
	free(at);
	free(used);
	free(values);
	return ok;
}

static bool answer_groups(const struct table_plan *p, const struct table_chosen *x, struct table_answer *r)
{
	struct groups g = {0};
	struct table_value v;
	bool ok = find_groups(p, x, &g);
	r->rows = g.count;
	ok = ok && (r->cells = calloc((size_t)g.count * p->terms + 1, sizeof *r->cells)) != NULL;
	for (uint32_t i = 0; ok && i < g.count; i++) {
		for (uint32_t k = 0; k < p->keys; k++) {
			if (p->term[k].column == TABLE_COLUMN_SLICE) {
				v = (struct table_value){.kind = TABLE_INTEGER, .i = slice_of(p, g.first[i])};
			} else {
				table_view_value(p->view, p->term[k].column, g.first[i], &v);
			}
			copy_value(&r->cells[(size_t)i * p->terms + k], &v);
		}
	}
	for (uint32_t k = p->keys; ok && k < p->terms; k++) {
		const struct table_term *t = &p->term[k];
		ok = t->function == TABLE_PERCENTILE || t->weight >= 0 ? add_points(p, k, x, &g, r->cells)
		     : t->function == TABLE_DISTINCT                   ? add_distinct(p, k, x, &g, r->cells)
								       : add_sums(p, k, x, &g, r->cells);
	}
	free(g.of);
	free(g.first);
	return ok;
}

/* ---- order ---------------------------------------------------------------------------------------- */

struct sorting {
	const struct table_answer *r;
	int sort;
	bool ascending;
};

static int by_order(const void *a, const void *b, void *context)
{
	const struct sorting *s = context;
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	const struct table_value *p = &s->r->cells[x * s->r->columns], *q = &s->r->cells[y * s->r->columns];
	int c = s->sort >= 0 ? compare_values(&p[s->sort], &q[s->sort]) : 0;
	c = s->ascending ? c : -c;
	for (uint32_t i = 0; c == 0 && i < s->r->columns && s->r->column[i].key; i++) {
		c = compare_values(&p[i], &q[i]);
	}
	return c ? c : (x < y ? -1 : x > y);
}

static bool put_in_order(const struct table_plan *p, const struct table_ask *ask, struct table_answer *r)
{
	r->order = malloc((r->rows + 1) * sizeof *r->order);
	for (uint64_t i = 0; r->order && i < r->rows; i++) {
		r->order[i] = i;
	}
	if (r->order && (p->sort >= 0 || p->grouped)) {
		struct sorting s = {r, p->sort, ask->ascending};
		qsort_r(r->order, r->rows, sizeof *r->order, by_order, &s);
	}
	r->all = r->rows;
	r->rows = ask->top && r->rows > ask->top ? ask->top : r->rows;
	return r->order != NULL;
}

/* Without groups, and in the order of the table, only the rows that are shown are looked at. */
static bool answer_rows(const struct table_plan *p, const struct table_ask *ask, const struct table_chosen *x,
			struct table_answer *r)
{
	struct table_value v;
	uint64_t all = x->count, n = x->count;
	n = ask->top && p->sort < 0 ? BASE_MIN(n, ask->top) : n;
	if (n > SIZE_MAX / 2 / sizeof *r->cells / (p->terms + 1)) {
		return false;
	}
	r->cells = calloc(n * p->terms + 1, sizeof *r->cells);
	r->rows = r->cells ? n : 0;
	for (uint64_t i = 0; i < r->rows; i++) {
		for (uint32_t k = 0; k < p->terms; k++) {
			table_view_value(p->view, p->term[k].column, x->rows[i], &v);
			copy_value(&r->cells[i * p->terms + k], &v);
		}
	}
	bool ok = r->cells && put_in_order(p, ask, r);
	r->all = all;
	return ok;
}

/* A sum of intervals is also of those that begin elsewhere. */
static bool sums_intervals(const struct table_plan *p)
{
	for (uint32_t i = p->keys; i < p->terms; i++) {
		if (p->term[i].function == TABLE_SUM && p->term[i].interval) {
			return true;
		}
	}
	return false;
}

struct table_answer *table_ask(struct table_set *s, const struct table_ask *asked, char *why, size_t cap)
{
	struct table_ask ask = *asked;
	struct table_plan p = {.view = table_narrow(s, &ask, why, cap)};
	struct table_answer *r = p.view ? calloc(1, sizeof *r) : NULL;
	struct table_chosen x = {0};
	if (!r) {
		if (p.view) {
			snprintf(why, cap, "no memory");
		}
		return NULL;
	}
	r->table = ask.table;
	if (!table_plan_make(&p, &ask, r, why, cap) ||
	    !table_choose(s, p.view, &ask, p.grouped && sums_intervals(&p), &x, why, cap)) {
		table_answer_free(r);
		return NULL;
	}
	r->matched = x.within;
	bool ok = p.grouped ? answer_groups(&p, &x, r) && put_in_order(&p, &ask, r) : answer_rows(&p, &ask, &x, r);
	table_chosen_free(&x);
	if (!ok) {
		snprintf(why, cap, "no memory for the answer");
		table_answer_free(r);
		return NULL;
	}
	return r;
}

void table_answer_free(struct table_answer *r)
{
	if (r) {
		free(r->cells);
		free(r->order);
	}
	free(r);
}

void table_value_text(const struct table_value *v, bool truth, struct strbuf *out)
{
	char text[40];
	switch (v->kind) {
	case TABLE_NULL: return;
	case TABLE_TEXT: strbuf_add(out, v->s, v->n); return;
	case TABLE_UNSIGNED: snprintf(text, sizeof text, "%llu", (unsigned long long)v->u); break;
	case TABLE_FLOAT: snprintf(text, sizeof text, "%.17g", isnan(v->f) ? (double)NAN : v->f); break; /* no "-nan" */
	default: snprintf(text, sizeof text, "%lld", (long long)v->i); break;
	}
	strbuf_adds(out, truth ? (v->i ? "true" : "false") : text);
}
