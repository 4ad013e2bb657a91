/* SPDX-License-Identifier: MIT
 *
 * Private to state: memory with a limit, text, and a hash table from 64-bit ids to lists of things
 * that had the id one after the other.
 */
#ifndef MACHINE_MACHINE_TABLE_H
#define MACHINE_MACHINE_TABLE_H

#include "base/base.h"

#define STATE_MEMORY_MAX (1ull << 30)

struct state_memory {
	struct state_block *blocks;
	uint64_t used;
	bool full;
};
/* Zeroed, aligned to 8, lives as long as the state; NULL at the limit or without memory. */
void *state_alloc(struct state_memory *m, size_t bytes);
void state_memory_free(struct state_memory *m);
/* UTF-16LE, unaligned, or 8-bit text as UTF-8. "" when there is no memory. */
const char *state_text16(struct state_memory *m, const uint8_t *p, size_t units);
const char *state_text8(struct state_memory *m, const uint8_t *p, size_t bytes);
const char *state_text(struct state_memory *m, const char *text); /* a copy */
/* Does the UTF-16 text say what the UTF-8 text says? */
bool state_text16_equal(const uint8_t *p, size_t units, const char *text);

/* First member of whatever is in a table. */
struct state_node {
	struct state_node *next;  /* of the bucket */
	struct state_node *older; /* that had the id before */
	uint64_t id;
};
struct state_table {
	struct state_node **buckets;
	uint32_t bits;
	size_t count; /* ids */
};
/* The latest that has this id, or NULL. */
struct state_node *state_table_find(const struct state_table *t, uint64_t id);
/* False without memory. */
bool state_table_add(struct state_table *t, struct state_node *n);
void state_table_free(struct state_table *t);

#endif
