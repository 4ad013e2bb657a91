/* SPDX-License-Identifier: MIT
 *
 * Thread pool work: a thread for each submission.
 */
#include "winrt/win.h"

#include "win/windows.h"

#include <pthread.h>
#include <stdlib.h>

struct _TP_WORK {
	pthread_mutex_t lock;
	pthread_cond_t done;
	PTP_WORK_CALLBACK callback;
	void *context;
	unsigned running;
	bool closed;
};

static void work_free(struct _TP_WORK *w)
{
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void *work_main(void *arg)
{
	struct _TP_WORK *w = arg;
	w->callback(NULL, w->context, w);
	pthread_mutex_lock(&w->lock);
	bool last = --w->running == 0 && w->closed;
	pthread_cond_broadcast(&w->done);
	pthread_mutex_unlock(&w->lock);
	if (last) {
		work_free(w);
	}
	return NULL;
}

PTP_WORK WINAPI CreateThreadpoolWork(PTP_WORK_CALLBACK pfnwk, PVOID pv, PTP_CALLBACK_ENVIRON pcbe)
{
	struct _TP_WORK *w = pfnwk ? calloc(1, sizeof *w) : NULL;
	if (!w) {
		SetLastError(pfnwk ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
	w->callback = pfnwk;
	w->context = pv;
	return w;
}

VOID WINAPI SubmitThreadpoolWork(PTP_WORK pwk)
{
	pthread_t thread;
	pthread_mutex_lock(&pwk->lock);
	pwk->running++;
	pthread_mutex_unlock(&pwk->lock);
	if (pthread_create(&thread, NULL, work_main, pwk) == 0) {
		pthread_detach(thread);
	} else {
		work_main(pwk); /* the callback is never lost there either */
	}
}

VOID WINAPI WaitForThreadpoolWorkCallbacks(PTP_WORK pwk, BOOL fCancelPendingCallbacks)
{
	pthread_mutex_lock(&pwk->lock);
	while (pwk->running) {
		pthread_cond_wait(&pwk->done, &pwk->lock);
	}
	pthread_mutex_unlock(&pwk->lock);
}

VOID WINAPI CloseThreadpoolWork(PTP_WORK pwk)
{
	pthread_mutex_lock(&pwk->lock);
	pwk->closed = true;
	bool idle = pwk->running == 0;
	pthread_mutex_unlock(&pwk->lock);
	if (idle) {
		work_free(pwk);
	}
}
