/* SPDX-License-Identifier: MIT
 * parse: what the words of a filter are, what is wrong with it, and what may come next.
 */
#include "tools/view/view.h"

#include "filter/filter_complete.h"
#include "regex/regex.h"
#include "tools/tables/index_words.h"

#include <stdlib.h>

#define FILTER_MOST 8192u
#define OFFERS_MOST 60u

/* ---- words ------------------------------------------------------------------------------------------ */

static void put_span(struct strbuf *b, size_t from, size_t to, const char *kind)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "from", from);
	json_put_count(b, "to", to);
	json_put_text(b, "kind", kind);
	strbuf_addc(b, '}');
}

struct spans {
	struct strbuf *b;
	const char *text;
};
static void take_expectation(void *context, const struct filter_expectation *e)
{
	static const char *const kinds[] = {"name", "operator", "value", "join"};
	struct spans *s = context;
	size_t from = (size_t)(e->at - s->text);
	from += strspn(s->text + from, " \t\r\n");
	const char *at = s->text + from;
	size_t n;
	if (*at == '"' || *at == '\'') {
		const char *close = strchr(at + 1, *at);
		n = close ? (size_t)(close - at) + 1 : strlen(at);
	} else if (*at == '[') {
		n = strcspn(at, "]");
		n += at[n] == ']';
	} else if (e->what == FILTER_EXPECTS_OPERATOR && strchr("=!<>~&%", *at) && *at) {
		n = strspn(at, "=!<>~&%");
	} else {
		n = strcspn(at, " \t\r\n()=!<>~&%|,\"'");
	}
	if (n) {
		put_span(s->b, from, from + n, kinds[e->what]);
	}
}

/* ---- what there is in the trace --------------------------------------------------------------------- */

void view_vocabulary_free(void *memo)
{
	index_words_destroy(memo);
}

/* Made once for a trace that is whole. */
static struct index_words *words_of(struct view_trace *t)
{
	pthread_mutex_lock(&t->lock);
	struct index_words *w = t->memo;
	pthread_mutex_unlock(&t->lock);
	if (w) {
		return w;
	}
	struct openetw_decoder *d = view_decoder_take(t);
	w = index_words_create(t->x, d);
	view_decoder_give(t, d);
	bool whole = view_trace_whole(t) && !t->live;
	pthread_mutex_lock(&t->lock);
	bool kept = whole && w && !t->memo;
	if (kept) {
		t->memo = w;
	}
	struct index_words *there = t->memo;
	pthread_mutex_unlock(&t->lock);
	if (there && !kept) {
		index_words_destroy(w);
		return there;
	}
	return w;
}

/* ---- offers ----------------------------------------------------------------------------------------- */

struct offers {
	struct strbuf *b;
	uint32_t told;
};
static bool put_offer(void *context, const struct filter_completion *c)
{
	static const char *const kinds[] = {"name", "operator", "value", "join"};
	struct offers *o = context;
	json_put_comma(o->b);
	strbuf_addc(o->b, '{');
	json_put_text(o->b, "text", c->text);
	json_put_text(o->b, "kind", kinds[c->what]);
	json_put_count(o->b, "from", c->replaces.at);
	json_put_count(o->b, "to", c->replaces.at + c->replaces.bytes);
	strbuf_addc(o->b, '}');
	return ++o->told < OFFERS_MOST;
}

static int run(struct view_request *r)
{
	static const struct filter_dialect dialect = {.regex = &regex_pcre2};
	const char *text = view_text(r, "f", "");
	struct view_trace *t = view_trace_of(r);
	struct filter_expr *f = NULL;
	struct diag d;
	if (!t) {
		return r->status;
	}
	if (strlen(text) > FILTER_MOST) {
		return view_fail(r, 413, "a filter has at most %u bytes", FILTER_MOST);
	}
	diag_clear(&d);
	bool empty = !text[strspn(text, " \t\r\n")];
	int err = empty ? 0 : filter_expr_parse_in(&dialect, text, &f, &d);
	filter_expr_destroy(f);
	strbuf_adds(&r->out, "{\"spans\":[");
	struct spans s = {&r->out, text};
	filter_expr_expectations(text, take_expectation, &s);
	strbuf_addc(&r->out, ']');
	json_put_name(&r->out, "error");
	if (err < 0) {
		strbuf_addc(&r->out, '{');
		json_put_count(&r->out, "column", d.column);
		json_put_text(&r->out, "text", d.text);
		strbuf_addc(&r->out, '}');
	} else {
		strbuf_adds(&r->out, "null");
	}
	json_put_name(&r->out, "completions");
	strbuf_addc(&r->out, '[');
	if (view_text(r, "cursor", NULL)) {
		static const struct filter_vocabulary none;
		struct index_words *w = words_of(t);
		struct offers o = {&r->out, 0};
		filter_complete(text, BASE_MIN((size_t)view_number(r, "cursor", 0), strlen(text)),
				w ? index_words_get(w) : &none, put_offer, &o);
		if (w != t->memo) {
			index_words_destroy(w);
		}
	}
	strbuf_adds(&r->out, "]}");
	return view_done(r);
}
const struct view_endpoint view_parse = {
	.path = "parse", .params = VIEW_TRACE_PARAM "f:text cursor:0-8192", .run = run};
