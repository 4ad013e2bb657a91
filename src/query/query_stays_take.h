/* SPDX-License-Identifier: MIT
 *
 * What records of switches and wakings mean, one after the other. Private to query.
 */
#ifndef QUERY_QUERY_STAYS_TAKE_H
#define QUERY_QUERY_STAYS_TAKE_H

#include "query/query_lane_write.h"

enum { SAID_NOTHING, SAID_SWITCH, SAID_READY, SAID_LOSS };
/* What a record said. Threads are numbers of the index, 0: nobody knows. */
struct said {
	int64_t time;
	uint32_t in, out; /* of a READY: who is woken is `in` */
	uint32_t who;     /* READY: who did it */
	uint16_t cpu;
	uint8_t says, reason, state, waker;
	bool idle;      /* SWITCH: to nobody */
	bool unwatched; /* SWITCH: the process of `in` was not recorded */
};

struct stays_taker;
/* Stays go to `w`, which stays the caller's. NULL: no memory. */
struct stays_taker *stays_taker_create(struct lane_writer *w, uint32_t threads, uint32_t cpus);
void stays_taker_destroy(struct stays_taker *t);
int stays_take(struct stays_taker *t, const struct said *e);
/* There are no more. */
int stays_take_end(struct stays_taker *t);

#endif
