/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <stdio.h>
#include <stdlib.h>

bool strbuf_room(struct strbuf *b, size_t n)
{
	if (b->failed || n > SIZE_MAX / 4 - b->len) {
		b->failed = true;
		return false;
	}
	size_t need = b->len + n + 1;
	if (need <= b->cap) {
		return true;
	}
	size_t cap = BASE_MAX(need, BASE_MAX(b->cap * 2, (size_t)128));
	char *s = realloc(b->s, cap);
	if (!s) {
		b->failed = true;
		return false;
	}
	b->s = s;
	b->cap = cap;
	return true;
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list again)
{
	/* Nearly always it fits what is there, or this much more. */
	if (!strbuf_room(b, 64)) {
		return;
	}
	va_list ap;
	va_copy(ap, again);
	size_t left = b->cap - b->len;
	int n = vsnprintf(b->s + b->len, left, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < left) {
		b->len += (size_t)n;
		return;
	}
	b->s[b->len] = 0;
	if (n < 0 || !strbuf_room(b, (size_t)n)) {
		b->failed = true;
		return;
	}
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
	b->len += (size_t)n;
}

/* These two go where printf would take most of the time. */
void strbuf_add_u64(struct strbuf *b, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char buf[20], *s = buf + sizeof buf;
	while (v >= 100) {
		s -= 2;
		memcpy(s, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		s -= 2;
		memcpy(s, pairs + 2 * v, 2);
	} else {
		*--s = (char)('0' + v);
	}
	strbuf_add(b, s, (size_t)(buf + sizeof buf - s));
}

/* None of eight bytes needs an escape. The usual test for a byte below n in a word; it may say no for
 * one that needs none. */
static bool is_plain(const char *s)
{
	const uint64_t ones = ~0ull / 255, tops = ones << 7;
	uint64_t v = le64_get(s), quote = v ^ ones * '"', back = v ^ ones * '\\', del = v ^ ones * 0x7F;
	uint64_t bad = (v - ones * 0x20) | (quote - ones) | (back - ones) | (del - ones) | v;
	return (bad & tops) == 0;
}

/* Nearly all names: looked at in words, the last of which may overlap the one before. */
static bool all_plain(const char *s, size_t n)
{
	size_t i = 0;
	if (n < 8) {
		char word[8] = "        ";
		memcpy(word, s, n);
		return is_plain(word);
	}
	for (; i + 8 <= n; i += 8) {
		if (!is_plain(s + i)) {
			return false;
		}
	}
	return is_plain(s + n - 8);
}

static void add_json_escape(struct strbuf *b, uint32_t c)
{
	if (c < 0x10000) {
		strbuf_addf(b, "\\u%04x", c);
	} else {
		c -= 0x10000;
		strbuf_addf(b, "\\u%04x\\u%04x", 0xD800 + (c >> 10), 0xDC00 + (c & 0x3FF));
	}
}

void strbuf_add_json(struct strbuf *b, const char *s, size_t n)
{
	if (BASE_LIKELY(n > 0 && all_plain(s, n) && strbuf_room(b, n + 2))) {
		char *to = b->s + b->len;
		to[0] = to[n + 1] = '"';
		memcpy(to + 1, s, n);
		to[n + 2] = 0;
		b->len += n + 2;
		return;
	}
	strbuf_addc(b, '"');
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
		if (i + 8 <= n && is_plain(s + i)) {
			i += 7;
			continue;
		}
		unsigned char c = (unsigned char)s[i];
		if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
			continue;
		}
		uint32_t point = c;
		size_t used = c < 0x80 ? 1 : utf8_decode(s + i, n - i, &point);
		if (c >= 0x80 && used && !printable_must_escape(point)) {
			i += used - 1;
			continue;
		}
		strbuf_add(b, s + from, i - from);
		i += used ? used - 1 : 0;
		from = i + 1;
		switch (used ? point : 0xFFFD) {
		case '"': strbuf_adds(b, "\\\""); break;
		case '\\': strbuf_adds(b, "\\\\"); break;
		case '\n': strbuf_adds(b, "\\n"); break;
		case '\r': strbuf_adds(b, "\\r"); break;
		case '\t': strbuf_adds(b, "\\t"); break;
		case 0xFFFD: strbuf_adds(b, "\xEF\xBF\xBD"); break;
		default: add_json_escape(b, point);
		}
	}
	strbuf_add(b, s + from, n - from);
	strbuf_addc(b, '"');
}

void strbuf_clear(struct strbuf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->s) {
		b->s[0] = 0;
	}
}

void strbuf_finish(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){0};
}
