/* SPDX-License-Identifier: MIT
 *
 * Private to state: names of code that was made at run time, from what runtimes say when they make
 * it: methods of .NET and functions of JScript.
 */
#ifndef MACHINE_MACHINE_CODE_H
#define MACHINE_MACHINE_CODE_H

#include "etl/etl_reader.h"
#include "machine/machine_table.h"

struct machine_codes {
	struct machine_table processes; /* of struct code_process */
};
/* Takes the record if it is one of those. */
void machine_codes_add(struct machine_codes *x, struct machine_memory *m, const struct etl_record *r);
/* Name of the code at an address, and where it starts; NULL when unknown. */
const char *machine_codes_at(struct machine_codes *x, uint32_t pid, uint64_t address, uint64_t time,
			     uint64_t *ret_start);
/* When that is the answer, both included. It has been asked for before. */
void machine_codes_span(const struct machine_codes *x, uint32_t pid, uint64_t address, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_to);
void machine_codes_free(struct machine_codes *x);

#endif
