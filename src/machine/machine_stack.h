/* SPDX-License-Identifier: MIT
 * Private to state: stack walk records and the events they belong to.
 */
#ifndef MACHINE_MACHINE_STACK_H
#define MACHINE_MACHINE_STACK_H

#include "etl/etl_reader.h"
#include "machine/machine_table.h"

struct machine_part {
	uint64_t time;  /* of the event */
	uint64_t order; /* kernel before user, then as they came */
	uint32_t pid, tid;
	uint32_t count; /* addresses; 0: nobody has explained its key yet */
	const uint64_t *addresses;
	size_t waits_with; /* next part that waits for the same key, plus 1 */
};
struct machine_stacks {
	struct machine_part *parts;
	size_t count, cap;
	bool sorted;
	struct machine_table keys;
	struct machine_table known; /* lists of addresses, each kept once */
	uint64_t *joined;           /* what machine_stack() hands out */
	size_t joined_cap;
};
void machine_stacks_add(struct machine_stacks *x, struct machine_memory *m, uint16_t hook, const struct etl_record *r);
uint32_t machine_stacks_get(struct machine_stacks *x, uint64_t time, uint32_t tid, const uint64_t **ret,
			    uint32_t *ret_pid, uint32_t *ret_tid);
void machine_stacks_free(struct machine_stacks *x);

#endif
