/* SPDX-License-Identifier: MIT */
#include "winrt/testing.h"

#include <strsafe.h>

static void a_copy_is_cut_terminated_and_told(void **state)
{
	char n[4];
	wchar_t w[4];
	assert_int_equal(StringCchCopyA(n, 4, "abc"), S_OK);
	assert_int_equal(StringCchCopyA(n, 4, "abcd"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_string_equal(n, "abc");
	assert_int_equal(StringCchCopyW(w, 4, L"wxyz"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_wide_equal(w, L"wxy");
	assert_int_equal(StringCbCopyW(w, 7, L"wxy"), STRSAFE_E_INSUFFICIENT_BUFFER); /* three units */
	assert_wide_equal(w, L"wx");
	assert_int_equal(StringCchCopyNA(n, 4, "abcdef", 3), S_OK);
	assert_string_equal(n, "abc");
	assert_int_equal(StringCchCopyNA(n, 4, "abcdef", 4), STRSAFE_E_INSUFFICIENT_BUFFER);
}

static void sizes_that_make_no_sense_are_refused(void **state)
{
	char n[4] = "old";
	size_t length = 9;
	assert_int_equal(StringCchCopyA(n, 0, "a"), STRSAFE_E_INVALID_PARAMETER);
	assert_int_equal(StringCchCopyA(n, (size_t)STRSAFE_MAX_CCH + 1, "a"), STRSAFE_E_INVALID_PARAMETER);
	assert_string_equal(n, "old");
	memcpy(n, "full", 4); /* no terminator */
	assert_int_equal(StringCchCatA(n, 4, "x"), STRSAFE_E_INVALID_PARAMETER);
	assert_int_equal(StringCchLengthA(n, 4, &length), STRSAFE_E_INVALID_PARAMETER);
	assert_int_equal(length, 0);
	assert_int_equal(StringCchLengthA(NULL, 4, &length), STRSAFE_E_INVALID_PARAMETER);
}

static void texts_are_put_behind_each_other(void **state)
{
	wchar_t w[8] = L"ab";
	size_t length = 0;
	assert_int_equal(StringCchCatW(w, 8, L"cd"), S_OK);
	assert_int_equal(StringCchCatNW(w, 8, L"efgh", 2), S_OK);
	assert_wide_equal(w, L"abcdef");
	assert_int_equal(StringCchCatW(w, 8, L"gh"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_wide_equal(w, L"abcdefg");
	assert_int_equal(StringCchLengthW(w, 8, &length), S_OK);
	assert_int_equal(length, 7);
	assert_int_equal(StringCbLengthW(w, sizeof w, &length), S_OK);
	assert_int_equal(length, 14);
}

static void printing_says_where_the_text_ends_and_what_is_left(void **state)
{
	wchar_t w[8], *end;
	char n[8], *narrow_end;
	size_t left;
	assert_int_equal(StringCchPrintfW(w, 8, L"%s=%u", L"x", 12u), S_OK);
	assert_wide_equal(w, L"x=12");
	assert_int_equal(StringCchPrintfExW(w, 8, &end, &left, 0, L"%d", 123), S_OK);
	assert_ptr_equal(end, w + 3);
	assert_int_equal(left, 5);
	assert_int_equal(StringCbPrintfExW(w, sizeof w, &end, &left, 0, L"%d", 123), S_OK);
	assert_int_equal(left, 10);
	assert_int_equal(StringCchPrintfExA(n, 4, &narrow_end, &left, 0, "%s", "abcdef"),
			 STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_string_equal(n, "abc");
	assert_ptr_equal(narrow_end, n + 3);
	assert_int_equal(left, 1);
	assert_int_equal(StringCchPrintfA(n, 0, "x"), STRSAFE_E_INVALID_PARAMETER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_cut_terminated_and_told),
		cmocka_unit_test(sizes_that_make_no_sense_are_refused),
		cmocka_unit_test(texts_are_put_behind_each_other),
		cmocka_unit_test(printing_says_where_the_text_ends_and_what_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
