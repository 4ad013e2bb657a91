/* SPDX-License-Identifier: MIT
 * Reading one or more traces through OpenTrace/ProcessTrace, with progress and interruption.
 */
#ifndef TOOLS_COMMON_TRACE_READING_H
#define TOOLS_COMMON_TRACE_READING_H

#include "tools/common/select.h"
#include "tools/common/cli.h"

#include <openetw/openetw.h>
#include <openetw/state.h>

#define CLI_TRACE_FILES_MAX 1024

struct cli_trace {
	/* in */
	const struct cli_args *args;
	bool (*event)(void *ctx, const EVENT_RECORD *e); /* false: enough */
	void *ctx;
	struct cli_select *select; /* gives the time range; may be NULL */
	bool no_progress;
	bool metadata; /* deliver descriptions of events that a session's end put in, too */
	bool quiet;    /* damage has been told before; no progress either */
	bool raw_time; /* deliver ticks instead of FILETIME */
	bool endless;  /* it goes on until a signal comes: that is no interruption */
	/* Attached to the traces, files are read ahead for it; may be NULL. */
	struct openetw_state *state;
	/* state */
	TRACEHANDLE handle[CLI_TRACE_FILES_MAX];
	EVENT_TRACE_LOGFILEA file[CLI_TRACE_FILES_MAX];
	const char *name[CLI_TRACE_FILES_MAX]; /* for people: an archive's name, not that of what was unpacked */
	int count;
	uint64_t events, buffers;
	uint64_t headers;                   /* records of the file itself, which are no events */
	uint64_t lost_events, lost_buffers; /* as the headers and real-time markers say */
	char unknown[160];                  /* why there may be more; "": those are all */
	uint64_t buffers_total;             /* in the files, as far as the headers know */
	uint64_t first_start;               /* earliest StartTime of the files */
	/* Called for each loss that a file shows, when all was read; may be NULL. */
	void (*loss)(void *ctx, const struct openetw_loss_range *l);
	uint64_t problems; /* damaged places, already reported on stderr */
	int interrupted;   /* the signal that ended it */
	struct cli_progress progress;
	bool stop;
};

/* What is counted as an event, everywhere: all that a provider or the system logged. Records of the file
 * itself are not: its header and their kind (class EventTrace), descriptions of events (EventMetadata), and
 * what etwd says of processes and images so that stacks have names. */
bool cli_is_header(const EVENT_RECORD *e);

/* Opens files (or, with `session`, a live session). Prints the mistake; false on failure. */
bool cli_trace_open(struct cli_trace *t, int count, char **files, const char *session);
/* Runs until the end, the limit, or SIGINT/SIGTERM. Win32 code; closes the handles. */
uint32_t cli_trace_run(struct cli_trace *t);
/* "nothing was lost when recording", how much, or why nobody knows. No newline. */
void cli_trace_print_loss(FILE *f, const struct cli_trace *t);
/* The number of events that were lost, for a line that has a name already. */
void cli_lost_text(const struct cli_trace *t, char *ret, size_t cap);
/* "eventsLost":1,"buffersLost":0; or null for both, with "lostUnknown" and what is known. */
void cli_loss_json(struct strbuf *b, uint64_t events, uint64_t buffers, const char *unknown);
/* Why there may have been more losses than `trace` says; "": the numbers are all. */
void cli_trace_unknown(TRACEHANDLE trace, char *ret, size_t cap);
/* Adds what the headers of these files say was lost to lost_events, lost_buffers and unknown. */
void cli_files_loss(const struct cli_args *a, int count, char **files, struct cli_trace *t);
/* Ends it, and says so on stderr when it could not keep all that the trace said of the machine. NULL is fine. */
void cli_state_end(struct openetw_state *s);
/* Says on stderr of which of these files nobody knows what was lost: what is made of them cannot tell. */
void cli_warn_unknown(const struct cli_args *a, int count, char **files);

#endif
