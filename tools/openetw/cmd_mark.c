/* SPDX-License-Identifier: MIT
 * mark: a text into whatever is recorded at the moment.
 */
#include "tools/common/cli.h"

#include "kernel/kernel_mark.h"

static const struct cli_option options[] = {{0}};

static int run(struct cli_args *a)
{
	if (a->count != 1 || !a->words[0][0]) {
		return cli_usage(a, a->count > 1 ? "one text: put it in quotes" : "which text?");
	}
	if (kernel_mark_send(a->words[0]) == 0) {
		fprintf(stderr, "openetw mark: nothing records the kernel for this user\n");
		return CLI_FAILED;
	}
	return CLI_OK;
}

const struct cli_command cli_mark = {
	.name = "mark",
	.synopsis = "TEXT",
	.summary = "Put a mark into all kernel recordings of this user that are running.",
	.details = "Writes the event PerfInfo/Mark with that text and the time of this call, for "
		   "example around the part\n"
		   "of a test that matters. Root's marks reach everybody's recordings.\n\n"
		   "Examples:\n"
		   "  openetw mark 'warm-up over'\n",
	.options = options,
	.run = run,
};
