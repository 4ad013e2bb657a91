/* SPDX-License-Identifier: MIT */
#include "tools/view/view_guard.h"
#include "tools/view/view_param.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static void hosts(void **state)
{
	static const char *const more[] = {"box", "proxy.example"};
	static const char *const good[] = {"localhost", "localhost:80", "LocalHost:65535", "127.0.0.1:8080",
					   "[::1]:9",   "box",          "BOX:1",           "proxy.example:443"};
	static const char *const bad[] = {"",
					  "example.com",
					  "localhost.example.com",
					  "localhost:80.example.com",
					  "localhost:",
					  "localhost:123456",
					  "127.0.0.1.example.com",
					  "127.0.0.1:80:80",
					  "127.0.0.2",
					  "::1",
					  "[::1]x",
					  "0.0.0.0:80",
					  " localhost",
					  "box.example",
					  "a@localhost",
					  "localhost@a"};
	struct view_guard g = {.hosts = more, .host_count = 2};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(good); i++) {
		assert_true(view_guard_host(&g, good[i]));
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		assert_false(view_guard_host(&g, bad[i]));
	}
	assert_false(view_guard_host(&g, NULL));
	g.host_count = 0;
	assert_false(view_guard_host(&g, "box"));
}

static void origins(void **state)
{
	(void)state;
	assert_true(view_guard_origin(NULL, "localhost:80"));
	assert_true(view_guard_origin("http://localhost:80", "localhost:80"));
	assert_false(view_guard_origin("http://localhost:81", "localhost:80")); /* another server of this machine */
	assert_false(view_guard_origin("https://localhost:80", "localhost:80"));
	assert_false(view_guard_origin("http://example.com", "localhost:80"));
	assert_false(view_guard_origin("null", "localhost:80")); /* a sandboxed frame, a file */
	assert_false(view_guard_origin("", "localhost:80"));
	assert_false(view_guard_origin("http://localhost:80", NULL));
}

static void codes(void **state)
{
	struct view_guard g;
	char first[VIEW_SECRET_TEXT];
	(void)state;
	assert_int_equal(view_guard_begin(&g, 8080, 1000), 0);
	memcpy(first, g.code, sizeof first);
	assert_int_equal(strlen(first), VIEW_SECRET_TEXT - 1);
	assert_false(view_guard_code(&g, NULL, 1));
	assert_false(view_guard_code(&g, "", 1));
	assert_false(view_guard_code(&g, g.cookie, 1));
	assert_false(view_guard_code(&g, first, 1001)); /* too late */
	assert_true(view_guard_code(&g, first, 1000));
	assert_false(view_guard_code(&g, first, 1000)); /* once */
	assert_false(view_guard_code(&g, "", 1));
	assert_int_equal(view_guard_new_code(&g, 5000), 0);
	assert_string_not_equal(g.code, first);
	assert_false(view_guard_code(&g, first, 1));
	first[0] = first[0] == 'a' ? 'b' : 'a';
	memcpy(first, g.code, sizeof first);
	assert_true(view_guard_code(&g, first, 1));
}

static void cookies(void **state)
{
	struct view_guard g;
	char text[300];
	(void)state;
	assert_int_equal(view_guard_begin(&g, 8080, 1), 0);
	assert_string_equal(g.cookie_name, "openetw_8080");
	assert_string_not_equal(g.cookie, g.code);
	assert_false(view_guard_cookie(&g, NULL));
	assert_false(view_guard_cookie(&g, ""));
	assert_false(view_guard_cookie(&g, "openetw_8080="));
	snprintf(text, sizeof text, "openetw_8080=%s", g.cookie);
	assert_true(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "a=b; openetw_9=0; openetw_8080=%s; c=d", g.cookie);
	assert_true(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "openetw_80801=%s", g.cookie);
	assert_false(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "xopenetw_8080=%s", g.cookie);
	assert_false(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "openetw_8080=%sx", g.cookie);
	assert_false(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "openetw_8080=%.31s", g.cookie);
	assert_false(view_guard_cookie(&g, text));
	snprintf(text, sizeof text, "openetw_8080=%s", g.code);
	assert_false(view_guard_cookie(&g, text));
}

static void params(void **state)
{
	static const char list[] = "tr:0-1000000 t0:time f:text px:1-8192 back:flag share:real paths:list ";
	static const struct {
		const char *name, *value;
		bool good;
	} cases[] = {
		{"tr", "0", true},       {"tr", "1000000", true}, {"tr", "1000001", false},
		{"tr", "-1", false},     {"tr", "", false},       {"tr", "1.5", false},
		{"tr", "0x10", false},   {"tr", " 1", false},     {"tr", "nan", false},
		{"tr", "1e999", false},  {"t0", "1e9", true},     {"t0", "-12.5", true},
		{"t0", "9e18", false},   {"t0", "inf", false},    {"t0", "1s", false},
		{"px", "0", false},      {"px", "8192", true},    {"back", "1", true},
		{"back", "true", false}, {"back", "2", false},    {"share", "0.25", true},
		{"f", "", true},         {"f", "a == b", true},   {"paths", "1", false},
		{"", "1", false},        {"t", "1", false},       {"tr:0-1000000 t0", "1", false},
	};
	char why[200];
	char *huge = malloc(VIEW_TEXT_MOST + 2);
	double d;
	uint32_t n, numbers[3];
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		assert_int_equal(view_param_problem(list, cases[i].name, cases[i].value, why, sizeof why) == NULL,
				 cases[i].good);
	}
	assert_non_null(huge);
	memset(huge, 'x', VIEW_TEXT_MOST + 1);
	huge[VIEW_TEXT_MOST + 1] = 0;
	assert_non_null(view_param_problem(list, "f", huge, why, sizeof why));
	assert_null(view_param_problem(list, "f", huge + 1, why, sizeof why));
	free(huge);
	assert_null(view_param_problem(list, "paths", NULL, why, sizeof why));
	assert_non_null(view_param_problem(list, "path", NULL, why, sizeof why));
	assert_non_null(view_param_problem("", "tr", "0", why, sizeof why));
	assert_true(view_param_number("-1.5e3", &d) && d == -1500);
	assert_true(view_param_numbers("1,2,3", numbers, 3, &n) && n == 3 && numbers[2] == 3);
	assert_true(view_param_numbers("", numbers, 3, &n) && n == 0);
	assert_false(view_param_numbers("1,2,3,4", numbers, 3, &n));
	assert_false(view_param_numbers("1,,2", numbers, 3, &n));
	assert_false(view_param_numbers("-1", numbers, 3, &n));
	assert_false(view_param_numbers("4294967296", numbers, 3, &n));
	assert_false(view_param_numbers("1 2", numbers, 3, &n));
}

static void splits(void **state)
{
	static const char *const bad[] = {"a", "a=1&b", "a=%", "a=%4", "a=%g0", "a=%00", "a=1&b=2&c=3"};
	char good[] = "f=cpu+%3D%3d+0&q=%26%C3%A4&empty=", text[40], *names[3], *values[3];
	uint32_t n = 0;
	(void)state;
	assert_true(view_param_split(good, names, values, 3, &n) && n == 3);
	assert_string_equal(names[0], "f");
	assert_string_equal(values[0], "cpu == 0");
	assert_string_equal(values[1], "&\xc3\xa4");
	assert_string_equal(values[2], "");
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		snprintf(text, sizeof text, "%s", bad[i]);
		assert_false(view_param_split(text, names, values, 2, &n));
	}
	text[0] = 0;
	assert_true(view_param_split(text, names, values, 2, &n) && n == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts),   cmocka_unit_test(origins), cmocka_unit_test(codes),
		cmocka_unit_test(cookies), cmocka_unit_test(params),  cmocka_unit_test(splits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
