/* SPDX-License-Identifier: MIT
 * Hash maps.
 */
#include "base/map.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

/* Numbers as files and threads have them: near one another, with equal low or high halves, and the ends. */
static uint64_t number(uint32_t i)
{
	return i % 4 == 0 ? i : i % 4 == 1 ? (uint64_t)i << 32 : i % 4 == 2 ? UINT64_MAX - i : i * 4096ull + 3;
}

static void nothing_is_found_in_an_empty_map(void **state)
{
	struct map m = {0};
	assert_int_equal(map_find(&m, 0), MAP_NONE);
	assert_int_equal(map_entry(&m, 0), MAP_NONE);
	MAP_EACH(&m, 7, at) {
		fail();
	}
	map_clear(&m);
	map_free(&m);
}

static void what_was_added_is_found_until_it_is_removed(void **state)
{
	struct map m = {0};
	enum { COUNT = 20000 };
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(map_find(&m, number(i)), MAP_NONE);
		assert_int_equal(map_add(&m, number(i), i), 0);
	}
	assert_int_equal(m.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i += 3) {
		map_remove(&m, map_find(&m, number(i)));
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		size_t at = map_find(&m, number(i));
		assert_int_equal(at != MAP_NONE, i % 3 != 0);
		assert_true(at == MAP_NONE || map_value(&m, at) == i);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		if (i % 3 != 0) {
			map_remove(&m, map_find(&m, number(i)));
		}
	}
	assert_int_equal(m.count, 0);
	assert_int_equal(map_entry(&m, 0), MAP_NONE);
	map_free(&m);
}

static void each_of_the_same_key_is_found(void **state)
{
	struct map m = {0};
	uint64_t sum = 0;
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(map_add(&m, 5, i), 0);
		assert_int_equal(map_add(&m, 1000 + i, 1000), 0);
	}
	MAP_EACH(&m, 5, at) {
		sum += map_value(&m, at) + 1;
	}
	assert_int_equal(sum, 50 * 51 / 2);
	while (map_find(&m, 5) != MAP_NONE) {
		map_remove(&m, map_find(&m, 5));
	}
	assert_int_equal(m.count, 50);
	map_free(&m);
}

static void a_pass_over_all_sees_each_once(void **state)
{
	struct map m = {0};
	bool seen[1000] = {false};
	uint32_t n = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(map_add(&m, number(i), i), 0);
	}
	for (size_t at = map_entry(&m, 0); at != MAP_NONE; at = map_entry(&m, at + 1)) {
		assert_false(seen[map_value(&m, at)]);
		seen[map_value(&m, at)] = true;
		n++;
	}
	assert_int_equal(n, 1000);
	size_t at = map_find(&m, number(8));
	map_set(&m, at, 9999);
	assert_int_equal(map_value(&m, map_find(&m, number(8))), 9999);
	map_clear(&m);
	assert_int_equal(map_find(&m, number(8)), MAP_NONE);
	assert_int_equal(map_add(&m, number(8), 0), 0);
	assert_int_equal(m.count, 1);
	map_free(&m);
}

/* Whoever adds by a hash made it before there were slots. */
static void a_hash_is_the_same_before_and_after_the_first_entry(void **state)
{
	static const char text[] = "a name of some length, longer than a word";
	struct map m = {0};
	for (size_t n = 0; n < sizeof text; n++) {
		uint64_t before = map_hash(&m, text, n);
		assert_int_equal(map_add(&m, before, n), 0);
		assert_int_equal(map_hash(&m, text, n), before);
	}
	for (size_t n = 0; n < sizeof text; n++) {
		size_t at = map_find(&m, map_hash(&m, text, n));
		assert_int_not_equal(at, MAP_NONE);
		assert_int_equal(map_value(&m, at), n);
	}
	map_free(&m);
}

static void keys_that_differ_little_stand_apart(void **state)
{
	static const uint64_t steps[] = {1, 8, 4096, 1ull << 20, 1ull << 32, 1ull << 44, 0x9E3779B97F4A7C15ull};
	for (size_t k = 0; k < BASE_ARRAY_LEN(steps); k++) {
		struct map m = {0};
		size_t longest = 0, run = 0;
		for (uint64_t i = 0; i < 4096; i++) {
			assert_int_equal(map_add(&m, i * steps[k], i), 0);
		}
		for (size_t at = 0; at < (size_t)1 << m.bits; at++) {
			run = m.slots[at].value ? run + 1 : 0;
			longest = BASE_MAX(longest, run);
		}
		assert_true(longest < 512); /* a chance map has about 30 */
		map_free(&m);
	}
}

static void a_full_map_refuses(void **state)
{
	struct map m = {0};
	assert_int_equal(map_add(&m, 1, 2), 0);
	m.count = MAP_MOST;
	assert_int_equal(map_add(&m, 3, 4), -ENOMEM);
	assert_int_equal(map_find(&m, 3), MAP_NONE);
	assert_int_equal(map_value(&m, map_find(&m, 1)), 2);
	map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_an_empty_map),
		cmocka_unit_test(what_was_added_is_found_until_it_is_removed),
		cmocka_unit_test(each_of_the_same_key_is_found),
		cmocka_unit_test(a_pass_over_all_sees_each_once),
		cmocka_unit_test(a_hash_is_the_same_before_and_after_the_first_entry),
		cmocka_unit_test(keys_that_differ_little_stand_apart),
		cmocka_unit_test(a_full_map_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
