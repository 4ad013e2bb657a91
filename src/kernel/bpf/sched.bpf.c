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

/* ---- who woke it -------------------------------------------------------------------------------
 */

#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x00FF0000u /* with the bits of NMIs */

#if defined(__TARGET_ARCH_x86)
/* It is a variable of each processor, whose address not every kernel tells. The run queue is one as well, and the
 * current task leads to it; how far apart they are the collector has found out. */
struct rq {
	int cpu;
} __attribute__((preserve_access_index));
struct cfs_rq {
	struct rq *rq;
} __attribute__((preserve_access_index));
struct sched_entity {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));
struct task_struct___se {
	struct sched_entity se;
} __attribute__((preserve_access_index));
#else
struct thread_info {
	unsigned long long preempt_count; /* its lower half */
} __attribute__((preserve_access_index));
struct task_struct___info {
	struct thread_info thread_info;
} __attribute__((preserve_access_index));
#endif

/* False: this kernel does not tell. */
static __always_inline bool preempt_count(uint32_t *ret)
{
#if defined(__TARGET_ARCH_x86)
	uint32_t zero = 0;
	struct kbpf_config *c = bpf_map_lookup_elem(&kbpf_config, &zero);
	struct task_struct___se *task = (void *)bpf_get_current_task_btf();
	if (!c || c->preempt_from_rq == 0 || !bpf_core_field_exists(task->se.cfs_rq)) {
		return false;
	}
	struct cfs_rq *group = BPF_CORE_READ(task, se.cfs_rq);
	if (!bpf_core_field_exists(group->rq)) {
		return false;
	}
	struct rq *rq = BPF_CORE_READ(group, rq);
	if (BPF_CORE_READ(rq, cpu) != bpf_get_smp_processor_id()) {
		return false;
	}
	return bpf_probe_read_kernel(ret, sizeof *ret, (char *)rq + c->preempt_from_rq) == 0;
#else
	struct task_struct___info *task = (void *)bpf_get_current_task_btf();
	if (!bpf_core_field_exists(task->thread_info.preempt_count)) {
		return false;
	}
	*ret = (uint32_t)BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
#endif
}

/* Of this processor: a timer's function runs, in an interrupt (1) or in a softirq (2), or in both. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} kbpf_timers SEC(".maps");

static __always_inline uint32_t context_bit(uint32_t count)
{
	return count & HARDIRQ_MASK ? 1 : 2;
}

static __always_inline int timer_runs(bool runs)
{
	uint32_t zero = 0, count;
	uint32_t *timers = bpf_map_lookup_elem(&kbpf_timers, &zero);
	if (timers && preempt_count(&count)) {
		*timers = runs ? *timers | context_bit(count) : *timers & ~context_bit(count);
	}
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(kbpf_hrtimer_entry)
{
	return timer_runs(true);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(kbpf_hrtimer_exit)
{
	return timer_runs(false);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(kbpf_timer_entry)
{
	return timer_runs(true);
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(kbpf_timer_exit)
{
	return timer_runs(false);
}

static __always_inline uint32_t waker(void)
{
	uint32_t zero = 0, count;
	if (!preempt_count(&count)) {
		return KBPF_BY_UNKNOWN;
	}
	if (!(count & (HARDIRQ_MASK | SOFTIRQ_SERVED))) {
		return KBPF_BY_THREAD;
	}
	uint32_t *timers = bpf_map_lookup_elem(&kbpf_timers, &zero);
	if (timers && (*timers & context_bit(count))) {
		return KBPF_BY_TIMER;
	}
	return count & HARDIRQ_MASK ? KBPF_BY_INTERRUPT : KBPF_BY_SOFTIRQ;
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
	struct kbpf_waking w = {.pid = pid, .tid = task->pid, .waker = waker()};
	kbpf_write(ctx, &who, KBPF_SLOT_WAKING, &w, sizeof w);
	return 0;
}
