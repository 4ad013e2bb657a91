/* SPDX-License-Identifier: MIT
 *
 * The columns of an index, for the programs of this project that read them in another process (openetw sql). No public
 * interface: the function is in the node LIBOPENETW_PRIVATE_… of libopenetw.map.
 */
#ifndef QUERY_QUERY_SHARE_H
#define QUERY_QUERY_SHARE_H

#include "query/query_store.h"

#include "openetw/query.h"

/* Of one file of the index. Numbers in the store become those of the index by adding the base; times by adding the
 * offset. All of it is valid as long as the index is open. */
struct index_share {
	int fd; /* of the store */
	const struct store *store;
	int64_t offset;
	uint32_t type_base, process_base, thread_base, stack_base;
};
/* False: there is no such file. */
BASE_SHARED bool index_share_of(const struct openetw_index *x, uint32_t file, struct index_share *ret);

#endif
