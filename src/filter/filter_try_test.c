/* SPDX-License-Identifier: MIT
 * A filter against events of which only a part is known, and split for an engine.
 */
#include "filter/filter_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

/* An event of which level and provider are known; it has no thread name; its fields are not decoded. */
static enum filter_answer lookup(void *ctx, const struct filter_node *n, struct filter_expr_value *ret)
{
	(void)ctx;
	switch (n->property) {
	case FILTER_PROPERTY_LEVEL: *ret = (struct filter_expr_value){.is_number = true, .number = 4}; break;
	case FILTER_PROPERTY_PROVIDER: *ret = (struct filter_expr_value){.text = "Shop", .length = 4}; break;
	case FILTER_PROPERTY_THREAD: return FILTER_VALUE_ABSENT;
	default: return FILTER_VALUE_UNKNOWN;
	}
	return FILTER_VALUE_PRESENT;
}

static struct filter_expr *parse(const char *text)
{
	struct filter_expr *f = NULL;
	struct diag d = {0};
	if (filter_expr_parse(text, &f, &d) != 0) {
		fail_msg("'%s': %s", text, d.text);
	}
	return f;
}

static void the_result_is_unknown_only_when_it_depends_on_what_is(void **state)
{
	static const struct {
		const char *text;
		enum filter_truth wanted;
	} cases[] = {
		{"level == 4", FILTER_YES},
		{"level <= error and Status == 500", FILTER_NO},
		{"Status == 500 and level <= error", FILTER_NO},
		{"level == 4 and Status == 500", FILTER_UNKNOWN},
		{"Status == 500 and level == 4", FILTER_UNKNOWN},
		{"level == 4 or Status == 500", FILTER_YES},
		{"Status == 500 or level == 4", FILTER_YES},
		{"level == 3 or Status == 500", FILTER_UNKNOWN},
		{"Status == 500 or level == 3", FILTER_UNKNOWN},
		{"not Status == 500", FILTER_UNKNOWN},
		{"not (level == 4 or Status == 500)", FILTER_NO},
		{"not (level == 3 and Status == 500)", FILTER_YES},
		{"Status", FILTER_UNKNOWN},
		{"thread", FILTER_NO},
		{"thread == x", FILTER_NO},
		{"thread != x", FILTER_NO},
		{"not thread == x", FILTER_YES},
		{"A == 1 and B == 2 or level == 4", FILTER_YES},
		{"(A == 1 or B == 2) and level == 5", FILTER_NO},
		/* .level is a field of the payload */
		{".level == 4", FILTER_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f = parse(cases[i].text);
		if (filter_expr_try(f, lookup, NULL) != cases[i].wanted) {
			fail_msg("'%s' is %d", cases[i].text, (int)filter_expr_try(f, lookup, NULL));
		}
		filter_expr_destroy(f);
	}
}

static void a_filter_splits_into_conjuncts_that_say_what_they_ask(void **state)
{
	uint32_t part[FILTER_CONJUNCTS_MAX];
	(void)state;
	struct filter_expr *f = parse("provider in (Shop, Web) and (level <= 2 or pid == 7) and not (Status == 1) and "
				      "(time >= 2026-01-01 and .pid == 3)");
	static const uint32_t wanted[] = {FILTER_ASKS(PROVIDER), FILTER_ASKS(LEVEL) | FILTER_ASKS(PID),
					  FILTER_ASKS(FIELD), FILTER_ASKS(TIME), FILTER_ASKS(FIELD)};
	size_t n = filter_expr_conjuncts(f, part);
	assert_int_equal(n, BASE_ARRAY_LEN(wanted));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(filter_expr_asks(f, part[i]), wanted[i]);
	}
	assert_int_equal(filter_expr_try_part(f, part[0], lookup, NULL), FILTER_YES);
	assert_int_equal(filter_expr_try_part(f, part[1], lookup, NULL), FILTER_UNKNOWN);
	filter_expr_destroy(f);
	f = parse("level == 1 or level == 2 and pid == 3");
	assert_int_equal(filter_expr_conjuncts(f, part), 1);
	assert_int_equal(part[0], f->root);
	filter_expr_destroy(f);
}

static void more_conjuncts_than_fit_stay_together(void **state)
{
	uint32_t part[FILTER_CONJUNCTS_MAX];
	struct strbuf text = {0};
	(void)state;
	for (int i = 0; i < 200; i++) {
		strbuf_addf(&text, "%sF%d == 1", i ? " and " : "", i);
	}
	strbuf_adds(&text, " and level == 9");
	struct filter_expr *f = parse(text.s);
	size_t n = filter_expr_conjuncts(f, part);
	assert_int_equal(n, FILTER_CONJUNCTS_MAX);
	assert_int_equal(filter_expr_asks(f, part[n - 1]), FILTER_ASKS(LEVEL));
	assert_int_equal(f->nodes[part[0]].type, FILTER_NODE_AND);
	assert_int_equal(filter_expr_try(f, lookup, NULL), FILTER_NO);
	filter_expr_destroy(f);
	strbuf_finish(&text);
}

static void one_value_can_be_tested_by_itself(void **state)
{
	struct filter_expr *f = parse("provider == shop");
	struct filter_expr_value shop = {.text = "Shop", .length = 4}, web = {.text = "Web", .length = 3};
	(void)state;
	assert_true(filter_node_accepts(f, &f->nodes[f->root], &shop));
	assert_false(filter_node_accepts(f, &f->nodes[f->root], &web));
	filter_expr_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_is_unknown_only_when_it_depends_on_what_is),
		cmocka_unit_test(a_filter_splits_into_conjuncts_that_say_what_they_ask),
		cmocka_unit_test(more_conjuncts_than_fit_stay_together),
		cmocka_unit_test(one_value_can_be_tested_by_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
