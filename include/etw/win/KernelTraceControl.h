/* SPDX-License-Identifier: MIT
 *
 * What the performance toolkit's KernelTraceControl.dll offers: one file out of several, and the
 * kernel session with its stacks in one call. Found by GetProcAddress and in the alias libraries, too.
 */
#ifndef ETW_WIN_KERNELTRACECONTROL_H
#define ETW_WIN_KERNELTRACECONTROL_H
#include "windows.h"

#include "../evntrace.h"

/* What Windows' function adds to the output. Here all of these are accepted and add nothing. Files of
 * kernel sessions carry IMAGEID (from build ids), BUILDINFO and VOLUME_MAPPING from the start, any file
 * carries EVENT_METADATA (the schemas that are known). Adapters are in the NIC records of kernel
 * sessions, not as NETWORK_INTERFACE; WINSAT, PERFTRACK_METADATA and NGEN_PDB have nothing on this
 * system to be made of. Files of other machines stay as they are. INJECT_ONLY is ERROR_NOT_SUPPORTED. */
#define EVENT_TRACE_MERGE_EXTENDED_DATA_NONE               0x00000000
#define EVENT_TRACE_MERGE_EXTENDED_DATA_IMAGEID            0x00000001
#define EVENT_TRACE_MERGE_EXTENDED_DATA_BUILDINFO          0x00000002
#define EVENT_TRACE_MERGE_EXTENDED_DATA_VOLUME_MAPPING     0x00000004
#define EVENT_TRACE_MERGE_EXTENDED_DATA_WINSAT             0x00000008
#define EVENT_TRACE_MERGE_EXTENDED_DATA_EVENT_METADATA     0x00000010
#define EVENT_TRACE_MERGE_EXTENDED_DATA_PERFTRACK_METADATA 0x00000020
#define EVENT_TRACE_MERGE_EXTENDED_DATA_NETWORK_INTERFACE  0x00000040
#define EVENT_TRACE_MERGE_EXTENDED_DATA_NGEN_PDB           0x00000080
#define EVENT_TRACE_MERGE_EXTENDED_DATA_COMPRESS_TRACE     0x10000000
#define EVENT_TRACE_MERGE_EXTENDED_DATA_INJECT_ONLY        0x40000000
#define EVENT_TRACE_MERGE_EXTENDED_DATA_DEFAULT            0x000FFFFF
#define EVENT_TRACE_MERGE_EXTENDED_DATA_ALL                0x0FFFFFFF

#define EVENT_METADATA_LOG_TYPE_TRACE_EVENT_INFO 0x20
#define EVENT_METADATA_LOG_TYPE_EVENT_MAP_INFO   0x21

/* A kind of event that is to carry its call stack: CLASSIC_EVENT_ID under its older name. */
typedef struct _STACK_TRACING_EVENT_ID {
	GUID EventGuid;
	UCHAR Type;
	UCHAR Reserved[7];
} STACK_TRACING_EVENT_ID, *PSTACK_TRACING_EVENT_ID;

#ifdef __cplusplus
extern "C" {
#endif
/* Writes the events of `cTraceFileNames` (1 to 1,024) files to one, in the order of time.
 * ERROR_INVALID_PARAMETER for NULL or none, ERROR_FILE_NOT_FOUND, ERROR_FILE_CORRUPT (no trace),
 * ERROR_NOT_SUPPORTED for INJECT_ONLY. COMPRESS_TRACE: the output's buffers are compressed. */
ETW_API ULONG WINAPI CreateMergedTraceFile(LPCWSTR wszMergedFileName, LPCWSTR wszTraceFileNames[],
					   ULONG cTraceFileNames, DWORD dwExtendedDataFlags);
/* StartTrace of "NT Kernel Logger" with Wnode.Guid SystemTraceControlGuid (any other:
 * ERROR_INVALID_PARAMETER), and stacks for the events of the array. Those that no call stack is known
 * for are passed over. *TraceHandle is 0 after a failure. */
ETW_API ULONG WINAPI StartKernelTrace(PTRACEHANDLE TraceHandle, PEVENT_TRACE_PROPERTIES Properties,
				      STACK_TRACING_EVENT_ID StackTracingEventIds[], ULONG cStackTracingEventIds);
#ifdef __cplusplus
}
#endif
#endif
