/* SPDX-License-Identifier: MIT
 * Classic providers from RegisterTraceGuids to the file.
 */
#include "live.h"

static const GUID control = {0xC1A55000, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID class_a = {0xC1A5500A, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID class_b = {0xC1A5500B, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID message = {0xC1A5500C, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static TRACEGUID_HANDLE registration;
static TRACELOGGER_HANDLE logger;
static volatile int enables, disables, captures;
static UCHAR level;
static ULONG flags;

static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
	EXPECT(context == &control, 1);
	EXPECT(*size >= sizeof(WNODE_HEADER), 1);
	EXPECT(memcmp(&((WNODE_HEADER *)buffer)->Guid, &control, sizeof control), 0);
	switch (code) {
	case WMI_ENABLE_EVENTS:
		SetLastError(0);
		logger = GetTraceLoggerHandle(buffer);
		level = GetTraceEnableLevel(logger);
		flags = GetTraceEnableFlags(logger);
		EXPECT(GetLastError(), 0);
		enables++;
		return 1234;
	case WMI_DISABLE_EVENTS:
		logger = 0;
		disables++;
		return 77;
	default: captures++; return ERROR_SUCCESS;
	}
}

struct event {
	EVENT_TRACE_HEADER h;
	union {
		MOF_FIELD field[17];
		uint8_t data[64];
	} u;
};
static void prepare(struct event *e, const GUID *class, uint32_t user)
{
	memset(e, 0, sizeof *e);
	e->h.Size = (USHORT)(sizeof e->h + user);
	e->h.Flags = WNODE_FLAG_TRACED_GUID;
	e->h.Guid = *class;
	e->h.Class.Type = 10;
	e->h.Class.Level = 3;
	e->h.Class.Version = 2;
}

static void the_codes_are_the_documented_ones(void)
{
	struct event e;
	TRACEGUID_HANDLE h = 0;
	TRACE_GUID_REGISTRATION none = {0};
	EXPECT(RegisterTraceGuidsW(NULL, NULL, &control, 0, NULL, NULL, NULL, &h), ERROR_INVALID_PARAMETER);
	EXPECT(RegisterTraceGuidsW(on_request, NULL, NULL, 0, NULL, NULL, NULL, &h), ERROR_INVALID_PARAMETER);
	EXPECT(RegisterTraceGuidsW(on_request, NULL, &control, 0, NULL, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(RegisterTraceGuidsW(on_request, NULL, &control, 1, &none, NULL, NULL, &h), ERROR_INVALID_PARAMETER);
	EXPECT(UnregisterTraceGuids(0), ERROR_INVALID_PARAMETER);
	EXPECT(UnregisterTraceGuids(4711), ERROR_INVALID_PARAMETER);
	EXPECT(GetTraceLoggerHandle(NULL) == (TRACELOGGER_HANDLE)(uintptr_t)INVALID_HANDLE_VALUE, 1);
	EXPECT(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(0);
	EXPECT(GetTraceEnableLevel(0), 0);
	EXPECT(GetLastError(), ERROR_INVALID_HANDLE);
	prepare(&e, &class_a, 0);
	EXPECT(TraceEvent(0, &e.h), ERROR_INVALID_PARAMETER);
	EXPECT(TraceEvent(logger, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(TraceEvent(0xFFFF, &e.h), ERROR_INVALID_HANDLE); /* the kernel logger */
	EXPECT(TraceEvent(0x77, &e.h), ERROR_INVALID_HANDLE);   /* no such logger */
	e.h.Flags = 0;
	EXPECT(TraceEvent(logger, &e.h), ERROR_INVALID_FLAG_NUMBER);
	e.h.Flags = WNODE_FLAG_TRACED_GUID;
	e.h.Size = sizeof e.h - 1;
	EXPECT(TraceEvent(logger, &e.h), ERROR_INVALID_PARAMETER);
	EXPECT(CreateTraceInstanceId(NULL, &(EVENT_INSTANCE_INFO){0}), ERROR_INVALID_PARAMETER);
	EXPECT(CreateTraceInstanceId((HANDLE)1, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(TraceMessage(0, 0, NULL, 1, NULL), ERROR_INVALID_HANDLE);
	EXPECT(TraceMessage(logger, TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID, &message, 1, NULL),
	       ERROR_INVALID_PARAMETER);
	EXPECT(TraceMessage(logger, TRACE_MESSAGE_GUID, NULL, 1, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(TraceMessage(logger, 0x10000, &message, 1, NULL), ERROR_INVALID_PARAMETER);
}

static EVENT_INSTANCE_INFO parent, child;

static void write_everything(TRACE_GUID_REGISTRATION *classes)
{
	struct event e;
	static const char one[] = "one", two[] = "twotwo";
	prepare(&e, &class_a, 12);
	memcpy(e.u.data, "twelve bytes", 12);
	EXPECT(TraceEvent(logger, &e.h), 0);
	/* Class and data elsewhere. */
	prepare(&e, &control, 2 * sizeof(MOF_FIELD));
	e.h.Flags |= WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR;
	e.h.GuidPtr = (ULONGLONG)(uintptr_t)&class_b;
	e.h.Class.Type = 11;
	e.u.field[0] = (MOF_FIELD){(ULONG64)(uintptr_t)one, sizeof one, 0};
	e.u.field[1] = (MOF_FIELD){(ULONG64)(uintptr_t)two, sizeof two, 0};
	EXPECT(TraceEvent(logger, &e.h), 0);
	e.h.Size = (USHORT)(sizeof e.h + 17 * sizeof(MOF_FIELD));
	EXPECT(TraceEvent(logger, &e.h), ERROR_INVALID_PARAMETER);

	EXPECT(CreateTraceInstanceId(classes[0].RegHandle, &parent), 0);
	EXPECT(CreateTraceInstanceId(classes[1].RegHandle, &child), 0);
	EXPECT(CreateTraceInstanceId(classes[1].RegHandle, &child), 0);
	EXPECT(parent.InstanceId, 1);
	EXPECT(child.InstanceId, 2);
	struct {
		EVENT_INSTANCE_HEADER h;
		char data[8];
	} i = {.data = "instanc"};
	i.h.Size = sizeof i;
	i.h.Class.Type = 12;
	EXPECT(TraceEventInstance(logger, &i.h, &child, &parent), ERROR_INVALID_FLAGS);
	i.h.Flags = WNODE_FLAG_TRACED_GUID;
	EXPECT(TraceEventInstance(logger, &i.h, NULL, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(TraceEventInstance(logger, &i.h, &child, &parent), 0);

	uint32_t number = 0xABCD;
	for (int k = 0; k < 2; k++) {
		EXPECT(TraceMessage(logger,
				    TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP |
					    TRACE_MESSAGE_SYSTEMINFO,
				    &message, 33, &number, sizeof number, "text", (size_t)5, NULL),
		       0);
	}
}

/* ---- reading
 * ------------------------------------------------------------------------------------- */

static int seen[16], messages, instances;

static void on_record(PEVENT_RECORD r, void *context)
{
	const EVENT_HEADER *h = &r->EventHeader;
	(void)context;
	EXPECT(h->ProcessId, getpid());
	if (h->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) {
		EXPECT(memcmp(&h->ProviderId, &message, sizeof message), 0);
		EXPECT(h->EventDescriptor.Id, 33);
		EXPECT(h->ThreadId, (unsigned)gettid());
		EXPECT(r->UserDataLength, 4 + 5);
		EXPECT(memcmp(r->UserData, "\xCD\xAB\0\0text", 9), 0);
		messages++;
		return;
	}
	EXPECT((h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0, 1);
	UCHAR type = h->EventDescriptor.Opcode;
	EXPECT(type >= 10 && type <= 12, 1);
	seen[type]++;
	if (type == 10) {
		EXPECT(memcmp(&h->ProviderId, &class_a, sizeof class_a), 0);
		EXPECT(h->EventDescriptor.Level, 3);
		EXPECT(h->EventDescriptor.Version, 2);
		EXPECT(r->UserDataLength, 12);
		EXPECT(memcmp(r->UserData, "twelve bytes", 12), 0);
	} else if (type == 11) {
		EXPECT(memcmp(&h->ProviderId, &class_b, sizeof class_b), 0);
		EXPECT(r->UserDataLength, 11);
		EXPECT(memcmp(r->UserData, "one\0twotwo", 11), 0);
	} else {
		EXPECT(memcmp(&h->ProviderId, &class_b, sizeof class_b), 0);
	}
}

/* The callback of old says more about instances. */
static VOID WINAPI on_trace(PEVENT_TRACE t)
{
	if (t->Header.Class.Type == 12 && memcmp(&t->Header.Guid, &class_b, sizeof class_b) == 0) {
		instances++;
		EXPECT(t->InstanceId, child.InstanceId);
		EXPECT(t->ParentInstanceId, parent.InstanceId);
		EXPECT(memcmp(&t->ParentGuid, &class_a, sizeof class_a), 0);
		EXPECT(t->MofLength, 8);
		EXPECT(memcmp(t->MofData, "instanc", 8), 0);
	}
}

static void read_old(const char *path)
{
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (LPSTR)(uintptr_t)path};
	log.EventCallback = on_trace;
	PROCESSTRACE_HANDLE t = OpenTraceA(&log);
	EXPECT(t == INVALID_PROCESSTRACE_HANDLE, 0);
	EXPECT(ProcessTrace(&t, 1, NULL, NULL), 0);
	EXPECT(CloseTrace(t), 0);
}

int main(void)
{
	struct live_session s, later;
	TRACE_GUID_REGISTRATION classes[2] = {{&class_a, NULL}, {&class_b, NULL}};
	live_begin();
	live_start(&s, "classic", "classic.etl", EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_GLOBAL_SEQUENCE);
	EXPECT(live_enable(&s, &control, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0x30, 0, 0), 0);
	/* Already enabled: what the callback says is what registration says. */
	EXPECT(RegisterTraceGuidsW(on_request, (PVOID)(uintptr_t)&control, &control, 2, classes, NULL, NULL,
				   &registration),
	       1234);
	EXPECT(enables, 1);
	EXPECT(level, 4);
	EXPECT(flags, 0x30);
	EXPECT(classes[0].RegHandle && classes[1].RegHandle, 1);
	the_codes_are_the_documented_ones();
	write_everything(classes);
	EXPECT(live_enable(&s, &control, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0), 0);
	EXPECT(captures, 1);
	EXPECT(EnableTrace(TRUE, 0x7, 2, &control, s.id), 0); /* a new level is a new call */
	live_wait(enables == 2);
	EXPECT(level, 2);
	EXPECT(flags, 0x7);
	/* One session at a time: the second takes over. */
	live_start(&later, "later", "later.etl", 0);
	EXPECT(live_enable(&later, &control, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0x1, 0, 0), 0);
	EXPECT(enables, 3);
	EXPECT(level, 5);
	struct event e;
	prepare(&e, &class_a, 12);
	memcpy(e.u.data, "twelve bytes", 12);
	EXPECT(TraceEvent(logger, &e.h), 0);
	live_stop(&later);
	live_wait(disables == 1 || enables == 4); /* or the first one again */
	live_stop(&s);
	live_wait(disables >= 1);
	EXPECT(UnregisterTraceGuids(registration), 0);
	EXPECT(UnregisterTraceGuids(registration), ERROR_INVALID_PARAMETER);
	live_read(s.path, on_record, NULL);
	EXPECT(seen[10], 1);
	EXPECT(seen[11], 1);
	EXPECT(seen[12], 1);
	EXPECT(messages, 2);
	live_read(later.path, on_record, NULL);
	EXPECT(seen[10], 2);
	read_old(s.path);
	EXPECT(instances, 1);
	return 0;
}
