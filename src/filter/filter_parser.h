/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the parser, filter_parse.c and filter_lex.c.
 */
#ifndef FILTER_FILTER_PARSER_H
#define FILTER_FILTER_PARSER_H

#include "filter/filter_parse.h"

struct parser {
	const char *text, *at;
	const char *end; /* of the last token */
	struct filter_expr *f;
	struct diag *d;
	int err;
	int depth;
	unsigned parentheses;
	bool payload; /* all names mean payload fields */
	const char *const *names;
	const struct filter_regex_engine *regex;
	filter_expectation_fn *each;
	void *ctx;
};
/* A value as it was written. */
struct written {
	char *text;
	const char *at;
	bool quoted;
};

/* Keeps the first mistake; returns 0, the number of no node. */
uint32_t filter_fail(struct parser *p, const char *at, const char *why);
/* The same with what was collected; finishes it. */
uint32_t filter_fail_with(struct parser *p, const char *at, struct strbuf *why);
void filter_expect(struct parser *p, enum filter_expects what, const char *name, bool in_list);
struct filter_span filter_span_of(const struct parser *p, const char *from, const char *to);
void filter_blanks(struct parser *p);
/* Takes it when it stands there. */
bool filter_keyword(struct parser *p, const char *word);
bool filter_symbol(struct parser *p, const char *s);
char *filter_copy(struct parser *p, const char *s, size_t n);

char *filter_parse_name(struct parser *p, bool *ret_payload);
/* `range`: ".." ends a word. */
bool filter_parse_value(struct parser *p, const char *name, bool in_list, bool range, struct written *ret);
/* Does a regular expression stand here, and not a word that begins with a slash? */
bool filter_at_regex(const struct parser *p);
/* /pattern/flags or a quoted pattern, into the node. */
bool filter_parse_regex(struct parser *p, struct filter_node *n);
/* The operator of a test; false: none is there. */
bool filter_parse_operator(struct parser *p, struct filter_node *n);
/* What stands here instead of an operator, if that is a mistake. */
void filter_check_no_operator(struct parser *p);

#endif
