/* SPDX-License-Identifier: MIT
 *
 * What threads and processors did, one stay in a state behind the other. Private to query.
 *
 * The context switches and wakings of a trace are read once, when somebody asks; what they say is kept for as long as the
 * index is open. A thread's lane begins with the first record about it. A stay lasts until the next one of its lane.
 *
 *   a switch away    running -> waiting; or -> ready (preempted), when it could have gone on
 *   it is woken      waiting -> ready; the first waking ends the wait. One that comes up to a millisecond before the
 *                    switch away ends the wait that begins then
 *   a switch to it   -> running
 *
 * Where the recorder says that switches were lost, nobody knows from then on, until the lane's next record. The same holds
 * of a thread that came back while its process was not recorded.
 */
#ifndef QUERY_QUERY_STAYS_H
#define QUERY_QUERY_STAYS_H

#include "query/query_kept.h"

struct stay {
	int64_t from;   /* of the file */
	uint32_t who;   /* READY: number of the thread that woke it, 0: none; of processors: who ran */
	uint16_t cpu;   /* RUNNING: where */
	uint8_t doing;  /* enum openetw_doing */
	uint8_t detail; /* WAITING: why; READY: enum openetw_waker */
};
struct stay_lane {
	struct stay *list; /* in the order of time */
	size_t count, cap;
};
struct stays {
	struct stay_lane *threads, *cpus;
	uint32_t thread_count, cpu_count;
	int64_t end; /* of the last stay of each lane */
	bool cut;    /* there was no room for all: what came later is not known */
};

/* The stays of one of the view's files, made when they are not there. Between question_begin() and question_end(), by
 * the asking thread. -errno, -ECANCELED. */
int stays_of(struct openetw_query *q, uint32_t file, const struct stays **ret);
void stays_free(struct stays *s);
/* The stay of a lane at a time; of several that begin then, the last. SIZE_MAX: the lane begins later. */
size_t stay_at(const struct stay_lane *l, int64_t time);
/* When it ends. */
static inline int64_t stay_end(const struct stays *s, const struct stay_lane *l, size_t i)
{
	return i + 1 < l->count ? l->list[i + 1].from : BASE_MAX(s->end, l->list[i].from);
}

#endif
