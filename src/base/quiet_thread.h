/* SPDX-License-Identifier: MIT
 *
 * Threads on which no signal of the program ever lands: they run with all of them blocked. So a file size limit
 * shows as EFBIG, too, instead of SIGXFSZ.
 */
#ifndef BASE_QUIET_THREAD_H
#define BASE_QUIET_THREAD_H

#include <pthread.h>

/* 0 or -errno. Without `ret` nobody can wait for the thread's end. */
int quiet_thread_start(pthread_t *ret, void *(*main)(void *), void *arg);

#endif
