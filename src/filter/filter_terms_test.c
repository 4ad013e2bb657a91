/* SPDX-License-Identifier: MIT
 * Terms of filters that are more than a comparison: times that count from the start of a trace, call stacks, texts.
 */
#include "base/parse.h"
#include "filter/filter_parse.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

/* ---- relative times ---- */

static bool at_time(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	*ret = (struct filter_expr_value){.text = "x", .length = 1, .is_number = true, .number = *(uint64_t *)ctx};
	return strcmp(name, "time") == 0 && !payload;
}

static void times_count_from_the_start_or_are_of_its_day(void **state)
{
	static const struct {
		const char *text, *from, *to; /* of what passes: 100 ns before and behind do not */
	} cases[] = {
		{"time in 1.5s..2s", "2026-01-31T23:30:01.5", "2026-01-31T23:30:02"},
		{"time in 23:31..23:32:00.25", "2026-01-31T23:31", "2026-01-31T23:32:00.25"},
		{"time in 23:50..00:10", "2026-01-31T23:50", "2026-02-01T00:10"},
		{"time >= 1m and time <= 23:45", "2026-01-31T23:31", "2026-01-31T23:45"},
		{"time in (23:50..00:10)", "2026-01-31T23:50", "2026-02-01T00:10"},
		{"time in 10ms..2026-02-01", "2026-01-31T23:30:00.01", "2026-02-01T00:00"},
	};
	uint64_t start, from, to, t;
	(void)state;
	assert_true(parse_time("2026-01-31T23:30:00", &start));
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		assert_int_equal(filter_expr_parse(cases[i].text, &f, NULL), 0);
		assert_true(parse_time(cases[i].from, &from) && parse_time(cases[i].to, &to));
		t = from;
		assert_true(filter_expr_needs_start(f));
		assert_false(filter_expr_match(f, at_time, &t)); /* nobody knows yet */
		for (int round = 0; round < 2; round++) {
			filter_expr_set_start(f, start, 0);
			t = from;
			assert_true(filter_expr_match(f, at_time, &t));
			t = to;
			assert_true(filter_expr_match(f, at_time, &t));
			t = from - 1;
			assert_false(filter_expr_match(f, at_time, &t));
			t = to + 1;
			assert_false(filter_expr_match(f, at_time, &t));
		}
		filter_expr_destroy(f);
	}
	/* one hour ahead of UTC it is the next day already */
	struct filter_expr *f;
	assert_int_equal(filter_expr_parse("time == 00:40", &f, NULL), 0);
	filter_expr_set_start(f, start, 36000000000);
	assert_true(parse_time("2026-01-31T23:40", &t));
	assert_true(filter_expr_match(f, at_time, &t));
	filter_expr_destroy(f);
}

/* ---- stack and text ---- */

static bool several(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	static const char *const frames[] = {"libc.so.6!malloc", "shop!Order::pay(int)",
					     "ntdll.dll!RtlUserThreadStart"},
				 *const texts[] = {"teapot", "", "Grüße"};
	const char *const *all = strcmp(name, "stack") == 0 ? frames : texts;
	(void)ctx;
	if (payload || (strcmp(name, "stack") != 0 && strcmp(name, "text") != 0) || ret->index >= 3) {
		return false;
	}
	ret->text = all[ret->index];
	ret->length = strlen(ret->text);
	return true;
}

static void stacks_and_texts_are_searched_whole(void **state)
{
	static const struct {
		const char *text;
		bool wanted;
	} cases[] = {
		{"stack has malloc", true},
		{"stack has \"libc.so.6!malloc\"", true},
		{"stack has libc!malloc", false}, /* '!' has to be quoted: it is no part of a word */
		{"stack has \"libc!mal*\"", true},
		{"stack has \"ntdll!Rtl*\"", true},
		{"stack has \"shop!*pay*\"", true},
		{"stack has \"libc!free\"", false},
		{"stack", true},
		{"not stack has free", true},
		{"text has tea", true},
		{"text has 'GRüße'", true},
		{"text has coffee", false},
		{"text has coffee or stack has pay", true},
		{"text == teapot", false}, /* a field of that name */
		{"[stack] == x", false},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct filter_expr *f;
		struct diag d = {0};
		int err = filter_expr_parse(cases[i].text, &f, &d);
		if (err < 0 && i == 2) {
			continue;
		}
		if (err < 0 || filter_expr_match(f, several, NULL) != cases[i].wanted) {
			fail_msg("'%s' should be %d: %s", cases[i].text, cases[i].wanted, d.text);
		}
		filter_expr_destroy(f);
	}
}

static void the_literal_of_a_text_is_found_in_bytes(void **state)
{
	struct filter_expr *f;
	const char *text;
	size_t n;
	static const uint8_t wide[] = {7, 'T', 0, 'e', 0, 0xE9, 0, '!', 0};
	(void)state;
	assert_int_equal(filter_expr_parse("text has 'a*order?'", &f, NULL), 0);
	assert_true(filter_node_literal(&f->nodes[f->root], &text, &n));
	assert_int_equal(n, 5);
	assert_memory_equal(text, "order", 5);
	filter_expr_destroy(f);
	assert_int_equal(filter_expr_parse("text == order", &f, NULL), 0);
	assert_false(filter_node_literal(&f->nodes[f->root], &text, &n));
	filter_expr_destroy(f);
	assert_true(filter_bytes_contain("xxORDERxx", 9, "order", 5));
	assert_false(filter_bytes_contain("xxORDE", 6, "order", 5));
	assert_true(filter_bytes_contain(wide, sizeof wide, "teé", 4));
	assert_false(filter_bytes_contain(wide, sizeof wide - 3, "teé", 4));
	assert_true(filter_bytes_contain("", 0, "", 0));
}

static bool bytes_have(const char *wanted, const void *bytes, size_t n)
{
	char text[64];
	struct filter_expr *f;
	struct strbuf scratch = {0};
	snprintf(text, sizeof text, "text has \"%s\"", wanted);
	assert_int_equal(filter_expr_parse(text, &f, NULL), 0);
	bool yes = filter_bytes_have(&f->nodes[f->root], bytes, n, &scratch);
	assert_false(scratch.failed);
	strbuf_finish(&scratch);
	filter_expr_destroy(f);
	return yes;
}

static void texts_of_bytes_end_at_a_nul(void **state)
{
	static const char narrow[] = "\1Order 17 paid\0gr\xC3\xBC\xC3\x9F"
				     "e\0\xFF";
	static const uint8_t wide[] = {9, 'T', 0, 'e', 0, 0xE9, 0, 0, 0, 'x', 0, 0x3D, 0xD8, 0, 0xDE, 'y', 0};
	(void)state;
	assert_true(bytes_have("ORDER", narrow, sizeof narrow));
	assert_true(bytes_have("*order*paid", narrow, sizeof narrow));
	assert_false(bytes_have("order*paid", narrow, sizeof narrow)); /* a byte stands in front of it */
	assert_false(bytes_have("paid*gr", narrow, sizeof narrow));
	assert_true(bytes_have("gr??\xC3\x9F"
			       "e",
			       narrow, sizeof narrow));
	assert_true(bytes_have("te\xC3\xA9", wide, sizeof wide));
	assert_true(bytes_have("x\xF0\x9F\x98\x80y", wide, sizeof wide));
	assert_true(bytes_have("x*y", wide, sizeof wide));
	assert_false(bytes_have("t*y", wide, sizeof wide));
	assert_false(bytes_have("te\xC3\xA9", wide, 6)); /* cut off within the last one */
	assert_true(bytes_have("e", wide + 3, 1));
	assert_false(bytes_have("e", wide, 0));
}

/* Longer than what filter_bytes_contain() compares at once. */
static void a_long_text_is_found_whole(void **state)
{
	char wanted[301];
	uint8_t wide[2 * sizeof wanted] = {0};
	memset(wanted, 'a', 300);
	wanted[300] = 0;
	for (size_t i = 0; i < 300; i++) {
		wide[2 * i] = 'a';
	}
	struct filter_node n = {
		.type = FILTER_NODE_TEST, .test = FILTER_TEST_HAS, .property = FILTER_PROPERTY_TEXT, .value = wanted};
	struct strbuf scratch = {0};
	(void)state;
	assert_true(filter_bytes_have(&n, wide, sizeof wide, &scratch));
	wide[2 * 290] = 'b';
	assert_false(filter_bytes_have(&n, wide, sizeof wide, &scratch));
	strbuf_finish(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_count_from_the_start_or_are_of_its_day),
		cmocka_unit_test(stacks_and_texts_are_searched_whole),
		cmocka_unit_test(the_literal_of_a_text_is_found_in_bytes),
		cmocka_unit_test(texts_of_bytes_end_at_a_nul),
		cmocka_unit_test(a_long_text_is_found_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
