/* SPDX-License-Identifier: MIT
 *
 * Thread pool timers and registered waits, one thread for each.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define UNITS_PER_SECOND   10000000 /* of 100 ns */
#define UNITS_1601_TO_1970 116444736000000000LL

struct _TP_TIMER {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	PTP_TIMER_CALLBACK callback;
	void *context;
	bool set, running, closed;
	struct timespec due; /* CLOCK_MONOTONIC */
	DWORD period_ms;
};

static void add_units(struct timespec *t, long long units)
{
	t->tv_sec += units / UNITS_PER_SECOND;
	t->tv_nsec += units % UNITS_PER_SECOND * 100;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

static void timer_free(struct _TP_TIMER *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void *timer_main(void *arg)
{
	struct _TP_TIMER *t = arg;
	pthread_mutex_lock(&t->lock);
	while (!t->closed) {
		if (!t->set) {
			pthread_cond_wait(&t->changed, &t->lock);
			continue;
		}
		struct timespec due = t->due;
		if (pthread_cond_timedwait(&t->changed, &t->lock, &due) != ETIMEDOUT) {
			continue; /* something changed: look again */
		}
		if (!t->set || t->closed || t->due.tv_sec != due.tv_sec || t->due.tv_nsec != due.tv_nsec) {
			continue;
		}
		t->set = t->period_ms != 0;
		add_units(&t->due, (long long)t->period_ms * 10000);
		t->running = true;
		pthread_mutex_unlock(&t->lock);
		t->callback(NULL, t->context, t);
		pthread_mutex_lock(&t->lock);
		t->running = false;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	timer_free(t);
	return NULL;
}

PTP_TIMER WINAPI CreateThreadpoolTimer(PTP_TIMER_CALLBACK pfnti, PVOID pv, PTP_CALLBACK_ENVIRON pcbe)
{
	struct _TP_TIMER *t = pfnti ? calloc(1, sizeof *t) : NULL;
	if (!t) {
		SetLastError(pfnti ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
		return NULL;
	}
	t->callback = pfnti;
	t->context = pv;
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&t->lock, NULL);
	pthread_attr_t detached;
	pthread_t thread;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	int err = pthread_create(&thread, &detached, timer_main, t);
	pthread_attr_destroy(&detached);
	if (err) {
		timer_free(t);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	return t;
}

VOID WINAPI SetThreadpoolTimer(PTP_TIMER pti, PFILETIME pftDueTime, DWORD msPeriod, DWORD msWindowLength)
{
	struct timespec due, now;
	clock_gettime(CLOCK_MONOTONIC, &due);
	if (pftDueTime) {
		long long v = (long long)((uint64_t)pftDueTime->dwHighDateTime << 32 | pftDueTime->dwLowDateTime);
		if (v > 0) { /* a date: as far from now as it is */
			clock_gettime(CLOCK_REALTIME, &now);
			v -= UNITS_1601_TO_1970 + (long long)now.tv_sec * UNITS_PER_SECOND + now.tv_nsec / 100;
			v = v > 0 ? v : 0;
		} else {
			v = v == INT64_MIN ? INT64_MAX : -v;
		}
		add_units(&due, v);
	}
	pthread_mutex_lock(&pti->lock);
	pti->set = pftDueTime != NULL;
	pti->due = due;
	pti->period_ms = msPeriod;
	pthread_cond_broadcast(&pti->changed);
	pthread_mutex_unlock(&pti->lock);
}

BOOL WINAPI IsThreadpoolTimerSet(PTP_TIMER pti)
{
	pthread_mutex_lock(&pti->lock);
	BOOL set = pti->set;
	pthread_mutex_unlock(&pti->lock);
	return set;
}

VOID WINAPI WaitForThreadpoolTimerCallbacks(PTP_TIMER pti, BOOL fCancelPendingCallbacks)
{
	pthread_mutex_lock(&pti->lock);
	while (pti->running) {
		pthread_cond_wait(&pti->changed, &pti->lock);
	}
	pthread_mutex_unlock(&pti->lock);
}

/* The thread frees it: maybe this is called from its callback. */
VOID WINAPI CloseThreadpoolTimer(PTP_TIMER pti)
{
	pthread_mutex_lock(&pti->lock);
	pti->closed = true;
	pti->set = false;
	pthread_cond_broadcast(&pti->changed);
	pthread_mutex_unlock(&pti->lock);
}

/* ---- registered waits ---------------------------------------------------------------------------
 */

/* CreateEvent sets the last error to 0, which the caller of ours does not expect. */
static HANDLE event_new(void)
{
	DWORD before = GetLastError();
	HANDLE h = CreateEventW(NULL, TRUE, FALSE, NULL);
	if (h) {
		SetLastError(before);
	}
	return h;
}

struct registered_wait {
	HANDLE object, stop, done, thread;
	WAITORTIMERCALLBACK callback;
	void *context;
	DWORD milliseconds;
	bool once;
	int running; /* atomic */
};

static DWORD WINAPI wait_main(PVOID arg)
{
	struct registered_wait *w = arg;
	const HANDLE both[2] = {w->stop, w->object};
	for (;;) {
		DWORD r = WaitForMultipleObjects(2, both, FALSE, w->milliseconds);
		if (r == WAIT_FAILED) { /* the object is gone, the wait is still registered */
			WaitForSingleObject(w->stop, INFINITE);
		}
		if (r == WAIT_OBJECT_0 || r == WAIT_FAILED) {
			break;
		}
		InterlockedExchange(&w->running, 1);
		w->callback(w->context, r == WAIT_TIMEOUT);
		InterlockedExchange(&w->running, 0);
		if (w->once) {
			WaitForSingleObject(w->stop, INFINITE);
			break;
		}
	}
	if (w->done) {
		SetEvent(w->done);
	}
	CloseHandle(w->stop);
	CloseHandle(w->thread);
	free(w);
	return 0;
}

BOOL WINAPI RegisterWaitForSingleObject(PHANDLE phNewWaitObject, HANDLE hObject, WAITORTIMERCALLBACK Callback,
					PVOID Context, ULONG dwMilliseconds, ULONG dwFlags)
{
	if (!phNewWaitObject || !Callback || !win_handle_is(hObject, 0)) {
		return win_fail(ERROR_INVALID_PARAMETER);
	}
	struct registered_wait *w = calloc(1, sizeof *w);
	struct win_object *o = w ? win_object_new(WIN_WAIT) : NULL;
	HANDLE stop = o ? event_new() : NULL, handle = NULL;
	if (stop) {
		o->start_arg = w;
		handle = win_handle_give(o);
		o = NULL;
	}
	if (!handle) {
		win_object_unref(o);
		if (stop) {
			CloseHandle(stop);
		}
		free(w);
		return win_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	*w = (struct registered_wait){.object = hObject,
				      .stop = stop,
				      .callback = Callback,
				      .context = Context,
				      .milliseconds = dwMilliseconds,
				      .once = dwFlags & WT_EXECUTEONLYONCE};
	/* Suspended, because it closes its own handle, which is known only afterwards. */
	w->thread = CreateThread(NULL, 0, wait_main, w, CREATE_SUSPENDED, NULL);
	if (!w->thread) {
		win_handle_close_wait(handle);
		CloseHandle(stop);
		free(w);
		return FALSE;
	}
	*phNewWaitObject = handle;
	ResumeThread(w->thread);
	return TRUE;
}

BOOL WINAPI UnregisterWaitEx(HANDLE WaitHandle, HANDLE CompletionEvent)
{
	WIN_USED struct win_object *o = win_object_of(WaitHandle, WIN_WAIT);
	bool waits = CompletionEvent == INVALID_HANDLE_VALUE;
	HANDLE done = o && waits ? event_new() : NULL;
	if (!o || (waits && !done)) {
		return FALSE;
	}
	if (!win_handle_close_wait(WaitHandle)) { /* another one is ending the wait */
		if (done) {
			CloseHandle(done);
		}
		return win_fail(ERROR_INVALID_HANDLE);
	}
	struct registered_wait *w = o->start_arg;
	bool running = InterlockedExchangeAdd(&w->running, 0) != 0;
	w->done = waits ? done : CompletionEvent;
	SetEvent(w->stop);
	if (!waits) {
		return running ? win_fail(ERROR_IO_PENDING) : TRUE;
	}
	WaitForSingleObject(done, INFINITE);
	CloseHandle(done);
	return TRUE;
}

BOOL WINAPI UnregisterWait(HANDLE WaitHandle)
{
	return UnregisterWaitEx(WaitHandle, NULL);
}
