/* SPDX-License-Identifier: MIT
 * pmc: what can be counted and sampled on this machine.
 */
#include "tools/common/counters.h"

#include <stdio.h>
#include <stdlib.h>

struct pmc_options {
	bool sessions, why;
};
static const struct cli_option options[] = {
	CLI_FLAG(pmc_options, sessions, 0, "sessions", "instead the sessions that count, and what"),
	CLI_FLAG(pmc_options, why, 0, "why", "also what this machine does not have, and why"),
	{0},
};

static void why_not(void)
{
	const char *name;
	for (size_t i = 0; (name = pmc_known_name(i)) != NULL; i++) {
		struct pmc_source s;
		struct diag d;
		diag_clear(&d);
		if (pmc_find_name(name, strlen(name), &s, &d) < 0) {
			printf("not here: %s\n", d.text);
		}
	}
}

static int run(struct cli_args *a)
{
	const struct pmc_options *o = a->given;
	if (a->count > 0) {
		return cli_usage(a, "no arguments, not '%s'", a->words[0]);
	}
	if (o->sessions) {
		return cli_counters_sessions(a);
	}
	int status = cli_counters_print(a);
	if (status == CLI_OK && o->why) {
		why_not();
	}
	return status;
}

const struct cli_command cli_pmc = {
	.name = "pmc",
	.synopsis = "[--why] [--sessions]",
	.summary = "List the counters and sources of samples of this machine.",
	.details = "Names and numbers are those of Windows where it has them. Any of them but the timer can go with\n"
		   "events ('openetw record --pmc', 'xperf -pmc', 'tracelog -Pmc', <Counters> of a .wprp profile), and "
		   "each\n"
		   "can be what samples are taken by ('openetw record --pmc-sample', 'xperf -PmcProfile', "
		   "<SampledCounters>).\n"
		   "Interval is how many of its events lie between two samples; the timer's is in 100 ns.\n\n"
		   "Examples:\n"
		   "  openetw pmc\n"
		   "  openetw record --pmc InstructionRetired,TotalCycles:CSwitch -- make\n"
		   "  openetw record --pmc-sample CacheMisses=10000 -- ./sort\n",
	.options = options,
	CLI_INTO(pmc_options),
	.run = run,
};
