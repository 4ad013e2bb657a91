/* SPDX-License-Identifier: MIT
 *
 * Two ways to walk a stack. The unwinder (libgcc_s) knows every frame of compiled code, with or
 * without frame pointers. Frame pointers know code that has no unwind tables (a runtime's generated
 * code), and are there when the unwinder is not; but a chain through code that uses the register
 * for something else silently leaves frames out. So the unwinder's answer is taken, unless the
 * frame pointers agree with it and go on where it stops.
 *
 * The unwinder is loaded, and used once so that it has initialised itself, by a thread of ours:
 * loading is nothing for a writer, which may be a signal handler. From glibc 2.35 on it finds its
 * tables without a lock.
 *
 * The frame pointer chain is followed only upwards, only inside the stack the thread runs on, so
 * that a register used for something else ends the walk and does not end the program. Where a stack
 * ends is known without a system call or an allocation: glibc puts the thread's control block at
 * the top of its stack, and publishes the end of the main one.
 */
#include "provider/provider_stack.h"
#include "base/order.h"

#include <dlfcn.h>
#include <pthread.h>

#define FRAME_STEP_MAX (1u << 20)
#define STACK_SPAN_MAX (64u << 20)

extern void *__libc_stack_end __attribute__((weak));

struct _Unwind_Context;
typedef int (*trace_fn)(struct _Unwind_Context *, void *);
static int (*unwind_backtrace)(trace_fn, void *); /* NULL: not loaded (yet) */
static uintptr_t (*unwind_ip)(struct _Unwind_Context *);

static uintptr_t stack_end_above(uintptr_t at)
{
	uintptr_t end = 0;
	uintptr_t candidates[2] = {(uintptr_t)pthread_self(), &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0};
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
	uint64_t ip = unwind_ip(c);
	u->found = u->found || ip == u->first;
	if (u->found && ip != 0) {
		u->to[u->count++] = ip;
	}
	return u->count < u->max ? 0 : 5 /* stop */;
}

static int nothing(struct _Unwind_Context *c, void *arg)
{
	(void)c, (void)arg;
	return 0; /* go on: all of its tables are looked at once */
}

bool provider_stack_load(void)
{
	if (order_load_acquire(&unwind_backtrace)) {
		return true;
	}
	/* Never closed: writers may be inside. */
	void *lib = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*trace)(trace_fn, void *) =
		lib ? (int (*)(trace_fn, void *))(uintptr_t)dlsym(lib, "_Unwind_Backtrace") : NULL;
	unwind_ip = lib ? (uintptr_t(*)(struct _Unwind_Context *))(uintptr_t)dlsym(lib, "_Unwind_GetIP") : NULL;
	if (trace && unwind_ip) {
		trace(nothing, NULL);
		order_store_release(&unwind_backtrace, trace);
	}
	return lib != NULL;
}

static __attribute__((no_sanitize("address"))) uint32_t walk_frame_pointers(const uintptr_t *fp,
									    uint64_t *ret_addresses, uint32_t max)
{
	uint32_t n = 0;
	uintptr_t end = stack_end_above((uintptr_t)fp);
	while (n < max) {
		uintptr_t next = fp[0], ret = fp[1];
		if (ret == 0) {
			break;
		}
		ret_addresses[n++] = ret;
		if (next <= (uintptr_t)fp || next - (uintptr_t)fp > FRAME_STEP_MAX || next % sizeof(uintptr_t) != 0 ||
		    next > end || end - next < 2 * sizeof *fp) {
			break;
		}
		fp = (const uintptr_t *)next;
	}
	return n;
}

__attribute__((noinline)) uint32_t provider_stack_walk(const void *frame, uint64_t *ret_addresses, uint32_t max)
{
	const uintptr_t *fp = frame;
	int (*trace)(trace_fn, void *) = order_load_acquire(&unwind_backtrace);
	if (!trace) {
		return walk_frame_pointers(fp, ret_addresses, max);
	}
	struct unwound u = {.to = ret_addresses, .max = max, .first = fp[1]};
	trace(unwind_step, &u);
	if (u.count >= max) {
		return u.count;
	}
	/* Where it stopped, the chain may know more; it is believed if it led to the same place. */
	uint64_t chain[PROVIDER_STACK_FRAMES_MAX];
	uint32_t n = walk_frame_pointers(fp, chain, BASE_MIN(max, PROVIDER_STACK_FRAMES_MAX));
	if (n > u.count && memcmp(chain, ret_addresses, u.count * sizeof *chain) == 0) {
		memcpy(ret_addresses, chain, n * sizeof *chain);
		return n;
	}
	return u.count;
}
