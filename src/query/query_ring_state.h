/* SPDX-License-Identifier: MIT
 *
 * What the files of a ring share. Private to them.
 */
#ifndef QUERY_QUERY_RING_STATE_H
#define QUERY_QUERY_RING_STATE_H

#include "query/build_state.h"
#include "query/query_ring.h"

/* In front of each record. Records stand at multiples of 8, and so do the items behind them. */
struct ring_prefix {
	uint16_t bytes;
	uint16_t items; /* in units of 8 bytes: those for which the record has no place, of the kernel and of classes */
	uint16_t cpu, logger_id;
	uint64_t time_raw;
};
/* Items that are not in the record itself. */
static inline uint32_t ring_items_besides(const struct etl_record *e)
{
	bool inside = e->raw && (uintptr_t)e->items >= (uintptr_t)e->raw &&
		      (uintptr_t)e->items < (uintptr_t)e->raw + e->raw_bytes;
	return e->items && !inside ? e->items_bytes : 0;
}
/* Numbers go up by one; 0 is for `kept`. */
struct ring_group {
	uint32_t refs; /* of the ring and of views; under the lock */
	uint32_t number;
	uint64_t first_row;
	struct store_rows *rows;
	uint64_t *offsets; /* times, from RING_TIME_BASE on: what columns have */
	int64_t from, to;
	uint8_t *raw;
	uint32_t raw_used, raw_bytes; /* of what it has room for */
	uint32_t *running;            /* who ran on each processor when it began */
};
#define RING_TIME_BASE (INT64_MIN / 2)
#define RING_GROUPS    4096u /* at most */

struct ring {
	pthread_mutex_t lock;
	pthread_cond_t grown;
	/* Under the lock: all that follows. */
	uint32_t waiting;
	uint64_t wanted_rows; /* the least that somebody waits for */
	char *name;
	uint64_t most; /* bytes of all that follows */
	uint32_t raw_most;
	struct build b;
	struct store_rows *nothing; /* what is in front of the first group */
	struct ring_group *groups[RING_GROUPS];
	uint32_t first, count; /* of the circle */
	uint32_t next_number;
	uint64_t rows;         /* since the ring began */
	uint64_t closed_bytes; /* of all groups but the last */
	/* Records that stay: one of each type, and those that say something about others. */
	uint8_t *kept;
	uint32_t kept_used, kept_most;
	struct places sayings;
	bool machine_told;
	uint64_t not_kept; /* sayings and samples without room */
	uint64_t refused;  /* events that could not be kept */
	uint64_t stacks_left_out;
	uint64_t events_lost, buffers_lost;
	int64_t newest; /* time */
	bool ended, broken_off;
	uint32_t code;
	uint64_t changes;             /* goes up with each event */
	struct ring_view *view;       /* the last one made; it holds a reference */
	struct ring_session *session; /* the owner's alone */
	struct openetw_index *index;
};

struct ring_view {
	struct openetw_index x; /* first */
	struct index_file file;
	struct ring *ring;
	uint32_t refs; /* under the ring's lock */
	uint64_t changes;
	struct store_about about;
	uint32_t count;
	struct ring_group **groups;
	uint32_t *raw_used; /* of each group */
	uint32_t kept_used;
	struct store_group *store_groups;
	struct store_columns *columns;
	struct store_section sections[2];
	uint32_t *running;
	uint64_t *sayings;
	size_t saying_count;
	struct store_type *types;
	struct store_process *processes;
	struct store_thread *threads;
	struct store_stack *stacks;
	void *nodes, *frames; /* mapped */
	size_t nodes_bytes, frames_bytes;
	uint32_t *late[2]; /* stacks of the last two groups */
	uint64_t bytes;
};

void ring_group_unref(struct ring_group *g);
/* Frees a view that the ring alone holds; under the lock. False: somebody asks it. */
bool ring_view_idle(struct ring_view *v);
uint64_t ring_group_bytes(const struct ring_group *g);
/* What dictionaries, records that stay and the machine take. */
uint64_t ring_bytes_besides(const struct ring *r);
static inline struct ring_group *ring_at(const struct ring *r, uint32_t i)
{
	return r->groups[(r->first + i) % RING_GROUPS];
}

#endif
