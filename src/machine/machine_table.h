/* SPDX-License-Identifier: MIT
 *
 * Private to state: memory with a limit, text, and a hash table from 64-bit ids to lists of things
 * that had the id one after the other.
 */
#ifndef MACHINE_MACHINE_TABLE_H
#define MACHINE_MACHINE_TABLE_H

#include "base/base.h"
#include "base/vec.h"

#define MACHINE_MEMORY_MAX (1ull << 30)

struct machine_memory {
	struct machine_block *blocks;
	uint64_t used;
	uint64_t most;     /* 0: MACHINE_MEMORY_MAX */
	uint64_t left_out; /* how often there was no room */
	bool full;
};
/* Zeroed, aligned to 8, lives as long as the state; NULL at the limit or without memory. */
void *machine_alloc(struct machine_memory *m, size_t bytes);
/* Room for one more element, as VEC_ROOM() of base/vec.h, out of the same limit. */
#define MACHINE_ROOM(m, items, count, cap)                                                     \
	((count) < (cap) || ({                                                                 \
		 size_t had_ = (cap), most_ = had_ + machine_memory_left(m) / sizeof *(items); \
		 bool none_ = !VEC_ROOM_UP_TO((items), (count), (cap), most_);                 \
		 (m)->full |= none_;                                                           \
		 (m)->left_out += none_;                                                       \
		 (m)->used += ((cap)-had_) * sizeof *(items);                                  \
		 (count) < (cap);                                                              \
	 }))
static inline uint64_t machine_memory_left(const struct machine_memory *m)
{
	uint64_t most = m->most ? m->most : MACHINE_MEMORY_MAX;
	return m->used < most ? most - m->used : 0;
}
void machine_memory_free(struct machine_memory *m);
/* UTF-16LE, unaligned, or 8-bit text as UTF-8. "" when there is no memory. */
const char *machine_text16(struct machine_memory *m, const uint8_t *p, size_t units);
const char *machine_text8(struct machine_memory *m, const uint8_t *p, size_t bytes);
const char *machine_text(struct machine_memory *m, const char *text); /* a copy */
/* Does the UTF-16 text say what the UTF-8 text says? */
bool machine_text16_equal(const uint8_t *p, size_t units, const char *text);

/* First member of whatever is in a table. */
struct machine_node {
	struct machine_node *next;  /* of the bucket */
	struct machine_node *older; /* that had the id before */
	uint64_t id;
};
/* Lists of nodes that are there anyhow, and not base/map.h: a trace may have millions, and the memory is counted. Ids
 * come from the trace, so a secret of the process decides their buckets. */
struct machine_table {
	struct machine_node **buckets;
	uint32_t bits;
	size_t count; /* ids */
	uint64_t secret;
};
/* The latest that has this id, or NULL. */
struct machine_node *machine_table_find(const struct machine_table *t, uint64_t id);
/* The one behind `n`, of another id; NULL is before the first and behind the last. In no order. */
struct machine_node *machine_table_next(const struct machine_table *t, const struct machine_node *n);
/* False without memory. */
bool machine_table_add(struct machine_table *t, struct machine_node *n);
void machine_table_free(struct machine_table *t);

#endif
