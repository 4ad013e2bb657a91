/* SPDX-License-Identifier: MIT
 * Handles that were closed are refused, whatever became of their memory.
 */
#include "winrt/testing.h"

#include <io.h>
#include <process.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

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

static void what_succeeds_leaves_the_last_error_alone(void **state)
{
	char name[MAX_PATH], folder[MAX_PATH], byte;
	DWORD n = 0;
	assert_true(GetTempPathA(sizeof folder, folder) && GetTempFileNameA(folder, "etw", 0, name));
	HANDLE file = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
	HANDLE event = CreateEventW(NULL, TRUE, FALSE, L"win_handle_test_error"), wait = NULL, twin, opened, me;
	LONG volatile calls = 0;
	me = GetCurrentProcess();
	SetLastError(1234);
	assert_true(WriteFile(file, "ab", 2, &n, NULL));
	assert_true(SetFilePointerEx(file, (LARGE_INTEGER){.QuadPart = 0}, NULL, FILE_BEGIN));
	assert_true(ReadFile(file, &byte, 1, &n, NULL));
	assert_int_equal(GetLastError(), 1234);
	assert_int_equal(GetFileType(file), FILE_TYPE_DISK);
	assert_int_equal(GetLastError(), 1234);
	opened = OpenEventW(EVENT_ALL_ACCESS, FALSE, L"win_handle_test_error");
	assert_non_null(opened);
	assert_int_equal(GetLastError(), 1234);
	assert_true(DuplicateHandle(me, event, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(GetLastError(), 1234);
	assert_true(CloseHandle(twin) && CloseHandle(opened) && CloseHandle(file));
	assert_int_equal(GetLastError(), 1234);
	assert_true(RegisterWaitForSingleObject(&wait, event, count_call, (PVOID)&calls, INFINITE, 0));
	assert_int_equal(GetLastError(), 1234);
	assert_true(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
	assert_true(CloseHandle(event) && CloseHandle(GetCurrentProcess()));
	assert_int_equal(GetLastError(), 1234);
	assert_true(DeleteFileA(name));
}

static void the_source_of_a_duplicate_is_closed_whatever_becomes_of_it(void **state)
{
	HANDLE me = GetCurrentProcess(), h = CreateEventW(NULL, TRUE, FALSE, NULL);
	SetLastError(0);
	assert_false(DuplicateHandle(me, h, me, NULL, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_true(SetEvent(h));
	assert_false(DuplicateHandle(me, h, me, NULL, 0, FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(SetEvent(h));
	h = CreateEventW(NULL, TRUE, FALSE, NULL); /* Windows' way to close a handle of another process */
	assert_true(DuplicateHandle(me, h, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE));
	assert_false(SetEvent(h));
}

static void a_registered_wait_has_no_duplicate(void **state)
{
	LONG volatile calls = 0;
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait = NULL, twin = NULL, me = GetCurrentProcess();
	assert_true(RegisterWaitForSingleObject(&wait, event, count_call, (PVOID)&calls, INFINITE, 0));
	SetLastError(0);
	assert_false(DuplicateHandle(me, wait, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
	assert_true(CloseHandle(event));
}

static unsigned give_own_handle(void *arg)
{
	HANDLE me = GetCurrentProcess();
	return DuplicateHandle(me, GetCurrentThread(), me, arg, 0, FALSE, DUPLICATE_SAME_ACCESS) ? 7 : 1;
}
static void *give_own_handle_pthread(void *arg)
{
	give_own_handle(arg);
	return NULL;
}

static void duplicates_of_pseudo_handles_are_real(void **state)
{
	HANDLE me = GetCurrentProcess(), process = NULL, thread = NULL, own = NULL;
	DWORD code = 0;
	assert_true(DuplicateHandle(me, me, me, &process, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_true(process != me);
	assert_int_equal(GetProcessId(process), GetCurrentProcessId());
	assert_int_equal(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
	assert_true(DuplicateHandle(me, GetCurrentThread(), me, &thread, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_true(thread != GetCurrentThread());
	assert_int_equal(GetThreadId(thread), GetCurrentThreadId());
	assert_int_equal(WaitForSingleObject(thread, 0), WAIT_TIMEOUT);
	assert_true(CloseHandle(process) && CloseHandle(thread));
	/* Of a thread that has ended. */
	HANDLE t = (HANDLE)_beginthreadex(NULL, 0, give_own_handle, &own, 0, NULL);
	assert_int_equal(WaitForSingleObject(t, INFINITE), WAIT_OBJECT_0);
	assert_int_equal(WaitForSingleObject(own, INFINITE), WAIT_OBJECT_0);
	assert_true(GetExitCodeThread(own, &code) && code == 7);
	assert_true(CloseHandle(own) && CloseHandle(t));
	pthread_t p;
	assert_int_equal(pthread_create(&p, NULL, give_own_handle_pthread, &own), 0);
	assert_int_equal(pthread_join(p, NULL), 0);
	assert_int_equal(WaitForSingleObject(own, 5000), WAIT_OBJECT_0);
	assert_true(CloseHandle(own));
}

/* More than there is room for. */
static void a_descriptor_has_one_handle(void **state)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	intptr_t h = _get_osfhandle(fds[1]);
	for (int i = 0; i < 300000; i++) {
		if (_get_osfhandle(fds[1]) != h) {
			fail_msg("another handle after %d calls", i);
		}
	}
	assert_true(_get_osfhandle(fds[0]) != h);
	DWORD n = 0;
	assert_true(WriteFile((HANDLE)h, "1", 1, &n, NULL));
	assert_int_equal(_close(fds[1]), 0);
	assert_int_equal(fcntl(fds[1], F_GETFD), -1);
	assert_false(WriteFile((HANDLE)h, "1", 1, &n, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	errno = 0;
	assert_int_equal(_close(fds[1]), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(_close(fds[0]), 0);
}

static void a_closed_handle_of_a_descriptor_is_made_again(void **state)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	intptr_t h = _get_osfhandle(fds[1]);
	HANDLE me = GetCurrentProcess(), twin;
	assert_true(CloseHandle((HANDLE)h));
	intptr_t again = _get_osfhandle(fds[1]);
	assert_true(again != h);
	assert_int_equal(_get_osfhandle(fds[1]), again);
	assert_true(DuplicateHandle(me, (HANDLE)again, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(_close(fds[1]), 0);
	DWORD n = 0;
	char byte = 0;
	assert_true(WriteFile(twin, "x", 1, &n, NULL));
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	assert_true(CloseHandle(twin));
	assert_int_equal(read(fds[0], &byte, 1), 0); /* nobody writes any more */
	assert_int_equal(_close(fds[0]), 0);
}

static void duplicates_of_standard_handles_go(void **state)
{
	HANDLE me = GetCurrentProcess(), out = GetStdHandle(STD_OUTPUT_HANDLE), twin;
	DWORD n;
	assert_true(DuplicateHandle(me, out, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_true(CloseHandle(twin));
	assert_false(WriteFile(twin, "", 0, &n, NULL));
	assert_true(WriteFile(out, "", 0, &n, NULL));
}

#define MUCH (1u << 20) /* more than a pipe holds */
struct writing {
	HANDLE to;
	DWORD written;
};
static unsigned write_much(void *arg)
{
	struct writing *w = arg;
	char *bytes = calloc(1, MUCH);
	bool ok = bytes && WriteFile(w->to, bytes, MUCH, &w->written, NULL);
	free(bytes);
	return ok;
}

static void who_writes_keeps_the_descriptor_that_was_closed(void **state)
{
	int fds[2], have = 0;
	static char bytes[65536];
	HANDLE r;
	struct writing w = {0};
	assert_int_equal(pipe(fds), 0); /* their numbers are those of the next pipe */
	close(fds[0]);
	close(fds[1]);
	assert_true(CreatePipe(&r, &w.to, NULL, 0));
	HANDLE t = (HANDLE)_beginthreadex(NULL, 0, write_much, &w, 0, NULL);
	for (time_t until = time(NULL) + 60; have == 0 && time(NULL) < until;) {
		assert_int_equal(ioctl(fds[0], FIONREAD, &have), 0);
		SwitchToThread();
	}
	assert_true(have > 0);
	assert_true(CloseHandle(w.to));
	assert_true(fcntl(fds[1], F_GETFD) >= 0); /* no other file gets the number yet */
	DWORD n = 0, all = 0;
	while (ReadFile(r, bytes, sizeof bytes, &n, NULL) && n > 0) {
		all += n;
	}
	assert_int_equal(all, MUCH);
	assert_int_equal(WaitForSingleObject(t, INFINITE), WAIT_OBJECT_0);
	assert_int_equal(w.written, MUCH);
	assert_int_equal(fcntl(fds[1], F_GETFD), -1);
	assert_true(CloseHandle(t) && CloseHandle(r));
}

/* fclose() and its kin tell us nothing; the number is the next file's. */
static void a_handle_whose_descriptor_libc_closed_is_refused(void **state)
{
	int a[2], b[2], c[2];
	DWORD n = 0;
	char byte;
	HANDLE twin = NULL, me = GetCurrentProcess();
	assert_true(pipe(a) == 0 && pipe(b) == 0);
	FILE *stream = fdopen(a[1], "w");
	HANDLE h = (HANDLE)_get_osfhandle(a[1]), other = (HANDLE)_get_osfhandle(b[1]);
	assert_true(DuplicateHandle(me, h, me, &twin, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(fclose(stream), 0);
	SetLastError(0);
	assert_false(WriteFile(h, "1", 1, &n, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_int_equal(pipe(c), 0);
	assert_true(c[0] == a[1] || c[1] == a[1]);
	SetLastError(0);
	assert_false(WriteFile(h, "2", 1, &n, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_int_equal(GetFileType(h), FILE_TYPE_UNKNOWN);
	assert_true(WriteFile(twin, "3", 1, &n, NULL) && read(a[0], &byte, 1) == 1 && byte == '3');
	/* What is closed then is this program's descriptor, not the new file. */
	assert_int_equal(dup2(c[1], b[1]), b[1]);
	assert_false(WriteFile(other, "4", 1, &n, NULL));
	SetLastError(0);
	assert_false(CloseHandle(h));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(fcntl(c[0], F_GETFD) >= 0 && fcntl(c[1], F_GETFD) >= 0);
	HANDLE renewed = (HANDLE)_get_osfhandle(b[1]);
	assert_true(renewed != other && WriteFile(renewed, "5", 1, &n, NULL));
	assert_true(read(c[0], &byte, 1) == 1 && byte == '5');
	assert_false(CloseHandle(other));
	assert_int_equal(_close(b[1]), 0);
	assert_true(CloseHandle(twin));
	assert_true(_close(a[0]) == 0 && _close(b[0]) == 0 && _close(c[0]) == 0 && _close(c[1]) == 0);
}

static void dup2_says_zero_and_closes_the_handle_of_its_target(void **state)
{
	int a[2], b[2];
	DWORD n = 0;
	char byte;
	assert_true(pipe(a) == 0 && pipe(b) == 0);
	HANDLE from = (HANDLE)_get_osfhandle(a[1]), to = (HANDLE)_get_osfhandle(b[1]);
	assert_int_equal(_dup2(a[1], b[1]), 0);
	assert_false(WriteFile(to, "1", 1, &n, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_true(WriteFile(from, "2", 1, &n, NULL));
	assert_true(WriteFile((HANDLE)_get_osfhandle(b[1]), "3", 1, &n, NULL));
	assert_true(read(a[0], &byte, 1) == 1 && byte == '2');
	assert_true(read(a[0], &byte, 1) == 1 && byte == '3');
	assert_int_equal(_dup2(a[1], a[1]), 0);
	assert_true(_get_osfhandle(a[1]) == (intptr_t)from);
	assert_true(_dup2(-1, a[1]) == -1 && _dup2(a[1], -1) == -1);
	assert_int_equal(_close(a[1]), 0);
	assert_int_equal(_dup2(a[1], b[1]), -1);
	assert_true(_close(a[0]) == 0 && _close(b[0]) == 0 && _close(b[1]) == 0);
}

/* Standard handles of this program, crosswise: in <- 2, out <- 0, err <- 1. */
static void a_child_gets_standard_handles_crosswise(void **state)
{
	int saved[3], file[3];
	char text[3][8] = {"", "", ""};
	WCHAR line[] = L"sh -c \"cat; echo err >&2\"";
	STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES};
	PROCESS_INFORMATION child = {0};
	for (int i = 0; i < 3; i++) {
		file[i] = memfd_create("crosswise", MFD_CLOEXEC);
		assert_true(file[i] > 2);
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		assert_true(saved[i] > 2);
	}
	assert_int_equal(pwrite(file[2], "in\n", 3, 0), 3);
	for (int i = 0; i < 3; i++) {
		dup2(file[i], i);
	}
	how.hStdInput = GetStdHandle(STD_ERROR_HANDLE);
	how.hStdOutput = GetStdHandle(STD_INPUT_HANDLE);
	how.hStdError = GetStdHandle(STD_OUTPUT_HANDLE);
	bool ran = CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &how, &child);
	bool ended = ran && WaitForSingleObject(child.hProcess, 20000) == WAIT_OBJECT_0;
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		assert_true(pread(file[i], text[i], sizeof text[i] - 1, 0) >= 0);
		close(saved[i]);
		close(file[i]);
	}
	assert_true(ended && CloseHandle(child.hProcess) && CloseHandle(child.hThread));
	assert_string_equal(text[0], "in\n");
	assert_string_equal(text[1], "err\n");
	assert_string_equal(text[2], "in\n");
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
		cmocka_unit_test(what_succeeds_leaves_the_last_error_alone),
		cmocka_unit_test(the_source_of_a_duplicate_is_closed_whatever_becomes_of_it),
		cmocka_unit_test(a_registered_wait_has_no_duplicate),
		cmocka_unit_test(duplicates_of_pseudo_handles_are_real),
		cmocka_unit_test(a_descriptor_has_one_handle),
		cmocka_unit_test(a_closed_handle_of_a_descriptor_is_made_again),
		cmocka_unit_test(duplicates_of_standard_handles_go),
		cmocka_unit_test(who_writes_keeps_the_descriptor_that_was_closed),
		cmocka_unit_test(a_handle_whose_descriptor_libc_closed_is_refused),
		cmocka_unit_test(dup2_says_zero_and_closes_the_handle_of_its_target),
		cmocka_unit_test(a_child_gets_standard_handles_crosswise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
