/* SPDX-License-Identifier: MIT
 * Growing arrays.
 */
#include "base/vec.h"

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static void an_array_keeps_its_elements_while_it_grows(void **state)
{
	struct {
		uint64_t *items;
		uint32_t count, cap;
	} v = {0};
	for (uint64_t i = 0; i < 100000; i++) {
		assert_true(VEC_ROOM(v.items, v.count, v.cap));
		v.items[v.count++] = i * i;
		assert_true(v.count <= v.cap);
	}
	for (uint64_t i = 0; i < v.count; i++) {
		assert_true(v.items[i] == i * i);
	}
	free(v.items);
}

static void room_that_is_there_is_not_made_again(void **state)
{
	char *items = NULL;
	size_t count = 0, cap = 0;
	assert_true(VEC_ROOM(items, count, cap));
	char *first = items;
	size_t had = cap;
	assert_true(had > 0);
	for (count = 0; count < had; count++) {
		assert_true(VEC_ROOM(items, count, cap));
	}
	assert_ptr_equal(items, first);
	assert_int_equal(cap, had);
	free(items);
}

/* The type of the capacity is a limit, and so is the memory. */
static void what_cannot_grow_stays_as_it_is(void **state)
{
	uint16_t *items = NULL;
	uint8_t count = 0, cap = 0;
	while (VEC_ROOM(items, count, cap)) {
		items[count++] = 7;
	}
	assert_int_equal(count, UINT8_MAX);
	assert_int_equal(cap, UINT8_MAX);
	assert_int_equal(items[UINT8_MAX - 1], 7);
	free(items);
	uint32_t *few = NULL;
	unsigned n = 0, room = 0;
	while (VEC_ROOM_UP_TO(few, n, room, 100)) {
		few[n] = n;
		n++;
	}
	assert_int_equal(n, 100);
	free(few);
	size_t many = SIZE_MAX / 8;
	assert_null(vec_grow(NULL, &many, SIZE_MAX, 16)); /* the product overflows */
	assert_int_equal(many, SIZE_MAX / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_keeps_its_elements_while_it_grows),
		cmocka_unit_test(room_that_is_there_is_not_made_again),
		cmocka_unit_test(what_cannot_grow_stays_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
