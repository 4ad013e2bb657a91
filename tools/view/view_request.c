/* SPDX-License-Identifier: MIT
 * Parameters of a request, and failures.
 */
#include "tools/view/view_live.h"
#include "tools/view/view_param.h"

#include "base/file.h"
#include "filter/filter_parse.h"
#include "regex/regex.h"

#include <openetw/error.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

#define PAGE_BYTES_MAX (16u << 20)

/* ---- failures --------------------------------------------------------------------------------------- */

static int fail_text(struct view_request *r, int status, const char *text)
{
	strbuf_clear(&r->out);
	r->type = NULL;
	r->status = status;
	strbuf_addc(&r->out, '{');
	json_put_text(&r->out, "error", text);
	strbuf_addc(&r->out, '}');
	return status;
}

int view_fail(struct view_request *r, int status, const char *fmt, ...)
{
	struct strbuf text = {0};
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	fail_text(r, status, text.failed ? "no memory" : text.s);
	strbuf_finish(&text);
	return status;
}

/* More members behind the sentence. */
static void reopen(struct strbuf *b)
{
	if (b->len && b->s[b->len - 1] == '}') {
		b->s[--b->len] = 0;
	}
}

int view_teach(struct view_request *r, const char *why, const char *teach)
{
	fail_text(r, 409, why);
	reopen(&r->out);
	json_put_text(&r->out, "teach", teach);
	strbuf_addc(&r->out, '}');
	return r->status;
}

int view_fail_code(struct view_request *r, uint32_t code)
{
	const char *why = openetw_last_error_text();
	switch (code) {
	case ERROR_CANCELLED: return fail_text(r, 503, "nobody waited for the answer any more");
	case ERROR_FILE_NOT_FOUND:
	case ERROR_NOT_FOUND: return fail_text(r, 404, "there is no such thing in the trace");
	case ERROR_NOT_ENOUGH_MEMORY: return fail_text(r, 500, "no memory");
	default:
		return fail_text(r, code == ERROR_INVALID_PARAMETER ? 400 : 500,
				 why[0] ? why : openetw_error_text(code));
	}
}

/* "no level 'eror'; did you mean 'error'?" has the word that comes nearest. */
static void put_nearest(struct strbuf *b, const char *text)
{
	static const char ask[] = "did you mean '";
	const char *word = strstr(text, ask), *end = word ? strchr(word + sizeof ask - 1, '\'') : NULL;
	if (end) {
		word += sizeof ask - 1;
		json_put_name(b, "nearest");
		strbuf_add_json(b, word, (size_t)(end - word));
	}
}

bool view_filter_fits(const char *filter, struct diag *d)
{
	static const struct filter_dialect dialect = {.regex = &regex_pcre2};
	struct filter_expr *f = NULL;
	diag_clear(d);
	int err = filter_expr_parse_in(&dialect, filter, &f, d);
	filter_expr_destroy(f);
	return err == 0;
}

int view_fail_filter(struct view_request *r, const char *filter)
{
	struct diag d;
	if (view_filter_fits(filter, &d)) {
		return fail_text(r, 500, "no memory for the filter");
	}
	fail_text(r, 400, d.text);
	reopen(&r->out);
	json_put_count(&r->out, "column", d.column);
	put_nearest(&r->out, d.text);
	strbuf_addc(&r->out, '}');
	return r->status;
}

/* ---- what is asked, and the page ---------------------------------------------------------------------- */

const struct view_endpoint *view_endpoint_of(const char *path, bool post)
{
	for (size_t i = 0; view_endpoints[i]; i++) {
		if (strcmp(view_endpoints[i]->path, path) == 0 && view_endpoints[i]->post == post) {
			return view_endpoints[i];
		}
	}
	return NULL;
}

bool view_page_read(const struct view *v, const char *path, struct strbuf *ret)
{
	if (v->web) {
		char whole[PATH_MAX];
		snprintf(whole, sizeof whole, "%s/%s", v->web, path);
		return file_read(whole, PAGE_BYTES_MAX, ret) == 0 && ret->s && !ret->failed;
	}
	for (const struct view_file *f = view_bundle; f->path; f++) {
		if (strcmp(f->path, path) == 0) {
			strbuf_add(ret, f->data, (size_t)(f->end - f->data));
			return ret->s && !ret->failed;
		}
	}
	return false;
}

/* ---- parameters ------------------------------------------------------------------------------------- */

bool view_request_check(struct view_request *r)
{
	char why[300];
	const char *name, *params = r->endpoint->params;
	struct json_value *v;
	for (size_t i = 0; i < r->given_count; i++) {
		const char *wrong = r->endpoint->post ? "what a POST asks for stands in its body"
						      : view_param_problem(params, r->given[i].name, r->given[i].value,
									   why, sizeof why);
		for (size_t k = 0; k < i && !wrong; k++) {
			wrong = strcmp(r->given[i].name, r->given[k].name) == 0 ? "a parameter is there twice" : NULL;
		}
		if (wrong) {
			view_fail(r, 400, "/api/%s: %s", r->endpoint->path, wrong);
			return false;
		}
	}
	for (size_t i = 0; json_member_at(r->body, i, &name, &v); i++) {
		if (view_param_problem(params, name, NULL, why, sizeof why)) {
			view_fail(r, 400, "/api/%s: %s", r->endpoint->path, why);
			return false;
		}
	}
	return true;
}

const char *view_text(const struct view_request *r, const char *name, const char *absent)
{
	for (size_t i = 0; i < r->given_count; i++) {
		if (strcmp(r->given[i].name, name) == 0) {
			return r->given[i].value;
		}
	}
	return absent;
}

uint64_t view_number(const struct view_request *r, const char *name, uint64_t absent)
{
	const char *s = view_text(r, name, NULL);
	double d;
	return s && view_param_number(s, &d) && d >= 0 && d < 1.8e19 ? (uint64_t)d : absent;
}

int64_t view_time(const struct view_request *r, const char *name, int64_t absent)
{
	const char *s = view_text(r, name, NULL);
	double d;
	return s && view_param_number(s, &d) && fabs(d) < 9e18 ? (int64_t)d : absent;
}

bool view_flag(const struct view_request *r, const char *name, bool absent)
{
	return view_number(r, name, absent ? 1 : 0) != 0;
}

bool view_numbers(struct view_request *r, const char *text, uint32_t *ret, uint32_t most, uint32_t *ret_count)
{
	if (!view_param_numbers(text, ret, most, ret_count)) {
		view_fail(r, 400, "'%.60s' is no list of up to %u numbers with commas between them", text, most);
		return false;
	}
	return true;
}

/* ---- the selection ---------------------------------------------------------------------------------- */

struct view_trace *view_trace_of(struct view_request *r)
{
	if (!r->trace) {
		uint32_t id = (uint32_t)view_number(r, "tr", 0);
		r->trace = view_trace_hold(r->view, id);
		if (!r->trace) {
			view_fail(r, 404, "no trace %u is open", id);
		} else if (r->trace->live && r->endpoint->whole) {
			char why[600];
			struct view_trace *copy = view_copy_hold(r->trace, view_request_gone, r, why, sizeof why);
			view_trace_let_go(r->view, r->trace);
			r->trace = copy;
			if (!copy) {
				view_fail(r, 503, "%s", why);
			}
		}
	}
	return r->trace;
}

bool view_sel_of(struct view_request *r, struct view_sel *ret)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	*ret = (struct view_sel){.trace = view_trace_of(r)};
	if (!ret->trace) {
		return false;
	}
	view_trace_about(ret->trace, &a);
	ret->from = view_time(r, "t0", a.rows ? BASE_MIN(a.first, 0) : 0);
	ret->to = view_time(r, "t1", a.last);
	ret->filter = view_text(r, "f", NULL);
	if (ret->filter && !ret->filter[strspn(ret->filter, " \t\r\n")]) {
		ret->filter = NULL;
	}
	if (ret->from > ret->to && (view_text(r, "t0", NULL) || view_text(r, "t1", NULL))) {
		view_fail(r, 400, "t1 lies before t0");
		return false;
	}
	return true;
}

bool view_gone(const struct view_request *r)
{
	char c;
	if (view_ending(r->view)) {
		return true;
	}
	return r->socket >= 0 && recv(r->socket, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool view_request_gone(void *context)
{
	return view_gone(context);
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return !view_gone(context);
}

static bool is_like(const struct view_query *k, const struct view_sel *s)
{
	return k->q && !k->busy && k->from == s->from && k->to == s->to &&
	       strcmp(k->filter ? k->filter : "", s->filter ? s->filter : "") == 0;
}

/* One with this filter; else a free place, else the one that was used longest ago. NULL: all are busy. */
static struct view_query *place_for(struct view_trace *t, const struct view_sel *s)
{
	struct view_query *oldest = NULL;
	for (uint32_t i = 0; i < VIEW_QUERIES_MAX; i++) {
		struct view_query *k = &t->queries[i];
		if (is_like(k, s)) {
			return k;
		}
		if (!k->busy && (!oldest || !k->q || (oldest->q && k->used < oldest->used))) {
			oldest = k;
		}
	}
	return oldest;
}

static struct openetw_query *new_query(struct view_request *r, const struct view_sel *s)
{
	struct openetw_query *q = openetw_query_create(s->trace->x);
	if (!q) {
		view_fail(r, 500, "no memory");
		return NULL;
	}
	openetw_query_set_range(q, s->from, s->to);
	if (openetw_query_set_filter(q, s->filter) != ERROR_SUCCESS) {
		view_fail_filter(r, s->filter);
		openetw_query_destroy(q);
		return NULL;
	}
	return q;
}

struct openetw_query *view_query_take(struct view_request *r, const struct view_sel *s)
{
	struct view_trace *t = s->trace;
	struct openetw_query *q = NULL, *old = NULL;
	pthread_mutex_lock(&t->lock);
	struct view_query *k = place_for(t, s);
	if (k && is_like(k, s)) {
		k->busy = true;
		q = k->q;
	}
	pthread_mutex_unlock(&t->lock);
	q = q ? q : new_query(r, s);
	if (!q) {
		return NULL;
	}
	pthread_mutex_lock(&t->lock);
	k = NULL;
	for (uint32_t i = 0; i < VIEW_QUERIES_MAX; i++) {
		k = t->queries[i].q == q ? &t->queries[i] : k;
	}
	k = k ? k : place_for(t, s);
	if (k && k->q != q && !k->busy) { /* else it is not remembered: view_query_give() destroys it */
		old = k->q;
		free(k->filter);
		*k = (struct view_query){.q = q, .from = s->from, .to = s->to, .busy = true};
		k->filter = s->filter ? strdup(s->filter) : NULL;
		if (s->filter && !k->filter) {
			k->q = NULL;
			k->busy = false;
		}
	}
	if (k && k->q == q) {
		k->used = ++t->uses;
	}
	pthread_mutex_unlock(&t->lock);
	openetw_query_destroy(old);
	openetw_query_set_progress(q, on_progress, r);
	return q;
}

void view_query_give(struct view_request *r, const struct view_sel *s, struct openetw_query *q)
{
	struct view_trace *t = s->trace;
	bool kept = false;
	(void)r;
	if (!q) {
		return;
	}
	openetw_query_set_progress(q, NULL, NULL);
	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; i < VIEW_QUERIES_MAX; i++) {
		if (t->queries[i].q == q) {
			t->queries[i].busy = false;
			kept = true;
		}
	}
	pthread_mutex_unlock(&t->lock);
	if (!kept) {
		openetw_query_destroy(q);
	}
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum openetw_key key;
} keys[] = {{"nothing", OPENETW_BY_NOTHING},     {"type", OPENETW_BY_TYPE},
	    {"provider", OPENETW_BY_PROVIDER},   {"level", OPENETW_BY_LEVEL},
	    {"process", OPENETW_BY_PROCESS},     {"process_name", OPENETW_BY_PROCESS_NAME},
	    {"thread", OPENETW_BY_THREAD},       {"cpu", OPENETW_BY_CPU},
	    {"stack", OPENETW_BY_STACK},         {"file", OPENETW_BY_FILE},
	    {"container", OPENETW_BY_CONTAINER}, {"field", OPENETW_BY_FIELD}};

bool view_key(struct view_request *r, struct openetw_query *q, const char *text, enum openetw_key *ret)
{
	const char *field = strncmp(text, "field:", 6) == 0 ? text + 6 : NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(keys); i++) {
		if (strcmp(text, keys[i].name) == 0 || (field && keys[i].key == OPENETW_BY_FIELD)) {
			*ret = keys[i].key;
			const char *name = field ? field : view_text(r, "field", NULL);
			if (*ret == OPENETW_BY_FIELD && (!name || openetw_query_set_field(q, name) != ERROR_SUCCESS)) {
				view_fail(r, 400, "by=field needs field=NAME");
				return false;
			}
			return true;
		}
	}
	view_fail(r, 400,
		  "'%.60s' is no key; there are nothing type provider level process process_name thread cpu stack file "
		  "container field:NAME",
		  text);
	return false;
}

/* As a value of the filter language. */
static void put_value(struct strbuf *b, const char *s)
{
	bool number = s[0] && strspn(s, "0123456789") == strlen(s) && strlen(s) < 19;
	if (number) {
		strbuf_adds(b, s);
		return;
	}
	char quote = strchr(s, '"') ? '\'' : '"';
	strbuf_addc(b, quote);
	strbuf_adds(b, s);
	strbuf_addc(b, quote);
}

/* A name of a field, in brackets where it is no word. */
static void put_field(struct strbuf *b, const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
	bool plain = s[0] && strspn(s, letters) == strlen(s) && filter_property_of(s) == FILTER_PROPERTY_FIELD &&
		     !(s[0] >= '0' && s[0] <= '9');
	strbuf_addf(b, plain ? "%s" : "[%s]", s);
}

void view_filter_text(struct strbuf *b, struct view_trace *t, enum openetw_key by, const char *field, uint32_t id,
		      const char *text)
{
	OPENETW_SIZED(struct openetw_index_type, type);
	OPENETW_SIZED(struct openetw_index_process, process);
	OPENETW_SIZED(struct openetw_index_thread, thread);
	/* Nothing in the language stands for a text with both kinds of quotes, or for a name that nobody knows. */
	bool plain = text && !(strchr(text, '"') && strchr(text, '\''));
	bool named = plain && text[0];
	if (id == UINT32_MAX) {
		return;
	}
	switch (by) {
	case OPENETW_BY_TYPE:
		if (openetw_index_type(t->x, id, &type) == ERROR_SUCCESS) {
			strbuf_adds(b, "provider == ");
			put_value(b, type.provider);
			strbuf_adds(b, " and event == ");
			put_value(b, type.name);
		}
		return;
	case OPENETW_BY_PROVIDER:
		if (named) {
			strbuf_adds(b, "provider == ");
			put_value(b, text);
		}
		return;
	case OPENETW_BY_LEVEL: strbuf_addf(b, "level == %u", id); return;
	case OPENETW_BY_PROCESS:
		if (openetw_index_process(t->x, id, &process) == ERROR_SUCCESS && process.pid != OPENETW_UNKNOWN_ID) {
			strbuf_addf(b, "pid == %u", process.pid);
		}
		return;
	case OPENETW_BY_PROCESS_NAME:
		if (named) {
			strbuf_adds(b, "process == ");
			put_value(b, text);
		}
		return;
	case OPENETW_BY_THREAD:
		if (openetw_index_thread(t->x, id, &thread) == ERROR_SUCCESS && thread.tid != OPENETW_UNKNOWN_ID) {
			strbuf_addf(b, "tid == %u", thread.tid);
		}
		return;
	case OPENETW_BY_CPU: strbuf_addf(b, "cpu == %u", id); return;
	case OPENETW_BY_FIELD:
		if (id != 0 && field && plain) {
			put_field(b, field);
			strbuf_adds(b, " == ");
			put_value(b, text);
		}
		return;
	default: return;
	}
}
