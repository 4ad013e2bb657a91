/* SPDX-License-Identifier: MIT
 * sql and queries: openetw sql, in a process of its own.
 */
#include "tools/view/view.h"

#include "tools/openetw/sql_ready.h"
#include "tools/view/view_child.h"

#define ANSWER_MOST (8u << 20)
#define QUERY_MOST  100000u

static int run_queries(struct view_request *r)
{
	struct sql_ready q;
	strbuf_adds(&r->out, "{\"queries\":[");
	for (unsigned i = 0; sql_ready_at(i, &q); i++) {
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "name", q.name);
		json_put_text(&r->out, "title", q.title);
		json_put_text(&r->out, "help", q.question);
		json_put_name(&r->out, "sql");
		strbuf_add_json(&r->out, q.text, q.bytes);
		strbuf_addc(&r->out, '}');
	}
	strbuf_addc(&r->out, ']');
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_queries = {.path = "queries", .params = "", .run = run_queries};

/* Lines of JSON objects as a list. */
static uint64_t put_rows(struct strbuf *b, const struct strbuf *lines, uint64_t most)
{
	uint64_t n = 0;
	for (const char *line = lines->s; line && *line;) {
		const char *end = strchr(line, '\n');
		if (!end) {
			break; /* it was cut */
		}
		if (n++ < most) {
			json_put_comma(b);
			strbuf_add(b, line, (size_t)(end - line));
		}
		line = end + 1;
	}
	return n;
}

static int run_sql(struct view_request *r)
{
	struct strbuf out = {0}, err = {0};
	int64_t id = 0, most = 5000;
	const char *text = NULL;
	char *words[80] = {(char *)"openetw", (char *)"sql", (char *)"--json", (char *)"--"};
	int n = 4;
	json_integer(json_member(r->body, "tr"), &id);
	json_integer(json_member(r->body, "most"), &most);
	if (!json_text(json_member(r->body, "text"), &text) || strlen(text) > QUERY_MOST) {
		return view_fail(r, 400, "\"text\" is to be a query of at most %u bytes", QUERY_MOST);
	}
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace || r->trace->live) {
		return view_fail(r, 404,
				 r->trace ? "SQL asks traces that are files: save this one first"
					  : "no such trace is open");
	}
	for (int i = 0; i < r->trace->count && n < 78; i++) {
		words[n++] = r->trace->files[i];
	}
	words[n++] = (char *)(uintptr_t)text;
	uint64_t began = clock_read_system_ns();
	int status = view_child_run(words, ANSWER_MOST, &out, &err, view_request_gone, r);
	bool cut = status == -1 && out.len >= ANSWER_MOST;
	if (status != 0 && !cut) {
		view_fail(r, 400, "%s", err.len ? err.s : "the query was given up");
	} else {
		strbuf_adds(&r->out, "{\"rows\":[");
		uint64_t rows = put_rows(&r->out, &out, most > 0 ? (uint64_t)most : 5000);
		strbuf_addc(&r->out, ']');
		json_put_count(&r->out, "all", rows);
		json_put_truth(&r->out, "cut", cut || rows > (uint64_t)most);
		json_put_real(&r->out, "seconds", (double)(clock_read_system_ns() - began) / 1e9);
		json_put_text(&r->out, "said", err.len ? err.s : NULL);
		strbuf_addc(&r->out, '}');
		view_done(r);
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	return r->status;
}
const struct view_endpoint view_sql = {
	.path = "sql", .params = VIEW_TRACE_PARAM "text:text most:1-1000000", .post = true, .run = run_sql};
