/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

static bool room(struct strbuf *b, size_t n)
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

void strbuf_add_growing(struct strbuf *b, const void *p, size_t n)
{
	if (room(b, n)) {
		memcpy(b->s + b->len, p, n);
		b->len += n;
		b->s[b->len] = 0;
	}
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	/* Nearly always it fits what is there, or this much more. */
	if (!room(b, 64)) {
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
	if (n < 0 || !room(b, (size_t)n)) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void strbuf_add_number(struct strbuf *b, uint64_t n)
{
	char text[20];
	size_t at = sizeof text;
	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	strbuf_add(b, text + at, sizeof text - at);
}

void strbuf_add_json(struct strbuf *b, const char *s, size_t n)
{
	strbuf_addc(b, '"');
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
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
