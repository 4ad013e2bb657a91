/* SPDX-License-Identifier: MIT
 *
 * How long it took, of events that tell of an end: the Stop of a span, a request to a disk, the end of an operation on a
 * file. Made of the spans of all kinds. Private to query.
 */
#ifndef QUERY_QUERY_DURATIONS_H
#define QUERY_QUERY_DURATIONS_H

#include "query/query_kept.h"

struct durations;
/* As stays_of(). */
int durations_of(struct openetw_query *q, uint32_t file, const struct durations **ret);
/* `row` is its place in the group. False: the event ends nothing, or what it ends began before the trace. */
bool durations_get(const struct durations *d, uint32_t group, uint32_t row, uint64_t *ret_ns);
void durations_free(struct durations *d);

#endif
