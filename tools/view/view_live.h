/* SPDX-License-Identifier: MIT
 *
 * A session that is followed: an index over a ring of its last events (openetw/query.h). Some sessions the viewer has started
 * itself; they end with their trace.
 */
#ifndef TOOLS_VIEW_VIEW_LIVE_H
#define TOOLS_VIEW_VIEW_LIVE_H

#include "tools/view/view.h"

struct view_live {
	char session[160];
	bool own;
	uint64_t told_rows, told_ns; /* what view_live_tell() said last */
	double rate;                 /* rows a second */
};
/* Attaches to a session. NULL: `why`. */
struct view_trace *view_live_create(const struct cli_args *a, const char *session, uint64_t ring_bytes, bool own,
				    char *why, size_t cap);
/* With its trace: stops an own session. */
void view_live_destroy(struct view_live *l);

#endif
