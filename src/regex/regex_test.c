/* SPDX-License-Identifier: MIT
 * Regular expressions of filters: what they match, where their mistakes are, and that they end.
 */
#include "regex/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

static const struct filter_dialect dialect = {.regex = &regex_pcre2};

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	(void)name;
	(void)payload;
	ret->text = ctx;
	ret->length = strlen(ctx);
	return true;
}

static void patterns_are_perls(void **state)
{
	static const struct {
		const char *text, *value;
		bool wanted;
	} cases[] = {
		{"Url =~ /^\\/api\\/v[12]\\/.*/", "/api/v2/users", true},
		{"Url =~ /^\\/api\\/v[12]\\/.*/", "/api/v3/users", false},
		{"Url !~ /v2/", "/api/v3", true},
		{"Url !~ /v2/", "/api/v2", false},
		{"Url matches 'v2|v3'", "/api/v3", true},
		{"Url not matches 'v2|v3'", "/api/v3", false},
		{"Name =~ /tea/", "TEApot", false},
		{"Name =~ /tea/i", "TEApot", true},
		{"Name =~ /GRÜSSE/i", "grüsse", true},
		{"Name =~ /^Gr.e$/", "Grüe", true}, /* a character, not a byte */
		{"Name =~ /^\\w+$/", "Grüße", true},
		{"Name =~ /pot/", "\xff\xfetea\xffpot", true}, /* not UTF-8 */
		{"Name =~ /^$/", "", true},
		{"(Name =~ /a b/) and not (Name =~ /c/)", "a b", true},
		{"stack =~ /^libc.*!malloc$/", "libc.so.6!malloc", true},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		struct diag d = {0};
		if (filter_expr_parse_in(&dialect, cases[i].text, &f, &d) != 0) {
			fail_msg("'%s': %s", cases[i].text, d.text);
		}
		if (filter_expr_match(f, lookup, (void *)(uintptr_t)cases[i].value) != cases[i].wanted) {
			fail_msg("'%s' of '%s' should be %d", cases[i].text, cases[i].value, cases[i].wanted);
		}
		assert_int_equal(filter_expr_given_up(f), 0);
		filter_expr_destroy(f);
	}
}

static void mistakes_point_into_the_pattern(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
	} cases[] = {
		{"Name =~ /a(b/", 13},           {"Name =~ /\\/\\/a(b/", 17}, {"pid == 1 and Name =~ /[z-a]/", 26},
		{"Name matches '\\\\d+(' ", 20}, {"Name =~ /*a/", 10},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		struct diag d = {0};
		int err = filter_expr_parse_in(&dialect, cases[i].text, &f, &d);
		if (err != -EINVAL || d.column != cases[i].column || !strstr(d.text, "regular expression")) {
			fail_msg("'%s': %d, column %u (wanted %u): %s", cases[i].text, err, d.column, cases[i].column,
				 d.text);
		}
	}
}

static void a_pattern_that_explodes_is_given_up_and_counted(void **state)
{
	static const char *const texts[] = {"Name =~ /^(a+)+$/", "Name !~ /^(a+)+$/", "Name =~ /(?:a?){60}a{60}$/"};
	char value[2000];
	(void)state;
	memset(value, 'a', sizeof value);
	value[sizeof value - 2] = 'b';
	value[sizeof value - 1] = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(texts); i++) {
		struct filter_expr *f;
		assert_int_equal(filter_expr_parse_in(&dialect, texts[i], &f, NULL), 0);
		assert_false(filter_expr_match(f, lookup, value));
		assert_false(filter_expr_match(f, lookup, value));
		assert_int_equal(filter_expr_given_up(f), 2);
		assert_true(filter_expr_match(f, lookup, (void *)(uintptr_t) "b") == (i == 1)); /* works again */
		assert_int_equal(filter_expr_given_up(f), 2);
		filter_expr_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_perls),
		cmocka_unit_test(mistakes_point_into_the_pattern),
		cmocka_unit_test(a_pattern_that_explodes_is_given_up_and_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
