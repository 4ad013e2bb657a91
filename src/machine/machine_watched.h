/* SPDX-License-Identifier: MIT
 * Private to state: of which processes the trace has everything (OpenETW.Recording).
 */
#ifndef MACHINE_MACHINE_WATCHED_H
#define MACHINE_MACHINE_WATCHED_H

#include "machine/machine.h"
#include "machine/machine_table.h"

struct machine_filters {
	struct machine_filter *list; /* in the order of time */
	uint32_t count, cap;
};
/* Takes the record if it is one of those. */
void machine_filters_add(struct machine_filters *x, const struct etl_record *r);
bool machine_filters_watch(const struct machine_filters *x, const struct machine *s, uint32_t pid, uint64_t time);
void machine_filters_free(struct machine_filters *x);

#endif
