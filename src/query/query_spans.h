/* SPDX-License-Identifier: MIT
 *
 * Spans: what has a beginning and an end. Private to query.
 *
 *   events   from an event of opcode Start to the next one of opcode Stop that has the same provider, task and process and
 *            the same activity; without activities, of the same thread. Of several that are open at the same time the Stop
 *            ends the one that began last
 *   disks    an event tells of a request that has ended, and how long it took
 *   files    from the event of an operation to its end, which has the same request
 *
 * A span belongs to the thread of its Start. Those of a thread that overlap are on different levels.
 */
#ifndef QUERY_QUERY_SPANS_H
#define QUERY_QUERY_SPANS_H

#include "query/build_set.h"
#include "query/query_kept.h"

#define SPAN_LEVELS 64u /* what is deeper is on the last one */

#define SPAN_NO_END UINT64_MAX
struct span {
	int64_t from, to; /* of the file; to INT64_MAX: it did not end; `from`: nobody said when */
	uint32_t thread, type;
	uint32_t level, reserved;
	uint64_t end; /* the event that told of its end, as edge.place; SPAN_NO_END */
};
struct spans {
	struct build_space space;
	struct span *list; /* in it; by thread, in the order of `from` */
	size_t count;
	bool cut; /* there was no room for all: what began later is not known */
};

/* As stays_of(). */
int spans_of(struct openetw_query *q, uint32_t file, enum openetw_spans kind, const struct spans **ret);
void spans_free(struct spans *s);

#endif
