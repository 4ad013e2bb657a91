/* SPDX-License-Identifier: MIT */
#include "base/quiet_thread.h"

#include <signal.h>
#include <stddef.h>

int quiet_thread_start(pthread_t *ret, void *(*main)(void *), void *arg)
{
	pthread_t thread;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old); /* the new thread inherits it */
	int err = pthread_create(&thread, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err == 0 && ret) {
		*ret = thread;
	} else if (err == 0) {
		pthread_detach(thread);
	}
	return -err;
}
