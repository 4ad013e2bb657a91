/* SPDX-License-Identifier: MIT
 *
 * Context switches and who woke whom. The stack at a switch is that of the thread that leaves: the
 * collector keeps it until the thread comes back.
 */
#define KBPF_WAITS
#include "kbpf_core.h"

#include "kbpf_sched.h"

struct task_struct___named_state {
	unsigned int __state;
} __attribute__((preserve_access_index));

/* Sessions that see one thread group or the other. */
static __always_inline bool wanted_of_two(uint32_t hook, uint32_t a, uint32_t b, struct kbpf_who *who)
{
	uint32_t zero = 0;
	struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
	if (!c) {
		return false;
	}
	uint64_t sessions = c->sessions[hook];
	if (sessions & c->filtered) {
		uint64_t *of_a = bpf_map_lookup_elem(&kbpf_pids, &a);
		uint64_t *of_b = bpf_map_lookup_elem(&kbpf_pids, &b);
		sessions &= ~c->filtered | (of_a ? *of_a : 0) | (of_b ? *of_b : 0);
	}
	who->sessions = sessions;
	who->stacks = c->stacks[hook] & sessions;
	who->counters = c->counted[hook] & sessions ? c->counters : 0;
	who->unwind = c->unwind;
	who->waits_for = 0;
	who->hook = hook;
	who->flags = 0;
	return sessions != 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(kbpf_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct kbpf_who who;
	uint32_t pid = prev->tgid, next_pid = next->tgid;
	if (!wanted_of_two(KBPF_SWITCH, pid, next_pid, &who)) {
		return 0;
	}
	who.time = bpf_ktime_get_ns();
	who.pid = pid;
	who.tid = prev->pid;
	who.flags = prev->flags & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
	if (who.tid == 0) {
		who.stacks = 0; /* idle: always the same */
	}
	struct kbpf_switch s = {
		.next_pid = next_pid,
		.next_tid = next->pid,
		.prev_prio = prev->prio,
		.next_prio = next->prio,
		.preempted = preempt,
		.call = -1,
	};
	if (!who.flags) {
		struct pt_regs *regs = (void *)bpf_task_pt_regs(prev);
#if defined(__TARGET_ARCH_x86)
		s.call = BPF_CORE_READ(regs, orig_ax);
#else
		s.call = BPF_CORE_READ(regs, syscallno);
#endif
	}
	if (who.stacks && who.unwind && !preempt && !who.flags && s.call >= 0) {
		struct pt_regs *regs = (void *)bpf_task_pt_regs(prev);
		/* A tracepoint's arguments lie on the thread's stack, just below what waits. */
		uint64_t depth = (long)regs - (long)ctx, h = (uint64_t)s.call << 32 ^ depth;
#if defined(__TARGET_ARCH_x86)
		h = (h ^ BPF_CORE_READ(regs, di)) * KBPF_PRIME;
		h = (h ^ BPF_CORE_READ(regs, si)) * KBPF_PRIME;
		h = (h ^ BPF_CORE_READ(regs, dx)) * KBPF_PRIME;
#else
		h = (h ^ BPF_CORE_READ(regs, orig_x0)) * KBPF_PRIME;
		h = (h ^ BPF_CORE_READ(regs, regs[1])) * KBPF_PRIME;
		h = (h ^ BPF_CORE_READ(regs, regs[2])) * KBPF_PRIME;
#endif
		who.waits_for = (h ^ h >> 29) | 1;
	}
	struct task_struct___named_state *named = (void *)prev;
	if (bpf_core_field_exists(named->__state)) {
		s.state = BPF_CORE_READ(named, __state);
	}
	kbpf_write(ctx, &who, KBPF_SLOT_SWITCH, &s, sizeof s);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(kbpf_sched_waking, struct task_struct *task)
{
	struct kbpf_who who;
	uint64_t id = bpf_get_current_pid_tgid();
	uint32_t pid = task->tgid;
	if (!wanted_of_two(KBPF_WAKING, pid, pid, &who)) {
		return 0;
	}
	who.time = bpf_ktime_get_ns();
	who.pid = id >> 32;
	who.tid = (uint32_t)id;
	who.flags = bpf_get_current_task_btf()->flags & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
	struct kbpf_waking w = {.pid = pid, .tid = task->pid};
	kbpf_write(ctx, &who, KBPF_SLOT_WAKING, &w, sizeof w);
	return 0;
}
