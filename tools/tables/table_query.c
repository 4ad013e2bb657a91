/* SPDX-License-Identifier: MIT
 *
 * One pass over the rows finds the group of each; then every aggregate is one more pass. Percentiles sort the values of
 * each group.
 */
#include "tools/tables/table_query.h"

#include "base/map.h"
#include "base/vec.h"
#include "tools/common/select.h"
#include "tools/tables/table_ask.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows that are wanted ------------------------------------------------------------------------- */

struct chooser {
	const struct table_view *view;
	const struct table_ask *ask;
	uint64_t start; /* FILETIME */
	uint64_t row;
	int time, pid, name, tid, thread_name;
	char text[48];
};

static bool process_wanted(const struct chooser *c)
{
	struct table_value v;
	bool named = table_view_value(c->view, c->name, c->row, &v) && v.kind == TABLE_TEXT;
	for (int i = 0; i < c->ask->process_count; i++) {
		const char *word = c->ask->process[i];
		char *end;
		unsigned long long number = strtoull(word, &end, 10);
		if (word[0] >= '0' && word[0] <= '9' && !*end
			    ? table_view_integer(c->view, c->pid, c->row, -1) == (int64_t)number
			    : named && cli_process_is(word, v.s, v.n)) {
			return true;
		}
	}
	return c->ask->process_count == 0;
}

static bool thread_wanted(const struct chooser *c)
{
	struct table_value v;
	bool named = table_view_value(c->view, c->thread_name, c->row, &v) && v.kind == TABLE_TEXT;
	for (int i = 0; i < c->ask->thread_count; i++) {
		const char *word = c->ask->thread[i];
		char *end;
		unsigned long long number = strtoull(word, &end, 10);
		if (word[0] >= '0' && word[0] <= '9' && !*end
			    ? table_view_integer(c->view, c->tid, c->row, -1) == (int64_t)number
			    : named && cli_process_is(word, v.s, v.n)) {
			return true;
		}
	}
	return c->ask->thread_count == 0;
}

/* A name of the filter is a column; process is the name, as everywhere in filters, and time is a date. */
static bool look_up(void *context, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct chooser *c = context;
	struct table_value v;
	int column = table_view_column(c->view, name);
	bool process = !payload && strcasecmp(name, "process") == 0 && c->name >= 0;
	if (!table_view_value(c->view, process ? c->name : column, c->row, &v)) {
		return false;
	}
	ret->is_number = v.kind == TABLE_INTEGER && v.i >= 0;
	ret->number = ret->is_number ? (uint64_t)v.i : 0;
	ret->text = NULL;
	ret->length = 0;
	if (!payload && column >= 0 && column == c->time && strcasecmp(name, "time") == 0) {
		ret->number = c->start + (uint64_t)((v.i >= 0 ? v.i : v.i - 99) / 100);
		ret->is_number = true;
	} else if (v.kind == TABLE_TEXT) {
		ret->text = v.s;
		ret->length = v.n;
		if (v.s == v.guid) {
			snprintf(c->text, sizeof c->text, "%s", v.guid);
			ret->text = c->text;
		}
	} else if (table_view_type(c->view, column) == SQL_TYPE_BOOL) {
		ret->text = v.i ? "true" : "false";
		ret->length = strlen(ret->text);
	} else if (!ret->is_number) {
		snprintf(c->text, sizeof c->text, v.kind == TABLE_FLOAT ? "%.17g" : "%.0f",
			 v.kind == TABLE_FLOAT ? v.f : 0);
		if (v.kind == TABLE_INTEGER) {
			snprintf(c->text, sizeof c->text, "%lld", (long long)v.i);
		} else if (v.kind == TABLE_UNSIGNED) {
			ret->is_number = true;
			ret->number = v.u;
		}
		ret->text = c->text;
		ret->length = strlen(c->text);
	}
	return true;
}

static bool wanted(struct chooser *c, uint64_t row)
{
	c->row = row;
	if (c->time >= 0) {
		int64_t at = table_view_integer(c->view, c->time, row, INT64_MIN);
		if (at < c->ask->from || at > c->ask->to) {
			return false;
		}
	}
	return process_wanted(c) && thread_wanted(c) &&
	       (!c->ask->filter || filter_expr_match(c->ask->filter, look_up, c));
}

static bool check_ask(const struct chooser *c, char *why, size_t cap)
{
	const char *table = c->ask->table;
	if (c->ask->process_count && c->pid < 0 && c->name < 0) {
		snprintf(why, cap, "the table %s has no processes, so --process and --pid mean nothing", table);
		return false;
	}
	if (c->ask->thread_count && c->tid < 0) {
		snprintf(why, cap, "the table %s has no threads, so --thread means nothing", table);
		return false;
	}
	if (c->time < 0 && (c->ask->from != INT64_MIN || c->ask->to != INT64_MAX)) {
		snprintf(why, cap, "the table %s has no times, so --from and --to mean nothing", table);
		return false;
	}
	return true;
}

/* The rows, in their order. NULL: `why`. */
static uint64_t *choose(struct table_set *s, const struct table_view *v, const struct table_ask *ask,
			uint64_t *ret_count, char *why, size_t cap)
{
	struct chooser c = {.view = v, .ask = ask, .start = table_set_start(s)};
	c.time = table_view_column(v, "time");
	c.time = c.time < 0 ? table_view_column(v, "start") : c.time;
	c.pid = table_view_column(v, "pid");
	c.name = table_view_column(v, "process_name");
	c.tid = table_view_column(v, "tid");
	c.thread_name = table_view_column(v, "thread_name");
	if (!check_ask(&c, why, cap)) {
		return NULL;
	}
	uint64_t *rows = malloc((table_view_rows(v) + 1) * sizeof *rows), n = 0;
	if (!rows) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	for (uint64_t row = 0; row < table_view_rows(v); row++) {
		rows[n] = row;
		n += wanted(&c, row);
	}
	*ret_count = n;
	return rows;
}

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

/* ---- groups --------------------------------------------------------------------------------------- */

struct groups {
	uint32_t *of;    /* by number of a chosen row */
	uint64_t *first; /* a row of each */
	uint32_t count;
	size_t cap;
};

static bool find_groups(const struct table_plan *p, const uint64_t *rows, uint64_t n, struct groups *g)
{
	struct atom key[TABLE_ASK_COLUMNS], other[TABLE_ASK_COLUMNS];
	struct map of = {0};
	size_t bytes = p->keys * sizeof *key;
	bool ok = (g->of = malloc((n + 1) * sizeof *g->of)) != NULL;
	for (uint64_t i = 0; ok && i < n; i++) {
		uint32_t group = UINT32_MAX;
		for (uint32_t k = 0; k < p->keys; k++) {
			key[k] = atom_of(p->view, p->term[k].column, rows[i]);
		}
		uint64_t hash = map_hash(&of, key, bytes);
		MAP_EACH(&of, hash, at) {
			uint32_t c = (uint32_t)map_value(&of, at);
			for (uint32_t k = 0; k < p->keys; k++) {
				other[k] = atom_of(p->view, p->term[k].column, g->first[c]);
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
				g->first[g->count++] = rows[i];
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

static bool add_sums(const struct table_plan *p, uint32_t term, const uint64_t *rows, uint64_t n,
		     const struct groups *g, struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	struct sums *sums = calloc(g->count + 1u, sizeof *sums);
	struct table_value v;
	for (uint64_t i = 0; sums && i < n; i++) {
		struct sums *s = &sums[g->of[i]];
		if (t->column < 0) {
			s->count++;
		} else if (table_view_value(p->view, t->column, rows[i], &v)) {
			if (v.kind == TABLE_TEXT) {
				s->count++; /* count(C) */
			} else {
				add_value(s, &v);
			}
		}
	}
	for (uint32_t i = 0; sums && i < g->count; i++) {
		cells[(size_t)i * p->terms + term] = sum_value(t, &sums[i]);
	}
	bool ok = sums != NULL;
	free(sums);
	return ok;
}

static int by_value(const void *a, const void *b)
{
	return compare_numbers(a, b);
}

static int by_atom(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct atom));
}

/* Values of each group lie together, beginning at at[group]. */
static uint64_t *places(const struct groups *g, uint64_t n)
{
	uint64_t *at = calloc(g->count + 2u, sizeof *at);
	for (uint64_t i = 0; at && i < n; i++) {
		at[g->of[i] + 1]++;
	}
	for (uint32_t i = 0; at && i < g->count; i++) {
		at[i + 1] += at[i];
	}
	return at;
}

static bool add_percentiles(const struct table_plan *p, uint32_t term, const uint64_t *rows, uint64_t n,
			    const struct groups *g, struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	uint64_t *at = places(g, n), *used = calloc(g->count + 1u, sizeof *used);
	struct table_value *values = malloc((n + 1) * sizeof *values);
	bool ok = at && used && values;
	for (uint64_t i = 0; ok && i < n; i++) {
		uint32_t group = g->of[i];
		used[group] += table_view_value(p->view, t->column, rows[i], &values[at[group] + used[group]]);
	}
	for (uint32_t i = 0; ok && i < g->count; i++) {
		struct table_value *v = &cells[(size_t)i * p->terms + term];
		v->kind = TABLE_NULL;
		if (used[i]) {
			qsort(values + at[i], used[i], sizeof *values, by_value);
			*v = values[at[i] + (used[i] * t->percent + 99) / 100 - 1];
		}
	}
	free(at);
	free(used);
	free(values);
	return ok;
}

static bool add_distinct(const struct table_plan *p, uint32_t term, const uint64_t *rows, uint64_t n,
			 const struct groups *g, struct table_value *cells)
{
	const struct table_term *t = &p->term[term];
	uint64_t *at = places(g, n), *used = calloc(g->count + 1u, sizeof *used);
	struct atom *values = malloc((n + 1) * sizeof *values);
	bool ok = at && used && values;
	for (uint64_t i = 0; ok && i < n; i++) {
		struct atom a = atom_of(p->view, t->column, rows[i]);
		if (a.kind != TABLE_NULL) {
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

static bool answer_groups(const struct table_plan *p, const uint64_t *rows, uint64_t n, struct table_answer *r)
{
	struct groups g = {0};
	struct table_value v;
	bool ok = find_groups(p, rows, n, &g);
	r->rows = g.count;
	ok = ok && (r->cells = calloc((size_t)g.count * p->terms + 1, sizeof *r->cells)) != NULL;
	for (uint32_t i = 0; ok && i < g.count; i++) {
		for (uint32_t k = 0; k < p->keys; k++) {
			table_view_value(p->view, p->term[k].column, g.first[i], &v);
			copy_value(&r->cells[(size_t)i * p->terms + k], &v);
		}
	}
	for (uint32_t k = p->keys; ok && k < p->terms; k++) {
		switch (p->term[k].function) {
		case TABLE_PERCENTILE: ok = add_percentiles(p, k, rows, n, &g, r->cells); break;
		case TABLE_DISTINCT: ok = add_distinct(p, k, rows, n, &g, r->cells); break;
		default: ok = add_sums(p, k, rows, n, &g, r->cells); break;
		}
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
static bool answer_rows(const struct table_plan *p, const struct table_ask *ask, const uint64_t *rows, uint64_t n,
			struct table_answer *r)
{
	struct table_value v;
	uint64_t all = n;
	n = ask->top && p->sort < 0 ? BASE_MIN(n, ask->top) : n;
	if (n > SIZE_MAX / 2 / sizeof *r->cells / (p->terms + 1)) {
		return false;
	}
	r->cells = calloc(n * p->terms + 1, sizeof *r->cells);
	r->rows = r->cells ? n : 0;
	for (uint64_t i = 0; i < r->rows; i++) {
		for (uint32_t k = 0; k < p->terms; k++) {
			table_view_value(p->view, p->term[k].column, rows[i], &v);
			copy_value(&r->cells[i * p->terms + k], &v);
		}
	}
	bool ok = r->cells && put_in_order(p, ask, r);
	r->all = all;
	return ok;
}

struct table_answer *table_ask(struct table_set *s, const struct table_ask *ask, char *why, size_t cap)
{
	struct table_plan p = {.view = table_set_get(s, ask->table, why, cap)};
	struct table_answer *r = p.view ? calloc(1, sizeof *r) : NULL;
	uint64_t *rows = NULL, n = 0;
	if (!r) {
		if (p.view) {
			snprintf(why, cap, "no memory");
		}
		return NULL;
	}
	r->table = ask->table;
	if (!table_plan_make(&p, ask, r, why, cap) || !(rows = choose(s, p.view, ask, &n, why, cap))) {
		table_answer_free(r);
		return NULL;
	}
	r->matched = n;
	bool ok = p.grouped ? answer_groups(&p, rows, n, r) && put_in_order(&p, ask, r)
			    : answer_rows(&p, ask, rows, n, r);
	free(rows);
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
