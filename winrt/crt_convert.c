/* SPDX-License-Identifier: MIT
 *
 * Numbers out of 16-bit text, and conversions between 16-bit and multibyte (UTF-8) text.
 */
#include "winrt/win.h"

#include <limits.h>
#include <stdlib.h>
#include <wchar.h>

typedef uint16_t wc;
#define FN(ret, name, args)               \
	WIN_EXPORT ret etw16_##name args; \
	ret etw16_##name args

/* Numbers are ASCII: copy what can belong to one, let libc read that, count how far it came. */
struct ascii {
	char text[512];
	size_t skipped;
};

static void to_ascii(struct ascii *a, const wc *s)
{
	size_t n = 0;
	for (a->skipped = 0; s[a->skipped] == ' ' || (s[a->skipped] >= 9 && s[a->skipped] <= 13);) {
		a->skipped++;
	}
	for (s += a->skipped; n < sizeof a->text - 1 && s[n] && s[n] < 0x80; n++) {
		a->text[n] = (char)s[n];
	}
	a->text[n] = 0;
}

#define NUMBER(ret, read)                                                                    \
	struct ascii a;                                                                      \
	char *stop;                                                                          \
	to_ascii(&a, s);                                                                     \
	ret v = read;                                                                        \
	if (end) {                                                                           \
		*end = (wc *)s + (stop == a.text ? 0 : a.skipped + (size_t)(stop - a.text)); \
	}

FN(long long, wcstoll, (const wc *s, wc **end, int base))
{
	NUMBER(long long, strtoll(a.text, &stop, base))
	return v;
}
FN(unsigned long long, wcstoull, (const wc *s, wc **end, int base))
{
	NUMBER(unsigned long long, strtoull(a.text, &stop, base))
	return v;
}
FN(double, wcstod, (const wc *s, wc **end))
{
	NUMBER(double, strtod(a.text, &stop))
	return v;
}
FN(float, wcstof, (const wc *s, wc **end))
{
	NUMBER(float, strtof(a.text, &stop))
	return v;
}
FN(long double, wcstold, (const wc *s, wc **end))
{
	NUMBER(long double, strtold(a.text, &stop))
	return v;
}
/* The client's long is 64 bits, but the number keeps Windows' 32-bit limits, which sources test for
 * (ULONG_MAX is theirs then only by cast): out of range is ERANGE. */
FN(long, wcstol, (const wc *s, wc **end, int base))
{
	long long v = etw16_wcstoll(s, end, base);
	if (v < INT_MIN || v > INT_MAX) {
		errno = ERANGE;
		return v < 0 ? INT_MIN : INT_MAX;
	}
	return (long)v;
}
FN(unsigned long, wcstoul, (const wc *s, wc **end, int base))
{
	struct ascii a;
	int before = errno;
	errno = 0;
	unsigned long long v = etw16_wcstoull(s, end, base);
	to_ascii(&a, s);
	unsigned long long magnitude = a.text[0] == '-' ? 0 - v : v;
	if (errno == ERANGE || magnitude > UINT_MAX) {
		errno = ERANGE;
		return UINT_MAX;
	}
	errno = errno ? errno : before;
	return (unsigned)v;
}
FN(int, _wtoi, (const wc *s))
{
	return (int)etw16_wcstol(s, NULL, 10);
}
FN(long long, _wtoi64, (const wc *s))
{
	return etw16_wcstoll(s, NULL, 10);
}
FN(double, _wtof, (const wc *s))
{
	return etw16_wcstod(s, NULL);
}

/* Integer to text in `base`; ERANGE and an empty text when it does not fit. */
static int number_text(uint64_t v, bool negative, wc *buf, size_t cap, int base)
{
	char digits[72];
	size_t n = 0;
	if (!buf || cap == 0 || base < 2 || base > 36) {
		return EINVAL;
	}
	do {
		digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[v % (unsigned)base];
		v /= (unsigned)base;
	} while (v);
	if (negative) {
		digits[n++] = '-';
	}
	if (n >= cap) {
		buf[0] = 0;
		return ERANGE;
	}
	for (size_t i = 0; i < n; i++) {
		buf[i] = (uint8_t)digits[n - 1 - i];
	}
	buf[n] = 0;
	return 0;
}
FN(int, _itow_s, (int v, wc *buf, size_t cap, int base))
{
	bool neg = base == 10 && v < 0;
	return number_text(neg ? 0 - (uint64_t)v : (uint32_t)v, neg, buf, cap, base);
}
FN(int, _ultow_s, (unsigned long v, wc *buf, size_t cap, int base))
{
	return number_text((uint32_t)v, false, buf, cap, base);
}
FN(int, _i64tow_s, (long long v, wc *buf, size_t cap, int base))
{
	bool neg = base == 10 && v < 0;
	return number_text(neg ? 0 - (uint64_t)v : (uint64_t)v, neg, buf, cap, base);
}
FN(int, _ui64tow_s, (unsigned long long v, wc *buf, size_t cap, int base))
{
	return number_text(v, false, buf, cap, base);
}

/* ---- multibyte: UTF-8 without state, because a unit pair cannot be given out in one wchar_t
 * ------- */

FN(size_t, mbstowcs, (wc * d, const char *s, size_t n))
{
	size_t len = strlen(s);
	long need = utf8_to_utf16(s, len, NULL, 0);
	if (need < 0) {
		errno = EILSEQ;
		return (size_t)-1;
	}
	if (!d) {
		return (size_t)need;
	}
	wc *all = win_utf16(s);
	if (!all) {
		return (size_t)-1;
	}
	size_t k = (size_t)need < n ? (size_t)need : n;
	memcpy(d, all, 2 * k);
	if (k < n) {
		d[k] = 0;
	}
	free(all);
	return k;
}
FN(size_t, wcstombs, (char *d, const wc *s, size_t n))
{
	size_t len = utf16_len(s);
	long need = utf16_to_utf8(s, len, NULL, 0);
	if (need < 0) {
		errno = EILSEQ;
		return (size_t)-1;
	}
	if (!d) {
		return (size_t)need;
	}
	/* Whole characters only, as wcstombs promises. */
	struct win_sink out = {.buf = d, .cap = n};
	size_t done = 0;
	for (size_t i = 0; i < len;) {
		size_t units = (s[i] & 0xFC00) == 0xD800 ? 2 : 1;
		struct win_sink one = {.wide = false};
		win_sink_utf16(&one, s + i, units);
		if (done + one.count > n) {
			return done;
		}
		win_sink_utf16(&out, s + i, units);
		done += one.count;
		i += units;
	}
	if (done < n) {
		d[done] = 0;
	}
	return done;
}
FN(int, mbtowc, (wc * d, const char *s, size_t n))
{
	if (!s) {
		return 0;
	}
	if (n == 0) {
		return -1;
	}
	size_t max = n < 3 ? n : 3;
	for (size_t k = 1; k <= max; k++) {
		wc out[3];
		if (utf8_to_utf16(s, k, out, 3) == 1) {
			if (d) {
				*d = out[0];
			}
			return *s ? (int)k : 0;
		}
	}
	return -1;
}
FN(int, wctomb, (char *s, wc c))
{
	if (!s) {
		return 0;
	}
	char out[8];
	long k = utf16_to_utf8(&c, 1, out, sizeof out);
	if (k < 0) {
		return -1;
	}
	memcpy(s, out, (size_t)k);
	return (int)k;
}
FN(size_t, mbrtowc, (wc * d, const char *s, size_t n, void *state))
{
	if (!s) {
		return 0;
	}
	int k = etw16_mbtowc(d, s, n);
	return k < 0 ? (size_t)-1 : (size_t)k;
}
FN(size_t, wcrtomb, (char *s, wc c, void *state))
{
	int k = s ? etw16_wctomb(s, c) : 1;
	return k < 0 ? (size_t)-1 : (size_t)k;
}
FN(size_t, mbsrtowcs, (wc * d, const char **s, size_t n, void *state))
{
	size_t k = etw16_mbstowcs(d, *s, n);
	if (d && k != (size_t)-1 && k < n) {
		*s = NULL;
	}
	return k;
}
FN(size_t, wcsrtombs, (char *d, const wc **s, size_t n, void *state))
{
	size_t k = etw16_wcstombs(d, *s, n);
	if (d && k != (size_t)-1 && k < n) {
		*s = NULL;
	}
	return k;
}
/* At most so many bytes, or units, of the source, whose terminator may be behind them. */
FN(size_t, mbsnrtowcs, (wc * d, const char **s, size_t bytes, size_t n, void *state))
{
	char *copy = strndup(*s, bytes);
	size_t k = copy ? etw16_mbstowcs(d, copy, n) : (size_t)-1;
	if (d && k != (size_t)-1) {
		size_t taken = strlen(copy);
		if (k == n) { /* full: what it was made of */
			taken = 0;
			for (size_t i = 0; i < k; i++) {
				taken += d[i] < 0x80 ? 1 : d[i] < 0x800 ? 2 : (d[i] & 0xF800) == 0xD800 ? 2 : 3;
			}
		}
		*s = k < n && taken < bytes ? NULL : *s + taken;
	}
	free(copy);
	return k;
}
FN(size_t, wcsnrtombs, (char *d, const wc **s, size_t units, size_t n, void *state))
{
	size_t have = 0;
	while (have < units && (*s)[have]) {
		have++;
	}
	wc *copy = utf16_dup(*s, have);
	size_t k = copy ? etw16_wcstombs(d, copy, n) : (size_t)-1;
	if (d && k != (size_t)-1) {
		bool all = k < n;
		size_t taken = have;
		if (!all) {
			taken = 0;
			for (size_t bytes = 0; bytes < k && taken < have; taken++) {
				wc c = copy[taken];
				bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : (c & 0xF800) == 0xD800 ? 2 : 3;
			}
		}
		*s = all && have < units ? NULL : *s + taken;
	}
	free(copy);
	return k;
}
FN(size_t, mbrlen, (const char *s, size_t n, void *state))
{
	return etw16_mbrtowc(NULL, s, n, state);
}
FN(unsigned, btowc, (int c))
{
	return c >= 0 && c < 0x80 ? (unsigned)c : 0xFFFFu;
}
FN(int, wctob, (unsigned c))
{
	return c < 0x80 ? (int)c : EOF;
}
FN(int, mbsinit, (const void *state))
{
	return 1;
}

/* Times are formatted by libc in the C locale's ASCII and widened. */
FN(size_t, wcsftime, (wc * d, size_t cap, const wc *format, const void *tm))
{
	extern size_t strftime(char *, size_t, const char *, const void *) __attribute__((nothrow));
	char *f = win_utf8(format);
	char *text = malloc(4 * cap + 1);
	size_t ret = 0;
	if (f && text && strftime(text, 4 * cap + 1, f, tm) > 0) {
		long n = utf8_to_utf16(text, strlen(text), d, cap);
		ret = n >= 0 && (size_t)n < cap ? (size_t)n : 0;
	}
	free(f);
	free(text);
	return ret;
}
