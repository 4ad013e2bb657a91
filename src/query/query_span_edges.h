/* SPDX-License-Identifier: MIT
 *
 * What events say of the beginnings and ends of spans. Private to query.
 */
#ifndef QUERY_QUERY_SPAN_EDGES_H
#define QUERY_QUERY_SPAN_EDGES_H

#include "etl/etl_reader.h"
#include "query/query_store.h"

#include "openetw/query.h"

enum edge_does {
	EDGE_NOTHING,
	EDGE_START,
	EDGE_STOP,
	EDGE_BOTH,  /* it tells of a whole span: `ns` */
	EDGE_AT,    /* a span begins, and nobody will say when it ends */
	EDGE_ALONE, /* the same; one that is open and has the same id ended before it, nobody says when */
};
struct edge {
	int64_t time;
	uint64_t ns;
	uint32_t process, thread, type;
	uint8_t does;   /* enum edge_does */
	uint8_t opcode; /* of the event */
	uint64_t place; /* group << 16 | row */
	uint8_t id[16]; /* activity, or I/O request; zero: none */
};
/* Does an event of this type say something? */
bool edge_wanted(enum openetw_spans kind, const struct store_type *t);
/* May such an event tell of an end? Of any kind of span. */
bool edge_may_end(const struct store_type *t);
/* What it says. `type` and those before it are set already. */
void edge_understand(enum openetw_spans kind, const struct store_type *t, const struct etl_record *r,
		     uint64_t ticks_per_second, struct edge *inout);
/* Does the second event tell of the same operation as the first? A Cleanup is followed by a Close, and a deletion or a
 * renaming is told again with its path. */
bool edge_again(const struct edge *first, const struct edge *second);

#endif
