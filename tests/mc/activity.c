/* SPDX-License-Identifier: MIT
 *
 * Every type of types.man with macros that take an activity id, two contexts of its own, traits.
 */
static void on_enable(void);
#define MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION	   1
#define MCGEN_PRIVATE_ENABLE_CALLBACK_V2(a, b, c, d, e, f, g) on_enable()
#include <windows.h>
#include <stdio.h>
#include <string.h>

#include "types-activity.h"

static int callbacks;
static void on_enable(void)
{
	callbacks++;
}

static const GUID activity = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static unsigned long long write_plain(void)
{
	static const WCHAR wide[] = {'w', 0x00E9, 0};
	static const unsigned char bytes[4] = {1, 2, 3, 4};
	/* S-1-5-18 */
	static const unsigned char sid[12] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	FILETIME ft = {0xD53E8000, 0x019DB1DE}; /* 1970-01-01 */
	SYSTEMTIME st = {2020, 2, 6, 29, 1, 2, 3, 4};
	return EventWriteTypesPlain(&activity, wide, NULL, -1, 2, -3, 4, -5, 6, -7, 8, 1.5f, -2.5,
				    TRUE, bytes, &activity, (const void *)0x1234, &ft, &st,
				    (const SID *)(const void *)sid, 0x20, 0x40, 2, wide, 3, "abc", 2,
				    bytes);
}

static unsigned long long write_fixed(void)
{
	static const WCHAR wide[] = {'a', 0, 'b', 'c', 0};
	static const unsigned char bytes[6] = {1, 2, 3, 4, 5, 6};
	static const signed char i8[2] = {-1, 1};
	static const signed short i16[2] = {-2, 2};
	static const unsigned long long u64[2] = {5, 6};
	static const double d[2] = {0.5, 1};
	static const GUID g[2] = {{1, 0, 0, {0}}, {2, 0, 0, {0}}};
	const void *p[2] = {(const void *)1, (const void *)2};
	static const FILETIME ft[2] = {{0, 0}, {0, 0}};
	static const unsigned char sids[20] = {1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 5, 18};
	static const WCHAR counted[] = {2, 'x', 4, 'y', 'z'};
	static const unsigned char s[2] = {7, 9};
	return EventWriteTypesFixed(NULL, 5, wide, 5, "d\0ef", wide + 2, "ghijkl", i8, bytes, i16,
				    u64, d, bytes, g, p, ft, sizeof(sids), sids, 5, counted, 1, s);
}

static unsigned long long write_given(void)
{
	static const WCHAR wide[] = {'a', 0, 'b', 0, 'c', 'd'};
	static const int i32[2] = {-1, 1};
	const void *p[2] = {(const void *)1, (const void *)2};
	static const unsigned char bytes[6] = {1, 2, 3, 4, 5, 6};
	static const GUID g[3] = {{1, 0, 0, {0}}, {2, 0, 0, {0}}, {3, 0, 0, {0}}};
	static const char counted[] = {1, 0, 'x', 2, 0, 'y', 'z'};
	return EventWriteTypesGiven(&activity, 2, 3, 4, wide, "one", wide, i32, p, bytes, bytes, g,
				    sizeof(counted), counted, 1, bytes);
}

int main(void)
{
	McGenContext_Test_Types own;
	ULONG failed = EventRegisterTest_Types() | EventRegister_TEST_TRAITS() |
		       EventRegisterTest_Types_ForContext(&own);
	int enabled = EventEnabledTypesPlain() && EventEnabledTypesPlain_ForContext(&own);

	failed |= EventRegisterTest_Types(); /* twice: the first stays */
	failed |= (ULONG)(write_plain() | write_fixed() | write_given());
	failed |= (ULONG)EventWriteTraitsOne(NULL);
	failed |= (ULONG)EventWriteTraitsOne(&activity);
	EventUnregisterTest_Types_ForContext(&own);
	EventUnregister_TEST_TRAITS();
	EventUnregisterTest_Types();
	failed |= EventUnregisterTest_Types(); /* a second time does nothing */
	printf("enabled %d failed %u called back %s\n", enabled, (unsigned)failed,
	       callbacks ? "yes" : "no");
	return failed != 0;
}
