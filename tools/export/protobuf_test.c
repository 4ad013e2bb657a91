/* SPDX-License-Identifier: MIT */
#include "tools/export/json_walk.h"
#include "tools/export/protobuf.h"

#include <setjmp.h>
#include <cmocka.h>

static void expect(struct strbuf *b, const void *bytes, size_t n)
{
	assert_false(b->failed);
	assert_int_equal(b->len, n);
	assert_memory_equal(b->s, bytes, n);
	strbuf_finish(b);
	*b = (struct strbuf){0};
}

/* The examples of the public description of the encoding. */
static void numbers_texts_and_messages_are_encoded_as_the_description_says(void **state)
{
	struct strbuf b = {0};
	pb_uint(&b, 1, 150);
	expect(&b, "\x08\x96\x01", 3);
	pb_string(&b, 2, "testing");
	expect(&b, "\x12\x07testing", 9);
	pb_uint(&b, 1, UINT64_MAX); /* -2 + 1 */
	expect(&b, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	pb_fixed32(&b, 1, 1);
	expect(&b, "\x0d\x01\0\0\0", 5);
	pb_double(&b, 16, 1.0);
	expect(&b, "\x81\x01\0\0\0\0\0\0\xf0\x3f", 10);
	size_t at = pb_begin(&b, 3);
	pb_uint(&b, 1, 150);
	pb_end(&b, at);
	expect(&b, "\x1a\x83\x80\x80\0\x08\x96\x01", 8);
}

static size_t items(const char *json)
{
	size_t n = 0;
	struct json_item i;
	for (struct json_walk w = json_walk_of(json, strlen(json)); json_walk_next(&w, &i); n++) {
		assert_true(i.json >= json && i.json + i.length <= json + strlen(json));
		assert_true(n < 100);
	}
	return n;
}

static void members_and_elements_come_one_after_the_other(void **state)
{
	const char *json = "{\"a\":1,\"b c\":[1,{\"d\":\"}\"}],\"e\":\"x,\\\"y\"}";
	struct json_walk w = json_walk_of(json, strlen(json));
	struct json_item i;
	const char *const names[] = {"\"a\"", "\"b c\"", "\"e\""}, *const values[] = {"1", "[1,{\"d\":\"}\"}]",
										      "\"x,\\\"y\""};
	for (int k = 0; k < 3; k++) {
		assert_true(json_walk_next(&w, &i));
		assert_int_equal(i.name_length, strlen(names[k]));
		assert_memory_equal(i.name, names[k], i.name_length);
		assert_int_equal(i.length, strlen(values[k]));
		assert_memory_equal(i.json, values[k], i.length);
	}
	assert_false(json_walk_next(&w, &i));
	assert_int_equal(items("[]"), 0);
	assert_int_equal(items("{}"), 0);
	assert_int_equal(items("[[],[],\"]\"]"), 3);
	assert_int_equal(items("7"), 0);
}

static void what_is_not_well_formed_ends(void **state)
{
	static const char *const bad[] = {
		"{", "[", "[,", "[,,,]", "{\"a", "{\"a\"", "{\"a\":", "{a:1}", "[1", "[\"", "{}{}", "[}]", ""};
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		(void)items(bad[i]);
	}
}

static void numbers_keep_their_kind(void **state)
{
	struct json_number n = json_number_of("18446744073709551615", 20);
	assert_true(n.kind == JSON_UNSIGNED && n.u == UINT64_MAX);
	n = json_number_of("-9223372036854775808", 20);
	assert_true(n.kind == JSON_SIGNED && n.i == INT64_MIN);
	n = json_number_of("1.5", 3);
	assert_true(n.kind == JSON_DOUBLE && n.d > 1.4 && n.d < 1.6);
	n = json_number_of("-1e3", 4);
	assert_true(n.kind == JSON_DOUBLE && n.d < -999);
	n = json_number_of("99999999999999999999999", 23);
	assert_true(n.kind == JSON_DOUBLE && n.d > 1e22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_texts_and_messages_are_encoded_as_the_description_says),
		cmocka_unit_test(members_and_elements_come_one_after_the_other),
		cmocka_unit_test(what_is_not_well_formed_ends),
		cmocka_unit_test(numbers_keep_their_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
