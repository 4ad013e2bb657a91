/* SPDX-License-Identifier: MIT
 *
 * Tables of a trace (tools/tables) as requests want them. Each is made when it is asked for first, by a thread of the trace's
 * own; up to VIEW_MAKERS are made at the same time. No request of a browser waits for one: a browser has few connections,
 * and the other questions of the page want them. It is answered 202 with how far the table is, and asks again. A table that
 * nobody asks for any more, or that somebody cancels, is given up.
 *
 * Made tables stay as long as there is room for them; those that were used longest ago go first. A request holds what it
 * reads until it has ended.
 */
#ifndef TOOLS_VIEW_VIEW_MAKING_H
#define TOOLS_VIEW_VIEW_MAKING_H

#include "tools/tables/table_query.h"

#include <stdint.h>

#define VIEW_MAKERS   2u
#define VIEW_HELD_MAX 24u /* tables that one request reads */

struct view_request;
struct view_trace;
struct view_making;
struct view_table;

/* Tables of the trace, of which `name` is made when this returns, held by the request. NULL: `why`. It is being made where
 * r->making says so; then nothing has to be answered. */
struct table_set *view_tables_with(struct view_request *r, struct view_trace *t, const char *name, char *why,
				   size_t cap);
/* The answer of a table, likewise. */
struct table_answer *view_table_ask(struct view_request *r, struct view_trace *t, const struct table_ask *ask,
				    char *why, size_t cap);
/* The names of code can be asked for without waiting (view_names_lock()). False: `why`, likewise. */
bool view_names_wait(struct view_request *r, struct view_trace *t, char *why, size_t cap);
/* A request has ended. */
void view_tables_let_go(struct view_request *r);
/* Gives up what is being made; NULL: all of it. False: there is nothing of this name. */
bool view_making_cancel(struct view_trace *t, const char *name);
/* What code is called has changed: names, and tables that nobody holds, are made anew. */
void view_names_forget(struct view_trace *t);
/* Ends the threads and frees all tables; nobody holds one. NULL is fine. */
void view_making_destroy(struct view_making *m);

#endif
