/* SPDX-License-Identifier: MIT */
#include "winrt/testing.h"

static void a_long_has_32_bits_whatever_is_passed(void **state)
{
	char s[64];
	volatile long v = 0x1FFFFFFFFl; /* of a constant gcc counts the characters itself, with its own long */
	assert_int_equal(snprintf(s, sizeof s, "%lu %ld %lx", (unsigned long)v, v, (unsigned long)v + 3), 15);
	assert_string_equal(s, "4294967295 -1 2");
	snprintf(s, sizeof s, "%llu %I64d %I64x %I32u", 0x1FFFFFFFFull, -5ll, 0xABCDEF0123ull, 7u);
	assert_string_equal(s, "8589934591 -5 abcdef0123 7");
	snprintf(s, sizeof s, "%Iu %zu %hd %hhu", (size_t)1 << 40, (size_t)9, 0x18000, 0x1FF);
	assert_string_equal(s, "1099511627776 9 -32768 255");
}

static void flags_width_and_precision_are_those_of_c(void **state)
{
	static const struct {
		const wchar_t *format, *wanted;
		int value;
	} cases[] = {
		{L"[%5d]", L"[   42]", 42},      {L"[%-5d]", L"[42   ]", 42},   {L"[%05d]", L"[-0042]", -42},
		{L"[%+d]", L"[+42]", 42},        {L"[% d]", L"[ 42]", 42},      {L"[%.4d]", L"[0042]", 42},
		{L"[%.0d]", L"[]", 0},           {L"[%05.3d]", L"[  042]", 42}, {L"[%#x]", L"[0x2a]", 42},
		{L"[%#X]", L"[0X2A]", 42},       {L"[%#x]", L"[0]", 0},         {L"[%#o]", L"[052]", 42},
		{L"[%08X]", L"[FFFFFFD6]", -42}, {L"[%u%%]", L"[42%]", 42},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wchar_t s[32];
		swprintf(s, 32, cases[i].format, cases[i].value);
		assert_wide_equal(s, cases[i].wanted);
	}
	wchar_t s[32];
	swprintf(s, 32, L"%*d|%-*d|%.*s", 4, 1, 4, 2, 2, L"abc");
	assert_wide_equal(s, L"   1|2   |ab");
}

static void s_is_of_the_format_s_width_and_capital_s_of_the_other(void **state)
{
	wchar_t w[64];
	char n[64];
	swprintf(w, 64, L"%s %S %hs %ls %ws", L"wide", "narrow", "hs", L"ls", L"ws");
	assert_wide_equal(w, L"wide narrow hs ls ws");
	snprintf(n, sizeof n, "%s %S %hs %ls %ws", "narrow", L"wide", "hs", L"ls", L"ws");
	assert_string_equal(n, "narrow wide hs ls ws");
	swprintf(w, 64, L"%c%C%hc%lc", L'\u20ac', 'b', 'c', L'd');
	assert_wide_equal(w, L"\u20acbcd");
	snprintf(n, sizeof n, "%s|%ls", (char *)NULL, (wchar_t *)NULL);
	assert_string_equal(n, "(null)|(null)");
}

static void text_changes_between_utf_16_and_utf_8(void **state)
{
	wchar_t w[16];
	char n[32];
	snprintf(n, sizeof n, "%ls", L"\u00e4\u20ac\U0001F600");
	assert_string_equal(n, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	swprintf(w, 16, L"%hs", "\xc3\xa4\xf0\x9f\x98\x80");
	assert_wide_equal(w, L"\u00e4\U0001F600");
	/* Half a pair, and bytes that are no UTF-8: something harmless stands for them. */
	snprintf(n, sizeof n, "%ls", (const wchar_t[]){0xD83D, L'x', 0});
	assert_string_equal(n, "\xef\xbf\xbdx");
	swprintf(w, 16, L"%hs", "\xff\x78");
	assert_wide_equal(w, L"\ufffdx");
}

static void counted_strings_need_no_terminator(void **state)
{
	const struct {
		USHORT length, maximum;
		const void *buffer;
	} ansi = {3, 3, "abcdef"}, wide = {6, 6, L"uvwxyz"};
	char s[32];
	snprintf(s, sizeof s, "%Z %wZ %Z", &ansi, &wide, NULL);
	assert_string_equal(s, "abc uvw (null)");
}

static void pointers_have_sixteen_capital_digits(void **state)
{
	char s[32];
	snprintf(s, sizeof s, "%p", (void *)0xAB12);
	assert_string_equal(s, "000000000000AB12");
}

static void n_writes_nothing(void **state)
{
	int n = 77;
	char s[16];
	snprintf(s, sizeof s, "ab%n", &n);
	assert_int_equal(n, 77);
}

static void a_text_that_does_not_fit_is_told_in_each_function_s_own_way(void **state)
{
	wchar_t w[8];
	char n[8] = "1234567";
	assert_int_equal(snprintf(n, 4, "%s", "abcdef"), 6);
	assert_string_equal(n, "abc");
	memset(n, 'x', 7);
	assert_int_equal(_snprintf(n, 3, "%s", "abc"), 3); /* without a terminator */
	assert_string_equal(n, "abcxxxx");
	assert_int_equal(_snprintf(n, 3, "%s", "abcd"), -1);
	assert_int_equal(swprintf(w, 4, L"%s", L"abcd"), -1);
	assert_int_equal(_scwprintf(L"%s-%d", L"abc", 12), 6);
	assert_int_equal(_scprintf("%05d", 12), 5);
	assert_int_equal(sprintf_s(n, 4, "%s", "abcd"), -1);
	assert_string_equal(n, "");
	assert_int_equal(_snprintf_s(n, 4, _TRUNCATE, "%s", "abcd"), -1);
	assert_string_equal(n, "abc");
	assert_int_equal(_snprintf_s(n, 8, 2, "%s", "abcd"), -1);
	assert_string_equal(n, "ab");
	assert_int_equal(_snwprintf_s(w, 8, _TRUNCATE, L"%d", 123), 3);
	assert_wide_equal(w, L"123");
}

static void numbers_with_a_point_are_those_of_c(void **state)
{
	char s[400];
	snprintf(s, sizeof s, "%.2f %e %g %G %8.3f|%-8.1f|", 1.005, 1500.0, 0.0001, 1e-10, 3.14159, 2.5);
	assert_string_equal(s, "1.00 1.500000e+03 0.0001 1E-10    3.142|2.5     |");
	assert_int_equal(snprintf(s, sizeof s, "%f", 1e300), 308);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_has_32_bits_whatever_is_passed),
		cmocka_unit_test(flags_width_and_precision_are_those_of_c),
		cmocka_unit_test(s_is_of_the_format_s_width_and_capital_s_of_the_other),
		cmocka_unit_test(text_changes_between_utf_16_and_utf_8),
		cmocka_unit_test(counted_strings_need_no_terminator),
		cmocka_unit_test(pointers_have_sixteen_capital_digits),
		cmocka_unit_test(n_writes_nothing),
		cmocka_unit_test(a_text_that_does_not_fit_is_told_in_each_function_s_own_way),
		cmocka_unit_test(numbers_with_a_point_are_those_of_c),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
