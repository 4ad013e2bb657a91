/* SPDX-License-Identifier: MIT
 *
 * relog: traces rewritten. Events of files or of a session pass through a callback; what is
 * injected goes to a new file. Front door.
 *
 *   writer   records into buffers into a file, compressed or not. Knows nothing of events.
 *   event    one event that may be changed, and how its record then looks
 *   engine   streams merged by time, the callbacks in between (api_relogger.c gives it COM's shape)
 *
 * All time stamps in the output are of the first stream's clock; those of streams with another
 * clock are converted.
 */
#ifndef RELOG_RELOG_H
#define RELOG_RELOG_H

#include "consume/consume.h"
#include "consume/consume_view.h"

/* ---- writer --------------------------------------------------------------------------------- */

struct relog_writer;

/* What stands in the header of the new file. */
struct relog_head {
	struct etl_file_info info; /* of the first input: clock, machine, buffer size */
	const uint8_t *payload;    /* its header record's payload, or NULL: made from info */
	uint32_t payload_bytes;
	uint32_t pid, tid;
	uint32_t mode; /* EVENT_TRACE_* besides COMPRESSED */
	const char *logger_name, *file_name;
	uint64_t end_filetime;
	uint32_t events_lost, buffers_lost;
};

/* Creates the file, or empties an existing one. -errno. */
int relog_writer_create(const char *path, const struct relog_head *head, bool compress, struct relog_writer **ret,
			struct diag *d);
/* One record, complete with its header, at a raw time. Order matters little: what comes late goes to
 * a buffer of its own. -EMSGSIZE: bigger than a buffer. */
int relog_writer_put(struct relog_writer *w, uint16_t cpu, uint64_t time_raw, const void *record, uint32_t bytes);
/* Writes what is buffered and the header. Losses and the end time are taken from `head`. */
int relog_writer_finish(struct relog_writer *w, const struct relog_head *head, struct diag *d);
void relog_writer_destroy(struct relog_writer *w);

/* ---- event ---------------------------------------------------------------------------------- */

/* Which fields of a record were set anew. */
enum relog_change {
	RELOG_PAYLOAD = 1u << 0,
	RELOG_DESCRIPTOR = 1u << 1,
	RELOG_PROVIDER = 1u << 2,
	RELOG_PID = 1u << 3,
	RELOG_TID = 1u << 4,
	RELOG_TIMES = 1u << 5,
	RELOG_ACTIVITY = 1u << 6,
	RELOG_TIME = 1u << 7,
};

struct relog_event {
	struct etl_record r; /* as it is now; r.raw is the original, NULL for a new event */
	unsigned changed;    /* enum relog_change */
	uint8_t *raw;        /* own copy of the original record */
	uint32_t raw_cap;
	uint8_t *payload; /* own, when RELOG_PAYLOAD */
	struct consume_view view;
	EVENT_RECORD record; /* for the caller */
};

/* Starts zeroed. Copies the record. -ENOMEM. */
int relog_event_take(struct relog_event *e, const struct etl_record *r);
/* A new event of that header kind: EVENT_HEADER_FLAG_* bits. */
void relog_event_init(struct relog_event *e, uint16_t flags);
int relog_event_copy(struct relog_event *to, const struct relog_event *from);
int relog_event_set_payload(struct relog_event *e, const void *p, uint32_t bytes);
/* Another provider: what the event says of itself in the name of the old one goes. */
void relog_event_set_provider(struct relog_event *e, const struct guid *provider);
/* The record's bytes as they are to be written: at most ETL_RECORD_MAX, in `out`. Negative:
 * -EMSGSIZE too big, -EOPNOTSUPP this kind cannot carry the change. */
int relog_event_encode(const struct relog_event *e, uint8_t *out);
/* Refreshes e->record. */
int relog_event_view(struct relog_event *e, void *user_context);
void relog_event_free(struct relog_event *e);

/* ---- engine --------------------------------------------------------------------------------- */

struct relog;

struct relog_callbacks {
	/* Nonzero ends the run with that value. */
	int (*begin)(void *ctx, struct relog_event *header);
	int (*event)(void *ctx, struct relog_event *e, uint32_t stream);
	int (*finish)(void *ctx);
};

int relog_create(struct relog **ret);
/* A stream's number is the order in which it was added. -errno. */
int relog_add_file(struct relog *g, const char *path, uint32_t *ret_stream, struct diag *d);
/* *ret_status: the Win32 code of a refused session, else 0. */
int relog_add_session(struct relog *g, const uint16_t *name, uint32_t units, uint32_t *ret_stream, uint32_t *ret_status,
		      struct diag *d);
int relog_set_output(struct relog *g, const char *path);
void relog_set_compress(struct relog *g, bool compress);
/* How the output calls itself: the COM relogger and merges differ. Borrowed strings. */
void relog_set_names(struct relog *g, uint32_t mode, const char *logger, const char *file);
/* An event may carry any `stream`; new ones get that stream's pointer size. */
const struct etl_file_info *relog_stream_info(const struct relog *g, uint32_t stream);
uint64_t relog_now_raw(const struct relog *g); /* time of the event being delivered */
/* Only while a callback of relog_run() runs, or -EINVAL. */
int relog_inject(struct relog *g, const struct relog_event *e);
/* 0, -errno with diag, or what a callback returned. */
int relog_run(struct relog *g, const struct relog_callbacks *cb, void *ctx, struct diag *d);
/* Any thread: relog_run() ends with what was written so far. */
void relog_cancel(struct relog *g);
void relog_destroy(struct relog *g);

#endif
