/* SPDX-License-Identifier: MIT */
#include "tools/view/view_still.h"

#include "tools/common/output.h"
#include "tools/view/view_param.h"
#include <openetw/error.h>

#include <stdlib.h>

#define LOOK_MS 100u

/* ---- questions -------------------------------------------------------------------------------------- */

static void put_base64(struct strbuf *b, const void *p, size_t n)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *s = p;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = BASE_MIN(n - i, (size_t)3);
		uint32_t v =
			(uint32_t)s[i] << 16 | (left > 1 ? (uint32_t)s[i + 1] << 8 : 0) | (left > 2 ? s[i + 2] : 0);
		char four[4] = {letters[v >> 18], letters[v >> 12 & 63], left > 1 ? letters[v >> 6 & 63] : '=',
				left > 2 ? letters[v & 63] : '='};
		strbuf_add(b, four, sizeof four);
	}
}

/* JSON in a script element: its texts may hold "</script>" and "<!--", so that "<" stands there as an escape. */
static void put_json(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0, from = 0; i <= n; i++) {
		if (i == n || s[i] == '<') {
			strbuf_add(b, s + from, i - from);
			from = i + 1;
			if (i < n) {
				strbuf_adds(b, "\\u003c");
			}
		}
	}
}

static void put_answer(struct strbuf *b, const char *ask, const struct view_request *r)
{
	struct strbuf name = {0};
	strbuf_add_json(&name, ask, strlen(ask));
	json_put_comma(b);
	strbuf_adds(b, "{\"ask\":");
	put_json(b, name.s ? name.s : "\"\"", name.s ? name.len : 2);
	strbuf_finish(&name);
	strbuf_addf(b, ",\"status\":%d,", r->status);
	if (r->type) {
		strbuf_adds(b, "\"arrays\":\"");
		put_base64(b, r->out.s, r->out.len);
		strbuf_adds(b, "\"}\n");
	} else {
		strbuf_adds(b, "\"json\":");
		put_json(b, r->out.s ? r->out.s : "null", r->out.s ? r->out.len : 4);
		strbuf_adds(b, "}\n");
	}
}

/* Answers of these are in a file: they read the trace, and their answer is text or arrays. */
static bool may_ask(const struct view_endpoint *e)
{
	static const char *const no[] = {"download", "events", "files",   "jobs",
					 "kinds",    "parse",  "recipes", "sessions"};
	for (size_t i = 0; e && i < BASE_ARRAY_LEN(no); i++) {
		if (strcmp(e->path, no[i]) == 0) {
			return false;
		}
	}
	return e && e->run;
}

bool view_still_ask(struct view_still *s, const char *ask)
{
	char *text = strdup(ask), *query = text ? strchr(text, '?') : NULL;
	if (query) {
		*query++ = 0;
	}
	struct view_request r = {.view = s->view, .socket = -1, .file = -1};
	r.endpoint = text ? view_endpoint_of(text, false) : NULL;
	char *names[VIEW_PARAMS_MAX], *values[VIEW_PARAMS_MAX];
	uint32_t n = 0;
	bool ok = may_ask(r.endpoint) && s->count < VIEW_STILL_ASKS_MAX &&
		  (!query || view_param_split(query, names, values, VIEW_PARAMS_MAX, &n));
	for (; ok && r.given_count < n; r.given_count++) {
		r.given[r.given_count].name = names[r.given_count];
		r.given[r.given_count].value = values[r.given_count];
	}
	if (ok) {
		r.status = view_request_check(&r) ? r.endpoint->run(&r) : r.status;
		ok = !r.type || strcmp(r.type, "application/x-openetw-arrays") == 0;
	}
	if (ok) {
		put_answer(&s->answers, ask, &r);
		s->count++;
	}
	if (r.trace) {
		view_trace_let_go(s->view, r.trace);
	}
	strbuf_finish(&r.out);
	strbuf_finish(&r.filename_text);
	base_close(&r.file);
	free(text);
	return ok;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static void put_head(struct strbuf *out, const char *nonce)
{
	strbuf_adds(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
	strbuf_addf(out,
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-%s'; "
		    "style-src 'nonce-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"style-nonce\" content=\"%s\">\n",
		    nonce, nonce, nonce);
	strbuf_adds(out, "<title>OpenETW</title>\n");
}

static void put_still(struct strbuf *out, const struct view_still *s)
{
	struct strbuf b = {0};
	strbuf_adds(&b, "{\"pages\":[");
	for (uint32_t i = 0; i < s->page_count; i++) {
		json_put_text(&b, NULL, s->pages[i]);
	}
	strbuf_addc(&b, ']');
	json_put_text(&b, "address", s->address);
	json_put_text(&b, "version", openetw_version());
	json_put_name(&b, "answers");
	put_json(out, b.s ? b.s : "", b.len);
	strbuf_adds(out, "[\n");
	strbuf_add(out, s->answers.s ? s->answers.s : "", s->answers.len);
	strbuf_adds(out, "]}");
	out->failed |= b.failed || s->answers.failed;
	strbuf_finish(&b);
}

bool view_still_put(const struct view_still *s, struct strbuf *out, char *why, size_t cap)
{
	struct view_guard own;
	struct strbuf style = {0}, script = {0};
	bool ok = view_guard_begin(&own, 0, 0) == 0 && view_page_read(s->view, "style.css", &style) &&
		  view_page_read(s->view, "still.js", &script);
	if (!ok) {
		snprintf(why, cap, "the page of this openetw has no part for files");
	} else if (s->answers.len + style.len + script.len > VIEW_STILL_BYTES_MAX) {
		snprintf(why, cap, "the file would have %.1f MB, more than %u; select a shorter time",
			 (double)(s->answers.len + style.len + script.len) / 1e6, VIEW_STILL_BYTES_MAX / 1000000);
		ok = false;
	}
	if (ok) {
		put_head(out, own.nonce);
		strbuf_addf(out, "<style nonce=\"%s\">", own.nonce);
		strbuf_add(out, style.s, style.len);
		strbuf_adds(out, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
				 "<script type=\"application/json\" id=\"still\">");
		put_still(out, s);
		strbuf_addf(out, "</script>\n<script nonce=\"%s\">", own.nonce);
		strbuf_add(out, script.s, script.len);
		strbuf_adds(out, "</script>\n</body>\n</html>\n");
		ok = !out->failed;
		if (!ok) {
			snprintf(why, cap, "no memory");
		}
	}
	strbuf_finish(&style);
	strbuf_finish(&script);
	return ok;
}

void view_still_finish(struct view_still *s)
{
	strbuf_finish(&s->answers);
}

/* ---- the endpoint ----------------------------------------------------------------------------------- */

static int run(struct view_request *r)
{
	char why[200];
	const char *page = "", *address = "", *ask;
	struct json_value *asks = json_member(r->body, "asks");
	struct view_still s = {.view = r->view, .pages = &page, .page_count = 1};
	if (!json_text(json_member(r->body, "page"), &page) || !json_text(json_member(r->body, "address"), &address)) {
		return view_fail(r, 400, "\"page\" and \"address\" are to be texts");
	}
	s.address = address;
	for (size_t i = 0; i < json_count(asks); i++) {
		if (!json_text(json_at(asks, i), &ask) || !view_still_ask(&s, ask)) {
			view_still_finish(&s);
			return view_fail(r, 400, "question %zu of \"asks\" cannot be in a file", i + 1);
		}
	}
	bool ok = view_still_put(&s, &r->out, why, sizeof why);
	view_still_finish(&s);
	if (!ok) {
		return view_fail(r, 413, "%s", why);
	}
	r->type = "application/octet-stream"; /* to be saved, never to be shown at this address */
	strbuf_adds(&r->filename_text, "view.html");
	r->filename = r->filename_text.s;
	return view_done(r);
}
const struct view_endpoint view_still = {
	.path = "still", .params = "page:text address:text asks:list", .post = true, .run = run};

/* ---- the command ------------------------------------------------------------------------------------ */

static int64_t time_of(const struct cli_time *t, uint64_t start_filetime, int64_t otherwise)
{
	return !t->given ? otherwise : (int64_t)(t->relative ? t->time : t->time - start_filetime) * 100;
}

void view_still_escape(struct strbuf *b, const char *s)
{
	for (; *s; s++) {
		bool plain = (*s >= '0' && *s <= '9') || ((*s | 32) >= 'a' && (*s | 32) <= 'z' && !(*s & 0x80)) ||
			     strchr("-._~", *s);
		strbuf_addf(b, plain ? "%c" : "%%%02X", (unsigned char)*s);
	}
}

/* "#overview?t0=1&f=cpu%20%3D%3D%200" */
static void put_address(struct strbuf *b, const char *page, const struct view_still_options *o, int64_t from,
			int64_t to)
{
	char mark = '?';
	strbuf_addf(b, "#%s", page);
	if (o->from.given) {
		strbuf_addf(b, "%ct0=%lld", mark, (long long)from);
		mark = '&';
	}
	if (o->to.given) {
		strbuf_addf(b, "%ct1=%lld", mark, (long long)to);
		mark = '&';
	}
	if (o->filter) {
		strbuf_addf(b, "%cf=", mark);
		view_still_escape(b, o->filter);
	}
}

static int write_file(struct view *v, const char *path, const struct view_still *s)
{
	char why[200];
	struct strbuf text = {0};
	if (!view_still_put(s, &text, why, sizeof why)) {
		strbuf_finish(&text);
		return cli_tell(v->args, "%s", why);
	}
	struct cli_output *out = cli_output_open(v->args, path, true);
	bool written = out && fwrite(text.s, 1, text.len, cli_output_file(out)) == text.len;
	int status = out ? cli_output_close(out, written) : CLI_FAILED;
	if (status == CLI_OK) {
		fprintf(stderr, "%s: %.2f MB, of which %.2f are answers of the trace and the rest is the page\n", path,
			(double)text.len / 1e6, (double)s->answers.len / 1e6);
	}
	strbuf_finish(&text);
	return status;
}

int view_still_export(struct view *v, const struct view_still_options *o)
{
	static const char *const first[] = {"overview"};
	OPENETW_SIZED(struct openetw_index_about, a);
	struct diag d;
	struct strbuf address = {0};
	struct view_still s = {.view = v,
			       .pages = o->pages.count ? o->pages.text : first,
			       .page_count = o->pages.count ? (uint32_t)o->pages.count : 1};
	struct view_trace *t = view_trace_hold(v, 0);
	int status = CLI_OK;
	if (!t) {
		return cli_usage(v->args, "--export-html: which trace?");
	}
	if (o->filter && !view_filter_fits(o->filter, &d)) {
		status = cli_usage(v->args, "--filter, column %u: %s", d.column, d.text);
	}
	while (openetw_index_wait(t->x, LOOK_MS) == ERROR_TIMEOUT && !cli_signal_caught()) {
	}
	view_trace_about(t, &a);
	int64_t from = time_of(&o->from, a.start_filetime, a.rows ? BASE_MIN(a.first, 0) : 0);
	int64_t to = time_of(&o->to, a.start_filetime, a.last);
	if (status == CLI_OK && from > to) {
		status = cli_usage(v->args, "--to lies before --from");
	} else if (s.page_count > VIEW_STILL_PAGES_MAX) {
		status = cli_usage(v->args, "at most %u pages are one file", VIEW_STILL_PAGES_MAX);
	}
	for (uint32_t i = 0; status == CLI_OK && i < s.page_count && !cli_signal_caught(); i++) {
		if (!view_still_page(&s, s.pages[i], from, to, o->filter)) {
			status = cli_usage(v->args, "--page '%s': there are %s", s.pages[i], view_still_names);
		}
	}
	put_address(&address, s.pages[0], o, from, to);
	s.address = address.s ? address.s : "#overview";
	if (status == CLI_OK) {
		status = cli_signal_caught() ? CLI_FAILED : write_file(v, o->path, &s);
	}
	view_trace_let_go(v, t);
	strbuf_finish(&address);
	view_still_finish(&s);
	return status;
}
