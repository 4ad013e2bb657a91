/* SPDX-License-Identifier: MIT */
#include "winrt/testing.h"

static void wcstol_has_the_limits_of_32_bits(void **state)
{
	static const struct {
		const wchar_t *text;
		long value;
		int base, error, used;
	} cases[] = {
		{L"42", 42, 10, 0, 2},
		{L"  -42x", -42, 10, 0, 5},
		{L"0x1F", 31, 0, 0, 4},
		{L"0x1F", 31, 16, 0, 4},
		{L"017", 15, 0, 0, 3},
		{L"zz", 1295, 36, 0, 2},
		{L"none", 0, 10, 0, 0},
		{L"", 0, 10, 0, 0},
		{L"2147483647", INT_MAX, 10, 0, 10},
		{L"2147483648", INT_MAX, 10, ERANGE, 10},
		{L"-2147483648", INT_MIN, 10, 0, 11},
		{L"-2147483649", INT_MIN, 10, ERANGE, 11},
		{L"99999999999999999999", INT_MAX, 10, ERANGE, 20},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wchar_t *end = NULL;
		errno = 0;
		assert_int_equal(wcstol(cases[i].text, &end, cases[i].base), cases[i].value);
		assert_int_equal(errno, cases[i].error);
		assert_int_equal(end - cases[i].text, cases[i].used);
	}
}

static void wcstoul_has_the_limits_of_32_bits_however_large_the_number(void **state)
{
	static const struct {
		const wchar_t *text;
		unsigned value;
		int error;
	} cases[] = {
		{L"4294967295", UINT_MAX, 0},
		{L"4294967296", UINT_MAX, ERANGE},
		{L"9223372036854775809", UINT_MAX, ERANGE},
		{L"18446744073709551615", UINT_MAX, ERANGE},
		{L"18446744073709551616", UINT_MAX, ERANGE},
		{L"-1", UINT_MAX, 0},
		{L"-4294967295", 1, 0},
		{L"-4294967296", UINT_MAX, ERANGE},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		errno = 0;
		assert_int_equal(wcstoul(cases[i].text, NULL, 10), cases[i].value);
		assert_int_equal(errno, cases[i].error);
	}
}

static void long_numbers_and_numbers_with_a_point_are_read(void **state)
{
	wchar_t *end;
	assert_true(wcstoll(L"-9223372036854775808", NULL, 10) == LLONG_MIN);
	assert_true(wcstoull(L"18446744073709551615", NULL, 10) == ULLONG_MAX);
	assert_true(wcstod(L" 2.5e3kg", &end) == 2500.0);
	assert_wide_equal(end, L"kg");
	assert_int_equal(_wtoi(L"17 apples"), 17);
	assert_int_equal(_wtoi(L"99999999999"), INT_MAX);
	assert_true(_wtoi64(L"99999999999") == 99999999999ll);
}

static void numbers_become_text_in_every_base(void **state)
{
	wchar_t s[70];
	assert_int_equal(_itow_s(-255, s, 70, 10), 0);
	assert_wide_equal(s, L"-255");
	assert_int_equal(_itow_s(-255, s, 70, 16), 0);
	assert_wide_equal(s, L"ffffff01");
	assert_int_equal(_itow_s(INT_MIN, s, 70, 10), 0);
	assert_wide_equal(s, L"-2147483648");
	assert_int_equal(_ui64tow_s(35, s, 70, 36), 0);
	assert_wide_equal(s, L"z");
	assert_int_equal(_i64tow_s(LLONG_MIN, s, 70, 10), 0);
	assert_wide_equal(s, L"-9223372036854775808");
	assert_int_equal(_itow_s(0, s, 70, 2), 0);
	assert_wide_equal(s, L"0");
	assert_int_equal(_itow_s(1234, s, 5, 10), 0);
	assert_int_equal(_itow_s(12345, s, 5, 10), ERANGE);
	assert_wide_equal(s, L"");
	assert_int_equal(_itow_s(1, s, 5, 37), EINVAL);
	assert_int_equal(_itow_s(1, NULL, 5, 10), EINVAL);
}

static void strings_change_their_encoding_whole_or_not(void **state)
{
	wchar_t w[8];
	char n[16];
	assert_int_equal(mbstowcs(w, "\xc3\xa4\xf0\x9f\x98\x80", 8), 3);
	assert_wide_equal(w, L"\u00e4\U0001F600");
	assert_int_equal(mbstowcs(NULL, "abc", 0), 3);
	assert_int_equal(mbstowcs(w, "a\xff", 8), (size_t)-1);
	assert_int_equal(wcstombs(n, L"\u00e4\U0001F600", sizeof n), 6);
	assert_string_equal(n, "\xc3\xa4\xf0\x9f\x98\x80");
	memset(n, 'x', sizeof n);
	assert_int_equal(wcstombs(n, L"a\u20ac", 3), 1); /* never a part of a character */
	assert_int_equal(n[1], 'x' & 0xFF);
	assert_int_equal(wcstombs(n, (const wchar_t[]){0xDC00, 0}, 16), (size_t)-1);
	assert_int_equal(mbtowc(w, "\xe2\x82\xac", 3), 3);
	assert_int_equal(w[0], 0x20AC);
	assert_int_equal(mbtowc(w, "\xe2\x82\xac", 2), -1);
	assert_int_equal(mbtowc(w, "", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wcstol_has_the_limits_of_32_bits),
		cmocka_unit_test(wcstoul_has_the_limits_of_32_bits_however_large_the_number),
		cmocka_unit_test(long_numbers_and_numbers_with_a_point_are_read),
		cmocka_unit_test(numbers_become_text_in_every_base),
		cmocka_unit_test(strings_change_their_encoding_whole_or_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
