/* SPDX-License-Identifier: MIT
 *
 * Functions that DLLs of Windows export and no SDK header declares: callers look them up by name, or
 * declare them themselves.
 */
#include "winrt/win.h"

#include "etw/evntprov.h"
#include "etw/tdh.h"
#include "win/windows.h"

#include <stdlib.h>

/* Starts of scenarios go to a diagnosis service there; what is left of them are their events. */
#define SCENARIO(name)                                                                                  \
	WIN_EXPORT ULONG name(REGHANDLE h, PCEVENT_DESCRIPTOR d, ULONG n, PEVENT_DATA_DESCRIPTOR data); \
	ULONG name(REGHANDLE h, PCEVENT_DESCRIPTOR d, ULONG n, PEVENT_DATA_DESCRIPTOR data)             \
	{                                                                                               \
		return EventWrite(h, d, n, data);                                                       \
	}
SCENARIO(EventWriteStartScenario)
SCENARIO(EventWriteEndScenario)
SCENARIO(EtwEventWriteStartScenario)
SCENARIO(EtwEventWriteEndScenario)

/* What is known of the event: pointers to the structures, then the structures, all in the caller's
 * memory. Schemas here name exactly one event for a record, so *pCount is 1 and *pIndex is 0. */
WIN_EXPORT ULONG TdhGetAllEventsInformation(PEVENT_RECORD pEvent, PVOID pWbemService, ULONG *pIndex, ULONG *pCount,
					    PTRACE_EVENT_INFO *ppBuffer, ULONG *pBufferSize);
ULONG TdhGetAllEventsInformation(PEVENT_RECORD pEvent, PVOID pWbemService, ULONG *pIndex, ULONG *pCount,
				 PTRACE_EVENT_INFO *ppBuffer, ULONG *pBufferSize)
{
	(void)pWbemService; /* there is no such namespace to look into */
	if (!pEvent || !pIndex || !pCount || !pBufferSize || (!ppBuffer && *pBufferSize)) {
		return ERROR_INVALID_PARAMETER;
	}
	ULONG info = 0;
	ULONG code = TdhGetEventInformation(pEvent, 0, NULL, NULL, &info);
	if (code != ERROR_INSUFFICIENT_BUFFER) {
		return code;
	}
	ULONG room = *pBufferSize, head = sizeof(PTRACE_EVENT_INFO);
	*pBufferSize = head + info;
	if (room < head + info) {
		return ERROR_INSUFFICIENT_BUFFER;
	}
	PTRACE_EVENT_INFO first = (PTRACE_EVENT_INFO)(void *)((BYTE *)ppBuffer + head);
	code = TdhGetEventInformation(pEvent, 0, NULL, first, &info);
	if (code == ERROR_SUCCESS) {
		ppBuffer[0] = first;
		*pIndex = 0;
		*pCount = 1;
	}
	return code;
}
