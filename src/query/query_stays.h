/* SPDX-License-Identifier: MIT
 *
 * What threads and processors did, one stay in a state behind the other. Private to query.
 *
 * The context switches and wakings of a trace are read once; what they say is kept in a file (query_lane_file.h). A
 * thread's lane begins with the first record about it. A stay lasts until the next one of its lane.
 *
 *   a switch away    running -> waiting; or -> ready (preempted), when it could have gone on
 *   it is woken      waiting -> ready; the first waking ends the wait. One that comes up to a millisecond before the
 *                    switch away ends the wait that begins then
 *   a switch to it   -> running
 *
 * Where the recorder says that switches were lost, nobody knows from then on, until the lane's next record. The same holds
 * of a thread that came back while its process was not recorded.
 *
 *   query_stays_read.c    what the records of a stretch of the trace say: on all processors
 *   query_stays_take.c    what that means, in the order of the file: one thread at a time
 *   query_lane_write.c    the file
 *   query_stays.c         when that is done, and where the file lies
 */
#ifndef QUERY_QUERY_STAYS_H
#define QUERY_QUERY_STAYS_H

#include "query/query_kept.h"
#include "query/query_lane_file.h"

/* The stays of one of the view's files, made when they are not there. Between question_begin() and question_end(), by
 * the asking thread. -errno, -ECANCELED: the next question goes on where this one was cancelled. */
int stays_of(struct openetw_query *q, uint32_t file, const struct stays **ret);
void stays_free(struct stays *s);
/* Those that are being made, while nobody asks. */
struct stays_begun;
void stays_begun_free(struct stays_begun *b);

#endif
