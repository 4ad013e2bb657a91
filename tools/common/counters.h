/* SPDX-License-Identifier: MIT
 *
 * Counters and sources of samples, as people name them: pmc/pmc.h.
 */
#ifndef TOOLS_COMMON_COUNTERS_H
#define TOOLS_COMMON_COUNTERS_H

#include "tools/common/cli.h"
#include "kernel/kernel.h"

struct cli_counters {
	uint32_t counter[PMC_COUNTERS_MAX], counters;
	uint16_t event[PMC_EVENTS_MAX]; /* hooks that have their values */
	uint32_t events;
	struct kernel_sampled sampled[PMC_SAMPLED_MAX]; /* interval 0: as it is set */
	uint32_t sampleds;
	/* What this machine does not have is left out with a warning, and what cannot be set is one. */
	bool lenient;
	/* What may be named besides: the first that is for this processor counts. */
	const struct pmc_definition *defined;
	uint32_t defineds;
};

/* "A,B". False: printed why. */
bool cli_counters_list(const struct cli_args *a, const char *text, struct cli_counters *c);
/* "CSwitch+SysCallEnter". */
bool cli_counters_events(const struct cli_args *a, const char *text, struct cli_counters *c);
/* "A,B:EVENT+EVENT", of which the events may be missing: context switches. */
bool cli_counters_parse(const struct cli_args *a, const char *text, struct cli_counters *c);
/* "A", "A=N": one more source of samples. */
bool cli_counters_sampled(const struct cli_args *a, const char *text, struct cli_counters *c);
/* One source by its name or number. */
bool cli_counters_source(const struct cli_args *a, const char *text, size_t n, struct pmc_source *ret);
/* For a recording of one's own: with the bits that bring those events. */
void cli_counters_wants(struct kernel_options *o, const struct cli_counters *c, bool stacks);
/* For a session of etwd's, before it starts and when it has: Win32 codes. What samples are taken by is the
 * machine's, not the session's. */
uint32_t cli_counters_set_sampled(const struct cli_counters *c);
uint32_t cli_counters_set(TRACEHANDLE session, const struct cli_counters *c);
/* The options of 'openetw start' for that. */
void cli_counters_explain(FILE *f, const struct cli_counters *c);
/* The table that the classic tools print. CLI_OK, or printed why. */
int cli_counters_print(const struct cli_args *a);
/* Which sessions count, and what. */
int cli_counters_sessions(const struct cli_args *a);

#endif
