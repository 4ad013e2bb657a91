/* SPDX-License-Identifier: MIT */
#include "base/json_text.h"

#include <stdlib.h>

size_t json_text_skip_string(const char *s, size_t n, size_t i)
{
	for (i++; i < n && s[i] != '"'; i++) {
		i += s[i] == '\\';
	}
	return i < n ? i + 1 : n;
}

size_t json_text_skip(const char *s, size_t n, size_t i)
{
	int depth = 0;
	for (; i < n; i++) {
		if (s[i] == '"') {
			i = json_text_skip_string(s, n, i) - 1;
		} else if (s[i] == '{' || s[i] == '[') {
			depth++;
		} else if (s[i] == '}' || s[i] == ']') {
			if (depth-- == 0) {
				return i;
			}
		} else if (s[i] == ',' && depth == 0) {
			return i;
		}
	}
	return n;
}

/* Narrows *s, *n to the member or element called name[0..len). */
static bool descend(const char **s, size_t *n, const char *name, size_t len)
{
	const char *p = *s;
	if (*n < 2 || (p[0] != '{' && p[0] != '[')) {
		return false;
	}
	bool object = p[0] == '{';
	unsigned long index = 0, wanted = 0;
	if (!object) {
		char *end;
		wanted = strtoul(name, &end, 10);
		if (end != name + len || len == 0) {
			return false;
		}
	}
	for (size_t i = 1; i < *n && p[i] != '}' && p[i] != ']'; index++) {
		bool found = !object && index == wanted;
		if (object) {
			size_t end = json_text_skip_string(p, *n, i);
			found = end >= i + 2 && end - i - 2 == len && memcmp(p + i + 1, name, len) == 0;
			i = end < *n ? end + 1 : *n; /* the colon */
		}
		size_t end = json_text_skip(p, *n, i);
		if (found) {
			*s = p + i;
			*n = end - i;
			return true;
		}
		i = end < *n && p[end] == ',' ? end + 1 : end;
	}
	return false;
}

static uint32_t hex_unit(const char *s)
{
	char hex[5] = {s[0], s[1], s[2], s[3], 0};
	return (uint32_t)strtoul(hex, NULL, 16);
}

/* The text of a JSON value: strings without quotes and escapes. */
void json_text_plain(struct strbuf *b, const char *s, size_t n)
{
	strbuf_clear(b);
	if (n < 2 || s[0] != '"') {
		strbuf_add(b, s, n);
		return;
	}
	for (size_t i = 1; i + 1 < n; i++) {
		if (s[i] != '\\') {
			strbuf_addc(b, s[i]);
			continue;
		}
		char c = s[++i];
		if (c == 'u' && i + 4 < n) {
			char utf8[4];
			uint32_t point = hex_unit(s + i + 1);
			i += 4;
			if (point >= 0xD800 && point < 0xDC00 && i + 6 < n && s[i + 1] == '\\' && s[i + 2] == 'u') {
				point = 0x10000 + ((point - 0xD800) << 10) + (hex_unit(s + i + 3) & 0x3FF);
				i += 6;
			}
			strbuf_add(b, utf8, utf8_encode(point, utf8));
		} else {
			strbuf_addc(b, c == 'n'   ? '\n'
				       : c == 't' ? '\t'
				       : c == 'r' ? '\r'
				       : c == 'b' ? '\b'
				       : c == 'f' ? '\f'
						  : c);
		}
	}
}

bool json_text_member(const char **s, size_t *n, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, ".");
		if (!descend(s, n, path, length)) {
			return false;
		}
		path += length + (path[length] == '.');
	}
	return true;
}
