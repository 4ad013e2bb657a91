/* SPDX-License-Identifier: MIT
 * Shared by the files of the verb monitor.
 */
#ifndef TOOLS_OPENETW_MONITOR_H
#define TOOLS_OPENETW_MONITOR_H

#include "tools/openetw/feed.h"
#include "tools/tables/kernel_event.h"
#include "filter/filter_parse.h"

#define MONITOR_PENDING_MAX 8192u
#define MONITOR_COLUMNS_MAX 16

enum column {
	COL_TIME,
	COL_PROCESS,
	COL_PID,
	COL_TID,
	COL_THREAD,
	COL_OP,
	COL_PATH,
	COL_RESULT,
	COL_BYTES,
	COL_DURATION,
	COL_DETAIL,
	COL_LOCAL,
	COL_REMOTE,
	COL_COUNT,
};
/* By enum column; NULL behind them. Also the names of --filter. */
extern const char *const monitor_names[COL_COUNT + 1];
struct line { /* an operation */
	struct kevent k;
	bool waits; /* for its result */
	bool has_result;
	uint32_t status;
	uint64_t took_ns;
	bool twice;      /* was told again: with its path, or a Cleanup as a Close */
	char path[1024]; /* the kevent's may not last */
	char to[1024];   /* the new name of what is renamed */
	char process[64];
	char thread[64];
};
struct monitor {
	const struct cli_args *args;
	const struct monitor_options *o;
	struct feed *feed;
	struct openetw_state *state;
	struct filter_expr *filter;
	enum column column[MONITOR_COLUMNS_MAX];
	unsigned column_count;
	unsigned kinds; /* bits of enum kevent_kind */
	bool json, utc, done, errors;
	uint64_t lines, limit;
	uint64_t not_shown;                        /* for want of memory */
	uint64_t early;                            /* shown before their results were known: too many waited */
	struct line *pending[MONITOR_PENDING_MAX]; /* what is not shown yet, by time */
	uint32_t pending_count;
	bool live; /* what was there before is not news */
	struct strbuf out;
	const struct line *asked; /* by the filter */
	char text[1200];
};

/* "NAME NOT FOUND" of an operation that failed; NULL: it has no name. */
const char *monitor_error_name(uint32_t status);
/* One event of the feed's; `ctx` is the monitor. */
void monitor_event(void *ctx, const EVENT_RECORD *e);
/* Prints what is complete at that time; UINT64_MAX: everything. */
void monitor_release(struct monitor *m, uint64_t now);
/* Is the line of a process that was asked for? Known from the beginning, unlike its result. */
bool monitor_wants_process(const struct monitor *m, const struct line *l);
/* A line, when it is wanted. */
void monitor_print(struct monitor *m, const struct line *l);

#endif
