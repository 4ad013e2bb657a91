/* SPDX-License-Identifier: MIT
 * merge: several .etl files become one.
 */
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"

struct merge_options {
	const char *output;
	enum cli_compress compress;
};
static const struct cli_option options[] = {
	CLI_WORD(merge_options, output, 'o', "output", "FILE", "the file to write"),
	CLI_COMPRESS_OPTION(merge_options, compress),
	CLI_FORCE_OPTION,
	{0},
};

static int run(struct cli_args *a)
{
	const struct merge_options *o = a->given;
	if (a->count == 0 || !o->output) {
		return cli_usage(a, a->count ? "where to? --output FILE" : "which files?");
	}
	if (o->compress == CLI_COMPRESS_ZSTD) {
		return cli_usage(a, "zstd is for sessions (start, run); merge compresses with xpress");
	}
	int status = cli_merge_files(a, (const char *const *)a->words, (uint32_t)a->count, o->output,
				     o->compress != CLI_COMPRESS_NO);
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
	CLI_INTO(merge_options),
	.run = run,
	.complete = "file",
};
