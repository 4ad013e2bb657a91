/* SPDX-License-Identifier: MIT
 *
 * Single records of a trace file, by the place that the column `where` has. Private to query.
 */
#ifndef QUERY_QUERY_FETCH_H
#define QUERY_QUERY_FETCH_H

#include "etl/etl_reader.h"
#include "query/query_store.h"

struct fetch;
/* Of the file that this index is of. The descriptor stays the caller's; it is read with pread alone. -errno. */
int fetch_open(int fd, const struct store *s, struct fetch **ret, struct diag *d);
/* The same trace, by a later view of its index. */
void fetch_renew(struct fetch *f, const struct store *s);
void fetch_close(struct fetch *f);
/* The record at a place. It keeps some buffers unpacked, so neighbours in time are cheap; the record is valid until the
 * next call. 0; -ENOENT: no record stands there (the index is not of this file); -errno. One thread at a time. */
int fetch_record(struct fetch *f, uint64_t where, struct etl_record *ret);
/* Ticks a second of durations in payloads; 0: nobody knows. */
uint64_t fetch_frequency(const struct fetch *f);

#endif
