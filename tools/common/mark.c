/* SPDX-License-Identifier: MIT */
#include "tools/common/mark.h"

#include "kernel/kernel_mark.h"

#include <TraceLoggingProvider.h>

#include <stdlib.h>

#define MARK_WAIT_MS 3000

/* It follows from the name. */
#define MARK_GUID 0xbb8471d3, 0x1515, 0x531c, 0x6a, 0x05, 0x67, 0xc1, 0xfc, 0xe7, 0x83, 0xc9
TRACELOGGING_DEFINE_PROVIDER(mark_provider, "OpenETW.Mark", (MARK_GUID));
const GUID cli_mark_provider = GUID_INIT_WINDOWS(MARK_GUID);

uint32_t cli_mark_enable(TRACEHANDLE session)
{
	return EnableTraceEx2(session, &cli_mark_provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL);
}

/* Has any session the provider enabled? When that cannot be told, it may have. */
static bool mark_wanted(void)
{
	GUID g = cli_mark_provider;
	ULONG n = 0;
	size_t cap = 1 << 20;
	uint8_t *all = malloc(cap);
	TRACE_GUID_INFO info = {0};
	uint32_t code = all ? EnumerateTraceGuidsEx(TraceGuidQueryInfo, &g, sizeof g, all, (ULONG)cap, &n)
			    : ERROR_NOT_ENOUGH_MEMORY;
	bool wanted = code != ERROR_SUCCESS && code != ERROR_WMI_GUID_NOT_FOUND && code != ERROR_NOT_FOUND &&
		      code != ERROR_FILE_NOT_FOUND;
	if (code == ERROR_SUCCESS && n >= sizeof info) {
		memcpy(&info, all, sizeof info);
	}
	size_t at = sizeof info;
	for (ULONG i = 0; i < info.InstanceCount && !wanted && at + sizeof(TRACE_PROVIDER_INSTANCE_INFO) <= n; i++) {
		TRACE_PROVIDER_INSTANCE_INFO one;
		memcpy(&one, all + at, sizeof one);
		wanted = one.EnableCount > 0;
		at += one.NextOffset ? one.NextOffset : n;
	}
	free(all);
	return wanted;
}

uint32_t cli_mark_write(const char *kind, const char *text)
{
	uint32_t code;
	bool kernel = strcmp(kind, "Mark") == 0 && kernel_mark_send(text) > 0;
	if (!mark_wanted()) { /* only a recording of the kernel, or none: nobody to wait for */
		return kernel ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
	}
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
