/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <stdlib.h>

size_t utf8_decode(const void *text, size_t n, uint32_t *ret)
{
	const uint8_t *s = text;
	uint8_t c = s[0];
	if (c < 0x80) {
		*ret = c;
		return 1;
	}
	size_t len = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
	if (len == 0 || c >= 0xF5 || n < len) {
		return 0;
	}
	uint32_t v = c & (0xFF >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xC0) != 0x80) {
			return 0;
		}
		v = v << 6 | (s[i] & 0x3F);
	}
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	if (v < least[len] || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000)) {
		return 0;
	}
	*ret = v;
	return len;
}

size_t utf8_encode(uint32_t v, char out[4])
{
	size_t k = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
	static const uint8_t first[5] = {0, 0, 0xC0, 0xE0, 0xF0};
	for (size_t i = k; i-- > 1; v >>= 6) {
		out[i] = (char)(0x80 | (v & 0x3F));
	}
	out[0] = (char)(first[k] | v);
	return k;
}

long utf8_to_utf16(const char *text, size_t n, uint16_t *out, size_t cap)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t at = 0, done = 0;
	for (size_t i = 0; i < n;) {
		uint32_t v;
		size_t used = utf8_decode(s + i, n - i, &v);
		if (used == 0) {
			return -EILSEQ;
		}
		i += used;
		uint16_t u[2];
		size_t k = 1;
		if (v >= 0x10000) {
			u[0] = (uint16_t)(0xD800 + ((v - 0x10000) >> 10));
			u[1] = (uint16_t)(0xDC00 + ((v - 0x10000) & 0x3FF));
			k = 2;
		} else {
			u[0] = (uint16_t)v;
		}
		if (at == done && at + k < cap) {
			memcpy(out + at, u, 2 * k);
			done = at + k;
		}
		at += k;
	}
	if (cap > 0) {
		out[done] = 0;
	}
	return (long)at;
}

static long to_utf8(const void *src, size_t n, char *out, size_t cap, bool lossy)
{
	const uint8_t *s = src;
	size_t at = 0, done = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t v = le16_get(s + 2 * i);
		if (v >= 0xD800 && v < 0xE000) {
			uint32_t lo = v < 0xDC00 && i + 1 < n ? le16_get(s + 2 * (i + 1)) : 0;
			if (lo >= 0xDC00 && lo < 0xE000) {
				v = 0x10000 + ((v - 0xD800) << 10) + (lo - 0xDC00);
				i++;
			} else if (lossy) {
				v = 0xFFFD;
			} else {
				return -EILSEQ;
			}
		}
		char u[4];
		size_t k = utf8_encode(v, u);
		if (at == done && at + k < cap) {
			memcpy(out + at, u, k);
			done = at + k;
		}
		at += k;
	}
	if (cap > 0) {
		out[done] = 0;
	}
	return (long)at;
}

long utf16_to_utf8(const void *s, size_t n, char *out, size_t cap)
{
	return to_utf8(s, n, out, cap, false);
}

long utf16_to_utf8_lossy(const void *s, size_t n, char *out, size_t cap)
{
	return to_utf8(s, n, out, cap, true);
}

size_t utf16_len(const uint16_t *s)
{
	size_t n = 0;
	while (s[n]) {
		n++;
	}
	return n;
}

static uint16_t fold(uint16_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7)) {
		return (uint16_t)(c + 32);
	}
	return c;
}

bool utf16_equal_nocase(const uint16_t *a, const uint16_t *b)
{
	while (*a && fold(*a) == fold(*b)) {
		a++, b++;
	}
	return fold(*a) == fold(*b);
}

uint16_t *utf16_dup(const uint16_t *s, size_t n)
{
	uint16_t *d = n < SIZE_MAX / 2 - 1 ? malloc(2 * (n + 1)) : NULL;
	if (d) {
		memcpy(d, s, 2 * n);
		d[n] = 0;
	}
	return d;
}
