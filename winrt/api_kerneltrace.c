/* SPDX-License-Identifier: MIT
 *
 * KernelTraceControl.dll: merged files, and the kernel session with its stacks.
 */
#include "winrt/win.h"

#include "openetw/openetw.h"
#include "win/KernelTraceControl.h"

#include <stdlib.h>

#define KNOWN_FLAGS                                                                             \
	(EVENT_TRACE_MERGE_EXTENDED_DATA_ALL | EVENT_TRACE_MERGE_EXTENDED_DATA_COMPRESS_TRACE | \
	 EVENT_TRACE_MERGE_EXTENDED_DATA_INJECT_ONLY)

static char *path_of(LPCWSTR name)
{
	char *text = win_utf8(name);
	char *path = text ? win_path(text) : NULL;
	free(text);
	return path;
}

ULONG WINAPI CreateMergedTraceFile(LPCWSTR wszMergedFileName, LPCWSTR wszTraceFileNames[], ULONG cTraceFileNames,
				   DWORD dwExtendedDataFlags)
{
	if (!wszMergedFileName || !wszTraceFileNames || cTraceFileNames == 0 || cTraceFileNames > 1024 ||
	    (dwExtendedDataFlags & ~KNOWN_FLAGS)) {
		return ERROR_INVALID_PARAMETER;
	}
	if (dwExtendedDataFlags & EVENT_TRACE_MERGE_EXTENDED_DATA_INJECT_ONLY) {
		return ERROR_NOT_SUPPORTED;
	}
	ULONG code = ERROR_SUCCESS;
	char *output = path_of(wszMergedFileName);
	char **paths = calloc(cTraceFileNames, sizeof *paths);
	for (ULONG i = 0; i < cTraceFileNames && paths && code == ERROR_SUCCESS; i++) {
		paths[i] = path_of(wszTraceFileNames[i]);
		code = !wszTraceFileNames[i] ? ERROR_INVALID_PARAMETER
		       : !paths[i]           ? ERROR_NOT_ENOUGH_MEMORY
					     : ERROR_SUCCESS;
	}
	if (!output || !paths) {
		code = ERROR_NOT_ENOUGH_MEMORY;
	}
	if (code == ERROR_SUCCESS) {
		bool compress = dwExtendedDataFlags & EVENT_TRACE_MERGE_EXTENDED_DATA_COMPRESS_TRACE;
		union {
			void *p;
			__typeof__(openetw_merge) *merge;
		} u = {win_openetw("openetw_merge")};
		code = u.p ? u.merge((const char *const *)paths, cTraceFileNames, output,
				     compress ? OPENETW_MERGE_COMPRESS : 0, NULL, NULL)
			   : ERROR_MOD_NOT_FOUND;
	}
	for (ULONG i = 0; i < cTraceFileNames && paths; i++) {
		free(paths[i]);
	}
	free(paths);
	free(output);
	return code;
}

static ULONG set_stacks(TRACEHANDLE session, void *ids, ULONG count)
{
	return TraceSetInformation(session, TraceStackTracingInfo, ids, count * (ULONG)sizeof(STACK_TRACING_EVENT_ID));
}

/* All at once; when some are refused, those that are taken alone, all at once. */
static void take_stacks(TRACEHANDLE session, const STACK_TRACING_EVENT_ID *ids, ULONG count)
{
	STACK_TRACING_EVENT_ID *good = calloc(count, sizeof *good);
	if (!good) {
		return;
	}
	memcpy(good, ids, count * sizeof *good);
	if (set_stacks(session, good, count) != ERROR_SUCCESS) {
		ULONG n = 0;
		for (ULONG i = 0; i < count; i++) {
			STACK_TRACING_EVENT_ID one = ids[i];
			if (set_stacks(session, &one, 1) == ERROR_SUCCESS) {
				good[n++] = ids[i];
			}
		}
		if (n > 0) {
			(void)set_stacks(session, good, n);
		}
	}
	free(good);
}

ULONG WINAPI StartKernelTrace(PTRACEHANDLE TraceHandle, PEVENT_TRACE_PROPERTIES Properties,
			      STACK_TRACING_EVENT_ID StackTracingEventIds[], ULONG cStackTracingEventIds)
{
	if (TraceHandle) {
		*TraceHandle = 0;
	}
	if (!TraceHandle || !Properties || (!StackTracingEventIds && cStackTracingEventIds) ||
	    Properties->Wnode.BufferSize < sizeof *Properties ||
	    memcmp(&Properties->Wnode.Guid, &SystemTraceControlGuid, sizeof(GUID)) != 0) {
		return ERROR_INVALID_PARAMETER;
	}
	TRACEHANDLE session = 0;
	ULONG code = StartTraceW(&session, KERNEL_LOGGER_NAMEW, Properties);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	if (cStackTracingEventIds) {
		take_stacks(session, StackTracingEventIds, BASE_MIN(cStackTracingEventIds, 256u));
	}
	*TraceHandle = session;
	return ERROR_SUCCESS;
}
