/* SPDX-License-Identifier: MIT
 *
 * NtTraceControl and EtwQueryRealtimeConsumer, which no header has: callers declare them, as here.
 * Against a real daemon.
 */
#include "control_testing.h"

#include <evntcons.h>
#include <openetw/openetw.h>
#include <stdlib.h>
#include <string.h>
#include <winternl.h>

#define STATUS_WMI_INSTANCE_NOT_FOUND ((NTSTATUS)0xC0000297u)
#define STATUS_OBJECT_NAME_COLLISION  ((NTSTATUS)0xC0000035u)
#define STATUS_OBJECT_PATH_SYNTAX_BAD ((NTSTATUS)0xC000003Bu)
#define START                         1
#define STOP                          2
#define QUERY                         3
#define UPDATE                        4
#define FLUSH                         5
#define ACTIVITY                      12
#define LIST                          21
#define INFO                          22

NTSTATUS NTAPI NtTraceControl(ULONG FunctionCode, PVOID InBuffer, ULONG InBufferLen, PVOID OutBuffer,
			      ULONG OutBufferLen, PULONG ReturnLength);
ULONG WINAPI EtwQueryRealtimeConsumer(TRACEHANDLE TraceHandle, PULONG EventsLostCount, PULONG BuffersLostCount);

struct logger {
	WNODE_HEADER Wnode;
	ULONG BufferSize, MinimumBuffers, MaximumBuffers, MaximumFileSize;
	ULONG LogFileMode, FlushTimer, EnableFlags, AgeLimit;
	ULONG64 V2Options, LogFileHandle;
	ULONG NumberOfBuffers, FreeBuffers, EventsLost, BuffersWritten, LogBuffersLost, RealTimeBuffersLost;
	ULONG64 LoggerThreadId;
	UNICODE_STRING LogFileName, LoggerName;
	ULONG RealTimeConsumerCount, SequenceNumber;
	ULONG64 LoggerExtension;
};

static struct logger l;
static WCHAR name[64], file[300];

static void fill(const WCHAR *session, const char *path, ULONG mode)
{
	size_t n = 0;
	memset(&l, 0, sizeof l);
	memset(name, 0, sizeof name);
	memset(file, 0, sizeof file);
	l.Wnode.BufferSize = sizeof l;
	l.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	l.LogFileMode = mode;
	while (session && session[n]) {
		name[n] = session[n];
		n++;
	}
	l.LoggerName = (UNICODE_STRING){(USHORT)(2 * n), sizeof name, name};
	for (n = 0; path && path[n]; n++) {
		file[n] = (unsigned char)path[n];
	}
	l.LogFileName = (UNICODE_STRING){(USHORT)(2 * n), sizeof file, file};
}

static NTSTATUS call(ULONG code)
{
	ULONG n = 77;
	NTSTATUS status = NtTraceControl(code, &l, sizeof l, &l, sizeof l, &n);
	assert_int_equal(n, status == 0 ? sizeof l : 0);
	return status;
}

static void a_session_is_started_asked_changed_and_stopped(void **state)
{
	struct block b;
	fill(u"Native", testing_path("native.etl"), EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	l.BufferSize = 16;
	assert_int_equal(call(START), 0);
	ULONG64 id = l.Wnode.HistoricalContext;
	assert_true(id != 0 && l.MaximumBuffers >= l.MinimumBuffers && l.BufferSize == 16);
	assert_int_equal(call(START), STATUS_OBJECT_NAME_COLLISION);

	/* By its id alone; the names come back. */
	fill(NULL, NULL, 0);
	l.Wnode.HistoricalContext = id;
	assert_int_equal(call(QUERY), 0);
	assert_int_equal(l.LoggerName.Length, 12);
	assert_memory_equal(name, u"Native", 14);
	assert_int_equal(l.BufferSize, 16);
	assert_int_equal(l.LogFileName.Length, 2 * strlen(testing_path("native.etl")));
	assert_true(l.NumberOfBuffers > 0);

	fill(u"native", NULL, 0); /* whatever its case */
	l.FlushTimer = 7;
	assert_int_equal(call(UPDATE), 0);
	assert_int_equal(call(FLUSH), 0);
	expect_code(session_query(id, &b), ERROR_SUCCESS, "the other way");
	assert_int_equal(b.p.FlushTimer, 7);
	assert_int_equal(call(STOP), 0);
	assert_int_equal(call(QUERY), STATUS_WMI_INSTANCE_NOT_FOUND);
}

static void what_is_wrong_is_told_by_its_status(void **state)
{
	ULONG n;
	GUID id = {0};
	fill(u"Wrong", NULL, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	assert_int_equal(call(START), STATUS_OBJECT_PATH_SYNTAX_BAD);
	fill(NULL, testing_path("x.etl"), EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	assert_int_equal(call(START), (NTSTATUS)STATUS_INVALID_PARAMETER);
	fill(u"Wrong", NULL, EVENT_TRACE_REAL_TIME_MODE);
	assert_int_equal(NtTraceControl(START, &l, sizeof l - 1, &l, sizeof l, &n), (NTSTATUS)STATUS_INVALID_PARAMETER);
	assert_int_equal(NtTraceControl(START, NULL, 8, &l, sizeof l, NULL), (NTSTATUS)STATUS_ACCESS_VIOLATION);
	assert_int_equal(NtTraceControl(0, NULL, 0, NULL, 0, &n), (NTSTATUS)STATUS_INVALID_PARAMETER);
	assert_int_equal(NtTraceControl(13, NULL, 0, NULL, 0, &n), STATUS_NOT_SUPPORTED);
	assert_int_equal(NtTraceControl(ACTIVITY, NULL, 0, &id, 8, &n), (NTSTATUS)STATUS_INVALID_PARAMETER);
	assert_int_equal(NtTraceControl(ACTIVITY, NULL, 0, &id, sizeof id, &n), 0);
	assert_true(n == 16 && id.Data1 != 0);
}

static void lists_say_how_much_room_they_want(void **state)
{
	static const GUID guid = {0x31415926, 5, 3, {5, 8, 9, 7, 9, 3, 2, 3}};
	CONTROLTRACE_ID id = session_start(u"Lists", EVENT_TRACE_REAL_TIME_MODE, NULL);
	REGHANDLE h;
	assert_int_equal(EventRegister(&guid, NULL, NULL, &h), 0);
	expect_code(EnableTraceEx2(id, &guid, 1, 5, 0, 0, 20000, NULL), ERROR_SUCCESS, "enable");
	ULONG need = 0, got = 0;
	assert_int_equal(NtTraceControl(LIST, NULL, 0, NULL, 0, &need), STATUS_BUFFER_TOO_SMALL);
	assert_true(need >= sizeof(GUID) && need % sizeof(GUID) == 0);
	GUID *list = malloc(need);
	assert_int_equal(NtTraceControl(LIST, NULL, 0, list, need, &got), 0);
	bool found = false;
	for (ULONG i = 0; i < got / sizeof(GUID); i++) {
		found = found || memcmp(&list[i], &guid, sizeof guid) == 0;
	}
	assert_true(found);
	free(list);
	GUID copy = guid;
	assert_int_equal(NtTraceControl(INFO, &copy, sizeof copy, NULL, 0, &need), STATUS_BUFFER_TOO_SMALL);
	TRACE_GUID_INFO *info = malloc(need);
	assert_int_equal(NtTraceControl(INFO, &copy, sizeof copy, info, need, &got), 0);
	assert_int_equal(info->InstanceCount, 1);
	free(info);
	EventUnregister(h);
	session_stop(id);
}

static void WINAPI ignore(PEVENT_RECORD e)
{
}

static void a_consumer_asks_what_it_missed(void **state)
{
	ULONG events = 77, buffers = 77;
	CONTROLTRACE_ID id = session_start(u"Missed", EVENT_TRACE_REAL_TIME_MODE, NULL);
	EVENT_TRACE_LOGFILEW log = {.LoggerName = u"Missed",
				    .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
				    .EventRecordCallback = ignore};
	TRACEHANDLE h = OpenTraceW(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	expect_code(EtwQueryRealtimeConsumer(h, &events, &buffers), ERROR_SUCCESS, "ask");
	assert_true(events == 0 && buffers == 0);
	expect_code(EtwQueryRealtimeConsumer(h, NULL, &buffers), ERROR_INVALID_PARAMETER, "no place");
	expect_code(EtwQueryRealtimeConsumer(12345, &events, &buffers), ERROR_INVALID_HANDLE, "no trace");
	CloseTrace(h);
	session_stop(id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_started_asked_changed_and_stopped),
		cmocka_unit_test(what_is_wrong_is_told_by_its_status),
		cmocka_unit_test(lists_say_how_much_room_they_want),
		cmocka_unit_test(a_consumer_asks_what_it_missed),
	};
	return cmocka_run_group_tests(tests, testing_setup, testing_teardown);
}
