/* SPDX-License-Identifier: MIT
 *
 * An index that a thread makes while it is asked. Private to query.
 *
 *   the maker's thread                      queries
 *   build_index() … a view ──► live_publish() ──► index_now() at the beginning of each question
 *
 * Nobody waits for anybody: a question goes on with the view that it began with. Views are freed when the index is
 * closed, so all that a caller was given of an index stays valid until then.
 */
#ifndef QUERY_QUERY_LIVE_H
#define QUERY_QUERY_LIVE_H

#include "query/query_index.h"

#include <time.h>

/* Begins to make the indexes of those files that are `unfinished`. When it fails, *ret_file says with which one;
 * unchanged: with none of them. */
int live_begin(struct openetw_index *x, const struct store_key *keys, const struct openetw_index_options *o,
	       uint32_t *ret_file, struct diag *d);
/* Ends the work, and frees all views but the first. */
void live_end(struct openetw_index *x);
void index_view_free(struct openetw_index *x);

/* The moment so far from now, by CLOCK_MONOTONIC, for waits on conditions. */
struct timespec live_in_milliseconds(uint32_t ms);

#endif
