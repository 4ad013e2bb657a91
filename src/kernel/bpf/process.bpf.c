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
	unsigned long flags;
};
struct mm_flags___bitmap {
	unsigned long __mm_flags[1];
};
struct mm_struct___bitmap { /* since 6.18 */
	struct mm_flags___bitmap flags;
};
struct kuid___process {
	unsigned int val;
};
struct kernel_cap___process {
	unsigned long long val;
};
struct user_namespace___process {
	int level;
};
struct cred___process {
	struct kuid___process uid, euid, suid, fsuid, gid, egid, sgid, fsgid;
	struct kernel_cap___process cap_permitted;
	struct user_namespace___process *user_ns;
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

#define DUMPABLE_MASK 3
#define DUMPABLE_USER 1

/* Whose program this is in the eyes of ptrace: all ids are that user's, it came to them by no set-user-id,
 * set-group-id or capability, and is not hidden from the user. */
static __always_inline uint32_t owner_of(struct task_struct___process *task)
{
	const struct cred___process *c = BPF_CORE_READ(task, cred);
	struct mm_struct___process *mm = BPF_CORE_READ(task, mm);
	uint32_t uid = BPF_CORE_READ(c, uid.val), gid = BPF_CORE_READ(c, gid.val);
	uint64_t caps = ~0ull, flags = 0;
	if (BPF_CORE_READ(c, euid.val) != uid || BPF_CORE_READ(c, suid.val) != uid ||
	    BPF_CORE_READ(c, fsuid.val) != uid || BPF_CORE_READ(c, egid.val) != gid ||
	    BPF_CORE_READ(c, sgid.val) != gid || BPF_CORE_READ(c, fsgid.val) != gid ||
	    BPF_CORE_READ(c, user_ns, level) != 0) {
		return KBPF_NO_OWNER;
	}
	bpf_core_read(&caps, sizeof caps, &c->cap_permitted);
	struct mm_struct___bitmap *new = (void *)mm;
	if (bpf_core_field_exists(new->flags.__mm_flags)) {
		bpf_core_read(&flags, sizeof(unsigned long), &new->flags.__mm_flags);
	} else if (bpf_core_field_exists(mm->flags)) {
		flags = BPF_CORE_READ(mm, flags);
	}
	return caps == 0 && (flags & DUMPABLE_MASK) == DUMPABLE_USER ? uid : KBPF_NO_OWNER;
}

/* From its first instruction on a program is watched by its owner, and by no other. */
static __always_inline void hand_over(uint32_t pid, uint32_t owner)
{
	uint32_t zero = 0;
	struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
	if (!c || !c->confined) {
		return;
	}
	uint64_t *old = bpf_map_lookup_elem(&kbpf_pids, &pid);
	uint64_t *of_owner = owner == KBPF_NO_OWNER ? NULL : bpf_map_lookup_elem(&kbpf_uids, &owner);
	uint64_t now = (old ? *old & ~c->confined : 0) | (of_owner ? *of_owner : 0);
	if (old || now) {
		bpf_map_update_elem(&kbpf_pids, &pid, &now, BPF_ANY);
	}
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(kbpf_exec, struct task_struct___process *task, int old_tid)
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
	e->owner = owner_of(task);
	hand_over(who.pid, e->owner);
	e->bytes = n;
	e->old_tid = old_tid;
	if (n > KBPF_ARGS_MAX || bpf_probe_read_user(e + 1, n, (void *)from) < 0) {
		e->bytes = 0;
	}
	who.stacks = 0;
	kbpf_send(ctx, &who, KBPF_SLOT_EXEC, s, (sizeof *e + n + 7) & ~7u);
	return 0;
}

struct found {
	bool file;
};
static long on_area(struct task_struct *task, struct vm_area_struct *area, struct found *f)
{
	f->file = area->vm_file != NULL;
	return 0;
}

/* A library is let go of by one call for all of it, which begins with a part of the file. */
#if defined(__TARGET_ARCH_x86)
SEC("fentry/__x64_sys_munmap")
#else
SEC("fentry/__arm64_sys_munmap")
#endif
int BPF_PROG(kbpf_munmap, struct pt_regs *regs)
{
	struct found f = {0};
	struct kbpf_who who;
	if (!kbpf_wanted_of_all(KBPF_UNLOAD, &who)) {
		return 0;
	}
#if defined(__TARGET_ARCH_x86)
	struct kbpf_unload u = {.address = regs->di, .bytes = regs->si};
#else
	struct kbpf_unload u = {.address = regs->regs[0], .bytes = regs->regs[1]};
#endif
	/* Nothing there: it may begin later; not to be looked at now: the collector knows. */
	if ((bpf_find_vma(bpf_get_current_task_btf(), u.address, on_area, &f, 0) != 0 || f.file) && u.bytes > 0) {
		kbpf_write(ctx, &who, KBPF_SLOT_MUNMAP, &u, sizeof u);
	}
	return 0;
}

#define MM_FILEPAGES 0
#if defined(__TARGET_ARCH_x86)
#define SYS_MUNMAP 11
#else
#define SYS_MUNMAP 215
#endif

/* Where that function cannot be had, for locked kernels refuse it: pages of files that were in use go while
 * a thread is in that call. It may be said several times. */
SEC("tp_btf/rss_stat")
int BPF_PROG(kbpf_munmap_pages, struct mm_struct *mm, int member)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kbpf_unload u = {0};
	struct kbpf_who who;
	if (member != MM_FILEPAGES || task->mm != mm) {
		return 0;
	}
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	uint32_t nr = BPF_CORE_READ(regs, orig_ax);
	u.address = BPF_CORE_READ(regs, di);
	u.bytes = BPF_CORE_READ(regs, si);
#else
	uint32_t nr = BPF_CORE_READ(regs, regs[8]);
	u.address = BPF_CORE_READ(regs, orig_x0);
	u.bytes = BPF_CORE_READ(regs, regs[1]);
#endif
	if (nr == SYS_MUNMAP && u.bytes > 0 && kbpf_wanted_of_all(KBPF_UNLOAD, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_MUNMAP, &u, sizeof u);
	}
	return 0;
}

/* And for what nobody used: dlclose() returned. What has gone the collector finds out. */
SEC("uretprobe")
int kbpf_unload(struct pt_regs *ctx)
{
	struct kbpf_unload nothing = {0};
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
	if (BPF_CORE_READ(task, signal, live.counter) != 0 || !kbpf_wanted_of_all(KBPF_EXIT, &who)) {
		return 0; /* other threads of it go on */
	}
	struct signal_struct___process *signal = BPF_CORE_READ(task, signal);
	e.code = BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT ? BPF_CORE_READ(signal, group_exit_code)
								  : BPF_CORE_READ(task, group_leader, exit_code);
	e.parent = BPF_CORE_READ(task, group_leader, real_parent, tgid);
	e.faults = BPF_CORE_READ(signal, min_flt) + BPF_CORE_READ(signal, maj_flt) + BPF_CORE_READ(task, min_flt) +
		   BPF_CORE_READ(task, maj_flt);
	BPF_CORE_READ_STR_INTO(&e.name, task, group_leader, comm);
	e.uid = BPF_CORE_READ(task, cred, uid.val);
	e.peak_pages = BPF_CORE_READ(signal, maxrss);
	who.flags = BPF_CORE_READ(task, flags) & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
	kbpf_write(ctx, &who, KBPF_SLOT_EXIT, &e, sizeof e);
	return 0;
}
