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
struct kbpf_waking { /* the record's own are the waker's */
	uint32_t pid, tid;
};

#endif
