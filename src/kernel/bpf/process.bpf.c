/* SPDX-License-Identifier: MIT
 *
 * What perf does not say of processes: the arguments of a new program, and how a process ended. Of
 * all processes, whoever watches which: a trace must be able to name them.
 */
#include "kbpf_core.h"

#include "kbpf_process.h"

#define SIGNAL_GROUP_EXIT 4

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct mm_struct___process {
	unsigned long arg_start, arg_end;
};
struct kuid___process {
	unsigned int val;
};
struct cred___process {
	struct kuid___process uid;
};
struct atomic___process {
	int counter;
};
struct task_struct___process;
struct signal_struct___process {
	struct atomic___process live;
	int group_exit_code;
	unsigned int flags;
	unsigned long min_flt, maj_flt, maxrss;
};
struct task_struct___process {
	unsigned int flags;
	int tgid, exit_code;
	unsigned long min_flt, maj_flt;
	char comm[16];
	struct mm_struct___process *mm;
	const struct cred___process *cred;
	struct signal_struct___process *signal;
	struct task_struct___process *group_leader, *real_parent;
};
#pragma clang attribute pop

SEC("tp_btf/sched_process_exec")
int BPF_PROG(kbpf_exec, struct task_struct___process *task)
{
	struct kbpf_who who;
	struct kbpf_scratch *s = kbpf_slot(KBPF_SLOT_EXEC);
	if (!s || !kbpf_wanted_of_all(KBPF_EXEC, &who)) {
		return 0;
	}
	struct kbpf_exec *e = (void *)s->body;
	uint64_t from = BPF_CORE_READ(task, mm, arg_start), to = BPF_CORE_READ(task, mm, arg_end);
	uint32_t n = to - from > KBPF_ARGS_MAX ? KBPF_ARGS_MAX : (uint32_t)(to - from);
	e->uid = BPF_CORE_READ(task, cred, uid.val);
	e->bytes = n;
	if (n > KBPF_ARGS_MAX || bpf_probe_read_user(e + 1, n, (void *)from) < 0) {
		e->bytes = 0;
	}
	who.stacks = 0;
	kbpf_send(ctx, &who, KBPF_SLOT_EXEC, s, (sizeof *e + n + 7) & ~7u);
	return 0;
}

/* dlclose() returned. What has gone the collector finds out. */
SEC("uretprobe")
int kbpf_unload(struct pt_regs *ctx)
{
	uint64_t nothing = 0;
	struct kbpf_who who;
	if (kbpf_wanted_of_all(KBPF_UNLOAD, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_UNLOAD, &nothing, sizeof nothing);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(kbpf_exit, struct task_struct___process *task)
{
	struct kbpf_exit e = {0};
	struct kbpf_who who;
	if (BPF_CORE_READ(task, signal, live.counter) != 0 ||
	    !kbpf_wanted_of_all(KBPF_EXIT, &who)) {
		return 0; /* other threads of it go on */
	}
	struct signal_struct___process *signal = BPF_CORE_READ(task, signal);
	e.code = BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT
			 ? BPF_CORE_READ(signal, group_exit_code)
			 : BPF_CORE_READ(task, group_leader, exit_code);
	e.parent = BPF_CORE_READ(task, group_leader, real_parent, tgid);
	e.faults = BPF_CORE_READ(signal, min_flt) + BPF_CORE_READ(signal, maj_flt) +
		   BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
	BPF_CORE_READ_STR_INTO(&e.name, task, group_leader, comm);
	e.uid = BPF_CORE_READ(task, cred, uid.val);
	e.peak_pages = BPF_CORE_READ(signal, maxrss);
	who.flags = BPF_CORE_READ(task, flags) & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
	kbpf_write(ctx, &who, KBPF_SLOT_EXIT, &e, sizeof e);
	return 0;
}
