/* SPDX-License-Identifier: MIT
 * Any bytes as a filter. What parses is evaluated against fields made of the same bytes, printed and parsed again,
 * and compiled for a session, which then accepts its bytes. What may come next is asked at a place in the text.
 */
#include "filter/filter_compile.h"
#include "filter/filter_complete.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START 132756731759801567u

static const struct guid provider = {{1, 2, 3}};

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	const char *text = ctx;
	size_t n = strlen(text);
	size_t at = (size_t)(unsigned char)name[0] % (n + 1);
	uint32_t index = ret->index;
	*ret = (struct filter_expr_value){text + at, n - at, payload, n, index};
	return name[0] != 'x' && index < 3;
}

static void must(bool ok)
{
	if (!ok) {
		abort();
	}
}

/* A report points into the text and says something. */
static void check_report(const struct diag *d, const char *text)
{
	must(d->text[0] && d->column > 0 && d->column <= strlen(text) + 1);
}

/* An engine that takes every pattern and finds it where it stands. */
static int regex_compile(const char *pattern, size_t n, bool nocase, void **ret, size_t *ret_at, struct diag *d)
{
	if (n % 7 == 6) { /* some are mistakes, at any byte of them */
		*ret_at = (unsigned char)pattern[0] % (n + 1);
		diag_at(d, UINT64_MAX, "the pattern is wrong");
		return -EINVAL;
	}
	*ret = strndup(pattern, n);
	(void)nocase;
	return *ret ? 0 : -ENOMEM;
}

static int regex_match(void *regex, const char *text, size_t n)
{
	return filter_bytes_contain(text, n, regex, strlen(regex));
}

static uint64_t regex_given_up(const void *regex)
{
	(void)regex;
	return 0;
}

static const struct filter_regex_engine engine = {regex_compile, regex_match, regex_given_up, free};
static const struct filter_dialect dialect = {.regex = &engine};

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_number(const struct filter_number *a, const struct filter_number *b)
{
	return a->valid == b->valid && a->is_int == b->is_int && a->negative == b->negative && a->unit == b->unit &&
	       a->magnitude == b->magnitude && a->relative == b->relative &&
	       memcmp(&a->real, &b->real, sizeof a->real) == 0;
}

/* The same tree; where things stood in the text may differ. */
static void must_be_same(const struct filter_expr *f, uint32_t i, const struct filter_expr *g, uint32_t k)
{
	const struct filter_node *a = &f->nodes[i], *b = &g->nodes[k];
	must(a->type == b->type && a->property == b->property && a->payload == b->payload);
	if (a->type == FILTER_NODE_AND || a->type == FILTER_NODE_OR || a->type == FILTER_NODE_NOT) {
		must_be_same(f, a->left, g, b->left);
	}
	if (a->type == FILTER_NODE_AND || a->type == FILTER_NODE_OR) {
		must_be_same(f, a->right, g, b->right);
	}
	must(a->test == b->test && a->nocase == b->nocase && a->event == b->event && a->quoted == b->quoted &&
	     a->high_quoted == b->high_quoted && same_text(a->name, b->name) && same_text(a->value, b->value) &&
	     same_text(a->high, b->high) && same_number(&a->number, &b->number) &&
	     same_number(&a->high_number, &b->high_number) && !a->regex == !b->regex);
}

/* What is unknown is not decided otherwise by what is found out. */
static enum filter_answer try_lookup(void *ctx, const struct filter_node *n, struct filter_expr_value *ret)
{
	if (n->name[0] % 3 == 0) {
		return FILTER_VALUE_UNKNOWN;
	}
	return lookup(ctx, n->name, n->payload, ret) ? FILTER_VALUE_PRESENT : FILTER_VALUE_ABSENT;
}

static void split(const struct filter_expr *f, char *text)
{
	uint32_t part[FILTER_CONJUNCTS_MAX];
	size_t n = filter_expr_conjuncts(f, part);
	enum filter_truth all = FILTER_YES, whole = filter_expr_try(f, try_lookup, text);
	must(n > 0 && n <= FILTER_CONJUNCTS_MAX);
	for (size_t i = 0; i < n; i++) {
		enum filter_truth one = filter_expr_try_part(f, part[i], try_lookup, text);
		must(filter_expr_asks(f, part[i]) != 0);
		all = one == FILTER_NO || all == FILTER_NO ? FILTER_NO : one == FILTER_UNKNOWN ? one : all;
	}
	must(all == whole);
	must(whole == FILTER_UNKNOWN || filter_expr_match(f, lookup, text) == (whole == FILTER_YES));
}

static void print_and_parse(struct filter_expr *f, char *text)
{
	struct strbuf once = {0}, twice = {0};
	struct filter_expr *again = NULL;
	filter_expr_print(f, &once);
	must(!once.failed && filter_expr_parse_in(&dialect, once.s, &again, NULL) == 0 && again->count == f->count);
	must_be_same(f, f->root, again, again->root);
	filter_expr_set_start(f, START, 0);
	filter_expr_set_start(again, START, 0);
	filter_expr_print(again, &twice);
	must(strcmp(once.s, twice.s) == 0 &&
	     filter_expr_match(again, lookup, text) == filter_expr_match(f, lookup, text));
	filter_expr_destroy(again);
	strbuf_finish(&once);
	strbuf_finish(&twice);
}

static void take(struct filter_select *s, uint32_t type, const uint8_t *p, size_t n)
{
	must(n == 0 || filter_select_add(s, &provider, (uint32_t)type, p, n, NULL) == 0);
}

static void compile(const struct filter_expr *f, const char *text)
{
	static uint8_t ids[FILTER_BYTES_MAX], names[FILTER_BYTES_MAX], payload[FILTER_BYTES_MAX];
	struct filter_plan plan;
	struct diag d = {0};
	int err = filter_compile(f, &plan, &d);
	if (err < 0) {
		check_report(&d, text);
		return;
	}
	size_t n = 0, m = 0, k = 0;
	err = filter_plan_ids(&plan, ids, &n, &d);
	err = err < 0 ? err : filter_plan_names(&plan, names, &m, &d);
	err = err < 0 ? err : filter_plan_payload(&plan, &provider, payload, &k, &d);
	if (err < 0) {
		must(d.text[0] && d.column <= strlen(text) + 1);
	} else {
		struct filter_select s = {0};
		take(&s, EVENT_FILTER_TYPE_EVENT_ID, ids, n);
		take(&s, EVENT_FILTER_TYPE_EVENT_NAME, names, m);
		take(&s, EVENT_FILTER_TYPE_PAYLOAD, payload, k);
	}
	filter_plan_finish(&plan);
}

static bool completion(void *ctx, const struct filter_completion *c)
{
	const size_t *cursor = ctx;
	must(c->text[0] && (size_t)c->replaces.at + c->replaces.bytes <= *cursor);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const words[] = {"Number", "Odd name", "a]b", "", "\"q\\", NULL};
	static const struct filter_vocabulary vocabulary = {NULL, words, words, words, words};
	char *text = malloc(size + 1);
	struct filter_expr *f = NULL;
	struct filter_clause clause;
	struct filter_conditions conditions;
	struct diag d;
	if (!text) {
		return 0;
	}
	if (size) {
		memcpy(text, data, size);
	}
	text[size] = 0;
	diag_clear(&d);
	if (filter_expr_parse_in(&dialect, text, &f, &d) == 0) {
		struct filter_expr *plain = NULL;
		must(filter_expr_parse(text, &plain, NULL) == 0); /* patterns alone make no mistakes */
		filter_expr_destroy(plain);
		must(filter_expr_given_up(f) == 0);
		print_and_parse(f, text);
		split(f, text);
		compile(f, text);
		filter_expr_destroy(f);
	} else {
		check_report(&d, text);
	}
	diag_clear(&d);
	if (filter_clause_parse(text, &clause, &d) == 0) {
		diag_clear(&d);
		if (filter_conditions_of(clause.expr, &conditions, &d) < 0) {
			check_report(&d, text);
		}
		filter_clause_finish(&clause);
	} else {
		check_report(&d, text);
	}
	size_t length = strlen(text), cursor = size ? data[size - 1] % (length + 1) : 0;
	filter_complete(text, cursor, &vocabulary, completion, &cursor);
	free(text);
	return 0;
}
