/* SPDX-License-Identifier: MIT
 * Private to state: of which processes the trace has everything (OpenETW.Recording).
 */
#ifndef MACHINE_MACHINE_FILTER_H
#define MACHINE_MACHINE_FILTER_H

#include "machine/machine.h"
#include "machine/machine_table.h"

struct state_filters {
	struct state_filter *list; /* in the order of time */
	uint32_t count, cap;
};
/* Takes the record if it is one of those. */
void state_filters_add(struct state_filters *x, const struct etl_record *r);
bool state_filters_watch(const struct state_filters *x, const struct state *s, uint32_t pid, uint64_t time);
void state_filters_free(struct state_filters *x);

#endif
