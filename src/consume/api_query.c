/* SPDX-License-Identifier: MIT
 *
 * Questions about an open trace, and the entry points for streams of buffers, which are not there
 * yet.
 */
#include "consume/consume_trace.h"
#include "openetw/openetw.h"

ETW_API void WINAPI SetLastError(DWORD dwErrCode);

ULONG WMIAPI QueryTraceProcessingHandle(PROCESSTRACE_HANDLE ProcessingHandle,
					ETW_PROCESS_HANDLE_INFO_TYPE InformationClass,
					PVOID InBuffer, ULONG InBufferSize, PVOID OutBuffer,
					ULONG OutBufferSize, PULONG ReturnLength)
{
	struct trace *t = trace_lock(ProcessingHandle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	ULONG code = ERROR_SUCCESS;
	ULONG need = sizeof(TRACE_LOGFILE_HEADER);
	if (InformationClass != EtwQueryLogFileHeader) {
		code = InformationClass >= EtwQueryPartitionInformation &&
				       InformationClass < EtwQueryProcessHandleInfoMax
			       ? ERROR_NOT_SUPPORTED
			       : ERROR_INVALID_PARAMETER;
	} else if (InBuffer || InBufferSize) {
		code = ERROR_INVALID_PARAMETER;
	} else {
		if (ReturnLength) {
			*ReturnLength = need;
		}
		if (!OutBuffer || OutBufferSize < need) {
			code = ERROR_INSUFFICIENT_BUFFER;
		} else {
			memcpy(OutBuffer, &t->log.w.LogfileHeader, need);
		}
	}
	trace_unlock();
	return code;
}

uint32_t openetw_trace_next_problem(uint64_t trace, struct openetw_problem *problem)
{
	if (!problem || problem->size != sizeof *problem) {
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
	problem->file_offset = p.file_offset;
	_Static_assert(sizeof problem->text == sizeof p.text, "whole sentences");
	memcpy(problem->text, p.text, sizeof p.text);
	return ERROR_SUCCESS;
}

/* Buffers that the caller brings himself: declared so that programs link, refused in words they
 * know. */
PROCESSTRACE_HANDLE WMIAPI OpenTraceFromBufferStream(
	const ETW_OPEN_TRACE_OPTIONS *Options,
	PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback, void *BufferCompletionContext)
{
	SetLastError(Options && BufferCompletionCallback ? ERROR_NOT_SUPPORTED
							 : ERROR_INVALID_PARAMETER);
	return INVALID_PROCESSTRACE_HANDLE;
}

ULONG WMIAPI ProcessTraceAddBufferToBufferStream(PROCESSTRACE_HANDLE TraceHandle,
						 const ETW_BUFFER_HEADER *Buffer, ULONG BufferSize)
{
	/* No handle is one of a buffer stream. */
	return Buffer ? ERROR_INVALID_HANDLE : ERROR_INVALID_PARAMETER;
}

/* Buffers live as long as their callback. */
ULONG WMIAPI ProcessTraceBufferIncrementReference(PROCESSTRACE_HANDLE TraceHandle,
						  const ETW_BUFFER_HEADER *Buffer)
{
	return Buffer ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
}

ULONG WMIAPI ProcessTraceBufferDecrementReference(const ETW_BUFFER_HEADER *Buffer)
{
	return Buffer ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
}
