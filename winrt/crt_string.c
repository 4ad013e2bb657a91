/* SPDX-License-Identifier: MIT
 *
 * Strings of 16-bit units: the wcs* and wmem* functions. Comparison is by unit; case folding covers
 * Latin, Greek and Cyrillic, which is what identifiers and file names need.
 */
#include "winrt/win.h"

#include <stdlib.h>
#include <wctype.h>

typedef uint16_t wc;

uint16_t win_lower(uint16_t c)
{
	if (c < 0x80) {
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	}
	if ((c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) ||
	    (c >= 0x410 && c <= 0x42F)) {
		return c + 32;
	}
	if (c >= 0x400 && c <= 0x40F) {
		return c + 80;
	}
	if (((c >= 0x100 && c <= 0x12F) || (c >= 0x14A && c <= 0x177)) && !(c & 1)) {
		return c + 1;
	}
	return c;
}

uint16_t win_upper(uint16_t c)
{
	if (c < 0x80) {
		return c >= 'a' && c <= 'z' ? c - 32 : c;
	}
	if ((c >= 0xE0 && c <= 0xFE && c != 0xF7) || (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) ||
	    (c >= 0x430 && c <= 0x44F)) {
		return c - 32;
	}
	if (c >= 0x450 && c <= 0x45F) {
		return c - 80;
	}
	if (((c >= 0x100 && c <= 0x12F) || (c >= 0x14A && c <= 0x177)) && (c & 1)) {
		return c - 1;
	}
	return c;
}

char *win_utf8(const uint16_t *s)
{
	if (!s) {
		return NULL;
	}
	size_t n = utf16_len(s);
	char *out = malloc(3 * n + 1);
	if (out) {
		utf16_to_utf8_lossy(s, n, out, 3 * n + 1);
	}
	return out;
}

uint16_t *win_utf16(const char *s)
{
	if (!s) {
		return NULL;
	}
	size_t n = strlen(s);
	struct win_sink sink = {.wide = true, .buf = malloc(2 * (n + 1)), .cap = n};
	if (!sink.buf) {
		return NULL;
	}
	win_sink_utf8(&sink, s, n);
	((uint16_t *)sink.buf)[sink.count < n ? sink.count : n] = 0;
	return sink.buf;
}

#define FN(ret, name, args)               \
	WIN_EXPORT ret etw16_##name args; \
	ret etw16_##name args

FN(size_t, wcslen, (const wc *s))
{
	return utf16_len(s);
}
FN(size_t, wcsnlen, (const wc *s, size_t max))
{
	size_t n = 0;
	while (n < max && s[n]) {
		n++;
	}
	return n;
}
FN(size_t, wcsnlen_s, (const wc *s, size_t max))
{
	return s ? etw16_wcsnlen(s, max) : 0;
}
FN(wc *, wcscpy, (wc * d, const wc *s))
{
	memcpy(d, s, 2 * (utf16_len(s) + 1));
	return d;
}
FN(wc *, wcpcpy, (wc * d, const wc *s))
{
	size_t n = utf16_len(s);
	memcpy(d, s, 2 * (n + 1));
	return d + n;
}
FN(wc *, wcsncpy, (wc * d, const wc *s, size_t n))
{
	size_t k = etw16_wcsnlen(s, n);
	memcpy(d, s, 2 * k);
	memset(d + k, 0, 2 * (n - k));
	return d;
}
FN(wc *, wcscat, (wc * d, const wc *s))
{
	etw16_wcscpy(d + utf16_len(d), s);
	return d;
}
FN(wc *, wcsncat, (wc * d, const wc *s, size_t n))
{
	size_t at = utf16_len(d), k = etw16_wcsnlen(s, n);
	memcpy(d + at, s, 2 * k);
	d[at + k] = 0;
	return d;
}
FN(int, wcsncmp, (const wc *a, const wc *b, size_t n))
{
	for (; n; n--, a++, b++) {
		if (*a != *b) {
			return *a < *b ? -1 : 1;
		}
		if (!*a) {
			break;
		}
	}
	return 0;
}
FN(int, wcscmp, (const wc *a, const wc *b))
{
	return etw16_wcsncmp(a, b, SIZE_MAX);
}
FN(int, wcscoll, (const wc *a, const wc *b))
{
	return etw16_wcsncmp(a, b, SIZE_MAX);
}
FN(size_t, wcsxfrm, (wc * d, const wc *s, size_t n))
{
	size_t k = utf16_len(s);
	if (n) {
		memcpy(d, s, 2 * (k < n ? k + 1 : n));
	}
	return k;
}
FN(int, _wcsnicmp, (const wc *a, const wc *b, size_t n))
{
	for (; n; n--, a++, b++) {
		wc x = win_lower(*a), y = win_lower(*b);
		if (x != y) {
			return x < y ? -1 : 1;
		}
		if (!x) {
			break;
		}
	}
	return 0;
}
FN(int, _wcsicmp, (const wc *a, const wc *b))
{
	return etw16__wcsnicmp(a, b, SIZE_MAX);
}
FN(wc *, wcschr, (const wc *s, wc c))
{
	for (; *s != c; s++) {
		if (!*s) {
			return NULL;
		}
	}
	return (wc *)s;
}
FN(wc *, wcsrchr, (const wc *s, wc c))
{
	for (size_t i = utf16_len(s) + 1; i-- > 0;) {
		if (s[i] == c) {
			return (wc *)s + i;
		}
	}
	return NULL;
}
FN(wc *, wcsstr, (const wc *s, const wc *what))
{
	size_t n = utf16_len(what);
	for (;; s++) {
		if (etw16_wcsncmp(s, what, n) == 0) {
			return (wc *)s;
		}
		if (!*s) {
			return NULL;
		}
	}
}
FN(size_t, wcsspn, (const wc *s, const wc *set))
{
	size_t n = 0;
	while (s[n] && etw16_wcschr(set, s[n])) {
		n++;
	}
	return n;
}
FN(size_t, wcscspn, (const wc *s, const wc *set))
{
	size_t n = 0;
	while (s[n] && !etw16_wcschr(set, s[n])) {
		n++;
	}
	return n;
}
FN(wc *, wcspbrk, (const wc *s, const wc *set))
{
	s += etw16_wcscspn(s, set);
	return *s ? (wc *)s : NULL;
}
FN(wc *, wcstok, (wc * s, const wc *set, wc **save))
{
	/* Without a place to keep its position: the old two-argument form, per thread. */
	static __thread wc *own;
	if (!save) {
		save = &own;
	}
	s = s ? s : *save;
	if (!s) {
		return NULL;
	}
	s += etw16_wcsspn(s, set);
	if (!*s) {
		*save = NULL;
		return NULL;
	}
	wc *end = s + etw16_wcscspn(s, set);
	*save = *end ? end + 1 : NULL;
	*end = 0;
	return s;
}
FN(wc *, _wcsdup, (const wc *s))
{
	return utf16_dup(s, utf16_len(s));
}
FN(wc *, _wcslwr, (wc * s))
{
	for (wc *p = s; *p; p++) {
		*p = win_lower(*p);
	}
	return s;
}
FN(wc *, _wcsupr, (wc * s))
{
	for (wc *p = s; *p; p++) {
		*p = win_upper(*p);
	}
	return s;
}
FN(wc *, _wcsrev, (wc * s))
{
	for (size_t i = 0, j = utf16_len(s); i + 1 < j; i++) {
		wc c = s[i];
		s[i] = s[--j];
		s[j] = c;
	}
	return s;
}
FN(unsigned, towlower, (unsigned c))
{
	return c <= 0xFFFF ? win_lower((uint16_t)c) : c;
}
FN(unsigned, towupper, (unsigned c))
{
	return c <= 0xFFFF ? win_upper((uint16_t)c) : c;
}

FN(wc *, wmemcpy, (wc * d, const wc *s, size_t n))
{
	return memcpy(d, s, 2 * n);
}
FN(wc *, wmemmove, (wc * d, const wc *s, size_t n))
{
	return memmove(d, s, 2 * n);
}
FN(wc *, wmempcpy, (wc * d, const wc *s, size_t n))
{
	memcpy(d, s, 2 * n);
	return d + n;
}
FN(wc *, wmemset, (wc * d, wc c, size_t n))
{
	for (size_t i = 0; i < n; i++) {
		d[i] = c;
	}
	return d;
}
FN(int, wmemcmp, (const wc *a, const wc *b, size_t n))
{
	for (; n; n--, a++, b++) {
		if (*a != *b) {
			return *a < *b ? -1 : 1;
		}
	}
	return 0;
}
FN(wc *, wmemchr, (const wc *s, wc c, size_t n))
{
	for (; n; n--, s++) {
		if (*s == c) {
			return (wc *)s;
		}
	}
	return NULL;
}
