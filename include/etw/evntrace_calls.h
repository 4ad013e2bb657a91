/* SPDX-License-Identifier: MIT
 *
 * The functions of evntrace.h. Included by it; types are there.
 */
#ifndef ETW_EVNTRACE_CALLS_H
#define ETW_EVNTRACE_CALLS_H

#include "evntrace.h"

/* ---- controller ------------------------------------------------------------------------------ */

/* Make and start a session. It lives until it is stopped, however long its controller lives.
 *
 *   TraceId       receives the session's id, 0 on failure
 *   InstanceName  at most 1024 characters, unique regardless of case; copied to LoggerNameOffset
 *   Properties    see EVENT_TRACE_PROPERTIES; sizes are adjusted in place
 *
 * ERROR_INVALID_PARAMETER: NULL, bad offsets, modes that exclude each other, SystemTraceControlGuid
 * under another name. ERROR_BAD_LENGTH: Wnode.BufferSize too small, no room for the name.
 * ERROR_BAD_PATHNAME: mode needs a file and there is none, or the file belongs to another session.
 * ERROR_ALREADY_EXISTS: name or GUID is running. ERROR_DISK_FULL. ERROR_ACCESS_DENIED.
 * ERROR_PATH_NOT_FOUND: the directory is not there. ERROR_NO_SYSTEM_RESOURCES: 1024 sessions run, or
 * their buffers together would be too large.
 *
 * Kernel events (EnableFlags of "NT Kernel Logger" and of sessions with EVENT_TRACE_SYSTEM_LOGGER_MODE):
 * ERROR_ACCESS_DENIED without the rights for them, ERROR_NOT_SUPPORTED for a flag that Linux has no
 * events for; openetw_last_error_text() names it.
 */
ETW_API ULONG WMIAPI StartTraceW(CONTROLTRACE_ID *TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI StartTraceA(CONTROLTRACE_ID *TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);

/* Ask, change, flush or stop a session, named by id or, if the id is 0, by name.
 * EVENT_TRACE_CONTROL_*. With both, the id counts.
 *
 * UPDATE heeds FlushTimer and MaximumBuffers (0: as before), the log file name (another file; for a
 * buffering session, where to write the ring), EnableFlags (system loggers only), and of
 * LogFileMode EVENT_TRACE_REAL_TIME_MODE: given, the feed is on; a LogFileMode of 0 turns it off.
 *
 * ERROR_INVALID_PARAMETER; ERROR_BAD_LENGTH: block too small for the structure; ERROR_MORE_DATA:
 * names do not fit (a STOP has stopped the session all the same); ERROR_WMI_INSTANCE_NOT_FOUND: no
 * such session; ERROR_ACTIVE_CONNECTIONS: is stopping already; ERROR_BAD_PATHNAME: the file is in
 * use, also by this session; ERROR_NOT_SUPPORTED: EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME;
 * ERROR_ACCESS_DENIED. */
ETW_API ULONG WMIAPI ControlTraceW(CONTROLTRACE_ID TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties,
				   ULONG ControlCode);
ETW_API ULONG WMIAPI ControlTraceA(CONTROLTRACE_ID TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties,
				   ULONG ControlCode);

/* ControlTrace with the code of the name. */
ETW_API ULONG WMIAPI StopTraceW(CONTROLTRACE_ID TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI StopTraceA(CONTROLTRACE_ID TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI QueryTraceW(CONTROLTRACE_ID TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI QueryTraceA(CONTROLTRACE_ID TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI UpdateTraceW(CONTROLTRACE_ID TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI UpdateTraceA(CONTROLTRACE_ID TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI FlushTraceW(CONTROLTRACE_ID TraceId, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI FlushTraceA(CONTROLTRACE_ID TraceId, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties);

/* Properties of the running sessions that the caller may see; private ones are not listed. Every
 * element is a block as for ControlTrace. ERROR_MORE_DATA: there are *LoggerCount, of which the
 * array got its fill. */
ETW_API ULONG WMIAPI QueryAllTracesW(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
				     PULONG LoggerCount);
ETW_API ULONG WMIAPI QueryAllTracesA(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
				     PULONG LoggerCount);

/* Connect a provider to a session, disconnect it, or ask it for a rundown (EVENT_CONTROL_CODE_*).
 * Each call replaces level, keywords, properties and filters of that pair. The provider need not be
 * running yet.
 *
 *   Level            0 and 255 mean everything
 *   MatchAnyKeyword  0 means everything
 *   MatchAllKeyword  further bits that must all be set
 *   Timeout          milliseconds to wait for the callbacks; 0 does not wait, INFINITE does
 *
 * Filters (EnableParameters, at most 13, each type once): process ids mean the processes that live
 * at the call; executable names, compared without case and with or without ".exe", also those to
 * come; event ids, event names (TraceLogging) and stack filters are exact for each session. Package
 * filters pass no process here. Payload filters (TdhAggregatePayloadFilters in tdh.h) judge the
 * events they name and are for the provider they were made for, never for a group. Container
 * filters list names of containers or control groups as UTF-16 text; a private session refuses
 * them with ERROR_NOT_SUPPORTED.
 *
 * ERROR_INVALID_PARAMETER; ERROR_TIMEOUT: the enable stays in force; ERROR_NO_SYSTEM_RESOURCES:
 * eight sessions have the provider; ERROR_WMI_INSTANCE_NOT_FOUND; ERROR_ACCESS_DENIED. */
ETW_API ULONG WMIAPI EnableTraceEx2(CONTROLTRACE_ID TraceId, LPCGUID ProviderId, ULONG ControlCode, UCHAR Level,
				    ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, ULONG Timeout,
				    PENABLE_TRACE_PARAMETERS EnableParameters);
/* EnableTraceEx2 that does not wait. */
ETW_API ULONG WMIAPI EnableTraceEx(LPCGUID ProviderId, LPCGUID SourceId, CONTROLTRACE_ID TraceId, ULONG IsEnabled,
				   UCHAR Level, ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword,
				   ULONG EnableProperty, PEVENT_FILTER_DESCRIPTOR EnableFilterDesc);
/* The form for classic providers: a 32-bit flags value instead of keywords. */
ETW_API ULONG WMIAPI EnableTrace(ULONG Enable, ULONG EnableFlag, ULONG EnableLevel, LPCGUID ControlGuid,
				 CONTROLTRACE_ID TraceId);

/* Registered providers. ERROR_MORE_DATA: the array was filled, *GuidCount tells how many there are.
 */
ETW_API ULONG WMIAPI EnumerateTraceGuids(PTRACE_GUID_PROPERTIES *GuidPropertiesArray, ULONG PropertyArrayCount,
					 PULONG GuidCount);
/* Classes TraceGuidQueryList, TraceGuidQueryInfo, TraceGuidQueryProcess, TraceGroupQueryList,
 * TraceGroupQueryInfo, TraceMaxLoggersQuery; ERROR_INVALID_PARAMETER for others.
 * ERROR_WMI_GUID_NOT_FOUND: nobody registered or enabled that GUID, or it is no group. Sizes in
 * bytes. ERROR_INSUFFICIENT_BUFFER: *ReturnLength bytes are needed; an OutBufferSize of 0
 * asks. */
ETW_API ULONG WMIAPI EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, PVOID InBuffer,
					   ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize,
					   PULONG ReturnLength);
/* Settable: TraceSetDisallowList (members of provider groups this session does not want),
 * TracePeriodicCaptureStateListInfo, TraceProviderBinaryTracking (on by itself). To query: TraceDisallowListQuery, TraceStreamCount (both of a
 * session), TraceVersionInfo, TraceMaxLoggersQuery, TraceMaxPmcCounterQuery,
 * TracePeriodicCaptureStateInfo (the limits).
 *
 * Of sessions with kernel events: TraceStackTracingInfo, TraceSystemTraceEnableFlagsInfo, and once for each session
 * TracePmcCounterListInfo (up to 7 sources) and TracePmcEventListInfo (the events that have their values, as
 * EVENT_HEADER_EXT_TYPE_PMC_COUNTERS). Of the machine, with an id of 0: TraceProfileSourceListInfo (what can be
 * counted and sampled by here), TraceSampledProfileIntervalInfo (of the source in TRACE_PROFILE_INTERVAL, which a
 * query looks at), TraceProfileSourceConfigInfo (what sessions with PMC_PROFILE are sampled by), TracePmcCounterOwners,
 * TracePmcSessionInformation. A counter that this machine does not have: ERROR_NOT_SUPPORTED, and
 * openetw_last_error_text() names it. Branch records and registers: ERROR_NOT_SUPPORTED once their length is right.
 *
 * ERROR_BAD_LENGTH, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED (class),
 * ERROR_WMI_INSTANCE_NOT_FOUND (session). */
ETW_API ULONG WMIAPI TraceSetInformation(CONTROLTRACE_ID TraceId, TRACE_INFO_CLASS InformationClass,
					 PVOID TraceInformation, ULONG InformationLength);
ETW_API ULONG WMIAPI TraceQueryInformation(CONTROLTRACE_ID TraceId, TRACE_INFO_CLASS InformationClass,
					   PVOID TraceInformation, ULONG InformationLength, PULONG ReturnLength);
/* ERROR_INVALID_PARAMETER; else ERROR_NOT_SUPPORTED: branches are recorded at kernel events. */
ETW_API ULONG WMIAPI TraceConfigureLastBranchRecord(CONTROLTRACE_ID TraceId, TRACE_LBR_CONFIGURATION LbrConfiguration,
						    const CLASSIC_EVENT_ID *Events, ULONG EventCount);

/* ---- classic providers ----------------------------------------------------------------------- */

/* Register a control GUID and the event classes it governs; fills their RegHandle. When a session
 * has the GUID enabled already the callback runs at once and its return value becomes this
 * function's. ERROR_INVALID_PARAMETER: RequestAddress, ControlGuid or RegistrationHandle is NULL.
 * MofImagePath and MofResourceName are not used. */
ETW_API ULONG WMIAPI RegisterTraceGuidsW(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
					 ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg, LPCWSTR MofImagePath,
					 LPCWSTR MofResourceName, TRACEGUID_HANDLE *RegistrationHandle);
ETW_API ULONG WMIAPI RegisterTraceGuidsA(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
					 ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg, LPCSTR MofImagePath,
					 LPCSTR MofResourceName, TRACEGUID_HANDLE *RegistrationHandle);
/* The callback does not run afterwards. ERROR_INVALID_PARAMETER: 0; ERROR_INVALID_HANDLE. */
ETW_API ULONG WMIAPI UnregisterTraceGuids(TRACEGUID_HANDLE RegistrationHandle);

/* The session handle in the buffer of a WMI_ENABLE_EVENTS callback. On failure
 * (TRACELOGGER_HANDLE)INVALID_HANDLE_VALUE, with the reason in GetLastError. */
ETW_API TRACELOGGER_HANDLE WMIAPI GetTraceLoggerHandle(PVOID Buffer);
/* What the session asked for. 0 is an error only if GetLastError changed; clear it before. */
ETW_API UCHAR WMIAPI GetTraceEnableLevel(TRACELOGGER_HANDLE TraceHandle);
ETW_API ULONG WMIAPI GetTraceEnableFlags(TRACELOGGER_HANDLE TraceHandle);

/* The next number of a class: RegHandle is that of its TRACE_GUID_REGISTRATION.
 * ERROR_INVALID_PARAMETER: a NULL. */
ETW_API ULONG WMIAPI CreateTraceInstanceId(HANDLE RegHandle, PEVENT_INSTANCE_INFO InstInfo);

/* Write an event that starts with an EVENT_TRACE_HEADER. Size counts everything; Flags needs
 * WNODE_FLAG_TRACED_GUID. ERROR_INVALID_FLAG_NUMBER, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER,
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_MORE_DATA: larger than a buffer less its 72-byte header. */
ETW_API ULONG WMIAPI TraceEvent(TRACELOGGER_HANDLE TraceHandle, PEVENT_TRACE_HEADER EventTrace);
/* The same with an instance id and, unless ParentInstInfo is NULL, that of the parent. */
ETW_API ULONG WMIAPI TraceEventInstance(TRACELOGGER_HANDLE TraceHandle, PEVENT_INSTANCE_HEADER EventTrace,
					PEVENT_INSTANCE_INFO InstInfo, PEVENT_INSTANCE_INFO ParentInstInfo);
/* WPP messages: pairs of (const void *data, SIZE_T bytes), ended by a NULL data and 0.
 * MessageFlags is TRACE_MESSAGE_*: which header fields the record gets. Codes as of TraceEvent. */
ETW_API ULONG TraceMessage(TRACELOGGER_HANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
			   USHORT MessageNumber, ...);
ETW_API ULONG TraceMessageVa(TRACELOGGER_HANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
			     USHORT MessageNumber, va_list MessageArgList);

/* ---- consumer -------------------------------------------------------------------------------- */

/* Open a file or a real-time session. Returns INVALID_PROCESSTRACE_HANDLE on failure, with the
 * reason in GetLastError: ERROR_INVALID_PARAMETER, ERROR_BAD_PATHNAME (no name),
 * ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED. Fills LogfileHeader; the strings it points to live
 * until CloseTrace. */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceW(PEVENT_TRACE_LOGFILEW Logfile);
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceA(PEVENT_TRACE_LOGFILEA Logfile);

/* Deliver the events of up to 64 files merged by time, or of one real-time session, to the
 * callbacks. Blocks until the end, CloseTrace, or a buffer callback's FALSE. StartTime and EndTime
 * (both included) may be NULL.
 *
 * ERROR_BAD_LENGTH: HandleCount is 0 or above 64. ERROR_INVALID_PARAMETER: no array, files and real
 * time mixed, two real-time handles. ERROR_INVALID_HANDLE. ERROR_INVALID_TIME: end before start.
 * ERROR_CANCELLED: a buffer callback returned FALSE. ERROR_WMI_INSTANCE_NOT_FOUND: the session does
 * not run or is not real-time. */
ETW_API ULONG WMIAPI ProcessTrace(PROCESSTRACE_HANDLE *HandleArray, ULONG HandleCount, LPFILETIME StartTime,
				  LPFILETIME EndTime);

/* ERROR_CTX_CLOSE_PENDING is success: a running ProcessTrace finishes what is queued and returns.
 * ERROR_INVALID_HANDLE. Allowed inside callbacks. */
ETW_API ULONG WMIAPI CloseTrace(PROCESSTRACE_HANDLE TraceHandle);

/* The newer ways to open. `LogFileHeader` may be NULL. */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromFile(LPCWSTR LogFileName, const ETW_OPEN_TRACE_OPTIONS *Options,
						     TRACE_LOGFILE_HEADER *LogFileHeader);
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLogger(LPCWSTR LoggerName,
							       const ETW_OPEN_TRACE_OPTIONS *Options,
							       TRACE_LOGFILE_HEADER *LogFileHeader);
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLoggerWithAllocationOptions(
	LPCWSTR LoggerName, const ETW_OPEN_TRACE_OPTIONS *Options, ULONG_PTR AllocationSize,
	HANDLE MemoryPartitionHandle, TRACE_LOGFILE_HEADER *LogFileHeader);
/* Buffers come from the caller: the first one holds the log file header, the others follow in
 * order. */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromBufferStream(const ETW_OPEN_TRACE_OPTIONS *Options,
							     PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback,
							     void *BufferCompletionContext);
ETW_API ULONG WMIAPI ProcessTraceAddBufferToBufferStream(PROCESSTRACE_HANDLE TraceHandle,
							 const ETW_BUFFER_HEADER *Buffer, ULONG BufferSize);
/* Keep a buffer beyond its callback; ProcessTrace waits until all are given back. */
ETW_API ULONG WMIAPI ProcessTraceBufferIncrementReference(PROCESSTRACE_HANDLE TraceHandle,
							  const ETW_BUFFER_HEADER *Buffer);
ETW_API ULONG WMIAPI ProcessTraceBufferDecrementReference(const ETW_BUFFER_HEADER *Buffer);
/* Facts about an open trace (ETW_PROCESS_HANDLE_INFO_TYPE). Sizes in bytes;
 * ERROR_INSUFFICIENT_BUFFER: *ReturnLength are needed. ERROR_NOT_SUPPORTED: the class. */
ETW_API ULONG WMIAPI QueryTraceProcessingHandle(PROCESSTRACE_HANDLE ProcessingHandle,
						ETW_PROCESS_HANDLE_INFO_TYPE InformationClass, PVOID InBuffer,
						ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize,
						PULONG ReturnLength);

/* A callback of its own for the classic events of one class; the latest one counts.
 * RemoveTraceCallback: ERROR_WMI_GUID_NOT_FOUND when there is none. */
ETW_API ULONG WMIAPI SetTraceCallback(LPCGUID Guid, PEVENT_CALLBACK EventCallback);
ETW_API ULONG WMIAPI RemoveTraceCallback(LPCGUID Guid);

/* ---- names without suffix -------------------------------------------------------------------- */

#ifdef UNICODE
#define KERNEL_LOGGER_NAME           KERNEL_LOGGER_NAMEW
#define GLOBAL_LOGGER_NAME           GLOBAL_LOGGER_NAMEW
#define EVENT_LOGGER_NAME            EVENT_LOGGER_NAMEW
#define DIAG_LOGGER_NAME             DIAG_LOGGER_NAMEW
#define EVENT_TRACE_LOGFILE          EVENT_TRACE_LOGFILEW
#define PEVENT_TRACE_LOGFILE         PEVENT_TRACE_LOGFILEW
#define PEVENT_TRACE_BUFFER_CALLBACK PEVENT_TRACE_BUFFER_CALLBACKW
#define StartTrace                   StartTraceW
#define ControlTrace                 ControlTraceW
#define QueryAllTraces               QueryAllTracesW
#define FlushTrace                   FlushTraceW
#define RegisterTraceGuids           RegisterTraceGuidsW
#define OpenTrace                    OpenTraceW
#else
#define KERNEL_LOGGER_NAME           KERNEL_LOGGER_NAMEA
#define GLOBAL_LOGGER_NAME           GLOBAL_LOGGER_NAMEA
#define EVENT_LOGGER_NAME            EVENT_LOGGER_NAMEA
#define DIAG_LOGGER_NAME             DIAG_LOGGER_NAMEA
#define EVENT_TRACE_LOGFILE          EVENT_TRACE_LOGFILEA
#define PEVENT_TRACE_LOGFILE         PEVENT_TRACE_LOGFILEA
#define PEVENT_TRACE_BUFFER_CALLBACK PEVENT_TRACE_BUFFER_CALLBACKA
#define StartTrace                   StartTraceA
#define ControlTrace                 ControlTraceA
#define QueryAllTraces               QueryAllTracesA
#define FlushTrace                   FlushTraceA
#define RegisterTraceGuids           RegisterTraceGuidsA
#define OpenTrace                    OpenTraceA
#endif
#if defined(__TRACE_W2K_COMPATIBLE)
#define StopTrace(id, name, props)   ControlTrace((id), (name), (props), EVENT_TRACE_CONTROL_STOP)
#define QueryTrace(id, name, props)  ControlTrace((id), (name), (props), EVENT_TRACE_CONTROL_QUERY)
#define UpdateTrace(id, name, props) ControlTrace((id), (name), (props), EVENT_TRACE_CONTROL_UPDATE)
#elif defined(UNICODE)
#define StopTrace   StopTraceW
#define QueryTrace  QueryTraceW
#define UpdateTrace UpdateTraceW
#else
#define StopTrace   StopTraceA
#define QueryTrace  QueryTraceA
#define UpdateTrace UpdateTraceA
#endif

#endif
