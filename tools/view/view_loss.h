/* SPDX-License-Identifier: MIT
 * Where events are missing: what the table `lost` says, once for each trace.
 */
#ifndef TOOLS_VIEW_VIEW_LOSS_H
#define TOOLS_VIEW_VIEW_LOSS_H

#include "tools/view/view.h"

struct view_loss {
	int64_t from, to;
	int64_t cpu;   /* -1: nobody says */
	int64_t count; /* -1 likewise */
	char kind[48];
};
struct view_losses {
	struct view_loss *list;
	uint32_t count;
	int64_t from, to; /* of all */
};
/* Empty while the index is made, and where the headers count no loss. */
void view_losses_of(struct view_request *r, struct view_trace *t, struct view_losses *ret);
void view_losses_free(struct view_losses *l);
/* "lost":[…] of those that touch the times. */
void view_losses_put(struct strbuf *b, const struct view_losses *l, int64_t from, int64_t to);

#endif
