/* SPDX-License-Identifier: MIT
 *
 * How much of the work is done: a line on a terminal, and numbers for whoever started this program.
 *
 * A server that lets other processes work makes the place for the numbers before it starts them:
 *
 *   server   cli_work_share()      the place, which forks of it have, too
 *   worker   cli_work_tell()       in the loops that read files and answer questions
 *   server   cli_work_look()       when a client is to be told
 *
 * A worker that starts this program for a part of the work calls cli_work_hand_over() in the child; main() calls
 * cli_work_take_over(). Where nobody made such a place nothing is told.
 */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include "base/base.h"

#include <stdio.h>

/* Terminal progress on stderr (only when it is a terminal), at most ten times a second. */
struct cli_progress {
	bool active;
	uint64_t started_ns, last_ns;
};
void cli_progress_start(struct cli_progress *p, bool wanted);
void cli_progress_show(struct cli_progress *p, const char *fmt, ...) BASE_PRINTF(2, 3);
void cli_progress_end(struct cli_progress *p);

enum cli_work {
	CLI_WORK_NONE,
	CLI_WORK_INDEX,   /* bytes of traces that are read for their index */
	CLI_WORK_MACHINE, /* reading what is said of processes and modules; units are the reader's */
	CLI_WORK_BUFFERS, /* of traces that are read */
	CLI_WORK_EVENTS,  /* that a question looks at */
	CLI_WORK_QUERY,   /* percent of a query in SQL */
};
#define CLI_WORK_KINDS 6u
struct cli_work_done {
	uint32_t piece; /* of the work; each has numbers of its own. 0: nothing was told yet */
	uint32_t work;  /* enum cli_work */
	uint64_t done, total;
};
/* False: there is no such place to be had. */
bool cli_work_share(void);
/* A new call begins: nothing is told of it yet. */
void cli_work_clear(void);
/* A new piece begins where `work` is another or `done` gets less. May be called often. */
void cli_work_tell(enum cli_work work, uint64_t done, uint64_t total);
/* What was told last, bounded: the process that tells may be out of its mind. False: nothing. */
bool cli_work_look(struct cli_work_done *ret);
/* In a child, before it becomes this program again. */
void cli_work_hand_over(void);
void cli_work_take_over(void);

#endif
