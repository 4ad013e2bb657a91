/* SPDX-License-Identifier: MIT
 *
 * Threads of other people's programs may be cancelled. A function of ours that is left in the middle would leave
 * its locks behind, and so may not be: whoever cancels waits until it returns.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <pthread.h>

static inline int base_cancel_off(void)
{
	int old = PTHREAD_CANCEL_ENABLE;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	return old;
}
static inline void base_cancel_back(const int *old)
{
	pthread_setcancelstate(*old, NULL);
}
/* A declaration: until the end of the block this thread cannot be cancelled. */
#define BASE_NOT_CANCELLED \
	__attribute__((cleanup(base_cancel_back), unused)) const int cancelled_before = base_cancel_off()

#endif
