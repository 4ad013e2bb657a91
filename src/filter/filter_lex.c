/* SPDX-License-Identifier: MIT
 *
 * The tokens of a filter: names, operators, values, regular expressions.
 */
#include "filter/filter_parser.h"

#include "base/nearest.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PATTERN_MAX 4096u

/* ---- tokens ---------------------------------------------------------------------------------- */

uint32_t filter_fail(struct parser *p, const char *at, const char *why)
{
	if (p->err == 0) {
		p->err = -EINVAL;
		if (p->d) {
			p->d->column = (uint32_t)(at - p->text) + 1;
		}
		diag_at(p->d, UINT64_MAX, "%s", why);
	}
	return 0;
}

uint32_t filter_fail_with(struct parser *p, const char *at, struct strbuf *why)
{
	if (why->failed && p->err == 0) {
		p->err = -ENOMEM;
	}
	filter_fail(p, at, why->s ? why->s : "");
	strbuf_finish(why);
	return 0;
}

void filter_expect(struct parser *p, enum filter_expects what, const char *name, bool in_list)
{
	if (p->each && p->err == 0) {
		struct filter_expectation e = {what, p->at, name, in_list, p->parentheses > 0};
		p->each(p->ctx, &e);
	}
}

struct filter_span filter_span_of(const struct parser *p, const char *from, const char *to)
{
	return (struct filter_span){(uint32_t)(from - p->text), (uint32_t)(to - from)};
}

/* Behind a token. */
void filter_blanks(struct parser *p)
{
	p->end = p->at;
	while (isspace((unsigned char)*p->at)) {
		p->at++;
	}
}

bool filter_word_byte(char c, const char *more)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr(more, c));
}

bool filter_keyword(struct parser *p, const char *word)
{
	size_t n = strlen(word);
	if (strncasecmp(p->at, word, n) != 0 || filter_word_byte(p->at[n], "_.")) {
		return false;
	}
	p->at += n;
	filter_blanks(p);
	return true;
}

bool filter_symbol(struct parser *p, const char *s)
{
	size_t n = strlen(s);
	if (strncmp(p->at, s, n) != 0) {
		return false;
	}
	p->at += n;
	filter_blanks(p);
	return true;
}

char *filter_copy(struct parser *p, const char *s, size_t n)
{
	char *r = strndup(s, n);
	if (!r) {
		p->err = -ENOMEM;
	}
	return r;
}

char *filter_parse_name(struct parser *p, bool *ret_payload)
{
	const char *start = p->at;
	filter_expect(p, FILTER_EXPECTS_NAME, NULL, false);
	*ret_payload = p->payload;
	if (*p->at == '[') {
		const char *end = strchr(p->at, ']');
		if (!end || end == p->at + 1) {
			filter_fail(p, start, end ? "no field name between the brackets" : "']' is missing");
			return NULL;
		}
		*ret_payload = true;
		p->at = end + 1;
		filter_blanks(p);
		return filter_copy(p, start + 1, (size_t)(end - start - 1));
	}
	if (*p->at == '.') {
		*ret_payload = true;
		start = ++p->at;
	}
	while (filter_word_byte(*p->at, FILTER_NAME_BYTES)) {
		p->at++;
	}
	if (p->at == start) {
		filter_fail(p, start, *start ? "a field name is expected here" : "the expression ends too early");
		return NULL;
	}
	char *r = filter_copy(p, start, (size_t)(p->at - start));
	filter_blanks(p);
	return r;
}

static char *parse_quoted(struct parser *p)
{
	const char *start = p->at;
	struct strbuf b = {0};
	strbuf_adds(&b, "");
	for (p->at++; *p->at && *p->at != *start; p->at++) {
		if (*p->at == '\\' && (p->at[1] == *start || p->at[1] == '\\')) {
			p->at++;
		}
		strbuf_addc(&b, *p->at);
	}
	if (*p->at == 0) {
		strbuf_finish(&b);
		filter_fail(p, start, "the closing quote is missing");
		return NULL;
	}
	p->at++;
	filter_blanks(p);
	char *r = b.failed ? NULL : filter_copy(p, b.s ? b.s : "", b.len);
	p->err = b.failed ? -ENOMEM : p->err;
	strbuf_finish(&b);
	return r;
}

/* Is here the ".." of a range? In a path a slash stands beside it. */
static bool at_range(const char *s, const char *start)
{
	return s > start && s[0] == '.' && s[1] == '.' && s[2] != '.' && !strchr("./\\", s[-1]) && s[2] != '/' &&
	       s[2] != '\\';
}

bool filter_parse_value(struct parser *p, const char *name, bool in_list, bool range, struct written *ret)
{
	const char *start = p->at;
	filter_expect(p, FILTER_EXPECTS_VALUE, name, in_list);
	*ret = (struct written){.at = start, .quoted = *start == '"' || *start == '\''};
	if (ret->quoted) {
		ret->text = parse_quoted(p);
		return ret->text != NULL;
	}
	/* Inside a word = may stand, too, as it does in what is behind the ? of a URL. */
	while ((filter_word_byte(*p->at, FILTER_VALUE_BYTES) || (p->at > start && *p->at == '=')) &&
	       !(range && at_range(p->at, start))) {
		p->at++;
	}
	if (p->at == start) {
		filter_fail(p, start, "a value is expected here: a number, a word, or \"text\"");
		return false;
	}
	ret->text = filter_copy(p, start, (size_t)(p->at - start));
	filter_blanks(p);
	return ret->text != NULL;
}

/* ---- regular expressions --------------------------------------------------------------------- */

/* Behind the pattern that begins at s, where the slash is. NULL: it does not end. */
static const char *pattern_end(const char *s)
{
	for (; *s && *s != '/'; s++) {
		s += *s == '\\' && s[1];
	}
	return *s ? s : NULL;
}

bool filter_at_regex(const struct parser *p)
{
	const char *end = *p->at == '/' && p->at[1] != '/' ? pattern_end(p->at + 1) : NULL;
	if (!end) {
		return false;
	}
	end += end[1] == 'i' ? 2 : 1;
	return *end == 0 || isspace((unsigned char)*end) || *end == ')' || *end == ',';
}

/* Where the k-th byte of a pattern stands in the text; `escaped`: what a backslash in the text hides. */
static const char *source_of(const char *s, size_t k, char escaped)
{
	for (; k > 0 && *s; k--) {
		bool pair = *s == '\\' && (s[1] == '/' || s[1] == escaped || (escaped != '/' && s[1] == '\\'));
		s += pair ? 2 : 1;
	}
	return s;
}

/* "\/" means "/", however the pattern was written. In place; false: a backslash ends it. */
static bool plain_slashes(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (*s == '\\' && s[1] == 0) {
			return false;
		}
		if (*s == '\\' && s[1] != '/') {
			*to++ = *s++;
		} else if (*s == '\\') {
			s++;
		}
		*to++ = *s;
	}
	*to = 0;
	return true;
}

static void compile(struct parser *p, struct filter_node *n, const char *at, char delimiter)
{
	struct diag why = {0};
	size_t offset = 0;
	int err = p->regex->compile(n->value, strlen(n->value), n->nocase, &n->regex, &offset, &why);
	if (err == -ENOMEM) {
		p->err = err;
	} else if (err < 0) {
		filter_fail(p, err == -EINVAL ? source_of(at, offset, delimiter) : at, why.text);
	}
}

bool filter_parse_regex(struct parser *p, struct filter_node *n)
{
	const char *start = p->at, *end;
	char delimiter = *start;
	if (delimiter == '"' || delimiter == '\'') {
		n->value = parse_quoted(p);
	} else if (delimiter != '/') {
		filter_fail(p, start, "a regular expression is expected here: /pattern/, /pattern/i or \"pattern\"");
	} else if ((end = pattern_end(start + 1)) == NULL) {
		filter_fail(p, start, "the '/' that ends the regular expression is missing");
	} else {
		n->value = filter_copy(p, start + 1, (size_t)(end - start - 1));
		for (p->at = end + 1; isalnum((unsigned char)*p->at); p->at++) {
			if (*p->at != 'i') {
				filter_fail(p, p->at, "the only flag of a regular expression is i, which ignores case");
				return false;
			}
			n->nocase = true;
		}
		filter_blanks(p);
	}
	if (!n->value) {
		return false;
	}
	size_t bytes = strlen(n->value);
	if (bytes == 0 || bytes > PATTERN_MAX) {
		filter_fail(p, start,
			    bytes ? "the regular expression is longer than 4096 bytes"
				  : "the regular expression is empty");
	} else if (!plain_slashes(n->value)) {
		filter_fail(p, start, "the regular expression ends in a backslash");
	} else if (p->regex) {
		compile(p, n, start + 1, delimiter);
	}
	n->value_at = filter_span_of(p, start, p->end > start ? p->end : start);
	return p->err == 0;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* In the order in which they are tried: the longer of two that begin alike stands first. */
static const struct {
	const char *word;
	enum filter_test test;
	bool letters;
} operators[] = {
	{"=~", FILTER_TEST_REGEX, false},       {"==", FILTER_TEST_EQ, false},
	{"!=", FILTER_TEST_NE, false},          {"!~", FILTER_TEST_NOT_LIKE, false},
	{"<=", FILTER_TEST_LE, false},          {">=", FILTER_TEST_GE, false},
	{"=", FILTER_TEST_EQ, false},           {"<", FILTER_TEST_LT, false},
	{">", FILTER_TEST_GT, false},           {"~", FILTER_TEST_LIKE, false},
	{"&", FILTER_TEST_BITS, false},         {"%", FILTER_TEST_DIVISIBLE, false},
	{"between", FILTER_TEST_BETWEEN, true}, {"outside", FILTER_TEST_OUTSIDE, true},
	{"isnot", FILTER_TEST_NE, true},        {"is", FILTER_TEST_EQ, true},
	{"matches", FILTER_TEST_REGEX, true},   {"has", FILTER_TEST_HAS, true},
	{"!~", FILTER_TEST_NOT_REGEX, false}, /* told from "does not contain" by what follows */
};

const char *filter_test_word(enum filter_test test)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(operators); i++) {
		if (operators[i].test == test) {
			return operators[i].word;
		}
	}
	return "";
}

bool filter_parse_operator(struct parser *p, struct filter_node *n)
{
	const char *start = p->at;
	size_t signs = strspn(start, "=<>!~");
	for (size_t i = 0; i < BASE_ARRAY_LEN(operators); i++) {
		/* "=" does not begin "=>". */
		bool not_one = (operators[i].test == FILTER_TEST_BITS && strncmp(p->at, "&&", 2) == 0) ||
			       (signs && strlen(operators[i].word) != signs);
		if (!not_one && (operators[i].letters ? filter_keyword(p, operators[i].word)
						      : filter_symbol(p, operators[i].word))) {
			n->type = FILTER_NODE_TEST;
			n->test = operators[i].test;
			n->op = filter_span_of(p, start, p->end);
			return true;
		}
	}
	return false;
}

void filter_check_no_operator(struct parser *p)
{
	static const char *const words[] = {"between", "outside", "is",  "isnot", "in", "not in",
					    "matches", "has",     "and", "or",    NULL};
	static const struct {
		const char *word, *ours;
	} others[] = {
		{"=>", ">="},        {"=<", "<="},    {"<>", "!="},      {"===", "=="},     {"!==", "!="},
		{"~=", "=~"},        {"eq", "=="},    {"ne", "!="},      {"lt", "<"},       {"gt", ">"},
		{"le", "<="},        {"ge", ">="},    {"like", "~"},     {"contains", "~"}, {"equals", "=="},
		{"startswith", "~"}, {"regex", "=~"}, {"includes", "~"}, {"endswith", "~"}, {"xor", "and"},
	};
	const char *end = p->at;
	char word[32];
	if (isalpha((unsigned char)*end)) {
		end += strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	} else {
		end += strspn(end, "=<>!~^+*|&");
	}
	size_t n = (size_t)(end - p->at);
	snprintf(word, sizeof word, "%.*s", (int)BASE_MIN(n, sizeof word - 1), p->at);
	if (n == 0 || strcasecmp(word, "and") == 0 || strcasecmp(word, "or") == 0 || strncmp(word, "&&", 2) == 0 ||
	    strncmp(word, "||", 2) == 0) {
		return;
	}
	const char *near = NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(others) && !near; i++) {
		near = strcasecmp(word, others[i].word) == 0 ? others[i].ours : NULL;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(others) && !near && n > 3; i++) { /* "contians" */
		const char *one[] = {others[i].word, NULL};
		near = nearest_of(word, one) ? others[i].ours : NULL;
	}
	near = near ? near : nearest_of(word, words);
	struct strbuf why = {0};
	strbuf_addf(&why, "no operator '%s'", word);
	strbuf_addf(&why, near ? "; did you mean '%s'?" : "; such as == != < > ~ =~ in, or 'and', 'or' and the end",
		    near);
	filter_fail_with(p, p->at, &why);
}
