/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void each_process_has_a_key_and_one_that_ended_has_none(void **state)
{
	uint32_t self = (uint32_t)getpid();
	uint64_t key = process_start_key(self);
	assert_int_equal(key & 0x3FFFFF, self & 0x3FFFFF);
	assert_true(key >> 22 != 0);
	assert_true(process_start_key(self) == key);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	uint64_t other = process_start_key((uint32_t)child);
	assert_true(other != key && (other & 0x3FFFFF) == ((uint32_t)child & 0x3FFFFF));
	assert_true(other >> 22 >= key >> 22);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(process_start_key((uint32_t)child) == 0);
	assert_true(process_start_key(0) == 0);
	assert_true(process_start_key(UINT32_MAX) == 0);
}

static void nobody_is_in_no_login_session(void **state)
{
	assert_int_equal(process_login_session(0), 0);
	assert_int_equal(process_login_session(UINT32_MAX), 0);
	assert_true(process_login_session((uint32_t)getpid()) != UINT32_MAX); /* the kernel's word for none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_has_a_key_and_one_that_ended_has_none),
		cmocka_unit_test(nobody_is_in_no_login_session),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
