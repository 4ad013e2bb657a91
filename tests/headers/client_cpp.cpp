/* SPDX-License-Identifier: MIT
 *
 * C++ the way Windows sources write it, on the stock libstdc++: std::wstring of 16 bits, the
 * array-size overloads, GUID operators, min and max. Compiled with -fshort-wchar and -include
 * etw_force.h.
 */
#include <windows.h>

#include <evntrace.h>
#include <initguid.h>
#include <strsafe.h>
#include <tchar.h>
#include <tdh.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

DEFINE_GUID(TestGuid, 0x12345678, 0x1234, 0x5678, 1, 2, 3, 4, 5, 6, 7, 8);
extern "C" __declspec(selectany) const GUID Any = {1, 2, 3, {4}};

static int passed, failed;
#define CHECK(e)                                               \
	do {                                                   \
		if (e) {                                       \
			passed++;                              \
		} else {                                       \
			failed++;                              \
			printf("line %d: %s\n", __LINE__, #e); \
		}                                              \
	} while (0)

static void overload(ULONG)
{
}
static void overload(unsigned long)
{
}

int main()
{
	std::wstring s(L"ab");
	for (int i = 0; i < 100; i++) {
		s += L"cd";
	}
	CHECK(s.size() == 202 && wcslen(s.c_str()) == 202);
	CHECK(s.substr(0, 4) == L"abcd" && s.find(L"dc") == 3);
	std::map<std::wstring, int> m;
	m[L"one"] = 1;
	m[L"two"] = 2;
	CHECK(m[L"one"] == 1 && m.size() == 2);
	std::vector<WCHAR> v(s.begin(), s.end());
	CHECK(v.size() == 202 && sizeof v[0] == 2);

	WCHAR buf[16];
	CHECK(wcscpy_s(buf, L"hello") == 0 && wcscat_s(buf, L"!") == 0 && wcscmp(buf, L"hello!") == 0);
	CHECK(swprintf_s(buf, L"%s %u", L"n", 7u) == 3 && _countof(buf) == 16 && ARRAYSIZE(buf) == 16);
	char cbuf[8];
	CHECK(sprintf_s(cbuf, "%lu", (ULONG)42) == 2 && strcpy_s(cbuf, "abc") == 0);

	using namespace std;
	CHECK(max(1, 2) == 2 && min<ULONG>(3, 4) == 3 && (max)(1u, 2u) == 2u);
	overload(DWORD(1));
	overload(1ul);

	CHECK(TestGuid == TestGuid && TestGuid != Any && EventTraceGuid.Data1 == 0x68fdd900);
	CHECK(IsEqualGUID(SystemTraceControlGuid, SystemTraceControlGuid) && Any.Data1 == 1);

	EVENT_TRACE_LOGFILEW log = {};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	CHECK(log.LogFileMode == PROCESS_TRACE_MODE_EVENT_RECORD);
	EVENT_DESCRIPTOR d;
	EventDescCreate(&d, 1, 2, 3, 4, 5, 6, 7);
	CHECK(EventDescGetTask(EventDescOrKeyword(EventDescSetId(&d, 9), 8)) == 5 && d.Id == 9 && d.Keyword == 15);
	EVENT_DATA_DESCRIPTOR dd;
	EventDataDescCreate(&dd, buf, 10);
	CHECK(dd.Ptr == (ULONGLONG)buf && dd.Size == 10 && dd.Reserved == 0);
	EVENT_RECORD r = {};
	r.BufferContext.ProcessorIndex = 0x0103;
	CHECK(GetEventProcessorIndex(&r) == 3);
	r.EventHeader.Flags = EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	CHECK(GetEventProcessorIndex(&r) == 0x103);

	/* total 24, name "P", group trait of 16 bytes, then one of type 200 with 1 byte */
	static const UCHAR traits[] = {27, 0, 'P', 0,  19, 0,  1,  1,  2,  3, 4, 5,   6, 7,
				       8,  9, 10,  11, 12, 13, 14, 15, 16, 4, 0, 200, 77};
	const void *trait;
	USHORT size;
	EtwGetTraitFromProviderTraits(traits, EtwProviderTraitTypeGroup, &trait, &size);
	CHECK(size == 16 && trait == traits + 7);
	EtwGetTraitFromProviderTraits(traits, 200, &trait, &size);
	CHECK(size == 1 && *(const UCHAR *)trait == 77);
	EtwGetTraitFromProviderTraits(traits, 3, &trait, &size);
	CHECK(size == 0 && trait == nullptr);

	LONG n = 5;
	ULONG un = 5;
	CHECK(InterlockedIncrement(&n) == 6 && InterlockedIncrement(&un) == 6 &&
	      InterlockedCompareExchange(&n, 9, 6) == 6 && n == 9 && InterlockedExchange(&n, 1) == 9);
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
