/* SPDX-License-Identifier: MIT
 * sql, sql_tables, waits, report, export: what other verbs of openetw do, too.
 */
#include "tools/mcp/mcp_tool.h"

#include "tools/export/export.h"
#include "tools/tables/table_make.h"
#include "tools/openetw/sql_ready.h"

#include <stdlib.h>
#include <unistd.h>

#define ROWS_PARAM                                                                    \
	{                                                                             \
		.name = "max_rows", .kind = MCP_PARAM_INTEGER, .min = 1, .max = 5000, \
		.help = "At most so many rows of each result (default 100)."          \
	}

/* 'text' of SQL */
static void put_quoted(struct strbuf *b, const char *text, char quote)
{
	strbuf_addc(b, quote);
	for (const char *p = text; *p; p++) {
		if (*p == quote) {
			strbuf_addc(b, quote);
		}
		strbuf_addc(b, *p);
	}
	strbuf_addc(b, quote);
}

static bool ask(struct mcp_call *c, struct mcp_trace *t, struct strbuf *query)
{
	bool ok = query->failed ? (cli_tell(c->args, "no memory"), false)
				: mcp_trace_sql(c, t, query->s, (uint64_t)mcp_call_integer(c, "max_rows", 100));
	strbuf_finish(query);
	return ok;
}

/* ---- sql -------------------------------------------------------------------------------------------- */

static bool run_sql(struct mcp_call *c)
{
	struct mcp_trace *t = mcp_trace_of(c, "files");
	return t && mcp_trace_sql(c, t, mcp_call_text(c, "query", ""), (uint64_t)mcp_call_integer(c, "max_rows", 100));
}

static const struct mcp_param sql_params[] = {MCP_FILES("files"),
					      {.name = "query",
					       .kind = MCP_PARAM_TEXT,
					       .required = true,
					       .help = "A query in DuckDB's SQL, e.g. select provider, event, count(*) "
						       "as n from events group by all order by n "
						       "desc limit 10"},
					      ROWS_PARAM,
					      {0}};
const struct mcp_tool mcp_tool_sql = {
	.name = "sql",
	.title = "Ask in SQL",
	.help = "Runs a query of DuckDB's SQL over a trace. The table events has time, provider, event, process, pid, "
		"process_name, thread, tid, cpu, level, id, version, opcode, task, keyword, type, stack, file; "
		"sql_tables "
		"says the columns of the others; \"Provider/Event\" in double quotes is a table, too, whose columns "
		"are "
		"the fields of its payload. Times and durations are nanoseconds, "
		"time 0 is the start of the trace; time_text(t) makes a date of one, stack_text(id) the functions of a "
		"stack. Each table may be read in part: events(t0 := 1000000000, t1 := 2000000000, provider := "
		"'Shop'). "
		"Rows have no order without ORDER BY. Nothing can be written or read but the trace. All tables: ",
	.names = table_make_names,
	.params = sql_params,
	.run = run_sql,
};

/* ---- sql_tables ------------------------------------------------------------------------------------- */

static bool run_tables(struct mcp_call *c)
{
	struct strbuf q = {0};
	const char *table = mcp_call_text(c, "table", NULL);
	struct mcp_trace *t = mcp_trace_of(c, "files");
	if (!t) {
		return false;
	}
	if (table) {
		strbuf_adds(&q, "select column_name, column_type from (describe ");
		put_quoted(&q, table, '"');
		strbuf_adds(&q, ")");
		return ask(c, t, &q);
	}
	struct strbuf *b = &c->out;
	OPENETW_SIZED(struct openetw_index_type, type);
	const struct openetw_index_about *a = mcp_trace_about(t);
	uint32_t shown = 0, there = 0;
	strbuf_adds(b, "{\"tables\":[");
	for (const char *const *name = table_make_names(); *name; name++) {
		json_put_text(b, NULL, *name);
	}
	strbuf_adds(b, "],\"event_tables\":[");
	for (uint32_t i = 0; i < a->types; i++) {
		if (openetw_index_type(mcp_trace_index(t), i, &type) != ERROR_SUCCESS || type.rows == 0) {
			continue;
		}
		there++;
		if (mcp_call_room(c)) {
			struct strbuf name = {0};
			strbuf_addf(&name, "%s/%s", type.provider, type.name);
			json_put_comma(b);
			strbuf_addc(b, '{');
			json_put_text(b, "table", name.failed ? NULL : name.s);
			json_put_count(b, "version", type.version);
			json_put_count(b, "rows", type.rows);
			strbuf_addc(b, '}');
			strbuf_finish(&name);
			shown++;
		}
	}
	strbuf_addc(b, ']');
	json_put_count(b, "there_are", there);
	mcp_put_cut(b, shown < there,
		    "select provider, event, events from event_types, with LIMIT and OFFSET, lists them all");
	strbuf_addc(b, '}');
	return true;
}

static const struct mcp_param tables_params[] = {MCP_FILES("files"),
						 {.name = "table",
						  .kind = MCP_PARAM_TEXT,
						  .help = "A table, e.g. waits or MyCompany.Shop/Sold: its columns and "
							  "their types. Without it: all tables, and the "
							  "events of the trace that are tables."},
						 ROWS_PARAM,
						 {0}};
const struct mcp_tool mcp_tool_sql_tables = {
	.name = "sql_tables",
	.title = "Tables and columns for sql",
	.help = "Which tables sql can ask of this trace, or the columns of one of them.",
	.params = tables_params,
	.run = run_tables,
};

/* ---- waits ------------------------------------------------------------------------------------------ */

static const char *const wait_heads[] = {
	"select start, duration, kind, process_name, pid, tid, reason, woken_by, waker_process_name, waker_pid, "
	"waker_tid, "
	"ready, stack from waits where ",
	"select process_name, pid, coalesce(woken_by, '(not told)') as woken_by, waker_process_name, waker_pid, "
	"count(*) "
	"as waits, sum(duration) as duration, max(duration) as longest from waits where ",
	"select process_name, pid, tid, count(*) as waits, sum(duration) as duration, max(duration) as longest, "
	"sum(ready) as ready from waits where ",
	"select stack_text(stack) as stack, count(*) as waits, sum(duration) as duration, max(duration) as longest "
	"from "
	"waits where stack is not null and ",
};
static const char *const wait_tails[] = {
	" order by duration desc, start limit ",
	" group by all order by duration desc, pid limit ",
	" group by all order by duration desc, tid limit ",
	" group by all order by duration desc, stack limit ",
};

static bool run_waits(struct mcp_call *c)
{
	struct strbuf q = {0};
	struct mcp_trace *t = mcp_trace_of(c, "files");
	const char *process = mcp_call_text(c, "process", NULL);
	int64_t pid = mcp_call_integer(c, "pid", -1), tid = mcp_call_integer(c, "tid", -1), from, to;
	int by = mcp_call_choice(c, "by", 0);
	if (!t || !mcp_trace_range(c, t, "from", "to", &from, &to)) {
		return false;
	}
	strbuf_adds(&q, wait_heads[by]);
	strbuf_addf(&q, "duration >= %lld and start between %lld and %lld",
		    (long long)(mcp_call_real(c, "min_ms", 0) * 1e6), (long long)from, (long long)to);
	if (!mcp_call_truth(c, "preempted", false)) {
		strbuf_adds(&q, " and kind = 'wait'");
	}
	if (pid < 0 && tid < 0 && !process) {
		strbuf_adds(&q, " and pid <> 0");
	}
	if (process) {
		strbuf_adds(&q, " and lower(process_name) = lower(");
		put_quoted(&q, process, '\'');
		strbuf_adds(&q, ")");
	}
	if (pid >= 0) {
		strbuf_addf(&q, " and pid = %lld", (long long)pid);
	}
	if (tid >= 0) {
		strbuf_addf(&q, " and tid = %lld", (long long)tid);
	}
	strbuf_addf(&q, "%s%lld", wait_tails[by], (long long)mcp_call_integer(c, "max_rows", 100));
	return ask(c, t, &q);
}

static const struct mcp_param waits_params[] = {
	MCP_FILES("files"),
	MCP_RANGE,
	{.name = "process",
	 .kind = MCP_PARAM_TEXT,
	 .help = "Only threads of processes of this name (all of it, any case)."},
	{.name = "pid", .kind = MCP_PARAM_INTEGER, .max = UINT32_MAX, .help = "Only threads of this process."},
	{.name = "tid", .kind = MCP_PARAM_INTEGER, .max = UINT32_MAX, .help = "Only this thread."},
	{.name = "min_ms",
	 .kind = MCP_PARAM_REAL,
	 .max = INT64_C(1000000000),
	 .help = "Only waits of at least so many ms."},
	{.name = "preempted",
	 .kind = MCP_PARAM_TRUTH,
	 .help = "Also when a thread could have run and others did (default false)."},
	{.name = "by",
	 .kind = MCP_PARAM_CHOICE,
	 .values = "longest|waker|thread|stack",
	 .help = "longest: single waits (default). waker: added up by who or what ended them. thread: by the thread "
		 "that "
		 "waited. stack: by where it waited."},
	ROWS_PARAM,
	{0}};
const struct mcp_tool mcp_tool_waits = {
	.name = "waits",
	.title = "Waits and wakers",
	.help = "What threads waited for, how long (nanoseconds), and who woke them. Needs a trace with context "
		"switches. To "
		"follow a chain, ask for the waits of waker_tid before that time.",
	.params = waits_params,
	.run = run_waits,
};

/* ---- report ----------------------------------------------------------------------------------------- */

/* The tables of openetw report are objects, one a line. */
static bool put_lines(struct mcp_call *c, const struct strbuf *lines, bool cut)
{
	struct strbuf *b = &c->out;
	char why[100];
	strbuf_adds(b, "{\"lines\":[");
	uint64_t shown = 0;
	for (size_t at = 0; at < lines->len;) {
		const char *p = lines->s + at, *end = memchr(p, '\n', lines->len - at);
		size_t n = end ? (size_t)(end - p) : lines->len - at;
		struct json_value *v = mcp_call_room(c) ? json_parse(p, n, why, sizeof why) : NULL;
		if (v) {
			json_put_comma(b);
			strbuf_add(b, p, n);
			shown++;
		}
		cut = cut || (n > 0 && !v);
		json_free(v);
		at += n + 1;
	}
	strbuf_addc(b, ']');
	json_put_count(b, "line_count", shown);
	mcp_put_cut(b, cut, "ask for fewer lines (top, limit), one process (pid, filter), or one question (name)");
	strbuf_addc(b, '}');
	return !b->failed;
}

#define WORDS_MAX 1064

struct words {
	char *word[WORDS_MAX];
	char text[6][64];
	int count;
	char *owned[1024]; /* paths of files, which are the last words, and what they led to when they were looked up */
	int fds[1024];
	int owned_count;
};

static void add_word(struct words *w, const char *s)
{
	if (w->count < WORDS_MAX - 1) {
		w->word[w->count++] = (char *)(uintptr_t)s;
		w->word[w->count] = NULL;
	}
}

/* The files of the call, which may be opened. False: said why. */
static bool add_files(const struct mcp_call *c, struct words *w, const char *param)
{
	const struct json_value *given = json_member(c->given, param);
	size_t n = json_count(given);
	const char *path;
	if (n == 0 && mcp_limits.may.file_count == 0) {
		cli_tell(c->args, "%s needs '%s': which trace? list_traces says which there are", c->tool->name, param);
		return false;
	}
	size_t count = n ? n : (size_t)mcp_limits.may.file_count;
	for (size_t i = 0; i < count && w->owned_count < (int)BASE_ARRAY_LEN(w->fds); i++) {
		char *whole = NULL;
		path = n ? NULL : mcp_limits.may.files[i];
		if (n) {
			json_text(json_at(given, i), &path);
		}
		int fd = path ? allowed_open(c->args, &mcp_limits.may, path, &whole) : -1;
		if (fd < 0) {
			return false;
		}
		w->fds[w->owned_count] = fd;
		w->owned[w->owned_count++] = whole;
		add_word(w, whole);
	}
	return true;
}

static void free_words(struct words *w)
{
	while (w->owned_count > 0) {
		w->owned_count--;
		base_close(&w->fds[w->owned_count]);
		free(w->owned[w->owned_count]);
	}
}

static bool run_ready(struct mcp_call *c, const char *name)
{
	struct sql_ready r;
	struct strbuf text = {0};
	struct mcp_trace *t = mcp_trace_of(c, "files");
	if (!t) {
		return false;
	}
	if (!sql_ready_find(name, &r)) {
		strbuf_finish(&text);
		cli_tell(c->args, "report: there is no question '%.60s'; without a name it says which there are", name);
		return false;
	}
	strbuf_add(&text, r.text, r.bytes);
	return ask(c, t, &text);
}

static bool run_names(struct mcp_call *c)
{
	struct sql_ready r;
	strbuf_adds(&c->out,
		    "{\"names\":[{\"name\":\"summary\",\"question\":\"The tables of openetw report: processors by "
		    "process, thread and function, waits, disks, files, connections, faults, system calls\"}");
	for (unsigned i = 0; sql_ready_at(i, &r); i++) {
		json_put_comma(&c->out);
		strbuf_addc(&c->out, '{');
		json_put_text(&c->out, "name", r.name);
		json_put_text(&c->out, "question", r.question);
		strbuf_addc(&c->out, '}');
	}
	strbuf_adds(&c->out, "],\"how_to_go_on\":\"call report with one of these names\"}");
	return true;
}

static bool run_report(struct mcp_call *c)
{
	static struct words w;
	struct strbuf lines = {0};
	bool cut = false;
	const char *name = mcp_call_text(c, "name", NULL);
	int64_t pid = mcp_call_integer(c, "pid", -1);
	if (!name) {
		return run_names(c);
	}
	if (strcmp(name, "summary") != 0) {
		return run_ready(c, name);
	}
	w = (struct words){0};
	add_word(&w, "openetw");
	add_word(&w, "report");
	add_word(&w, "--json");
	snprintf(w.text[0], sizeof w.text[0], "--top=%lld", (long long)mcp_call_integer(c, "top", 10));
	add_word(&w, w.text[0]);
	if (pid >= 0) {
		snprintf(w.text[1], sizeof w.text[1], "--pid=%lld", (long long)pid);
		add_word(&w, w.text[1]);
	}
	add_word(&w, "--");
	bool ok = add_files(c, &w, "files");
	int status = ok ? mcp_child_run(c->args, w.word, w.fds, w.owned_count, 2 * c->budget, &lines, &cut) : -1;
	ok = ok && status == 0 && put_lines(c, &lines, cut);
	strbuf_finish(&lines);
	free_words(&w);
	return ok;
}

static const struct mcp_param report_params[] = {
	MCP_FILES("files"),
	{.name = "name",
	 .kind = MCP_PARAM_TEXT,
	 .help = "Which report: summary, or the name of a ready question such as cpu-by-process, longest-waits, "
		 "disk-by-file. Without it the answer is the list of names."},
	{.name = "pid", .kind = MCP_PARAM_INTEGER, .max = UINT32_MAX, .help = "summary: only this process."},
	{.name = "top",
	 .kind = MCP_PARAM_INTEGER,
	 .min = 1,
	 .max = 1000,
	 .help = "summary: lines of each table (default 10)."},
	ROWS_PARAM,
	{0}};
const struct mcp_tool mcp_tool_report = {
	.name = "report",
	.title = "Ready reports",
	.help = "Where the time of processors, disks, files and connections went, and what threads waited for: the "
		"summary of a "
		"trace with kernel events, or one of the ready questions (CPU by process or function, longest waits, "
		"wakers, slowest opens, pauses of .NET, error bursts, …).",
	.params = report_params,
	.run = run_report,
};

/* --from or --to of a time of the trace. */
static void add_time(struct words *w, int at, const char *option, int64_t time)
{
	snprintf(w->text[at], sizeof w->text[at], "--%s=+%lldns", option, (long long)time);
	add_word(w, w->text[at]);
}

/* ---- compare, of a table ---------------------------------------------------------------------------- */

/* What is compared of a table: the first number is what it is sorted by. */
static const struct {
	const char *table, *columns, *group_by;
} compared[] = {
	{"spans", "sum(duration),count,p50(duration),p90(duration),p99(duration),max(duration)", NULL},
	{"io", "sum(duration),count,sum(bytes),p50(duration),p90(duration),p99(duration),max(duration)", NULL},
	{"waits", "sum(duration),count,p50(duration),p90(duration),p99(duration),max(duration)", NULL},
	{"cpu", "sum(running),count,sum(ready),p50(running),p90(running),p99(running),max(running)", NULL},
	{"samples", "count", "process_name,function"},
};

/* Adds --from and --to, or with a prefix ("new-") other options of the same two. `at` is the first of two texts of `w` that are
 * free. False: said why. */
static bool add_range(struct mcp_call *c, struct words *w, int at, const char *prefix, const char *files,
		      const char *first, const char *last)
{
	char option[2][16];
	int64_t from, to;
	if (!json_member(c->given, first) && !json_member(c->given, last)) {
		return true;
	}
	struct mcp_trace *t = mcp_trace_of(c, files);
	if (!t || !mcp_trace_range(c, t, first, last, &from, &to)) {
		return false;
	}
	snprintf(option[0], sizeof option[0], "%sfrom", prefix);
	snprintf(option[1], sizeof option[1], "%sto", prefix);
	if (json_member(c->given, first) && (from > 0 || *prefix)) {
		add_time(w, at, option[0], BASE_MAX(from, (int64_t)0));
	}
	if (json_member(c->given, last)) {
		add_time(w, at + 1, option[1], BASE_MAX(to, (int64_t)0));
	}
	return true;
}

bool mcp_compare_table(struct mcp_call *c, const char *table)
{
	static struct words w;
	struct strbuf lines = {0}, filter = {0}, by = {0};
	bool cut = false;
	size_t at = 0;
	while (strcmp(compared[at].table, table) != 0) {
		at++;
	}
	const char *group_by = mcp_call_text(c, "group_by", compared[at].group_by);
	if (json_member(c->given, "by") || json_member(c->given, "field")) {
		cli_tell(c->args, "compare with 'table' takes group_by instead of by and field");
		return false;
	}
	const char *other = json_member(c->given, "other_files") ? "other_files" : "files";
	if (strcmp(other, "files") == 0 && !json_member(c->given, "other_from") && !json_member(c->given, "other_to")) {
		cli_tell(c->args,
			 "compare with 'table' needs 'other_files', or 'other_from' and 'other_to' of the same trace: "
			 "what to compare with?");
		return false;
	}
	w = (struct words){0};
	const char *const head[] = {"openetw", "diff", "--json", "--table", table, "--columns", compared[at].columns};
	for (size_t i = 0; i < BASE_ARRAY_LEN(head); i++) {
		add_word(&w, head[i]);
	}
	snprintf(w.text[2], sizeof w.text[2], "--top=%lld", (long long)mcp_call_integer(c, "limit", 30));
	add_word(&w, w.text[2]);
	strbuf_addf(&filter, "--filter=%s", mcp_call_text(c, "filter", ""));
	strbuf_addf(&by, "--group-by=%s", group_by ? group_by : "");
	if (mcp_call_text(c, "filter", NULL)) {
		add_word(&w, filter.s);
	}
	if (group_by) {
		add_word(&w, by.s);
	}
	/* The times of the other count from its own start. Where none is given they are those of the first one. */
	bool ok = !filter.failed && !by.failed && add_range(c, &w, 0, "", "files", "from", "to") &&
		  add_range(c, &w, 3, "new-", other, "other_from", "other_to");
	add_word(&w, "--");
	ok = ok && add_files(c, &w, "files") && add_files(c, &w, other);
	if (ok && w.owned_count != 2) {
		ok = false;
		cli_tell(c->args, "compare with 'table' takes one trace in files and one in other_files");
	}
	ok = ok && mcp_child_run(c->args, w.word, w.fds, w.owned_count, 2 * c->budget, &lines, &cut) == 0 &&
	     put_lines(c, &lines, cut);
	strbuf_finish(&lines);
	strbuf_finish(&filter);
	strbuf_finish(&by);
	free_words(&w);
	return ok;
}

/* ---- export ----------------------------------------------------------------------------------------- */

static bool export_offered(void)
{
	return mcp_limits.exports && cli_find("export");
}

static bool plain_name(const char *s)
{
	size_t n = strlen(s);
	return n > 0 && n < 200 && s[0] != '.' && s[0] != '-' && !strpbrk(s, "/\\");
}

static bool run_export(struct mcp_call *c)
{
	static struct words w;
	struct strbuf said = {0}, out = {0}, filter = {0};
	const char *name = mcp_call_text(c, "name", "");
	struct mcp_trace *t = mcp_trace_of(c, "files");
	int64_t from, to;
	bool cut = false;
	if (!t || !mcp_trace_range(c, t, "from", "to", &from, &to)) {
		return false;
	}
	if (!plain_name(name)) {
		cli_tell(c->args,
			 "'name' is to be a file's name without a folder: it is written into the folder for exports");
		return false;
	}
	strbuf_addf(&out, "%s/%s", mcp_limits.exports, name);
	strbuf_addf(&filter, "--filter=%s", mcp_call_text(c, "filter", ""));
	if (!out.failed && access(out.s, F_OK) == 0) {
		cli_tell(c->args, "there is a file '%s' already; choose another name", name);
		strbuf_finish(&out);
		strbuf_finish(&filter);
		return false;
	}
	w = (struct words){0};
	const char *const head[] = {"openetw", "export", "--quiet", "--as", mcp_call_text(c, "kind", ""), "-o", out.s};
	for (size_t i = 0; i < BASE_ARRAY_LEN(head); i++) {
		add_word(&w, head[i]);
	}
	if (mcp_call_text(c, "filter", NULL)) {
		add_word(&w, filter.s);
	}
	if (json_member(c->given, "from") && from > 0) {
		add_time(&w, 0, "from", from);
	}
	if (json_member(c->given, "to")) {
		add_time(&w, 1, "to", BASE_MAX(to, (int64_t)0));
	}
	add_word(&w, "--");
	bool ok = !out.failed && !filter.failed && add_files(c, &w, "files") &&
		  mcp_child_run(c->args, w.word, w.fds, w.owned_count, c->budget, &said, &cut) == 0;
	if (ok) {
		strbuf_addc(&c->out, '{');
		json_put_text(&c->out, "written", out.s);
		strbuf_addc(&c->out, '}');
	}
	strbuf_finish(&said);
	strbuf_finish(&out);
	strbuf_finish(&filter);
	free_words(&w);
	return ok;
}

static const struct mcp_param export_params[] = {
	MCP_FILES("files"),
	{.name = "kind",
	 .kind = MCP_PARAM_CHOICE,
	 .required = true,
	 .values = EXPORT_NAMES,
	 .help = "The form: perfetto (ui.perfetto.dev), pprof, speedscope, folded (flame graphs), gecko "
		 "(profiler.firefox.com), etl (a smaller trace), csv, json, …"},
	{.name = "name",
	 .kind = MCP_PARAM_TEXT,
	 .required = true,
	 .help = "The name of the file, without a folder. Earlier files are not overwritten."},
	MCP_FILTER,
	MCP_RANGE,
	{0}};
const struct mcp_tool mcp_tool_export = {
	.name = "export",
	.title = "Export events",
	.help = "Writes events in the form of another program, into the folder that the user chose for exports.",
	.params = export_params,
	.run = run_export,
	.offered = export_offered,
	.writes = true,
};
