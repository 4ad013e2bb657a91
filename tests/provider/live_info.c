/* SPDX-License-Identifier: MIT
 * EventSetInformation, EventActivityIdControl, EventWriteString, limits: codes, and what arrives.
 */
#include "live.h"

#include <dlfcn.h>
#include <limits.h>

static const GUID guid = {0x14F00000, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID group = {0x14F00006, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static REGHANDLE handle;

static const uint8_t traits[] = {
	35,   0,    'T',  'e', 's', 't', '.', 'I', 'n', 'f', 'o', '.', 'N', 'a', 'm', 0, 19, 0, 1, /* group */ 0x06,
	0x00, 0xF0, 0x14, 1,   0,   2,   0,   3,   4,   5,   6,   7,   8,   9,   10};
_Static_assert(sizeof traits == 35, "says its own size");

static const EVENT_DESCRIPTOR one = {.Id = 1, .Level = 4, .Keyword = 1};

/* ---- set information
 * ------------------------------------------------------------------------------ */

static void the_codes_are_the_documented_ones(void)
{
	BOOLEAN yes = TRUE;
	uint8_t bad[sizeof traits];
	EXPECT(EventSetInformation(0, EventProviderSetTraits, (PVOID)(uintptr_t)traits, 35), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, NULL, 35), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, (PVOID)(uintptr_t)traits, 34),
	       ERROR_INVALID_PARAMETER);
	memcpy(bad, traits, sizeof bad);
	bad[16] = 2; /* a trait shorter than its own header */
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, bad, 35), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, EventProviderBinaryTrackInfo, &yes, 1), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, EventProviderUseDescriptorType, NULL, 0), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, EventProviderUseDescriptorType, &yes, 4), ERROR_INVALID_PARAMETER);
	EXPECT(EventSetInformation(handle, (EVENT_INFO_CLASS)77, NULL, 0), ERROR_NOT_SUPPORTED);
}

static const char *my_path(void)
{
	static char path[PATH_MAX];
	EXPECT(realpath("/proc/self/exe", path) != NULL, 1);
	return path;
}

struct seen {
	uint32_t count, traits, schema, text, by_id[16], payload;
	GUID act[16];
};
static void see(PEVENT_RECORD r, void *context)
{
	struct seen *s = context;
	USHORT id = r->EventHeader.EventDescriptor.Id & 15;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *t = live_item(r, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
	const EVENT_HEADER_EXTENDED_DATA_ITEM *m = live_item(r, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
	s->count++;
	s->by_id[id]++;
	s->act[id] = r->EventHeader.ActivityId;
	s->payload = r->UserDataLength;
	if (t) {
		EXPECT(t->DataSize, sizeof traits);
		EXPECT(memcmp((void *)(uintptr_t)t->DataPtr, traits, sizeof traits), 0);
		s->traits++;
	}
	if (m) {
		EXPECT(m->DataSize, 6);
		s->schema++;
	}
	if (r->EventHeader.Flags & EVENT_HEADER_FLAG_STRING_ONLY) {
		EXPECT(r->UserDataLength, 12);
		EXPECT(memcmp(r->UserData, u"hello", 12), 0);
		s->text++;
	}
}

static uint32_t binaries;
static VOID WINAPI on_header(PEVENT_RECORD r)
{
	const uint8_t *p = r->UserData;
	if (memcmp(&r->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) != 0 ||
	    r->EventHeader.EventDescriptor.Opcode != 0x43) {
		return;
	}
	const char *want = my_path();
	EXPECT(r->UserDataLength, 20 + 2 * (strlen(want) + 1));
	EXPECT(*(const uint32_t *)(const void *)p, 1);
	EXPECT(memcmp(p + 4, &guid, 16), 0);
	for (size_t i = 0; i <= strlen(want); i++) {
		EXPECT(p[20 + 2 * i], (uint8_t)want[i]);
	}
	EXPECT(r->EventHeader.ProcessId, getpid());
	binaries++;
}

static void count_binaries(const char *path)
{
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (LPSTR)(uintptr_t)path};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_header;
	PROCESSTRACE_HANDLE t = OpenTraceA(&log);
	EXPECT(ProcessTrace(&t, 1, NULL, NULL), 0);
	EXPECT(CloseTrace(t), 0);
}

static void traits_types_and_binaries_arrive(void)
{
	struct live_session s, late;
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	the_codes_are_the_documented_ones();
	live_start(&s, "info", "info.etl", 0);
	EXPECT(live_enable(&s, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	static const uint8_t schema[6] = {6, 0, 0, 'E', 'v', 0};
	EVENT_DATA_DESCRIPTOR data[3];
	EventDataDescCreate(&data[0], traits, sizeof traits);
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], schema, sizeof schema);
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[2], "four", 4);
	/* Not opted in: all of it is payload. */
	EXPECT(EventWrite(handle, &one, 3, data), 0);
	/* Before the traits come: etwd adds them to what it finds in the pool. */
	EXPECT(live_control(&s, EVENT_TRACE_CONTROL_FLUSH), 0);
	BOOLEAN yes = TRUE;
	EXPECT(EventSetInformation(handle, EventProviderUseDescriptorType, &yes, 1), 0);
	EXPECT(EventWrite(handle, &one, 3, data), 0);
	EXPECT(live_control(&s, EVENT_TRACE_CONTROL_FLUSH), 0);
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, (PVOID)(uintptr_t)traits, 35), 0);
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, (PVOID)(uintptr_t)traits, 35),
	       ERROR_INVALID_PARAMETER); /* once */
	EXPECT(EventWrite(handle, &one, 3, data), 0);
	EXPECT(EventWrite(handle, &one, 1, &data[2]), 0);
	EXPECT(EventSetInformation(handle, EventProviderBinaryTrackInfo, NULL, 0), 0);
	live_start(&late, "info-late", "info-late.etl", 0);
	EXPECT(live_enable(&late, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	live_stop(&s);
	live_stop(&late);
	struct seen f = {0};
	live_read(s.path, see, &f);
	EXPECT(f.count, 4);
	EXPECT(f.traits, 3); /* from its own descriptor, then from the registration */
	EXPECT(f.schema, 2);
	EXPECT(f.payload, 4);
	count_binaries(s.path);
	EXPECT(binaries, 1);
	count_binaries(late.path);
	EXPECT(binaries, 2);
	EXPECT(EventUnregister(handle), 0);
}

static void a_group_enables_its_members(void)
{
	struct live_session s;
	live_start(&s, "group", "group.etl", 0);
	EXPECT(live_enable(&s, &group, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
			   EVENT_ENABLE_PROPERTY_PROVIDER_GROUP),
	       0);
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	EXPECT(EventEnabled(handle, &one), 0);
	EXPECT(EventSetInformation(handle, EventProviderSetTraits, (PVOID)(uintptr_t)traits, 35), 0);
	EXPECT(EventEnabled(handle, &one), 1); /* from here on, not a little later */
	EXPECT(EventWrite(handle, &one, 0, NULL), 0);
	live_stop(&s);
	struct seen f = {0};
	live_read(s.path, see, &f);
	EXPECT(f.count, 1);
	EXPECT(f.traits, 1);
	EXPECT(EventUnregister(handle), 0);
}

/* ---- activities, strings, sizes
 * -------------------------------------------------------------------- */

static void activity_ids_travel_with_the_thread(void)
{
	struct live_session s;
	GUID a = {0xA, 1, 1, {0}}, b = a, zero = {0}, fresh = {0}, x;
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 1};
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	live_start(&s, "act", "act.etl", 0);
	EXPECT(live_enable(&s, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	EXPECT(EventActivityIdControl(0, &x), ERROR_INVALID_PARAMETER);
	EXPECT(EventActivityIdControl(6, &x), ERROR_INVALID_PARAMETER);
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &x), 0);
	EXPECT(memcmp(&x, &zero, 16), 0);
	EXPECT(EventWrite(handle, &d, 0, NULL), 0);
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &a), 0);
	d.Id = 2;
	EXPECT(EventWrite(handle, &d, 0, NULL), 0);
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &fresh), 0);
	EXPECT(memcmp(&fresh, &a, 16) != 0, 1);
	d.Id = 3; /* still the thread's own */
	EXPECT(EventWrite(handle, &d, 0, NULL), 0);
	x = fresh;
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &x), 0);
	EXPECT(memcmp(&x, &a, 16), 0);
	d.Id = 4;
	EXPECT(EventWrite(handle, &d, 0, NULL), 0);
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &b), 0);
	EXPECT(memcmp(&b, &fresh, 16), 0); /* the old one */
	d.Id = 5;
	EXPECT(EventWriteTransfer(handle, &d, &a, NULL, 0, NULL), 0); /* given: not the thread's */
	EXPECT(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &zero), 0);
	live_stop(&s);
	struct seen f = {0};
	live_read(s.path, see, &f);
	EXPECT(f.count, 5);
	EXPECT(memcmp(&f.act[1], &zero, 16), 0);
	EXPECT(memcmp(&f.act[2], &a, 16), 0);
	EXPECT(memcmp(&f.act[3], &a, 16), 0);
	EXPECT(memcmp(&f.act[4], &fresh, 16), 0);
	EXPECT(memcmp(&f.act[5], &a, 16), 0);
	EXPECT(EventUnregister(handle), 0);
}

static void strings_and_sizes(void)
{
	static uint8_t big[70000];
	static WCHAR text[40000];
	struct live_session s;
	EVENT_DATA_DESCRIPTOR data[129];
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	EXPECT(EventWriteString(0, 1, 0, NULL), ERROR_INVALID_HANDLE); /* the handle comes first */
	EXPECT(EventWriteString(handle, 1, 0, NULL), ERROR_INVALID_PARAMETER);
	live_start(&s, "sizes", "sizes.etl", 0);
	EXPECT(live_enable(&s, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	EXPECT(EventWriteString(handle, 1, 0, (PCWSTR)u"hello"), 0);
	for (int i = 0; i < 39999; i++) {
		text[i] = 'x';
	}
	EXPECT(EventWriteString(handle, 1, 0, text), ERROR_ARITHMETIC_OVERFLOW);
	for (int i = 0; i < 129; i++) {
		EventDataDescCreate(&data[i], "ab", 2);
	}
	EXPECT(EventWrite(handle, &one, 128, data), 0);
	EXPECT(EventWrite(handle, &one, 129, data), ERROR_INVALID_PARAMETER);
	EXPECT(EventWrite(handle, &one, 1, NULL), ERROR_INVALID_PARAMETER);
	EXPECT(EventWrite(handle, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
	EventDataDescCreate(&data[0], big, 65000);
	EXPECT(EventWrite(handle, &one, 1, data), 0);
	EventDataDescCreate(&data[0], big, 65536);
	EXPECT(EventWrite(handle, &one, 1, data), ERROR_ARITHMETIC_OVERFLOW);
	live_stop(&s);
	struct seen f = {0};
	live_read(s.path, see, &f);
	EXPECT(f.text, 1);
	EXPECT(f.count, 3);
	EXPECT(s.block.p.EventsLost, 2); /* refused and counted */
	EXPECT(EventUnregister(handle), 0);
}

static void a_process_has_1024_registrations(void)
{
	static REGHANDLE h[1025];
	TRACEGUID_HANDLE t = 0;
	(void)t;
	for (int i = 0; i < 1024; i++) {
		EXPECT(EventRegister(&guid, NULL, NULL, &h[i]), 0);
	}
	h[1024] = 5;
	EXPECT(EventRegister(&guid, NULL, NULL, &h[1024]) != 0, 1);
	EXPECT(h[1024], 0);
	for (int i = 0; i < 1024; i++) {
		EXPECT(EventUnregister(h[i]), 0);
	}
	EXPECT(EventRegister(&guid, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
	h[0] = 5;
	EXPECT(EventRegister(NULL, NULL, NULL, &h[0]), ERROR_INVALID_PARAMETER);
	EXPECT(h[0], 0);
}

int main(void)
{
	live_begin();
	traits_types_and_binaries_arrive();
	a_group_enables_its_members();
	activity_ids_travel_with_the_thread();
	strings_and_sizes();
	a_process_has_1024_registrations();
	return 0;
}
