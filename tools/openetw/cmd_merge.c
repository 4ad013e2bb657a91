/* SPDX-License-Identifier: MIT
 * merge: several .etl files become one.
 */
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"

static const struct cli_option options[] = {
	{'o', "output", "FILE", "the file to write", NULL},
	CLI_COMPRESS_OPTION,
	CLI_FORCE_OPTION,
	{0},
};

static int run(struct cli_args *a)
{
	const char *out = cli_value(a, "output", NULL);
	if (a->count == 0 || !out) {
		return cli_usage(a, a->count ? "where to? --output FILE" : "which files?");
	}
	if (strcmp(cli_value(a, "compress", ""), "zstd") == 0) {
		return cli_usage(a, "zstd is for sessions (start, run); merge compresses with xpress");
	}
	int status =
		cli_merge_files(a, (const char *const *)a->words, (uint32_t)a->count, out, cli_flag(a, "compress"));
	if (status == CLI_OK) {
		cli_warn_unknown(a, a->count, a->words);
	}
	return status;
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
