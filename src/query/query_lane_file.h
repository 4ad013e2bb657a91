/* SPDX-License-Identifier: MIT
 *
 * What threads and processors did, in a file: NAME.etl.idx.lanes beside the index, or one without a name. Private to query.
 *
 *   lane   of each thread of the index, then of each processor
 *   part   stays of a lane that came behind each other from one stretch of the trace
 *   block  64 stays of a part, with what they did together: a pixel that holds the whole block needs no more
 *
 * The file has the shape of an index (query_store.h) and its key, and it says of which index it is. It is written once and
 * never changed. Its bytes are hostile, as those of an index are: lane_file_open() checks that every part lies inside the
 * file; a number that names nothing is 0, and times may be any.
 */
#ifndef QUERY_QUERY_LANE_FILE_H
#define QUERY_QUERY_LANE_FILE_H

#include "query/query_store.h"

struct stay {
	int64_t from;   /* of the file */
	uint32_t who;   /* READY: number of the thread that woke it, 0: none; of processors: who ran */
	uint16_t cpu;   /* RUNNING: where */
	uint8_t doing;  /* enum openetw_doing */
	uint8_t detail; /* WAITING: why; READY: enum openetw_waker */
};
struct stays {
	struct store store;
	const uint64_t *first;
	const struct store_lane_part *parts;
	const uint8_t *bytes; /* of the parts */
	uint32_t thread_count, cpu_count;
	int64_t end; /* of the last stay of each lane */
	bool cut;    /* there was no room for all: what came later is not known */
};

/* Takes the descriptor over, also when it fails. -ESTALE: it is of another index, or was made by other rules.
 * -EBADMSG with diag: it is damaged. */
int lane_file_open(int fd, const struct store *index, struct stays *ret, struct diag *d);
void lane_file_close(struct stays *s);

/* ---- one lane ---- */

struct stay_lane {
	const struct stays *s;
	const struct store_lane_part *parts;
	uint32_t part_count;
	bool of_cpu;
	uint16_t cpu;
};
/* A place in a lane: part << 32 | which one of it. Places grow with time. */
#define STAY_NOWHERE UINT64_MAX
struct stay_lane lane_of_thread(const struct stays *s, uint32_t thread);
struct stay_lane lane_of_cpu(const struct stays *s, uint32_t cpu);
struct stay lane_stay(const struct stay_lane *l, uint64_t at);
/* The one before or behind it; STAY_NOWHERE. */
uint64_t lane_before(const struct stay_lane *l, uint64_t at);
uint64_t lane_behind(const struct stay_lane *l, uint64_t at);
/* The stay at a time; of several that begin then, the last. STAY_NOWHERE: the lane begins later. */
uint64_t lane_at(const struct stay_lane *l, int64_t time);
static inline uint64_t lane_first(const struct stay_lane *l)
{
	return l->part_count ? 0 : STAY_NOWHERE;
}
/* When it ends. */
int64_t lane_stay_end(const struct stay_lane *l, uint64_t at);

/* ---- bytes of parts, for whoever goes through many ---- */

static inline uint32_t lane_blocks(const struct store_lane_part *p)
{
	return p->wide ? 0 : p->count / STORE_BLOCK_STAYS;
}
static inline uint64_t lane_part_bytes(const struct store_lane_part *p)
{
	return (uint64_t)lane_blocks(p) * sizeof(struct store_stay_block) +
	       (uint64_t)p->count * (p->wide ? sizeof(struct store_stay_wide) : sizeof(uint64_t));
}
static inline const uint64_t *lane_narrow(const struct store_lane_part *p, const uint8_t *part)
{
	return (const uint64_t *)(const void *)(part + (uint64_t)lane_blocks(p) * sizeof(struct store_stay_block));
}
static inline int64_t lane_narrow_from(const struct store_lane_part *p, uint64_t stay)
{
	/* A damaged file may have any times: no signed overflow. */
	return (int64_t)((uint64_t)p->from + (uint32_t)stay);
}
static inline uint32_t lane_narrow_doing(uint64_t stay)
{
	return (uint32_t)(stay >> 32) & 7;
}
/* The other way round. `who` is below STORE_STAY_THREADS. */
uint64_t lane_narrow_put(const struct stay *s, int64_t part_from, bool of_cpu);
/* The sums of STORE_BLOCK_STAYS stays. */
void lane_block_put(const uint64_t *stays, struct store_stay_block *ret);

#endif
