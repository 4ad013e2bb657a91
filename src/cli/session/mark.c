/* SPDX-License-Identifier: MIT */
#include "cli/session/mark.h"

#include "kernel/kernel_mark.h"

#include <TraceLoggingProvider.h>

#include <stdlib.h>

#define MARK_WAIT_MS 3000

/* {bb8471d3-1515-531c-6a05-67c1fce783c9}: follows from the name. */
TRACELOGGING_DEFINE_PROVIDER(mark_provider, "OpenETW.Mark",
			     (0xbb8471d3, 0x1515, 0x531c, 0x6a, 0x05, 0x67, 0xc1, 0xfc, 0xe7, 0x83, 0xc9));
const GUID cli_mark_provider = {0xbb8471d3, 0x1515, 0x531c, {0x6a, 0x05, 0x67, 0xc1, 0xfc, 0xe7, 0x83, 0xc9}};

uint32_t cli_mark_enable(TRACEHANDLE session)
{
	return EnableTraceEx2(session, &cli_mark_provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0,
			      NULL);
}

uint32_t cli_mark_write(const char *kind, const char *text)
{
	uint32_t code;
	bool kernel = strcmp(kind, "Mark") == 0 && kernel_mark_send(text) > 0;
	setenv("OPENETW_WAIT_MS", "3000", 0); /* a person waits; a busy machine may need it */
	HRESULT hr = TraceLoggingRegister(mark_provider);
	if (FAILED(hr)) {
		return (uint32_t)hr & 0xFFFF;
	}
	for (int ms = 0; ms < MARK_WAIT_MS && !TraceLoggingProviderEnabled(mark_provider, 0, 0); ms += 10) {
		usleep(10000);
	}
	if (!TraceLoggingProviderEnabled(mark_provider, 0, 0)) {
		code = kernel ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
	} else {
		if (strcmp(kind, "Mark") == 0) {
			TraceLoggingWrite(mark_provider, "Mark", TraceLoggingLevel(4),
					  TraceLoggingUtf8String(text, "Label"));
		} else {
			TraceLoggingWrite(mark_provider, "ProblemDescription", TraceLoggingLevel(4),
					  TraceLoggingUtf8String(text, "Description"));
		}
		code = ERROR_SUCCESS;
	}
	TraceLoggingUnregister(mark_provider);
	return code;
}
