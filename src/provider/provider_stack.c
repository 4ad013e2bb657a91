/* SPDX-License-Identifier: MIT
 *
 * Frame pointers first: exact where code keeps them, and cheap. The chain is followed only upwards,
 * only inside the stack the thread runs on, so that a register used for something else ends the
 * walk and does not end the program. Programs with the unwinder loaded (C++) get its answer when
 * the chain is short.
 *
 * Where a stack ends is known without a system call or an allocation: glibc puts the thread's
 * control block at the top of its stack, and publishes the end of the main one.
 */
#include "provider/provider_stack.h"
#include "base/order.h"

#include <pthread.h>

#define FRAME_STEP_MAX (1u << 20)
#define STACK_SPAN_MAX (64u << 20)
#define FEW_FRAMES     3u

extern void *__libc_stack_end __attribute__((weak));

/* Weak, so that libetw does not pull libgcc_s into programs that live without it. */
struct _Unwind_Context;
typedef int (*trace_fn)(struct _Unwind_Context *, void *);
extern int _Unwind_Backtrace(trace_fn, void *) __attribute__((weak));
extern uintptr_t _Unwind_GetIP(struct _Unwind_Context *) __attribute__((weak));

static uintptr_t stack_end_above(uintptr_t at)
{
	uintptr_t end = 0;
	uintptr_t candidates[2] = {(uintptr_t)pthread_self(),
				   &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0};
	for (int i = 0; i < 2; i++) {
		if (candidates[i] > at && (end == 0 || candidates[i] < end)) {
			end = candidates[i];
		}
	}
	return end != 0 && end - at <= STACK_SPAN_MAX ? end : at;
}

struct unwound {
	uint64_t *to;
	uint32_t count;
	uint32_t max;
	uint64_t first; /* skip our own frames until this one */
	bool found;
};

static int unwind_step(struct _Unwind_Context *c, void *arg)
{
	struct unwound *u = arg;
	uint64_t ip = _Unwind_GetIP(c);
	u->found = u->found || ip == u->first;
	if (u->found && ip != 0) {
		u->to[u->count++] = ip;
	}
	return u->count < u->max ? 0 : 5 /* stop */;
}

__attribute__((noinline, no_sanitize("address"))) uint32_t
provider_stack_walk(const void *frame, uint64_t *ret_addresses, uint32_t max)
{
	const uintptr_t *fp = frame;
	uint64_t first = fp[1];
	uint32_t n = 0;
	uintptr_t end = stack_end_above((uintptr_t)fp);
	while (n < max) {
		uintptr_t next = fp[0], ret = fp[1];
		if (ret == 0) {
			break;
		}
		ret_addresses[n++] = ret;
		if (next <= (uintptr_t)fp || next - (uintptr_t)fp > FRAME_STEP_MAX ||
		    next % sizeof(uintptr_t) != 0 || next > end || end - next < 2 * sizeof *fp) {
			break;
		}
		fp = (const uintptr_t *)next;
	}
	if (n < FEW_FRAMES && &_Unwind_Backtrace && &_Unwind_GetIP) {
		/* Counted into the same array only when it knows more. */
		struct unwound u = {.to = ret_addresses, .max = max, .first = first};
		uint64_t keep[FEW_FRAMES] = {0};
		memcpy(keep, ret_addresses, n * sizeof *keep);
		_Unwind_Backtrace(unwind_step, &u);
		if (u.count > n) {
			return u.count;
		}
		memcpy(ret_addresses, keep, n * sizeof *keep);
	}
	return n;
}
