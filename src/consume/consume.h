/* SPDX-License-Identifier: MIT
 *
 * consume: events of files and sessions, oldest first. Front door.
 *
 *   source   one file or one real-time session; yields records in the order of time. A real-time source
 *            blocks in next() until etwd has something.
 *   merge    sources become one order, by ticks where they share a clock.
 *   trace    what a PROCESSTRACE_HANDLE stands for: a source and the caller's callbacks (api_*.c).
 *
 * All bytes of a source are untrusted. One thread uses a source; consume_source_wake() alone may be
 * called from any other.
 */
#ifndef CONSUME_CONSUME_H
#define CONSUME_CONSUME_H

#include "base/base.h"
#include "etl/etl_reader.h"

#define CONSUME_SOURCES_MAX 1024u

struct consume_source;

/* All records of a buffer have been taken. `buf` is the plain buffer, valid during the call; true
 * takes it over, to be freed with free(). NULL unless whole_buffers. */
typedef bool consume_buffer_fn(void *ctx, const uint8_t *buf, uint32_t bytes);

struct consume_ops {
	int (*next)(struct consume_source *s, struct etl_record *ret);
	void (*wake)(struct consume_source *s);
	bool (*next_problem)(struct consume_source *s, struct etl_problem *ret); /* may be NULL */
	int (*next_loss)(struct consume_source *s, struct etl_loss_range *ret);  /* may be NULL */
	void (*close)(struct consume_source *s);
};
struct consume_source {
	const struct consume_ops *ops;
	struct etl_file_info info;
	struct etl_clock clock;
	uint64_t events_lost;
	uint64_t buffers_lost; /* real time */
	bool real_time;
	bool broken_off;    /* real time: the stream ended without etwd's word that the session had */
	bool cancelled;     /* the caller takes no more records: a source that would wait for one ends instead */
	bool whole_buffers; /* on_buffer wants to see them: costs files with large buffers memory */
	consume_buffer_fn *on_buffer;
	void *on_buffer_ctx;
};

/* -errno; -EBADMSG with diag when it is no trace file. */
BASE_SHARED int consume_file_open(const char *path, struct consume_source **ret, struct diag *d);
/* Connects to the session. -errno; *ret_status is the Win32 code etwd refused with, else 0. */
BASE_SHARED int consume_rt_open(const uint16_t *name, uint32_t name_units, struct consume_source **ret,
				uint32_t *ret_status, struct diag *d);
/* Buffers that the caller brings (consume_stream.c). `done` is called, on the thread of next() or
 * close(), when one is not needed any more. */
typedef void consume_stream_done_fn(void *ctx, const uint8_t *buf);
int consume_stream_open(consume_stream_done_fn *done, void *ctx, struct consume_source **ret);
/* Any thread. The first must hold a log-file header. -EINVAL: too short; -EBADMSG: no buffer;
 * -ERANGE: out of order; then it remains the caller's. */
int consume_stream_add(struct consume_source *s, const uint8_t *buf, uint32_t bytes);
/* 1 and a record (valid until the next call), 0 at the end, -errno. */
static inline int consume_source_next(struct consume_source *s, struct etl_record *ret)
{
	return s->ops->next(s, ret);
}
/* Deliver what has arrived and then end. Any thread. */
static inline void consume_source_wake(struct consume_source *s)
{
	if (s->ops->wake) {
		s->ops->wake(s);
	}
}
static inline void consume_source_close(struct consume_source *s)
{
	if (s) {
		s->ops->close(s);
	}
}
void consume_source_set_info(struct consume_source *s, const struct etl_file_info *info);

/* Who keeps schemas that travel in a trace (event information of merged files, manifests of
 * EventSources), so that TDH knows them. consume may not call upwards: libetw sets this before
 * anything else of it runs. The record is an EVENT_RECORD. */
struct _EVENT_RECORD;
typedef bool consume_learn_fn(const struct _EVENT_RECORD *r);
void consume_set_learner(consume_learn_fn *fn);

/* Does the record say what other events mean? `raw`: its first bytes at least. And: hand it to that
 * keeper. For those who read ahead. */
BASE_SHARED bool consume_teaches(uint8_t type, const uint8_t *raw);
BASE_SHARED void consume_teach(const struct etl_record *r);

/* Who wants to see every record of a trace before its callbacks do, also those outside a time
 * window. Called with NULL when the record is gone. */
typedef void consume_observe_fn(void *ctx, const struct etl_record *r);
struct consume_about {
	bool raw; /* callbacks get raw times of this clock */
	struct etl_clock clock;
	uint64_t boot_filetime;
	uint32_t processors;
};
/* For an open trace that is not being processed. Win32 code. */
BASE_SHARED uint32_t consume_observe(uint64_t handle, consume_observe_fn *fn, void *ctx, struct consume_about *ret);

/* Do ticks of both mean the same: one machine, not started anew between the recordings, its time not set? */
BASE_SHARED bool consume_same_clock(const struct etl_file_info *a, const struct etl_file_info *b);

struct consume_merge;
/* headers_first: for who writes a file out of several; else headers come at their time. */
BASE_SHARED int consume_merge_create(struct consume_source *const *sources, uint32_t n, bool headers_first,
				     struct consume_merge **ret);
/* The oldest record of all and the number of its source. 1, 0 at the end, -errno. */
BASE_SHARED int consume_merge_next(struct consume_merge *m, const struct etl_record **ret, uint32_t *ret_source);
BASE_SHARED void consume_merge_destroy(struct consume_merge *m);

#endif
