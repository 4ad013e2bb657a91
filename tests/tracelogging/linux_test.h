/* SPDX-License-Identifier: MIT
 *
 * TraceLogging as programs for LTTng and user_events write it, byte for byte: what those types become
 * in an ETW event. Built as C and as C++ from linux_test.c and linux_test.cpp.
 */
#include "record.h"

#include <tracelogging/TraceLoggingProvider.h>

#include <eventheader/TraceLoggingProvider.h>

TRACELOGGING_DEFINE_PROVIDER(P, "Tests.Linux", (0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16));
TRACELOGGING_DEFINE_PROVIDER(InGroup, "Tests.Linux.Group", (0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 17),
			     TraceLoggingOptionGroupName("band"));

static uint8_t const id[32] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
			       0xbb, 0xcc, 0xdd, 0xee, 0xff, 1,    2,    3,    4,    5,    6};
#define ID    "\x33\x22\x11\x00\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff"
#define ID2   "\4\3\2\1\6\5\0\0\0\0\0\0\0\0\0\0"
#define EPOCH "\x00\x80\x3e\xd5\xde\xb1\x9d\x01" /* 1970 in a FILETIME */
#define NEXT  "\x80\x16\xd7\xd5\xde\xb1\x9d\x01" /* a second later */

static void longs_and_arrays_of_int64_t_have_64_bits(void)
{
	long const v = -2;
	int64_t const a[2] = {1, -1};

	TraceLoggingWrite(P, "e", TraceLoggingLong(v));
	EVENT_IS("a long", META("\0e\0v\0\x09"), DATA("\xfe\xff\xff\xff\xff\xff\xff\xff"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingHexULong(3ul, "v"));
	EVENT_IS("a long in hex", META("\0e\0v\0\x15"), DATA("\3\0\0\0\0\0\0\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingInt64Array(a, 2));
	EVENT_IS("an array", META("\0e\0a\0\x49"), DATA("\2\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"), 2);
}

static void guids_are_given_as_they_are_printed(void)
{
	TraceLoggingWrite(P, "e", TraceLoggingGuid(id));
	EVENT_IS("a field", META("\0e\0id\0\x0f"), DATA(ID), 1);
	TraceLoggingWrite(P, "e", TraceLoggingGuidArray(id, 2));
	EVENT_IS("an array", META("\0e\0id\0\x4f"), DATA("\2\0" ID ID2), 1);
	TraceLoggingWrite(P, "e", TraceLoggingGuidFixedArray(id, 2));
	EVENT_IS("a fixed array", META("\0e\0id\0\x2f\2\0"), DATA(ID ID2), 1);
	TraceLoggingWriteActivity(P, "e", id, NULL);
	CHECK("the activity", rec.has_activity && !rec.has_related && memcmp(&rec.activity, ID, 16) == 0);
	TraceLoggingWriteActivity(P, "e", NULL, id + 16);
	CHECK("the related activity", !rec.has_activity && rec.has_related && memcmp(&rec.related, ID2, 16) == 0);
}

static void the_activity_of_a_thread_is_given_as_it_is_printed(void)
{
	uint8_t old[16], now[16];

	lttngh_ActivityIdGet(old);
	lttngh_ActivityIdSet(id);
	CHECK("set", memcmp(&rec.thread, ID, 16) == 0);
	lttngh_ActivityIdGet(now);
	CHECK("got", memcmp(now, id, 16) == 0);
	lttngh_ActivityIdSet(old);
	lttngh_ActivityIdCreate(now);
	CHECK("made", now[3] == rec.created && now[0] == 0);
}

static void times_become_filetimes(void)
{
	int32_t const t[2] = {0, 1};

	TraceLoggingWrite(P, "e", TraceLoggingTime32(0, "t"), TraceLoggingTime64(1, "u"));
	EVENT_IS("seconds", META("\0e\0t\0\x91\x26u\0\x91\x26"), DATA(EPOCH NEXT), 2);
	TraceLoggingWrite(P, "e", TraceLoggingTime32Array(t, 2));
	EVENT_IS("an array", META("\0e\0t\0\xd1\x26"), DATA("\2\0" EPOCH NEXT), 1);
	TraceLoggingWrite(P, "e", TraceLoggingTime64(-11644473601, "t"));
	EVENT_IS("before 1601", META("\0e\0t\0\x91\x26"), DATA("\0\0\0\0\0\0\0\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingErrno(2, "errno"));
	EVENT_IS("errno", META("\0e\0errno\0\x07"), DATA("\2\0\0\0"), 1);
}

/* U+1F600 takes two units of UTF-16, U+D800 is no character. */
static void wide_strings_travel_as_utf16(void)
{
	static uint32_t const text[] = {'a', 0x1F600, 0xD800, 0};
#ifdef __cplusplus
	char32_t const *const s = (char32_t const *)text;
#else
	uint32_t const *const s = text;
#endif
#define TEXT16 "a\0\x3d\xd8\x00\xde\xfd\xff"

	TraceLoggingWrite(P, "e", TraceLoggingString32(s), TraceLoggingString32(NULL, "n"));
	EVENT_IS("up to NUL", META("\0e\0s\0\1n\0\1"), DATA(TEXT16 "\0\0\0\0"), 2);
	TraceLoggingWrite(P, "e", TraceLoggingCountedString32(s, 3));
	EVENT_IS("counted", META("\0e\0s\0\x16"), DATA("\x08\0" TEXT16), 1);
	TraceLoggingWrite(P, "e", TraceLoggingChar32(0x1F600, "c"));
	EVENT_IS("one character is a number", META("\0e\0c\0\x14"), DATA("\0\xf6\1\0"), 1);
	TraceLoggingWrite(P, "e", TraceLoggingWideString(L"hi", "w"));
	EVENT_IS("wchar_t", META("\0e\0w\0\1"), DATA("h\0i\0\0\0"), 1);
#ifdef __cplusplus
	TraceLoggingWrite(P, "e", TraceLoggingValue(s), TraceLoggingValue(L"hi", "w"));
	EVENT_IS("of a type that follows", META("\0e\0s\0\1w\0\1"), DATA(TEXT16 "\0\0h\0i\0\0\0"), 2);
#endif
}

static void fields_by_hand_have_the_codes_of_eventheader(void)
{
	static uint32_t const wide[] = {'h', 'i', 0};
	static uint16_t const counted[] = {2, 'h', 'i'};

	TraceLoggingWrite(
		P, "e", TraceLoggingPackedField(wide, sizeof(wide), event_field_encoding_zstring_char32, "z"),
		TraceLoggingPackedField(counted, sizeof(counted), event_field_encoding_string_length16_char16, "c"),
		TraceLoggingPackedFieldEx(wide, 4, event_field_encoding_value32, event_field_format_float, "f"),
		TraceLoggingPackedFieldEx(wide, 4, event_field_encoding_value32, event_field_format_signed_int, "i"),
		TraceLoggingPackedFieldEx("x", 2, event_field_encoding_zstring_char8, event_field_format_string_utf,
					  "u"));
	EVENT_IS("their types here", META("\0e\0z\0\1c\0\xc6\2f\0\x0bi\0\7u\0\x82\x23"),
		 DATA("h\0i\0\0\0\2\0h\0i\0h\0\0\0h\0\0\0x\0"), 5);
}

static void events_and_providers_say_who_they_are(void)
{
	TraceLoggingWrite(P, "e", TraceLoggingIdVersion(1, 2), TraceLoggingIdVersion(1000, 11));
	CHECK("the last number counts", rec.descriptor.Id == 1000 && rec.descriptor.Version == 11);
	TraceLoggingWrite(P, "e");
	CHECK("none by itself", rec.descriptor.Id == 0 && rec.descriptor.Version == 0);
	CHECK("a name", strcmp(TraceLoggingProviderName(P), "Tests.Linux") == 0);
	CHECK("no options", strcmp(TraceLoggingProviderOptions(P), "") == 0);
	CHECK("a group", strcmp(TraceLoggingProviderOptions(InGroup), "Gband") == 0);
	CHECK("enabled", TraceLoggingEventEnabled(P, "e"));
}

int main(void)
{
	CHECK("registering answers 0", TraceLoggingRegister(P) == 0);
	rec_enable(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0);
	longs_and_arrays_of_int64_t_have_64_bits();
	guids_are_given_as_they_are_printed();
	the_activity_of_a_thread_is_given_as_it_is_printed();
	times_become_filetimes();
	wide_strings_travel_as_utf16();
	fields_by_hand_have_the_codes_of_eventheader();
	events_and_providers_say_who_they_are();
	CHECK("unregistering answers 0", TraceLoggingUnregister(P) == 0);
	CHECK("enabled no more", !TraceLoggingEventEnabled(P, "e"));
	return finish("linux");
}
