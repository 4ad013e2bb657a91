/* SPDX-License-Identifier: MIT
 *
 * The A forms of functions whose W form stands elsewhere.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <stdlib.h>

#define UNITS 32768u /* the longest path of Windows */

/* What a W function wrote, as UTF-8: its length, or with terminator what is needed when cap is less. */
static DWORD give(const uint16_t *w, LPSTR out, DWORD cap)
{
	char *text = win_utf8(w);
	if (!text) {
		return (DWORD)win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	DWORD n = (DWORD)strlen(text);
	bool fits = out && n < cap;
	if (fits) {
		memcpy(out, text, n + 1);
	}
	free(text);
	return fits ? n : n + 1;
}

BOOL WINAPI MoveFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName)
{
	uint16_t *from = win_utf16(lpExistingFileName), *to = win_utf16(lpNewFileName);
	BOOL ok = from && to ? MoveFileW(from, to) : win_fail(ERROR_INVALID_PARAMETER);
	free(from);
	free(to);
	return ok;
}

DWORD WINAPI GetFullPathNameA(LPCSTR lpFileName, DWORD nBufferLength, LPSTR lpBuffer, LPSTR *lpFilePart)
{
	uint16_t *name = win_utf16(lpFileName), *full = malloc(UNITS * sizeof *full);
	DWORD n = 0;
	if (!name || !full) {
		win_fail(ERROR_INVALID_PARAMETER);
	} else if (GetFullPathNameW(name, UNITS, full, NULL)) {
		n = give(full, lpBuffer, nBufferLength);
	}
	free(name);
	free(full);
	if (lpFilePart) {
		char *slash = n && n < nBufferLength ? strrchr(lpBuffer, '/') : NULL;
		*lpFilePart = slash && slash[1] ? slash + 1 : NULL;
	}
	return n;
}

BOOL WINAPI QueryFullProcessImageNameA(HANDLE hProcess, DWORD dwFlags, LPSTR lpExeName, PDWORD lpdwSize)
{
	uint16_t wide[4096];
	DWORD n = BASE_ARRAY_LEN(wide);
	if (!QueryFullProcessImageNameW(hProcess, dwFlags, wide, &n)) {
		return FALSE;
	}
	n = give(wide, lpExeName, *lpdwSize);
	if (n >= *lpdwSize) {
		return win_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	*lpdwSize = n;
	return TRUE;
}

DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR lpSrc, LPSTR lpDst, DWORD nSize)
{
	uint16_t *from = win_utf16(lpSrc), *wide = NULL;
	DWORD n = from ? ExpandEnvironmentStringsW(from, NULL, 0) : 0;
	wide = n ? malloc(n * sizeof *wide) : NULL;
	if (wide && ExpandEnvironmentStringsW(from, wide, n)) {
		DWORD got = give(wide, lpDst, nSize);
		n = got < nSize ? got + 1 : got; /* with terminator in either case */
	} else {
		n = (DWORD)win_fail(ERROR_INVALID_PARAMETER);
	}
	free(from);
	free(wide);
	return n;
}

BOOL WINAPI WriteConsoleA(HANDLE hConsoleOutput, const VOID *lpBuffer, DWORD nNumberOfCharsToWrite,
			  LPDWORD lpNumberOfCharsWritten, LPVOID lpReserved)
{
	DWORD mode, bytes;
	BOOL ok = GetConsoleMode(hConsoleOutput, &mode) &&
		  WriteFile(hConsoleOutput, lpBuffer, nNumberOfCharsToWrite, &bytes, NULL);
	if (ok && lpNumberOfCharsWritten) {
		*lpNumberOfCharsWritten = bytes;
	}
	return ok;
}

/* A name that may be NULL, for a W function. */
#define NAMED(name, call)                              \
	uint16_t *wide = win_utf16(name);              \
	HANDLE h = NULL;                               \
	if ((name) && !wide) {                         \
		SetLastError(ERROR_INVALID_PARAMETER); \
	} else {                                       \
		h = call;                              \
	}                                              \
	free(wide);                                    \
	return h
HANDLE WINAPI CreateEventExA(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess)
{
	NAMED(lpName, CreateEventExW(lpEventAttributes, wide, dwFlags, dwDesiredAccess));
}
HANDLE WINAPI CreateMutexExA(LPSECURITY_ATTRIBUTES lpMutexAttributes, LPCSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess)
{
	NAMED(lpName, CreateMutexExW(lpMutexAttributes, wide, dwFlags, dwDesiredAccess));
}
HANDLE WINAPI CreateSemaphoreExA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount, LONG lMaximumCount,
				 LPCSTR lpName, DWORD dwFlags, DWORD dwDesiredAccess)
{
	NAMED(lpName,
	      CreateSemaphoreExW(lpSemaphoreAttributes, lInitialCount, lMaximumCount, wide, dwFlags, dwDesiredAccess));
}
HANDLE WINAPI OpenEventA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	NAMED(lpName, OpenEventW(dwDesiredAccess, bInheritHandle, wide));
}
HANDLE WINAPI OpenMutexA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	NAMED(lpName, OpenMutexW(dwDesiredAccess, bInheritHandle, wide));
}
HANDLE WINAPI OpenSemaphoreA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	NAMED(lpName, OpenSemaphoreW(dwDesiredAccess, bInheritHandle, wide));
}

/* Characters with terminator; of cap 0, what is needed. */
#define PICTURE(function, when, out, cap)                                                 \
	uint16_t *format = win_utf16(lpFormat), wide[512];                                \
	int n = lpFormat && !format ? win_fail(ERROR_INVALID_PARAMETER)                   \
				    : function(Locale, dwFlags, when, format, wide, 512); \
	free(format);                                                                     \
	DWORD got = n ? give(wide, out, cap < 0 ? 0 : (DWORD)cap) : 0;                    \
	return n == 0 ? 0 : cap == 0 ? (int)got : got < (DWORD)cap ? (int)got + 1 : win_fail(ERROR_INSUFFICIENT_BUFFER)
int WINAPI GetDateFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpDate, LPCSTR lpFormat, LPSTR lpDateStr,
			  int cchDate)
{
	PICTURE(GetDateFormatW, lpDate, lpDateStr, cchDate);
}
int WINAPI GetTimeFormatA(LCID Locale, DWORD dwFlags, const SYSTEMTIME *lpTime, LPCSTR lpFormat, LPSTR lpTimeStr,
			  int cchTime)
{
	PICTURE(GetTimeFormatW, lpTime, lpTimeStr, cchTime);
}

/* ---- lstr…: comparisons put "a" before "A" before "b", as a dictionary does ---------------------- */

static int order(int folded, int exact)
{
	return folded ? folded : -exact; /* small letters come first, and have higher numbers */
}
int WINAPI lstrcmpW(LPCWSTR lpString1, LPCWSTR lpString2)
{
	return order(CompareStringOrdinal(lpString1, -1, lpString2, -1, TRUE) - CSTR_EQUAL,
		     CompareStringOrdinal(lpString1, -1, lpString2, -1, FALSE) - CSTR_EQUAL);
}
static int narrow_compare(LPCSTR a, LPCSTR b, bool fold)
{
	uint16_t *x = win_utf16(a), *y = win_utf16(b);
	int r = !x || !y ? (x != NULL) - (y != NULL) : fold ? lstrcmpiW(x, y) : lstrcmpW(x, y);
	free(x);
	free(y);
	return r;
}
int WINAPI lstrcmpA(LPCSTR lpString1, LPCSTR lpString2)
{
	return narrow_compare(lpString1, lpString2, false);
}
int WINAPI lstrcmpiA(LPCSTR lpString1, LPCSTR lpString2)
{
	return narrow_compare(lpString1, lpString2, true);
}
LPWSTR WINAPI lstrcpyW(LPWSTR lpString1, LPCWSTR lpString2)
{
	return lpString1 && lpString2 ? memcpy(lpString1, lpString2, 2 * (utf16_len(lpString2) + 1)) : NULL;
}
LPSTR WINAPI lstrcpyA(LPSTR lpString1, LPCSTR lpString2)
{
	return lpString1 && lpString2 ? strcpy(lpString1, lpString2) : NULL;
}
LPWSTR WINAPI lstrcpynW(LPWSTR lpString1, LPCWSTR lpString2, int iMaxLength)
{
	if (!lpString1 || !lpString2 || iMaxLength <= 0) {
		return NULL;
	}
	size_t n = BASE_MIN(utf16_len(lpString2), (size_t)iMaxLength - 1);
	memcpy(lpString1, lpString2, 2 * n);
	lpString1[n] = 0;
	return lpString1;
}
LPSTR WINAPI lstrcpynA(LPSTR lpString1, LPCSTR lpString2, int iMaxLength)
{
	if (!lpString1 || !lpString2 || iMaxLength <= 0) {
		return NULL;
	}
	size_t n = strnlen(lpString2, (size_t)iMaxLength - 1);
	memcpy(lpString1, lpString2, n);
	lpString1[n] = 0;
	return lpString1;
}
LPWSTR WINAPI lstrcatW(LPWSTR lpString1, LPCWSTR lpString2)
{
	return lpString1 && lstrcpyW(lpString1 + utf16_len(lpString1), lpString2) ? lpString1 : NULL;
}
LPSTR WINAPI lstrcatA(LPSTR lpString1, LPCSTR lpString2)
{
	return lpString1 && lpString2 ? strcat(lpString1, lpString2) : NULL;
}
