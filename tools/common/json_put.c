/* SPDX-License-Identifier: MIT */
#include "tools/common/json_put.h"

#include <math.h>

void json_put_comma(struct strbuf *b)
{
	char last = b->len ? b->s[b->len - 1] : '{';
	if (last != '{' && last != '[' && last != ':') {
		strbuf_addc(b, ',');
	}
}

void json_put_name(struct strbuf *b, const char *name)
{
	json_put_comma(b);
	if (name) {
		strbuf_add_json(b, name, strlen(name));
		strbuf_addc(b, ':');
	}
}

void json_put_text(struct strbuf *b, const char *name, const char *s)
{
	json_put_name(b, name);
	if (s) {
		strbuf_add_json(b, s, strlen(s));
	} else {
		strbuf_adds(b, "null");
	}
}

size_t json_put_part(struct strbuf *b, const char *s, size_t n, size_t most)
{
	size_t before = b->len, part = BASE_MIN(n, most);
	for (;;) {
		while (part < n && part > 0 && ((uint8_t)s[part] & 0xc0) == 0x80) {
			part--;
		}
		strbuf_add_json(b, s, part);
		if (b->failed || part == 0 || b->len - before <= most + 2) {
			return part;
		}
		b->len = before; /* escapes made it longer */
		part /= 2;
	}
}

void json_put_integer(struct strbuf *b, const char *name, int64_t v)
{
	json_put_name(b, name);
	strbuf_addf(b, "%lld", (long long)v);
}

void json_put_count(struct strbuf *b, const char *name, uint64_t v)
{
	json_put_name(b, name);
	strbuf_addf(b, "%llu", (unsigned long long)v);
}

void json_put_real(struct strbuf *b, const char *name, double v)
{
	json_put_name(b, name);
	if (isfinite(v)) {
		strbuf_addf(b, "%.10g", v);
	} else {
		strbuf_adds(b, "null");
	}
}

void json_put_truth(struct strbuf *b, const char *name, bool v)
{
	json_put_name(b, name);
	strbuf_adds(b, v ? "true" : "false");
}
