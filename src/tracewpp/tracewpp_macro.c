/* SPDX-License-Identifier: MIT
 *
 * Macros with trace calls in them: known by their text, and put in where they are used, as a compiler
 * does, but for ## of what is no parameter. Of several definitions of a name the last one holds.
 */
#include "tracewpp/tracewpp_private.h"

static bool word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_bytes(const char *s, const char *end)
{
	const char *p = s;
	while (p < end && (word_start(*p) || (*p >= '0' && *p <= '9'))) {
		p++;
	}
	return (size_t)(p - s);
}

static bool same(const char *name, const char *s, size_t n)
{
	return strlen(name) == n && memcmp(name, s, n) == 0;
}

static const char *blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n' || *s == '\\')) {
		s++;
	}
	return s;
}

/* Behind what begins at s: a literal, a comment, or one character. */
static const char *behind(const char *s, const char *end)
{
	if (*s == '"' || *s == '\'') {
		char close = *s;
		for (s++; s < end && *s != close; s++) {
			s += *s == '\\' && s + 1 < end;
		}
		return s < end ? s + 1 : end;
	}
	if (end - s >= 2 && s[0] == '/' && s[1] == '*') {
		const char *e = memmem(s + 2, (size_t)(end - s) - 2, "*/", 2);
		return e ? e + 2 : end;
	}
	return s + 1;
}

/* "NAME(a, b, ...) text": one line, or several that end in backslashes. */
void wpp_macro_define(struct tracewpp *w, const char *s, const char *end)
{
	struct wpp_macro m = {.count = 0};
	struct strbuf b = {0};
	s = blanks(s, end);
	size_t n = word_start(s < end ? *s : 0) ? word_bytes(s, end) : 0;
	if (n == 0) {
		return;
	}
	const char *name = s;
	s += n;
	if (s < end && *s == '(') {
		m.takes = true;
		for (s = blanks(s + 1, end); s < end && *s != ')'; s = blanks(s, end)) {
			size_t k = *s == '.' ? BASE_MIN((size_t)3, (size_t)(end - s)) : word_bytes(s, end);
			if (k == 0 || m.count == PARAMS_MAX) {
				return;
			}
			m.params[m.count++] = *s == '.' ? "__VA_ARGS__" : arena_text(&w->arena, s, k);
			m.variadic = *s == '.';
			s = blanks(s + k, end);
			s += s < end && *s == ',';
		}
		s += s < end;
	}
	for (const char *e; s < end; s = e) {
		e = behind(s, end);
		if (*s == '/' && e > s + 1) {
			strbuf_addc(&b, ' ');
		} else if (*s == '\n' || *s == '\r' || (*s == '\\' && e == s + 1)) {
			strbuf_addc(&b, ' ');
		} else if (end - s >= 2 && s[0] == '/' && s[1] == '/') {
			break;
		} else {
			strbuf_add(&b, s, (size_t)(e - s));
		}
	}
	struct wpp_macro *kept = b.len && !b.failed ? ARENA_NEW(&w->arena, struct wpp_macro) : NULL;
	if (kept) {
		m.name = arena_text(&w->arena, name, n);
		m.name_bytes = n;
		m.text = arena_text(&w->arena, b.s, b.len);
		m.next = w->macros;
		*kept = m;
		w->macros = kept;
	}
	strbuf_finish(&b);
}

static struct wpp_macro *named(const struct tracewpp *w, const char *s, size_t n)
{
	for (struct wpp_macro *m = w->macros; m; m = m->next) {
		if (m->name_bytes == n && memcmp(m->name, s, n) == 0) {
			return m;
		}
	}
	return NULL;
}

/* Does a trace call stand in it, perhaps in another macro? Looked up once for each source, which may
 * have trace functions of its own. */
static bool leads_to_call(const struct tracewpp *w, struct wpp_macro *m)
{
	if (m->asked == w->source_number) {
		return m->leads;
	}
	m->asked = w->source_number;
	m->leads = false; /* also for itself in itself */
	const char *end = m->text + strlen(m->text);
	for (const char *s = m->text; s < end && !m->leads;) {
		size_t n = word_start(*s) ? word_bytes(s, end) : 0;
		if (n == 0) {
			s = behind(s, end);
			continue;
		}
		struct wpp_macro *inner = named(w, s, n);
		m->leads = wpp_function_find(w, s, n) || (inner && leads_to_call(w, inner));
		s += n;
	}
	return m->leads;
}

const struct wpp_macro *wpp_macro_find(const struct tracewpp *w, const char *s, size_t n)
{
	struct wpp_macro *m = named(w, s, n);
	return m && leads_to_call(w, m) ? m : NULL;
}

static void trim(const char **s, const char **end)
{
	*s = blanks(*s, *end);
	while (*end > *s && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\n' || (*end)[-1] == '\r')) {
		--*end;
	}
}

/* The text of an argument as a literal, with one blank for many. */
static void quote(const char *s, const char *end, struct strbuf *out)
{
	strbuf_addc(out, '"');
	while (s && s < end) {
		const char *e = behind(s, end), *b = blanks(s, end);
		if (b > s) {
			strbuf_addc(out, ' ');
			s = b;
			continue;
		}
		for (bool literal = *s == '"' || *s == '\''; s < e; s++) {
			if (literal && (*s == '"' || *s == '\\')) {
				strbuf_addc(out, '\\');
			}
			strbuf_addc(out, *s);
		}
	}
	strbuf_addc(out, '"');
}

bool wpp_macro_expand(const struct wpp_macro *m, const char *args, const char *end, struct strbuf *out)
{
	const char *from[PARAMS_MAX] = {NULL}, *to[PARAMS_MAX] = {NULL};
	size_t count = 0;
	int depth = 0;
	const char *s = args, *start = args;
	for (; m->takes && s <= end; s = s < end ? behind(s, end) : s + 1) {
		bool last = s == end;
		if (last || (*s == ',' && depth == 0 && !(m->variadic && count + 1 == m->count))) {
			if (count < m->count) {
				from[count] = start;
				to[count] = s;
				trim(&from[count], &to[count]);
			}
			count++;
			start = s + 1;
			continue;
		}
		depth += *s == '(' || *s == '[' || *s == '{';
		depth -= *s == ')' || *s == ']' || *s == '}';
	}
	const char *text_end = m->text + strlen(m->text);
	for (s = m->text; s < text_end;) {
		if (*s == '#') {
			const char *name = blanks(s + 1, text_end);
			size_t k = name < text_end && word_start(*name) ? word_bytes(name, text_end) : 0, p = 0;
			while (k && p < m->count && !same(m->params[p], name, k)) {
				p++;
			}
			if (text_end - s >= 2 && s[1] == '#') { /* what stands on both sides becomes one */
				while (out->len && strchr(" \t", out->s[out->len - 1])) {
					out->s[--out->len] = 0;
				}
				s = blanks(s + 2, text_end);
				continue;
			}
			if (k && p < m->count) {
				quote(from[p], to[p], out);
				s = name + k;
				continue;
			}
		}
		size_t n = word_start(*s) ? word_bytes(s, text_end) : 0, i = 0;
		while (n && i < m->count && !same(m->params[i], s, n)) {
			i++;
		}
		if (n && i < m->count) {
			if (from[i] && to[i] > from[i]) {
				strbuf_add(out, from[i], (size_t)(to[i] - from[i]));
			} else if (out->len && strcmp(m->params[i], "__VA_ARGS__") == 0) {
				/* , ##__VA_ARGS__ and Microsoft's compiler: the comma goes, too */
				while (out->len && strchr(" \t", out->s[out->len - 1])) {
					out->s[--out->len] = 0;
				}
				if (out->len && out->s[out->len - 1] == ',') {
					out->s[--out->len] = 0;
				}
			}
			s += n;
			continue;
		}
		const char *next = n ? s + n : behind(s, text_end);
		strbuf_add(out, s, (size_t)(next - s));
		s = next;
	}
	for (char *c = out->s; c && *c; c++) {
		*c = *c == '\n' || *c == '\r' ? ' ' : *c; /* all of it is one line */
	}
	return !out->failed;
}
