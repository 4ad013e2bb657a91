/* SPDX-License-Identifier: MIT
 *
 * Code pages, case, comparison, and dates as text.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <stdlib.h>

static bool single_byte(UINT page)
{
	return page == 1252 || page == 28591 || page == 20127;
}

static bool known_page(UINT page)
{
	return page <= CP_THREAD_ACP || page == CP_UTF8 || single_byte(page);
}

/* Gives n units to the caller if they fit; 0 asks for the number. */
static int give(const uint16_t *s, size_t n, LPWSTR out, int cap)
{
	if (cap == 0) {
		return (int)n;
	}
	if (n > (size_t)cap) {
		memcpy(out, s, 2 * (size_t)cap);
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memcpy(out, s, 2 * n);
	return (int)n;
}

int WINAPI MultiByteToWideChar(UINT CodePage, DWORD dwFlags, LPCSTR lpMultiByteStr, int cbMultiByte,
			       LPWSTR lpWideCharStr, int cchWideChar)
{
	if (!lpMultiByteStr || cbMultiByte == 0 || cbMultiByte < -1 || cchWideChar < 0 ||
	    (cchWideChar && !lpWideCharStr) || !known_page(CodePage)) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	size_t n = cbMultiByte < 0 ? strlen(lpMultiByteStr) + 1 : (size_t)cbMultiByte;
	bool latin = single_byte(CodePage);
	if (!latin && (dwFlags & MB_ERR_INVALID_CHARS) && utf8_to_utf16(lpMultiByteStr, n, NULL, 0) < 0) {
		return win_fail(ERROR_NO_UNICODE_TRANSLATION);
	}
	struct win_sink s = {.wide = true, .grow = true};
	if (latin) {
		for (size_t i = 0; i < n; i++) {
			win_sink_unit(&s, (uint8_t)lpMultiByteStr[i]);
		}
	} else {
		win_sink_utf8(&s, lpMultiByteStr, n);
	}
	int ret = s.failed ? win_fail(ERROR_NOT_ENOUGH_MEMORY) : give(s.buf, s.count, lpWideCharStr, cchWideChar);
	free(s.buf);
	return ret;
}

int WINAPI WideCharToMultiByte(UINT CodePage, DWORD dwFlags, LPCWSTR lpWideCharStr, int cchWideChar,
			       LPSTR lpMultiByteStr, int cbMultiByte, LPCSTR lpDefaultChar, LPBOOL lpUsedDefaultChar)
{
	if (!lpWideCharStr || cchWideChar == 0 || cchWideChar < -1 || cbMultiByte < 0 ||
	    (cbMultiByte && !lpMultiByteStr) || !known_page(CodePage)) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	size_t n = cchWideChar < 0 ? utf16_len(lpWideCharStr) + 1 : (size_t)cchWideChar;
	bool latin = single_byte(CodePage), used = false;
	if (!latin && (dwFlags & WC_ERR_INVALID_CHARS) && utf16_to_utf8(lpWideCharStr, n, NULL, 0) < 0) {
		return win_fail(ERROR_NO_UNICODE_TRANSLATION);
	}
	struct win_sink s = {.grow = true};
	if (latin) {
		for (size_t i = 0; i < n; i++) {
			bool fits = lpWideCharStr[i] < (CodePage == 20127 ? 0x80 : 0x100);
			used |= !fits;
			win_sink_unit(&s, fits ? lpWideCharStr[i] : lpDefaultChar ? (uint8_t)*lpDefaultChar : '?');
		}
	} else {
		win_sink_utf16(&s, lpWideCharStr, n);
	}
	if (lpUsedDefaultChar) {
		*lpUsedDefaultChar = used;
	}
	int ret = (int)s.count;
	if (s.failed) {
		ret = win_fail(ERROR_NOT_ENOUGH_MEMORY);
	} else if (cbMultiByte > 0) {
		size_t k = BASE_MIN(s.count, (size_t)cbMultiByte);
		memcpy(lpMultiByteStr, s.buf, k);
		ret = s.count > k ? win_fail(ERROR_INSUFFICIENT_BUFFER) : (int)k;
	}
	free(s.buf);
	return ret;
}

UINT WINAPI GetACP(void)
{
	return CP_UTF8;
}
UINT WINAPI GetOEMCP(void)
{
	return CP_UTF8;
}

int WINAPI LCMapStringEx(LPCWSTR lpLocaleName, DWORD dwMapFlags, LPCWSTR lpSrcStr, int cchSrc, LPWSTR lpDestStr,
			 int cchDest, LPNLSVERSIONINFO lpVersionInformation, LPVOID lpReserved, LPARAM sortHandle)
{
	if (!lpSrcStr || cchSrc == 0 || cchDest < 0) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	size_t n = cchSrc < 0 ? utf16_len(lpSrcStr) + 1 : (size_t)cchSrc;
	if (cchDest == 0) {
		return (int)n;
	}
	if (n > (size_t)cchDest) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	for (size_t i = 0; i < n; i++) {
		uint16_t c = lpSrcStr[i];
		c = dwMapFlags & LCMAP_UPPERCASE ? win_upper(c) : dwMapFlags & LCMAP_LOWERCASE ? win_lower(c) : c;
		lpDestStr[i] = dwMapFlags & LCMAP_BYTEREV ? __builtin_bswap16(c) : c;
	}
	return (int)n;
}

int WINAPI lstrlenW(LPCWSTR lpString)
{
	return lpString ? (int)utf16_len(lpString) : 0;
}
int WINAPI lstrlenA(LPCSTR lpString)
{
	return lpString ? (int)strlen(lpString) : 0;
}
int WINAPI CompareStringOrdinal(LPCWSTR lpString1, int cchCount1, LPCWSTR lpString2, int cchCount2, BOOL bIgnoreCase)
{
	size_t n = cchCount1 < 0 ? utf16_len(lpString1) : (size_t)cchCount1;
	size_t m = cchCount2 < 0 ? utf16_len(lpString2) : (size_t)cchCount2;
	for (size_t i = 0; i < n && i < m; i++) {
		uint16_t a = lpString1[i], b = lpString2[i];
		a = bIgnoreCase ? win_upper(a) : a;
		b = bIgnoreCase ? win_upper(b) : b;
		if (a != b) {
			return a < b ? CSTR_LESS_THAN : CSTR_GREATER_THAN;
		}
	}
	return n < m ? CSTR_LESS_THAN : n > m ? CSTR_GREATER_THAN : CSTR_EQUAL;
}
int WINAPI lstrcmpiW(LPCWSTR lpString1, LPCWSTR lpString2)
{
	return CompareStringOrdinal(lpString1, -1, lpString2, -1, TRUE) - CSTR_EQUAL;
}

/* ---- date and time pictures
 * ------------------------------------------------------------------------ */

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
				     "July",    "August",   "September", "October", "November", "December"};
static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

static void number(struct win_sink *s, unsigned v, unsigned digits)
{
	char t[16];
	int n = snprintf(t, sizeof t, "%0*u", (int)digits, v);
	win_sink_utf8(s, t, (size_t)n);
}

static void name(struct win_sink *s, const char *text, unsigned letters)
{
	win_sink_utf8(s, text, letters >= 4 ? strlen(text) : 3);
}

/* One letter repeated `n` times. */
static void picture(struct win_sink *s, const SYSTEMTIME *t, uint16_t c, unsigned n, bool date)
{
	unsigned h12 = t->wHour % 12 ? t->wHour % 12 : 12;
	if (date && c == 'd') {
		n < 3 ? number(s, t->wDay, n) : name(s, days[t->wDayOfWeek % 7], n);
	} else if (date && c == 'M') {
		n < 3 ? number(s, t->wMonth, n) : name(s, months[(t->wMonth + 11) % 12], n);
	} else if (date && c == 'y') {
		n < 3 ? number(s, t->wYear % 100, n) : number(s, t->wYear, 4);
	} else if (!date && c == 'H') {
		number(s, t->wHour, n < 2 ? 1 : 2);
	} else if (!date && c == 'h') {
		number(s, h12, n < 2 ? 1 : 2);
	} else if (!date && c == 'm') {
		number(s, t->wMinute, n < 2 ? 1 : 2);
	} else if (!date && c == 's') {
		number(s, t->wSecond, n < 2 ? 1 : 2);
	} else if (!date && c == 't') {
		win_sink_utf8(s, t->wHour < 12 ? "AM" : "PM", n < 2 ? 1 : 2);
	} else {
		while (n--) {
			win_sink_unit(s, c);
		}
	}
}

static int format_time(const SYSTEMTIME *given, const WCHAR *format, WCHAR *out, int cap, bool date)
{
	SYSTEMTIME t;
	if (given) {
		t = *given;
	} else {
		GetLocalTime(&t);
	}
	struct win_sink s = {.wide = true, .grow = true};
	bool quoted = false;
	for (size_t i = 0; format[i];) {
		uint16_t c = format[i];
		unsigned n = 1;
		if (c == '\'') {
			quoted = !quoted;
			i++;
			continue;
		}
		while (!quoted && format[i + n] == c) {
			n++;
		}
		if (quoted) {
			win_sink_unit(&s, c);
		} else {
			picture(&s, &t, c, n, date);
		}
		i += n;
	}
	win_sink_unit(&s, 0);
	int ret = s.failed ? win_fail(ERROR_NOT_ENOUGH_MEMORY) : give(s.buf, s.count, out, cap);
	free(s.buf);
	return ret;
}

int WINAPI GetDateFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCWSTR lpFormat, LPWSTR lpDateStr,
			  int cchDate)
{
	LPCWSTR usual = dwFlags & DATE_LONGDATE ? u"dddd, MMMM d, yyyy" : u"M/d/yyyy";
	return format_time(lpDate, lpFormat ? lpFormat : usual, lpDateStr, cchDate, true);
}

int WINAPI GetTimeFormatW(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCWSTR lpFormat, LPWSTR lpTimeStr,
			  int cchTime)
{
	LPCWSTR usual = dwFlags & TIME_FORCE24HOURFORMAT ? u"H:mm:ss"
			: dwFlags & TIME_NOSECONDS       ? u"h:mm tt"
							 : u"h:mm:ss tt";
	return format_time(lpTime, lpFormat ? lpFormat : usual, lpTimeStr, cchTime, false);
}
