/* SPDX-License-Identifier: MIT */
#include "schema/schema_out.h"

#include "base/printable.h"

#include <stdio.h>
#include <stdlib.h>

bool schema_out_grow(struct openetw_text *o, size_t n)
{
	if (o->failed || n > SIZE_MAX / 4 - o->length) {
		o->failed = 1;
		return false;
	}
	size_t need = o->length + n + 1;
	if (need <= o->capacity) {
		return true;
	}
	size_t cap = BASE_MAX(need, BASE_MAX(o->capacity * 2, (size_t)512));
	char *data = realloc(o->data, cap);
	if (!data) {
		o->failed = 1;
		return false;
	}
	o->data = data;
	o->capacity = cap;
	return true;
}

static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
			       "25262728293031323334353637383940414243444546474849"
			       "50515253545556575859606162636465666768697071727374"
			       "75767778798081828384858687888990919293949596979899";

static unsigned digits_of(uint64_t v)
{
	unsigned n = 1;
	for (;; n += 4, v /= 10000) {
		if (v < 10) {
			return n;
		}
		if (v < 100) {
			return n + 1;
		}
		if (v < 1000) {
			return n + 2;
		}
		if (v < 10000) {
			return n + 3;
		}
	}
}

/* Written where they belong, from the last digit: no copy of a length that varies. */
void out_u64(struct openetw_text *o, uint64_t v)
{
	unsigned n = digits_of(v);
	char *to = out_room(o, n);
	if (!to) {
		return;
	}
	char *s = to + n;
	while (v >= 100) {
		s -= 2;
		memcpy(s, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		memcpy(to, pairs + 2 * v, 2);
	} else {
		*to = (char)('0' + v);
	}
	out_used(o, n);
}

void out_i64(struct openetw_text *o, int64_t v)
{
	if (v < 0) {
		out_char(o, '-');
		out_u64(o, 0 - (uint64_t)v);
	} else {
		out_u64(o, (uint64_t)v);
	}
}

static const char digits_lower[] = "0123456789abcdef";
static const char digits_upper[] = "0123456789ABCDEF";

void out_hex(struct openetw_text *o, uint64_t v, bool upper)
{
	const char *digits = upper ? digits_upper : digits_lower;
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	char *to = out_room(o, n + 2);
	if (!to) {
		return;
	}
	to[0] = '0';
	to[1] = 'x';
	for (unsigned i = n + 2; i-- > 2; v >>= 4) {
		to[i] = digits[v & 15];
	}
	out_used(o, n + 2);
}

void out_hex_bytes(struct openetw_text *o, const uint8_t *p, size_t n, bool upper)
{
	const char *digits = upper ? digits_upper : digits_lower;
	char *to = out_room(o, 2 * n);
	if (!to) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[p[i] >> 4];
		to[2 * i + 1] = digits[p[i] & 15];
	}
	out_used(o, 2 * n);
}

void out_padded(struct openetw_text *o, uint32_t v, unsigned digits)
{
	char buf[10];
	for (unsigned i = digits; i-- > 0; v /= 10) {
		buf[i] = (char)('0' + v % 10);
	}
	out_add(o, buf, digits);
}

/* The shortest decimal that reads back as the same number. Rare in traces, so libc may do it; it
 * uses the locale's decimal point, which is put right afterwards. */
void out_double(struct openetw_text *o, double v, bool is_float)
{
	if (v != v) {
		out_str(o, "NaN");
		return;
	}
	if (v > 1.7976931348623157e308 || v < -1.7976931348623157e308) {
		out_str(o, v > 0 ? "Infinity" : "-Infinity");
		return;
	}
	if (v > -1e15 && v < 1e15 && (double)(int64_t)v == v && (v != 0 || !__builtin_signbit(v))) {
		out_i64(o, (int64_t)v);
		return;
	}
	char buf[40];
	for (int prec = is_float ? 6 : 15; prec <= 17; prec++) {
		snprintf(buf, sizeof buf, "%.*g", prec, v);
		if (is_float ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v) {
			break;
		}
	}
	for (char *s = buf; *s; s++) {
		bool known = (*s >= '0' && *s <= '9') || *s == '-' || *s == '+' || *s == 'e';
		out_char(o, known ? *s : '.');
		while (!known && s[1] && !(s[1] >= '0' && s[1] <= '9')) {
			s++; /* a decimal point of several bytes */
		}
	}
}

/* What JSON makes of an ASCII character: 0 as it is, 'u' as \u00XX, else \ and this. */
static inline char escape_of(uint8_t c)
{
	switch (c) {
	case '"': return '"';
	case '\\': return '\\';
	case '\n': return 'n';
	case '\r': return 'r';
	case '\t': return 't';
	case '\b': return 'b';
	case '\f': return 'f';
	default: return c < 0x20 || c == 0x7F ? 'u' : 0;
	}
}

static inline char *put_ascii(char *to, uint8_t c, bool json)
{
	char e = json ? escape_of(c) : 0;
	if (BASE_LIKELY(e == 0)) {
		*to++ = (char)c;
		return to;
	}
	*to++ = '\\';
	*to++ = e;
	if (e == 'u') {
		*to++ = '0';
		*to++ = '0';
		*to++ = digits_lower[c >> 4];
		*to++ = digits_lower[c & 15];
	}
	return to;
}

static char *put_unit(char *to, uint32_t v)
{
	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4) {
		*to++ = digits_lower[v >> shift & 15];
	}
	return to;
}

/* In JSON, at most 6 bytes for each unit of UTF-16: what a terminal would obey is escaped. */
static inline char *put_code_point(char *to, uint32_t v, bool json)
{
	if (BASE_UNLIKELY(json && printable_must_escape(v))) {
		return v < 0x10000 ? put_unit(to, v) : put_unit(put_unit(to, 0xD7C0 + (v >> 10)), 0xDC00 + (v & 0x3FF));
	}
	if (v < 0x800) {
		*to++ = (char)(0xC0 | v >> 6);
	} else if (v < 0x10000) {
		*to++ = (char)(0xE0 | v >> 12);
		*to++ = (char)(0x80 | (v >> 6 & 0x3F));
	} else {
		*to++ = (char)(0xF0 | v >> 18);
		*to++ = (char)(0x80 | (v >> 12 & 0x3F));
		*to++ = (char)(0x80 | (v >> 6 & 0x3F));
	}
	*to++ = (char)(0x80 | (v & 0x3F));
	return to;
}

/* None of eight bytes needs more than a copy; it may say no for one that does not. The usual test for
 * a byte below n in a word. */
static inline bool is_plain(uint64_t v)
{
	const uint64_t ones = ~0ull / 255, tops = ones << 7;
	uint64_t quote = v ^ ones * '"', back = v ^ ones * '\\', del = v ^ ones * 0x7F;
	uint64_t bad = (v - ones * 0x20) | (quote - ones) | (back - ones) | (del - ones) | v;
	return (bad & tops) == 0;
}

void out_utf8(struct openetw_text *o, const void *text, size_t n, bool json)
{
	const uint8_t *s = text;
	char *to = out_room(o, 6 * n); /* \u00XX is the longest replacement of one byte */
	if (!to) {
		return;
	}
	char *from = to;
	for (size_t i = 0; i < n;) {
		if (n - i >= 8 && is_plain(le64_get(s + i))) {
			memcpy(to, s + i, 8);
			to += 8;
			i += 8;
			continue;
		}
		if (BASE_LIKELY(s[i] < 0x80)) {
			to = put_ascii(to, s[i++], json);
			continue;
		}
		uint32_t v = 0xFFFD;
		size_t len = utf8_decode(s + i, n - i, &v);
		to = put_code_point(to, v, json);
		i += len ? len : 1;
	}
	out_used(o, (size_t)(to - from));
}

void out_utf16(struct openetw_text *o, const void *text, size_t units, bool json)
{
	const uint8_t *s = text;
	char *to = out_room(o, 6 * units);
	if (!to) {
		return;
	}
	char *from = to;
	for (size_t i = 0; i < units; i++) {
		uint64_t four = units - i >= 4 ? le64_get(s + 2 * i) : ~0ull;
		if ((four & 0xFF80FF80FF80FF80ull) == 0) {
			four = (four | four >> 8) & 0x0000FFFF0000FFFFull;
			four = (four | four >> 16) & 0xFFFFFFFFull;
			if (is_plain(four | 0x2020202000000000ull)) {
				le32_put((uint8_t *)to, (uint32_t)four);
				to += 4;
				i += 3;
				continue;
			}
		}
		uint32_t v = le16_get(s + 2 * i);
		if (BASE_LIKELY(v < 0x80)) {
			to = put_ascii(to, (uint8_t)v, json);
			continue;
		}
		if (v >= 0xD800 && v < 0xE000) {
			uint32_t low = v < 0xDC00 && i + 1 < units ? le16_get(s + 2 * (i + 1)) : 0;
			if (low >= 0xDC00 && low < 0xE000) {
				v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
				i++;
			} else {
				v = 0xFFFD;
			}
		}
		to = put_code_point(to, v, json);
	}
	out_used(o, (size_t)(to - from));
}
