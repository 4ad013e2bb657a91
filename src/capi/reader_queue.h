/* SPDX-License-Identifier: MIT
 *
 * capi: our own API for reading and recording. Front door.
 *
 *   openetw_reader.c    include/openetw/reader.h: what is wanted, the thread that reads, events in our shape
 *   reader_queue.h      the bounded queue between that thread and its user
 *   openetw_recorder.c  include/openetw/recorder.h: a session built in steps
 *   recorder_kernel.h   its kernel events
 *
 * The queue: a list of blocks, each with up to READER_BLOCK_EVENTS events and the memory they point
 * into. The reading thread appends to the last block under the lock, the user takes the first block
 * whole: events are copied once, and never one by one.
 */
#ifndef CAPI_READER_QUEUE_H
#define CAPI_READER_QUEUE_H

#include "base/base.h"
#include "openetw/reader.h"

#include <pthread.h>

#define READER_BLOCK_EVENTS 256u

struct reader_block;

struct reader_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct reader_block *first, *last; /* those with events */
	struct reader_block *spare;        /* one, to be used again */
	uint32_t events, events_max;
	size_t bytes, bytes_max;
	bool drop_when_full;
	bool stopped;  /* nothing more is wanted */
	bool ended;    /* nothing more comes */
	uint32_t code; /* why it ended */
	uint64_t dropped;
};

int reader_queue_init(struct reader_queue *q);
void reader_queue_finish(struct reader_queue *q);
/* Takes a copy of *e with all it points to. 1: kept, 0: dropped, -ECANCELED: stopped, -ENOMEM. */
int reader_queue_put(struct reader_queue *q, const struct openetw_event *e);
/* The first block, to be given back; NULL with the code when there is none. */
struct reader_block *reader_queue_take(struct reader_queue *q, uint32_t milliseconds, uint32_t *ret_code);
void reader_queue_give_back(struct reader_queue *q, struct reader_block *b); /* NULL is fine */
void reader_queue_stop(struct reader_queue *q);
bool reader_queue_stopped(struct reader_queue *q);
void reader_queue_end(struct reader_queue *q, uint32_t code);

const struct openetw_event *reader_block_events(const struct reader_block *b, uint32_t *ret_count);

#endif
