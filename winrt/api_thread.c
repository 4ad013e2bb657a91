/* SPDX-License-Identifier: MIT
 *
 * Threads: those that this process starts, and those of other processes, as the ids of events name them.
 */
#include "winrt/win.h"

#include "win/process.h"
#include "win/windows.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* ---- of other processes ------------------------------------------------------------------------ */

static DWORD process_of(DWORD tid)
{
	char path[64], line[256];
	DWORD pid = 0;
	snprintf(path, sizeof path, "/proc/%u/status", tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "Tgid:", 5) == 0) {
			pid = (DWORD)strtoul(line + 5, NULL, 10);
			break;
		}
	}
	if (f) {
		fclose(f);
	}
	return pid;
}

HANDLE WINAPI OpenThread(DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwThreadId)
{
	if (dwThreadId == 0 || process_of(dwThreadId) == 0) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	struct win_object *o = win_object_new(WIN_THREAD);
	if (o) {
		o->pid = (int)dwThreadId;
	}
	return win_handle_give(o);
}

DWORD WINAPI GetProcessIdOfThread(HANDLE Thread)
{
	DWORD tid = GetThreadId(Thread);
	DWORD pid = tid ? process_of(tid) : 0;
	if (tid && !pid) {
		SetLastError(ERROR_INVALID_PARAMETER); /* it has ended */
	}
	return pid;
}

/* ---- of this one ------------------------------------------------------------------------------- */

static __thread struct win_object *self;

static void thread_finish(struct win_object *o, uint32_t code)
{
	win_objects_lock();
	o->exit_code = code;
	o->signaled = true;
	void *close = o->closes;
	win_objects_unlock(true);
	if (close) {
		win_handle_close(close);
	}
	win_object_unref(o);
}

/* Threads that CreateThread did not start have an object when somebody asks for it. Its end comes with theirs. */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool end_known;
static void thread_ends(void *value)
{
	struct win_object *o = self;
	self = NULL;
	if (o) {
		thread_finish(o, 0);
	}
}
static void init_end(void)
{
	end_known = pthread_key_create(&end_key, thread_ends) == 0;
}

struct win_object *win_object_of_thread(void)
{
	if (!self) {
		struct win_object *o = win_object_new(WIN_THREAD);
		pthread_once(&end_once, init_end);
		if (!o || !end_known || pthread_setspecific(end_key, o) != 0) {
			win_object_unref(o);
			SetLastError(ERROR_NOT_ENOUGH_MEMORY);
			return NULL;
		}
		o->pid = (int)GetCurrentThreadId();
		self = o;
	}
	win_objects_lock();
	self->refs++;
	win_objects_unlock(false);
	return self;
}

static void *thread_main(void *arg)
{
	struct win_object *o = arg;
	self = o;
	win_objects_lock();
	o->pid = (int)syscall(SYS_gettid);
	win_objects_unlock(true);
	win_objects_lock();
	while (o->suspended) {
		win_objects_wait();
	}
	win_objects_unlock(false);
	uint32_t code = o->start(o->start_arg);
	self = NULL;
	thread_finish(o, code);
	return NULL;
}

HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES lpThreadAttributes, SIZE_T dwStackSize,
			   LPTHREAD_START_ROUTINE lpStartAddress, LPVOID lpParameter, DWORD dwCreationFlags,
			   LPDWORD lpThreadId)
{
	struct win_object *o = win_object_new(WIN_THREAD);
	if (!o) {
		return NULL;
	}
	o->refs = 3; /* of the handle, of the thread itself, and of this function */
	HANDLE h = win_handle_give(o);
	if (!h) {
		free(o);
		return NULL;
	}
	o->start = lpStartAddress;
	o->start_arg = lpParameter;
	o->suspended = dwCreationFlags & CREATE_SUSPENDED;
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	if (dwStackSize > 256 * 1024) {
		pthread_attr_setstacksize(&a, (dwStackSize + 0xFFFF) & ~(SIZE_T)0xFFFF);
	}
	int err = pthread_create(&t, &a, thread_main, o);
	pthread_attr_destroy(&a);
	if (err) {
		win_handle_close(h);
		free(o);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	/* The id is the kernel's tid, which only the thread itself learns. */
	win_objects_lock();
	while (o->pid == 0) {
		win_objects_wait();
	}
	if (lpThreadId) {
		*lpThreadId = (DWORD)o->pid;
	}
	win_objects_unlock(false);
	win_object_unref(o);
	return h;
}

ULONG_PTR _beginthreadex(void *security, unsigned stack_size, unsigned (*start)(void *), void *argument, unsigned flags,
			 unsigned *id)
{
	return (ULONG_PTR)CreateThread(NULL, stack_size, start, argument, flags, id);
}

struct plain_start {
	void (*start)(void *);
	void *argument;
};
static DWORD WINAPI plain_thread(LPVOID argument)
{
	struct plain_start p = *(struct plain_start *)argument;
	free(argument);
	p.start(p.argument);
	return 0;
}
ULONG_PTR _beginthread(void (*start)(void *), unsigned stack_size, void *argument)
{
	struct plain_start *p = malloc(sizeof *p);
	if (p) {
		*p = (struct plain_start){start, argument};
	}
	HANDLE h = p ? CreateThread(NULL, stack_size, plain_thread, p, CREATE_SUSPENDED, NULL) : NULL;
	WIN_USED struct win_object *o = h ? win_object_of(h, WIN_THREAD) : NULL;
	if (!o) {
		free(p);
		return (ULONG_PTR)-1;
	}
	win_objects_lock();
	o->closes = h;
	win_objects_unlock(false);
	ResumeThread(h);
	return (ULONG_PTR)h;
}
void _endthreadex(unsigned code)
{
	ExitThread(code);
}
void _endthread(void)
{
	ExitThread(0);
}

DWORD WINAPI ResumeThread(HANDLE hThread)
{
	WIN_USED struct win_object *o = win_object_of(hThread, WIN_THREAD);
	if (!o) {
		return (DWORD)-1;
	}
	win_objects_lock();
	DWORD before = o->suspended;
	o->suspended = false;
	win_objects_unlock(true);
	return before;
}

BOOL WINAPI GetExitCodeThread(HANDLE hThread, LPDWORD lpExitCode)
{
	WIN_USED struct win_object *o = win_object_of(hThread, WIN_THREAD);
	if (!o || !lpExitCode) {
		return FALSE;
	}
	win_objects_lock();
	*lpExitCode = o->signaled ? o->exit_code : STILL_ACTIVE;
	win_objects_unlock(false);
	return TRUE;
}

VOID WINAPI ExitThread(DWORD dwExitCode)
{
	if (self) {
		struct win_object *o = self;
		self = NULL;
		thread_finish(o, dwExitCode);
	}
	pthread_exit(NULL);
}

BOOL WINAPI SetThreadPriority(HANDLE hThread, int nPriority)
{
	return TRUE;
}

BOOL WINAPI TerminateThread(HANDLE hThread, DWORD dwExitCode)
{
	return win_fail(ERROR_NOT_SUPPORTED);
}

BOOL WINAPI SwitchToThread(void)
{
	return sched_yield() == 0;
}

DWORD WINAPI GetThreadId(HANDLE Thread)
{
	if (Thread == GetCurrentThread()) {
		return GetCurrentThreadId();
	}
	WIN_USED struct win_object *o = win_object_of(Thread, WIN_THREAD);
	return o ? (DWORD)o->pid : 0;
}

DWORD WINAPI GetCurrentThreadId(void)
{
	static __thread DWORD tid;
	static __thread int pid; /* a forked child is another thread */
	int now = getpid();
	if (pid != now) {
		tid = (DWORD)syscall(SYS_gettid);
		pid = now;
	}
	return tid;
}

HANDLE WINAPI GetCurrentThread(void)
{
	return (HANDLE)(LONG_PTR)-2;
}
