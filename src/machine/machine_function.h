/* SPDX-License-Identifier: MIT
 * Private to state: functions that the trace itself names (OpenETW.Symbols), of images as they were
 * where it was recorded.
 */
#ifndef MACHINE_MACHINE_FUNCTION_H
#define MACHINE_MACHINE_FUNCTION_H

#include "machine/machine.h"
#include "machine/machine_table.h"

struct state_functions {
	struct state_table images; /* by path and build */
};
/* Takes the record if it is one of those. */
void state_functions_add(struct state_functions *x, struct state_memory *m, const struct etl_record *r);
/* As it stands in the file, not demangled; NULL when unknown. *ret_start counts from the base. */
const char *state_functions_at(struct state_functions *x, const struct state_image *i, uint64_t offset,
			       uint64_t *ret_start);
void state_functions_free(struct state_functions *x);

#endif
