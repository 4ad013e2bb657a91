/* SPDX-License-Identifier: MIT
 * Where events are missing: what the index of a trace knows, at once.
 */
#ifndef TOOLS_VIEW_VIEW_LOSS_H
#define TOOLS_VIEW_VIEW_LOSS_H

#include "tools/view/view.h"

struct view_loss {
	int64_t from, to;
	int64_t cpu;   /* -1: nobody says */
	int64_t count; /* -1 likewise */
	const char *reason;
};
struct view_losses {
	struct view_loss *list; /* in the order of time */
	uint32_t count;
	int64_t from, to; /* of all */
	uint64_t rest;    /* more of them than the list has: VIEW_LOSSES_MOST */
	bool placed;      /* some say where events were lost; else the list has missing parts of the file alone */
};
#define VIEW_LOSSES_MOST 10000u
/* Empty while nobody knows of any, and where memory runs out. */
void view_losses_of(struct view_trace *t, struct view_losses *ret);
void view_losses_free(struct view_losses *l);
/* The members of one, in an object that is open. */
void view_loss_put(struct strbuf *b, const struct view_loss *l);
/* "lost":[…] of those that touch the times. */
void view_losses_put(struct strbuf *b, const struct view_losses *l, int64_t from, int64_t to);

#endif
