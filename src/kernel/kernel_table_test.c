/* SPDX-License-Identifier: MIT
 */
#include "kernel/kernel_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Against a plain array, with many more additions and removals than there is room at once. */
static void threads_that_come_and_go_are_found_exactly_while_they_are_there(void **state)
{
	enum { TIDS = 5000 };
	static uint32_t owner[TIDS];
	struct kernel_table *t = kernel_table_create();
	uint32_t seed = 7;
	for (int i = 0; i < 200000; i++) {
		seed = seed * 1664525u + 1013904223u;
		uint32_t tid = (seed >> 8) % TIDS;
		if (seed & 0x80) {
			owner[tid] = 1 + (seed >> 24);
			assert_non_null(kernel_table_add(t, tid, owner[tid]));
		} else {
			owner[tid] = 0;
			kernel_table_remove(t, tid);
		}
	}
	for (uint32_t tid = 0; tid < TIDS; tid++) {
		struct kernel_thread *found = kernel_table_find(t, tid);
		assert_int_equal(found ? found->pid : 0, owner[tid]);
	}
	assert_null(kernel_table_find(t, UINT32_MAX));
	kernel_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_come_and_go_are_found_exactly_while_they_are_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
