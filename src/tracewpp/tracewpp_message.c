/* SPDX-License-Identifier: MIT
 *
 * A message: prefix, text and suffix, whose conversions take their arguments in this order.
 */
#include "tracewpp/tracewpp_private.h"

#include <stdio.h>
#include <strings.h>

struct builder {
	struct tracewpp *w;
	const struct wpp_call *c;
	struct wpp_message *m;
	struct diag *diag;
};

static int fail(const struct builder *b, const char *fmt, const char *what)
{
	return wpp_fail(b->diag, b->c->line, b->c->column, fmt, what);
}

static int add_argument(struct builder *b, const struct wpp_type *t, const char *flags, size_t n, const char *spec,
			size_t spec_bytes)
{
	struct wpp_message *m = b->m;
	if (m->count == ARGS_MAX) {
		return fail(b, "%s: too many arguments", b->c->f->name);
	}
	strbuf_addf(&m->format, "%%%zu!", m->count + 10);
	strbuf_add(&m->format, flags, n);
	if (t->spec) {
		strbuf_adds(&m->format, t->spec);
	} else {
		strbuf_add(&m->format, spec, spec_bytes);
	}
	strbuf_addc(&m->format, '!');
	m->types[m->count++] = t;
	return 0;
}

/* %!NAME! */
static int named(struct builder *b, const char *name, size_t n)
{
	static const char *const kept[] = {"FUNC", "LEVEL", "FLAGS", "COMPNAME", "SUBCOMP", "FLAG"};
	char text[64];
	if (n == 9 && strncasecmp(name, "STDPREFIX", n) == 0) {
		strbuf_adds(&b->m->format, "%0");
		return 0;
	}
	if (n == 8 && memcmp(name, "KEYWORDS", n) == 0) {
		strbuf_adds(&b->m->format, "%!FLAGS!");
		return 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(kept); i++) {
		if (strlen(kept[i]) == n && memcmp(kept[i], name, n) == 0) {
			strbuf_addf(&b->m->format, "%%!%s!", i == 5 ? "FLAGS" : kept[i]);
			return 0;
		}
	}
	if (n == 5 && strncasecmp(name, "SPACE", n) == 0) {
		strbuf_addc(&b->m->format, ' ');
		return 0;
	}
	if (n == 3 && strncasecmp(name, "MOD", n) == 0) {
		strbuf_adds(&b->m->format, b->w->component);
		return 0;
	}
	if (n == 4 && memcmp(name, "FILE", 4) == 0) {
		strbuf_adds(&b->m->format, b->w->source);
		return 0;
	}
	if (n == 4 && memcmp(name, "LINE", 4) == 0) {
		strbuf_addf(&b->m->format, "%u", b->c->line);
		return 0;
	}
	const struct wpp_type *t = wpp_type_named(b->w, name, n);
	const struct wpp_type *plain = t ? NULL : wpp_type_printf(name, n); /* %!s! is %s */
	if (plain) {
		return add_argument(b, plain, "", 0, name, n);
	}
	if (!t) {
		snprintf(text, sizeof text, "%.*s", (int)BASE_MIN(n, (size_t)60), name);
		return fail(b, "%%!%s! is not known", text);
	}
	return add_argument(b, t, "", 0, "", 0);
}

static int add_text(struct builder *b, const char *s)
{
	int err = 0;
	for (; *s && err == 0; s++) {
		if (*s != '%') {
			if (*s == '\n') {
				strbuf_adds(&b->m->format, s[1] ? "%n" : "");
			} else if (*s == '\t') {
				strbuf_adds(&b->m->format, "%t");
			} else if (*s != '\r') {
				strbuf_addc(&b->m->format, *s);
			}
			continue;
		}
		if (s[1] == '%') {
			strbuf_adds(&b->m->format, "%%");
			s++;
			continue;
		}
		if (s[1] == '!') {
			const char *end = strchr(s + 2, '!');
			if (!end) {
				return fail(b, "%s: %%! is not closed by another !", b->c->f->name);
			}
			err = named(b, s + 2, (size_t)(end - s - 2));
			s = end;
			continue;
		}
		const char *flags = s + 1;
		size_t n = strspn(flags, "-+ #0123456789.");
		const char *letters = flags + n;
		if (*letters == '*') {
			return fail(b, "%s: a width of * cannot be recorded", b->c->f->name);
		}
		size_t k = strspn(letters, "hlLwIzjt3264");
		const struct wpp_type *t = letters[k] ? wpp_type_printf(letters, k + 1) : NULL;
		char text[32];
		if (!t) {
			snprintf(text, sizeof text, "%%%.*s", (int)BASE_MIN(n + k + 1, (size_t)20), flags);
			return fail(b, "the conversion '%s' is not known", text);
		}
		err = add_argument(b, t, flags, n, letters, k + 1);
		s = letters + k;
	}
	return err;
}

/* The text of a part; its arguments are taken from `args`, or are those of the call. */
static int add_part(struct builder *b, const char *text, const char *const *args, size_t count, const char *what)
{
	static const char *const names[] = {"_a1",  "_a2",  "_a3",  "_a4",  "_a5",  "_a6",  "_a7",  "_a8",
					    "_a9",  "_a10", "_a11", "_a12", "_a13", "_a14", "_a15", "_a16",
					    "_a17", "_a18", "_a19", "_a20", "_a21", "_a22", "_a23", "_a24",
					    "_a25", "_a26", "_a27", "_a28", "_a29", "_a30", "_a31", "_a32"};
	size_t first = b->m->count;
	int err = add_text(b, text);
	char said[64];
	if (err == 0 && b->m->count - first != count) {
		snprintf(said, sizeof said, "%zu argument%s for %zu conversion%s", count, count == 1 ? "" : "s",
			 b->m->count - first, b->m->count - first == 1 ? "" : "s");
		return fail(b, what, said);
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		b->m->args[first + i] = args ? args[i] : names[i];
	}
	return err;
}

int wpp_message_build(struct tracewpp *w, const struct wpp_call *c, struct wpp_message *ret, struct diag *d)
{
	const struct wpp_function *f = c->f;
	struct builder b = {w, c, ret, d};
	strbuf_clear(&ret->format);
	ret->count = 0;
	if (c->extra > ARGS_MAX) {
		return fail(&b, "%s: too many arguments", f->name);
	}
	int err = add_part(&b, f->prefix.text ? f->prefix.text : "%!STDPREFIX!", f->prefix.args, f->prefix.count,
			   "the prefix has %s");
	err = err < 0 ? err : add_part(&b, c->message, NULL, c->extra, "the call has %s");
	err = err < 0 ? err
		      : add_part(&b, f->suffix.text ? f->suffix.text : "", f->suffix.args, f->suffix.count,
				 "the suffix has %s");
	return err < 0 ? err : ret->format.failed ? -ENOMEM : 0;
}
