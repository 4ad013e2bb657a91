/* SPDX-License-Identifier: MIT
 * Answers that take long to find, of traces that do not change any more: kept as they were sent, as long as there is room.
 */
#ifndef TOOLS_VIEW_VIEW_KEPT_H
#define TOOLS_VIEW_VIEW_KEPT_H

#include <stdbool.h>

struct view_request;
struct view_kept;

/* The request was answered before, and `out`, `type` and `status` are as they were. */
bool view_kept_find(struct view_request *r);
/* Keeps the answer. */
void view_kept_add(struct view_request *r);
/* What events mean, or what code is called, has changed: answers of all traces are found anew. */
void view_kept_forget(void);
void view_kept_destroy(struct view_kept *k); /* NULL is fine */

#endif
