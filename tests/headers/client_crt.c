/* SPDX-License-Identifier: MIT
 *
 * A program compiled the way unmodified Windows sources are: -fshort-wchar, include/etw/win/crt in
 * front, linked with libetw-win. Runs as C and as C++. Expected texts are those that Microsoft
 * documents for its C runtime and Win32 functions.
 */
#include <windows.h>

#include <ip2string.h>
#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strsafe.h>
#include <wchar.h>
#include <wctype.h>
#include <wincrypt.h>
#include <winternl.h>

static int passed, failed;
static void check(int ok, const char *what, int line)
{
	if (ok) {
		passed++;
	} else {
		failed++;
		printf("line %d: %s\n", line, what);
	}
}
#define CHECK(e) check(!!(e), #e, __LINE__)

static const WCHAR *wide(const wchar_t *format, ...)
{
	static wchar_t buf[256];
	va_list ap;
	va_start(ap, format);
	vswprintf(buf, 256, format, ap);
	va_end(ap);
	return buf;
}
static const char *narrow(const char *format, ...)
{
	static char buf[256];
	va_list ap;
	va_start(ap, format);
	vsnprintf(buf, 256, format, ap);
	va_end(ap);
	return buf;
}
#define WIDE(expect, ...)   CHECK(wcscmp(wide(__VA_ARGS__), expect) == 0)
#define NARROW(expect, ...) CHECK(strcmp(narrow(__VA_ARGS__), expect) == 0)

static void wide_formats_mean_what_microsoft_says(void)
{
	ULONG ul = 0xFFFFFFFFu;
	LONG l = -5;
	WIDE(L"wide narrow", L"%s %S", L"wide", "narrow");
	WIDE(L"narrow wide wide", L"%hs %ls %ws", "narrow", L"wide", L"wide");
	WIDE(L"4294967295 -5", L"%lu %ld", ul, l);
	WIDE(L"18446744073709551615", L"%I64u", 0xFFFFFFFFFFFFFFFFULL);
	WIDE(L"0x00ff FF 0xff", L"0x%04x %X %#x", 255, 255, 255);
	WIDE(L"  ab|ab  |ab", L"%4s|%-4s|%.2s", L"ab", L"ab", L"abcdef");
	WIDE(L"A z %", L"%c %C %%", L'A', 'z');
	WIDE(L"00042 +42    42", L"%05d %+d %5d", 42, 42, 42);
	WIDE(L"3.142 1e+10", L"%.3f %g", 3.14159, 1e10);
	WIDE(L"(null)", L"%s", (wchar_t *)0);
	WIDE(L"00000000DEADBEEF", L"%p", (void *)(ULONG_PTR)0xDEADBEEFu);
	WIDE(L"-1 255 65535", L"%hhd %hhu %hu", -1, 255, 65535);
	WIDE(L"1234605616436508552", L"%lld", 0x1122334455667788LL);
}
static void narrow_formats_have_32_bit_longs(void)
{
	ULONG ul = 0x80000000u;
	NARROW("2147483648 80000000", "%lu %lx", ul, ul);
	NARROW("wide narrow", "%S %s", L"wide", "narrow");
	NARROW("wide", "%ls", L"wide");
	NARROW("\xC3\xA4", "%ls", L"\x00E4");
	NARROW("123456789012", "%I64d", 123456789012LL);
}
static void strings_are_16_bits(void)
{
	wchar_t buf[8];
	wchar_t *save = NULL;
	wchar_t text[] = L"a,b;c";
	CHECK(sizeof(wchar_t) == 2);
	CHECK(wcslen(L"h\x00E9llo") == 5);
	CHECK(wcscmp(L"a", L"b") < 0 && wcscmp(L"b", L"a") > 0 && wcscmp(L"", L"") == 0);
	CHECK(_wcsicmp(L"HELLO", L"hello") == 0 && _wcsnicmp(L"abX", L"ABy", 2) == 0);
	CHECK(wcschr(L"abc", L'b')[1] == L'c' && wcsrchr(L"abca", L'a')[1] == 0);
	CHECK(wcsstr(L"needle in hay", L"in") != NULL && wcsstr(L"abc", L"z") == NULL);
	CHECK(wcscmp(wcstok_s(text, L",;", &save), L"a") == 0);
	CHECK(wcscmp(wcstok_s(NULL, L",;", &save), L"b") == 0);
	CHECK(wcscmp(wcstok_s(NULL, L",;", &save), L"c") == 0);
	CHECK(wcstok_s(NULL, L",;", &save) == NULL);
	CHECK(wcstoul(L"0x1F", NULL, 16) == 31 && _wtoi(L" -17x") == -17);
	CHECK(_wcstoui64(L"18446744073709551615", NULL, 10) == 18446744073709551615ULL);
	CHECK(wcscpy_s(buf, 8, L"seven77") == 0 && wcscmp(buf, L"seven77") == 0);
	CHECK(wcscpy_s(buf, 8, L"eight888") == 34 && buf[0] == 0);
	CHECK(wcsncpy_s(buf, 8, L"eight888", _TRUNCATE) == STRUNCATE && wcscmp(buf, L"eight88") == 0);
	CHECK(wcscpy_s(buf, 8, L"ab") == 0 && wcscat_s(buf, 8, L"cd") == 0 && wcscmp(buf, L"abcd") == 0);
	CHECK(swprintf_s(buf, 8, L"%d", 1234567) == 7);
	CHECK(_snwprintf_s(buf, 8, _TRUNCATE, L"%s", L"longer than it") == -1 && wcscmp(buf, L"longer ") == 0);
	CHECK(_scwprintf(L"%s-%u", L"abc", 10u) == 6);
	CHECK(towupper(L'\x00E4') == 0x00C4);
}
static void multibyte_is_utf8(void)
{
	wchar_t w[8];
	char c[8];
	size_t n;
	CHECK(mbstowcs(w, "\xC3\xA9", 8) == 1 && w[0] == 0xE9);
	CHECK(wcstombs(c, L"\x20AC", 8) == 3 && strcmp(c, "\xE2\x82\xAC") == 0);
	CHECK(mbstowcs_s(&n, w, 8, "abc", _TRUNCATE) == 0 && n == 4 && wcscmp(w, L"abc") == 0);
	CHECK(MultiByteToWideChar(CP_UTF8, 0, "abc", -1, NULL, 0) == 4);
	CHECK(MultiByteToWideChar(CP_ACP, 0, "\xE2\x82\xAC", 3, w, 8) == 1 && w[0] == 0x20AC);
	CHECK(MultiByteToWideChar(CP_UTF8, 0, "too long for it", -1, w, 4) == 0 &&
	      GetLastError() == ERROR_INSUFFICIENT_BUFFER);
	CHECK(MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, "\xFF", -1, w, 8) == 0 &&
	      GetLastError() == ERROR_NO_UNICODE_TRANSLATION);
	CHECK(WideCharToMultiByte(CP_UTF8, 0, L"\xD83D\xDE00", -1, c, 8, NULL, NULL) == 5 &&
	      strcmp(c, "\xF0\x9F\x98\x80") == 0);
}
static void scanning_reads_windows_sizes(void)
{
	unsigned a = 0, b = 0;
	wchar_t word[8];
	ULONGLONG q = 0;
	CHECK(swscanf(L"12 ff word", L"%u %x %7s", &a, &b, word) == 3 && a == 12 && b == 255 &&
	      wcscmp(word, L"word") == 0);
	CHECK(swscanf_s(L"99999999999", L"%I64u", &q) == 1 && q == 99999999999ULL);
	CHECK(swscanf_s(L"abcdefghijk", L"%s", word, 8u) == 0);
	CHECK(sscanf_s("7:8", "%u:%u", &a, &b) == 2 && a == 7 && b == 8);
}
static void bounded_strings_cut_and_say_so(void)
{
	WCHAR w[6];
	char a[6];
	size_t n;
	CHECK(StringCchCopyW(w, 6, L"12345") == S_OK);
	CHECK(StringCchCopyW(w, 6, L"123456") == STRSAFE_E_INSUFFICIENT_BUFFER && wcscmp(w, L"12345") == 0);
	CHECK(StringCchPrintfW(w, 6, L"%s%lu", L"ab", (ULONG)7) == S_OK && wcscmp(w, L"ab7") == 0);
	CHECK(StringCchCatW(w, 6, L"xyz") == STRSAFE_E_INSUFFICIENT_BUFFER && wcscmp(w, L"ab7xy") == 0);
	CHECK(StringCbPrintfA(a, sizeof a, "%d", 123456) == STRSAFE_E_INSUFFICIENT_BUFFER && strcmp(a, "12345") == 0);
	CHECK(StringCchLengthW(w, 6, &n) == S_OK && n == 5);
	CHECK(StringCbLengthA("abcdef", 6, &n) == STRSAFE_E_INVALID_PARAMETER);
}
static void guids_and_sids_have_their_text(void)
{
	GUID g = {0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0, 0, 0xf8, 4, 0x64, 0xe3}}, back;
	WCHAR text[39];
	PSID sid = NULL;
	LPWSTR s = NULL;
#ifdef __cplusplus
	CHECK(StringFromGUID2(g, text, 39) == 39);
#else
	CHECK(StringFromGUID2(&g, text, 39) == 39);
#endif
	CHECK(wcscmp(text, L"{68FDD900-4A3E-11D1-84F4-0000F80464E3}") == 0);
	CHECK(CLSIDFromString(text, &back) == S_OK && memcmp(&g, &back, 16) == 0);
	CHECK(CLSIDFromString(L"68FDD900", &back) == CO_E_CLASSSTRING);
	CHECK(ConvertStringSidToSidW(L"S-1-5-21-1-2-3-1001", &sid) && GetLengthSid(sid) == 28);
	CHECK(ConvertSidToStringSidW(sid, &s) && wcscmp(s, L"S-1-5-21-1-2-3-1001") == 0);
	CHECK(LocalFree(s) == NULL && LocalFree(sid) == NULL);
}
static void times_convert(void)
{
	/* 2009-07-25 23:00:00.000 UTC, the example value 128930364000001000 of Microsoft's
	 * documents less its tail */
	SYSTEMTIME st = {2009, 7, 6, 25, 23, 0, 0, 0}, back;
	FILETIME ft;
	ULARGE_INTEGER u;
	WCHAR text[32];
	CHECK(SystemTimeToFileTime(&st, &ft));
	u.LowPart = ft.dwLowDateTime;
	u.HighPart = ft.dwHighDateTime;
	CHECK(u.QuadPart == 128930364000000000ULL);
	CHECK(FileTimeToSystemTime(&ft, &back) && memcmp(&st, &back, sizeof st) == 0);
	u.QuadPart = 0;
	ft.dwLowDateTime = ft.dwHighDateTime = 0;
	CHECK(FileTimeToSystemTime(&ft, &back) && back.wYear == 1601 && back.wDayOfWeek == 1);
	ft.dwHighDateTime = 0x80000000u;
	CHECK(!FileTimeToSystemTime(&ft, &back) && GetLastError() == ERROR_INVALID_PARAMETER);
	st.wMonth = 13;
	CHECK(!SystemTimeToFileTime(&st, &ft));
	st.wMonth = 7;
	CHECK(GetDateFormatW(LOCALE_USER_DEFAULT, 0, &st, L"ddd',' MMM dd yy", text, 32) == 15 &&
	      wcscmp(text, L"Sat, Jul 25 09") == 0);
	CHECK(GetTimeFormatW(LOCALE_USER_DEFAULT, 0, &st, NULL, text, 32) == 12 && wcscmp(text, L"11:00:00 PM") == 0);
}
static DWORD WINAPI worker(LPVOID p)
{
	WaitForSingleObject((HANDLE)p, INFINITE);
	return 42;
}
static void waits_take_events_and_threads(void)
{
	HANDLE both[2];
	DWORD code = 0, id = 0;
	both[0] = CreateEventW(NULL, FALSE, FALSE, NULL);
	both[1] = CreateThread(NULL, 0, worker, both[0], 0, &id);
	CHECK(both[0] && both[1] && id == GetThreadId(both[1]));
	CHECK(WaitForMultipleObjects(2, both, FALSE, 0) == WAIT_TIMEOUT);
	CHECK(GetExitCodeThread(both[1], &code) && code == STILL_ACTIVE);
	CHECK(SetEvent(both[0]));
	CHECK(WaitForSingleObject(both[1], INFINITE) == WAIT_OBJECT_0);
	CHECK(GetExitCodeThread(both[1], &code) && code == 42);
	CHECK(WaitForMultipleObjects(2, both, FALSE, 0) == WAIT_OBJECT_0 + 1);
	CHECK(WaitForMultipleObjects(2, both, TRUE, 0) == WAIT_TIMEOUT);
	CHECK(SetEvent(both[0]) && WaitForMultipleObjects(2, both, TRUE, INFINITE) == WAIT_OBJECT_0);
	CHECK(WaitForSingleObject(both[0], 0) == WAIT_TIMEOUT); /* auto-reset: taken */
	CHECK(CloseHandle(both[0]) && CloseHandle(both[1]));
	CHECK(!CloseHandle(NULL) && GetLastError() == ERROR_INVALID_HANDLE);
	CHECK(WaitForSingleObject(INVALID_HANDLE_VALUE, 0) == WAIT_FAILED);
}
static void messages_take_inserts(void)
{
	LPWSTR text = NULL;
	WCHAR buf[64];
	DWORD_PTR args[2] = {(DWORD_PTR)L"one", 2};
	CHECK(FormatMessageW(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ARGUMENT_ARRAY, L"%2!u! %1%%%n%0x", 0, 0, buf,
			     64, (va_list *)args) == 8 &&
	      wcscmp(buf, L"2 one%\r\n") == 0);
	CHECK(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_ALLOCATE_BUFFER |
				     FORMAT_MESSAGE_IGNORE_INSERTS,
			     NULL, ERROR_ACCESS_DENIED, 0, (LPWSTR)&text, 0, NULL) > 0 &&
	      text && text[0]);
	LocalFree(text);
	CHECK(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 0x7FFF1234, 0, buf, 64, NULL) == 0 &&
	      GetLastError() == ERROR_MR_MID_NOT_FOUND);
}
static void privileges_and_modules_are_there(void)
{
	HANDLE token;
	TOKEN_PRIVILEGES tp;
	HMODULE m = GetModuleHandleW(L"advapi32.dll");
	int n = 0;
	LPWSTR *argv = CommandLineToArgvW(L"\"a b\" c\\\\\"d e\" f\\\"g", &n);
	CHECK(OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token));
	CHECK(LookupPrivilegeValueW(NULL, L"SeSystemProfilePrivilege", &tp.Privileges[0].Luid));
	tp.PrivilegeCount = 1;
	tp.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
	CHECK(AdjustTokenPrivileges(token, FALSE, &tp, 0, NULL, NULL) && GetLastError() == 0);
	CHECK(CloseHandle(token));
	CHECK(m && GetProcAddress(m, "GetLastError") != NULL);
	CHECK(GetProcAddress(m, "NoSuchFunctionAnywhere") == NULL && GetLastError() == ERROR_PROC_NOT_FOUND);
	CHECK(LoadLibraryW(L"no-such-module.dll") == NULL && GetLastError() == ERROR_MOD_NOT_FOUND);
	CHECK(n == 3 && wcscmp(argv[0], L"a b") == 0 && wcscmp(argv[1], L"c\\d e") == 0 &&
	      wcscmp(argv[2], L"f\"g") == 0);
	LocalFree(argv);
}

static void addresses_have_windows_text(void)
{
	static const struct {
		UCHAR bytes[16];
		const wchar_t *text;
	} rows[] = {
		{{0}, L"::"},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, L"::1"},
		{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xAB, 0xCD}, L"fe80::abcd"},
		{{0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}, L"2001:db8:0:1::1"},
		{{0x20, 1, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}, L"2001:0:1:2:3:4:5:6"},
		{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4}, L"::ffff:1.2.3.4"},
	};
	WCHAR text[64];
	char narrow_text[64];
	ULONG n = 64;
	IN6_ADDR a;
	IN_ADDR v4;
	size_t i;
	for (i = 0; i < _countof(rows); i++) {
		memcpy(&a, rows[i].bytes, 16);
		CHECK(RtlIpv6AddressToStringW(&a, text) == text + wcslen(rows[i].text) &&
		      wcscmp(text, rows[i].text) == 0);
	}
	memcpy(&a, rows[1].bytes, 16);
	CHECK(RtlIpv6AddressToStringExA(&a, 3, htons(80), narrow_text, &n) == 0 && n == 11 &&
	      strcmp(narrow_text, "[::1%3]:80") == 0);
	memcpy(&v4, "\x7F\0\0\1", 4);
	RtlIpv4AddressToStringW(&v4, text);
	CHECK(wcscmp(text, L"127.0.0.1") == 0);
}
static void sha1_is_sha1(void)
{
	/* FIPS 180: "abc" */
	static const UCHAR want[20] = {0xA9, 0x99, 0x3E, 0x36, 0x47, 0x06, 0x81, 0x6A, 0xBA, 0x3E,
				       0x25, 0x71, 0x78, 0x50, 0xC2, 0x6C, 0x9C, 0xD0, 0xD8, 0x9D};
	HCRYPTPROV prov;
	HCRYPTHASH hash;
	BYTE got[20];
	DWORD n = sizeof got;
	UNICODE_STRING u;
	CHECK(CryptAcquireContextW(&prov, NULL, NULL, PROV_RSA_FULL, CRYPT_VERIFYCONTEXT));
	CHECK(CryptCreateHash(prov, CALG_SHA1, 0, 0, &hash));
	CHECK(CryptHashData(hash, (const BYTE *)"ab", 2, 0) && CryptHashData(hash, (const BYTE *)"c", 1, 0));
	CHECK(CryptGetHashParam(hash, HP_HASHVAL, got, &n, 0) && n == 20 && memcmp(got, want, 20) == 0);
	CHECK(CryptDestroyHash(hash) && CryptReleaseContext(prov, 0));
	RtlInitUnicodeString(&u, L"abc");
	CHECK(u.Length == 6 && u.MaximumLength == 8);
	CHECK(RtlNtStatusToDosError(STATUS_ACCESS_DENIED) == ERROR_ACCESS_DENIED);
}

int main(void)
{
	addresses_have_windows_text();
	sha1_is_sha1();
	wide_formats_mean_what_microsoft_says();
	narrow_formats_have_32_bit_longs();
	strings_are_16_bits();
	multibyte_is_utf8();
	scanning_reads_windows_sizes();
	bounded_strings_cut_and_say_so();
	guids_and_sids_have_their_text();
	times_convert();
	waits_take_events_and_threads();
	messages_take_inserts();
	privileges_and_modules_are_there();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
