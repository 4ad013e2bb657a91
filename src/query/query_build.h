/* SPDX-License-Identifier: MIT
 *
 * Makes the index of one trace file. Private to query.
 *
 *   first reading    only records that say something about the machine or about events: processes, threads, images,
 *                    schemas, stacks behind keys
 *   second reading   every record becomes a row: its type, process, thread, stack
 *   the end          dictionaries, names of the types (one event of each is decoded), losses, damage
 */
#ifndef QUERY_QUERY_BUILD_H
#define QUERY_QUERY_BUILD_H

#include "query/query_store.h"

#include "openetw/query.h"

struct build_options {
	const char *directory; /* for files without a name: what does not fit into memory. NULL: memory all the same */
	openetw_index_progress_fn progress; /* may be NULL */
	/* A view of what is there so far, of `bytes` of the trace; the function takes it over. In the second reading, each
	 * time a quarter more is there, and about once a second while that costs little. NULL: nobody wants to know. */
	void (*view)(void *context, struct store *view, uint64_t bytes);
	void *context; /* of both */
};
/* Of that file, into `out`, which stays the caller's. -ECANCELED when the progress function said so;
 * -errno, -EBADMSG with diag. */
int build_index(const char *path, const struct store_key *key, int out, const struct build_options *o, struct diag *d);

#endif
