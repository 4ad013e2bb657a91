/* SPDX-License-Identifier: MIT
 * dump: print the events of .etl files.
 */
#include "cli/trace.h"

static const struct cli_option options[] = {
	CLI_PRINT_OPTIONS,
	{'q', "quiet", NULL, "no summary line on stderr", NULL},
	{0},
};

static void event(void *ctx, const EVENT_RECORD *e)
{
	cli_printer_event(ctx, e);
}

static int run(struct cli_args *a)
{
	struct cli_trace t = {.args = a, .event = event};
	if (a->count == 0 || a->count > 64) {
		return cli_usage(a, a->count ? "at most 64 files" : "which file?");
	}
	if (!cli_number(a, "limit", 1, UINT64_MAX, &t.limit)) {
		return CLI_USAGE;
	}
	struct cli_printer *p = cli_printer_create(a);
	if (!p) {
		return CLI_USAGE;
	}
	t.ctx = p;
	if (!cli_trace_open(&t, a->count, a->words, NULL)) {
		cli_printer_destroy(p);
		return CLI_FAILED;
	}
	uint32_t code = cli_trace_run(&t);
	int status = CLI_OK;
	if (code) {
		status = cli_fail(a, code, "stopped after %llu events", (unsigned long long)t.events);
	}
	if (!cli_flag(a, "quiet")) {
		fflush(stdout);
		fprintf(stderr, "%llu events; lost when recorded: %llu events, %llu buffers\n",
			(unsigned long long)cli_printer_count(p), (unsigned long long)t.lost_events,
			(unsigned long long)t.lost_buffers);
	}
	cli_printer_destroy(p);
	return status;
}

const struct cli_command cli_dump = {
	.name = "dump",
	.synopsis = "FILE… [--format text|json|csv]",
	.summary = "Print the events of .etl files in the order they happened.",
	.details = "Several files are merged by time. Examples:\n"
		   "  openetw dump web.etl\n"
		   "  openetw dump --json web.etl | jq 'select(.meta.level <= 2)'\n",
	.options = options,
	.run = run,
	.complete = "file",
};
