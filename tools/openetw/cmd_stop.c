/* SPDX-License-Identifier: MIT */
#include "tools/common/session_options.h"
#include "tools/common/cli.h"
#include "tools/openetw/indexing.h"

struct stop_options {
	bool quiet, index;
};
static const struct cli_option options[] = {
	CLI_FLAG(stop_options, quiet, 'q', "quiet", "say nothing unless something was lost"),
	CLI_FLAG(stop_options, index, 0, "index",
		 "make the index of the file, so that its first question is answered at once"),
	{0},
};

static int run(struct cli_args *a)
{
	const struct stop_options *o = a->given;
	if (a->count == 0) {
		return cli_usage(a, "which session? 'openetw list' shows them");
	}
	int status = CLI_OK;
	for (int i = 0; i < a->count; i++) {
		struct openetw_loss loss = {.size = sizeof loss};
		struct cli_props p;
		struct openetw_kernel kernel = {.size = sizeof kernel};
		bool of_kernel = openetw_session_kernel(a->words[i], &kernel) == ERROR_SUCCESS;
		cli_props_init(&p);
		uint32_t code = openetw_session_stop(0, a->words[i], &p.p, &loss);
		if (code) {
			status = cli_fail_session(a, code, a->words[i], "cannot stop '%s'", a->words[i]);
			continue;
		}
		if (!o->quiet || p.p.EventsLost || p.p.LogBuffersLost) {
			printf("session '%s' stopped%s%s\n", a->words[i], p.file[0] ? ": " : "", p.file);
			cli_print_totals(stdout, &p.p, &loss);
			if (of_kernel) {
				char size[32];
				cli_size_text(kernel.memory, size, sizeof size);
				printf("collector of kernel events: %.3f s of processor time, %s%s%s\n",
				       (double)kernel.cpu_ns / 1e9, size, kernel.note[0] ? "; " : "", kernel.note);
			}
		}
		if (o->index && p.file[0]) {
			int made = indexing_make(a, p.file, o->quiet);
			status = BASE_MAX(status, made);
		}
	}
	return status;
}

const struct cli_command cli_stop = {
	.name = "stop",
	.synopsis = "NAME…",
	.summary = "Stop sessions; every buffer is on disk when it returns.",
	.details = "Prints what was recorded and lost. Example: openetw stop web\n",
	.options = options,
	CLI_INTO(stop_options),
	.run = run,
	.complete = "session",
};
