/* SPDX-License-Identifier: MIT
 * Entry and exit of system calls, and the family of watched processes.
 */
#include "kbpf_core.h"

SEC("tp_btf/sys_enter")
int BPF_PROG(kbpf_sys_enter, struct pt_regs *regs, long number)
{
	struct kbpf_who who;
	if (kbpf_wanted(KBPF_SYS_ENTER, &who)) {
		uint64_t words[] = {number};
		kbpf_write(ctx, &who, KBPF_SLOT_SYS_ENTER, words, sizeof words);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_NUMBER(regs) ((regs)->orig_ax)
#else
#define SYSCALL_NUMBER(regs) ((regs)->regs[8])
#endif

SEC("tp_btf/sys_exit")
int BPF_PROG(kbpf_sys_exit, struct pt_regs *regs, long result)
{
	struct kbpf_who who;
	if (kbpf_wanted(KBPF_SYS_EXIT, &who)) {
		uint64_t words[] = {SYSCALL_NUMBER(regs), result};
		kbpf_write(ctx, &who, KBPF_SLOT_SYS_EXIT, words, sizeof words);
	}
	return 0;
}

/* Children of watched processes are watched. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(kbpf_fork, struct task_struct *parent, struct task_struct *child)
{
	uint32_t from = parent->tgid, to = child->tgid;
	uint64_t *sessions = from == to ? NULL : bpf_map_lookup_elem(&kbpf_pids, &from);
	if (sessions) {
		uint32_t zero = 0;
		struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
		uint64_t copy = c ? *sessions & c->follow : 0;
		bpf_map_update_elem(&kbpf_pids, &to, &copy, BPF_ANY);
	}
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(kbpf_free, struct task_struct *task)
{
	/* When the number is free, not when the process ends: its last events are still to come. */
	uint32_t pid = task->tgid;
	if (task->pid == task->tgid) {
		bpf_map_delete_elem(&kbpf_pids, &pid);
	}
	return 0;
}
