/* SPDX-License-Identifier: MIT
 * mcp: traces for agents, by the Model Context Protocol on standard input and output.
 */
#include "tools/mcp/mcp_server.h"

#include "tools/common/path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ull << 20)

struct mcp_options {
	struct cli_words root;
	const char *exports;
	uint64_t answer, timeout, memory, threads;
};
static const struct cli_option options[] = {
	CLI_WORDS(mcp_options, root, 0, "root", "DIR", "trace files below this folder may be opened, too (repeatable)"),
	CLI_WORD(mcp_options, exports, 0, "exports", "DIR", "the tool export may write new files into this folder"),
	CLI_SIZE(mcp_options, answer, 0, "max-answer", 1024, 4, 16384,
		 "about how long an answer gets, in KB without a unit (default: 48)"),
	CLI_SECONDS(mcp_options, timeout, 0, "timeout", 1000000000ull, 86400000000000ull,
		    "how long a call may take, in seconds without a unit (default: 300)"),
	CLI_SIZE(mcp_options, memory, 0, "memory", MIB, 16, 1u << 24,
		 "memory for a query of the tool sql, in MB without a unit (default: half of the machine's)"),
	CLI_NUMBER(mcp_options, threads, 0, "threads", "N", 1, 64,
		   "threads of such a query (default: processors, at most 8)"),
	CLI_SCHEMA('M', "manifest", "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)"),
	{0},
};

static bool take_limits(struct cli_args *a, const struct mcp_options *o)
{
	char **exports = NULL, *export_word = (char *)(uintptr_t)o->exports;
	mcp_limits.answer_bytes = o->answer * 1024;
	mcp_limits.memory_bytes = o->memory * MIB;
	mcp_limits.threads = o->threads;
	mcp_limits.may.hint = "; list_traces says which there are";
	if (!allowed_begin(a, &mcp_limits.may, a->count, a->words, &o->root) ||
	    (o->exports && !allowed_whole(a, 1, &export_word, S_IFDIR, &exports))) {
		return false;
	}
	mcp_limits.exports = exports ? exports[0] : NULL;
	return true;
}

static int run(struct cli_args *a)
{
	char why[200];
	const struct mcp_options *o = a->given;
	if (a->count == 0 && o->root.count == 0) {
		return cli_usage(a, "which traces? name files, or a folder with --root DIR");
	}
	if (a->count > 1024) {
		return cli_usage(a, "at most 1024 files");
	}
	if (!json_load(why, sizeof why)) {
		return cli_tell(a, "%s", why);
	}
	if (!take_limits(a, o)) {
		return CLI_FAILED;
	}
	if (isatty(0)) {
		fprintf(stderr, "openetw mcp: waiting for messages of an agent on standard input; 'openetw help mcp' "
				"says how to "
				"let it start this program\n");
	}
	/* Nothing but messages goes to the client, whatever a library prints. */
	int out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (out < 0 || dup2(2, 1) < 0) {
		return cli_tell(a, "standard output cannot be written to: %s", strerror(errno));
	}
	cli_signals_catch();
	int status = mcp_serve(a, 0, out, o->timeout);
	cli_signals_restore();
	return status;
}

const struct cli_command cli_mcp = {
	.name = "mcp",
	.synopsis = "[FILE...] [--root DIR] [options]",
	.summary = "Let an agent ask traces: the Model Context Protocol.",
	.details = "Speaks the Model Context Protocol on standard input and output: an agent's program starts it and "
		   "calls its\n"
		   "tools: list_traces, open_trace, overview, find_events, get_event, provider_schema, sql, "
		   "sql_tables, report,\n"
		   "waits, stacks, compare and, with --exports, export. Versions 2024-11-05 to 2026-07-28 of the "
		   "protocol.\n\n"
		   "It reads these files and those below the folders of --root, and no other trace. It writes nothing "
		   "but the\n"
		   "indexes of big traces (openetw index) and, with --exports, what the tool export makes. Answers are "
		   "bounded,\n"
		   "and say what was left out. docs/mcp.md has more.\n\n"
		   "Examples:\n"
		   "  openetw mcp web.etl\n"
		   "  openetw mcp --root ~/traces --exports ~/exports\n"
		   "  claude mcp add traces -- openetw mcp --root ~/traces\n",
	.options = options,
	CLI_INTO(mcp_options),
	.defaults = &(const struct mcp_options){.answer = 48, .timeout = 300000000000ull},
	.run = run,
	.complete = "file",
};
