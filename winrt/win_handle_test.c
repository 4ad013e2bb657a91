/* SPDX-License-Identifier: MIT
 * Handles that were closed are refused, whatever became of their memory.
 */
#include "winrt/testing.h"

#include <process.h>

static void a_closed_handle_is_refused(void **state)
{
	HANDLE h = CreateEventW(NULL, TRUE, TRUE, NULL);
	assert_non_null(h);
	assert_int_equal(WaitForSingleObject(h, 0), WAIT_OBJECT_0);
	assert_true(CloseHandle(h));
	for (int i = 0; i < 2; i++) {
		HANDLE other = i ? CreateEventW(NULL, TRUE, TRUE, NULL) : NULL; /* perhaps in the same memory */
		SetLastError(0);
		assert_false(CloseHandle(h));
		assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
		assert_false(SetEvent(h));
		assert_int_equal(WaitForSingleObject(h, 0), WAIT_FAILED);
		assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
		assert_true(!other || CloseHandle(other));
	}
}

static void no_other_number_is_a_handle(void **state)
{
	static const intptr_t wrong[] = {0, 1, 3, 4096, 0x7FFFFFFC, -3, -4096, INTPTR_MAX, INTPTR_MIN};
	HANDLE h = CreateEventW(NULL, TRUE, TRUE, NULL);
	int on_stack = 0;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_false(SetEvent((HANDLE)wrong[i]));
		assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	}
	assert_false(SetEvent(&on_stack));
	assert_false(SetEvent((HANDLE)((intptr_t)h + 4)));
	assert_false(SetEvent((HANDLE)((intptr_t)h | (intptr_t)1 << 32)));
	assert_true(SetEvent((HANDLE)((intptr_t)h | 3)));               /* as on Windows */
	assert_true(SetEvent((HANDLE)(intptr_t)(uint32_t)(intptr_t)h)); /* through 32 bits and back */
	assert_true(CloseHandle(h));
}

/* A handle is no other one's for many that come and go after it. */
static void old_handles_stay_refused_while_others_come_and_go(void **state)
{
	HANDLE old = CreateEventW(NULL, TRUE, FALSE, NULL);
	assert_true(CloseHandle(old));
	for (int i = 0; i < 100000; i++) {
		HANDLE h = CreateEventW(NULL, TRUE, FALSE, NULL);
		assert_ptr_not_equal(h, old);
		assert_true(CloseHandle(h));
	}
	assert_false(SetEvent(old));
}

static void a_duplicate_lives_on_its_own(void **state)
{
	HANDLE h = CreateEventW(NULL, TRUE, FALSE, NULL), twin, moved;
	HANDLE me = GetCurrentProcess();
	assert_true(DuplicateHandle(me, h, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_ptr_not_equal(h, twin);
	assert_true(SetEvent(h));
	assert_true(CloseHandle(h));
	assert_int_equal(WaitForSingleObject(twin, 0), WAIT_OBJECT_0);
	assert_true(DuplicateHandle(me, twin, me, &moved, 0, FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE));
	assert_false(CloseHandle(twin));
	assert_int_equal(WaitForSingleObject(moved, 0), WAIT_OBJECT_0);
	assert_true(CloseHandle(moved));
}

static void a_name_has_as_many_handles_as_were_asked_for(void **state)
{
	HANDLE a = CreateEventW(NULL, TRUE, FALSE, L"win_handle_test"),
	       b = CreateEventW(NULL, TRUE, FALSE, L"Win_Handle_Test");
	assert_int_equal(GetLastError(), ERROR_ALREADY_EXISTS);
	assert_ptr_not_equal(a, b);
	assert_true(SetEvent(a));
	assert_true(CloseHandle(a));
	assert_int_equal(WaitForSingleObject(b, 0), WAIT_OBJECT_0);
	assert_true(CloseHandle(b));
	assert_null(OpenEventW(0, FALSE, L"win_handle_test"));
	assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

struct waiting {
	HANDLE begun, event;
	DWORD result;
};
static unsigned wait_for_it(void *arg)
{
	struct waiting *w = arg;
	HANDLE both[2] = {w->event, w->begun};
	SetEvent(w->begun);
	w->result = WaitForMultipleObjects(1, both, FALSE, 5000);
	return 7;
}

static void who_waits_keeps_what_was_closed(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct waiting w = {CreateEventW(NULL, TRUE, FALSE, NULL), CreateEventW(NULL, TRUE, FALSE, NULL), 0};
		HANDLE twin, me = GetCurrentProcess(), t;
		assert_true(DuplicateHandle(me, w.event, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
		t = (HANDLE)_beginthreadex(NULL, 0, wait_for_it, &w, 0, NULL);
		assert_non_null(t);
		WaitForSingleObject(w.begun, INFINITE);
		assert_true(CloseHandle(w.event)); /* before the wait, or during it */
		assert_true(SetEvent(twin));
		DWORD code = 0;
		assert_int_equal(WaitForSingleObject(t, INFINITE), WAIT_OBJECT_0);
		assert_true(GetExitCodeThread(t, &code));
		assert_int_equal(code, 7);
		assert_true(w.result == WAIT_OBJECT_0 || w.result == WAIT_FAILED);
		assert_true(CloseHandle(t) && CloseHandle(twin) && CloseHandle(w.begun));
	}
}

static VOID CALLBACK count_call(PVOID arg, BOOLEAN timed_out)
{
	InterlockedIncrement((LONG volatile *)arg);
}

static void a_wait_is_unregistered_once(void **state)
{
	LONG volatile calls = 0;
	for (int closed = 0; closed < 2; closed++) {
		HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait = NULL;
		assert_true(RegisterWaitForSingleObject(&wait, event, count_call, (PVOID)&calls, INFINITE, 0));
		assert_false(CloseHandle(wait));
		assert_int_equal(WaitForSingleObject(wait, 0), WAIT_FAILED);
		if (closed) {
			assert_true(CloseHandle(event)); /* perhaps before the wait has begun */
		} else {
			LONG before = calls;
			assert_true(SetEvent(event));
			while (calls == before) {
				SwitchToThread();
			}
		}
		assert_true(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
		SetLastError(0);
		assert_false(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
		assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
		assert_true(closed || CloseHandle(event));
	}
	assert_int_equal(calls, 1);
}

static void standard_handles_stay(void **state)
{
	HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
	assert_ptr_equal(out, GetStdHandle(STD_OUTPUT_HANDLE));
	assert_true(CloseHandle(out));
	DWORD n = 0;
	assert_true(WriteFile(out, "", 0, &n, NULL));
	assert_ptr_not_equal(out, GetStdHandle(STD_ERROR_HANDLE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_closed_handle_is_refused),
		cmocka_unit_test(no_other_number_is_a_handle),
		cmocka_unit_test(old_handles_stay_refused_while_others_come_and_go),
		cmocka_unit_test(a_duplicate_lives_on_its_own),
		cmocka_unit_test(a_name_has_as_many_handles_as_were_asked_for),
		cmocka_unit_test(who_waits_keeps_what_was_closed),
		cmocka_unit_test(a_wait_is_unregistered_once),
		cmocka_unit_test(standard_handles_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
