/* SPDX-License-Identifier: MIT */
#include "base/base.h"

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
	/* Nearly always it fits what is there, or this much more. */
	if (!strbuf_room(b, 64)) {
		return;
	}
	va_list ap;
	va_start(ap, fmt);
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
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

/* These two go where printf would take most of the time. */
void strbuf_add_u64(struct strbuf *b, uint64_t v)
{
	char buf[20], *s = buf + sizeof buf;
	do {
		*--s = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	strbuf_add(b, s, (size_t)(buf + sizeof buf - s));
}

void strbuf_add_hex(struct strbuf *b, uint64_t v)
{
	char buf[18], *s = buf + sizeof buf;
	do {
		*--s = "0123456789ABCDEF"[v & 15];
		v >>= 4;
	} while (v);
	*--s = 'x';
	*--s = '0';
	strbuf_add(b, s, (size_t)(buf + sizeof buf - s));
}

/* None of eight bytes needs an escape. The usual test for a byte below n in a word; it may say no for
 * one that needs none. */
static bool is_plain(const char *s)
{
	const uint64_t ones = ~0ull / 255, tops = ones << 7;
	uint64_t v = le64_get(s), quote = v ^ ones * '"', back = v ^ ones * '\\';
	uint64_t bad = (v - ones * 0x20) | (quote - ones) | (back - ones) | v;
	return (bad & tops) == 0;
}

void strbuf_add_json(struct strbuf *b, const char *s, size_t n)
{
	strbuf_addc(b, '"');
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
		if (i + 8 <= n && is_plain(s + i)) {
			i += 7;
			continue;
		}
		unsigned char c = (unsigned char)s[i];
		if (c >= 0x20 && c != '"' && c != '\\') {
			continue;
		}
		strbuf_add(b, s + from, i - from);
		from = i + 1;
		switch (c) {
		case '"': strbuf_adds(b, "\\\""); break;
		case '\\': strbuf_adds(b, "\\\\"); break;
		case '\n': strbuf_adds(b, "\\n"); break;
		case '\r': strbuf_adds(b, "\\r"); break;
		case '\t': strbuf_adds(b, "\\t"); break;
		default: strbuf_addf(b, "\\u%04x", c);
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
