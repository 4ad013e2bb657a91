/* SPDX-License-Identifier: MIT
 *
 * ProcessTrace: merge, window, callbacks.
 */
#include "base/order.h"
#include "consume/consume_keep.h"
#include "consume/consume_trace.h"
#include "openetw/openetw.h"

#define WINDOWS_HANDLES_MAX 64u

/* A buffer's events have all been delivered. True when the callback keeps it. */
static bool buffer_done(void *ctx, const uint8_t *buf, uint32_t bytes)
{
	struct trace *t = ctx;
	bool kept = false;
	/* A session's header is no buffer of its own for those who count buffers. */
	bool header = t->session && bytes >= ETL_BUFFER_HEADER_SIZE && le16_get(buf + ETL_BH_TYPE) == ETL_BT_HEADER;
	if (t->cancelled || (header && !t->raw_buffer)) {
		return false;
	}
	EVENT_TRACE_LOGFILEW *log = &t->log.w;
	log->BuffersRead++;
	log->Filled = bytes;
	log->EventsLost = (ULONG)t->source->events_lost;
	BOOL go_on = TRUE;
	if (log->BufferCallback) {
		go_on = (BOOL)log->BufferCallback(log);
	}
	if (go_on && t->raw_buffer && bytes >= ETL_BUFFER_HEADER_SIZE) {
		ETW_BUFFER_CALLBACK_INFORMATION info = {
			.TraceHandle = t->handle,
			.LogfileHeader = &log->LogfileHeader,
			.BuffersRead = log->BuffersRead,
		};
		_Static_assert(sizeof(ETW_BUFFER_HEADER) == ETL_BUFFER_HEADER_SIZE, "same bytes");
		t->callback_buffer = buf;
		go_on = t->raw_buffer((const ETW_BUFFER_HEADER *)(const void *)buf, bytes, &info,
				      t->raw_buffer_context);
		t->callback_buffer = NULL;
		kept = keep_settle(buf);
	}
	if (!go_on) {
		t->cancelled = true;
		t->source->cancelled = true;
	}
	return kept;
}

static uint64_t filetime_of(const FILETIME *f)
{
	return (uint64_t)f->dwHighDateTime << 32 | f->dwLowDateTime;
}

static uint32_t code_of(int err)
{
	return err == -EBADMSG ? ERROR_FILE_CORRUPT : win32_from_errno(err);
}

/* True when a file's consumer closed it: no more of it. A real-time source ends by itself once it
 * has been drained. */
static bool abandoned(const struct trace *t)
{
	return !t->source->real_time && order_load_acquire(&t->closing);
}

static void say_broken_off(struct trace **traces, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (traces[i]->source->broken_off) {
			err_text_set("%s; what was lost is not known", TRACE_BROKEN_OFF);
		}
	}
}

static uint32_t run(struct trace **traces, uint32_t n, uint64_t start, uint64_t end)
{
	struct consume_source *sources[CONSUME_SOURCES_MAX];
	for (uint32_t i = 0; i < n; i++) {
		struct trace *t = traces[i];
		t->header_seen = false;
		t->cancelled = false;
		t->consumed = true;
		t->log.w.BuffersRead = 0;
		t->source->cancelled = false;
		t->source->on_buffer = buffer_done;
		t->source->whole_buffers = t->raw_buffer != NULL;
		t->source->on_buffer_ctx = t;
		sources[i] = t->source;
	}
	struct consume_merge *m;
	int err = consume_merge_create(sources, n, false, &m);
	if (err < 0) {
		return code_of(err);
	}
	uint32_t code = ERROR_SUCCESS;
	for (;;) {
		const struct etl_record *r;
		uint32_t i;
		int got = consume_merge_next(m, &r, &i);
		for (uint32_t k = 0; k < n; k++) {
			if (BASE_UNLIKELY(traces[k]->cancelled)) {
				code = ERROR_CANCELLED;
			}
		}
		if (got < 0 && code == ERROR_SUCCESS) {
			code = code_of(got);
			say_broken_off(traces, n);
		}
		if (got <= 0 || code != ERROR_SUCCESS) {
			break;
		}
		struct trace *t = traces[i];
		if (BASE_UNLIKELY(t->stream && !t->header_logger)) {
			code = trace_take_header(t);
			if (code) {
				break;
			}
		}
		if (BASE_UNLIKELY(abandoned(t))) {
			bool all = true;
			for (uint32_t k = 0; k < n; k++) {
				all = all && abandoned(traces[k]);
			}
			if (all) {
				break;
			}
			continue;
		}
		trace_learn(t, r); /* also outside the window: later events need it */
		if (t->observe) {
			t->observe(t->observe_ctx, r);
		}
		/* The header event passes any window: without it the rest means nothing. */
		bool header = !t->header_seen;
		t->header_seen = true;
		if (!header && (r->time_filetime < start || r->time_filetime > end)) {
			continue;
		}
		if (r->time_filetime > (uint64_t)t->log.w.CurrentTime) {
			t->log.w.CurrentTime = (LONGLONG)r->time_filetime;
		}
		if (BASE_UNLIKELY(etl_image_explains(r, &t->explained) && t->session)) {
			continue; /* for those who follow the state: programs ask a live session for their events */
		}
		err = trace_deliver(t, r);
		if (err < 0) {
			code = code_of(err);
			break;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (traces[i]->observe) {
			traces[i]->observe(traces[i]->observe_ctx, NULL);
		}
	}
	consume_merge_destroy(m);
	return code;
}

/* Sources that are not open yet, or were read before. Win32 code. */
static uint32_t sources_ready(struct trace **traces, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (traces[i]->stream || (traces[i]->source && !traces[i]->consumed)) {
			continue;
		}
		struct diag d;
		diag_clear(&d);
		uint32_t code = trace_open_source(traces[i], &d);
		if (code == 0) {
			code = trace_take_header(traces[i]);
		}
		if (code) {
			return code;
		}
	}
	return ERROR_SUCCESS;
}

uint32_t openetw_trace_process(const PROCESSTRACE_HANDLE *handles, uint32_t count, uint64_t start, uint64_t end)
{
	if (count == 0 || count > CONSUME_SOURCES_MAX) {
		return ERROR_BAD_LENGTH;
	}
	if (!handles) {
		return ERROR_INVALID_PARAMETER;
	}
	if (end < start) {
		return ERROR_INVALID_TIME;
	}
	struct trace *traces[CONSUME_SOURCES_MAX];
	uint32_t code = trace_begin(handles, count, traces);
	if (code) {
		return code;
	}
	uint32_t real_time = 0;
	for (uint32_t i = 0; i < count; i++) {
		real_time += traces[i]->session != NULL || traces[i]->stream;
	}
	if (real_time > 0 && count > 1) {
		code = ERROR_INVALID_PARAMETER;
	}
	if (code == ERROR_SUCCESS) {
		code = sources_ready(traces, count);
	}
	if (code == ERROR_SUCCESS) {
		code = run(traces, count, start, end);
	}
	for (uint32_t i = 0; i < count; i++) {
		keep_wait(traces[i]);
	}
	trace_end(traces, count);
	return code;
}

ULONG WMIAPI ProcessTrace(PROCESSTRACE_HANDLE *HandleArray, ULONG HandleCount, LPFILETIME StartTime, LPFILETIME EndTime)
{
	if (HandleCount > WINDOWS_HANDLES_MAX) {
		return ERROR_BAD_LENGTH;
	}
	return openetw_trace_process(HandleArray, HandleCount, StartTime ? filetime_of(StartTime) : 0,
				     EndTime ? filetime_of(EndTime) : UINT64_MAX);
}
