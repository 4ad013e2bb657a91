/* SPDX-License-Identifier: MIT
 * parse: what the words of a filter are, what is wrong with it, and what may come next.
 */
#include "tools/view/view.h"

#include "filter/filter_complete.h"
#include "regex/regex.h"

#include <stdlib.h>

#define FILTER_MOST 8192u
#define WORDS_MOST  2000u
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

struct words {
	const char **list;
	char **own;
	uint32_t count;
};
static void add_word(struct words *w, const char *s)
{
	if (!w->list) {
		w->list = calloc(WORDS_MOST + 1, sizeof *w->list);
		w->own = calloc(WORDS_MOST + 1, sizeof *w->own);
	}
	if (w->list && w->own && w->count < WORDS_MOST && s && s[0] && (w->own[w->count] = strdup(s)) != NULL) {
		w->list[w->count] = w->own[w->count];
		w->count++;
	}
}
static void words_free(struct words *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		free(w->own[i]);
	}
	free(w->own);
	free(w->list);
}
static bool take_word(void *context, const struct openetw_facet *f)
{
	if (f->id != UINT32_MAX) {
		add_word(context, f->text);
	}
	return true;
}

struct field_words {
	struct words *w;
};
static bool take_field(void *context, const struct openetw_field *f)
{
	char name[100];
	struct words *w = context;
	if (f->name_length < sizeof name && f->name[0] != '_') {
		memcpy(name, f->name, f->name_length);
		name[f->name_length] = 0;
		for (uint32_t i = 0; i < w->count; i++) {
			if (strcmp(w->list[i], name) == 0) {
				return true;
			}
		}
		add_word(w, name);
	}
	return true;
}

/* One event of each type says which fields it has. */
#define TYPES_LOOKED 400u
static bool take_row(void *context, const struct openetw_row *row)
{
	*(uint64_t *)context = row->row;
	return false;
}

static void learn_fields(struct view_trace *t, struct words *fields, struct words *events)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct openetw_decoder *d = view_decoder_take(t);
	struct openetw_query *q = openetw_query_create(t->x);
	view_trace_about(t, &a);
	for (uint32_t i = 0; d && q && i < a.types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		const openetw_event_record *e;
		char filter[700];
		uint64_t row = UINT64_MAX;
		if (openetw_index_type(t->x, i, &type) != ERROR_SUCCESS || type.rows == 0) {
			continue;
		}
		add_word(events, type.name);
		if (i >= TYPES_LOOKED || strpbrk(type.provider, "\"") || strpbrk(type.name, "\"")) {
			continue;
		}
		snprintf(filter, sizeof filter, "provider == \"%.250s\" and event == \"%.250s\"", type.provider,
			 type.name);
		if (openetw_query_set_filter(q, filter) == ERROR_SUCCESS &&
		    openetw_query_rows(q, 0, 1, take_row, &row, NULL) == ERROR_SUCCESS && row != UINT64_MAX &&
		    openetw_query_event(q, row, &e) == ERROR_SUCCESS) {
			openetw_decode_fields(d, e, take_field, fields);
		}
	}
	openetw_query_destroy(q);
	view_decoder_give(t, d);
}

/* Made once for a trace that is whole. */
struct vocabulary {
	struct words fields, events, providers, processes;
};
void view_vocabulary_free(void *memo)
{
	struct vocabulary *v = memo;
	if (v) {
		words_free(&v->fields);
		words_free(&v->events);
		words_free(&v->providers);
		words_free(&v->processes);
		free(v);
	}
}

static struct vocabulary *vocabulary_of(struct view_trace *t)
{
	pthread_mutex_lock(&t->lock);
	struct vocabulary *v = t->memo;
	pthread_mutex_unlock(&t->lock);
	if (v) {
		return v;
	}
	v = calloc(1, sizeof *v);
	struct openetw_query *q = v ? openetw_query_create(t->x) : NULL;
	if (!q) {
		free(v);
		return NULL;
	}
	openetw_query_facets(q, OPENETW_BY_PROVIDER, 500, take_word, &v->providers, NULL);
	openetw_query_facets(q, OPENETW_BY_PROCESS_NAME, 500, take_word, &v->processes, NULL);
	openetw_query_destroy(q);
	learn_fields(t, &v->fields, &v->events);
	bool whole = view_trace_whole(t) && !t->live;
	pthread_mutex_lock(&t->lock);
	bool kept = whole && !t->memo;
	if (kept) {
		t->memo = v;
	}
	struct vocabulary *there = t->memo;
	pthread_mutex_unlock(&t->lock);
	if (there && !kept) {
		view_vocabulary_free(v);
		return there;
	}
	return v;
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
		struct vocabulary *v = vocabulary_of(t);
		struct offers o = {&r->out, 0};
		struct filter_vocabulary words = {0};
		if (v) {
			words = (struct filter_vocabulary){.fields = v->fields.list,
							   .providers = v->providers.list,
							   .events = v->events.list,
							   .processes = v->processes.list};
		}
		filter_complete(text, BASE_MIN((size_t)view_number(r, "cursor", 0), strlen(text)), &words, put_offer,
				&o);
		if (v != t->memo) {
			view_vocabulary_free(v);
		}
	}
	strbuf_adds(&r->out, "]}");
	return view_done(r);
}
const struct view_endpoint view_parse = {
	.path = "parse", .params = VIEW_TRACE_PARAM "f:text cursor:0-8192", .run = run};
