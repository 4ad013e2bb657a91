/* SPDX-License-Identifier: MIT
 *
 * The text of an event whose manifest has a message: %1, %2!s! … are its fields in their order, as
 * FormatMessage has it.
 */
#include "schema/schema.h"
#include "schema/schema_out.h"

#include <stdlib.h>

#define INSERTS_MAX 99u

struct inserts {
	struct openetw_text text;
	size_t at[INSERTS_MAX + 1]; /* where each begins; the last: where it ends */
	unsigned count;
};

static int collect(void *ctx, const struct openetw_field *f)
{
	struct inserts *i = ctx;
	if (i->count == INSERTS_MAX) {
		return 1;
	}
	out_add(&i->text, f->text, f->text_length);
	i->at[++i->count] = i->text.length;
	return 0;
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

void schema_message_format(const struct schema_payload *p, struct openetw_text *o)
{
	const char *s = schema_text(p->event, p->event->message);
	struct openetw_text scratch = {0};
	struct inserts *i = calloc(1, sizeof *i);
	if (!i) {
		o->failed = 1;
		return;
	}
	schema_walk_fields(p, &scratch, collect, i);
	openetw_text_free(&scratch);
	while (*s) {
		size_t plain = strcspn(s, "%");
		out_add(o, s, plain);
		s += plain;
		if (!*s || !*++s) {
			break;
		}
		if (*s == '0') { /* no line end here */
			s++;
			continue;
		}
		if (*s < '1' || *s > '9') {
			put_escape(o, *s++);
			continue;
		}
		unsigned n = (unsigned)(*s++ - '0');
		if (*s >= '0' && *s <= '9') {
			n = n * 10 + (unsigned)(*s++ - '0');
		}
		if (*s == '!' && strchr(s + 1, '!')) { /* what form: the fields have theirs */
			s = strchr(s + 1, '!') + 1;
		}
		if (n <= i->count) {
			out_add(o, i->text.data + i->at[n - 1], i->at[n] - i->at[n - 1]);
		} else {
			out_char(o, '%');
			out_u64(o, n);
		}
	}
	o->failed |= i->text.failed;
	openetw_text_free(&i->text);
	free(i);
}
