/* SPDX-License-Identifier: MIT
 * describe: what this machine knows of a trace's events goes into the file. Also etwd's helper for the
 * files of sessions that end by themselves (src/etwd/etwd_embed.c).
 */
#include "base/confine.h"
#include "tools/common/cli.h"

#include <openetw/decode.h>

struct describe_options {
	bool quiet;
	uint64_t descriptor; /* NO_DESCRIPTOR: none */
};
#define NO_DESCRIPTOR UINT64_MAX
static const struct cli_option options[] = {
	CLI_FLAG(describe_options, quiet, 'q', "quiet", "say nothing of files that are written"),
	CLI_NUMBER(
		describe_options, descriptor, 0, "descriptor", "N", 0, INT32_MAX,
		"the file that is open as N instead, and give up the right to everything else first (as etwd does it)"),
	{0},
};

/* A trace is strangers' data: whoever gets hold of this program by it has this file, and no other. */
static int run_confined(struct cli_args *a, int fd, bool quiet)
{
	uint32_t events = 0;
	(void)confine(CONFINE_DESCRIBE);
	uint32_t code = openetw_trace_describe_descriptor(fd, &events);
	if (code) {
		return cli_fail(a, code, "cannot describe the events of descriptor %d", fd);
	}
	if (!quiet) {
		printf("%u description%s added\n", events, PLURAL(events));
	}
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	int result = CLI_OK;
	const struct describe_options *o = a->given;
	if (o->descriptor != NO_DESCRIPTOR) {
		if (a->count > 0) {
			return cli_usage(a, "a descriptor, or files");
		}
		return run_confined(a, (int)o->descriptor, o->quiet);
	}
	if (a->count == 0) {
		return cli_usage(a, "which files?");
	}
	for (int i = 0; i < a->count; i++) {
		uint32_t events = 0;
		uint32_t code = openetw_trace_describe(a->words[i], &events);
		if (code) {
			result = cli_fail(a, code, "cannot describe the events of %s%s", a->words[i],
					  code == ERROR_SHARING_VIOLATION ? ", a session writes it" : "");
		} else if (!o->quiet) {
			printf("%s: %u description%s added\n", a->words[i], events, PLURAL(events));
		}
	}
	return result;
}

const struct cli_command cli_describe = {
	.name = "describe",
	.synopsis = "FILE…",
	.summary = "Write into .etl files what their events mean, so that they can be read elsewhere.",
	.details =
		"For each event of the file that does not describe itself, what an installed manifest or a program of\n"
		"this machine says of it is put behind the last buffer, as Windows' tools do when they merge. "
		"Sessions\n"
		"do it when they end; the verb is for files recorded before the manifest was there, and from "
		"elsewhere.\n"
		"A file that a session still writes is left alone.\n\n"
		"Examples:\n"
		"  openetw wevtutil im app.man && openetw describe app.etl\n",
	.options = options,
	CLI_INTO(describe_options),
	.defaults = &(const struct describe_options){.descriptor = NO_DESCRIPTOR},
	.run = run,
	.complete = "file",
};
