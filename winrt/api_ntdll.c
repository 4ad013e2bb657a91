/* SPDX-License-Identifier: MIT
 *
 * The names under which ntdll exports the provider functions of advapi32, for callers that look them up
 * there.
 */
#include "winrt/win.h"

#include "etw/evntprov.h"
#include "etw/evntrace.h"

#include <stdarg.h>

#define NTDLL(ret, name, parameters, call) \
	WIN_EXPORT ret name parameters;    \
	ret name parameters                \
	{                                  \
		return call;               \
	}

NTDLL(ULONG, EtwEventRegister, (LPCGUID id, PENABLECALLBACK f, PVOID context, PREGHANDLE ret),
      EventRegister(id, f, context, ret))
NTDLL(ULONG, EtwEventUnregister, (REGHANDLE h), EventUnregister(h))
NTDLL(ULONG, EtwEventSetInformation, (REGHANDLE h, EVENT_INFO_CLASS what, PVOID p, ULONG n),
      EventSetInformation(h, what, p, n))
NTDLL(BOOLEAN, EtwEventEnabled, (REGHANDLE h, PCEVENT_DESCRIPTOR d), EventEnabled(h, d))
NTDLL(BOOLEAN, EtwEventProviderEnabled, (REGHANDLE h, UCHAR level, ULONGLONG keyword),
      EventProviderEnabled(h, level, keyword))
NTDLL(ULONG, EtwEventWrite, (REGHANDLE h, PCEVENT_DESCRIPTOR d, ULONG n, PEVENT_DATA_DESCRIPTOR data),
      EventWrite(h, d, n, data))
NTDLL(ULONG, EtwEventWriteTransfer,
      (REGHANDLE h, PCEVENT_DESCRIPTOR d, LPCGUID activity, LPCGUID related, ULONG n, PEVENT_DATA_DESCRIPTOR data),
      EventWriteTransfer(h, d, activity, related, n, data))
NTDLL(ULONG, EtwEventWriteEx,
      (REGHANDLE h, PCEVENT_DESCRIPTOR d, ULONG64 filter, ULONG flags, LPCGUID activity, LPCGUID related, ULONG n,
       PEVENT_DATA_DESCRIPTOR data),
      EventWriteEx(h, d, filter, flags, activity, related, n, data))
NTDLL(ULONG, EtwEventWriteString, (REGHANDLE h, UCHAR level, ULONGLONG keyword, PCWSTR text),
      EventWriteString(h, level, keyword, text))
NTDLL(ULONG, EtwEventActivityIdControl, (ULONG what, LPGUID id), EventActivityIdControl(what, id))

NTDLL(ULONG, EtwRegisterTraceGuidsW,
      (WMIDPREQUEST f, PVOID context, LPCGUID control, ULONG n, PTRACE_GUID_REGISTRATION guids, LPCWSTR path,
       LPCWSTR name, PTRACEHANDLE ret),
      RegisterTraceGuidsW(f, context, control, n, guids, path, name, ret))
NTDLL(ULONG, EtwRegisterTraceGuidsA,
      (WMIDPREQUEST f, PVOID context, LPCGUID control, ULONG n, PTRACE_GUID_REGISTRATION guids, LPCSTR path,
       LPCSTR name, PTRACEHANDLE ret),
      RegisterTraceGuidsA(f, context, control, n, guids, path, name, ret))
NTDLL(ULONG, EtwUnregisterTraceGuids, (TRACEHANDLE h), UnregisterTraceGuids(h))
NTDLL(TRACEHANDLE, EtwGetTraceLoggerHandle, (PVOID buffer), GetTraceLoggerHandle(buffer))
NTDLL(ULONG, EtwGetTraceEnableFlags, (TRACEHANDLE h), GetTraceEnableFlags(h))
NTDLL(UCHAR, EtwGetTraceEnableLevel, (TRACEHANDLE h), GetTraceEnableLevel(h))
NTDLL(ULONG, EtwLogTraceEvent, (TRACEHANDLE h, PEVENT_TRACE_HEADER event), TraceEvent(h, event))
NTDLL(ULONG, EtwCreateTraceInstanceId, (HANDLE h, PEVENT_INSTANCE_INFO info), CreateTraceInstanceId(h, info))
NTDLL(ULONG, EtwTraceEventInstance,
      (TRACEHANDLE h, PEVENT_INSTANCE_HEADER event, PEVENT_INSTANCE_INFO info, PEVENT_INSTANCE_INFO parent),
      TraceEventInstance(h, event, info, parent))
NTDLL(ULONG, EtwTraceMessageVa, (TRACEHANDLE h, ULONG flags, LPCGUID guid, USHORT number, va_list arguments),
      TraceMessageVa(h, flags, guid, number, arguments))

WIN_EXPORT ULONG EtwTraceMessage(TRACEHANDLE h, ULONG flags, LPCGUID guid, USHORT number, ...);
ULONG EtwTraceMessage(TRACEHANDLE h, ULONG flags, LPCGUID guid, USHORT number, ...)
{
	va_list arguments;
/* The prototype is Windows'; see TraceMessage. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wvarargs"
#endif
	va_start(arguments, number);
#ifdef __clang__
#pragma clang diagnostic pop
#endif
	ULONG code = TraceMessageVa(h, flags, guid, number, arguments);
	va_end(arguments);
	return code;
}
