/* SPDX-License-Identifier: MIT
 * facets and group: who, which, how many.
 */
#include "tools/view/view.h"

#include <math.h>
#include <stdlib.h>

/* ---- facets ----------------------------------------------------------------------------------------- */

#define BUCKETS 60u

struct facets {
	struct strbuf *b;
	struct view_trace *trace;
	enum openetw_key by;
	const char *field;
	uint64_t told;
};

static void put_filter(struct strbuf *b, struct view_trace *t, enum openetw_key by, const char *field, uint32_t id,
		       const char *text)
{
	struct strbuf f = {0};
	view_filter_text(&f, t, by, field, id, text ? text : "");
	json_put_text(b, "filter", f.len && !f.failed ? f.s : NULL);
	strbuf_finish(&f);
}

static bool put_facet(void *context, const struct openetw_facet *f)
{
	struct facets *x = context;
	struct strbuf *b = x->b;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "id", f->id);
	json_put_text(b, "text", f->id == UINT32_MAX ? "all others" : f->text);
	json_put_truth(b, "rest", f->id == UINT32_MAX);
	json_put_count(b, "count", f->count);
	json_put_integer(b, "first", f->first);
	json_put_integer(b, "last", f->last);
	put_filter(b, x->trace, x->by, x->field, f->id, f->text);
	strbuf_addc(b, '}');
	x->told++;
	return true;
}

struct numbers { /* values of a field, with how many events have them */
	double *v;
	uint64_t *n;
	uint32_t count, cap;
	bool other; /* one that is no number */
	double min, max;
};
#define VALUES_MOST 200000u

static bool take_number(void *context, const struct openetw_facet *f)
{
	struct numbers *x = context;
	char *end;
	if (f->id == UINT32_MAX || f->id == 0 || !f->text) {
		return true;
	}
	double v = strtod(f->text, &end);
	if (end == f->text || *end || !isfinite(v)) {
		x->other = true;
		return false;
	}
	if (x->count == x->cap) {
		uint32_t cap = x->cap ? x->cap * 2 : 1024;
		double *v2 = realloc(x->v, cap * sizeof *v2);
		x->v = v2 ? v2 : x->v;
		uint64_t *n2 = v2 ? realloc(x->n, cap * sizeof *n2) : NULL;
		x->n = n2 ? n2 : x->n;
		if (!n2) {
			x->other = true;
			return false;
		}
		x->cap = cap;
	}
	x->min = x->count ? BASE_MIN(x->min, v) : v;
	x->max = x->count ? BASE_MAX(x->max, v) : v;
	x->v[x->count] = v;
	x->n[x->count++] = f->count;
	return true;
}

/* How the numbers of a field are spread; nothing where some value is no number. */
static void put_numeric(struct strbuf *b, struct openetw_query *q)
{
	struct numbers x = {0};
	uint64_t buckets[BUCKETS] = {0};
	uint32_t code = openetw_query_facets(q, OPENETW_BY_FIELD, VALUES_MOST, take_number, &x, NULL);
	if (code == ERROR_SUCCESS && !x.other && x.count > 1) {
		for (uint32_t i = 0; i < x.count; i++) {
			double at = x.max > x.min ? (x.v[i] - x.min) / (x.max - x.min) * BUCKETS : 0;
			buckets[BASE_MIN((uint32_t)at, BUCKETS - 1)] += x.n[i];
		}
		json_put_name(b, "numeric");
		strbuf_addc(b, '{');
		json_put_real(b, "min", x.min);
		json_put_real(b, "max", x.max);
		json_put_name(b, "buckets");
		strbuf_addc(b, '[');
		for (uint32_t i = 0; i < BUCKETS; i++) {
			json_put_count(b, NULL, buckets[i]);
		}
		strbuf_adds(b, "]}");
	}
	free(x.v);
	free(x.n);
}

static int run_facets(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct view_sel s;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	const char *by = view_text(r, "by", "provider");
	struct facets x = {.b = &r->out, .trace = s.trace, .field = view_text(r, "field", NULL)};
	x.field = strncmp(by, "field:", 6) == 0 ? by + 6 : x.field;
	if (!view_key(r, q, by, &x.by)) {
		view_query_give(r, &s, q);
		return r->status;
	}
	strbuf_adds(&r->out, "{\"rows\":[");
	uint32_t code = openetw_query_facets(q, x.by, (uint32_t)view_number(r, "top", 20), put_facet, &x, &a);
	strbuf_addc(&r->out, ']');
	view_put_answer(&r->out, &a);
	if (code == ERROR_SUCCESS && x.by == OPENETW_BY_FIELD) {
		put_numeric(&r->out, q);
	}
	strbuf_addc(&r->out, '}');
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS || code == ERROR_CANCELLED ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_facets = {
	.path = "facets", .params = VIEW_SEL "by:text field:text top:1-10000", .run = run_facets};

/* ---- group ------------------------------------------------------------------------------------------ */

struct groups {
	struct strbuf *b;
	struct view_trace *trace;
	const enum openetw_key *keys;
	const char *field;
	uint32_t told;
	bool full;
};
#define GROUPS_MOST 50000u

static bool put_group(void *context, const struct openetw_group *g)
{
	struct groups *x = context;
	struct strbuf *b = x->b;
	if (x->told == GROUPS_MOST) {
		x->full = true;
		return false;
	}
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "depth", g->depth);
	if (g->parent != UINT32_MAX) {
		json_put_count(b, "parent", g->parent);
	}
	json_put_text(b, "text", g->id == UINT32_MAX ? "all others" : g->text);
	json_put_truth(b, "rest", g->id == UINT32_MAX);
	json_put_count(b, "count", g->count);
	if (g->values) {
		json_put_count(b, "values", g->values);
		json_put_real(b, "sum", g->sum);
		json_put_real(b, "min", g->min);
		json_put_real(b, "avg", g->average);
		json_put_real(b, "max", g->max);
		json_put_real(b, "p50", g->p50);
		json_put_real(b, "p99", g->p99);
	}
	put_filter(b, x->trace, x->keys[g->depth - 1], x->field, g->id, g->text);
	strbuf_addc(b, '}');
	x->told++;
	return true;
}

static int run_group(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct view_sel s;
	enum openetw_key keys[OPENETW_GROUP_KEYS];
	uint32_t count = 0;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	struct groups x = {.b = &r->out, .trace = s.trace, .keys = keys, .field = view_text(r, "field", NULL)};
	char *by = strdup(view_text(r, "by", "provider,type")), *at = by, *word;
	bool ok = by != NULL;
	while (ok && (word = strsep(&at, ",")) != NULL) {
		ok = count < OPENETW_GROUP_KEYS;
		if (ok && x.field) { /* the field that is measured; the key may be that field */
			ok = openetw_query_set_field(q, x.field) == ERROR_SUCCESS;
		}
		ok = ok && view_key(r, q, word, &keys[count]);
		count += ok;
	}
	if (!ok) {
		free(by);
		view_query_give(r, &s, q);
		return r->status ? r->status : view_fail(r, 400, "at most %u keys", OPENETW_GROUP_KEYS);
	}
	strbuf_adds(&r->out, "{\"rows\":[");
	uint32_t code = openetw_query_group(q, keys, count, (uint32_t)view_number(r, "top", 100), put_group, &x, &a);
	strbuf_addc(&r->out, ']');
	json_put_truth(&r->out, "cut", x.full);
	view_put_answer(&r->out, &a);
	strbuf_addc(&r->out, '}');
	free(by);
	view_query_give(r, &s, q);
	return code == ERROR_SUCCESS || code == ERROR_CANCELLED ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_group = {
	.path = "group", .params = VIEW_SEL "by:text field:text top:1-10000", .run = run_group};
