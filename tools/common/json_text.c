/* SPDX-License-Identifier: MIT */
#include "tools/common/json_text.h"

#include <stdlib.h>

size_t cli_json_skip_string(const char *s, size_t n, size_t i)
{
	for (i++; i < n && s[i] != '"'; i++) {
		i += s[i] == '\\';
	}
	return i < n ? i + 1 : n;
}

size_t cli_json_skip(const char *s, size_t n, size_t i)
{
	int depth = 0;
	for (; i < n; i++) {
		if (s[i] == '"') {
			i = cli_json_skip_string(s, n, i) - 1;
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

static uint32_t hex_unit(const char *s)
{
	char hex[5] = {s[0], s[1], s[2], s[3], 0};
	return (uint32_t)strtoul(hex, NULL, 16);
}

/* The text of a JSON value: strings without quotes and escapes. */
void cli_json_plain(struct strbuf *b, const char *s, size_t n)
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
