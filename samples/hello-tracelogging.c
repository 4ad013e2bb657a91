/* SPDX-License-Identifier: MIT
 *
 * A TraceLogging provider as one would write it for Windows. It compiles there and here without a
 * change.
 *
 *   hello-tracelogging [rounds, default 5] [milliseconds between rounds, default 200]
 *
 * The GUID is the one that follows from the name, so a session may ask for "*OpenETW.Sample.Hello".
 */
#include <windows.h>
#include <TraceLoggingProvider.h>
#include <winmeta.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYWORD_ORDERS  0x1
#define KEYWORD_NETWORK 0x2

TRACELOGGING_DEFINE_PROVIDER(g_hHello, "OpenETW.Sample.Hello",
			     /* {71e4037d-56b7-5e7c-163b-9a48a5792f88} */
			     (0x71e4037d, 0x56b7, 0x5e7c, 0x16, 0x3b, 0x9a, 0x48, 0xa5, 0x79, 0x2f, 0x88));

/* Called when a session enables or disables the provider. */
static VOID NTAPI OnEnable(LPCGUID sourceId, ULONG isEnabled, UCHAR level, ULONGLONG matchAnyKeyword,
			   ULONGLONG matchAllKeyword, PEVENT_FILTER_DESCRIPTOR filterData, PVOID context)
{
	UNREFERENCED_PARAMETER(sourceId);
	UNREFERENCED_PARAMETER(matchAllKeyword);
	UNREFERENCED_PARAMETER(filterData);
	UNREFERENCED_PARAMETER(context);
	if (isEnabled == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		printf("enabled: level %u, keywords 0x%llx\n", (unsigned)level, (unsigned long long)matchAnyKeyword);
	} else if (isEnabled == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
		printf("disabled\n");
	} else if (isEnabled == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		TraceLoggingWrite(g_hHello, "State", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
				  TraceLoggingUInt32(GetCurrentProcessId(), "ProcessId"));
	}
}

static void NumbersAndText(int round)
{
	static const WCHAR greeting[] = {'G', 'r', 0xFC, 0xDF, 'e', 0}; /* Grüße */
	static const char utf8[] = {'G', 'r', '\xC3', '\xBC', '\xC3', '\x9F', 'e', 0};
	const UINT16 readings[3] = {(UINT16)round, (UINT16)(round * 2), (UINT16)(round * 3)};
	const UINT8 digest[4] = {0xDE, 0xAD, 0xBE, 0xEF};
	FILETIME now;
	GUID id = TraceLoggingProviderId(g_hHello);

	GetSystemTimeAsFileTime(&now);
	TraceLoggingWrite(g_hHello, "Types", TraceLoggingLevel(WINEVENT_LEVEL_VERBOSE),
			  TraceLoggingDescription("One field of most types"), TraceLoggingInt32(round, "Round"),
			  TraceLoggingUInt64(0x1122334455667788ULL * (UINT64)round, "Big"),
			  TraceLoggingHexUInt32(0xC0FFEEu, "Hex"), TraceLoggingFloat64(round / 3.0, "Third"),
			  TraceLoggingBool(round % 2 == 0, "Even"), TraceLoggingString("plain text", "Text"),
			  TraceLoggingUtf8String(utf8, "Utf8"), TraceLoggingWideString(greeting, "Wide"),
			  TraceLoggingUInt16Array(readings, 3, "Readings"),
			  TraceLoggingUInt8FixedArray(digest, 4, "Digest"),
			  TraceLoggingBinary(digest, sizeof(digest), "Raw"), TraceLoggingGuid(id, "Provider"),
			  TraceLoggingFileTime(now, "Now"), TraceLoggingPointer(&round, "Address"),
			  TraceLoggingWinError(ERROR_FILE_NOT_FOUND, "Error"),
			  TraceLoggingHResult((HRESULT)0x80004005u, "Result"));
}

static void Order(int round)
{
	GUID activity;

	EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &activity);
	TraceLoggingWriteActivity(g_hHello, "Order", &activity, NULL, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
				  TraceLoggingKeyword(KEYWORD_ORDERS), TraceLoggingOpcode(WINEVENT_OPCODE_START),
				  TraceLoggingInt32(round, "Number"));
	/* clang-format off */
	TraceLoggingWriteActivity(
		g_hHello, "OrderLine", &activity, NULL, TraceLoggingLevel(WINEVENT_LEVEL_VERBOSE),
		TraceLoggingKeyword(KEYWORD_ORDERS),
		TraceLoggingStruct(3, "Line"),
			TraceLoggingString("teapot", "Article"),
			TraceLoggingInt32(1 + round % 3, "Amount"),
			TraceLoggingStruct(2, "Price"),
				TraceLoggingFloat64(9.90, "Value"),
				TraceLoggingString("EUR", "Currency"),
		TraceLoggingBoolean(TRUE, "InStock"));
	/* clang-format on */
	TraceLoggingWriteActivity(g_hHello, "Order", &activity, NULL, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
				  TraceLoggingKeyword(KEYWORD_ORDERS), TraceLoggingOpcode(WINEVENT_OPCODE_STOP),
				  TraceLoggingInt32(0, "Status"));
}

static void Network(int round)
{
	const UINT32 loopback = 0x0100007F; /* 127.0.0.1, network order */
	const UINT16 port = 0x5000;         /* 80, network order */

	TraceLoggingWrite(g_hHello, "Connected", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
			  TraceLoggingKeyword(KEYWORD_NETWORK), TraceLoggingIPv4Address(loopback, "Address"),
			  TraceLoggingPort(port, "Port"));
	if (round % 3 == 0) {
		TraceLoggingWrite(g_hHello, "Timeout", TraceLoggingLevel(WINEVENT_LEVEL_WARNING),
				  TraceLoggingKeyword(KEYWORD_NETWORK | KEYWORD_ORDERS),
				  TraceLoggingUInt32(1500, "WaitedMs"));
	}
}

int main(int argc, char **argv)
{
	int const rounds = argc > 1 ? atoi(argv[1]) : 5;
	int const pause = argc > 2 ? atoi(argv[2]) : 200;
	HRESULT const hr = TraceLoggingRegisterEx(g_hHello, OnEnable, NULL);
	int round;

	if (FAILED(hr)) {
		fprintf(stderr, "TraceLoggingRegisterEx: 0x%08x\n", (unsigned)hr);
		/* Go on: tracing is never a reason to stop working. */
	}
	TraceLoggingWrite(g_hHello, "Hello", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
			  TraceLoggingString("Hello, ETW on Linux!", "Message"), TraceLoggingInt32(rounds, "Rounds"));
	for (round = 1; round <= rounds; round++) {
		NumbersAndText(round);
		Order(round);
		Network(round);
		Sleep((DWORD)pause);
	}
	TraceLoggingWrite(g_hHello, "Goodbye", TraceLoggingLevel(WINEVENT_LEVEL_INFO));
	TraceLoggingUnregister(g_hHello);
	return 0;
}
