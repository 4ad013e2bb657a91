/* SPDX-License-Identifier: MIT
 *
 * Questions about an open trace.
 */
#include "base/sized.h"
#include "consume/consume_trace.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"
#include "openetw/openetw.h"

#include <stdio.h>

ETW_API void WINAPI SetLastError(DWORD dwErrCode);

#define GUID_UNITS 39u /* braces and NUL included */

/* Payload of an EventTrace record in buffer 0 that has this field; false: there is none. */
static bool header_record(const struct trace *t, uint8_t event, uint32_t field, struct kernel_payload *ret)
{
	const struct etl_file_info *i = t->source ? &t->source->info : NULL;
	struct etl_record r;
	uint32_t at = 0;
	struct etl_clock none = {0};
	while (i && i->header && etl_buffer_next(i->header, i->header_bytes, &at, &none, &r, NULL) > 0) {
		*ret = (struct kernel_payload){r.payload, r.payload_bytes, r.pointer_size};
		if (r.hook == KERNEL_HOOK(KERNEL_GROUP_TRACE, event) && kernel_payload_has(*ret, field)) {
			return true;
		}
	}
	return false;
}

static void guid_text(const uint8_t *bytes, WCHAR out[GUID_UNITS])
{
	struct guid g;
	char text[37];
	memcpy(&g, bytes, sizeof g);
	guid_format(&g, text);
	out[0] = '{';
	for (unsigned i = 0; i < 36; i++) {
		out[1 + i] = (WCHAR)text[i];
	}
	out[37] = '}';
	out[38] = 0;
}

struct answer {
	void *out;
	uint32_t room, need;
};
/* True when there is room; notes how much is wanted. */
static bool answer_fits(struct answer *a, uint32_t need)
{
	a->need = need;
	return a->out && a->room >= need;
}

static ULONG query_partition(const struct trace *t, struct answer *a, bool v2)
{
	struct kernel_payload in;
	if (!header_record(t, KP_EVENT_TRACE_PARTITION_INFO_EXTENSION,
			   KP_EVENT_TRACE_PARTITION_INFO_EXTENSION_SINCE_V0_PARENT_ID, &in)) {
		return ERROR_NOT_FOUND;
	}
	uint32_t type = kernel_payload_get32(in, KP_EVENT_TRACE_PARTITION_INFO_EXTENSION_SINCE_V0_PARTITION_TYPE);
	LONG64 offset =
		(LONG64)kernel_payload_get(in, KP_EVENT_TRACE_PARTITION_INFO_EXTENSION_SINCE_V0_QPC_OFFSET_FROM_ROOT);
	const uint8_t *id = kernel_payload_bytes(in, KP_EVENT_TRACE_PARTITION_INFO_EXTENSION_SINCE_V0_PARTITION_ID);
	const uint8_t *parent = kernel_payload_bytes(in, KP_EVENT_TRACE_PARTITION_INFO_EXTENSION_SINCE_V0_PARENT_ID);
	if (!v2) {
		ETW_TRACE_PARTITION_INFORMATION i = {.QpcOffsetFromRoot = offset, .PartitionType = type};
		if (!answer_fits(a, sizeof i)) {
			return ERROR_INSUFFICIENT_BUFFER;
		}
		memcpy(&i.PartitionId, id, sizeof i.PartitionId);
		memcpy(&i.ParentId, parent, sizeof i.ParentId);
		memcpy(a->out, &i, sizeof i);
		return ERROR_SUCCESS;
	}
	/* The strings stand behind the structure. */
	ETW_TRACE_PARTITION_INFORMATION_V2 i = {.QpcOffsetFromRoot = offset, .PartitionType = type};
	if (!answer_fits(a, sizeof i + 2 * GUID_UNITS * sizeof(WCHAR))) {
		return ERROR_INSUFFICIENT_BUFFER;
	}
	WCHAR *text = (WCHAR *)(void *)((uint8_t *)a->out + sizeof i);
	i.PartitionId = text;
	i.ParentId = text + GUID_UNITS;
	guid_text(id, i.PartitionId);
	guid_text(parent, i.ParentId);
	memcpy(a->out, &i, sizeof i);
	return ERROR_SUCCESS;
}

/* One time for each processor. */
static ULONG query_dropped_times(const struct trace *t, struct answer *a)
{
	struct kernel_payload in;
	if (!header_record(t, KP_EVENT_TRACE_LAST_DROPPED_TIMES, KP_EVENT_TRACE_LAST_DROPPED_TIMES_SINCE_V0_TIME_STAMP,
			   &in)) {
		return ERROR_NOT_FOUND;
	}
	struct bytes times = kernel_payload_from(in, KP_EVENT_TRACE_LAST_DROPPED_TIMES_SINCE_V0_TIME_STAMP);
	uint32_t count = kernel_payload_get32(in, KP_EVENT_TRACE_LAST_DROPPED_TIMES_SINCE_V0_TIME_STAMP_COUNT);
	uint32_t n = (uint32_t)BASE_MIN((size_t)count, bytes_left(&times) / 8);
	if (!answer_fits(a, 8 * n)) {
		return ERROR_INSUFFICIENT_BUFFER;
	}
	memcpy(a->out, times.p, 8 * (size_t)n);
	return ERROR_SUCCESS;
}

ULONG WMIAPI QueryTraceProcessingHandle(PROCESSTRACE_HANDLE ProcessingHandle,
					ETW_PROCESS_HANDLE_INFO_TYPE InformationClass, PVOID InBuffer,
					ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize, PULONG ReturnLength)
{
	struct trace *t = trace_lock(ProcessingHandle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	struct answer a = {.out = OutBuffer, .room = OutBufferSize};
	ULONG code = ERROR_INVALID_PARAMETER;
	if (!InBuffer && !InBufferSize) {
		switch (InformationClass) {
		case EtwQueryPartitionInformation:
		case EtwQueryPartitionInformationV2:
			code = query_partition(t, &a, InformationClass == EtwQueryPartitionInformationV2);
			break;
		case EtwQueryLastDroppedTimes: code = query_dropped_times(t, &a); break;
		case EtwQueryLogFileHeader:
			if (!t->header_logger) { /* it has not come yet */
				code = ERROR_NOT_FOUND;
				break;
			}
			code = ERROR_INSUFFICIENT_BUFFER;
			if (answer_fits(&a, sizeof(TRACE_LOGFILE_HEADER))) {
				memcpy(a.out, &t->log.w.LogfileHeader, a.need);
				code = ERROR_SUCCESS;
			}
			break;
		default: break;
		}
	}
	if (ReturnLength && (code == ERROR_SUCCESS || code == ERROR_INSUFFICIENT_BUFFER)) {
		*ReturnLength = a.need;
	}
	trace_unlock();
	return code;
}

/* What a real-time consumer missed so far. No header of Windows' SDK has it; callers declare it. */
ETW_API ULONG WINAPI EtwQueryRealtimeConsumer(TRACEHANDLE TraceHandle, PULONG EventsLostCount, PULONG BuffersLostCount);
ULONG WINAPI EtwQueryRealtimeConsumer(TRACEHANDLE TraceHandle, PULONG EventsLostCount, PULONG BuffersLostCount)
{
	if (!EventsLostCount || !BuffersLostCount) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(TraceHandle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	ULONG code = t->session ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	if (code == ERROR_SUCCESS) {
		uint64_t events = t->source ? t->source->events_lost : 0;
		uint64_t buffers = t->source ? t->source->buffers_lost : 0;
		*EventsLostCount = (ULONG)BASE_MIN(events, (uint64_t)UINT32_MAX);
		*BuffersLostCount = (ULONG)BASE_MIN(buffers, (uint64_t)UINT32_MAX);
	}
	trace_unlock();
	return code;
}

uint32_t openetw_trace_next_problem(openetw_trace_handle trace, struct openetw_problem *problem)
{
	if (!SIZED_VALID(problem, text)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(trace);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	struct etl_problem p;
	struct consume_source *s = t->source;
	bool some = s && s->ops->next_problem && s->ops->next_problem(s, &p);
	trace_unlock();
	if (!some) {
		return ERROR_NO_MORE_ITEMS;
	}
	struct openetw_problem known = {.file_offset = p.file_offset};
	_Static_assert(sizeof known.text == sizeof p.text, "whole sentences");
	memcpy(known.text, p.text, sizeof p.text);
	SIZED_GIVE(problem, &known);
	return ERROR_SUCCESS;
}

uint32_t openetw_trace_next_loss(openetw_trace_handle trace, struct openetw_loss_range *range)
{
	if (!SIZED_VALID(range, to)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(trace);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	struct etl_loss_range l;
	struct consume_source *s = t->source;
	int got = s && s->ops->next_loss ? s->ops->next_loss(s, &l) : 0;
	trace_unlock();
	if (got <= 0) {
		return got < 0 ? win32_from_errno(got) : ERROR_NO_MORE_ITEMS;
	}
	struct openetw_loss_range known = {0};
	known.kind = l.kind == ETL_LOSS_EVENTS        ? OPENETW_LOST_EVENTS
		     : l.kind == ETL_LOSS_BUFFERS     ? OPENETW_LOST_BUFFERS
		     : l.kind == ETL_LOSS_BACKUP      ? OPENETW_LOST_BACKUP
		     : l.kind == ETL_LOSS_MISSING     ? OPENETW_LOST_MISSING
		     : l.kind == ETL_LOSS_OVERWRITTEN ? OPENETW_LOST_OVERWRITTEN
						      : OPENETW_LOST_LATEST;
	known.processor = l.cpu == UINT16_MAX ? UINT32_MAX : l.cpu;
	known.count = l.count;
	known.from = l.from_filetime;
	known.to = l.to_filetime;
	SIZED_GIVE(range, &known);
	return ERROR_SUCCESS;
}

/* A header is rewritten when the session ends: its time of end, how many buffers there are, what was lost. */
static uint32_t why_unknown(const struct trace *t, uint64_t *ret_missing)
{
	const struct etl_file_info *i = &t->source->info;
	*ret_missing = 0;
	if (t->source->real_time) {
		return t->source->broken_off ? OPENETW_UNKNOWN_BROKEN_OFF : 0;
	}
	if (!i->stopped_cleanly) {
		return OPENETW_UNKNOWN_NOT_CLOSED;
	}
	if (!t->path) {
		return 0; /* buffers that the caller brings: only they know how many there are */
	}
	if (i->buffers_written == 0 || i->buffers_found > i->buffers_written) {
		return OPENETW_UNKNOWN_NOT_CLOSED;
	}
	/* A ring counts the buffers, too, that it overwrote. */
	bool ring = (i->log_file_mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_BUFFERING_MODE)) != 0;
	*ret_missing = ring ? 0 : i->buffers_written - i->buffers_found;
	return *ret_missing ? OPENETW_UNKNOWN_END_MISSING : 0;
}

uint32_t openetw_trace_loss(openetw_trace_handle trace, struct openetw_trace_loss *loss)
{
	if (!SIZED_VALID(loss, reason)) {
		return ERROR_INVALID_PARAMETER;
	}
	struct trace *t = trace_lock(trace);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	const struct consume_source *s = t->source;
	struct openetw_trace_loss l = {.size = sizeof l};
	if (s) {
		l.events = s->events_lost;
		l.buffers = s->real_time ? s->buffers_lost : s->info.buffers_lost;
		l.unknown = why_unknown(t, &l.missing_buffers);
	}
	trace_unlock();
	switch (l.unknown) {
	case OPENETW_UNKNOWN_NOT_CLOSED: snprintf(l.reason, sizeof l.reason, "the file was not closed"); break;
	case OPENETW_UNKNOWN_END_MISSING:
		snprintf(l.reason, sizeof l.reason, "%llu buffer%s missing at the end of the file",
			 (unsigned long long)l.missing_buffers, l.missing_buffers == 1 ? " is" : "s are");
		break;
	case OPENETW_UNKNOWN_BROKEN_OFF: snprintf(l.reason, sizeof l.reason, "%s", TRACE_BROKEN_OFF); break;
	default: break;
	}
	SIZED_GIVE(loss, &l);
	return ERROR_SUCCESS;
}
