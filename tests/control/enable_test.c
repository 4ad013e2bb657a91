/* SPDX-License-Identifier: MIT
 * EnableTrace(Ex/Ex2) with every filter, EnumerateTraceGuids(Ex), the information classes, rights:
 * against a real daemon, with this process as the provider.
 */
#include "control_testing.h"

#include <stdlib.h>
#include <unistd.h>

static const GUID provider = {0xABCDEF02, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID nobody = {0xABCDEF03, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID group = {0xABCDEF04, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static ULONG write_one(REGHANDLE h, USHORT id, UCHAR level, ULONGLONG keyword)
{
	EVENT_DESCRIPTOR d = {.Id = id, .Level = level, .Keyword = keyword};
	return EventWrite(h, &d, 0, NULL);
}

static ULONG enable(CONTROLTRACE_ID id, const GUID *g, ULONG type, const void *p, ULONG bytes)
{
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t)p, bytes, type};
	ENABLE_TRACE_PARAMETERS a = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2, .EnableFilterDesc = &f, .FilterDescCount = 1};
	return EnableTraceEx2(id, g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0, 0, &a);
}

/* ---- codes ----------------------------------------------------------------------------------- */

static void enables_return_the_documented_codes(void **state)
{
	CONTROLTRACE_ID id = session_start(u"Codes", EVENT_TRACE_REAL_TIME_MODE, NULL);
	const CONTROLTRACE_ID invalid = (CONTROLTRACE_ID)-1;
	ENABLE_TRACE_PARAMETERS v0 = {.Version = 0}, v3 = {.Version = 3}, flags = {.Version = 2, .ControlFlags = 1},
				count = {.Version = 2, .FilterDescCount = 1},
				many = {.Version = 2, .FilterDescCount = 14},
				property = {.Version = 2, .EnableProperty = 0x80000000},
				good1 = {.Version = 1, .FilterDescCount = 0xFFFF}, good2 = {.Version = 2};
	many.EnableFilterDesc = (PEVENT_FILTER_DESCRIPTOR)(void *)&good2; /* never looked at */
	const struct {
		const char *what;
		CONTROLTRACE_ID id;
		const GUID *guid;
		ULONG control, code;
		ENABLE_TRACE_PARAMETERS *p;
	} cases[] = {
		{"enable", id, &provider, 1, ERROR_SUCCESS, NULL},
		{"disable", id, &provider, 0, ERROR_SUCCESS, NULL},
		{"disable what is not enabled", id, &nobody, 0, ERROR_SUCCESS, NULL},
		{"capture state without enable", id, &provider, 2, ERROR_SUCCESS, NULL},
		{"id 0", 0, &provider, 1, ERROR_INVALID_PARAMETER, NULL},
		{"INVALID_HANDLE_VALUE", invalid, &provider, 1, ERROR_INVALID_PARAMETER, NULL},
		{"no GUID", id, NULL, 1, ERROR_INVALID_PARAMETER, NULL},
		{"control code 3", id, &provider, 3, ERROR_INVALID_PARAMETER, NULL},
		{"a session that does not run", 999, &provider, 1, ERROR_WMI_INSTANCE_NOT_FOUND, NULL},
		{"version 0", id, &provider, 1, ERROR_INVALID_PARAMETER, &v0},
		{"version 3", id, &provider, 1, ERROR_INVALID_PARAMETER, &v3},
		{"control flags", id, &provider, 1, ERROR_INVALID_PARAMETER, &flags},
		{"a filter said, none given", id, &provider, 1, ERROR_INVALID_PARAMETER, &count},
		{"fourteen filters", id, &provider, 1, ERROR_INVALID_PARAMETER, &many},
		{"an unknown property", id, &provider, 1, ERROR_INVALID_PARAMETER, &property},
		{"version 1 has no count", id, &provider, 1, ERROR_SUCCESS, &good1},
		{"version 2", id, &provider, 1, ERROR_SUCCESS, &good2},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_code(EnableTraceEx2(cases[i].id, cases[i].guid, cases[i].control, 4, 0, 0, 0, cases[i].p),
			    cases[i].code, cases[i].what);
	}
	expect_code(EnableTrace(1, 0xFF, 4, &provider, id), ERROR_SUCCESS, "EnableTrace");
	expect_code(EnableTrace(1, 0xFF, 256, &provider, id), ERROR_INVALID_PARAMETER, "level 256");
	expect_code(EnableTrace(0, 0, 0, &provider, id), ERROR_SUCCESS, "EnableTrace off");
	expect_code(EnableTraceEx(&provider, NULL, id, 1, 4, 1, 0, 0, NULL), ERROR_SUCCESS, "Ex");
	expect_code(EnableTraceEx(NULL, NULL, id, 1, 4, 1, 0, 0, NULL), ERROR_INVALID_PARAMETER, "Ex without GUID");
	session_stop(id);
}

static void filters_are_checked_one_by_one(void **state)
{
	CONTROLTRACE_ID id = session_start(u"Filters", EVENT_TRACE_REAL_TIME_MODE, NULL);
	static char big[5000];
	struct {
		BOOLEAN in;
		UCHAR reserved;
		USHORT count, id[65];
	} ids = {TRUE, 0, 65, {0}};
	struct {
		ULONGLONG any, all;
		UCHAR level, in;
		USHORT count;
		char names[12];
	} names = {0, 0, 0, 1, 2, "one\0unended."};
	ULONG pids[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct {
		const char *what;
		ULONG type;
		const void *p;
		ULONG bytes, code;
	} cases[] = {
		{"none", EVENT_FILTER_TYPE_NONE, NULL, 0, ERROR_SUCCESS},
		{"unknown type", 0x80100000, big, 4, ERROR_INVALID_PARAMETER},
		{"system flags", EVENT_FILTER_TYPE_SYSTEM_FLAGS, big, 4, ERROR_INVALID_PARAMETER},
		{"no memory", EVENT_FILTER_TYPE_PID, NULL, 4, ERROR_INVALID_PARAMETER},
		{"8 pids", EVENT_FILTER_TYPE_PID, pids, 32, ERROR_SUCCESS},
		{"9 pids", EVENT_FILTER_TYPE_PID, pids, 36, ERROR_INVALID_PARAMETER},
		{"half a pid", EVENT_FILTER_TYPE_PID, pids, 2, ERROR_INVALID_PARAMETER},
		{"schematized, 1024", EVENT_FILTER_TYPE_SCHEMATIZED, big, 1024, ERROR_SUCCESS},
		{"schematized, 1025", EVENT_FILTER_TYPE_SCHEMATIZED, big, 1025, ERROR_INVALID_PARAMETER},
		{"executable of odd length", EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"ab", 3, ERROR_INVALID_PARAMETER},
		{"64 ids", EVENT_FILTER_TYPE_EVENT_ID, NULL, 0, ERROR_INVALID_PARAMETER},
		{"65 ids", EVENT_FILTER_TYPE_EVENT_ID, &ids, sizeof ids, ERROR_INVALID_PARAMETER},
		{"65 stack ids", EVENT_FILTER_TYPE_STACKWALK, &ids, sizeof ids, ERROR_INVALID_PARAMETER},
		{"a name without end", EVENT_FILTER_TYPE_EVENT_NAME, &names, 32, ERROR_INVALID_PARAMETER},
		{"names too long", EVENT_FILTER_TYPE_EVENT_NAME, big, 4097, ERROR_INVALID_PARAMETER},
		{"stack level, short", EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, big, 8, ERROR_INVALID_PARAMETER},
		{"payload, no blob", EVENT_FILTER_TYPE_PAYLOAD, big, 64, ERROR_INVALID_PARAMETER},
		{"container", EVENT_FILTER_TYPE_CONTAINER, u"web", 8, ERROR_SUCCESS},
		{"container of odd length", EVENT_FILTER_TYPE_CONTAINER, u"web", 7, ERROR_INVALID_PARAMETER},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_code(enable(id, &provider, cases[i].type, cases[i].p, cases[i].bytes), cases[i].code,
			    cases[i].what);
	}
	EVENT_FILTER_DESCRIPTOR twice[2] = {{(ULONGLONG)(uintptr_t)pids, 4, EVENT_FILTER_TYPE_PID},
					    {(ULONGLONG)(uintptr_t)pids, 8, EVENT_FILTER_TYPE_PID}};
	ENABLE_TRACE_PARAMETERS a = {.Version = 2, .EnableFilterDesc = twice, .FilterDescCount = 2};
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, &a), ERROR_INVALID_PARAMETER, "a type twice");
	session_stop(id);
}

static void sixty_four_sessions_have_a_provider(void **state)
{
	CONTROLTRACE_ID id[65];
	for (int i = 0; i < 65; i++) {
		WCHAR name[8] = {'M', 'a', 'n', 'y', (WCHAR)('0' + i / 10), (WCHAR)('0' + i % 10), 0};
		id[i] = session_start(name, EVENT_TRACE_REAL_TIME_MODE, NULL);
		expect_code(EnableTraceEx2(id[i], &provider, 1, 0, 0, 0, 0, NULL),
			    i < 64 ? ERROR_SUCCESS : ERROR_NO_SYSTEM_RESOURCES, "enable");
	}
	for (int i = 0; i < 65; i++) {
		session_stop(id[i]);
	}
}

/* ---- what filters let through ---------------------------------------------------------------- */

/* Eight sessions with a filter each on one provider. What is in the file of each is what its own
 * filter says, however wide the others are. */
static void each_session_gets_exactly_what_its_filter_says(void **state)
{
	static const char *const file[8] = {"f0.etl", "f1.etl", "f2.etl", "f3.etl",
					    "f4.etl", "f5.etl", "f6.etl", "f7.etl"};
	struct {
		BOOLEAN in;
		UCHAR reserved;
		USHORT count, id[2];
	} only = {TRUE, 0, 2, {5, 6}}, not = {FALSE, 0, 2, {5, 6}};
	ULONG self = (ULONG)getpid(), init = 1;
	static const WCHAR exe[] = u"other;control_enable_test", other[] = u"other";
	CONTROLTRACE_ID id[8];
	REGHANDLE h;
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	for (int i = 0; i < 8; i++) {
		WCHAR name[8] = {'F', 'l', 't', (WCHAR)('0' + i), 0};
		id[i] = session_start(name, EVENT_TRACE_FILE_MODE_SEQUENTIAL, file[i]);
	}
	expect_code(EnableTraceEx2(id[0], &provider, 1, 0, 0, 0, 0, NULL), 0, "everything");
	expect_code(EnableTraceEx2(id[1], &provider, 1, 3, 0xF0, 0x10, 0, NULL), 0, "level, kw");
	expect_code(enable(id[2], &provider, EVENT_FILTER_TYPE_EVENT_ID, &only, 8), 0, "ids");
	expect_code(enable(id[3], &provider, EVENT_FILTER_TYPE_EVENT_ID, &not, 8), 0, "not ids");
	expect_code(enable(id[4], &provider, EVENT_FILTER_TYPE_PID, &self, 4), 0, "own pid");
	expect_code(enable(id[5], &provider, EVENT_FILTER_TYPE_PID, &init, 4), 0, "pid 1");
	expect_code(enable(id[6], &provider, EVENT_FILTER_TYPE_EXECUTABLE_NAME, exe, sizeof exe), 0, "own name");
	expect_code(enable(id[7], &provider, EVENT_FILTER_TYPE_EXECUTABLE_NAME, other, sizeof other), 0,
		    "another's name");
	unsigned want[8] = {0};
	static const ULONGLONG keywords[] = {0, 0x01, 0x10, 0x30, 0xE0};
	for (USHORT e = 0; e < 10; e++) {
		for (UCHAR level = 0; level < 6; level++) {
			for (size_t k = 0; k < COUNT_OF(keywords); k++) {
				ULONGLONG kw = keywords[k];
				assert_int_equal(write_one(h, e, level, kw), 0);
				want[0]++;
				want[1] += level <= 3 && (kw == 0 || (kw & 0x10));
				want[2] += e == 5 || e == 6;
				want[3] += e != 5 && e != 6;
			}
		}
	}
	want[4] = want[6] = want[0];
	EventUnregister(h);
	for (int i = 0; i < 8; i++) {
		struct tally t;
		session_stop(id[i]);
		tally_file(file[i], &t);
		if (t.events != want[i]) {
			fail_msg("%s: %u events instead of %u", file[i], t.events, want[i]);
		}
	}
}

static void a_new_call_replaces_filters(void **state)
{
	struct {
		BOOLEAN in;
		UCHAR reserved;
		USHORT count, id[1];
	} only = {TRUE, 0, 1, {1}};
	struct tally t;
	REGHANDLE h;
	CONTROLTRACE_ID id = session_start(u"Replace", 1, "replace.etl");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	expect_code(enable(id, &provider, EVENT_FILTER_TYPE_EVENT_ID, &only, 6), 0, "one id");
	write_one(h, 1, 0, 0);
	write_one(h, 2, 0, 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), 0, "no filter");
	write_one(h, 2, 0, 0);
	expect_code(EnableTraceEx2(id, &provider, 0, 0, 0, 0, 0, NULL), 0, "off");
	write_one(h, 3, 0, 0);
	session_stop(id);
	EventUnregister(h);
	tally_file("replace.etl", &t);
	assert_int_equal(t.events, 2);
	assert_int_equal(t.by_id[1], 1);
	assert_int_equal(t.by_id[2], 1);
}

/* TraceLogging metadata: u16 size, tag, name */
static void write_named(REGHANDLE h, const char *name)
{
	UCHAR meta[64] = {0};
	size_t n = 3 + strlen(name) + 1;
	EVENT_DESCRIPTOR d = {.Channel = 11, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data;
	meta[0] = (UCHAR)n;
	strcpy((char *)meta + 3, name);
	EventDataDescCreate(&data, meta, (ULONG)n);
	data.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_int_equal(EventWrite(h, &d, 1, &data), 0);
}

static void event_names_are_filtered_within_their_range(void **state)
{
	struct __attribute__((packed)) {
		ULONGLONG any, all;
		UCHAR level;
		BOOLEAN in;
		USHORT count;
		char names[9];
	} named = {1, 0, 5, TRUE, 2, "Aaa\0Ccc"}, rejected = {2, 0, 5, FALSE, 1, "Aaa"};
	BOOLEAN typed = TRUE;
	struct tally t;
	REGHANDLE h;
	CONTROLTRACE_ID in = session_start(u"NamesIn", 1, "names_in.etl"),
			out = session_start(u"NamesOut", 1, "names_out.etl");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	assert_int_equal(EventSetInformation(h, EventProviderUseDescriptorType, &typed, 1), 0);
	expect_code(enable(in, &provider, EVENT_FILTER_TYPE_EVENT_NAME, &named, 28), 0, "in");
	expect_code(enable(out, &provider, EVENT_FILTER_TYPE_EVENT_NAME, &rejected, 24), 0, "out");
	write_named(h, "Aaa");
	write_named(h, "Bbb");
	write_named(h, "Ccc");
	write_named(h, "Aaa2");
	session_stop(in);
	session_stop(out);
	EventUnregister(h);
	tally_file("names_in.etl", &t);
	assert_int_equal(t.events, 2);
	tally_file("names_out.etl", &t);
	assert_int_equal(t.events, 4); /* its keywords are not those of these events */
}

/* ---- callbacks ------------------------------------------------------------------------------- */

struct heard {
	unsigned calls, captures, listed;
	ULONG code;
	UCHAR level;
	ULONGLONG any, all;
	GUID source;
	REGHANDLE h;
};

static VOID NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct heard *s = context;
	s->code = code;
	s->level = level;
	s->any = any;
	s->all = all;
	s->source = *source;
	s->captures += code == EVENT_CONTROL_CODE_CAPTURE_STATE;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		write_one(s->h, 42, 4, 1); /* the rundown */
	}
	/* As .NET does in every callback: who has me now? */
	UCHAR info[512];
	ULONG bytes;
	GUID self = provider;
	if (EnumerateTraceGuidsEx(TraceGuidQueryInfo, &self, 16, info, sizeof info, &bytes) == 0) {
		TRACE_PROVIDER_INSTANCE_INFO inst;
		memcpy(&inst, info + 8, sizeof inst);
		s->listed = inst.EnableCount;
	} else {
		s->listed = 99;
	}
	s->calls++;
}

static void a_timeout_waits_for_the_callback_and_its_rundown(void **state)
{
	struct heard s = {0};
	struct tally t;
	CONTROLTRACE_ID id = session_start(u"Wait", 1, "wait.etl");
	assert_int_equal(EventRegister(&provider, on_enable, &s, &s.h), 0);
	ENABLE_TRACE_PARAMETERS p = {.Version = 2, .SourceId = group};
	expect_code(EnableTraceEx2(id, &provider, 1, 4, 3, 1, INFINITE, &p), 0, "enable");
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.listed, 1); /* the list is ahead of the callback */
	assert_int_equal(s.code, 1);
	assert_int_equal(s.level, 4);
	assert_true(s.any == 3 && s.all == 1);
	assert_memory_equal(&s.source, &group, 16);
	expect_code(EnableTraceEx2(id, &provider, 2, 0, 0, 0, 5000, NULL), 0, "capture");
	assert_int_equal(s.captures, 1);
	expect_code(EnableTraceEx2(id, &provider, 0, 0, 0, 0, 5000, NULL), 0, "disable");
	assert_int_equal(s.code, 0);
	assert_int_equal(s.listed, 0);
	session_stop(id);
	EventUnregister(s.h);
	tally_file("wait.etl", &t);
	assert_int_equal(t.by_id[42], 1);
}

/* ---- EnumerateTraceGuids --------------------------------------------------------------------- */

static bool has_guid(const GUID *list, ULONG bytes, const GUID *g)
{
	for (ULONG i = 0; i < bytes / 16; i++) {
		if (memcmp(&list[i], g, 16) == 0) {
			return true;
		}
	}
	return false;
}

static void lists_show_registered_and_enabled_providers(void **state)
{
	static GUID list[256];
	ULONG need = 0, bytes = 0, count = 0;
	REGHANDLE h, h2;
	CONTROLTRACE_ID id = session_start(u"Lists", EVENT_TRACE_REAL_TIME_MODE, NULL);
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h2), 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 3, 0x30, 0x10, 0, NULL), 0, "enable");
	expect_code(EnableTraceEx2(id, &nobody, 1, 2, 0, 0, 0, NULL), 0, "pre-enable");
	expect_code(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, NULL, 0, &need), ERROR_INSUFFICIENT_BUFFER,
		    "asking for the size");
	assert_true(need >= 32 && need % 16 == 0);
	expect_code(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, list, sizeof list, &bytes), ERROR_SUCCESS,
		    "list");
	assert_int_equal(bytes, need);
	assert_true(has_guid(list, bytes, &provider) && has_guid(list, bytes, &nobody));
	expect_code(EnumerateTraceGuidsEx(TraceGuidQueryProcess, NULL, 0, list, sizeof list, &bytes), ERROR_SUCCESS,
		    "own");
	assert_true(has_guid(list, bytes, &provider) && !has_guid(list, bytes, &nobody));

	static UCHAR info[4096];
	GUID g = provider, unknown = group;
	expect_code(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &g, 16, info, sizeof info, &bytes), ERROR_SUCCESS,
		    "info");
	TRACE_GUID_INFO head;
	TRACE_PROVIDER_INSTANCE_INFO inst;
	TRACE_ENABLE_INFO e;
	memcpy(&head, info, sizeof head);
	assert_int_equal(head.InstanceCount, 2);
	memcpy(&inst, info + 8, sizeof inst);
	assert_int_equal(inst.Pid, getpid());
	assert_int_equal(inst.Flags, 0);
	assert_int_equal(inst.EnableCount, 1);
	assert_int_equal(inst.NextOffset, 16 + 32); /* relative to this instance */
	memcpy(&e, info + 8 + 16, sizeof e);
	assert_int_equal(e.IsEnabled, 1);
	assert_int_equal(e.Level, 3);
	assert_int_equal(e.LoggerId, id);
	assert_true(e.MatchAnyKeyword == 0x30 && e.MatchAllKeyword == 0x10);
	memcpy(&inst, info + 8 + 48, sizeof inst);
	assert_int_equal(inst.NextOffset, 0);
	g = nobody;
	expect_code(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &g, 16, info, sizeof info, &bytes), ERROR_SUCCESS,
		    "info of a pre-enabled one");
	memcpy(&inst, info + 8, sizeof inst);
	assert_int_equal(inst.Flags, TRACE_PROVIDER_FLAG_PRE_ENABLE);
	const struct {
		const char *what;
		TRACE_QUERY_INFO_CLASS class;
		void *in;
		ULONG in_bytes;
		void *out;
		ULONG out_bytes, *ret, code;
	} cases[] = {
		{"unknown GUID", TraceGuidQueryInfo, &unknown, 16, info, 4096, &bytes, ERROR_WMI_GUID_NOT_FOUND},
		{"no GUID", TraceGuidQueryInfo, NULL, 0, info, 4096, &bytes, ERROR_INVALID_PARAMETER},
		{"half a GUID", TraceGuidQueryInfo, &g, 8, info, 4096, &bytes, ERROR_INVALID_PARAMETER},
		{"short info", TraceGuidQueryInfo, &g, 16, info, 8, &bytes, ERROR_INSUFFICIENT_BUFFER},
		{"no buffer of some size", TraceGuidQueryList, NULL, 0, NULL, 8, &bytes, ERROR_INVALID_PARAMETER},
		{"no ReturnLength", TraceGuidQueryList, NULL, 0, info, 4096, NULL, ERROR_INVALID_PARAMETER},
		{"a class of another function", TraceStackTracingInfo, NULL, 0, info, 4096, &bytes,
		 ERROR_INVALID_PARAMETER},
		{"no class", (TRACE_QUERY_INFO_CLASS)99, NULL, 0, info, 4096, &bytes, ERROR_INVALID_PARAMETER},
		{"max loggers", TraceMaxLoggersQuery, NULL, 0, info, 4, &bytes, ERROR_SUCCESS},
		{"max loggers, short", TraceMaxLoggersQuery, NULL, 0, info, 2, &bytes, ERROR_INSUFFICIENT_BUFFER},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		expect_code(EnumerateTraceGuidsEx(cases[i].class, cases[i].in, cases[i].in_bytes, cases[i].out,
						  cases[i].out_bytes, cases[i].ret),
			    cases[i].code, cases[i].what);
	}

	static TRACE_GUID_PROPERTIES props[64];
	TRACE_GUID_PROPERTIES *array[64];
	for (int i = 0; i < 64; i++) {
		array[i] = &props[i];
	}
	expect_code(EnumerateTraceGuids(array, 64, &count), ERROR_SUCCESS, "old list");
	assert_true(count >= 2);
	bool found = false;
	for (ULONG i = 0; i < count; i++) {
		if (memcmp(&props[i].Guid, &provider, 16) == 0) {
			found = true;
			assert_int_equal(props[i].LoggerId, id);
			assert_int_equal(props[i].EnableLevel, 3);
			assert_int_equal(props[i].EnableFlags, 0x30);
			assert_true(props[i].IsEnable);
		}
	}
	assert_true(found);
	expect_code(EnumerateTraceGuids(array, 1, &count), ERROR_MORE_DATA, "one");
	assert_true(count >= 2);
	expect_code(EnumerateTraceGuids(array, 0, &count), ERROR_INVALID_PARAMETER, "none");
	expect_code(EnumerateTraceGuids(NULL, 1, &count), ERROR_INVALID_PARAMETER, "no array");
	EventUnregister(h);
	EventUnregister(h2);
	session_stop(id);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void a_group_enables_its_members_but_for_the_disallowed(void **state)
{
	UCHAR traits[2 + 2 + 19] = {sizeof traits, 0, 'G', 0, 19, 0, 1};
	ULONG bytes;
	UCHAR out[512];
	GUID g = group, self = provider;
	REGHANDLE h;
	struct tally t;
	memcpy(traits + 7, &group, 16);
	CONTROLTRACE_ID id = session_start(u"Group", 1, "group.etl");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	assert_int_equal(EventSetInformation(h, EventProviderSetTraits, traits, sizeof traits), 0);
	ENABLE_TRACE_PARAMETERS p = {.Version = 2, .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
	expect_code(EnableTraceEx2(id, &group, 1, 5, 0, 0, 20000, &p), 0, "enable the group");
	for (int i = 0; i < 400 && !EventProviderEnabled(h, 1, 0); i++) {
		usleep(5000);
	}
	write_one(h, 1, 4, 1);
	expect_code(EnumerateTraceGuidsEx(TraceGroupQueryList, NULL, 0, out, sizeof out, &bytes), 0, "groups");
	assert_int_equal(bytes, 16);
	assert_memory_equal(out, &group, 16);
	expect_code(EnumerateTraceGuidsEx(TraceGroupQueryInfo, &g, 16, out, sizeof out, &bytes), 0, "a group");
	assert_int_equal(bytes, 4 + 32 + 4 + 16);
	assert_memory_equal(out + 40, &provider, 16);
	expect_code(EnumerateTraceGuidsEx(TraceGroupQueryInfo, &self, 16, out, sizeof out, &bytes),
		    ERROR_WMI_GUID_NOT_FOUND, "no group");
	expect_code(TraceSetInformation(id, TraceSetDisallowList, &self, 16), 0, "disallow");
	write_one(h, 2, 4, 1);
	expect_code(TraceQueryInformation(id, TraceDisallowListQuery, out, sizeof out, &bytes), 0, "the list");
	assert_int_equal(bytes, 16);
	expect_code(TraceSetInformation(id, TraceSetDisallowList, NULL, 0), 0, "allow again");
	write_one(h, 3, 4, 1);
	session_stop(id);
	EventUnregister(h);
	tally_file("group.etl", &t);
	assert_int_equal(t.by_id[1], 1);
	assert_int_equal(t.by_id[2], 0);
	assert_int_equal(t.by_id[3], 1);
	assert_int_equal(t.traits, 2);
}

/* ---- information classes --------------------------------------------------------------------- */

static void information_classes_check_lengths_and_refuse_by_name(void **state)
{
	static UCHAR data[8192];
	CONTROLTRACE_ID id = session_start(u"Info", EVENT_TRACE_REAL_TIME_MODE, NULL);
	const ULONG ok = ERROR_SUCCESS, len = ERROR_BAD_LENGTH, par = ERROR_INVALID_PARAMETER, no = ERROR_NOT_SUPPORTED,
		    gone = ERROR_WMI_INSTANCE_NOT_FOUND;
	const struct {
		const char *what;
		CONTROLTRACE_ID id;
		int class;
		void *p;
		ULONG n, code;
	} sets[] = {
		{"list class", id, TraceGuidQueryList, data, 16, no},
		{"query class", id, TraceVersionInfo, data, 8, no},
		{"no class", id, 99, data, 8, no},
		{"negative class", id, -1, data, 8, no},
		{"stack events, odd", id, TraceStackTracingInfo, data, 23, len},
		{"stack events, 257", id, TraceStackTracingInfo, data, 257 * 24, par},
		{"stack events of no system logger", id, TraceStackTracingInfo, data, 24, par},
		{"kernel flags, short", id, TraceSystemTraceEnableFlagsInfo, data, 4, len},
		{"kernel flags of no system logger", id, TraceSystemTraceEnableFlagsInfo, data, 32, par},
		{"profile interval, short", id, TraceSampledProfileIntervalInfo, data, 4, len},
		{"profile interval of 0", 0, TraceSampledProfileIntervalInfo, data, 8, par},
		{"disallow, odd", id, TraceSetDisallowList, data, 17, len},
		{"disallow, none", id, TraceSetDisallowList, NULL, 0, ok},
		{"disallow, NULL", id, TraceSetDisallowList, NULL, 16, par},
		{"disallow, no session", 0, TraceSetDisallowList, data, 16, par},
		{"disallow, stale session", 999, TraceSetDisallowList, data, 16, gone},
		{"capture state, short", id, TracePeriodicCaptureStateListInfo, data, 4, len},
		{"capture state, 0 s", id, TracePeriodicCaptureStateListInfo, data, 24, len},
		{"binary tracking, long", id, TraceProviderBinaryTracking, data, 4, len},
		{"binary tracking", id, TraceProviderBinaryTracking, data, 1, ok},
		{"binary tracking, no session", 0, TraceProviderBinaryTracking, data, 1, par},
		{"branch records", id, TraceLbrConfigurationInfo, data, 4, no},
	};
	for (size_t i = 0; i < COUNT_OF(sets); i++) {
		expect_code(TraceSetInformation(sets[i].id, (TRACE_INFO_CLASS)sets[i].class, sets[i].p, sets[i].n),
			    sets[i].code, sets[i].what);
	}
	const struct {
		const char *what;
		CONTROLTRACE_ID id;
		int class;
		void *p;
		ULONG n, code;
	} queries[] = {
		{"set class", id, TraceStackTracingInfo, data, 24, no},
		{"no class", id, 99, data, 24, no},
		{"version, short", 0, TraceVersionInfo, data, 4, len},
		{"version, NULL", 0, TraceVersionInfo, NULL, 8, par},
		{"version", 0, TraceVersionInfo, data, 8, ok},
		{"loggers", 0, TraceMaxLoggersQuery, data, 4, ok},
		{"counters", 0, TraceMaxPmcCounterQuery, data, 4, ok},
		{"capture limits", 0, TracePeriodicCaptureStateInfo, data, 8, ok},
		{"streams", id, TraceStreamCount, data, 4, ok},
		{"streams, short", id, TraceStreamCount, data, 2, len},
		{"streams, no session", 0, TraceStreamCount, data, 4, par},
		{"streams, stale session", 999, TraceStreamCount, data, 4, gone},
		{"profile sources", 0, TraceProfileSourceListInfo, data, sizeof data, ok},
		{"profile sources, short", 0, TraceProfileSourceListInfo, data, 24, len},
		{"counter owners", 0, TracePmcCounterOwners, data, 512, ok},
		{"who counts", 0, TracePmcSessionInformation, data, 512, ok},
		{"counter owners, short", 0, TracePmcCounterOwners, data, 4, len},
		{"kernel flags of no system logger", id, TraceSystemTraceEnableFlagsInfo, data, 32, par},
	};
	for (size_t i = 0; i < COUNT_OF(queries); i++) {
		ULONG ret = 0;
		expect_code(TraceQueryInformation(queries[i].id, (TRACE_INFO_CLASS)queries[i].class, queries[i].p,
						  queries[i].n, &ret),
			    queries[i].code, queries[i].what);
	}
	CONTROLTRACE_ID one =
		session_start(u"One Stream", EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, NULL);
	ULONG streams = 0;
	expect_code(TraceQueryInformation(one, TraceStreamCount, &streams, 4, NULL), ok, "one");
	assert_int_equal(streams, 1);
	expect_code(TraceQueryInformation(id, TraceStreamCount, &streams, 4, NULL), ok, "per cpu");
	assert_int_equal(streams, sysconf(_SC_NPROCESSORS_CONF));
	CLASSIC_EVENT_ID event = {0};
	expect_code(TraceConfigureLastBranchRecord(id, TRACE_LBR_EXCLUDE_KERNEL, &event, 1), no, "LBR");
	expect_code(TraceConfigureLastBranchRecord(0, TRACE_LBR_EXCLUDE_KERNEL, &event, 1), par, "LBR, id 0");
	expect_code(TraceConfigureLastBranchRecord(id, TRACE_LBR_EXCLUDE_KERNEL, NULL, 1), par, "LBR, no events");
	session_stop(one);
	session_stop(id);
}

static void binary_paths_are_recorded_unless_a_session_asks_not(void **state)
{
	BOOLEAN on = TRUE, off = FALSE;
	struct tally t;
	REGHANDLE h;
	CONTROLTRACE_ID with = session_start(u"With", 1, "with.etl"),
			without = session_start(u"Without", 1, "without.etl");
	expect_code(TraceSetInformation(with, TraceProviderBinaryTracking, &on, 1), 0, "on");
	expect_code(TraceSetInformation(without, TraceProviderBinaryTracking, &off, 1), 0, "off");
	expect_code(EnableTraceEx2(with, &provider, 1, 5, 0, 0, 0, NULL), 0, "enable");
	expect_code(EnableTraceEx2(without, &provider, 1, 5, 0, 0, 0, NULL), 0, "enable");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	assert_int_equal(EventSetInformation(h, EventProviderBinaryTrackInfo, NULL, 0), 0);
	write_one(h, 1, 4, 1);
	EventUnregister(h);
	GUID own[64];
	ULONG bytes = 16;
	/* When that has arrived, all that was said before it has, too. */
	for (int i = 0; i < 1000 && bytes != 0; i++) {
		expect_code(EnumerateTraceGuidsEx(TraceGuidQueryProcess, NULL, 0, own, sizeof own, &bytes), 0, "own");
		usleep(bytes ? 5000 : 0);
	}
	assert_int_equal(bytes, 0);
	session_stop(with);
	session_stop(without);
	tally_file("with.etl", &t);
	assert_int_equal(t.binaries, 1);
	tally_file("without.etl", &t);
	assert_int_equal(t.binaries, 0);
	assert_int_equal(t.events, 1);
}

static void a_periodic_capture_state_calls_again_and_again(void **state)
{
	struct {
		TRACE_PERIODIC_CAPTURE_STATE_INFO info;
		GUID g;
	} p = {{1, 1, 0}, provider};
	volatile struct heard s = {0};
	CONTROLTRACE_ID id = session_start(u"Period", EVENT_TRACE_REAL_TIME_MODE, NULL);
	assert_int_equal(EventRegister(&provider, on_enable, (void *)&s, (REGHANDLE *)&s.h), 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), 0, "enable");
	expect_code(TraceSetInformation(id, TracePeriodicCaptureStateListInfo, &p, sizeof p), 0, "set");
	for (int i = 0; i < 2000 && s.captures < 2; i++) {
		usleep(5000);
	}
	assert_true(s.captures >= 2);
	expect_code(TraceSetInformation(id, TracePeriodicCaptureStateListInfo, NULL, 0), 0, "clear");
	session_stop(id);
	EventUnregister(s.h);
}

/* ---- rights ---------------------------------------------------------------------------------- */

static void rights_are_kept_answered_and_enforced(void **state)
{
	GUID g = provider;
	SID everyone = {1, 1, {{0, 0, 0, 0, 0, 1}}, {0}};
	UCHAR sd[512];
	ULONG bytes = 0;
	CONTROLTRACE_ID id = session_start(u"Rights", EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(EventAccessControl(NULL, EventSecuritySetDACL, &everyone, 0, TRUE), ERROR_INVALID_PARAMETER,
		    "no GUID");
	expect_code(EventAccessControl(&g, EventSecurityMax, &everyone, 0, TRUE), ERROR_INVALID_PARAMETER,
		    "operation 4");
	expect_code(EventAccessControl(&g, EventSecuritySetDACL, NULL, 0, TRUE), ERROR_INVALID_PARAMETER, "no SID");
	expect_code(EventAccessRemove(NULL), ERROR_INVALID_PARAMETER, "remove nothing");
	expect_code(EventAccessRemove(&g), ERROR_FILE_NOT_FOUND, "remove what is not there");
	expect_code(EventAccessQuery(&g, sd, NULL), ERROR_INVALID_PARAMETER, "no size");

	/* Registering only: enabling is refused. */
	expect_code(EventAccessControl(&g, EventSecuritySetDACL, &everyone, TRACELOG_REGISTER_GUIDS, TRUE), 0,
		    "register only");
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), ERROR_ACCESS_DENIED,
		    "enable without the right");
	expect_code(EnableTraceEx2(id, &nobody, 1, 0, 0, 0, 0, NULL), 0, "another GUID");
	expect_code(EventAccessControl(&g, EventSecurityAddDACL, &everyone, TRACELOG_GUID_ENABLE, TRUE), 0,
		    "and enabling");
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), 0, "enable");
	expect_code(EventAccessQuery(&g, NULL, &bytes), ERROR_MORE_DATA, "size");
	assert_int_equal(bytes, 20 + 16 + 8 + 2 * (8 + 12));
	expect_code(EventAccessQuery(&g, sd, &bytes), 0, "query");
	assert_int_equal(sd[0], 1);                    /* revision */
	assert_int_equal(sd[2] | sd[3] << 8, 0x8004);  /* self-relative, DACL present */
	assert_int_equal(sd[16], 36);                  /* offset of the DACL */
	assert_int_equal(sd[36], 2);                   /* ACL revision */
	assert_int_equal(sd[40], 2);                   /* two entries */
	assert_int_equal(sd[44], 0);                   /* allowed */
	assert_int_equal(sd[48] | sd[49] << 8, 0x800); /* the first one's rights */
	assert_memory_equal(sd + 52, &everyone, 12);
	/* A denial counts whatever is allowed. */
	expect_code(EventAccessControl(&g, EventSecurityAddDACL, &everyone, TRACELOG_GUID_ENABLE, FALSE), 0, "deny");
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), ERROR_ACCESS_DENIED, "denied");
	expect_code(EventAccessRemove(&g), 0, "remove");
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), 0, "enable again");

	/* They outlast the daemon. */
	expect_code(EventAccessControl(&g, EventSecuritySetDACL, &everyone, TRACELOG_REGISTER_GUIDS, TRUE), 0,
		    "register only");
	session_stop(id);
	testing_stop_daemon();
	id = session_start(u"Rights", EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(EnableTraceEx2(id, &provider, 1, 0, 0, 0, 0, NULL), ERROR_ACCESS_DENIED, "after a restart");
	expect_code(EventAccessRemove(&g), 0, "remove");

	/* Of a session: querying, reading in real time. */
	struct block b;
	expect_code(session_query(id, &b), 0, "query the session");
	GUID sg = b.p.Wnode.Guid;
	expect_code(EventAccessControl(&sg, EventSecuritySetDACL, &everyone, TRACELOG_CREATE_REALTIME, TRUE), 0,
		    "control only");
	expect_code(session_query(id, &b), ERROR_ACCESS_DENIED, "query without the right");
	EVENT_TRACE_LOGFILEA l = {0};
	l.LoggerName = (char *)(uintptr_t) "Rights";
	l.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	SetLastError(0);
	PROCESSTRACE_HANDLE h = OpenTraceA(&l);
	ULONG read_code = GetLastError();
	if (h != INVALID_PROCESSTRACE_HANDLE) {
		read_code = ProcessTrace(&h, 1, NULL, NULL);
		CloseTrace(h);
	}
	expect_code(read_code, ERROR_ACCESS_DENIED, "read without the right");
	session_stop(id);
	expect_code(EventAccessRemove(&sg), 0, "remove");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enables_return_the_documented_codes),
		cmocka_unit_test(filters_are_checked_one_by_one),
		cmocka_unit_test(sixty_four_sessions_have_a_provider),
		cmocka_unit_test(each_session_gets_exactly_what_its_filter_says),
		cmocka_unit_test(a_new_call_replaces_filters),
		cmocka_unit_test(event_names_are_filtered_within_their_range),
		cmocka_unit_test(a_timeout_waits_for_the_callback_and_its_rundown),
		cmocka_unit_test(lists_show_registered_and_enabled_providers),
		cmocka_unit_test(a_group_enables_its_members_but_for_the_disallowed),
		cmocka_unit_test(information_classes_check_lengths_and_refuse_by_name),
		cmocka_unit_test(binary_paths_are_recorded_unless_a_session_asks_not),
		cmocka_unit_test(a_periodic_capture_state_calls_again_and_again),
		cmocka_unit_test(rights_are_kept_answered_and_enforced),
	};
	return cmocka_run_group_tests(tests, testing_setup, testing_teardown);
}
