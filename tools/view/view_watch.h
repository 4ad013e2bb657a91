/* SPDX-License-Identifier: MIT
 * A thread that looks after live traces, also while no page does: a session that ended and runs again is followed again; rules
 * keep what happened around an event as a file.
 */
#ifndef TOOLS_VIEW_VIEW_WATCH_H
#define TOOLS_VIEW_VIEW_WATCH_H

#include "base/base.h"

struct view;
#define VIEW_RULES_MOST 8u

struct view_rule { /* under view_live's lock of rules */
	uint32_t id;
	char *filter, *folder;
	int64_t before, after; /* ns around an event that fits */
	uint32_t files_most, files;
	uint64_t bytes_most, bytes;
	uint64_t next_row;    /* the first that was not looked at */
	int64_t looked_until; /* the newest event of the last look */
	int64_t kept_until;   /* events up to then are in files */
	int64_t at;           /* an event fitted then, and is not kept yet; INT64_MIN: none */
	char last[4200];      /* the file that was written last */
	char problem[300];    /* why it does not work any more; "" */
};

/* Begins with the first live trace; ends before traces are closed. */
bool view_watch_begin(struct view *v);
void view_watch_end(struct view *v);

#endif
