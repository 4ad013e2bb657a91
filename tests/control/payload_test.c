/* SPDX-License-Identifier: MIT
 *
 * Payload filters end to end: what is in a session's file is what its own filter says, whatever the
 * sessions beside it take.
 */
#include "control_testing.h"

#include <tdh.h>

static const char manifest[] = "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
			       "xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
			       "<instrumentation><events><provider name='Acme-Shop' "
			       "guid='{A0C3E5F7-0002-4444-8888-0123456789AB}'><templates><template tid='T'>"
			       "<data name='Customer' inType='win:UnicodeString'/>"
			       "<data name='Items' inType='win:UInt16'/>"
			       "<data name='Prices' inType='win:UInt32' count='Items'/>"
			       "<data name='Shop' inType='win:AnsiString'/>"
			       "<data name='Change' inType='win:Int32'/></template></templates>"
			       "<events><event value='1' template='T'/><event value='2' template='T'/>"
			       "<event value='3'/></events>"
			       "</provider></events></instrumentation></instrumentationManifest>";
static const GUID shop = {0xA0C3E5F7, 0x0002, 0x4444, {0x88, 0x88, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB}};
#define W(text) (LPWSTR)(uintptr_t) u##text
static const GUID another = {0xA0C3E5F8, 0x0002, 0x4444, {1}};

static PVOID filter_of(USHORT id, BOOLEAN any, ULONG count, const PAYLOAD_FILTER_PREDICATE *p)
{
	PVOID f = NULL;
	EVENT_DESCRIPTOR d = {.Id = id};
	expect_code(TdhCreatePayloadFilter(&shop, &d, any, count, (PPAYLOAD_FILTER_PREDICATE)(uintptr_t)p, &f),
		    ERROR_SUCCESS, "create");
	return f;
}

static ULONG enable_with(CONTROLTRACE_ID id, const GUID *g, ULONG count, PVOID *filters, PBOOLEAN all, ULONG properties)
{
	EVENT_FILTER_DESCRIPTOR d;
	expect_code(TdhAggregatePayloadFilters(count, filters, all, &d), ERROR_SUCCESS, "aggregate");
	ENABLE_TRACE_PARAMETERS a = {
		.Version = 2, .EnableProperty = properties, .EnableFilterDesc = &d, .FilterDescCount = 1};
	ULONG code = EnableTraceEx2(id, g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0, 0, &a);
	expect_code(TdhCleanupPayloadEventFilterDescriptor(&d), ERROR_SUCCESS, "clean up");
	for (ULONG i = 0; i < count; i++) {
		TdhDeletePayloadFilter(&filters[i]);
	}
	return code;
}

static void buy(REGHANDLE h, USHORT id, const WCHAR *customer, USHORT items, const char *where, LONG change)
{
	static const ULONG prices[8];
	EVENT_DESCRIPTOR d = {.Id = id, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data[5];
	ULONG n = 0;
	while (customer[n]) {
		n++;
	}
	EventDataDescCreate(&data[0], customer, 2 * (n + 1));
	EventDataDescCreate(&data[1], &items, 2);
	EventDataDescCreate(&data[2], prices, 4u * items);
	EventDataDescCreate(&data[3], where, (ULONG)strlen(where) + 1);
	EventDataDescCreate(&data[4], &change, 4);
	assert_int_equal(EventWrite(h, &d, 5, data), 0);
}

static void two_sessions_get_exactly_what_their_payload_filters_say(void **state)
{
	static const char *const file[5] = {"p0.etl", "p1.etl", "p2.etl", "p3.etl", "p4.etl"};
	const PAYLOAD_FILTER_PREDICATE rich[] = {{W("Change"), PAYLOADFIELD_GE, W("0")},
						 {W("Shop"), PAYLOADFIELD_IS, W("north")}};
	const PAYLOAD_FILTER_PREDICATE bob = {W("Customer"), PAYLOADFIELD_CONTAINS, W("ob")};
	CONTROLTRACE_ID id[5];
	REGHANDLE h;
	for (int i = 0; i < 5; i++) {
		WCHAR name[8] = {'P', 'a', 'y', (WCHAR)('0' + i), 0};
		id[i] = session_start(name, EVENT_TRACE_FILE_MODE_SEQUENTIAL, file[i]);
	}
	/* With a daemon there, it returns registered; without, some time before. */
	assert_int_equal(EventRegister(&shop, NULL, NULL, &h), 0);
	expect_code(EnableTraceEx2(id[0], &shop, 1, 0, 0, 0, 0, NULL), 0, "everything");
	PVOID f[2] = {filter_of(1, FALSE, 2, rich)};
	expect_code(enable_with(id[1], &shop, 1, f, NULL, 0), 0, "all of two conditions");
	f[0] = filter_of(1, TRUE, 2, rich);
	expect_code(enable_with(id[2], &shop, 1, f, NULL, EVENT_ENABLE_PROPERTY_PROCESS_START_KEY), 0,
		    "any of two conditions, and more items");
	f[0] = filter_of(1, FALSE, 1, &bob);
	f[1] = filter_of(2, FALSE, 1, &bob);
	expect_code(enable_with(id[3], &shop, 2, f, NULL, 0), 0, "two events");
	f[0] = filter_of(1, FALSE, 2, rich);
	f[1] = filter_of(1, FALSE, 1, &bob);
	expect_code(enable_with(id[4], &shop, 2, f, NULL, 0), 0, "one filter or the other");

	unsigned want[5][4] = {{0}};
	static const WCHAR *const who[] = {u"Bob", u"Alice", u"Robert"};
	static const char *const where[] = {"north", "south"};
	for (unsigned n = 0; n < 600; n++) {
		USHORT e = (USHORT)(1 + n % 2);
		unsigned w = n / 2 % 3, s = n / 6 % 2;
		LONG change = (LONG)(n % 7) - 3;
		bool is_rich = change >= 0 && s == 0, is_any = change >= 0 || s == 0, is_bob = w != 1;
		buy(h, e, who[w], (USHORT)(n % 5), where[s], change);
		want[0][e]++;
		want[1][e] += e == 2 || is_rich;
		want[2][e] += e == 2 || is_any;
		want[3][e] += is_bob;
		want[4][e] += e == 2 || is_rich || is_bob;
	}
	/* Without a schema of its own in any filter; of another version; too short for its
	 * manifest. */
	EVENT_DESCRIPTOR d = {.Id = 3};
	EVENT_DATA_DESCRIPTOR one;
	assert_int_equal(EventWrite(h, &d, 0, NULL), 0);
	d = (EVENT_DESCRIPTOR){.Id = 1};
	EventDataDescCreate(&one, u"Bo", 4);
	assert_int_equal(EventWrite(h, &d, 1, &one), 0);
	want[0][1]++;
	for (int i = 0; i < 5; i++) {
		want[i][3] = 1;
	}
	EventUnregister(h);
	for (int i = 0; i < 5; i++) {
		struct tally t;
		session_stop(id[i]);
		tally_file(file[i], &t);
		for (int e = 1; e <= 3; e++) {
			if (t.by_id[e] != want[i][e]) {
				fail_msg("%s, event %d: %u instead of %u", file[i], e, t.by_id[e], want[i][e]);
			}
		}
		assert_int_equal(t.events, want[i][1] + want[i][2] + want[i][3]);
	}
}

static void the_daemon_refuses_what_is_no_filter_of_this_provider(void **state)
{
	const PAYLOAD_FILTER_PREDICATE bob = {W("Customer"), PAYLOADFIELD_IS, W("Bob")};
	CONTROLTRACE_ID id = session_start(u"Refuse", EVENT_TRACE_REAL_TIME_MODE, NULL);
	PVOID f[1] = {filter_of(1, FALSE, 1, &bob)};
	expect_code(enable_with(id, &another, 1, f, NULL, 0), ERROR_INVALID_PARAMETER, "another's");
	f[0] = filter_of(1, FALSE, 1, &bob);
	expect_code(enable_with(id, &shop, 1, f, NULL, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP), ERROR_INVALID_PARAMETER,
		    "a group");
	f[0] = filter_of(1, FALSE, 1, &bob);
	EVENT_FILTER_DESCRIPTOR d;
	expect_code(TdhAggregatePayloadFilters(1, f, NULL, &d), 0, "aggregate");
	ENABLE_TRACE_PARAMETERS a = {.Version = 2, .EnableFilterDesc = &d, .FilterDescCount = 1};
	UCHAR *bytes = (UCHAR *)(uintptr_t)d.Ptr;
	for (ULONG i = 0; i < d.Size; i++) {
		UCHAR was = bytes[i];
		bytes[i] = 0xFF;
		ULONG code = EnableTraceEx2(id, &shop, 1, 0, 0, 0, 0, &a);
		/* An id, a version, a letter: those may be anything. Whatever it is, nothing
		 * breaks. */
		if (code != ERROR_INVALID_PARAMETER && code != ERROR_SUCCESS) {
			fail_msg("byte %u: %u", i, code);
		}
		bytes[i] = was;
	}
	d.Size--;
	expect_code(EnableTraceEx2(id, &shop, 1, 0, 0, 0, 0, &a), ERROR_INVALID_PARAMETER, "cut");
	d.Size++;
	expect_code(EnableTraceEx2(id, &shop, 1, 0, 0, 0, 0, &a), ERROR_SUCCESS, "whole");
	TdhCleanupPayloadEventFilterDescriptor(&d);
	TdhDeletePayloadFilter(&f[0]);
	session_stop(id);
}

static int setup(void **state)
{
	return testing_setup(state) || TdhLoadManifestFromMemory(manifest, sizeof manifest - 1) != ERROR_SUCCESS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sessions_get_exactly_what_their_payload_filters_say),
		cmocka_unit_test(the_daemon_refuses_what_is_no_filter_of_this_provider),
	};
	return cmocka_run_group_tests(tests, setup, testing_teardown);
}
