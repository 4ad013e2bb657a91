/* SPDX-License-Identifier: MIT
 *
 * An index of a running session: its last events, in memory. Private to query.
 *
 *   who appends                     the ring                              questions
 *   ring_add() ── under its lock ──► groups, dictionaries ── ring_view_hold() ──► a view, as of now
 *
 * A group has the columns of up to 65,536 rows and their records. Rows are only added behind those that are there, so a
 * view names the groups and how many rows of the last one it has, and copies what may change: dictionaries, and stacks
 * of the last two groups, because stacks may come after their events. When the groups take more memory than the ring
 * may have, the oldest one leaves; it is freed when no view has it any more.
 *
 * Order of memory: all of it goes through the ring's lock. The appender writes rows, then leaves the lock; whoever makes
 * a view takes the lock after that, so it sees whole rows, and reads no row that was added later. Rows that a view has
 * are never written again. The lock is held for one event, or for making one view, never while a question runs.
 */
#ifndef QUERY_QUERY_RING_H
#define QUERY_QUERY_RING_H

#include "etl/etl_reader.h"
#include "query/query_index.h"

/* A buffer's header, one record, and extended items that its kind of record has no place for. */
#define RING_ITEMS_MOST    65536u
#define RING_SCRATCH_BYTES (ETL_BUFFER_HEADER_SIZE + 65536u + 8u + RING_ITEMS_MOST)
#define RING_LEAST         (1ull << 20)
#define RING_DEFAULT       (256ull << 20)

struct ring;
struct ring_view;

struct ring_options {
	const char *name; /* what it is of, as people read it */
	uint64_t bytes;   /* of groups, dictionaries and what is known of the machine; 0: RING_DEFAULT */
	struct etl_file_info info;
	struct etl_clock clock;
};
/* An index with an empty ring. -errno. */
int ring_open(const struct ring_options *o, struct openetw_index **ret);
void ring_close(struct openetw_index *x);
/* Any thread, one event each. -errno: it was not kept, and is counted. */
int ring_add(struct ring *r, const struct etl_record *e);
/* What the session says was lost, and that it has ended (`code`: ERROR_SUCCESS or why). */
void ring_lost(struct ring *r, uint64_t events, uint64_t buffers);
void ring_ended(struct ring *r, uint32_t code, bool broken_off);

/* What is there now; the same view as before when nothing came. Of a view: that view. NULL: no memory. */
struct openetw_index *ring_view_hold(struct openetw_index *x);
void ring_view_release(struct openetw_index *view);
/* The record at a place, taken to `scratch`. -ENOENT. */
int ring_view_record(const struct ring_view *v, uint64_t where, uint8_t *scratch, struct etl_record *ret);
uint64_t ring_view_frequency(const struct ring_view *v);
uint64_t ring_view_bytes(const struct ring_view *v);
/* Places of the records that say what events mean and what the machine is like: what a file of some rows needs, too. */
const uint64_t *ring_view_kept(const struct ring_view *v, size_t *ret_count);
const struct etl_file_info *ring_view_info(const struct ring_view *v);

/* query_ring_record.c: an event as the record that a session would have of it, split. -EMSGSIZE, -EINVAL. */
int ring_record_of(const openetw_event_record *e, const struct etl_clock *clock, uint8_t *scratch,
		   struct etl_record *ret);
/* The record of `bytes` behind the buffer's header in `scratch`. -EBADMSG. */
int ring_record_split(uint8_t *scratch, uint32_t bytes, uint16_t cpu, const struct etl_clock *clock,
		      struct etl_record *ret);

/* query_ring_session.c: the thread that appends what a session delivers. */
struct ring_session;
void ring_session_close(struct ring_session *s);

#endif
