/* SPDX-License-Identifier: MIT
 * etl2pcapng: Microsoft's converter; pcapng does its work.
 */
#include "tools/classic/become.h"

static int run(struct cli_args *a)
{
	if (a->count < 1 || a->count > 2) {
		return cli_usage(a, a->count ? "one file, and what to write" : "which file?");
	}
	struct cli_become b = {.word = {"openetw", "pcapng", a->words[0], "-o"}, .count = 4};
	if (a->count > 1) {
		cli_become_add(&b, a->words[1]);
	} else {
		cli_become_add_beside(&b, a->words[0], ".pcapng");
	}
	return cli_become(a, &b);
}

const struct cli_command cli_etl2pcapng = {
	.name = "etl2pcapng",
	.synopsis = "FILE.etl [FILE.pcapng]",
	.summary = "Packets of a trace as a capture file: what pcapng does.",
	.details =
		"Takes the words of Microsoft's converter and does what 'openetw pcapng' does; the line is printed.\n\n"
		"Examples:\n"
		"  openetw etl2pcapng NetTrace.etl NetTrace.pcapng\n",
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "file",
};
