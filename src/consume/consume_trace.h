/* SPDX-License-Identifier: MIT
 *
 * What a PROCESSTRACE_HANDLE stands for. Private to consume.
 *
 *      OpenTrace            ProcessTrace             its end
 *   ──────────────▶ IDLE ──────────────▶ RUNNING ──────────────▶ IDLE
 *                     │                     │ CloseTrace: closing, 7007
 *          CloseTrace ▼                     ▼
 *                   gone ◀── its end ── RUNNING, closing (the handle is dead already)
 */
#ifndef CONSUME_CONSUME_TRACE_H
#define CONSUME_CONSUME_TRACE_H

#include "consume/consume.h"
#include "etl/etl_image.h"
#include "consume/consume_view.h"

#include "evntcons.h"
#include "evntrace.h"

struct trace {
	struct consume_source *source; /* NULL: a session that did not run when it was opened */
	bool consumed;                 /* source has been read: open it again for another run */
	/* Two shapes, one layout: the names are 8- or 16-bit text as the caller opened it. */
	union {
		EVENT_TRACE_LOGFILEW w;
		EVENT_TRACE_LOGFILEA a;
	} log;
	void *log_name, *file_name;            /* storage for log.*.LoggerName, LogFileName */
	uint16_t *header_logger, *header_file; /* storage for LogfileHeader's strings */
	char *path;                            /* UTF-8; NULL for real time */
	uint16_t *session;                     /* NULL for files */
	bool raw_time;
	bool event_record;
	PETW_BUFFER_CALLBACK raw_buffer; /* OpenTraceFrom… */
	void *raw_buffer_context;
	const void *callback_buffer; /* the one raw_buffer is being called with */
	bool stream;                 /* of buffers that the caller brings */
	PETW_BUFFER_COMPLETION_CALLBACK completion;
	void *completion_context;
	PROCESSTRACE_HANDLE handle;
	consume_observe_fn *observe; /* may be NULL */
	void *observe_ctx;

	/* while ProcessTrace runs */
	bool running;   /* guarded by the table's lock */
	bool closing;   /* written under the lock; read with order_load */
	bool cancelled; /* a buffer callback said so */
	bool header_seen;
	struct etl_image_last explained;
	struct consume_view view;
};

#define TRACE_BROKEN_OFF "the trace session ended unexpectedly"

/* The table takes the trace over. INVALID_PROCESSTRACE_HANDLE when it is full. */
PROCESSTRACE_HANDLE trace_add(struct trace *t);
/* Marks all as running, or none: then ERROR_INVALID_HANDLE. */
uint32_t trace_begin(const PROCESSTRACE_HANDLE *handles, uint32_t n, struct trace **ret);
/* Frees those that were closed meanwhile. */
void trace_end(struct trace **traces, uint32_t n);
uint32_t trace_close(PROCESSTRACE_HANDLE h);
/* For queries: keeps the table locked until trace_unlock(). NULL (and unlocked) when unknown. */
struct trace *trace_lock(PROCESSTRACE_HANDLE h);
void trace_table_lock(void); /* without a handle */
void trace_unlock(void);
void trace_destroy(struct trace *t);

/* Replaces the source; wakes it at once when the trace was closed meanwhile. */
void trace_set_source(struct trace *t, struct consume_source *source);
/* (Re)open the source as the trace says. Win32 code. */
uint32_t trace_open_source(struct trace *t, struct diag *d);
/* Fills log.*.LogfileHeader and its like, once. Win32 code. */
uint32_t trace_take_header(struct trace *t);
/* Calls whatever the trace and SetTraceCallback() ask for. */
int trace_deliver(struct trace *t, const struct etl_record *r);
/* Hands records that carry schemas to the learner, also those that no callback will see. */
void trace_learn(struct trace *t, const struct etl_record *r);
bool trace_class_callback(const struct guid *g, PEVENT_CALLBACK *ret);

#endif
