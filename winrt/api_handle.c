/* SPDX-License-Identifier: MIT
 *
 * HANDLEs: events, processes, and waiting for any mix of these, threads (api_thread.c) and mutexes (api_mutex.c).
 *
 * One lock and one condition variable for all objects: a wait looks at its objects under the lock
 * and sleeps until anything in the process changes. This is a compatibility layer for tools, not a
 * place for thousands of waiters. Other processes do not signal us; while one is waited for, the
 * wait wakes up now and then.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define PROCESS_POLL_MS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct win_object *named;

static void init(void)
{
	pthread_condattr_t a;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &a);
	pthread_condattr_destroy(&a);
}

static void lock_all(void)
{
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
}

int win_fail(uint32_t code)
{
	SetLastError(code);
	return 0;
}

int win_fail_errno(void)
{
	SetLastError(win32_from_errno(-errno));
	return 0;
}

void win_deadline(struct timespec *ret, uint32_t milliseconds)
{
	clock_gettime(CLOCK_MONOTONIC, ret);
	ret->tv_sec += milliseconds / 1000;
	ret->tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (ret->tv_nsec >= 1000000000) {
		ret->tv_nsec -= 1000000000;
		ret->tv_sec++;
	}
}

struct win_object *win_object_new(enum win_kind kind)
{
	struct win_object *o = calloc(1, sizeof *o);
	if (!o) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	o->kind = kind;
	o->refs = 1;
	o->fd = -1;
	return o;
}

void win_object_unref(struct win_object *o)
{
	if (!o) {
		return;
	}
	lock_all();
	bool last = --o->refs == 0;
	if (last && o->name) {
		for (struct win_object **p = &named; *p; p = &(*p)->next) {
			if (*p == o) {
				*p = o->next;
				break;
			}
		}
	}
	pthread_mutex_unlock(&lock);
	if (last) {
		if (o->fd >= 0 && o->owns_fd) {
			close(o->fd);
		}
		if (o->child) {
			win_child_left(o->pid);
		}
		free(o->name);
		free(o);
	}
}

BOOL WINAPI CloseHandle(HANDLE hObject)
{
	if (hObject == GetCurrentProcess() || hObject == GetCurrentThread()) {
		return TRUE;
	}
	return win_handle_close(hObject);
}

/* ---- events ------------------------------------------------------------------------------------
 */

void win_objects_lock(void)
{
	lock_all();
}

void win_objects_wait(void)
{
	pthread_cond_wait(&changed, &lock);
}

void win_objects_unlock(bool anything)
{
	if (anything) {
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

struct win_object *win_object_named(enum win_kind kind, const uint16_t *name, bool open_only)
{
	lock_all();
	struct win_object *o = name ? named : NULL;
	while (o && !utf16_equal_nocase(o->name, name)) {
		o = o->next;
	}
	if (o && o->kind == kind) {
		o->refs++;
		if (!open_only) {
			SetLastError(ERROR_ALREADY_EXISTS);
		}
		return o;
	}
	if (o || open_only) {
		SetLastError(o ? ERROR_INVALID_HANDLE : ERROR_FILE_NOT_FOUND);
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	SetLastError(ERROR_SUCCESS);
	o = win_object_new(kind);
	if (!o) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	o->name = name ? utf16_dup(name, utf16_len(name)) : NULL;
	if (o->name) {
		o->next = named;
		named = o;
	}
	return o;
}

HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
			   LPCWSTR lpName)
{
	struct win_object *o = win_object_named(WIN_EVENT, lpName, false);
	if (!o) {
		return NULL;
	}
	if (GetLastError() != ERROR_ALREADY_EXISTS) {
		o->manual_reset = bManualReset;
		o->signaled = bInitialState;
	}
	win_objects_unlock(false);
	return win_handle_give(o);
}

HANDLE WINAPI OpenEventW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	struct win_object *o = win_object_named(WIN_EVENT, lpName, true);
	if (o) {
		win_objects_unlock(false);
	}
	return win_handle_give(o);
}

HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
			   LPCSTR lpName)
{
	uint16_t *name = win_utf16(lpName);
	HANDLE h = CreateEventW(lpEventAttributes, bManualReset, bInitialState, name);
	free(name);
	return h;
}

HANDLE WINAPI CreateEventExW(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCWSTR lpName, DWORD dwFlags,
			     DWORD dwDesiredAccess)
{
	return CreateEventW(lpEventAttributes, !!(dwFlags & CREATE_EVENT_MANUAL_RESET),
			    !!(dwFlags & CREATE_EVENT_INITIAL_SET), lpName);
}

static BOOL event_set(HANDLE h, bool on)
{
	WIN_USED struct win_object *o = win_object_of(h, WIN_EVENT);
	if (!o) {
		return FALSE;
	}
	lock_all();
	o->signaled = on;
	if (on) {
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return TRUE;
}

BOOL WINAPI SetEvent(HANDLE hEvent)
{
	return event_set(hEvent, true);
}

BOOL WINAPI ResetEvent(HANDLE hEvent)
{
	return event_set(hEvent, false);
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

static bool ready(struct win_object *o)
{
	if (o->kind == WIN_PROCESS && !o->signaled) {
		struct pollfd p = {.fd = o->fd, .events = POLLIN};
		bool gone = o->fd >= 0 ? poll(&p, 1, 0) == 1 : kill(o->pid, 0) < 0 && errno == ESRCH;
		o->signaled = gone;
	}
	if (o->kind == WIN_MUTEX) {
		return o->pid == 0 || o->pid == (int)GetCurrentThreadId();
	}
	if (o->kind == WIN_SEMAPHORE) {
		return o->count > 0;
	}
	return o->signaled;
}

static void take(struct win_object *o)
{
	if (o->kind == WIN_EVENT && !o->manual_reset) {
		o->signaled = false;
	} else if (o->kind == WIN_MUTEX) {
		o->pid = (int)GetCurrentThreadId();
		o->count++;
	} else if (o->kind == WIN_SEMAPHORE) {
		o->count--;
	}
}

/* Under the lock: index of what was taken, -1 if the wait is not over. */
static int try_take(struct win_object **o, DWORD n, bool all)
{
	DWORD have = 0;
	for (DWORD i = 0; i < n; i++) {
		if (ready(o[i])) {
			if (!all) {
				take(o[i]);
				return (int)i;
			}
			have++;
		}
	}
	if (!all || have < n) {
		return -1;
	}
	for (DWORD i = 0; i < n; i++) {
		take(o[i]);
	}
	return 0;
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static DWORD wait_locked(struct win_object **o, DWORD n, bool all, DWORD milliseconds, bool polls)
{
	struct timespec end, step;
	if (milliseconds != INFINITE) {
		win_deadline(&end, milliseconds);
	}
	for (;;) {
		int got = try_take(o, n, all);
		if (got >= 0) {
			return WAIT_OBJECT_0 + (DWORD)got;
		}
		if (milliseconds == 0) {
			return WAIT_TIMEOUT;
		}
		struct timespec *until = milliseconds != INFINITE ? &end : NULL;
		if (polls) {
			win_deadline(&step, PROCESS_POLL_MS);
			until = until && earlier(until, &step) ? until : &step;
		}
		int err = until ? pthread_cond_timedwait(&changed, &lock, until) : pthread_cond_wait(&changed, &lock);
		if (err == ETIMEDOUT && until == &end) {
			got = try_take(o, n, all);
			return got >= 0 ? WAIT_OBJECT_0 + (DWORD)got : WAIT_TIMEOUT;
		}
	}
}

static struct win_object *waitable(HANDLE h)
{
	struct win_object *o = win_object_of(h, 0);
	if (o && o->kind != WIN_EVENT && o->kind != WIN_THREAD && o->kind != WIN_PROCESS && o->kind != WIN_MUTEX &&
	    o->kind != WIN_SEMAPHORE) {
		win_object_unref(o);
		SetLastError(ERROR_INVALID_HANDLE);
		return NULL;
	}
	return o;
}

DWORD WINAPI WaitForMultipleObjects(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll, DWORD dwMilliseconds)
{
	struct win_object *o[MAXIMUM_WAIT_OBJECTS];
	bool polls = false;
	if (nCount == 0 || nCount > MAXIMUM_WAIT_OBJECTS || !lpHandles) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return WAIT_FAILED;
	}
	DWORD have = 0, ret = WAIT_FAILED;
	for (; have < nCount && (o[have] = waitable(lpHandles[have])) != NULL; have++) {
		polls |= o[have]->kind == WIN_PROCESS;
	}
	if (have == nCount) {
		lock_all();
		ret = wait_locked(o, nCount, bWaitAll, dwMilliseconds, polls);
		pthread_mutex_unlock(&lock);
	}
	while (have > 0) { /* closing a handle that is waited for does not pull its object away */
		win_object_unref(o[--have]);
	}
	return ret;
}

DWORD WINAPI WaitForMultipleObjectsEx(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll, DWORD dwMilliseconds,
				      BOOL bAlertable)
{
	return WaitForMultipleObjects(nCount, lpHandles, bWaitAll, dwMilliseconds);
}

DWORD WINAPI WaitForSingleObject(HANDLE hHandle, DWORD dwMilliseconds)
{
	return WaitForMultipleObjects(1, &hHandle, FALSE, dwMilliseconds);
}

DWORD WINAPI WaitForSingleObjectEx(HANDLE hHandle, DWORD dwMilliseconds, BOOL bAlertable)
{
	return WaitForMultipleObjects(1, &hHandle, FALSE, dwMilliseconds);
}

/* ---- processes
 * ----------------------------------------------------------------------------------- */

DWORD WINAPI GetCurrentProcessId(void)
{
	return (DWORD)getpid();
}

HANDLE WINAPI GetCurrentProcess(void)
{
	return (HANDLE)(LONG_PTR)-1;
}

DWORD WINAPI GetProcessId(HANDLE Process)
{
	if (Process == GetCurrentProcess()) {
		return GetCurrentProcessId();
	}
	WIN_USED struct win_object *o = win_object_of(Process, WIN_PROCESS);
	return o ? (DWORD)o->pid : 0;
}

struct win_object *win_object_of_process(int pid)
{
	struct win_object *o = win_object_new(WIN_PROCESS);
	if (o) {
		o->pid = pid;
#ifdef SYS_pidfd_open
		o->fd = (int)syscall(SYS_pidfd_open, o->pid, 0);
		o->owns_fd = true;
#endif
	}
	return o;
}

HANDLE WINAPI OpenProcess(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwProcessId)
{
	if (dwProcessId == 0 || dwProcessId > INT32_MAX || (kill((pid_t)dwProcessId, 0) < 0 && errno == ESRCH)) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return win_handle_give(win_object_of_process((int)dwProcessId));
}

BOOL WINAPI TerminateProcess(HANDLE hProcess, UINT uExitCode)
{
	if (hProcess == GetCurrentProcess()) {
		_exit((int)uExitCode);
	}
	WIN_USED struct win_object *o = win_object_of(hProcess, WIN_PROCESS);
	if (!o) {
		return FALSE;
	}
	return kill(o->pid, SIGKILL) == 0 ? TRUE : win_fail_errno();
}

BOOL WINAPI GetExitCodeProcess(HANDLE hProcess, LPDWORD lpExitCode)
{
	if (hProcess == GetCurrentProcess()) {
		*lpExitCode = STILL_ACTIVE;
		return TRUE;
	}
	WIN_USED struct win_object *o = win_object_of(hProcess, WIN_PROCESS);
	if (!o || !lpExitCode) {
		return FALSE;
	}
	siginfo_t end = {0};
	if (o->child && waitid(P_PID, (id_t)o->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0) {
		*lpExitCode = end.si_pid == 0             ? STILL_ACTIVE
			      : end.si_code == CLD_EXITED ? (DWORD)end.si_status
							  : 0xC0000000u | (DWORD)end.si_status;
		return TRUE;
	}
	lock_all();
	*lpExitCode = ready(o) ? 0 : STILL_ACTIVE;
	pthread_mutex_unlock(&lock);
	return TRUE;
}

VOID WINAPI ExitProcess(UINT uExitCode)
{
	exit((int)uExitCode);
}
