/* SPDX-License-Identifier: MIT
 *
 * Values of counters that go with a trace's kernel events, and their names, which the trace tells once
 * (PmcCtrConfig).
 */
#ifndef TOOLS_COMMON_COUNTERS_OF_H
#define TOOLS_COMMON_COUNTERS_OF_H

#include "base/base.h"

#include <evntcons.h>

#define COUNTERS_OF_MAX 8

struct counters_of {
	char name[COUNTERS_OF_MAX][48]; /* "": not told */
	uint32_t count;
};

/* Before anything else is done with an event: takes names from it when it has some. */
void counters_of_learn(struct counters_of *c, const EVENT_RECORD *e);
/* The event's values: how many, at most COUNTERS_OF_MAX; 0: it has none. */
uint32_t counters_of_event(const EVENT_RECORD *e, uint64_t ret[COUNTERS_OF_MAX]);
/* The name of one of them; valid until the next call. */
const char *counters_of_name(const struct counters_of *c, uint32_t i, char buffer[16]);

#endif
