/* SPDX-License-Identifier: MIT
 * The examples of Microsoft's pages, and the ends of buffers.
 */
#include "winrt/testing.h"

#include <pathcch.h>
#include <shlwapi.h>
#include <strsafe.h>

static void dots_go_from_paths_and_roots_stay(void **state)
{
	static const struct {
		const wchar_t *path, *wanted;
	} cases[] = {
		{L"A:\\name_1\\.\\name_2\\..\\name_3", L"A:\\name_1\\name_3"},
		{L"A:\\name_1\\..\\name_2\\.\\name_3", L"A:\\name_2\\name_3"},
		{L"A:\\name_1\\name_2\\.\\name_3\\..\\name_4", L"A:\\name_1\\name_2\\name_4"},
		{L"A:\\name_1\\.\\name_2\\.\\name_3\\..\\name_4\\..", L"A:\\name_1\\name_2"},
		{L"C:\\..", L"C:\\"},
		{L"C:\\..\\..\\x", L"C:\\x"},
		{L"\\\\server\\share\\..\\..\\x", L"\\\\server\\share\\x"},
		{L"", L"\\"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wchar_t out[MAX_PATH];
		assert_int_equal(PathCchCanonicalize(out, MAX_PATH, cases[i].path), S_OK);
		assert_wide_equal(out, cases[i].wanted);
	}
	wchar_t small[4];
	assert_int_equal(PathCchCanonicalize(small, 4, L"C:\\a\\.."), S_OK); /* the result counts */
	assert_int_equal(PathCchCanonicalize(small, 4, L"C:\\a"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_int_equal(small[0], 0);
}

static void paths_are_combined(void **state)
{
	static const struct {
		const wchar_t *first, *more, *wanted;
	} cases[] = {
		{L"C:\\a", L"b", L"C:\\a\\b"},
		{L"C:\\a\\", L"b", L"C:\\a\\b"},
		{L"C:\\a", L"..\\b", L"C:\\b"},
		{L"C:\\a", L"\\b", L"C:\\b"},
		{L"C:\\a", L"D:\\b", L"D:\\b"},
		{L"C:\\a", NULL, L"C:\\a"},
		{NULL, L"C:\\a", L"C:\\a"},
		{L"C:\\a", L"\\\\server\\share\\b", L"\\\\server\\share\\b"},
		{L"\\\\server\\share", L"b", L"\\\\server\\share\\b"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wchar_t out[MAX_PATH];
		assert_int_equal(PathCchCombine(out, MAX_PATH, cases[i].first, cases[i].more), S_OK);
		assert_wide_equal(out, cases[i].wanted);
	}
	wchar_t path[8] = L"C:\\a";
	assert_int_equal(PathCchAppend(path, 8, L"bcd"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_wide_equal(path, L"C:\\a"); /* as it was */
	assert_int_equal(PathCchAppend(path, 8, L"bc"), S_OK);
	assert_wide_equal(path, L"C:\\a\\bc");
	assert_int_equal(PathCchCombine(path, 8, NULL, NULL), E_INVALIDARG);
}

static void extensions_are_found_changed_and_taken_away(void **state)
{
	wchar_t path[8] = L"a.txt";
	const wchar_t *ext;
	assert_int_equal(PathCchFindExtension(L"C:\\a.b\\c", 100, &ext), S_OK);
	assert_wide_equal(ext, L"");
	assert_int_equal(PathCchFindExtension(L"C:\\c.tar.gz", 100, &ext), S_OK);
	assert_wide_equal(ext, L".gz");
	assert_int_equal(PathCchRenameExtension(path, 8, L"x"), S_OK);
	assert_wide_equal(path, L"a.x");
	assert_int_equal(PathCchRenameExtension(path, 6, L".text"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_wide_equal(path, L"a.x");
	assert_int_equal(PathCchRenameExtension(path, 6, L".txt"), S_OK); /* it just fits */
	assert_wide_equal(path, L"a.txt");
	assert_int_equal(PathCchAddExtension(path, 8, L".x"), S_FALSE);
	assert_int_equal(PathCchRemoveExtension(path, 8), S_OK);
	assert_int_equal(PathCchRemoveExtension(path, 8), S_FALSE);
	assert_int_equal(PathCchAddExtension(path, 4, L"xy"), STRSAFE_E_INSUFFICIENT_BUFFER);
	assert_int_equal(PathCchAddExtension(path, 8, L"xy"), S_OK);
	assert_wide_equal(path, L"a.xy");
	assert_wide_equal(PathFindFileNameW(L"C:\\dir\\file.x"), L"file.x");
}

static void the_last_part_goes_but_never_the_root(void **state)
{
	wchar_t path[16] = L"C:\\a\\b.txt";
	assert_int_equal(PathCchRemoveFileSpec(path, 16), S_OK);
	assert_wide_equal(path, L"C:\\a");
	assert_int_equal(PathCchRemoveFileSpec(path, 16), S_OK);
	assert_wide_equal(path, L"C:\\");
	assert_int_equal(PathCchRemoveFileSpec(path, 16), S_FALSE);
	assert_int_equal(PathCchRemoveBackslash(path, 16), S_FALSE);
	assert_true(PathCchIsRoot(L"C:\\"));
	assert_true(PathCchIsRoot(L"\\\\server\\share"));
	assert_false(PathCchIsRoot(L"C:\\a"));
	assert_false(PathCchIsRoot(L""));
	assert_false(PathCchIsRoot(NULL));
	wchar_t dir[5] = L"C:\\a";
	assert_int_equal(PathCchAddBackslash(dir, 5), STRSAFE_E_INSUFFICIENT_BUFFER);
	wchar_t wide[8] = L"C:\\a";
	assert_int_equal(PathCchAddBackslash(wide, 8), S_OK);
	assert_int_equal(PathCchAddBackslash(wide, 8), S_FALSE);
	assert_wide_equal(wide, L"C:\\a\\");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dots_go_from_paths_and_roots_stay),
		cmocka_unit_test(paths_are_combined),
		cmocka_unit_test(extensions_are_found_changed_and_taken_away),
		cmocka_unit_test(the_last_part_goes_but_never_the_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
