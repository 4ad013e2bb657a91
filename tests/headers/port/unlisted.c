/* SPDX-License-Identifier: MIT
 *
 * What callers look up by name because no header of the SDK has it, the toolkit's KernelTraceControl,
 * and ntdll's unpacking. Records a private session of its own, so no etwd is needed.
 */
#include <windows.h>
#include <winternl.h>
#include <evntrace.h>
#include <evntcons.h>
#include <tdh.h>
#include <KernelTraceControl.h>
#include <MicrosoftTelemetry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                             \
		}                                                                               \
	} while (0)

static int failures;

TRACELOGGING_DEFINE_PROVIDER(provider, "Unlisted.Names",
			     (0x5a1d0b4c, 0x77e2, 0x4d0e, 0x9b, 0x1f, 0x30, 0x66, 0x0c, 0x52, 0xd1, 0x7e),
			     TraceLoggingOptionMicrosoftTelemetry());
static const GUID scenario_guid = {0x8d1f3c22, 0x4a8b, 0x4c55, {0x8e, 0x10, 0x2b, 0x9c, 0x44, 0xf0, 0x6a, 0x91}};

static WCHAR folder[300];

static LPCWSTR in_folder(LPCWSTR name)
{
	static WCHAR path[4][400];
	static int turn;
	turn = (turn + 1) % 4;
	swprintf_s(path[turn], 400, L"%s/%s", folder, name);
	return path[turn];
}

/* The song of MS-XCA's chapter on LZNT1. */
static void unpack(void)
{
	static const UCHAR packed[] = {0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00,
				       0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45, 0x20, 0x44, 0x00, 0x08, 0x45, 0x01,
				       0x50, 0x79, 0x00, 0xc0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4,
				       0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48,
				       0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00};
	static const char song[] = "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# "
				   "E D D E E F# D E F# G F# D E F# G F# E D E A F# F# G A A G F# E "
				   "D D E F# E D D";
	UCHAR in[sizeof packed], out[4096];
	ULONG n = 0, fragment;
	memcpy(in, packed, sizeof in);
	NTSTATUS s = RtlDecompressBuffer(COMPRESSION_FORMAT_LZNT1 | COMPRESSION_ENGINE_MAXIMUM, out, sizeof out, in,
					 sizeof in, &n);
	CHECK(s == STATUS_SUCCESS && n == sizeof song && memcmp(out, song, sizeof song) == 0);
	s = RtlDecompressBuffer(COMPRESSION_FORMAT_LZNT1, out, 10, in, sizeof in, &n);
	CHECK(s == STATUS_SUCCESS && n == 10);
	in[3] = 0xff; /* a distance before the start */
	in[2] = 0xff;
	s = RtlDecompressBuffer(COMPRESSION_FORMAT_LZNT1, out, sizeof out, in, sizeof in, &n);
	CHECK(s == STATUS_BAD_COMPRESSION_BUFFER);
	s = RtlDecompressBuffer(COMPRESSION_FORMAT_NONE, out, sizeof out, in, sizeof in, &n);
	CHECK(s == (NTSTATUS)STATUS_INVALID_PARAMETER);
	s = RtlDecompressBuffer(9, out, sizeof out, in, sizeof in, &n);
	CHECK(s == STATUS_UNSUPPORTED_COMPRESSION);
	CHECK(RtlGetCompressionWorkSpaceSize(COMPRESSION_FORMAT_LZNT1, &n, &fragment) == 0);
}

typedef ULONG(WINAPI *write_fn)(REGHANDLE, PCEVENT_DESCRIPTOR, ULONG, PEVENT_DATA_DESCRIPTOR);
typedef ULONG(WINAPI *all_fn)(PEVENT_RECORD, PVOID, ULONG *, ULONG *, PTRACE_EVENT_INFO *, ULONG *);

static void record(void)
{
	struct {
		EVENT_TRACE_PROPERTIES p;
		WCHAR name[64];
		WCHAR file[400];
	} s;
	TRACEHANDLE session = 0;
	REGHANDLE h = 0;
	EVENT_DESCRIPTOR start = {1, 0, 0, 4, 1, 7, 0}, end = {1, 0, 0, 4, 2, 7, 0};
	HMODULE advapi = GetModuleHandleW(L"advapi32.dll"), ntdll = GetModuleHandleW(L"ntdll");
	write_fn start_scenario = (write_fn)GetProcAddress(advapi, "EventWriteStartScenario");
	write_fn end_scenario = (write_fn)GetProcAddress(ntdll, "EtwEventWriteEndScenario");
	memset(&s, 0, sizeof s);
	s.p.Wnode.BufferSize = sizeof s;
	s.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	s.p.LogFileMode =
		EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC | EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	s.p.LoggerNameOffset = offsetof(__typeof__(s), name);
	s.p.LogFileNameOffset = offsetof(__typeof__(s), file);
	wcscpy_s(s.file, 400, in_folder(L"one.etl"));
	CHECK(StartTraceW(&session, L"unlisted", &s.p) == ERROR_SUCCESS);
	TraceLoggingRegister(provider);
	CHECK(EventRegister(&scenario_guid, NULL, NULL, &h) == ERROR_SUCCESS);
	GUID tlg = {0x5a1d0b4c, 0x77e2, 0x4d0e, {0x9b, 0x1f, 0x30, 0x66, 0x0c, 0x52, 0xd1, 0x7e}};
	CHECK(EnableTraceEx2(session, &tlg, 1, 5, 0, 0, 0, NULL) == ERROR_SUCCESS);
	CHECK(EnableTraceEx2(session, &scenario_guid, 1, 5, 0, 0, 0, NULL) == ERROR_SUCCESS);
	CHECK(start_scenario && start_scenario(h, &start, 0, NULL) == ERROR_SUCCESS);
	TraceLoggingWrite(provider, "Used", TraceLoggingKeyword(MICROSOFT_KEYWORD_MEASURES),
			  TelemetryPrivacyDataTag(PDT_ProductAndServiceUsage), TraceLoggingInt32(42, "answer"));
	CHECK(end_scenario && end_scenario(h, &end, 0, NULL) == ERROR_SUCCESS);
	EventUnregister(h);
	TraceLoggingUnregister(provider);
	CHECK(ControlTraceW(session, NULL, &s.p, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
}

static unsigned scenarios, described;

static void WINAPI on_event(PEVENT_RECORD e)
{
	if (memcmp(&e->EventHeader.ProviderId, &scenario_guid, sizeof(GUID)) == 0) {
		scenarios++;
	}
	all_fn all = (all_fn)GetProcAddress(LoadLibraryW(L"tdh.dll"), "TdhGetAllEventsInformation");
	ULONG index = 9, count = 0, bytes = 0;
	if (e->EventHeader.EventDescriptor.Keyword != MICROSOFT_KEYWORD_MEASURES || !all) {
		return;
	}
	CHECK(all(e, NULL, &index, &count, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER);
	PTRACE_EVENT_INFO *infos = malloc(bytes);
	CHECK(all(e, NULL, &index, &count, infos, &bytes) == ERROR_SUCCESS);
	CHECK(index == 0 && count == 1 && infos[0]->PropertyCount == 2);
	LPCWSTR name = (LPCWSTR)(void *)((BYTE *)infos[0] + infos[0]->EventPropertyInfoArray[1].NameOffset);
	CHECK(wcscmp(name, L"answer") == 0);
	described++;
	free(infos);
}

static void merge(void)
{
	LPCWSTR inputs[2] = {in_folder(L"one.etl"), in_folder(L"one.etl")};
	LPCWSTR output = in_folder(L"merged.etl"), none[1] = {in_folder(L"none.etl")};
	typedef ULONG(WINAPI * merge_fn)(LPCWSTR, LPCWSTR[], ULONG, DWORD);
	HMODULE dll = LoadLibraryW(L"kerneltracecontrol.dll");
	merge_fn f = (merge_fn)GetProcAddress(dll, "CreateMergedTraceFile");
	CHECK((void *)f == (void *)CreateMergedTraceFile);
	CHECK(CreateMergedTraceFile(output, inputs, 0, 0) == ERROR_INVALID_PARAMETER);
	CHECK(CreateMergedTraceFile(output, NULL, 1, 0) == ERROR_INVALID_PARAMETER);
	CHECK(CreateMergedTraceFile(output, none, 1, 0) == ERROR_FILE_NOT_FOUND);
	CHECK(CreateMergedTraceFile(output, inputs, 1, EVENT_TRACE_MERGE_EXTENDED_DATA_INJECT_ONLY) ==
	      ERROR_NOT_SUPPORTED);
	CHECK(CreateMergedTraceFile(output, inputs, 2,
				    EVENT_TRACE_MERGE_EXTENDED_DATA_DEFAULT |
					    EVENT_TRACE_MERGE_EXTENDED_DATA_COMPRESS_TRACE) == ERROR_SUCCESS);
	EVENT_TRACE_LOGFILEW log;
	memset(&log, 0, sizeof log);
	log.LogFileName = (LPWSTR)output;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	TRACEHANDLE h = OpenTraceW(&log);
	CHECK(h != INVALID_PROCESSTRACE_HANDLE);
	CHECK(ProcessTrace(&h, 1, NULL, NULL) == ERROR_SUCCESS);
	CloseTrace(h);
	CHECK(scenarios == 4 && described == 2);
}

static void kernel(void)
{
	EVENT_TRACE_PROPERTIES p;
	TRACEHANDLE h = 7;
	memset(&p, 0, sizeof p);
	p.Wnode.BufferSize = sizeof p;
	CHECK(StartKernelTrace(&h, &p, NULL, 0) == ERROR_INVALID_PARAMETER && h == 0);
	CHECK(StartKernelTrace(NULL, &p, NULL, 0) == ERROR_INVALID_PARAMETER);
	p.Wnode.Guid = SystemTraceControlGuid;
	CHECK(StartKernelTrace(&h, &p, NULL, 1) == ERROR_INVALID_PARAMETER);
}

int main(void)
{
	char name[] = "/tmp/unlisted-XXXXXX", command[64];
	if (!mkdtemp(name)) {
		return 77;
	}
	MultiByteToWideChar(CP_UTF8, 0, name, -1, folder, 300);
	CHECK(SetErrorMode(SEM_FAILCRITICALERRORS) == 0);
	CHECK(SetErrorMode(0) == SEM_FAILCRITICALERRORS);
	unpack();
	record();
	merge();
	kernel();
	snprintf(command, sizeof command, "rm -r %s", name);
	return system(command) != 0 || failures != 0;
}
