/* SPDX-License-Identifier: MIT
 * CSwitch and ReadyThread, as programs see them.
 */
#include "kernel/kernel_bpf.h"

#include "kernel/bpf/kbpf_sched.h"

#include <sys/syscall.h>

/* KWAIT_REASON */
#define WAIT_DELAY     4u
#define WAIT_QUEUE     15u
#define WAIT_BY_THREAD 37u /* WrAlertByThreadId: what waits on an address */

/* task->__state, and what sched_switch makes of it. */
#define TASK_DEAD       0x80u
#define STATE_DEAD      0x10u
#define STATE_PREEMPTED 0x100u

static uint8_t wait_of(int32_t call)
{
	switch (call) {
	case SYS_futex: return WAIT_BY_THREAD;
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return WAIT_DELAY;
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_io_uring_enter: return WAIT_QUEUE;
	default: return KERNEL_WAIT_USER_REQUEST;
	}
}

bool kernel_sched_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	uint32_t count;
	const uint64_t *frames = kernel_tracepoints_frames(k->tracepoints, raw, &count);
	if (raw->hook == KBPF_SWITCH && raw->bytes >= sizeof(struct kbpf_switch)) {
		const struct kbpf_switch *x = (const void *)(raw + 1);
		struct kernel_switch s = {
			.cpu = raw->cpu,
			.time = raw->time,
			.sessions = raw->sessions & kernel_wants(k, KERNEL_HOOK_CSWITCH),
			.prev = raw->tid,
			.prev_pid = raw->pid,
			.next = x->next_tid,
			.prev_prio = x->prev_prio,
			.next_prio = x->next_prio,
			.wait = wait_of(x->call),
			.state = x->preempted           ? STATE_PREEMPTED
				 : x->state & TASK_DEAD ? STATE_DEAD
							: x->state,
		};
		kernel_on_switch(k, &s, frames, count);
	} else if (raw->hook == KBPF_WAKING && raw->bytes >= sizeof(struct kbpf_waking)) {
		const struct kbpf_waking *x = (const void *)(raw + 1);
		struct kernel_waking w = {
			.cpu = raw->cpu,
			.time = raw->time,
			.sessions = raw->sessions & kernel_wants(k, KERNEL_HOOK_READY_THREAD),
			.pid = raw->flags & KBPF_KERNEL_THREAD ? KERNEL_PID_SYSTEM : raw->pid,
			.tid = raw->tid,
			.woken = x->tid,
			.waker = x->waker <= KBPF_BY_TIMER ? (enum kernel_waker)x->waker : KERNEL_BY_THREAD,
		};
		kernel_on_waking(k, &w, frames, count);
	}
	return false; /* stacks have gone out with them */
}
