/* SPDX-License-Identifier: MIT
 * What a stranger may send the viewer's server before an endpoint runs: Host, Origin, Cookie, a code, a parameter or several
 * of them, and a body, one on each line.
 */
#include "tools/common/json_read.h"
#include "tools/view/view_guard.h"
#include "tools/view/view_param.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char params[] = "tr:0-1000000 t0:time t1:time f:text px:1-8192 back:flag share:real paths:list ";
	static const char *const hosts[] = {"box"};
	struct view_guard g = {.cookie_name = "openetw_1", .hosts = hosts, .host_count = 1};
	char *line[LINES], why[200], *text = malloc(size + 1);
	uint32_t numbers[16], n;
	double d;
	if (!text) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	memset(g.cookie, 'c', VIEW_SECRET_TEXT - 1);
	memset(g.code, 'd', VIEW_SECRET_TEXT - 1);
	g.code_until_ns = 10;
	char *rest = text;
	for (int i = 0; i < LINES; i++) {
		line[i] = rest;
		char *end = strchr(rest, '\n');
		rest = end ? end + 1 : rest + strlen(rest);
		if (end) {
			*end = 0;
		}
	}
	bool own = view_guard_host(&g, line[0]);
	if (view_guard_origin(line[1], line[0]) && strlen(line[1]) != strlen(line[0]) + 7) {
		abort();
	}
	if (own && strchr(line[0], '/')) {
		abort();
	}
	if (view_guard_cookie(&g, line[2]) && !strstr(line[2], g.cookie)) {
		abort();
	}
	if (view_guard_code(&g, line[3], 5) && (strlen(line[3]) != VIEW_SECRET_TEXT - 1 || g.code[0])) {
		abort();
	}
	const char *wrong = view_param_problem(params, line[4], line[5], why, sizeof why);
	if (!wrong && strcmp(line[4], "f") != 0 && !view_param_number(line[5], &d)) {
		abort();
	}
	if (view_param_numbers(line[5], numbers, BASE_ARRAY_LEN(numbers), &n) && n > BASE_ARRAY_LEN(numbers)) {
		abort();
	}
	if (json_load(why, sizeof why)) {
		const char *name;
		struct json_value *v = json_parse(line[6], strlen(line[6]), why, sizeof why), *member;
		for (size_t i = 0; json_member_at(v, i, &name, &member); i++) {
			view_param_problem(params, name, NULL, why, sizeof why);
		}
		json_free(v);
	}
	char *names[4], *values[4];
	if (view_param_split(line[5], names, values, BASE_ARRAY_LEN(names), &n)) {
		for (uint32_t i = 0; i < n; i++) {
			view_param_problem(params, names[i], values[i], why, sizeof why);
		}
	}
	free(text);
	return 0;
}
