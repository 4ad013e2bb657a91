/* SPDX-License-Identifier: MIT
 *
 * The rule of level and keywords, each sentence of its comment.
 */
#include "base/match.h"
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void levels_up_to_the_sessions_pass_and_0_on_either_side_does(void **state)
{
	static const uint8_t levels[] = {0, 1, 4, 5, 254, 255};
	for (size_t s = 0; s < BASE_ARRAY_LEN(levels); s++) {
		for (size_t e = 0; e < BASE_ARRAY_LEN(levels); e++) {
			uint8_t session = levels[s], event = levels[e];
			bool want = session == 0 || event == 0 || event <= session;
			assert_int_equal(match_level(match_limit(session), event), want);
			/* The way of those that look at many sessions. */
			assert_int_equal(match_level((uint8_t)(session - 1), (uint8_t)(event - (event != 0))), want);
		}
	}
}

static void one_keyword_of_any_and_all_of_all_are_needed(void **state)
{
	static const struct {
		uint64_t any, all, keyword;
		bool without, match;
	} rows[] = {
		{0x6, 0, 0x4, false, true},    {0x6, 0, 0x1, false, false},
		{0x6, 0x6, 0x4, false, false}, {0x6, 0x6, 0x7, false, true},
		{0, 0, 0x8, false, true},      {0, 0x8, 0x4, true, false},
		{0x6, 0x6, 0, true, true},     {0x6, 0x6, 0, false, false},
		{0, 0, 0, false, false},       {1ull << 63, 0, 1ull << 63, false, true},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		assert_int_equal(match_keywords(match_any(rows[i].any), rows[i].all, rows[i].without, rows[i].keyword),
				 rows[i].match);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_up_to_the_sessions_pass_and_0_on_either_side_does),
		cmocka_unit_test(one_keyword_of_any_and_all_of_all_are_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
