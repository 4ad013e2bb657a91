/* SPDX-License-Identifier: MIT
 *
 * A provider without TraceLogging: EventRegister, event descriptors as the message compiler makes
 * them from a manifest, payloads gathered from data descriptors.
 *
 *   manifest-style [rounds, default 5] [milliseconds between rounds, default 200]
 */
#include <windows.h>
#include <evntprov.h>
#include <winmeta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* {52aed4bb-9d86-5314-151e-72522f9db51f} */
static const GUID ProviderId = {0x52aed4bb, 0x9d86, 0x5314, {0x15, 0x1e, 0x72, 0x52, 0x2f, 0x9d, 0xb5, 0x1f}};

#define TASK_COPY       1
#define KEYWORD_FILES   0x1ULL
#define KEYWORD_DETAILS 0x2ULL

/* Id, Version, Channel, Level, Opcode, Task, Keyword */
static const EVENT_DESCRIPTOR CopyStart = {
	1, 0, 0, WINEVENT_LEVEL_INFO, WINEVENT_OPCODE_START, TASK_COPY, KEYWORD_FILES};
static const EVENT_DESCRIPTOR CopyBlock = {
	2, 0, 0, WINEVENT_LEVEL_VERBOSE, WINEVENT_OPCODE_INFO, TASK_COPY, KEYWORD_FILES | KEYWORD_DETAILS};
static const EVENT_DESCRIPTOR CopyStop = {3, 0, 0, WINEVENT_LEVEL_INFO, WINEVENT_OPCODE_STOP, TASK_COPY, KEYWORD_FILES};

static REGHANDLE g_handle;

static VOID NTAPI OnEnable(LPCGUID sourceId, ULONG isEnabled, UCHAR level, ULONGLONG matchAnyKeyword,
			   ULONGLONG matchAllKeyword, PEVENT_FILTER_DESCRIPTOR filterData, PVOID context)
{
	UNREFERENCED_PARAMETER(sourceId);
	UNREFERENCED_PARAMETER(filterData);
	UNREFERENCED_PARAMETER(context);
	printf("%s: level %u, any 0x%llx, all 0x%llx\n",
	       isEnabled == EVENT_CONTROL_CODE_ENABLE_PROVIDER    ? "enabled"
	       : isEnabled == EVENT_CONTROL_CODE_DISABLE_PROVIDER ? "disabled"
								  : "asked for its state",
	       (unsigned)level, (unsigned long long)matchAnyKeyword, (unsigned long long)matchAllKeyword);
}

static void Copy(UINT32 number)
{
	static const WCHAR name[] = {'r', 'e', 'p', 'o', 'r', 't', '.', 't', 'x', 't', 0};
	EVENT_DATA_DESCRIPTOR data[3];
	GUID activity;
	UINT64 offset;
	UINT32 status = ERROR_SUCCESS;

	EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &activity);

	/* The descriptors point to the values; EventWrite reads them before it returns. */
	EventDataDescCreate(&data[0], &number, sizeof(number));
	EventDataDescCreate(&data[1], name, sizeof(name));
	EventWriteTransfer(g_handle, &CopyStart, &activity, NULL, 2, data);

	for (offset = 0; offset < 3 * 4096; offset += 4096) {
		BYTE block[16];
		UINT32 size = sizeof(block);

		/* Work that only tracing needs is done only when somebody listens. */
		if (!EventEnabled(g_handle, &CopyBlock)) {
			break;
		}
		memset(block, (int)(offset / 4096), sizeof(block));
		EventDataDescCreate(&data[0], &offset, sizeof(offset));
		EventDataDescCreate(&data[1], &size, sizeof(size));
		EventDataDescCreate(&data[2], block, sizeof(block));
		EventWriteTransfer(g_handle, &CopyBlock, &activity, NULL, 3, data);
	}

	EventDataDescCreate(&data[0], &number, sizeof(number));
	EventDataDescCreate(&data[1], &status, sizeof(status));
	EventWriteTransfer(g_handle, &CopyStop, &activity, NULL, 2, data);
}

int main(int argc, char **argv)
{
	static const WCHAR bye[] = {'b', 'y', 'e', 0};
	UINT32 const rounds = argc > 1 ? (UINT32)atoi(argv[1]) : 5;
	DWORD const pause = argc > 2 ? (DWORD)atoi(argv[2]) : 200;
	ULONG status;
	UINT32 round;

	status = EventRegister(&ProviderId, OnEnable, NULL, &g_handle);
	if (status != ERROR_SUCCESS) {
		fprintf(stderr, "EventRegister: %u\n", (unsigned)status);
		return 1;
	}
	for (round = 1; round <= rounds; round++) {
		Copy(round);
		if (EventProviderEnabled(g_handle, WINEVENT_LEVEL_ERROR, 0)) {
			printf("round %u was traced\n", (unsigned)round);
		}
		Sleep(pause);
	}
	EventWriteString(g_handle, WINEVENT_LEVEL_INFO, 0, bye);
	EventUnregister(g_handle);
	return 0;
}
