/* SPDX-License-Identifier: MIT
 *
 * How long it took, of events that are read in the order of time: what `duration` means in a filter. An event has a
 * duration when it tells of an end:
 *
 *   a Stop               since the Start of the same provider, task and process that has the same activity; without
 *                        activities, of the same thread. Of several that are open the one that began last
 *   a request to a disk  what the event says of itself
 *   OperationEnd         since the operation on a file that has the same request
 *
 * src/query finds the same spans in an index (query_spans.h).
 */
#ifndef TOOLS_COMMON_DURATIONS_H
#define TOOLS_COMMON_DURATIONS_H

#include "tools/common/cli.h"

struct durations;
struct durations *durations_create(void); /* NULL: no memory */
void durations_destroy(struct durations *d);
/* Of the trace's clock: what events of disks count in. */
void durations_set_ticks(struct durations *d, uint64_t per_second);
/* Every event goes through here once, in order. True: *ret_ns is
 * how long it took. `pid`, `tid`: whose event it is. */
bool durations_take(struct durations *d, const EVENT_RECORD *e, uint32_t pid, uint32_t tid, uint64_t *ret_ns);
/* What began and was forgotten, because too much was open at the same time. */
uint64_t durations_forgotten(const struct durations *d);

#endif
