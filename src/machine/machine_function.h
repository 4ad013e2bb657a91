/* SPDX-License-Identifier: MIT
 * Private to state: functions that the trace itself names (OpenETW.Symbols), of images as they were
 * where it was recorded.
 */
#ifndef MACHINE_MACHINE_FUNCTION_H
#define MACHINE_MACHINE_FUNCTION_H

#include "machine/machine.h"
#include "machine/machine_table.h"

struct machine_functions {
	struct machine_table images; /* by path and build */
};
/* Takes the record if it is one of those. */
void machine_functions_add(struct machine_functions *x, struct machine_memory *m, const struct etl_record *r);
/* As it stands in the file, not demangled; NULL when unknown. *ret_start counts from the base. */
const char *machine_functions_at(struct machine_functions *x, const struct machine_image *i, uint64_t offset,
				 uint64_t *ret_start);
void machine_functions_free(struct machine_functions *x);

#endif
