/* SPDX-License-Identifier: MIT
 * hist: counts over time, for each pixel.
 */
#include "tools/view/view.h"

#include "tools/view/view_loss.h"

#include <stdlib.h>

#define PIXELS_MOST 8192u
#define SERIES_MOST 64u

static void put_series(struct strbuf *b, struct view_trace *t, const struct openetw_histogram *h, enum openetw_key by,
		       const char *field, struct openetw_query *q);

struct texts { /* what ids mean: facets tell it */
	struct strbuf *b;
	const struct openetw_histogram *h;
	char *text[SERIES_MOST];
};
static bool take_text(void *context, const struct openetw_facet *f)
{
	struct texts *x = context;
	for (uint32_t i = 0; i < x->h->series && i < SERIES_MOST; i++) {
		if (x->h->ids[i] == f->id && !x->text[i] && f->id != UINT32_MAX) {
			x->text[i] = strdup(f->text ? f->text : "");
		}
	}
	return true;
}

static int run_hist(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_histogram, h);
	struct view_sel s;
	struct view_arrays a;
	struct view_losses losses;
	enum openetw_key by;
	uint32_t px = (uint32_t)view_number(r, "px", 1000), top = (uint32_t)view_number(r, "top", 8);
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	if (!view_key(r, q, view_text(r, "by", "nothing"), &by)) {
		view_query_give(r, &s, q);
		return r->status;
	}
	int64_t end = s.to < INT64_MAX ? s.to + 1 : s.to; /* the last event counts */
	uint32_t code = openetw_query_histogram(q, s.from, end, px, by, top, &h);
	if (code != ERROR_SUCCESS && code != ERROR_CANCELLED) {
		view_query_give(r, &s, q);
		return view_fail_code(r, code);
	}
	view_losses_of(s.trace, &losses);
	size_t counts = (size_t)h.series * px;
	uint32_t *small = malloc((counts + 1) * sizeof *small);
	for (size_t i = 0; small && i < counts; i++) {
		small[i] = (uint32_t)BASE_MIN(h.counts[i], (uint64_t)UINT32_MAX);
	}
	view_arrays_begin(&a);
	json_put_integer(&a.head, "t0", s.from);
	json_put_integer(&a.head, "t1", s.to);
	json_put_count(&a.head, "px", px);
	view_put_answer(&a.head, &h.answer);
	view_losses_put(&a.head, &losses, s.from, s.to);
	if (small) {
		view_arrays_add(&a, "counts", "u32", small, counts);
	} else {
		a.data.failed = true;
	}
	/* The series last: their names take another question. */
	put_series(&a.head, s.trace, &h, by, view_text(r, "field", NULL), q);
	free(small);
	view_losses_free(&losses);
	view_query_give(r, &s, q);
	return view_arrays_end(&a, r);
}

static void put_series(struct strbuf *b, struct view_trace *t, const struct openetw_histogram *h, enum openetw_key by,
		       const char *field, struct openetw_query *q)
{
	struct texts x = {.h = h};
	uint32_t n = BASE_MIN(h->series, SERIES_MOST), ids[SERIES_MOST];
	uint64_t totals[SERIES_MOST];
	struct openetw_histogram kept = *h;
	for (uint32_t i = 0; i < n; i++) { /* the next question takes them away */
		ids[i] = h->ids[i];
		totals[i] = h->totals[i];
	}
	kept.ids = ids;
	kept.series = n;
	x.h = &kept;
	if (by != OPENETW_BY_NOTHING) {
		openetw_query_facets(q, by, n + 1, take_text, &x, NULL);
	}
	json_put_name(b, "series");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < n; i++) {
		struct strbuf f = {0};
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "id", ids[i]);
		json_put_text(b, "name",
			      ids[i] == UINT32_MAX && by != OPENETW_BY_NOTHING ? "all others"
			      : x.text[i]                                      ? x.text[i]
									       : "events");
		json_put_count(b, "total", totals[i]);
		view_filter_text(&f, t, by, field, ids[i], x.text[i] ? x.text[i] : "");
		json_put_text(b, "filter", f.len && !f.failed ? f.s : NULL);
		strbuf_addc(b, '}');
		strbuf_finish(&f);
		free(x.text[i]);
	}
	strbuf_addc(b, ']');
}

const struct view_endpoint view_hist = {
	.path = "hist", .params = VIEW_SEL "by:text field:text px:1-8192 top:1-63", .run = run_hist};
