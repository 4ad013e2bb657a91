/* SPDX-License-Identifier: MIT
 *
 * TdhCreatePayloadFilter and its family: codes, and what a filter made from a manifest lets
 * through.
 */
#include "filter/filter_payload.h"
#include "schema/schema_testing.h"

#include <stdio.h>

#define ID "guid='{5F117E12-0001-4444-8888-0123456789AB}'"
static const char manifest[] = "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events' "
			       "xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
			       "<instrumentation><events><provider name='Acme-Filter' " ID "><templates>"
			       "<template tid='T'>"
			       "<data name='Count' inType='win:UInt8'/>"
			       "<data name='Name' inType='win:UnicodeString'/>"
			       "<data name='Values' inType='win:UInt32' count='Count'/>"
			       "<data name='Signed' inType='win:Int16'/>"
			       "<data name='Port' inType='win:UInt16' outType='win:Port'/>"
			       "<data name='Address' inType='win:UInt32' outType='win:IPv4'/>"
			       "<data name='Text' inType='win:AnsiString' length='Count'/>"
			       "<data name='Id' inType='win:GUID'/>"
			       "<struct name='Pair' count='Count'><data name='A' inType='win:UInt8'/>"
			       "<data name='B' inType='win:AnsiString'/></struct>"
			       "<struct name='One'><data name='X' inType='win:HexInt64'/></struct>"
			       "<data name='Who' inType='win:SID'/>"
			       "<data name='Flag' inType='win:Boolean'/>"
			       "<data name='When' inType='win:FILETIME'/>"
			       "<data name='Where' inType='win:Pointer'/>"
			       "<data name='Ratio' inType='win:Double'/>"
			       "<data name='Blob' inType='win:Binary' length='2'/>"
			       "</template></templates>"
			       "<events><event value='1' version='3' template='T'/><event value='2' "
			       "template='T'/></events>"
			       "</provider></events></instrumentation></instrumentationManifest>";

static const GUID acme = {0x5F117E12, 0x0001, 0x4444, {0x88, 0x88, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB}};
static const EVENT_DESCRIPTOR event = {.Id = 1, .Version = 3};

static void payload(struct blob *p)
{
	p->n = 0;
	blob_u8(p, 2);
	blob_wsz(p, "Hello");
	blob_u32(p, 100), blob_u32(p, 200);
	blob_u16(p, (uint16_t)-5);
	blob_u16(p, 0x5000);     /* 80 */
	blob_u32(p, 0x0100A8C0); /* 192.168.0.1 */
	blob_add(p, "ab", 2);
	blob_add(p, &acme, 16);
	blob_u8(p, 1), blob_asz(p, "one");
	blob_u8(p, 2), blob_asz(p, "");
	blob_u64(p, 0x8000000000000001ull);
	blob_add(p, "\1\1\0\0\0\0\0\5\x12\0\0\0", 12);
	blob_u32(p, 1);
	blob_u64(p, 132000000000000000ull);
	blob_u64(p, 0x7FFE0000);
	blob_u64(p, 0);
	blob_u16(p, 0xBEEF);
}

static ULONG create(const WCHAR *field, USHORT op, const WCHAR *value, PVOID *ret)
{
	PAYLOAD_FILTER_PREDICATE p = {(LPWSTR)(uintptr_t)field, op, (LPWSTR)(uintptr_t)value};
	return TdhCreatePayloadFilter(&acme, &event, FALSE, 1, &p, ret);
}

static bool lets_through(const void *filter, const struct blob *p)
{
	const uint8_t *b = filter;
	assert_int_equal(filter_check(b, le32_get(b + 8), NULL, NULL), 0);
	return filter_passes(b, 1, 3, p->b, p->n, 8);
}

static int load(void **state)
{
	return TdhLoadManifestFromMemory(manifest, sizeof manifest - 1) == ERROR_SUCCESS ? 0 : -1;
}

static void conditions_mean_what_the_manifest_says(void **state)
{
	static const struct {
		const WCHAR *field;
		USHORT op;
		const WCHAR *value;
		bool passes;
	} cases[] = {
		{u"Count", PAYLOADFIELD_EQ, u"2", true},
		{u"Count", PAYLOADFIELD_EQ, u"0x2", true},
		{u"Count", PAYLOADFIELD_NE, u" 2 ", false},
		{u"Name", PAYLOADFIELD_IS, u"Hello", true},
		{u"Name", PAYLOADFIELD_IS, u"hello", false}, /* case counts */
		{u"Name", PAYLOADFIELD_ISNOT, u"Hell", true},
		{u"Name", PAYLOADFIELD_CONTAINS, u"ell", true},
		{u"Name", PAYLOADFIELD_DOESNTCONTAIN, u"ell", false},
		{u"Signed", PAYLOADFIELD_LT, u"-4", true},
		{u"Signed", PAYLOADFIELD_LT, u"-5", false},
		{u"Signed", PAYLOADFIELD_LE, u"-5", true},
		{u"Signed", PAYLOADFIELD_BETWEEN, u"-6,-5", true},
		{u"Signed", PAYLOADFIELD_NOTBETWEEN, u"-6 , -5", false},
		{u"Signed", PAYLOADFIELD_MODULO, u"5", true},
		{u"Signed", PAYLOADFIELD_MODULO, u"2", false},
		{u"Port", PAYLOADFIELD_EQ, u"80", true},
		{u"Address", PAYLOADFIELD_EQ, u"192.168.0.1", true},
		{u"Address", PAYLOADFIELD_BETWEEN, u"192.168.0.0,192.168.0.255", true},
		{u"Address", PAYLOADFIELD_EQ, u"1.0.168.192", false},
		{u"Text", PAYLOADFIELD_IS, u"ab", true},
		{u"Text", PAYLOADFIELD_IS, u"abc", false},
		{u"Id", PAYLOADFIELD_IS, u"{5f117e12-0001-4444-8888-0123456789ab}", true},
		{u"Id", PAYLOADFIELD_ISNOT, u"{5F117E12-0001-4444-8888-0123456789AB}", false},
		{u"One.X", PAYLOADFIELD_EQ, u"0x8000000000000001", true},
		{u"One.X", PAYLOADFIELD_GT, u"1", true},
		{u"Flag", PAYLOADFIELD_EQ, u"true", true},
		{u"Flag", PAYLOADFIELD_EQ, u"0", false},
		{u"When", PAYLOADFIELD_GE, u"132000000000000000", true},
		{u"When", PAYLOADFIELD_GT, u"132000000000000000", false},
		{u"Where", PAYLOADFIELD_EQ, u"0x7ffe0000", true},
	};
	struct blob p;
	payload(&p);
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		PVOID f = NULL;
		ULONG code = create(cases[i].field, cases[i].op, cases[i].value, &f);
		if (code != ERROR_SUCCESS) {
			fail_msg("case %zu: %u, %s", i, code, err_text_get());
		}
		if (lets_through(f, &p) != cases[i].passes) {
			fail_msg("case %zu", i);
		}
		struct blob cut = p;
		cut.n = 0; /* an event that is not as its manifest says is never let through */
		assert_false(lets_through(f, &cut));
		assert_int_equal(TdhDeletePayloadFilter(&f), ERROR_SUCCESS);
		assert_null(f);
	}
}

static void conditions_without_sense_are_refused_with_the_reason(void **state)
{
	static const struct {
		const WCHAR *field;
		USHORT op;
		const WCHAR *value;
		const char *why;
	} cases[] = {
		{u"Nothing", PAYLOADFIELD_EQ, u"2", "no such field"},
		{u"count", PAYLOADFIELD_EQ, u"2", "no such field"},
		{u"Count", PAYLOADFIELD_EQ, u"", "a number"},
		{u"Count", PAYLOADFIELD_EQ, u"two", "a number"},
		{u"Count", PAYLOADFIELD_EQ, u"2,3", "a number"},
		{u"Count", PAYLOADFIELD_EQ, u"-1", "a number"},
		{u"Count", PAYLOADFIELD_EQ, u"99999999999999999999", "a number"},
		{u"Count", PAYLOADFIELD_BETWEEN, u"2", "two numbers"},
		{u"Count", PAYLOADFIELD_BETWEEN, u"3,2", "ends before"},
		{u"Count", PAYLOADFIELD_MODULO, u"0", "divided"},
		{u"Count", PAYLOADFIELD_IS, u"2", "an integer"},
		{u"Count", PAYLOADFIELD_CONTAINS, u"2", "an integer"},
		{u"Count", 9, u"2", "operator"},
		{u"Count", PAYLOADFIELD_INVALID, u"2", "operator"},
		{u"Count", 300, u"2", "operator"},
		{u"Name", PAYLOADFIELD_EQ, u"x", "text"},
		{u"Id", PAYLOADFIELD_EQ, u"{5f117e12-0001-4444-8888-0123456789ab}", "a GUID"},
		{u"Id", PAYLOADFIELD_IS, u"5f117e12", "a GUID"},
		{u"Values", PAYLOADFIELD_EQ, u"2", "an array"},
		{u"Pair.A", PAYLOADFIELD_EQ, u"1", "an array"},
		{u"Pair", PAYLOADFIELD_EQ, u"1", "no such field"},
		{u"Who", PAYLOADFIELD_IS, u"S-1-5-18", "no filter compares"},
		{u"Ratio", PAYLOADFIELD_EQ, u"1.5", "no filter compares"}, /* [doc] */
		{u"Blob", PAYLOADFIELD_IS, u"BEEF", "no filter compares"},
		{u"Address", PAYLOADFIELD_EQ, u"1.2.3", "a number"},
		{u"Address", PAYLOADFIELD_EQ, u"1.2.3.256", "a number"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		PVOID f = NULL;
		ULONG code = create(cases[i].field, cases[i].op, cases[i].value, &f);
		if (code != ERROR_INVALID_PARAMETER || f || !strstr(err_text_get(), cases[i].why)) {
			fail_msg("case %zu: %u, %s", i, code, err_text_get());
		}
	}
}

static void unknown_events_and_wrong_arguments_have_their_codes(void **state)
{
	PVOID f = NULL;
	PAYLOAD_FILTER_PREDICATE p[9];
	EVENT_DESCRIPTOR other = {.Id = 1, .Version = 2};
	GUID nobody = {0x12345678, 1, 2, {3}};
	for (int i = 0; i < 9; i++) {
		p[i] = (PAYLOAD_FILTER_PREDICATE){(LPWSTR)(uintptr_t)u"Count", 0, (LPWSTR)(uintptr_t)u"2"};
	}
	assert_int_equal(TdhCreatePayloadFilter(&acme, &other, 0, 1, p, &f), ERROR_NOT_FOUND);
	assert_int_equal(TdhCreatePayloadFilter(&nobody, &event, 0, 1, p, &f), ERROR_NOT_FOUND);
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 9, p, &f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 0, p, &f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(NULL, &event, 0, 1, p, &f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(&acme, NULL, 0, 1, p, &f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 1, NULL, &f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 1, p, NULL), ERROR_INVALID_PARAMETER);
	p[0].Value = NULL;
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 1, p, &f), ERROR_INVALID_PARAMETER);
	assert_null(f);
	assert_int_equal(TdhDeletePayloadFilter(&f), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhDeletePayloadFilter(NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCreatePayloadFilter(&acme, &event, 0, 8, p + 1, &f), ERROR_SUCCESS);
	assert_int_equal(TdhDeletePayloadFilter(&f), ERROR_SUCCESS);
	static WCHAR text[4100];
	for (size_t i = 0; i < 4099; i++) {
		text[i] = 'x';
	}
	assert_int_equal(create(u"Name", PAYLOADFIELD_IS, text, &f), ERROR_INSUFFICIENT_BUFFER);
	text[2000] = 0;
	assert_int_equal(create(u"Name", PAYLOADFIELD_IS, text, &f), ERROR_SUCCESS);
	EVENT_FILTER_DESCRIPTOR d;
	PVOID two[2] = {f, f};
	assert_int_equal(TdhAggregatePayloadFilters(2, two, NULL, &d), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(TdhDeletePayloadFilter(&f), ERROR_SUCCESS);
}

static void an_aggregate_is_a_descriptor_to_enable_with(void **state)
{
	struct blob p;
	payload(&p);
	PVOID f[2];
	BOOLEAN all[2] = {TRUE, TRUE};
	EVENT_FILTER_DESCRIPTOR d = {0};
	assert_int_equal(create(u"Count", PAYLOADFIELD_EQ, u"2", &f[0]), ERROR_SUCCESS);
	assert_int_equal(create(u"Port", PAYLOADFIELD_EQ, u"81", &f[1]), ERROR_SUCCESS);
	assert_int_equal(TdhAggregatePayloadFilters(0, f, NULL, &d), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhAggregatePayloadFilters(2, NULL, NULL, &d), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhAggregatePayloadFilters(2, f, NULL, NULL), ERROR_INVALID_PARAMETER);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(TdhAggregatePayloadFilters(2, f, i ? all : NULL, &d), ERROR_SUCCESS);
		assert_int_equal(d.Type, EVENT_FILTER_TYPE_PAYLOAD);
		assert_in_range(d.Size, 1, MAX_EVENT_FILTER_PAYLOAD_SIZE);
		assert_int_equal(lets_through((const void *)(uintptr_t)d.Ptr, &p), i == 0);
		assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&d), ERROR_SUCCESS);
		assert_int_equal(d.Ptr, 0);
		assert_int_equal(d.Size, 0);
		assert_int_equal(d.Type, EVENT_FILTER_TYPE_NONE);
	}
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&d), ERROR_SUCCESS);
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(NULL), ERROR_INVALID_PARAMETER);
	TdhDeletePayloadFilter(&f[0]);
	TdhDeletePayloadFilter(&f[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_mean_what_the_manifest_says),
		cmocka_unit_test(conditions_without_sense_are_refused_with_the_reason),
		cmocka_unit_test(unknown_events_and_wrong_arguments_have_their_codes),
		cmocka_unit_test(an_aggregate_is_a_descriptor_to_enable_with),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
