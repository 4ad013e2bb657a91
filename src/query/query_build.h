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

/* Of that file, into `out`, which stays the caller's. What does not fit into memory goes to files without a name in
 * `directory` (NULL: to memory all the same). -ECANCELED when the progress function said so;
 * -errno, -EBADMSG with diag. */
int build_index(const char *path, const struct store_key *key, int out, const char *directory,
		openetw_index_progress_fn progress, void *context, struct diag *d);

#endif
