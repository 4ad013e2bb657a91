/* SPDX-License-Identifier: MIT
 * Private sessions beside those of etwd: one provider, each session what it asked for.
 */
#include "live.h"

#include <openetw/openetw.h>

#include <TraceLoggingProvider.h>
#include <tdh.h>

static const GUID guid = {0x93173E00, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID control = {0x93173E01, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID class_a = {0x93173E02, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID activity = {0xAC, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID related = {0x2E, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

TRACELOGGING_DEFINE_PROVIDER(tlg, "Test.Private.Tlg", (0x93173E03, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
static const GUID tlg_guid = {0x93173E03, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

#define PRIVATE (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)

struct calls {
	uint32_t count;
	ULONG code;
	UCHAR level;
	ULONGLONG any;
	char filter[64];
	ULONG filter_type;
};
static VOID NTAPI on_enable(LPCGUID from, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct calls *c = context;
	(void)from, (void)all;
	*c = (struct calls){c->count + 1, code, level, any, {0}, 0};
	if (filter) {
		c->filter_type = filter->Type;
		memcpy(c->filter, (void *)(uintptr_t)filter->Ptr,
		       filter->Size < sizeof c->filter ? filter->Size : sizeof c->filter);
	}
}

struct seen {
	uint32_t count, by_id[16], extended, schema, names, stacks;
	ULONG flags;
	bool items[32];
};
static void see(PEVENT_RECORD r, void *context)
{
	struct seen *s = context;
	/* What explains stacks: classes of the kernel, and the ImageID of a merge. */
	if (r->EventHeader.ProviderId.Data1 == 0x2cb15d1d || r->EventHeader.ProviderId.Data1 == 0xb3e675d7) {
		return;
	}
	s->count++;
	s->by_id[r->EventHeader.EventDescriptor.Id & 15]++;
	s->flags = r->EventHeader.Flags;
	EXPECT(r->EventHeader.ProcessId, getpid());
	for (USHORT i = 0; i < r->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *it = &r->ExtendedData[i];
		s->items[it->ExtType & 31] = true;
		s->stacks += it->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
		if (it->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID) {
			EXPECT(memcmp((void *)(uintptr_t)it->DataPtr, &related, 16), 0);
		}
		if (it->ExtType == EVENT_HEADER_EXT_TYPE_SID) {
			uint32_t uid;
			EXPECT(it->DataSize, 16);
			memcpy(&uid, (char *)(uintptr_t)it->DataPtr + 12, 4);
			EXPECT(uid, getuid());
		}
		if (it->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS) {
			EXPECT(memcmp((char *)(uintptr_t)it->DataPtr + 2, "Test.Private.Tlg", 17), 0);
		}
	}
}

static void each_session_gets_what_it_asked_for(void)
{
	struct live_session own, other, daemon;
	struct calls c = {0};
	REGHANDLE h;
	EXPECT(EventRegister(&guid, on_enable, &c, &h), 0);
	live_start(&daemon, "daemon", "daemon.etl", 0);
	live_start(&own, "own", "own.etl", PRIVATE);
	live_start(&other, "other", "other.etl", PRIVATE);
	EXPECT(own.id != daemon.id && own.id != other.id, 1);
	EXPECT((own.id & 0xFFFF) != (daemon.id & 0xFFFF), 1);
	EXPECT((own.id & 0xFFFF) != (other.id & 0xFFFF), 1);
	EXPECT(own.id > 0xFFFFFFFF, 1); /* none that a daemon hands out */
	EXPECT(live_enable(&daemon, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 0x1, 0, 0), 0);
	EXPECT(live_enable(&own, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0x2, 0,
			   EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID |
				   EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |
				   EVENT_ENABLE_PROPERTY_STACK_TRACE),
	       0);
	EXPECT(c.count, 2);
	EXPECT(c.level, 5); /* merged over both kinds */
	EXPECT(c.any, 0x3);
	EXPECT(live_enable(&other, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0x6, 0, 0), 0);
	EXPECT(c.level, 255);
	EXPECT(c.any, 0x7);
	EXPECT(live_enable(&own, &guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 4, 0x40, 0, 0), 0);
	EXPECT(c.code, 2);
	EXPECT(c.level, 4);
	EXPECT(c.any, 0x40);
	static const EVENT_DESCRIPTOR d1 = {.Id = 1, .Level = 3, .Keyword = 1},
				      d2 = {.Id = 2, .Level = 5, .Keyword = 2},
				      d3 = {.Id = 3, .Level = 9, .Keyword = 4},
				      d4 = {.Id = 4, .Level = 1, .Keyword = 7};
	EXPECT(EventWrite(h, &d1, 0, NULL), 0);
	EXPECT(EventWriteTransfer(h, &d2, &activity, &related, 0, NULL), 0);
	EXPECT(EventWrite(h, &d3, 0, NULL), 0);
	EXPECT(EventWriteTransfer(h, &d4, &activity, &related, 0, NULL), 0);
	/* Instance ids name sessions of the daemon, never private ones. */
	EXPECT(EventWriteEx(h, &d3, UINT64_MAX, 0, NULL, NULL, 0, NULL), 0);
	live_stop(&own);
	EXPECT(c.code, 1);
	live_stop(&daemon);
	live_wait(c.any == 0x6);
	live_stop(&other);
	EXPECT(c.code, 0);
	EXPECT(EventUnregister(h), 0);
	struct seen a = {0}, b = {0}, x = {0};
	live_read(own.path, see, &a);
	live_read(other.path, see, &b);
	live_read(daemon.path, see, &x);
	EXPECT(a.by_id[2] + a.by_id[4], 2);
	EXPECT(a.count, 2);
	EXPECT(b.by_id[2] + b.by_id[3] + b.by_id[4], 4);
	EXPECT(b.count, 4);
	EXPECT(x.by_id[1] + x.by_id[4], 2);
	EXPECT(x.count, 2);
	EXPECT((a.flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0, 1);
	EXPECT((x.flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0, 0);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID], 1);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_SID], 1);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_TS_ID], 1);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_STACK_TRACE64], 1);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_EVENT_KEY], 1);
	EXPECT(a.items[EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY], 1);
	EXPECT(b.items[EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID], 1);
	EXPECT(b.items[EVENT_HEADER_EXT_TYPE_SID], 0);
	EXPECT(b.items[EVENT_HEADER_EXT_TYPE_STACK_TRACE64], 0);
	EXPECT(b.items[EVENT_HEADER_EXT_TYPE_EVENT_KEY], 0);
}

static void trace_logging_carries_its_metadata(void)
{
	struct live_session own, daemon;
	live_start(&own, "tlg-own", "tlg-own.etl", PRIVATE);
	live_start(&daemon, "tlg-daemon", "tlg-daemon.etl", 0);
	EXPECT(live_enable(&own, &tlg_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	EXPECT(live_enable(&daemon, &tlg_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	/* Enabled before it is registered: traits are on the first event already. */
	EXPECT(TraceLoggingRegister(tlg), 0);
	TraceLoggingWrite(tlg, "First", TraceLoggingInt32(1, "n"));
	TraceLoggingWrite(tlg, "Second", TraceLoggingInt32(2, "n"));
	live_stop(&own);
	live_stop(&daemon);
	TraceLoggingUnregister(tlg);
	for (int i = 0; i < 2; i++) {
		struct seen s = {0};
		live_read(i ? own.path : daemon.path, see, &s);
		EXPECT(s.count, 2);
		EXPECT(s.items[EVENT_HEADER_EXT_TYPE_PROV_TRAITS], 1);
		EXPECT(s.items[EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL], 1);
	}
}

/* ---- classic
 * -------------------------------------------------------------------------------------- */

static TRACELOGGER_HANDLE loggers[4];
static int logger_count;
static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
	(void)context, (void)size;
	if (code == WMI_ENABLE_EVENTS && logger_count < 4) {
		loggers[logger_count++] = GetTraceLoggerHandle(buffer);
	}
	return 0;
}

static void classic_events_go_to_the_session_of_their_handle(void)
{
	struct live_session own, daemon;
	TRACEGUID_HANDLE h;
	struct {
		EVENT_TRACE_HEADER h;
	} e = {.h = {.Size = sizeof e, .Flags = WNODE_FLAG_TRACED_GUID, .Guid = class_a}};
	e.h.Class.Type = 1;
	EXPECT(RegisterTraceGuidsW(on_request, NULL, &control, 0, NULL, NULL, NULL, &h), 0);
	live_start(&daemon, "cl-daemon", "cl-daemon.etl", 0);
	live_start(&own, "cl-own", "cl-own.etl", PRIVATE);
	EXPECT(live_enable(&daemon, &control, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, 0), 0);
	EXPECT(live_enable(&own, &control, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2, 7, 0, 0), 0);
	EXPECT(logger_count, 2);
	EXPECT((loggers[0] & 0xFFFF) != (loggers[1] & 0xFFFF), 1);
	EXPECT(GetTraceEnableLevel(loggers[1]), 2);
	EXPECT(GetTraceEnableFlags(loggers[1]), 7);
	EXPECT(TraceEvent(loggers[0], &e.h), 0);
	EXPECT(TraceEvent(loggers[1], &e.h), 0);
	EXPECT(TraceEvent(loggers[1], &e.h), 0);
	live_stop(&daemon);
	live_stop(&own);
	EXPECT(TraceEvent(loggers[1], &e.h), ERROR_INVALID_HANDLE);
	EXPECT(UnregisterTraceGuids(h), 0);
	struct seen a = {0}, b = {0};
	live_read(daemon.path, see, &a);
	live_read(own.path, see, &b);
	EXPECT(a.count, 1);
	EXPECT(b.count, 2);
}

/* ---- controlling
 * ---------------------------------------------------------------------------------- */

static void private_sessions_are_controlled_from_inside_and_not_listed(void)
{
	struct live_session own[4];
	char name[32], file[32];
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "p%d", i);
		snprintf(file, sizeof file, "p%d.etl", i);
		live_start(&own[i], name, file, PRIVATE);
	}
	memset(&own[3], 0, sizeof own[3]);
	own[3].block = own[2].block; /* a fourth with IN_PROC is one too many */
	own[3].block.p.Wnode.BufferSize = sizeof own[3].block;
	own[3].block.p.LogFileMode = PRIVATE | EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	memset(&own[3].block.p.Wnode.Guid, 0, sizeof(GUID));
	EXPECT(StartTraceW(&own[3].id, u"p3", &own[3].block.p), ERROR_NO_SYSTEM_RESOURCES);
	EXPECT(live_control(&own[1], EVENT_TRACE_CONTROL_QUERY), 0);
	EXPECT(own[1].block.p.LogFileMode & PRIVATE, PRIVATE);
	EXPECT(live_control(&own[1], EVENT_TRACE_CONTROL_FLUSH), 0);
	struct live_session list[8];
	PEVENT_TRACE_PROPERTIES at[8];
	memset(list, 0, sizeof list);
	for (int i = 0; i < 8; i++) {
		at[i] = &list[i].block.p;
		at[i]->Wnode.BufferSize = sizeof list[i].block;
		at[i]->LoggerNameOffset = offsetof(__typeof__(list[i].block), name);
		at[i]->LogFileNameOffset = offsetof(__typeof__(list[i].block), file);
	}
	ULONG n = 99;
	EXPECT(QueryAllTracesW(at, 8, &n), 0);
	EXPECT(n, 0);
	for (int i = 0; i < 3; i++) {
		live_stop(&own[i]);
	}
}

static ULONG enable_for(struct live_session *s, ULONG type, const void *p, ULONG bytes)
{
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t)p, bytes, type};
	ENABLE_TRACE_PARAMETERS a = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2, .EnableFilterDesc = &f, .FilterDescCount = 1};
	return EnableTraceEx2(s->id, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, &a);
}

/* Filters that choose processes say whether this one is meant; containers are the daemon's to know. */
static void a_private_session_knows_filters_of_processes(void)
{
	struct live_session own;
	struct calls c = {0};
	REGHANDLE h;
	static const EVENT_DESCRIPTOR d1 = {.Id = 1}, d2 = {.Id = 2};
	ULONG me = (ULONG)getpid(), nobody = 0x3FFFFF;
	EXPECT(EventRegister(&guid, on_enable, &c, &h), 0);
	live_start(&own, "own", "filtered.etl", PRIVATE);
	EXPECT(enable_for(&own, EVENT_FILTER_TYPE_PID, &nobody, 4), 0);
	EXPECT(EventProviderEnabled(h, 5, 0), 0);
	EXPECT(EventWrite(h, &d1, 0, NULL), 0);
	EXPECT(enable_for(&own, EVENT_FILTER_TYPE_PID, &me, 4), 0);
	EXPECT(EventProviderEnabled(h, 5, 0), 1);
	EXPECT(EventWrite(h, &d2, 0, NULL), 0);
	EXPECT(enable_for(&own, EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"other;app", 20), 0);
	EXPECT(EventProviderEnabled(h, 5, 0), 0);
	EXPECT(EventWrite(h, &d1, 0, NULL), 0);
	EXPECT(enable_for(&own, EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"other;LIVE_private.exe", 46), 0);
	EXPECT(EventWrite(h, &d2, 0, NULL), 0);
	EXPECT(enable_for(&own, EVENT_FILTER_TYPE_CONTAINER, u"web", 6), ERROR_NOT_SUPPORTED);
	EXPECT(openetw_last_error_text()[0] != 0, 1);
	live_stop(&own);
	EXPECT(EventUnregister(h), 0);
	struct seen a = {0};
	live_read(own.path, see, &a);
	EXPECT(a.by_id[2], 2);
	EXPECT(a.count, 2);
}

/* EVENT_FILTER_EVENT_ID and EVENT_FILTER_EVENT_NAME as evntprov.h lays them out. */
static const char only_1_and_3[] = "\1\0\2\0\1\0\3\0", all_but_2[] = "\0\0\1\0\2\0";
static const char only_second[] = "\0\0\0\0\0\0\0\0"
				  "\0\0\0\0\0\0\0\0"
				  "\0\1\1\0Second",
		  stacks_up_to_3[] = "\0\0\0\0\0\0\0\0"
				     "\0\0\0\0\0\0\0\0"
				     "\3\1\0\0\0\0\0";

static void filters_for_each_event_need_no_daemon(void)
{
	struct live_session ids, rest, stacks;
	struct calls c = {0};
	struct {
		EVENT_FILTER_HEADER h;
		char text[8];
	} told = {{.Id = 7, .Size = sizeof told}, "hello"};
	REGHANDLE h;
	static const EVENT_DESCRIPTOR d[3] = {{.Id = 1, .Level = 5}, {.Id = 2, .Level = 3}, {.Id = 3, .Level = 4}};
	EXPECT(EventRegister(&guid, on_enable, &c, &h), 0);
	live_start(&ids, "ids", "ids.etl", PRIVATE);
	live_start(&rest, "rest", "rest.etl", PRIVATE);
	live_start(&stacks, "stacks", "stacks.etl", PRIVATE);
	EXPECT(enable_for(&ids, EVENT_FILTER_TYPE_EVENT_ID, only_1_and_3, 7), ERROR_INVALID_PARAMETER);
	EXPECT(enable_for(&ids, EVENT_FILTER_TYPE_EVENT_ID, only_1_and_3, 8), 0);
	EXPECT(enable_for(&rest, EVENT_FILTER_TYPE_EVENT_ID, all_but_2, 6), 0);
	EVENT_FILTER_DESCRIPTOR f[2] = {
		{(ULONGLONG)(uintptr_t)stacks_up_to_3, 24, EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW},
		{(ULONGLONG)(uintptr_t)&told, sizeof told, EVENT_FILTER_TYPE_SCHEMATIZED}};
	ENABLE_TRACE_PARAMETERS a = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
				     .EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE,
				     .EnableFilterDesc = f,
				     .FilterDescCount = 2};
	EXPECT(EnableTraceEx2(stacks.id, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, &a), 0);
	EXPECT(c.filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	EXPECT(strcmp(c.filter + sizeof told.h, "hello"), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(EventWrite(h, &d[i], 0, NULL), 0);
	}
	struct calls late = {0};
	REGHANDLE later;
	EXPECT(EventRegister(&guid, on_enable, &late, &later), 0);
	for (int i = 0; i < 5000 && !__atomic_load_n(&late.count, __ATOMIC_ACQUIRE); i++) {
		usleep(1000); /* EventRegister waits only so long for the callback */
	}
	EXPECT(late.filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	EXPECT(strcmp(late.filter + sizeof told.h, "hello"), 0);
	EXPECT(EventUnregister(later), 0);
	/* A later enable without filters replaces them. */
	EXPECT(live_enable(&rest, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	EXPECT(strcmp(c.filter + sizeof told.h, "hello"), 0); /* of the session that still says so */
	EXPECT(EventWrite(h, &d[1], 0, NULL), 0);
	live_stop(&stacks);
	EXPECT(c.filter_type, 0);
	live_stop(&ids);
	live_stop(&rest);
	EXPECT(EventUnregister(h), 0);
	struct seen of_ids = {0}, of_rest = {0}, of_stacks = {0};
	live_read(ids.path, see, &of_ids);
	live_read(rest.path, see, &of_rest);
	live_read(stacks.path, see, &of_stacks);
	EXPECT(of_ids.by_id[1], 1);
	EXPECT(of_ids.by_id[3], 1);
	EXPECT(of_ids.count, 2);
	EXPECT(of_rest.by_id[2], 1); /* the later one */
	EXPECT(of_rest.count, 3);
	EXPECT(of_stacks.count, 4);
	EXPECT(of_stacks.stacks, 2); /* of level 3 */
}

static void events_are_chosen_by_name_and_by_what_they_say(void)
{
	struct live_session named, shop;
	live_start(&named, "named", "named.etl", PRIVATE);
	live_start(&shop, "shop", "shop.etl", PRIVATE);
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t)only_second, sizeof only_second,
				     EVENT_FILTER_TYPE_EVENT_NAME};
	ENABLE_TRACE_PARAMETERS a = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2, .EnableFilterDesc = &f, .FilterDescCount = 1};
	EXPECT(EnableTraceEx2(named.id, &tlg_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, &a), 0);
	EXPECT(TraceLoggingRegister(tlg), 0);
	TraceLoggingWrite(tlg, "First", TraceLoggingInt32(1, "n"));
	TraceLoggingWrite(tlg, "Second", TraceLoggingInt32(2, "n"));
	TraceLoggingWrite(tlg, "Secondary", TraceLoggingInt32(3, "n"));
	TraceLoggingUnregister(tlg);

	static const char manifest[] =
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
		"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events><provider name='Acme-Private' "
		"guid='{93173E00-0001-0002-0304-05060708090A}'><templates><template tid='T'>"
		"<data name='Change' inType='win:Int32'/></template></templates>"
		"<events><event value='1' template='T'/></events>"
		"</provider></events></instrumentation></instrumentationManifest>";
	PAYLOAD_FILTER_PREDICATE rich = {(LPWSTR)(uintptr_t)u"Change", PAYLOADFIELD_GE, (LPWSTR)(uintptr_t)u"100"};
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
	PVOID blob = NULL;
	REGHANDLE h;
	EXPECT(TdhLoadManifestFromMemory((PVOID)(uintptr_t)manifest, sizeof manifest - 1), 0);
	EXPECT(TdhCreatePayloadFilter(&guid, &d, FALSE, 1, &rich, &blob), 0);
	EXPECT(TdhAggregatePayloadFilters(1, &blob, NULL, &f), 0);
	EXPECT(EnableTraceEx2(shop.id, &tlg_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, &a),
	       ERROR_INVALID_PARAMETER); /* another provider's */
	EXPECT(EnableTraceEx2(shop.id, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, &a), 0);
	EXPECT(TdhCleanupPayloadEventFilterDescriptor(&f), 0);
	EXPECT(TdhDeletePayloadFilter(&blob), 0);
	EXPECT(EventRegister(&guid, NULL, NULL, &h), 0);
	for (LONG change = 98; change <= 101; change++) {
		EVENT_DATA_DESCRIPTOR data;
		EventDataDescCreate(&data, &change, sizeof change);
		EXPECT(EventWrite(h, &d, 1, &data), 0);
	}
	EXPECT(EventUnregister(h), 0);
	live_stop(&named);
	live_stop(&shop);
	struct seen by_name = {0}, by_value = {0};
	live_read(named.path, see, &by_name);
	live_read(shop.path, see, &by_value);
	EXPECT(by_name.count, 1);
	EXPECT(by_value.count, 2);
}

int main(void)
{
	live_begin();
	a_private_session_knows_filters_of_processes();
	filters_for_each_event_need_no_daemon();
	events_are_chosen_by_name_and_by_what_they_say();
	each_session_gets_what_it_asked_for();
	trace_logging_carries_its_metadata();
	classic_events_go_to_the_session_of_their_handle();
	private_sessions_are_controlled_from_inside_and_not_listed();
	return 0;
}
