/* SPDX-License-Identifier: MIT
 * User-mode call stacks for sessions that ask for them.
 */
#ifndef PROVIDER_PROVIDER_STACK_H
#define PROVIDER_PROVIDER_STACK_H

#include "base/base.h"

#define PROVIDER_STACK_FRAMES_MAX 192u

/* Return addresses, innermost first, from the caller of the function whose frame address is `frame`
 * on. Returns their number, at least 1. context: async-signal-safe, never faults on a stack that
 * the thread runs on. */
uint32_t provider_stack_walk(const void *frame, uint64_t *ret_addresses, uint32_t max);

/* Load the unwinder; false: not there, or no memory. Not for writers: takes the loader's lock. */
bool provider_stack_load(void);

#endif
