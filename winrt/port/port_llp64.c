/* SPDX-License-Identifier: MIT
 *
 * A long of 32 bits. No compiler of this system has one together with this system's libraries, so
 * the preprocessed source is changed: "unsigned long" is written as "unsigned int", while "long
 * long" and "long double" stay, and literals get the type they have on Windows. Headers of the
 * system keep their long, because the libraries were compiled with it.
 */
#include "port.h"

#include "port_text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A run of words that may make one type: "static unsigned long int". Where its `long`s stand in it.
 */
struct run {
	struct port_text text;
	size_t longs[8];
	size_t long_count;
	bool is_double, has_int;
};

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
	static const char *const words[] = {"long",     "unsigned",  "signed", "int",      "double",   "const",
					    "volatile", "static",    "extern", "inline",   "register", "short",
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
	port_text_add(&r->text, p, n);
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

static void convert(const char *p, const char *end, char **foreign, int count)
{
	struct run run = {0};
	struct port_where at = port_where(foreign, count);
	bool line_start = true;
	while (p < end) {
		const char *from = p;
		enum port_kind kind;
		p = port_piece(p, end, line_start, &kind);
		size_t n = (size_t)(p - from);
		if (kind == PORT_SPACE || kind == PORT_DIRECTIVE) {
			line_start = kind == PORT_SPACE && (line_start || *from == '\n');
			if (kind == PORT_DIRECTIVE) {
				port_where_line(&at, from, n);
			}
			/* inside of a run it stays where it is */
			port_text_add(&run.text, from, n);
			continue;
		}
		line_start = false;
		if (at.own && kind == PORT_WORD && is_type_word(from, n)) {
			run_word(&run, from, n);
			continue;
		}
		run_flush(&run);
		if (at.own && kind == PORT_NUMBER) {
			put_number(from, n);
		} else {
			put(from, n);
		}
	}
	run_flush(&run);
	free(run.text.p);
}

int port_llp64(char **foreign, int count)
{
	struct port_text in = {0};
	port_text_read(&in);
	convert(in.p + 1, in.p + in.len, foreign, count);
	free(in.p);
	if (ferror(stdin) || fflush(stdout) != 0) {
		perror("openetw-port llp64");
		return 1;
	}
	return 0;
}
