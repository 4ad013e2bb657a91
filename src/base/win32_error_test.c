/* SPDX-License-Identifier: MIT
 * The table of error codes and the way from errno to it.
 */
#include "base/base.h"

#include <setjmp.h>
#include <cmocka.h>

static const struct {
	uint32_t code;
	const char *name, *text;
} win32_rows[] = {
#define ERR_WIN32(code, name, text, meaning, cause, remedy) {code, name, text},
#define ERR_OTHER(code, name, meaning, cause, remedy)
#include "base/err.def"
};

static const struct {
	uint32_t code;
	const char *name, *meaning;
} all_rows[] = {
#define ERR_WIN32(code, name, text, meaning, cause, remedy) {code, name, meaning},
#define ERR_OTHER(code, name, meaning, cause, remedy)       {code, name, meaning},
#include "base/err.def"
};

static void each_code_and_each_name_stands_once(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(all_rows); i++) {
		assert_true(all_rows[i].meaning[0] != 0);
		for (size_t k = 0; k < i; k++) {
			assert_true(all_rows[i].code != all_rows[k].code);
			assert_string_not_equal(all_rows[i].name, all_rows[k].name);
		}
	}
}

/* The library keeps rows in arrays of fixed size, in which a longer text would lose its end. */
static void no_name_or_text_is_cut(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(win32_rows); i++) {
		assert_string_equal(win32_name(win32_rows[i].code), win32_rows[i].name);
		assert_string_equal(win32_text(win32_rows[i].code), win32_rows[i].text);
	}
}

static void an_unknown_code_has_neither_name_nor_text(void **state)
{
	assert_null(win32_name(123456));
	assert_null(win32_text(123456));
	assert_null(win32_text(0xC0000001)); /* an NTSTATUS of the table */
}

static void every_errno_becomes_a_code_with_a_name(void **state)
{
	for (int e = 0; e < 140; e++) {
		assert_non_null(win32_name(win32_from_errno(-e)));
		assert_int_equal(win32_from_errno(-e), win32_from_errno(e));
	}
	assert_int_equal(win32_from_errno(0), 0);
	assert_string_equal(win32_name(win32_from_errno(-EACCES)), "ERROR_ACCESS_DENIED");
	assert_string_equal(win32_name(win32_from_errno(-ENOENT)), "ERROR_FILE_NOT_FOUND");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_code_and_each_name_stands_once),
		cmocka_unit_test(no_name_or_text_is_cut),
		cmocka_unit_test(an_unknown_code_has_neither_name_nor_text),
		cmocka_unit_test(every_errno_becomes_a_code_with_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
