/* SPDX-License-Identifier: MIT
 *
 * Paths as text: PathCch… and the older functions of shlwapi.
 */
#include "winrt/win.h"

#include "win/pathcch.h"
#include "win/shlwapi.h"
#include "win/strsafe.h"
#include "win/windows.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_separator(uint16_t c)
{
	return c == '\\' || c == '/';
}

/* Characters of what never goes: "C:\", "\\server\share", "\", "\\?\C:\". */
static size_t root_length(const uint16_t *p)
{
	size_t at = 0;
	if (is_separator(p[0]) && is_separator(p[1])) {
		if (p[2] == '?' && is_separator(p[3])) {
			at = 4;
		} else {
			unsigned parts = 0;
			for (at = 2; p[at] && !(is_separator(p[at]) && ++parts == 2); at++) {
			}
			return at + is_separator(p[at]);
		}
	}
	bool letter = (p[at] | 0x20) >= 'a' && (p[at] | 0x20) <= 'z';
	if (letter && p[at + 1] == ':') {
		return at + 2 + is_separator(p[at + 2]);
	}
	return at + is_separator(p[at]);
}

static const uint16_t *last_part(const uint16_t *p)
{
	const uint16_t *part = p;
	for (; *p; p++) {
		if (is_separator(*p) && p[1]) {
			part = p + 1;
		}
	}
	return part;
}

static const uint16_t *extension_of(const uint16_t *p)
{
	const uint16_t *dot = NULL;
	for (; *p; p++) {
		if (*p == '.') {
			dot = p;
		} else if (is_separator(*p) || *p == ' ') {
			dot = NULL;
		}
	}
	return dot ? dot : p;
}

/* The terminator of a string that ends within cap characters; NULL: it does not. */
static uint16_t *end_of(const uint16_t *p, size_t cap)
{
	size_t n = 0;
	while (p && n < cap && n < PATHCCH_MAX_CCH && p[n]) {
		n++;
	}
	return p && n < cap && n < PATHCCH_MAX_CCH ? (uint16_t *)(uintptr_t)(p + n) : NULL;
}

static uint16_t separator_of(const uint16_t *p)
{
	for (; *p; p++) {
		if (is_separator(*p)) {
			return *p;
		}
	}
	return '\\';
}

/* ---- pathcch ---------------------------------------------------------------------------------- */

HRESULT WINAPI PathCchAddBackslash(PWSTR pszPath, size_t cchPath)
{
	uint16_t *end = end_of(pszPath, cchPath);
	if (!end) {
		return E_INVALIDARG;
	}
	if (end > pszPath && is_separator(end[-1])) {
		return S_FALSE;
	}
	if (end + 2 > pszPath + cchPath) {
		return STRSAFE_E_INSUFFICIENT_BUFFER;
	}
	end[0] = separator_of(pszPath);
	end[1] = 0;
	return S_OK;
}

HRESULT WINAPI PathCchRemoveBackslash(PWSTR pszPath, size_t cchPath)
{
	uint16_t *end = end_of(pszPath, cchPath);
	if (!end) {
		return E_INVALIDARG;
	}
	if (end == pszPath || !is_separator(end[-1]) || (size_t)(end - pszPath) <= root_length(pszPath)) {
		return S_FALSE;
	}
	end[-1] = 0;
	return S_OK;
}

HRESULT WINAPI PathCchCanonicalizeEx(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn, unsigned int dwFlags)
{
	if (!pszPathOut || !end_of(pszPathIn, PATHCCH_MAX_CCH) || cchPathOut == 0) {
		return E_INVALIDARG;
	}
	size_t n = utf16_len(pszPathIn), root = root_length(pszPathIn), at = root;
	uint16_t *out = malloc(2 * (n + 3)), separator = separator_of(pszPathIn);
	if (!out) {
		return E_OUTOFMEMORY;
	}
	memcpy(out, pszPathIn, 2 * root);
	for (const uint16_t *p = pszPathIn + root; *p;) {
		size_t part = 0;
		while (p[part] && !is_separator(p[part])) {
			part++;
		}
		bool up = part == 2 && p[0] == '.' && p[1] == '.', more = p[part] != 0;
		if (up) {
			at -= at > root && is_separator(out[at - 1]);
			while (at > root && !is_separator(out[at - 1])) {
				at--;
			}
		} else if (!(part == 1 && *p == '.') && !(part == 0 && at > 0 && is_separator(out[at - 1]))) {
			memcpy(out + at, p, 2 * part);
			at += part;
			if (more) {
				out[at++] = p[part];
			}
		}
		p += part + more;
	}
	/* "a\b\.." ends as "a". */
	bool ended = n > root && is_separator(pszPathIn[n - 1]);
	if (!ended && at > root && is_separator(out[at - 1])) {
		at--;
	}
	if (at == 0) {
		out[at++] = separator;
	}
	out[at] = 0;
	HRESULT hr = at + 1 > cchPathOut ? STRSAFE_E_INSUFFICIENT_BUFFER : S_OK;
	if (hr == S_OK) {
		memcpy(pszPathOut, out, 2 * (at + 1));
	} else {
		pszPathOut[0] = 0;
	}
	free(out);
	return hr == S_OK && (dwFlags & PATHCCH_ENSURE_TRAILING_SLASH)
		       ? BASE_MIN(PathCchAddBackslash(pszPathOut, cchPathOut), S_OK)
		       : hr;
}
HRESULT WINAPI PathCchCanonicalize(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn)
{
	return PathCchCanonicalizeEx(pszPathOut, cchPathOut, pszPathIn, 0);
}

HRESULT WINAPI PathCchCombineEx(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn, PCWSTR pszMore,
				unsigned int dwFlags)
{
	static const WCHAR nothing[1];
	PCWSTR in = pszPathIn ? pszPathIn : nothing, more = pszMore ? pszMore : nothing;
	if (!pszPathOut || cchPathOut == 0 || (!pszPathIn && !pszMore) || !end_of(in, PATHCCH_MAX_CCH) ||
	    !end_of(more, PATHCCH_MAX_CCH)) {
		return E_INVALIDARG;
	}
	size_t root = root_length(in), n = utf16_len(in), m = utf16_len(more);
	bool alone = root_length(more) > 1 || n == 0;        /* "C:\x", "\\server" */
	bool from_root = !alone && m && is_separator(*more); /* "\x": from the root of the other */
	uint16_t *both = malloc(2 * (n + m + 2));
	if (!both) {
		return E_OUTOFMEMORY;
	}
	n = alone ? 0 : from_root ? root : n;
	memcpy(both, in, 2 * n);
	if (n && m && !is_separator(both[n - 1]) && !from_root) {
		both[n++] = separator_of(in);
	}
	if (from_root && n && is_separator(both[n - 1])) {
		n--;
	}
	memcpy(both + n, more, 2 * (m + 1));
	HRESULT hr = PathCchCanonicalizeEx(pszPathOut, cchPathOut, both, dwFlags);
	free(both);
	return hr;
}
HRESULT WINAPI PathCchCombine(PWSTR pszPathOut, size_t cchPathOut, PCWSTR pszPathIn, PCWSTR pszMore)
{
	return PathCchCombineEx(pszPathOut, cchPathOut, pszPathIn, pszMore, 0);
}
HRESULT WINAPI PathCchAppendEx(PWSTR pszPath, size_t cchPath, PCWSTR pszMore, unsigned int dwFlags)
{
	uint16_t *copy = end_of(pszPath, cchPath) ? utf16_dup(pszPath, utf16_len(pszPath)) : NULL;
	if (!copy) {
		return pszPath ? E_INVALIDARG : E_POINTER;
	}
	/* Unlike Combine, a separator in front means nothing. */
	while (pszMore && is_separator(*pszMore) && !is_separator(pszMore[1])) {
		pszMore++;
	}
	HRESULT hr = PathCchCombineEx(pszPath, cchPath, copy, pszMore, dwFlags);
	if (hr != S_OK) {
		memcpy(pszPath, copy, 2 * (utf16_len(copy) + 1));
	}
	free(copy);
	return hr;
}
HRESULT WINAPI PathCchAppend(PWSTR pszPath, size_t cchPath, PCWSTR pszMore)
{
	return PathCchAppendEx(pszPath, cchPath, pszMore, 0);
}

HRESULT WINAPI PathCchFindExtension(PCWSTR pszPath, size_t cchPath, PCWSTR *ppszExt)
{
	if (!ppszExt || !end_of(pszPath, cchPath)) {
		return E_INVALIDARG;
	}
	*ppszExt = extension_of(pszPath);
	return S_OK;
}
HRESULT WINAPI PathCchRemoveExtension(PWSTR pszPath, size_t cchPath)
{
	PCWSTR dot;
	HRESULT hr = PathCchFindExtension(pszPath, cchPath, &dot);
	if (hr == S_OK && !*dot) {
		return S_FALSE;
	}
	if (hr == S_OK) {
		pszPath[dot - pszPath] = 0;
	}
	return hr;
}
HRESULT WINAPI PathCchAddExtension(PWSTR pszPath, size_t cchPath, PCWSTR pszExt)
{
	PCWSTR dot;
	HRESULT hr = pszExt ? PathCchFindExtension(pszPath, cchPath, &dot) : E_INVALIDARG;
	if (hr != S_OK || *dot) {
		return hr == S_OK ? S_FALSE : hr;
	}
	size_t at = (size_t)(dot - pszPath), n = utf16_len(pszExt);
	bool add_dot = n && *pszExt != '.';
	if (at + add_dot + n + 1 > cchPath) {
		return STRSAFE_E_INSUFFICIENT_BUFFER;
	}
	if (add_dot) {
		pszPath[at++] = '.';
	}
	memcpy(pszPath + at, pszExt, 2 * (n + 1));
	return S_OK;
}
HRESULT WINAPI PathCchRenameExtension(PWSTR pszPath, size_t cchPath, PCWSTR pszExt)
{
	PCWSTR dot;
	HRESULT hr = pszExt ? PathCchFindExtension(pszPath, cchPath, &dot) : E_INVALIDARG;
	if (hr != S_OK) {
		return hr;
	}
	size_t n = utf16_len(pszExt);
	if ((size_t)(dot - pszPath) + (n && *pszExt != '.') + n + 1 > cchPath) {
		return STRSAFE_E_INSUFFICIENT_BUFFER;
	}
	pszPath[dot - pszPath] = 0;
	return PathCchAddExtension(pszPath, cchPath, pszExt);
}

HRESULT WINAPI PathCchRemoveFileSpec(PWSTR pszPath, size_t cchPath)
{
	uint16_t *end = end_of(pszPath, cchPath);
	if (!end) {
		return E_INVALIDARG;
	}
	size_t root = root_length(pszPath), n = (size_t)(end - pszPath), before = n;
	while (n > root && !is_separator(pszPath[n - 1])) {
		n--;
	}
	while (n > root && is_separator(pszPath[n - 1])) {
		n--;
	}
	pszPath[n] = 0;
	return n < before ? S_OK : S_FALSE;
}
BOOL WINAPI PathCchIsRoot(PCWSTR pszPath)
{
	return pszPath && *pszPath && root_length(pszPath) == utf16_len(pszPath);
}

/* ---- shlwapi ---------------------------------------------------------------------------------- */

LPWSTR WINAPI PathFindFileNameW(LPCWSTR pszPath)
{
	return pszPath ? (LPWSTR)(uintptr_t)last_part(pszPath) : NULL;
}
LPSTR WINAPI PathFindFileNameA(LPCSTR pszPath)
{
	const char *part = pszPath;
	for (const char *p = pszPath; p && *p; p++) {
		if (is_separator((uint8_t)*p) && p[1]) {
			part = p + 1;
		}
	}
	return (LPSTR)(uintptr_t)part;
}
LPWSTR WINAPI PathFindExtensionW(LPCWSTR pszPath)
{
	return pszPath ? (LPWSTR)(uintptr_t)extension_of(pszPath) : NULL;
}
LPSTR WINAPI PathFindExtensionA(LPCSTR pszPath)
{
	const char *dot = NULL, *p = pszPath;
	for (; p && *p; p++) {
		dot = *p == '.' ? p : is_separator((uint8_t)*p) || *p == ' ' ? NULL : dot;
	}
	return (LPSTR)(uintptr_t)(dot ? dot : p);
}

static BOOL exists(char *path, bool folder)
{
	struct stat st;
	bool found = path && stat(path, &st) == 0;
	BOOL ret = found && (!folder || S_ISDIR(st.st_mode));
	if (!found) {
		win_fail_errno();
	}
	free(path);
	return ret;
}
BOOL WINAPI PathFileExistsA(LPCSTR pszPath)
{
	return pszPath && exists(win_path(pszPath), false);
}
BOOL WINAPI PathIsDirectoryA(LPCSTR pszPath)
{
	return pszPath && exists(win_path(pszPath), true);
}
static BOOL exists_wide(LPCWSTR path, bool folder)
{
	char *text = win_utf8(path);
	BOOL ret = text && exists(win_path(text), folder);
	free(text);
	return ret;
}
BOOL WINAPI PathFileExistsW(LPCWSTR pszPath)
{
	return exists_wide(pszPath, false);
}
BOOL WINAPI PathIsDirectoryW(LPCWSTR pszPath)
{
	return exists_wide(pszPath, true);
}
BOOL WINAPI PathIsRelativeW(LPCWSTR pszPath)
{
	return !pszPath || root_length(pszPath) == 0;
}
BOOL WINAPI PathRemoveFileSpecW(LPWSTR pszPath)
{
	return pszPath && PathCchRemoveFileSpec(pszPath, PATHCCH_MAX_CCH) == S_OK;
}
BOOL WINAPI PathAppendW(LPWSTR pszPath, LPCWSTR pszMore)
{
	return SUCCEEDED(PathCchAppend(pszPath, MAX_PATH, pszMore));
}
LPWSTR WINAPI PathCombineW(LPWSTR pszDest, LPCWSTR pszDir, LPCWSTR pszFile)
{
	return SUCCEEDED(PathCchCombine(pszDest, MAX_PATH, pszDir, pszFile)) ? pszDest : NULL;
}
BOOL WINAPI PathRenameExtensionW(LPWSTR pszPath, LPCWSTR pszExt)
{
	return SUCCEEDED(PathCchRenameExtension(pszPath, MAX_PATH, pszExt));
}
VOID WINAPI PathRemoveExtensionW(LPWSTR pszPath)
{
	if (pszPath) {
		PathCchRemoveExtension(pszPath, PATHCCH_MAX_CCH);
	}
}

int WINAPI StrCmpW(PCWSTR psz1, PCWSTR psz2)
{
	return CompareStringOrdinal(psz1, -1, psz2, -1, FALSE) - CSTR_EQUAL;
}
int WINAPI StrCmpIW(PCWSTR psz1, PCWSTR psz2)
{
	return CompareStringOrdinal(psz1, -1, psz2, -1, TRUE) - CSTR_EQUAL;
}
int WINAPI StrCmpNIW(PCWSTR psz1, PCWSTR psz2, int nChar)
{
	for (int i = 0; i < nChar; i++) {
		uint16_t a = win_lower(psz1[i]), b = win_lower(psz2[i]);
		if (a != b || a == 0) {
			return a < b ? -1 : a > b;
		}
	}
	return 0;
}
static PWSTR find(PCWSTR in, PCWSTR what, bool fold)
{
	size_t n = what ? utf16_len(what) : 0;
	for (; in && n; in++) {
		size_t i = 0;
		while (i < n && (fold ? win_lower(in[i]) == win_lower(what[i]) : in[i] == what[i])) {
			i++;
		}
		if (i == n) {
			return (PWSTR)(uintptr_t)in;
		}
		if (!*in) {
			break;
		}
	}
	return NULL;
}
PWSTR WINAPI StrStrW(PCWSTR pszFirst, PCWSTR pszSrch)
{
	return find(pszFirst, pszSrch, false);
}
PWSTR WINAPI StrStrIW(PCWSTR pszFirst, PCWSTR pszSrch)
{
	return find(pszFirst, pszSrch, true);
}
PSTR WINAPI StrStrIA(PCSTR pszFirst, PCSTR pszSrch)
{
	return pszFirst && pszSrch && *pszSrch ? strcasestr(pszFirst, pszSrch) : NULL;
}
