/* SPDX-License-Identifier: MIT
 *
 * What the consumers of a real-time session have not taken yet, in memory that outlives its process: a file,
 * meant to lie in a file system of memory, of the producer's own places for the backlog's entries and of
 * what is known about those that went on to the disk (sink_spool.c).
 *
 *   head | one line for each place of the spool's file | places for entries …
 *
 * A process that is killed leaves it as it is; the next sink of that name finds everything in it. An
 * entry is complete up to its `bytes`, which is stored last; `order` 0 means that the place is free.
 */
#ifndef SINK_SINK_KEEP_H
#define SINK_SINK_KEEP_H

#include "sink/sink_private.h"

struct sink_keep;

/* What stands in the file's head and changes while the session runs. */
struct sink_keep_head {
	uint32_t magic, version;
	uint32_t buffer_bytes, entries;
	uint64_t spool_places;
	uint8_t boot[16]; /* raw times mean nothing after the machine was started again */
	uint64_t clock;   /* as ETL_BH_CLOCK has it */
	/* producer */
	uint64_t order; /* of the newest entry */
	uint64_t tap_lost_events, tap_lost_buffers;
	/* under the spool's lock */
	uint64_t spool_lost_events, spool_lost_buffers;
	uint64_t first, next; /* in the spool's file, as there */
};

struct sink_keep_found {
	struct sink_rt_list entries; /* in order; heap or places of the new file */
	uint64_t lost_events, lost_buffers;
	uint64_t waiting_events; /* here and in the spool's file */
};

/* Opens or makes `path`; what an earlier process left is in *ret_found. -EWOULDBLOCK: another one
 * uses it. `clock` as ETL_BH_CLOCK has it. */
int sink_keep_open(const char *path, uint32_t buffer_bytes, uint32_t entries, uint64_t spool_places, uint64_t clock,
		   struct sink_keep **ret, struct sink_keep_found *ret_found);
struct sink_keep_head *sink_keep_head(struct sink_keep *k);
struct sink_place *sink_keep_places(struct sink_keep *k); /* [spool_places] */
/* A place for an entry, or heap memory when none is left; NULL: neither. Any thread may give back what
 * the producer took. k may be NULL. */
struct sink_rt_chunk *sink_chunk_new(struct sink_keep *k, uint32_t buffer_bytes);
void sink_chunk_free(struct sink_keep *k, struct sink_rt_chunk *c);
/* With `remove` nothing is left; without, everything. */
void sink_keep_close(struct sink_keep *k, bool remove);

#endif
