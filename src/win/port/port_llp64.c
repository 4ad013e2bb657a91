/* SPDX-License-Identifier: MIT
 *
 * A long of 32 bits. No compiler of this system has one together with this system's libraries, so
 * the preprocessed source is changed: "unsigned long" is written as "unsigned int", while "long
 * long" and "long double" stay, and literals get the type they have on Windows. Headers of the
 * system keep their long, because the libraries were compiled with it.
 */
#include "port.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char *p;
	size_t len, cap;
};

/* A run of words that may make one type: "static unsigned long int". Where its `long`s stand in it.
 */
struct run {
	struct text text;
	size_t longs[8];
	size_t long_count;
	bool is_double, has_int;
};

static void append(struct text *t, const char *p, size_t n)
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

static void put(const char *p, size_t n)
{
	fwrite(p, 1, n, stdout);
}

static void run_flush(struct run *r)
{
	const char *p = r->text.p;
	size_t at = 0;
	if (r->text.len == 0) {
		return;
	}
	if (r->long_count == 1 && !r->is_double) {
		put(p, r->longs[0]);
		put("int", r->has_int ? 0 : 3);
		at = r->longs[0] + 4;
	}
	put(p + at, r->text.len - at);
	r->text.len = r->long_count = 0;
	r->is_double = r->has_int = false;
}

static bool is_type_word(const char *p, size_t n)
{
	static const char *const words[] = {
		"long",	    "unsigned",	 "signed", "int",      "double",   "const",
		"volatile", "static",	 "extern", "inline",   "register", "short",
		"typedef",  "constexpr", "char",   "_Complex", "mutable"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i]) == n && memcmp(words[i], p, n) == 0) {
			return true;
		}
	}
	return false;
}

static void run_word(struct run *r, const char *p, size_t n)
{
	if (n == 4 && memcmp(p, "long", 4) == 0) {
		if (r->long_count < sizeof r->longs / sizeof r->longs[0]) {
			r->longs[r->long_count++] = r->text.len;
		}
	} else if (n == 6 && memcmp(p, "double", 6) == 0) {
		r->is_double = true;
	} else if (n == 3) { /* the only word of three letters */
		r->has_int = true;
	}
	append(&r->text, p, n);
}

/* An integer literal with the suffix that gives it on LP64 the type it has on LLP64. */
static void put_number(const char *p, size_t n)
{
	char digits[72];
	size_t k = 0, i = 0;
	int base = 10;
	if (n > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16, i = 2;
	} else if (n > 2 && p[0] == '0' && (p[1] | 0x20) == 'b') {
		base = 2, i = 2;
	} else if (p[0] == '0') {
		base = 8;
	}
	for (; i < n && (isxdigit((unsigned char)p[i]) || p[i] == '\''); i++) {
		if (base < 16 && !isdigit((unsigned char)p[i]) && p[i] != '\'') {
			break;
		}
		if (p[i] != '\'' && k < sizeof digits - 1) {
			digits[k++] = p[i];
		}
	}
	digits[k] = 0;
	size_t suffix = i, longs = 0;
	bool is_unsigned = false, integer = true;
	for (; i < n; i++) {
		longs += (p[i] | 0x20) == 'l';
		is_unsigned = is_unsigned || (p[i] | 0x20) == 'u';
		integer = integer && strchr("uUlL", p[i]);
	}
	errno = 0;
	unsigned long long v = strtoull(digits, NULL, base);
	if (!integer || k == 0 || longs > 1 || errno) {
		put(p, n);
		return;
	}
	unsigned long long most = base == 10 && !is_unsigned ? INT_MAX : UINT_MAX;
	put(p, suffix);
	if (is_unsigned || (v > LLONG_MAX && base != 10)) {
		put("U", 1);
	}
	if (v > most) {
		put("LL", 2);
	}
}

/* The line "# 12 "file" 1 3" says where the following text comes from. */
static bool is_own(const char *line, size_t n, char **foreign, int count, bool own)
{
	const char *p = line + 1, *end = line + n;
	while (p < end && *p == ' ') {
		p++;
	}
	if (p == end || !isdigit((unsigned char)*p)) {
		return own; /* a #pragma */
	}
	const char *open = memchr(p, '"', (size_t)(end - p));
	if (!open) {
		return own;
	}
	const char *close = open + 1;
	while (close < end && *close != '"') {
		close += *close == '\\' && close + 1 < end ? 2 : 1;
	}
	size_t len = (size_t)(close - open - 1);
	for (const char *flag = close; flag < end; flag++) {
		if (*flag == '3') {
			return false;
		}
	}
	for (int i = 0; i < count; i++) {
		size_t f = strlen(foreign[i]);
		if (len > f && memcmp(open + 1, foreign[i], f) == 0) {
			return false;
		}
	}
	return true;
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

static void convert(const char *p, const char *end, char **foreign, int count)
{
	struct run run = {0};
	bool own = true, line_start = true;
	while (p < end) {
		const char *from = p;
		unsigned char c = (unsigned char)*p;
		if (line_start && c == '#') {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			p = nl ? nl : end;
			own = is_own(from, (size_t)(p - from), foreign, count, own);
			/* inside of a run it stays where it is */
			append(&run.text, from, (size_t)(p - from));
			line_start = false;
			continue;
		}
		if (isspace(c)) {
			line_start = line_start || c == '\n';
			append(&run.text, p++, 1);
			continue;
		}
		line_start = false;
		if (c == '"' || c == '\'') {
			p = c == '"' && from[-1] == 'R' ? skip_raw(p, end) : skip_quoted(p, end);
			run_flush(&run);
			put(from, (size_t)(p - from));
		} else if (isdigit(c)) {
			p = skip_number(p, end);
			run_flush(&run);
			if (own) {
				put_number(from, (size_t)(p - from));
			} else {
				put(from, (size_t)(p - from));
			}
		} else if (is_word_char(c)) {
			while (p < end && is_word_char((unsigned char)*p)) {
				p++;
			}
			size_t n = (size_t)(p - from);
			if (own && is_type_word(from, n)) {
				run_word(&run, from, n);
			} else {
				run_flush(&run);
				put(from, n);
			}
		} else {
			run_flush(&run);
			put(p++, 1);
		}
	}
	run_flush(&run);
	free(run.text.p);
}

int port_llp64(char **foreign, int count)
{
	struct text in = {0};
	char block[65536];
	append(&in, "\n", 1); /* so that there is always a character before */
	for (size_t n; (n = fread(block, 1, sizeof block, stdin)) > 0;) {
		append(&in, block, n);
	}
	convert(in.p + 1, in.p + in.len, foreign, count);
	free(in.p);
	if (ferror(stdin) || fflush(stdout) != 0) {
		perror("openetw-port llp64");
		return 1;
	}
	return 0;
}
