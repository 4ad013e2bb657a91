/* SPDX-License-Identifier: MIT
 *
 * Reads what the records of some groups of rows say of switches and wakings. Private to query.
 */
#ifndef QUERY_QUERY_STAYS_READ_H
#define QUERY_QUERY_STAYS_READ_H

#include "query/query_stays_take.h"

/* Has the trace switches or wakings at all? */
bool stays_are_told(const struct store *s);

struct machine;
/* What all readers of a file know: types, threads, processes. */
struct stays_known;
int stays_known_create(const struct store *s, const struct machine *m, struct stays_known **ret);
void stays_known_free(struct stays_known *k);
/* Is something said in this group? */
bool stays_known_group(const struct stays_known *k, uint32_t group);

/* One that reads, in a thread of its own. */
struct stays_reader;
struct reading;
/* It reads with `reading`, which stays the caller's. NULL: no memory. */
struct stays_reader *stays_reader_create(struct reading *reading, uint32_t file, const struct stays_known *k);
void stays_reader_free(struct stays_reader *r);

struct said_list {
	struct said *list;
	uint32_t count, cap;
	uint64_t decoded; /* records that were read */
};
/* Appends what the rows of a group say, in their order. */
int stays_read_group(struct stays_reader *r, uint32_t group, struct said_list *inout);

#endif
