/* SPDX-License-Identifier: MIT
 * Work that takes long: exports. Each job is a verb of openetw in a process of its own, and a thread that waits for it.
 */
#ifndef TOOLS_VIEW_VIEW_JOBS_H
#define TOOLS_VIEW_VIEW_JOBS_H

#include "tools/view/view.h"

/* False: no memory, or no folder for what they write. */
bool view_jobs_begin(struct view *v);
/* Ends all, and removes what they wrote. */
void view_jobs_end(struct view *v);
/* "event: job" when something changed since *inout_seen. */
void view_jobs_tell(struct view *v, uint64_t *inout_seen, struct strbuf *b);

#endif
