/* SPDX-License-Identifier: MIT */
#include "tools/openetw/sql_rewrite.h"

#include "base/base.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#define TOKENS_MAX 4096u

enum kind { WORD, NUMBER, SIGN, OTHER };
struct token {
	enum kind kind;
	const char *p;
	size_t n;
};

static bool is(const struct token *t, const char *text)
{
	return strlen(text) == t->n && strncasecmp(t->p, text, t->n) == 0;
}

static bool one_of(const struct token *t, const char *const *list)
{
	for (; *list; list++) {
		if (is(t, *list)) {
			return true;
		}
	}
	return false;
}

static const char *skip_quoted(const char *p)
{
	char quote = *p++;
	while (*p && (*p != quote || p[1] == quote)) {
		p += *p == quote ? 2 : 1;
	}
	return *p ? p + 1 : p;
}

/* What is between the words; NULL: a comment, whose end is not looked for. */
static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p)) {
		p++;
	}
	return (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*') ? NULL : p;
}

/* 0: too many, or with comments. */
static size_t tokens_of(const char *p, struct token *list)
{
	size_t n = 0;
	while ((p = skip_blanks(p)) != NULL && *p && n < TOKENS_MAX) {
		struct token t = {OTHER, p, 1};
		const char *end = p + 1;
		if (isalpha((unsigned char)*p) || *p == '_') {
			t.kind = WORD;
			while (isalnum((unsigned char)*end) || *end == '_') {
				end++;
			}
		} else if (isdigit((unsigned char)*p)) {
			while (isalnum((unsigned char)*end) || *end == '.' || *end == '_') {
				end++;
			}
			t.kind = NUMBER;
			for (const char *q = p; q < end; q++) { /* 1.5, 0x10, 1e9 and 1_000 are left alone */
				t.kind = isdigit((unsigned char)*q) ? t.kind : OTHER;
			}
		} else if (*p == '\'' || *p == '"') {
			end = skip_quoted(p);
		} else if (strchr("<>=!:-+*/", *p)) {
			t.kind = SIGN;
			while (*end && strchr("<>=", *end)) {
				end++;
			}
		}
		t.n = (size_t)(end - p);
		list[n++] = t;
		p = end;
	}
	return p && !*p ? n : 0;
}

/* Words with which a query is more than one SELECT over one table with conditions that all hold; an alias could stand
 * for something else. */
static const char *const unsafe[] = {"or",      "union",  "intersect",  "except",      "join",   "with",
				     "not",     "case",   "exists",     "any",         "some",   "all_of",
				     "qualify", "create", "insert",     "update",      "delete", "pivot",
				     "unpivot", "asof",   "positional", "tablesample", "window", "lateral",
				     "explain", "copy",   "summarize",  NULL};
static const char *const ends[] = {"group", "order", "limit", "having", "offset", "using", ";", NULL};
static const char *const tables[] = {"events", "samples", "switches", "net", "faults", "memory", NULL};

struct bounds {
	bool has_from, has_to;
	int64_t from, to;
};

static bool number_at(const struct token *t, size_t n, size_t i, int64_t *ret)
{
	if (i >= n || t[i].kind != NUMBER || t[i].n > 18) {
		return false;
	}
	*ret = strtoll(t[i].p, NULL, 10);
	return true;
}

/* The condition behind WHERE or AND, if it is about times. The number of its tokens; 0: it is about something else. */
static size_t take_condition(const struct token *t, size_t n, size_t i, struct bounds *b)
{
	int64_t v, w;
	if (i + 2 >= n || !is(&t[i], "time")) {
		return 0;
	}
	if (is(&t[i + 1], "between") && number_at(t, n, i + 2, &v) && i + 4 < n && is(&t[i + 3], "and") &&
	    number_at(t, n, i + 4, &w)) {
		b->from = b->has_from ? BASE_MAX(b->from, v) : v;
		b->to = b->has_to ? BASE_MIN(b->to, w) : w;
		b->has_from = b->has_to = true;
		return 5;
	}
	if (t[i + 1].kind != SIGN || !number_at(t, n, i + 2, &v)) {
		return 0;
	}
	if (is(&t[i + 1], ">=") || is(&t[i + 1], ">")) {
		b->from = b->has_from ? BASE_MAX(b->from, v) : v;
		b->has_from = true;
		return 3;
	}
	if (is(&t[i + 1], "<=") || is(&t[i + 1], "<")) {
		b->to = b->has_to ? BASE_MIN(b->to, v) : v;
		b->has_to = true;
		return 3;
	}
	return 0;
}

/* Behind a number that ends a condition stands nothing that makes it part of a larger expression. */
static bool ends_here(const struct token *t, size_t n, size_t i)
{
	return i >= n || is(&t[i], "and") || one_of(&t[i], ends);
}

static void take_conditions(const struct token *t, size_t n, size_t i, struct bounds *b)
{
	int depth = 0;
	bool begins = true;
	for (; i < n && !(depth == 0 && one_of(&t[i], ends)); i++) {
		depth += t[i].n == 1 && strchr("([{", *t[i].p) != NULL;
		depth -= t[i].n == 1 && strchr(")]}", *t[i].p) != NULL;
		struct bounds found = *b;
		size_t taken = begins && depth == 0 ? take_condition(t, n, i, &found) : 0;
		if (taken && ends_here(t, n, i + taken)) {
			*b = found;
			i += taken - 1;
			begins = false;
		} else if (depth == 0 && is(&t[i], "between")) {
			i += 2; /* its AND joins no conditions; what follows it is looked at from the next AND on */
			begins = false;
			while (i + 1 < n && !is(&t[i], "and") && !one_of(&t[i], ends)) {
				i++;
			}
		} else {
			begins = depth == 0 && is(&t[i], "and");
		}
	}
}

char *sql_rewrite(const char *text)
{
	struct token *t = calloc(TOKENS_MAX, sizeof *t);
	size_t n = t ? tokens_of(text, t) : 0, table = 0;
	struct bounds b = {0};
	unsigned selects = 0, froms = 0;
	bool safe = n > 0;
	for (size_t i = 0; i < n; i++) {
		selects += is(&t[i], "select");
		safe = safe && !(t[i].kind == WORD && one_of(&t[i], unsafe)) && !(is(&t[i], ";") && i + 1 < n);
		if (is(&t[i], "from")) {
			froms++;
			table = i + 1;
		}
	}
	safe = safe && selects <= 1 && froms == 1 && table + 1 < n && one_of(&t[table], tables);
	size_t where = table + 1;
	safe = safe && is(&t[where], "where");
	/* An output column may be called time, too: then WHERE means that of the table all the same. */
	if (safe) {
		take_conditions(t, n, where + 1, &b);
	}
	char *result = NULL;
	if (safe && (b.has_from || b.has_to)) {
		struct strbuf s = {0};
		const char *end = t[table].p + t[table].n;
		strbuf_add(&s, text, (size_t)(end - text));
		strbuf_addc(&s, '(');
		if (b.has_from) {
			strbuf_addf(&s, "t0 := %" PRId64, b.from);
		}
		if (b.has_to) {
			strbuf_addf(&s, "%st1 := %" PRId64, b.has_from ? ", " : "", b.to);
		}
		strbuf_adds(&s, ")");
		strbuf_adds(&s, end);
		result = s.failed ? NULL : s.s;
		if (s.failed) {
			strbuf_finish(&s);
		}
	}
	free(t);
	return result;
}
