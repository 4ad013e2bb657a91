/* SPDX-License-Identifier: MIT
 *
 * Buffers instead of events: streams of buffers that the caller brings, and buffers that a callback
 * keeps.
 */
#include "consume/consume_keep.h"
#include "consume/consume_trace.h"

#include <stdlib.h>

ETW_API void WINAPI SetLastError(DWORD dwErrCode);

static void stream_done(void *ctx, const uint8_t *buf)
{
	struct trace *t = ctx;
	t->completion((const ETW_BUFFER_HEADER *)(const void *)buf, t->completion_context);
}

PROCESSTRACE_HANDLE WMIAPI OpenTraceFromBufferStream(const ETW_OPEN_TRACE_OPTIONS *Options,
						     PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback,
						     void *BufferCompletionContext)
{
	uint32_t code = ERROR_INVALID_PARAMETER;
	PROCESSTRACE_HANDLE h = INVALID_PROCESSTRACE_HANDLE;
	if (Options && BufferCompletionCallback) {
		struct trace *t = calloc(1, sizeof *t);
		code = ERROR_OUTOFMEMORY;
		if (t) {
			t->stream = true;
			t->event_record = true;
			t->raw_time = (Options->ProcessTraceModes & ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0;
			t->log.w.EventRecordCallback = Options->EventCallback;
			t->log.w.Context = Options->EventCallbackContext;
			t->raw_buffer = Options->BufferCallback;
			t->raw_buffer_context = Options->BufferCallbackContext;
			t->completion = BufferCompletionCallback;
			t->completion_context = BufferCompletionContext;
			if (consume_stream_open(stream_done, t, &t->source) == 0) {
				h = trace_add(t);
			}
			if (h == INVALID_PROCESSTRACE_HANDLE) {
				trace_destroy(t);
			}
		}
	}
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		SetLastError(code);
	}
	return h;
}

ULONG WMIAPI ProcessTraceAddBufferToBufferStream(PROCESSTRACE_HANDLE TraceHandle, const ETW_BUFFER_HEADER *Buffer,
						 ULONG BufferSize)
{
	if (!Buffer) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(TraceHandle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	int r = t->stream ? consume_stream_add(t->source, (const uint8_t *)Buffer, BufferSize) : -EBADF;
	trace_unlock();
	switch (r) {
	case 0: return ERROR_SUCCESS;
	case -EBADF: return ERROR_INVALID_HANDLE;
	case -EBADMSG: return ERROR_INVALID_DATA;
	case -ERANGE: return ERROR_INVALID_TIME;
	default: return win32_from_errno(r);
	}
}

ULONG WMIAPI ProcessTraceBufferIncrementReference(PROCESSTRACE_HANDLE TraceHandle, const ETW_BUFFER_HEADER *Buffer)
{
	if (!Buffer) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(TraceHandle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	/* The buffers of a stream are the caller's own. */
	ULONG code = ERROR_INVALID_PARAMETER;
	if (!t->stream && (t->callback_buffer == Buffer || keep_has(Buffer, t))) {
		code = keep_add(Buffer, t) == 0 ? ERROR_SUCCESS : ERROR_OUTOFMEMORY;
	}
	trace_unlock();
	return code;
}

ULONG WMIAPI ProcessTraceBufferDecrementReference(const ETW_BUFFER_HEADER *Buffer)
{
	return Buffer && keep_drop(Buffer) == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}
