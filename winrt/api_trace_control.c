/* SPDX-License-Identifier: MIT
 *
 * NtTraceControl: what lies below StartTrace, ControlTrace and EnumerateTraceGuidsEx on Windows, and above
 * them here. The codes and the structure are those of public headers of the native API.
 */
#include "winrt/win.h"

#include "etw/evntprov.h"
#include "etw/evntrace.h"
#include "win/windows.h"
#include "win/winternl.h"

#include <stdlib.h>

#define NAME_BYTES 2050 /* 1024 characters and a terminator */
#define FILE_BYTES 2050

enum {
	CODE_START = 1,
	CODE_STOP,
	CODE_QUERY,
	CODE_UPDATE,
	CODE_FLUSH,
	CODE_INCREMENT_FILE,
	CODE_TO_REAL_TIME,
	CODE_ACTIVITY_ID = 12,
	CODE_GUID_LIST = 21,
	CODE_GUID_INFO,
	CODE_GROUP_LIST = 32,
	CODE_GROUP_INFO,
	CODE_LAST = 64 /* those between are of Windows' own libraries */
};

/* In and out. Strings without terminator; Buffer of the caller, which the answer is written to. */
struct logger_information {
	WNODE_HEADER Wnode; /* HistoricalContext: the session's id */
	ULONG BufferSize, MinimumBuffers, MaximumBuffers, MaximumFileSize;
	ULONG LogFileMode, FlushTimer, EnableFlags;
	LONG AgeLimit;
	ULONG64 V2Options;
	ULONG64 LogFileHandle;
	ULONG NumberOfBuffers, FreeBuffers, EventsLost;
	ULONG BuffersWritten, LogBuffersLost, RealTimeBuffersLost;
	ULONG64 LoggerThreadId;
	UNICODE_STRING LogFileName, LoggerName;
	ULONG RealTimeConsumerCount, SequenceNumber;
	ULONG64 LoggerExtension;
};
_Static_assert(sizeof(struct logger_information) == 176, "the layout of 64-bit Windows");

struct block {
	EVENT_TRACE_PROPERTIES p;
	uint8_t name[NAME_BYTES];
	uint8_t file[FILE_BYTES];
};

static bool take_string(const UNICODE_STRING *s, uint8_t *to, size_t cap)
{
	size_t n = s->Buffer ? s->Length & ~1u : 0;
	const uint8_t *from = (const uint8_t *)s->Buffer;
	static const uint8_t native[] = {'\\', 0, '?', 0, '?', 0, '\\', 0};
	if (n >= sizeof native && memcmp(from, native, sizeof native) == 0) {
		from += sizeof native;
		n -= sizeof native;
	}
	if (n + 2 > cap) {
		return false;
	}
	if (n) {
		memcpy(to, from, n);
	}
	memset(to + n, 0, 2);
	return true;
}

static void give_string(UNICODE_STRING *s, const uint8_t *from)
{
	size_t n = 2 * utf16_len((const uint16_t *)(const void *)from);
	if (s->Buffer && s->MaximumLength >= n) {
		memcpy(s->Buffer, from, n);
		if (s->MaximumLength >= n + 2) {
			memset((uint8_t *)s->Buffer + n, 0, 2);
		}
		s->Length = (USHORT)n;
	}
}

static void to_properties(const struct logger_information *i, EVENT_TRACE_PROPERTIES *p)
{
	p->Wnode = i->Wnode;
	p->BufferSize = i->BufferSize;
	p->MinimumBuffers = i->MinimumBuffers;
	p->MaximumBuffers = i->MaximumBuffers;
	p->MaximumFileSize = i->MaximumFileSize;
	p->LogFileMode = i->LogFileMode;
	p->FlushTimer = i->FlushTimer;
	p->EnableFlags = i->EnableFlags;
	p->AgeLimit = i->AgeLimit;
	p->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	p->Wnode.BufferSize = sizeof(struct block);
	p->LoggerNameOffset = offsetof(struct block, name);
	p->LogFileNameOffset = offsetof(struct block, file);
}

static void from_properties(const EVENT_TRACE_PROPERTIES *p, struct logger_information *i)
{
	ULONG bytes = i->Wnode.BufferSize, flags = i->Wnode.Flags;
	i->Wnode = p->Wnode;
	i->Wnode.BufferSize = bytes;
	i->Wnode.Flags = flags;
	i->BufferSize = p->BufferSize;
	i->MinimumBuffers = p->MinimumBuffers;
	i->MaximumBuffers = p->MaximumBuffers;
	i->MaximumFileSize = p->MaximumFileSize;
	i->LogFileMode = p->LogFileMode;
	i->FlushTimer = p->FlushTimer;
	i->EnableFlags = p->EnableFlags;
	i->AgeLimit = p->AgeLimit;
	i->NumberOfBuffers = p->NumberOfBuffers;
	i->FreeBuffers = p->FreeBuffers;
	i->EventsLost = p->EventsLost;
	i->BuffersWritten = p->BuffersWritten;
	i->LogBuffersLost = p->LogBuffersLost;
	i->RealTimeBuffersLost = p->RealTimeBuffersLost;
	i->LoggerThreadId = (uintptr_t)p->LoggerThreadId;
}

static ULONG run(ULONG code, struct logger_information *i, struct block *b)
{
	static const ULONG controls[] = {
		[CODE_STOP] = EVENT_TRACE_CONTROL_STOP,
		[CODE_QUERY] = EVENT_TRACE_CONTROL_QUERY,
		[CODE_UPDATE] = EVENT_TRACE_CONTROL_UPDATE,
		[CODE_FLUSH] = EVENT_TRACE_CONTROL_FLUSH,
		[CODE_INCREMENT_FILE] = EVENT_TRACE_CONTROL_INCREMENT_FILE,
		[CODE_TO_REAL_TIME] = EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME,
	};
	LPCWSTR name = i->LoggerName.Length ? (LPCWSTR)(const void *)b->name : NULL;
	TRACEHANDLE id = i->Wnode.HistoricalContext;
	if (code != CODE_START) {
		return ControlTraceW(id, name, &b->p, controls[code]);
	}
	if (!name) {
		return ERROR_INVALID_PARAMETER;
	}
	/* StartTrace writes the name itself, and wants none at its place. */
	uint16_t copy[NAME_BYTES / 2];
	memcpy(copy, b->name, sizeof copy);
	memset(b->name, 0, sizeof b->name);
	if (!b->file[0] && !b->file[1]) {
		b->p.LogFileNameOffset = 0;
	}
	ULONG result = StartTraceW(&id, copy, &b->p);
	if (result == ERROR_SUCCESS) {
		b->p.Wnode.HistoricalContext = id;
	}
	return result;
}

static NTSTATUS control_session(ULONG code, const void *in, ULONG in_bytes, void *out, ULONG out_bytes,
				ULONG *ret_bytes)
{
	struct logger_information i;
	if (!in || !out || in_bytes < sizeof i || out_bytes < sizeof i) {
		return (NTSTATUS)STATUS_INVALID_PARAMETER;
	}
	memcpy(&i, in, sizeof i);
	struct block *b = calloc(1, sizeof *b);
	if (!b) {
		return (NTSTATUS)STATUS_NO_MEMORY;
	}
	NTSTATUS status = (NTSTATUS)STATUS_INVALID_PARAMETER;
	if (take_string(&i.LoggerName, b->name, sizeof b->name) &&
	    take_string(&i.LogFileName, b->file, sizeof b->file)) {
		to_properties(&i, &b->p);
		status = win_status_of(run(code, &i, b));
	}
	if (status == STATUS_SUCCESS) {
		from_properties(&b->p, &i);
		give_string(&i.LoggerName, b->name);
		give_string(&i.LogFileName, b->file);
		memcpy(out, &i, sizeof i);
		*ret_bytes = sizeof i;
	}
	free(b);
	return status;
}

static NTSTATUS ask(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes, ULONG *ret_bytes)
{
	return win_status_of(EnumerateTraceGuidsEx(what, in, in_bytes, out, out_bytes, ret_bytes));
}

WIN_EXPORT NTSTATUS NTAPI NtTraceControl(ULONG FunctionCode, PVOID InBuffer, ULONG InBufferLen, PVOID OutBuffer,
					 ULONG OutBufferLen, PULONG ReturnLength);
NTSTATUS NTAPI NtTraceControl(ULONG FunctionCode, PVOID InBuffer, ULONG InBufferLen, PVOID OutBuffer,
			      ULONG OutBufferLen, PULONG ReturnLength)
{
	ULONG unused, *ret = ReturnLength ? ReturnLength : &unused;
	*ret = 0;
	if ((!InBuffer && InBufferLen) || (!OutBuffer && OutBufferLen)) {
		return (NTSTATUS)STATUS_ACCESS_VIOLATION;
	}
	switch (FunctionCode) {
	case CODE_START:
	case CODE_STOP:
	case CODE_QUERY:
	case CODE_UPDATE:
	case CODE_FLUSH:
	case CODE_INCREMENT_FILE:
	case CODE_TO_REAL_TIME:
		return control_session(FunctionCode, InBuffer, InBufferLen, OutBuffer, OutBufferLen, ret);
	case CODE_ACTIVITY_ID:
		if (OutBufferLen != sizeof(GUID)) {
			return (NTSTATUS)STATUS_INVALID_PARAMETER;
		}
		*ret = sizeof(GUID);
		return win_status_of(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, OutBuffer));
	case CODE_GUID_LIST: return ask(TraceGuidQueryList, NULL, 0, OutBuffer, OutBufferLen, ret);
	case CODE_GUID_INFO: return ask(TraceGuidQueryInfo, InBuffer, InBufferLen, OutBuffer, OutBufferLen, ret);
	case CODE_GROUP_LIST: return ask(TraceGroupQueryList, NULL, 0, OutBuffer, OutBufferLen, ret);
	case CODE_GROUP_INFO: return ask(TraceGroupQueryInfo, InBuffer, InBufferLen, OutBuffer, OutBufferLen, ret);
	default:
		return FunctionCode > 0 && FunctionCode <= CODE_LAST ? STATUS_NOT_SUPPORTED
								     : (NTSTATUS)STATUS_INVALID_PARAMETER;
	}
}
