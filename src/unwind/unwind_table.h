/* SPDX-License-Identifier: MIT
 * Private to unwind: the rules of one file, and what a rule does to registers.
 */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include "unwind/unwind.h"

enum unwind_rule_kind {
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_OFFSET,     /* at CFA + n */
	RULE_VAL_OFFSET, /* CFA + n */
	RULE_REGISTER,   /* in that register; as CFA: that register + n */
	RULE_EXPRESSION, /* at the address it says; n: where it stands in the table */
	RULE_VAL_EXPRESSION,
};
struct unwind_rule {
	uint8_t kind;
	uint8_t reg;
	int32_t n;
};
/* How the caller's registers are found at one address. */
struct unwind_row {
	struct unwind_rule cfa;
	struct unwind_rule r[UNWIND_REGS];
	uint8_t return_register;
	bool signal; /* interrupted here, not called */
};

struct unwind_table;
/* `p` becomes the table's (free()), also when it fails. `linked` is the section's address. */
int unwind_table_create(uint8_t *p, size_t n, uint64_t linked, bool debug_frame, struct unwind_table **ret);
void unwind_table_destroy(struct unwind_table *t);
size_t unwind_table_bytes(const struct unwind_table *t);
/* False when nothing is said about this address. */
bool unwind_table_row(const struct unwind_table *t, uint64_t pc, uint32_t *inout_steps, struct unwind_row *ret);

/* The expression that a rule's n points at. */
bool unwind_table_expression(const struct unwind_table *t, int32_t at, const uint8_t **ret, size_t *ret_n);

struct unwind_stack { /* a copy of memory */
	uint64_t at;
	const uint8_t *p;
	uint32_t bytes;
};
bool unwind_stack_read(const struct unwind_stack *m, uint64_t address, unsigned bytes, uint64_t *ret);

enum unwind_step { STEP_FAILED, STEP_DONE, STEP_OUTERMOST };
/* From a function's registers to its caller's. */
enum unwind_step unwind_row_apply(const struct unwind_table *t, const struct unwind_row *row,
				  const struct unwind_stack *m, struct unwind_regs *regs);

/* Numbers of variable length, as DWARF writes them. */
uint64_t unwind_uleb(struct bytes *b);
int64_t unwind_sleb(struct bytes *b);

#endif
