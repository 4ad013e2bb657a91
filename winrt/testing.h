/* SPDX-License-Identifier: MIT
 *
 * For the tests of winrt. They are compiled as ported sources are: 16-bit wchar_t, the headers of
 * include/etw/win/crt in front, linked with libetw-win.
 */
#ifndef WINRT_TESTING_H
#define WINRT_TESTING_H

#include <windows.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#define assert_wide_equal(have, want) assert_wide_equal_at(have, want, __FILE__, __LINE__)
static inline void assert_wide_equal_at(const wchar_t *have, const wchar_t *want, const char *file, int line)
{
	if (wcscmp(have, want) != 0) {
		char a[512], b[512];
		snprintf(a, sizeof a, "%ls", have);
		snprintf(b, sizeof b, "%ls", want);
		_assert_string_equal(a, b, file, line);
	}
}

#endif
