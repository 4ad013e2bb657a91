/* SPDX-License-Identifier: MIT
 * Reading one or more traces through OpenTrace/ProcessTrace, with progress and interruption.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli/cli.h"

struct cli_trace {
	/* in */
	const struct cli_args *args;
	void (*event)(void *ctx, const EVENT_RECORD *e);
	void *ctx;
	uint64_t limit; /* stop after that many events; 0: none */
	/* state */
	TRACEHANDLE handle[64];
	EVENT_TRACE_LOGFILEA file[64];
	int count;
	uint64_t events;
	uint64_t lost_events, lost_buffers; /* as the headers and real-time markers say */
	struct cli_progress progress;
	bool stop;
};

/* Opens files (or, with `session`, a live session). Prints the mistake; false on failure. */
bool cli_trace_open(struct cli_trace *t, int count, char **files, const char *session);
/* Runs until the end, the limit, or SIGINT/SIGTERM. Win32 code; closes the handles. */
uint32_t cli_trace_run(struct cli_trace *t);

#endif
