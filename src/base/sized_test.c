/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* As the library knows it: `c` came with a later release. */
struct known {
	uint32_t size;
	uint32_t a;
	uint64_t b;
	uint64_t c;
};
struct newer { /* as a program of a later release knows it */
	struct known k;
	uint64_t d[2];
};

static void sizes_from_the_first_release_on_are_taken(void **state)
{
	struct known k = {0};
	for (uint32_t i = 0; i < 200000; i++) {
		k.size = i;
		bool fine = i >= offsetof(struct known, c) && i <= SIZED_BYTES_MAX;
		assert_int_equal(SIZED_VALID(&k, b), fine);
	}
	k.size = UINT32_MAX;
	assert_false(SIZED_VALID(&k, b));
	assert_false(SIZED_VALID((struct known *)NULL, b));
}

static void an_old_program_gets_what_it_has_room_for(void **state)
{
	const struct known now = {.a = 1, .b = 2, .c = 3};
	struct known k;
	memset(&k, 0xAA, sizeof k);
	k.size = offsetof(struct known, c);
	assert_false(SIZED_HAS(&k, c));
	SIZED_GIVE(&k, &now);
	assert_int_equal(k.size, offsetof(struct known, c));
	assert_int_equal(k.a, 1);
	assert_int_equal(k.b, 2);
	assert_int_equal(k.c, 0xAAAAAAAAAAAAAAAAull); /* not the library's to write */
}

static void a_newer_program_gets_zeros_for_what_the_library_does_not_know(void **state)
{
	const struct known now = {.a = 1, .b = 2, .c = 3};
	struct newer n;
	memset(&n, 0xAA, sizeof n);
	n.k.size = offsetof(struct newer, d[1]);
	assert_true(SIZED_HAS(&n.k, c));
	SIZED_GIVE(&n.k, &now);
	assert_int_equal(n.k.size, offsetof(struct newer, d[1]));
	assert_int_equal(n.k.c, 3);
	assert_int_equal(n.d[0], 0);
	assert_int_equal(n.d[1], 0xAAAAAAAAAAAAAAAAull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_from_the_first_release_on_are_taken),
		cmocka_unit_test(an_old_program_gets_what_it_has_room_for),
		cmocka_unit_test(a_newer_program_gets_zeros_for_what_the_library_does_not_know),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
