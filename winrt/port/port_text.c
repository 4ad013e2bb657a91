/* SPDX-License-Identifier: MIT
 *
 * Pieces of preprocessed sources.
 */
#include "port_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void port_text_add(struct port_text *t, const char *p, size_t n)
{
	if (t->len + n + 1 > t->cap) {
		t->cap = (t->len + n + 1) * 2;
		t->p = realloc(t->p, t->cap);
		if (!t->p) {
			fputs("openetw-port: out of memory\n", stderr);
			exit(1);
		}
	}
	memcpy(t->p + t->len, p, n);
	t->len += n;
	t->p[t->len] = 0;
}

void port_text_read(struct port_text *t)
{
	char block[65536];
	port_text_add(t, "\n", 1);
	for (size_t n; (n = fread(block, 1, sizeof block, stdin)) > 0;) {
		port_text_add(t, block, n);
	}
}

struct port_where port_where(char **foreign, int count)
{
	return (struct port_where){.foreign = foreign, .count = count, .own = true};
}

void port_where_line(struct port_where *w, const char *line, size_t n)
{
	const char *p = line + 1, *end = line + n;
	while (p < end && *p == ' ') {
		p++;
	}
	if (p == end || !isdigit((unsigned char)*p)) {
		return; /* a #pragma */
	}
	const char *open = memchr(p, '"', (size_t)(end - p));
	if (!open) {
		return;
	}
	const char *close = open + 1;
	while (close < end && *close != '"') {
		close += *close == '\\' && close + 1 < end ? 2 : 1;
	}
	const char *file = open + 1;
	size_t bytes = (size_t)(close - file);
	bool system = false, begins = false;
	for (const char *flag = close; flag < end; flag++) {
		system = system || *flag == '3';
		begins = begins || *flag == '1' || *flag == '2';
	}
	/* gcc calls what a system header's macro makes in our file the system's. */
	if (!begins && w->file && bytes == w->file_bytes && memcmp(file, w->file, bytes) == 0) {
		return;
	}
	w->file = file;
	w->file_bytes = bytes;
	w->own = !system;
	for (int i = 0; i < w->count && w->own; i++) {
		size_t f = strlen(w->foreign[i]);
		w->own = bytes <= f || memcmp(file, w->foreign[i], f) != 0;
	}
}

/* The end of the literal that begins at the quote `p`. */
static const char *skip_quoted(const char *p, const char *end)
{
	char quote = *p++;
	while (p < end && *p != quote && *p != '\n') {
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	}
	return p < end ? p + 1 : end;
}

/* R"x( … )x" */
static const char *skip_raw(const char *p, const char *end)
{
	const char *open = memchr(p, '(', (size_t)(end - p));
	size_t n = open ? (size_t)(open - p - 1) : 0;
	if (!open || n > 16) {
		return skip_quoted(p, end);
	}
	for (const char *q = open; q + n + 2 <= end; q++) {
		if (*q == ')' && memcmp(q + 1, p + 1, n) == 0 && q[n + 1] == '"') {
			return q + n + 2;
		}
	}
	return end;
}

static bool is_word_char(int c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 128;
}

/* A number of the preprocessor, in which a sign may follow an exponent's letter. */
static const char *skip_number(const char *p, const char *end)
{
	while (p < end && (is_word_char((unsigned char)*p) || *p == '.' ||
			   (*p == '\'' && p + 1 < end && is_word_char((unsigned char)p[1])) ||
			   ((*p == '+' || *p == '-') && strchr("eEpP", p[-1])))) {
		p++;
	}
	return p;
}

const char *port_piece(const char *p, const char *end, bool line_start, enum port_kind *ret_kind)
{
	unsigned char c = (unsigned char)*p;
	if (line_start && c == '#') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		*ret_kind = PORT_DIRECTIVE;
		return nl ? nl : end;
	}
	if (isspace(c)) {
		*ret_kind = PORT_SPACE;
		return p + 1;
	}
	if (c == '"' || c == '\'') {
		*ret_kind = PORT_LITERAL;
		return c == '"' && p[-1] == 'R' ? skip_raw(p, end) : skip_quoted(p, end);
	}
	if (isdigit(c)) {
		*ret_kind = PORT_NUMBER;
		return skip_number(p, end);
	}
	if (is_word_char(c)) {
		*ret_kind = PORT_WORD;
		while (p < end && is_word_char((unsigned char)*p)) {
			p++;
		}
		return p;
	}
	*ret_kind = PORT_OTHER;
	return p + 1;
}
