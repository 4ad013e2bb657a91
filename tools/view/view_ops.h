/* SPDX-License-Identifier: MIT
 * What processes of the machine do, as it happens: operations on files, connections, modules, faults, and the processes
 * themselves, of a session that is followed. The same lines as those of openetw monitor, kept in memory: the last
 * VIEW_OPS_MOST. A consumer of its own reads the session beside the ring of its events, because paths and results are known
 * only to who reads from the beginning, in order.
 */
#ifndef TOOLS_VIEW_VIEW_OPS_H
#define TOOLS_VIEW_VIEW_OPS_H

#include "tools/view/view_endpoint.h"

#define VIEW_OPS_BLOCK 4096u
#define VIEW_OPS_MOST  (128u * VIEW_OPS_BLOCK)

struct view_ops;
/* Follows a session; `start_filetime` is time 0. NULL: `why`. */
struct view_ops *view_ops_create(const char *session, uint64_t start_filetime, char *why, size_t cap);
void view_ops_destroy(struct view_ops *o);
/* "ops":N,"ops_shown_without_result":N, of a server-sent event. */
void view_ops_tell(struct view_ops *o, struct strbuf *b);

/* Members of an answer. False: `r` has failed. `kinds`: names with commas, as of monitor --show. */
struct view_ops_ask {
	const char *kinds, *filter;
	uint64_t at, count;
};
bool view_ops_put(struct view_ops *o, struct view_request *r, const struct view_ops_ask *a);
void view_ops_put_processes(struct view_ops *o, struct strbuf *b);

#endif
