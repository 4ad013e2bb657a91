/* SPDX-License-Identifier: MIT
 * What people write: numbers, lists, sizes, durations, times.
 */
#include "base/parse.h"

#include <stdio.h>

#include <setjmp.h>
#include <cmocka.h>

#define NONE UINT64_C(0xEEEEEEEEEEEEEEEE) /* what the output was before */

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	uint64_t v = NONE;
	bool ok = parse_number(text, min, max, &v);
	assert_int_equal(ok, v != NONE);
	return v;
}

static void numbers_are_decimal_or_hexadecimal(void **state)
{
	assert_int_equal(number("0", 0, UINT64_MAX), 0);
	assert_int_equal(number("42", 0, UINT64_MAX), 42);
	assert_int_equal(number("0x2a", 0, UINT64_MAX), 42);
	assert_int_equal(number("0X2A", 0, UINT64_MAX), 42);
	assert_int_equal(number("010", 0, UINT64_MAX), 10); /* not octal */
	assert_true(number("18446744073709551615", 0, UINT64_MAX) == UINT64_MAX);
	assert_true(number("0xFFFFFFFFFFFFFFFF", 0, UINT64_MAX) == UINT64_MAX);
	assert_int_equal(number("0000000000000000000000000000001", 0, UINT64_MAX), 1);
}

static void what_is_no_number_is_refused_and_changes_nothing(void **state)
{
	static const char *const wrong[] = {"",
					    "-1",
					    "+1",
					    " 1",
					    "1 ",
					    "0x",
					    "0xg",
					    "1x",
					    "18446744073709551616",
					    "a",
					    "1,2",
					    "1.5",
					    "0x-1",
					    "0x10000000000000000",
					    "99999999999999999999999"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		assert_true(number(wrong[i], 0, UINT64_MAX) == NONE);
	}
}

static void a_number_outside_its_range_is_refused(void **state)
{
	assert_int_equal(number("5", 5, 7), 5);
	assert_int_equal(number("7", 5, 7), 7);
	assert_true(number("4", 5, 7) == NONE);
	assert_true(number("8", 5, 7) == NONE);
	assert_true(number("10", 0, 9) == NONE);
	assert_true(number("1", 0, 0) == NONE);
	assert_int_equal(number("0", 0, 0), 0);
	for (uint64_t max = 0; max < 300; max++) {
		char text[24];
		snprintf(text, sizeof text, "%u", (unsigned)max);
		assert_int_equal(number(text, 0, max), max);
		snprintf(text, sizeof text, "%u", (unsigned)max + 1);
		assert_true(number(text, 0, max) == NONE);
		snprintf(text, sizeof text, "0x%x", (unsigned)max + 1);
		assert_true(number(text, 0, max) == NONE);
	}
}

static void a_number_inside_a_text_ends_where_its_digits_do(void **state)
{
	uint64_t v;
	const char *s = "16:0x20rest";
	assert_true(parse_number_at(&s, UINT64_MAX, &v));
	assert_int_equal(v, 16);
	assert_string_equal(s, ":0x20rest");
	s++;
	assert_true(parse_number_at(&s, UINT64_MAX, &v));
	assert_int_equal(v, 32);
	assert_string_equal(s, "rest");
	assert_false(parse_number_at(&s, UINT64_MAX, &v));
	assert_string_equal(s, "rest");
	assert_true(parse_number_of("12345", 2, 0, 100, &v));
	assert_int_equal(v, 12);
}

static void lists_are_numbers_between_commas(void **state)
{
	uint32_t out[3];
	assert_int_equal(parse_numbers("", 0, 100, out, 3), 0);
	assert_int_equal(parse_numbers("1,0x2,3", 0, 100, out, 3), 3);
	assert_int_equal(out[0] * 100 + out[1] * 10 + out[2], 123);
	assert_int_equal(parse_numbers(" 1, 2 ,3 ", 0, 100, out, 3), 3);
	assert_int_equal(out[0] * 100 + out[1] * 10 + out[2], 123);
	static const char *const wrong[] = {",", "1,", ",1", "1,,2", "1 2", "1, ", "1,2,3,4", "101", "-1", "1;2", "x"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		assert_int_equal(parse_numbers(wrong[i], 0, 100, out, 3), -1);
	}
	assert_int_equal(parse_numbers("0", 1, 100, out, 3), -1);
}

static void sizes_have_units_of_1024(void **state)
{
	uint64_t v;
	assert_true(parse_size("64", 1024, &v) && v == 65536);
	assert_true(parse_size("64K", 1, &v) && v == 65536);
	assert_true(parse_size("1.5MiB", 1, &v) && v == 1536 * 1024);
	assert_true(parse_size("0.5B", 1, &v) && v == 1); /* up: a limit is never smaller than asked for */
	assert_false(parse_size("0x10", 1, &v));
	assert_false(parse_size("-1", 1, &v));
	assert_false(parse_size("1Q", 1, &v));
	assert_false(parse_size("", 1, &v));
}

static void durations_have_units_of_time(void **state)
{
	uint64_t v;
	assert_true(parse_duration("10s", 1, &v) && v == 10000000000);
	assert_true(parse_duration("250ms", 1, &v) && v == 250000000);
	assert_true(parse_duration("2m", 1, &v) && v == 120000000000);
	assert_true(parse_duration("3", 1000, &v) && v == 3000);
	assert_false(parse_duration("3 parsecs", 1, &v));
	assert_false(parse_duration("s", 1, &v));
}

static void times_come_back_as_they_were_written(void **state)
{
	static const char *const times[] = {"1601-01-01T00:00:00.0000000Z", "2000-02-29T23:59:59.9999999Z",
					    "2026-03-01T12:34:56.1234567Z"};
	uint64_t v;
	char text[TIME_TEXT_SIZE];
	for (size_t i = 0; i < BASE_ARRAY_LEN(times); i++) {
		assert_true(parse_time(times[i], &v));
		format_time(v, false, text);
		assert_string_equal(text, times[i]);
	}
	assert_false(parse_time("2001-02-29", &v));
	assert_false(parse_time("2001-02-28T24:00", &v));
	assert_false(parse_time("2001-02-28Tx", &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_decimal_or_hexadecimal),
		cmocka_unit_test(what_is_no_number_is_refused_and_changes_nothing),
		cmocka_unit_test(a_number_outside_its_range_is_refused),
		cmocka_unit_test(a_number_inside_a_text_ends_where_its_digits_do),
		cmocka_unit_test(lists_are_numbers_between_commas),
		cmocka_unit_test(sizes_have_units_of_1024),
		cmocka_unit_test(durations_have_units_of_time),
		cmocka_unit_test(times_come_back_as_they_were_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
