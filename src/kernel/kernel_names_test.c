/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_names.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

static void paths_are_put_together_from_names_last_first(void **state)
{
	(void)state;
	static const struct {
		const char *user, *base, *path;
		size_t base_bytes;
	} cases[] = {
		{"/etc/passwd", "", "/etc/passwd", 0},
		{"two", "dir\0tmp", "/tmp/dir/two", 8},
		{"", "dir\0tmp", "/tmp/dir", 8},
		{"./a//b/../c", "dir", "/dir/a/c", 4},
		{"../../../x", "dir\0tmp", "/x", 8},
		{"x", "", "/x", 0}, /* in the root directory */
		{"", "", "/", 0},
		{"/", "", "/", 0},
		{"name", "cut", "/cut/name", 3}, /* its end was cut off */
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		char path[256];
		kernel_names_path(cases[i].user, strlen(cases[i].user) + 1, cases[i].base, cases[i].base_bytes, path,
				  sizeof path);
		assert_string_equal(path, cases[i].path);
	}
	char longest[2048], small[16];
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	kernel_names_path(longest, sizeof longest, "", 0, small, sizeof small);
	assert_true(strlen(small) < sizeof small);
}

static void keys_find_names_and_names_find_keys(void **state)
{
	(void)state;
	enum { FILES = 5000 };
	struct kernel_names *n = kernel_names_create();
	char path[64];
	assert_int_equal(kernel_names_key(n, 0, 1, 2), 0);
	for (uint32_t i = 1; i <= FILES; i++) {
		snprintf(path, sizeof path, "/d%u/f%u", i % 7, i);
		kernel_names_learn(n, kernel_names_key(n, i, 8 << 20, 0), path);
	}
	for (uint32_t i = 1; i <= FILES; i++) {
		uint64_t key = kernel_names_key(n, i, 8 << 20, 0);
		snprintf(path, sizeof path, "/d%u/f%u", i % 7, i);
		assert_int_equal(kernel_names_of_path(n, path), key);
	}
	/* Another generation is another file. */
	assert_int_not_equal(kernel_names_key(n, 1, 8 << 20, 1), kernel_names_key(n, 1, 8 << 20, 0));
	kernel_names_destroy(n);
}

static void renames_move_everything_below_a_directory_and_replace_what_was_there(void **state)
{
	(void)state;
	struct kernel_names *n = kernel_names_create();
	uint64_t a = kernel_names_key(n, 1, 1, 1), b = kernel_names_key(n, 2, 1, 1), c = kernel_names_key(n, 3, 1, 1);
	kernel_names_learn(n, a, "/old/x");
	kernel_names_learn(n, b, "/old/deep/y");
	kernel_names_learn(n, c, "/older/z");
	kernel_names_rename(n, "/old", "/new");
	assert_int_equal(kernel_names_of_path(n, "/new/x"), a);
	assert_int_equal(kernel_names_of_path(n, "/new/deep/y"), b);
	assert_int_equal(kernel_names_of_path(n, "/older/z"), c);
	kernel_names_rename(n, "/new/x", "/older/z");
	assert_int_equal(kernel_names_of_path(n, "/older/z"), a);
	assert_int_not_equal(kernel_names_of_path(n, "/new/x"), a);
	/* Again and again: places that former paths had must not fill the table. */
	for (int i = 0; i < 20000; i++) {
		kernel_names_rename(n, i % 2 ? "/p" : "/older/z", i % 2 ? "/older/z" : "/p");
	}
	assert_int_equal(kernel_names_of_path(n, "/older/z"), a);
	kernel_names_destroy(n);
}

static void a_path_known_before_its_file_gives_way_to_the_file(void **state)
{
	(void)state;
	struct kernel_names *n = kernel_names_create();
	uint64_t of_path = kernel_names_of_path(n, "/made/by/mkdir");
	uint64_t of_file = kernel_names_key(n, 9, 1, 0);
	assert_int_not_equal(of_path, 0);
	assert_int_equal(kernel_names_of_path(n, "/made/by/mkdir"), of_path);
	kernel_names_learn(n, of_file, "/made/by/mkdir");
	assert_int_equal(kernel_names_of_path(n, "/made/by/mkdir"), of_file);
	kernel_names_destroy(n);
}

static void results_of_calls_are_windows_codes(void **state)
{
	(void)state;
	assert_int_equal(kernel_nt_status(0), 0);
	assert_int_equal(kernel_nt_status(4096), 0);
	assert_int_equal(kernel_nt_status(-ENOENT), 0xC0000034);
	assert_int_equal(kernel_nt_status(-EACCES), 0xC0000022);
	assert_int_equal(kernel_nt_status(-EBADF), 0xC0000008);
	assert_int_equal(kernel_nt_status(-EDOM), 0xC0000001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_put_together_from_names_last_first),
		cmocka_unit_test(keys_find_names_and_names_find_keys),
		cmocka_unit_test(renames_move_everything_below_a_directory_and_replace_what_was_there),
		cmocka_unit_test(a_path_known_before_its_file_gives_way_to_the_file),
		cmocka_unit_test(results_of_calls_are_windows_codes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
