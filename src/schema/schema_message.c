/* SPDX-License-Identifier: MIT
 *
 * The text of an event whose manifest has a message: %1, %2!s! … are its fields in their order, as
 * FormatMessage has it.
 */
#include "schema/schema.h"
#include "schema/schema_out.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define INSERTS_MAX 99u
#define FORM_MAX    1000u /* nobody wants more blanks */

struct inserts {
	struct openetw_text text;
	size_t at[INSERTS_MAX + 1]; /* where each begins; the last: where it ends */
	unsigned count;
};

static bool collect(void *ctx, const struct openetw_field *f)
{
	struct inserts *i = ctx;
	if (i->count == INSERTS_MAX) {
		return false;
	}
	out_add(&i->text, f->text, f->text_length);
	i->at[++i->count] = i->text.length;
	return true;
}

static void put_escape(struct openetw_text *o, char c)
{
	switch (c) {
	case 'n': out_char(o, '\n'); break;
	case 'r': out_char(o, '\r'); break;
	case 't': out_char(o, '\t'); break;
	case 'b': out_char(o, ' '); break;
	default: out_char(o, c); break; /* %%, %!, %. and what nobody knows */
	}
}

struct form {
	bool left, zeros, upper;
	char kind; /* s: text; d, u, x, o: a number */
	unsigned width, most;
};

/* What stands between two '!': "-8.3s", "08I64x". Returns what is behind them. */
static const char *read_form(const char *s, struct form *f)
{
	const char *end = strchr(s, '!');
	if (!end) {
		return s - 1; /* no form, text */
	}
	for (; *s == '-' || *s == '0' || *s == '+' || *s == ' ' || *s == '#'; s++) {
		f->left |= *s == '-';
		f->zeros |= *s == '0';
	}
	for (; *s >= '0' && *s <= '9' && f->width < FORM_MAX; s++) {
		f->width = f->width * 10 + (unsigned)(*s - '0');
	}
	if (*s == '.') {
		for (s++, f->most = 0; *s >= '0' && *s <= '9' && f->most < FORM_MAX; s++) {
			f->most = f->most * 10 + (unsigned)(*s - '0');
		}
	}
	char last = end > s ? end[-1] : 's';
	f->upper = last == 'X';
	f->kind = last == 'i' ? 'd' : last == 'X' ? 'x' : strchr("duxo", last) ? last : 's';
	return end + 1;
}

/* The inserts are texts. One that is a number can be shown as one. */
static size_t put_number(const char *text, size_t n, const struct form *f, char *out, size_t cap)
{
	char copy[32], *end;
	if (f->kind == 's' || n == 0 || n >= sizeof copy) {
		return 0;
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	bool hex = copy[0] == '0' && (copy[1] | 32) == 'x';
	unsigned long long v = strtoull(copy, &end, hex ? 16 : 10);
	if (*end || !((copy[0] >= '0' && copy[0] <= '9') || (copy[0] == '-' && n > 1))) {
		return 0;
	}
	const char *how = f->kind == 'd'   ? "%lld"
			  : f->kind == 'u' ? "%llu"
			  : f->kind == 'o' ? "%llo"
			  : f->upper       ? "%llX"
					   : "%llx";
	/* negative numbers have 32 bits unless they need more */
	if (f->kind != 'd' && copy[0] == '-' && v >= 0xFFFFFFFF80000000ull) {
		v = (uint32_t)v;
	}
	return (size_t)snprintf(out, cap, how, v);
}

static void put_insert(struct openetw_text *o, const char *text, size_t n, const struct form *f)
{
	char digits[32];
	size_t k = put_number(text, n, f, digits, sizeof digits), width = 0, used = 0;
	if (k) {
		text = digits;
		used = width = k;
	} else {
		/* UTF-8: what is not a continuation begins a character */
		for (; used < n && (width < f->most || ((uint8_t)text[used] & 0xC0) == 0x80); used++) {
			width += ((uint8_t)text[used] & 0xC0) != 0x80;
		}
	}
	for (size_t i = width; !f->left && i < f->width; i++) {
		out_char(o, k && f->zeros ? '0' : ' ');
	}
	out_add(o, text, used);
	for (size_t i = width; f->left && i < f->width; i++) {
		out_char(o, ' ');
	}
}

void schema_message_format(const struct schema_payload *p, struct openetw_text *o)
{
	const char *s = schema_text(p->event, p->event->message);
	struct openetw_text scratch = {0};
	struct inserts *i = calloc(1, sizeof *i);
	if (!i) {
		o->failed = 1;
		return;
	}
	schema_walk_fields(p, NULL, &scratch, collect, i);
	openetw_text_free(&scratch);
	while (*s) {
		size_t plain = strcspn(s, "%");
		out_add(o, s, plain);
		s += plain;
		if (!*s || !*++s) {
			break;
		}
		if (*s == '0') { /* the text ends here, without a line's end */
			break;
		}
		if (*s < '1' || *s > '9') {
			put_escape(o, *s++);
			continue;
		}
		unsigned n = (unsigned)(*s++ - '0');
		if (*s >= '0' && *s <= '9') {
			n = n * 10 + (unsigned)(*s++ - '0');
		}
		struct form f = {.kind = 's', .most = UINT_MAX};
		if (*s == '!') {
			s = read_form(s + 1, &f);
		}
		if (n <= i->count) {
			put_insert(o, i->text.data + i->at[n - 1], i->at[n] - i->at[n - 1], &f);
		} else {
			out_char(o, '%');
			out_u64(o, n);
		}
	}
	o->failed |= i->text.failed;
	openetw_text_free(&i->text);
	free(i);
}
