/* SPDX-License-Identifier: MIT
 * What sched.bpf.c says. Included by both sides.
 */
#ifndef KERNEL_BPF_KBPF_SCHED_H
#define KERNEL_BPF_KBPF_SCHED_H

struct kbpf_switch { /* the record's own process and thread are those that leave */
	uint32_t next_pid, next_tid;
	uint32_t state; /* of the thread that leaves: TASK_* */
	uint8_t prev_prio, next_prio, preempted, reserved;
	int32_t call; /* the system call that it is in; -1: none */
	uint32_t reserved2;
};
/* In whose name a thread was woken: the current thread's, or it was merely interrupted by what did it. */
enum kbpf_waker { KBPF_BY_THREAD, KBPF_BY_INTERRUPT, KBPF_BY_SOFTIRQ, KBPF_BY_TIMER, KBPF_BY_UNKNOWN };
struct kbpf_waking { /* the record's own are those of the current thread */
	uint32_t pid, tid;
	uint32_t waker; /* enum kbpf_waker */
	uint32_t reserved;
};

#endif
