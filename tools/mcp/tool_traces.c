/* SPDX-License-Identifier: MIT
 * list_traces, open_trace, overview: what there is, and what is in it.
 */
#include "tools/mcp/mcp_tool.h"

#include "tools/tables/table_make.h"

/* ---- list_traces ------------------------------------------------------------------------------------ */

#define LIST_MOST 500u

struct listing {
	struct mcp_call *call;
	uint64_t position, seen, shown;
};

static void put_path(void *context, const char *path, uint64_t bytes, bool given)
{
	struct listing *l = context;
	struct strbuf *b = &l->call->out;
	if (l->seen++ == l->position + l->shown && mcp_call_room(l->call)) { /* nothing behind one that had no room */
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "file", path);
		json_put_count(b, "bytes", bytes);
		json_put_truth(b, "default", given);
		strbuf_addc(b, '}');
		l->shown++;
	}
}

static bool run_list(struct mcp_call *c)
{
	struct listing l = {.call = c, .position = (uint64_t)mcp_call_integer(c, "position", 0)};
	uint64_t limit = (uint64_t)mcp_call_integer(c, "limit", LIST_MOST);
	strbuf_adds(&c->out, "{\"traces\":[");
	bool incomplete;
	uint32_t there = allowed_each(&mcp_limits.may, (uint32_t)(l.position + limit), put_path, &l, &incomplete);
	strbuf_addc(&c->out, ']');
	uint64_t next = l.position + l.shown;
	json_put_count(&c->out, "position", l.position);
	json_put_count(&c->out, "shown", l.shown);
	json_put_count(&c->out, "there_are", there);
	bool more = next < there && l.shown;
	if (more) {
		json_put_count(&c->out, "next_position", next);
	}
	mcp_put_cut(&c->out, more || incomplete,
		    more ? "ask again with position = next_position; a trace can be opened by its path, too"
			 : "some folders could not be looked through: they are too deep, too big, or may not be read; "
			   "a trace in them can be opened by its path");
	if (incomplete) {
		json_put_truth(&c->out, "some_folders_not_looked_through", true);
	}
	strbuf_addc(&c->out, '}');
	return true;
}

static const struct mcp_param list_params[] = {
	{.name = "position",
	 .kind = MCP_PARAM_INTEGER,
	 .max = INT64_C(1000000000),
	 .help = "The first trace to show, by its number in the list (default 0). Answers say next_position."},
	{.name = "limit",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = LIST_MOST,
	 .help = "At most so many traces (default 500)."},
	{0}};
const struct mcp_tool mcp_tool_list_traces = {
	.name = "list_traces",
	.title = "List trace files",
	.help = "Lists the trace files that may be opened, with their sizes. \"default\" are those that other tools "
		"read "
		"when they are called without files.",
	.params = list_params,
	.run = run_list,
};

/* ---- open_trace ------------------------------------------------------------------------------------- */

static void put_head(struct strbuf *b, struct mcp_trace *t)
{
	const struct openetw_index_about *a = mcp_trace_about(t);
	json_put_count(b, "files", a->files);
	mcp_put_date(b, t, "start", 0);
	json_put_integer(b, "first_ns", a->first);
	json_put_integer(b, "last_ns", a->last);
	json_put_count(b, "events", a->rows);
	json_put_count(b, "events_lost", a->events_lost);
	json_put_count(b, "buffers_lost", a->buffers_lost);
	if (a->loss_unknown) {
		json_put_text(b, "more_may_be_lost",
			      a->loss_unknown == OPENETW_UNKNOWN_END_MISSING ? "the end of a file is missing"
									     : "a file was not closed");
	}
	json_put_count(b, "event_types", a->types ? a->types - a->files : 0);
	json_put_count(b, "processes", a->processes ? a->processes - a->files : 0);
	json_put_count(b, "threads", a->threads ? a->threads - a->files : 0);
	json_put_count(b, "stacks", a->stacks ? a->stacks - 1 : 0);
	json_put_count(b, "processors", a->processors);
}

static bool run_open(struct mcp_call *c)
{
	struct mcp_trace *t = mcp_trace_of(c, "files");
	if (!t) {
		return false;
	}
	strbuf_addc(&c->out, '{');
	put_head(&c->out, t);
	strbuf_addc(&c->out, '}');
	return true;
}

static const struct mcp_param open_params[] = {MCP_FILES("files"), {0}};
const struct mcp_tool mcp_tool_open_trace = {
	.name = "open_trace",
	.title = "Open a trace",
	.help = "Reads a trace for the first time, makes the index from which all other tools answer, and says how "
		"long it "
		"is, how many events it has and what was lost when it was recorded. The other tools open traces by "
		"themselves, too.",
	.params = open_params,
	.run = run_open,
};

/* ---- overview --------------------------------------------------------------------------------------- */

struct facets {
	struct mcp_call *call;
	uint64_t told, shown;
	uint32_t rest;
};

static bool put_facet(void *context, const struct openetw_facet *f)
{
	struct facets *x = context;
	struct strbuf *b = &x->call->out;
	if (!mcp_call_room(x->call)) {
		return false;
	}
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "name", f->id == UINT32_MAX ? "(all others)" : f->text);
	json_put_count(b, "events", f->count);
	json_put_integer(b, "first_ns", f->first);
	json_put_integer(b, "last_ns", f->last);
	strbuf_addc(b, '}');
	x->shown++;
	return true;
}

static bool put_facets(struct mcp_call *c, struct openetw_query *q, const char *name, enum openetw_key by,
		       uint32_t most)
{
	struct facets x = {.call = c};
	OPENETW_SIZED(struct openetw_answer, a);
	json_put_name(&c->out, name);
	strbuf_addc(&c->out, '[');
	uint32_t code = openetw_query_facets(q, by, most, put_facet, &x, &a);
	strbuf_addc(&c->out, ']');
	return code == ERROR_SUCCESS || mcp_trace_failed(c, code);
}

static bool put_histogram(struct mcp_call *c, struct openetw_query *q, int64_t from, int64_t to, uint32_t buckets)
{
	OPENETW_SIZED(struct openetw_histogram, h);
	struct strbuf *b = &c->out;
	int64_t end = to < INT64_MAX ? to + 1 : to; /* the last event counts */
	uint32_t code = openetw_query_histogram(q, from, end, buckets, OPENETW_BY_NOTHING, 1, &h);
	if (code != ERROR_SUCCESS) {
		return mcp_trace_failed(c, code);
	}
	json_put_name(b, "histogram");
	strbuf_addc(b, '{');
	json_put_integer(b, "from_ns", from);
	json_put_real(b, "bucket_ns", ((double)end - (double)from) / buckets);
	json_put_name(b, "events");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < buckets; i++) {
		json_put_count(b, NULL, h.series ? h.counts[i] : 0);
	}
	strbuf_adds(b, "]}");
	return true;
}

static bool run_overview(struct mcp_call *c)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct strbuf *b = &c->out;
	struct mcp_trace *t = mcp_trace_of(c, "files");
	uint32_t top = (uint32_t)mcp_call_integer(c, "top", 10);
	uint32_t buckets = (uint32_t)mcp_call_integer(c, "buckets", 20);
	const char *field = mcp_call_text(c, "field", NULL);
	int64_t from, to;
	struct openetw_query *q = t ? mcp_trace_query(c, t, mcp_call_text(c, "filter", NULL), "from", "to") : NULL;
	if (!q || !mcp_trace_range(c, t, "from", "to", &from, &to)) {
		openetw_query_destroy(q);
		return false;
	}
	uint32_t code = field ? openetw_query_set_field(q, field) : ERROR_SUCCESS;
	code = code == ERROR_SUCCESS ? openetw_query_count(q, &a) : code;
	strbuf_addc(b, '{');
	put_head(b, t);
	mcp_put_answer(b, &a);
	bool ok = code == ERROR_SUCCESS || mcp_trace_failed(c, code);
	if (ok && a.matched == 0) {
		mcp_trace_nothing(c, t);
	}
	ok = ok && put_facets(c, q, "providers", OPENETW_BY_PROVIDER, top) &&
	     put_facets(c, q, "event_types_top", OPENETW_BY_TYPE, top) &&
	     put_facets(c, q, "processes_top", OPENETW_BY_PROCESS, top) &&
	     put_facets(c, q, "levels", OPENETW_BY_LEVEL, top);
	ok = ok && (!field || put_facets(c, q, "field_values", OPENETW_BY_FIELD, top));
	ok = ok && (!mcp_call_room(c) || put_histogram(c, q, from, to, buckets));
	mcp_put_cut(b, !mcp_call_room(c), "ask for fewer lines (top) or a part of the trace (filter, from, to)");
	strbuf_addc(b, '}');
	openetw_query_destroy(q);
	return ok;
}

static const struct mcp_param overview_params[] = {
	MCP_FILES("files"),
	MCP_FILTER,
	MCP_RANGE,
	{.name = "top", .kind = MCP_PARAM_INTEGER, .min = 1, .max = 200, .help = "Lines of each list (default 10)."},
	{.name = "buckets",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = 1000,
	 .help = "How many equal parts of time the histogram has (default 20)."},
	{.name = "field",
	 .kind = MCP_PARAM_TEXT,
	 .help = "Also count the values of this field of the payload, such as Status or Line.Price."},
	{0}};
const struct mcp_tool mcp_tool_overview = {
	.name = "overview",
	.title = "Overview of a trace",
	.help = "What is in a trace, or in a part of it: how many events, of which providers, types, processes and "
		"levels, "
		"when (a histogram), and what was lost. The place to begin. Lists have the top "
		"ones, those with most events first.",
	.params = overview_params,
	.run = run_overview,
};
