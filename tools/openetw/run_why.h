/* SPDX-License-Identifier: MIT
 *
 * Why nothing, or nothing of a provider, was recorded while a command ran.
 */
#ifndef TOOLS_OPENETW_RUN_WHY_H
#define TOOLS_OPENETW_RUN_WHY_H

#include "tools/common/session_start.h"

struct run_why {
	const struct cli_args *args;
	const struct etw_session *session; /* that records */
	uint64_t before;                   /* registrations until then */
	bool known;                        /* etwd can tell registrations */

	/* A second session takes all levels and keywords, to count what the first one does not get. Only
	 * where level, keywords or filters are given, and only until something was counted. */
	TRACEHANDLE probe;
	bool probing, probed;
	uint64_t came; /* to the probe */
	bool more;     /* it ended before the command did */
};

/* The session runs; its providers are about to be enabled, and the command to start. */
void run_why_begin(struct run_why *w, const struct cli_args *a, const struct etw_session *session);
/* Called when a system call was interrupted: a second has gone by, perhaps. */
void run_why_tick(struct run_why *w);
/* The command ended; before the session is stopped. */
void run_why_end(struct run_why *w);
/* Says on stderr what is known, when there is something to say. `events`: recorded. */
void run_why_say(struct run_why *w, uint64_t events);

#endif
