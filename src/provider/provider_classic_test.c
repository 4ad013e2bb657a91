/* SPDX-License-Identifier: MIT
 * Classic providers and WPP messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "provider/fake_etwd.h"

#include <evntrace.h>

static struct fake_etwd *f;
static const struct guid CONTROL = {{9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid CLASS = {{8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid CLASS2 = {{7, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
#define GUIDP(g) ((LPCGUID)(const void *)&(g))
#define HANDLE_5 (5ull | 4ull << 16 | 0xABCDull << 32)

struct seen {
	uint32_t count;
	WMIDPREQUESTCODE code;
	TRACEHANDLE logger;
	UCHAR level;
	ULONG flags;
	GUID guid;
	ULONG size;
	ULONG answer;
};

static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
	struct seen *s = context;
	s->code = code;
	s->size = *size;
	s->logger = GetTraceLoggerHandle(buffer);
	s->level = GetTraceEnableLevel(s->logger);
	s->flags = GetTraceEnableFlags(s->logger);
	s->guid = ((WNODE_HEADER *)buffer)->Guid;
	order_add_full(&s->count, 1u);
	return s->answer;
}

static void wait_count(const uint32_t *word, uint32_t want)
{
	for (int i = 0; i < 5000 && order_load_acquire(word) < want; i++) {
		usleep(1000);
	}
	assert_true(order_load_acquire(word) >= want);
}

static void enable(uint64_t handle)
{
	struct filter_row row = fake_row_all(6);
	fake_set(f, &CONTROL, &row, handle ? 1 : 0, handle);
}

static int setup(void **state)
{
	f->enables = 0;
	fake_drain(f);
	fake_forget_events(f);
	return 0;
}

static void register_refuses_missing_arguments(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {0};
	assert_int_equal(RegisterTraceGuidsW(NULL, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, &h), 87);
	assert_int_equal(RegisterTraceGuidsW(on_request, &s, NULL, 0, NULL, NULL, NULL, &h), 87);
	assert_int_equal(RegisterTraceGuidsA(on_request, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, NULL), 87);
	assert_int_equal(UnregisterTraceGuids(0), 87);
	assert_int_equal(UnregisterTraceGuids(12345), 87);
	assert_true(GetTraceLoggerHandle(NULL) == (TRACELOGGER_HANDLE)-1);
}

static void register_of_an_enabled_provider_returns_what_the_callback_says(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {.answer = 1234};
	enable(HANDLE_5);
	assert_int_equal(RegisterTraceGuidsW(on_request, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, &h), 1234);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.code, 4);
	assert_true(s.logger == HANDLE_5);
	assert_int_equal(s.level, 4);
	assert_int_equal(s.flags, 0xABCD);
	assert_int_equal(s.size, 48);
	assert_memory_equal(&s.guid, &CONTROL, 16);
	assert_int_equal(UnregisterTraceGuids(h), 0);
	assert_int_equal(UnregisterTraceGuids(h), 87);
}

static void a_classic_event_goes_to_the_session_of_its_handle(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {0};
	struct {
		EVENT_TRACE_HEADER h;
		uint32_t data[2];
	} e = {.data = {11, 22}};
	e.h.Size = sizeof e;
	e.h.Flags = WNODE_FLAG_TRACED_GUID;
	e.h.Class.Type = 10;
	e.h.Class.Level = 3;
	e.h.Class.Version = 2;
	memcpy(&e.h.Guid, &CLASS, 16);
	assert_int_equal(RegisterTraceGuidsW(on_request, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, &h), 0);
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 6); /* nobody enabled */
	enable(HANDLE_5);
	wait_count(&s.count, 1);
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 0);
	assert_int_equal(TraceEvent(6, &e.h), 6);
	assert_int_equal(TraceEvent(0, &e.h), 87);
	assert_int_equal(TraceEvent(0xFFFF, &e.h), 6);
	assert_int_equal(TraceEvent(HANDLE_5, NULL), 87);
	e.h.Size = 40;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 87);
	e.h.Size = sizeof e;
	e.h.Flags = 0;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 186);
	assert_int_equal(fake_drain(f), 1);
	const struct fake_event *ev = &f->event[0];
	assert_int_equal(ev->rec.kind, POOL_REC_CLASSIC);
	assert_true(ev->rec.mask == 1ull << 6);
	assert_int_equal(ev->rec.version, 2);
	assert_int_equal(ev->rec.level, 3);
	assert_int_equal(ev->rec.opcode, 10);
	assert_int_equal(ev->payload_bytes, 24);
	assert_memory_equal(ev->payload, &CLASS, 16);
	assert_memory_equal(ev->payload + 16, e.data, 8);
	enable(0);
	wait_count(&s.count, 2);
	assert_int_equal(s.code, 5);
	assert_true(s.logger == HANDLE_5); /* which session left */
	e.h.Flags = WNODE_FLAG_TRACED_GUID;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 6);
	UnregisterTraceGuids(h);
}

static void guid_and_data_may_stand_elsewhere(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {0};
	uint16_t a = 0x1111;
	char b[] = "text";
	struct {
		EVENT_TRACE_HEADER h;
		MOF_FIELD field[MAX_MOF_FIELDS + 1];
	} e = {0};
	enable(HANDLE_5);
	RegisterTraceGuidsA(on_request, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, &h);
	e.h.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR;
	e.h.GuidPtr = (ULONGLONG)(uintptr_t)&CLASS2;
	DEFINE_TRACE_MOF_FIELD(&e.field[0], &a, 2, 0);
	DEFINE_TRACE_MOF_FIELD(&e.field[1], b, 5, 0);
	e.h.Size = sizeof e.h + 2 * sizeof(MOF_FIELD);
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 0);
	e.h.Size = sizeof e;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 87); /* 17 fields */
	e.h.Size = sizeof e.h + 20;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 87);
	e.h.GuidPtr = 0;
	e.h.Size = sizeof e.h;
	assert_int_equal(TraceEvent(HANDLE_5, &e.h), 87);
	assert_int_equal(fake_drain(f), 1);
	assert_int_equal(f->event[0].payload_bytes, 16 + 7);
	assert_memory_equal(f->event[0].payload, &CLASS2, 16);
	assert_memory_equal(f->event[0].payload + 16, "\x11\x11text", 7);
	UnregisterTraceGuids(h);
}

static void instances_carry_their_classes_and_numbers(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {0};
	TRACE_GUID_REGISTRATION classes[2] = {{.Guid = GUIDP(CLASS)}, {.Guid = GUIDP(CLASS2)}};
	EVENT_INSTANCE_INFO mine = {0}, parent = {0};
	EVENT_INSTANCE_HEADER e = {.Size = sizeof e};
	enable(HANDLE_5);
	RegisterTraceGuidsW(on_request, &s, GUIDP(CONTROL), 2, classes, NULL, NULL, &h);
	assert_non_null(classes[0].RegHandle);
	assert_int_equal(CreateTraceInstanceId(NULL, &mine), 87);
	assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, NULL), 87);
	assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &mine), 0);
	assert_int_equal(mine.InstanceId, 1);
	assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &mine), 0);
	assert_int_equal(mine.InstanceId, 2);
	assert_int_equal(CreateTraceInstanceId(classes[1].RegHandle, &parent), 0);
	assert_int_equal(parent.InstanceId, 1);
	assert_int_equal(TraceEventInstance(HANDLE_5, &e, &mine, &parent), 1004);
	e.Flags = WNODE_FLAG_TRACED_GUID;
	assert_int_equal(TraceEventInstance(HANDLE_5, &e, NULL, &parent), 87);
	assert_int_equal(TraceEventInstance(HANDLE_5, &e, &mine, &parent), 0);
	assert_int_equal(TraceEventInstance(HANDLE_5, &e, &mine, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	const struct fake_event *ev = &f->event[0];
	assert_int_equal(ev->rec.kind, POOL_REC_INSTANCE);
	assert_int_equal(ev->payload_bytes, 40);
	assert_memory_equal(ev->payload, &CLASS, 16);
	assert_int_equal(le32_get(ev->payload + 16), 2);
	assert_int_equal(le32_get(ev->payload + 20), 1);
	assert_memory_equal(ev->payload + 24, &CLASS2, 16);
	assert_int_equal(le32_get(f->event[1].payload + 20), 0);
	UnregisterTraceGuids(h);
	assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &mine), 87);
}

static void a_message_is_laid_out_as_in_the_file(void **state)
{
	TRACEGUID_HANDLE h;
	struct seen s = {0};
	uint32_t arg = 0x01020304;
	enable(HANDLE_5);
	RegisterTraceGuidsW(on_request, &s, GUIDP(CONTROL), 0, NULL, NULL, NULL, &h);
	assert_int_equal(TraceMessage(0, 0, NULL, 1, NULL), 6);
	assert_int_equal(TraceMessage(0xFFFF, 0, NULL, 1, NULL), 6);
	assert_int_equal(TraceMessage(HANDLE_5, 0x10000, NULL, 1, NULL), 87);
	assert_int_equal(TraceMessage(HANDLE_5, TRACE_MESSAGE_GUID, NULL, 1, NULL), 87);
	assert_int_equal(TraceMessage(HANDLE_5, TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID, GUIDP(CLASS), 1, NULL),
			 87);
	assert_int_equal(
		TraceMessage(HANDLE_5, 0x2B, GUIDP(CLASS), 77, &arg, (size_t)4, "ab", (size_t)3, NULL, (size_t)0), 0);
	assert_int_equal(TraceMessage(HANDLE_5, 0, NULL, 78, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	const struct fake_event *ev = &f->event[0];
	assert_int_equal(ev->rec.kind, POOL_REC_MESSAGE);
	assert_int_equal(ev->rec.id, 77);
	assert_int_equal(ev->rec.task, 0x2B | 0x80);
	/* sequence, GUID, time, tid, pid: 36 bytes; arguments from file offset 0x2C = 8 + 36 */
	assert_int_equal(ev->payload_bytes, 36 + 7);
	assert_memory_equal(ev->payload + 4, &CLASS, 16);
	assert_int_equal(le32_get(ev->payload + 28), gettid());
	assert_int_equal(le32_get(ev->payload + 32), getpid());
	assert_memory_equal(ev->payload + 36, "\4\3\2\1ab", 7);
	assert_int_equal(f->event[1].payload_bytes, 0);
	UnregisterTraceGuids(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(register_refuses_missing_arguments, setup),
		cmocka_unit_test_setup(register_of_an_enabled_provider_returns_what_the_callback_says, setup),
		cmocka_unit_test_setup(a_classic_event_goes_to_the_session_of_its_handle, setup),
		cmocka_unit_test_setup(guid_and_data_may_stand_elsewhere, setup),
		cmocka_unit_test_setup(instances_carry_their_classes_and_numbers, setup),
		cmocka_unit_test_setup(a_message_is_laid_out_as_in_the_file, setup),
	};
	f = fake_start(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
