/* SPDX-License-Identifier: MIT
 * merge: several .etl files become one.
 */
#include "cli/view/trace.h"

#include <openetw/decode.h>

static const struct cli_option options[] = {
	{'o', "output", "FILE", "the file to write", NULL},
	{'c', "compress", NULL, "compress its buffers (XPRESS, as Windows' tools do)", NULL},
	{0},
};

static bool progress(void *ctx, uint64_t events)
{
	cli_progress_show(ctx, "%llu events", (unsigned long long)events);
	return !cli_signal_caught();
}

static int run(struct cli_args *a)
{
	const char *out = cli_value(a, "output", NULL);
	struct cli_progress p;
	if (a->count == 0 || !out) {
		return cli_usage(a, a->count ? "where to? --output FILE" : "which files?");
	}
	cli_progress_start(&p, true);
	cli_signals_catch();
	uint32_t code = openetw_merge((const char *const *)a->words, (uint32_t)a->count, out,
				      cli_flag(a, "compress") ? OPENETW_MERGE_COMPRESS : 0, progress,
				      &p);
	int signal = cli_signal_caught();
	cli_signals_restore();
	cli_progress_end(&p);
	if (code == ERROR_CANCELLED && signal) {
		fprintf(stderr, "openetw merge: interrupted; %s holds what was read so far\n", out);
		return 128 + signal;
	}
	if (code) {
		return cli_fail(a, code, "cannot merge into %s", out);
	}
	cli_warn_unknown(a, a->count, a->words);
	(void)openetw_trace_describe(out, NULL); /* as merges do on Windows; it is whole without */
	return CLI_OK;
}

const struct cli_command cli_merge = {
	.name = "merge",
	.synopsis = "FILE… -o FILE [--compress]",
	.summary = "Write the events of several .etl files into one, in the order of time.",
	.details =
		"Up to 1024 files. Events keep their bytes and time stamps; a file whose clock differs from the first\n"
		"one's has its times converted. The header is the first file's, with the earliest start, the latest\n"
		"end and the sum of what was lost.\n\n"
		"Examples:\n"
		"  openetw merge cpu.etl app.etl -o both.etl\n"
		"  openetw merge big.etl -o small.etl --compress     compress one file\n"
		"  openetw merge small.etl -o plain.etl              and expand it again\n",
	.options = options,
	.run = run,
	.complete = "file",
};
