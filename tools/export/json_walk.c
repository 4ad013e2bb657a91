/* SPDX-License-Identifier: MIT */
#include "tools/export/json_walk.h"

#include "base/json_text.h"

#include <stdlib.h>

struct json_walk json_walk_of(const char *s, size_t n)
{
	bool walkable = n >= 2 && (s[0] == '{' || s[0] == '[');
	return (struct json_walk){.s = s, .n = walkable ? n : 0, .i = 1, .object = walkable && s[0] == '{'};
}

bool json_walk_next(struct json_walk *w, struct json_item *ret)
{
	size_t i = w->i;
	if (i >= w->n || w->s[i] == '}' || w->s[i] == ']') {
		return false;
	}
	memset(ret, 0, sizeof *ret);
	if (w->object) {
		size_t end = json_text_skip_string(w->s, w->n, i);
		ret->name = w->s + i;
		ret->name_length = end - i;
		i = end < w->n ? end + 1 : w->n; /* the colon */
	}
	size_t end = json_text_skip(w->s, w->n, i);
	ret->json = w->s + i;
	ret->length = end - i;
	w->i = end < w->n && w->s[end] == ',' ? end + 1 : end < w->n ? end : w->n;
	return ret->length > 0; /* of nothing it would go on for ever where it is not well formed */
}

enum json_type json_type_of(const char *s, size_t n)
{
	switch (n ? s[0] : 'n') {
	case '"': return JSON_STRING;
	case '[': return JSON_ARRAY;
	case '{': return JSON_OBJECT;
	case 't': return JSON_TRUE;
	case 'f': return JSON_FALSE;
	case 'n': return JSON_NULL;
	default: return JSON_NUMBER;
	}
}

struct json_number json_number_of(const char *s, size_t n)
{
	struct json_number r = {.kind = JSON_DOUBLE};
	char text[64], *end;
	if (n >= sizeof text) {
		return r;
	}
	memcpy(text, s, n);
	text[n] = 0;
	errno = 0;
	if (text[0] == '-') {
		r.i = strtoll(text, &end, 10);
		r.kind = errno == 0 && *end == 0 ? JSON_SIGNED : JSON_DOUBLE;
	} else {
		r.u = strtoull(text, &end, 10);
		r.kind = errno == 0 && *end == 0 && end != text ? JSON_UNSIGNED : JSON_DOUBLE;
	}
	r.d = strtod(text, NULL);
	return r;
}
