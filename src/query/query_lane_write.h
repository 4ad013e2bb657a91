/* SPDX-License-Identifier: MIT
 *
 * Writes a file of lanes (query_lane_file.h): stays as they come, a part for each lane at each flush. Private to query.
 *
 * What it keeps on the heap are the stays since the last flush and a few bytes for each lane.
 */
#ifndef QUERY_QUERY_LANE_WRITE_H
#define QUERY_QUERY_LANE_WRITE_H

#include "query/query_lane_file.h"

struct lane_writer;
struct lane_writer_options {
	const struct store *index;
	uint32_t cpus;
	const char *directory; /* for what does not fit into memory; NULL: memory all the same */
	uint64_t bytes_most;   /* of stays: what comes later is left out */
};
/* Into `fd`, which stays the caller's. -errno. */
int lane_writer_create(int fd, const struct lane_writer_options *o, struct lane_writer **ret);
void lane_writer_destroy(struct lane_writer *w);
/* Lanes are numbered as in the file: threads, then processors. A stay begins when the one before it has begun, or later. */
int lane_write(struct lane_writer *w, uint32_t lane, struct stay s);
/* What the lane's last stay is. False: it has none. */
bool lane_written_last(const struct lane_writer *w, uint32_t lane, int64_t *ret_from, uint8_t *ret_doing);
/* Of the lane's last stays those that wait or are ready become unknown, up to one that is neither. */
int lane_write_unknown(struct lane_writer *w, uint32_t lane);
/* Writes what has come. */
int lane_write_flush(struct lane_writer *w);
/* The rest of the file. */
int lane_write_end(struct lane_writer *w);

#endif
