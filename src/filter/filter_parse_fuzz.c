/* SPDX-License-Identifier: MIT
 * Any bytes as a filter. What parses is evaluated against fields made of the same bytes, printed and parsed again,
 * and compiled for a session, which then accepts its bytes. What may come next is asked at a place in the text.
 */
#include "filter/filter_compile.h"
#include "filter/filter_complete.h"
#include "filter/filter_testing.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct guid provider = {{1, 2, 3}};

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	const char *text = ctx;
	size_t n = strlen(text);
	size_t at = (size_t)(unsigned char)name[0] % (n + 1);
	*ret = (struct filter_expr_value){text + at, n - at, payload, n};
	return name[0] != 'x';
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

static void print_and_parse(const struct filter_expr *f, bool matched, char *text)
{
	struct strbuf once = {0}, twice = {0};
	struct filter_expr *again = NULL;
	filter_expr_print(f, &once);
	must(!once.failed && filter_expr_parse(once.s, &again, NULL) == 0 && again->count == f->count);
	filter_expr_print(again, &twice);
	must(strcmp(once.s, twice.s) == 0 && filter_expr_match(again, lookup, text) == matched);
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
	static const struct filter_vocabulary vocabulary = {words, words, words, words};
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
	if (filter_expr_parse(text, &f, &d) == 0) {
		print_and_parse(f, filter_expr_match(f, lookup, text), text);
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
