/* SPDX-License-Identifier: MIT
 * Names of levels.
 */
#include "base/level.h"

#include <setjmp.h>
#include <cmocka.h>

static void each_name_is_read_as_its_level(void **state)
{
	for (uint8_t i = 0; i <= 5; i++) {
		uint8_t v = 0xEE;
		assert_true(level_parse(level_word(i), strlen(level_word(i)), &v));
		assert_int_equal(v, i);
		assert_true(level_parse(level_manifest(i), strlen(level_manifest(i)), &v));
		assert_int_equal(v, i);
	}
	assert_null(level_word(6));
	assert_null(level_text(6));
	assert_null(level_manifest(255));
}

static void levels_are_written_in_many_ways(void **state)
{
	static const struct {
		const char *text;
		uint8_t level;
	} rows[] = {{"WARN", 3},     {"Warning", 3}, {"logalways", 0}, {"informational", 4}, {"Information", 4},
		    {"win:info", 4}, {"0", 0},       {"255", 255},     {"0x10", 16}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		uint8_t v = 0xEE;
		assert_true(level_parse(rows[i].text, strlen(rows[i].text), &v));
		assert_int_equal(v, rows[i].level);
	}
}

static void what_is_no_level_is_refused(void **state)
{
	static const char *const wrong[] = {"", "256", "-1", "criticalx", "win:", "err", "1.5"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		uint8_t v = 0xEE;
		assert_false(level_parse(wrong[i], strlen(wrong[i]), &v));
		assert_int_equal(v, 0xEE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_is_read_as_its_level),
		cmocka_unit_test(levels_are_written_in_many_ways),
		cmocka_unit_test(what_is_no_level_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
