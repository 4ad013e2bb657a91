/* SPDX-License-Identifier: MIT */
#include "winrt/testing.h"

static void integers_have_the_size_that_the_format_says(void **state)
{
	int d = 0, i = 0;
	unsigned u = 0;
	long long q = 0;
	short h[2] = {0, 0x5555};
	unsigned char c[2] = {0, 0x55};
	assert_int_equal(swscanf(L" -12 ff 077 0x1F", L"%d %x %i", &d, &u, &i), 3);
	assert_int_equal(d, -12);
	assert_int_equal(u, 255);
	assert_int_equal(i, 63);
	assert_int_equal(swscanf(L"9876543210 -7 300", L"%I64d %hd %hhu", &q, &h[0], &c[0]), 3);
	assert_true(q == 9876543210ll);
	assert_int_equal(h[0], -7);
	assert_int_equal(h[1], 0x5555); /* what stands behind is left alone */
	assert_int_equal(c[0], 300 & 0xFF);
	assert_int_equal(c[1], 0x55);
	assert_int_equal(swscanf(L"017 0x1f 19", L"%i %i %i", &d, &u, &i), 3);
	assert_int_equal(d, 15);
	assert_int_equal(u, 31);
	assert_int_equal(i, 19);
}

static void a_width_ends_a_number_and_a_star_drops_it(void **state)
{
	int a = 0, b = 0;
	assert_int_equal(swscanf(L"12345 67 89", L"%2d%3d %*d %d", &a, &b, &a), 3);
	assert_int_equal(b, 345);
	assert_int_equal(a, 89);
	assert_int_equal(swscanf(L"2026-11-23", L"%4d-%2d", &a, &b), 2);
	assert_int_equal(a, 2026);
	assert_int_equal(b, 11);
}

static void it_stops_at_what_does_not_match_and_says_how_far_it_came(void **state)
{
	int a = -1, b = -1;
	assert_int_equal(swscanf(L"7,x", L"%d,%d", &a, &b), 1);
	assert_int_equal(a, 7);
	assert_int_equal(b, -1);
	assert_int_equal(swscanf(L"7;8", L"%d,%d", &a, &b), 1);
	assert_int_equal(swscanf(L"x", L"%d", &a), 0);
	assert_int_equal(swscanf(L"", L"%d", &a), EOF);
	assert_int_equal(swscanf(L"   ", L"%d", &a), EOF);
	assert_int_equal(swscanf(L"", L"a%d", &a), EOF);
	assert_int_equal(swscanf(L"b1", L"a%d", &a), 0);
	assert_int_equal(swscanf(L"12 rest", L"%d%n", &a, &b), 1);
	assert_int_equal(b, 2);
	assert_int_equal(swscanf(L"50%", L"%d%%%n", &a, &b), 1);
	assert_int_equal(b, 3);
}

static void words_and_sets_end_where_they_should(void **state)
{
	wchar_t w[16], v[16];
	char n[16];
	assert_int_equal(swscanf(L"  key = some value", L"%[a-z] = %s", w, v), 0); /* a set skips no blanks */
	assert_int_equal(swscanf(L"key = some value", L"%[a-z] = %15[^\n]", w, v), 2);
	assert_wide_equal(w, L"key");
	assert_wide_equal(v, L"some value");
	assert_int_equal(swscanf(L"]a-b]c", L"%[]a-]%s", w, v), 2);
	assert_wide_equal(w, L"]a-");
	assert_wide_equal(v, L"b]c");
	assert_int_equal(swscanf(L"wide narrow", L"%3s%*s %hs", w, n), 2);
	assert_wide_equal(w, L"wid");
	assert_string_equal(n, "narrow");
	assert_int_equal(swscanf(L"ab c", L"%c%3c", w, v), 2); /* blanks count, no terminator */
	assert_int_equal(w[0], L'a');
	assert_int_equal(memcmp(v, L"b c", 6), 0);
}

static void the_secure_forms_know_how_long_a_text_may_be(void **state)
{
	wchar_t w[8];
	char n[8];
	int a = 0;
	assert_int_equal(swscanf_s(L"abc 5", L"%s %d", w, 4u, &a), 2);
	assert_wide_equal(w, L"abc");
	assert_int_equal(a, 5);
	wmemset(w, L'x', 8);
	assert_int_equal(swscanf_s(L"abcd 5", L"%s %d", w, 4u, &a), 0);
	assert_int_equal(w[0], 0); /* empty, not cut */
	assert_int_equal(w[4], L'x');
	assert_int_equal(sscanf_s("word", "%s", n, 5u), 1);
	assert_string_equal(n, "word");
	assert_int_equal(sscanf_s("word", "%s", n, 4u), 0);
	assert_int_equal(sscanf_s("wo", "%c%c", n, 1u, n + 1, 1u), 2);
}

static void floats_and_doubles_differ_by_l(void **state)
{
	float f = 0;
	double d = 0;
	assert_int_equal(swscanf(L"1.5 -2.25e2", L"%f %lf", &f, &d), 2);
	assert_true(f == 1.5f && d == -225.0);
	assert_int_equal(swscanf(L"x", L"%f", &f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_have_the_size_that_the_format_says),
		cmocka_unit_test(a_width_ends_a_number_and_a_star_drops_it),
		cmocka_unit_test(it_stops_at_what_does_not_match_and_says_how_far_it_came),
		cmocka_unit_test(words_and_sets_end_where_they_should),
		cmocka_unit_test(the_secure_forms_know_how_long_a_text_may_be),
		cmocka_unit_test(floats_and_doubles_differ_by_l),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
