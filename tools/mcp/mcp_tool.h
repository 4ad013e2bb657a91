/* SPDX-License-Identifier: MIT
 *
 * A tool of openetw mcp, and one call of it. A tool is a file ending in a const table entry: its parameters are rows, from
 * which come the JSON schema that clients see, the checks of what they send, and the words about mistakes.
 *
 * A tool runs in the worker (mcp_worker.h). It writes one JSON object into call->out, of at most about call->budget
 * bytes, and says there what it left out and how to get it; or it writes its reason to stderr, as verbs do, and returns
 * false. What it writes to stderr beside an answer becomes the member "notes".
 */
#ifndef TOOLS_MCP_MCP_TOOL_H
#define TOOLS_MCP_MCP_TOOL_H

#include "tools/common/cli.h"
#include "tools/common/allowed.h"
#include "tools/common/json_put.h"
#include "tools/common/json_read.h"

#include <openetw/query.h>

enum mcp_param_kind {
	MCP_PARAM_TEXT,
	MCP_PARAM_TEXTS,   /* an array of texts */
	MCP_PARAM_INTEGER, /* min to max */
	MCP_PARAM_REAL,
	MCP_PARAM_TRUTH,
	MCP_PARAM_CHOICE, /* one of "a|b|c" */
	MCP_PARAM_TIME,   /* nanoseconds from the start of the trace, or "1.5s", or a date */
};
struct mcp_param {
	const char *name; /* NULL ends the list */
	enum mcp_param_kind kind;
	const char *help;
	bool required;
	int64_t min, max;
	const char *values;
};
struct mcp_call;
struct mcp_tool {
	const char *name, *title, *help;
	const struct mcp_param *params;
	const char *const *(*names)(void); /* a list that `help` ends with; NULL: none */
	bool (*run)(struct mcp_call *c);
	bool (*offered)(void); /* NULL: always */
	bool writes;           /* a file, in the folder for exports */
};
extern const struct mcp_tool *const mcp_tools[]; /* NULL-terminated; not all need be offered */
const struct mcp_tool *mcp_tool_find(const char *name);
const char *mcp_tool_nearest(const char *name); /* NULL: none comes near */
/* The result of tools/list: a JSON array. */
void mcp_tool_list(struct strbuf *b);

struct mcp_trace;
struct mcp_call {
	const struct mcp_tool *tool;
	const struct json_value *given; /* an object; NULL: none were given */
	const struct cli_args *args;    /* for what verbs say about failures */
	struct strbuf out;
	size_t budget;
};
/* Are all arguments known, of their types, within their bounds, and none missing? False: said why. */
bool mcp_call_check(const struct mcp_call *c);
/* An argument, or what stands for one that is absent. The parameter must be in the tool's list. */
const char *mcp_call_text(const struct mcp_call *c, const char *name, const char *absent);
int64_t mcp_call_integer(const struct mcp_call *c, const char *name, int64_t absent);
double mcp_call_real(const struct mcp_call *c, const char *name, double absent);
bool mcp_call_truth(const struct mcp_call *c, const char *name, bool absent);
/* "cut":…, and where it is, "how_to_go_on". */
void mcp_put_cut(struct strbuf *b, bool cut, const char *how);
/* Is there room for more of the answer? */
static inline bool mcp_call_room(const struct mcp_call *c)
{
	return c->out.len < c->budget && !c->out.failed;
}
/* Which of a|b|c; `absent` when it was not given. */
int mcp_call_choice(const struct mcp_call *c, const char *name, int absent);

/* ---- traces ----------------------------------------------------------------------------------------- */

/* The parameter "files", and what every answer about times needs. */
#define MCP_FILES(name_)                                                                                              \
	{                                                                                                             \
		.name = name_, .kind = MCP_PARAM_TEXTS,                                                               \
		.help = "Trace files (.etl), as list_traces names them. Several are one trace. May be left out when " \
			"the server was started with files."                                                          \
	}
#define MCP_RANGE                                                                                              \
	{.name = "from",                                                                                       \
	 .kind = MCP_PARAM_TIME,                                                                               \
	 .help = "Only events at or after this time: nanoseconds since the start of the trace, a text with a " \
		 "unit (\"1.5s\", \"250ms\") or a date (\"2026-03-01T12:34:56Z\")."},                          \
	{                                                                                                      \
		.name = "to", .kind = MCP_PARAM_TIME, .help = "Only events at or before this time."            \
	}
#define MCP_FILTER                                                                                                   \
	{                                                                                                            \
		.name = "filter", .kind = MCP_PARAM_TEXT,                                                            \
		.help = "Only events for which this is true, e.g. provider == Contoso-Web and level <= warning and " \
			"Status >= 500. Fields: provider event id level opcode task keywords pid process tid cpu "   \
			"time "                                                                                      \
			"activity, and those of the payload. Operators: == != < <= > >= ~ (contains) =~ /regex/ in " \
			"(a, b) and or not."                                                                         \
	}

/* One of the traces that the worker has open: table_make.h's maker with its index, and a client of DuckDB. */
struct mcp_trace;
/* Opens what the call names under "files" (or another name), or has it open. NULL: said why. */
struct mcp_trace *mcp_trace_of(const struct mcp_call *c, const char *param);
struct table_maker *mcp_trace_maker(struct mcp_trace *t); /* its index is made */
struct openetw_index *mcp_trace_index(struct mcp_trace *t);
const struct openetw_index_about *mcp_trace_about(struct mcp_trace *t);
/* A query of all events, which tells how much of them it has looked at and ends when the call is cancelled. NULL: said why. */
struct openetw_query *mcp_trace_all(const struct mcp_call *c, struct mcp_trace *t);
/* A query with the call's filter and range. NULL: said why. To be destroyed. */
struct openetw_query *mcp_trace_query(const struct mcp_call *c, struct mcp_trace *t, const char *filter,
				      const char *from, const char *to);
/* The range that the call asks for, else all. False: said why. */
bool mcp_trace_range(const struct mcp_call *c, struct mcp_trace *t, const char *from, const char *to, int64_t *ret_from,
		     int64_t *ret_to);
/* The failure of a question: said. Returns false. */
bool mcp_trace_failed(const struct mcp_call *c, uint32_t code);
/* No event fits the call's filter: says what in it does not occur, with the nearest name. */
void mcp_trace_nothing(const struct mcp_call *c, struct mcp_trace *t);
/* What an answer says of itself, behind a comma. */
void mcp_put_answer(struct strbuf *b, const struct openetw_answer *a);
/* "2026-03-01T…" of a time of the index */
void mcp_put_date(struct strbuf *b, struct mcp_trace *t, const char *name, int64_t time);
void mcp_trace_close_all(void);

/* DuckDB's rows into {"columns":…,"rows":…}. */
bool mcp_trace_sql(struct mcp_call *c, struct mcp_trace *t, const char *text, uint64_t most_rows);

/* compare, of a table of durations: spans, io, waits, cpu, samples. */
#define MCP_COMPARED "spans|io|waits|cpu|samples"
bool mcp_compare_table(struct mcp_call *c, const char *table);

/* ---- what may be opened ----------------------------------------------------------------------------- */

struct mcp_limits {
	struct allowed may;
	const char *exports; /* NULL: nothing may be written */
	size_t answer_bytes;
	uint64_t memory_bytes, threads;
};
extern struct mcp_limits mcp_limits;
/* Runs a verb of this program in a child, and appends what it prints, at most `most` bytes; true in *ret_cut: it
 * printed more. The last words of it are files, and it reads those of these descriptors, whatever the names lead to by
 * then. Its status; -1: it could not be started, or was interrupted, and that was said. */
int mcp_child_run(const struct cli_args *a, char *const *words, const int *files, int file_count, size_t most,
		  struct strbuf *out, bool *ret_cut);

#endif
