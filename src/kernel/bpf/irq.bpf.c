/* SPDX-License-Identifier: MIT
 *
 * Interrupts, softirqs, tasklets and work, each when it is over and with the time it began, as
 * Windows logs them; idle states and frequencies of processors. They belong to no process, so that
 * a session that watches processes gets them all.
 */
/* Interrupts come in the middle of softirqs, whose slot they would use. */
#define KBPF_NO_SLOT
#include "kbpf_core.h"

#include "kbpf_irq.h"

#define SOFTIRQS 16u

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct irqaction___irq {
	void *handler;
};
struct work_struct___irq {
	void *func;
};
#pragma clang attribute pop

/* Where on this processor something began: an interrupt (which no other interrupts), each softirq,
 * a tasklet, and each of the processor's own vectors. */
enum { BEGAN_IRQ, BEGAN_TASKLET, BEGAN_SOFTIRQ, BEGAN_VECTOR = BEGAN_SOFTIRQ + SOFTIRQS, BEGAN = 32 };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BEGAN);
	__type(key, uint32_t);
	__type(value, uint64_t);
} irq_began SEC(".maps");

/* Work sleeps and moves: by thread. It may be gone when it is over, so that its function is kept.
 */
struct work {
	uint64_t began, function;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, struct work);
} irq_work_began SEC(".maps");

static __always_inline void begin(uint32_t place)
{
	uint64_t now = bpf_ktime_get_ns();
	bpf_map_update_elem(&irq_began, &place, &now, BPF_ANY);
}

static __always_inline void end(void *ctx, uint32_t hook, uint32_t place, struct kbpf_irq *i)
{
	struct kbpf_who who;
	uint64_t *began = bpf_map_lookup_elem(&irq_began, &place);
	/* What was under way when the recording began has no beginning. */
	if (began && *began && kbpf_wanted_of_all(hook, &who)) {
		i->start = *began;
		*began = 0;
		kbpf_write(ctx, &who, KBPF_SLOT_IRQ, i, sizeof *i);
	}
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(kbpf_irq_entry, int irq, struct irqaction___irq *action)
{
	begin(BEGAN_IRQ);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(kbpf_irq_exit, int irq, struct irqaction___irq *action, int result)
{
	struct kbpf_irq i = {
		.routine = (uint64_t)BPF_CORE_READ(action, handler), .vector = irq, .handled = result != 0};
	end(ctx, KBPF_ISR, BEGAN_IRQ, &i);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(kbpf_softirq_entry, unsigned int which)
{
	if (which < SOFTIRQS) {
		begin(BEGAN_SOFTIRQ + which);
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(kbpf_softirq_exit, unsigned int which)
{
	struct kbpf_irq i = {.vector = which};
	if (which < SOFTIRQS) {
		end(ctx, KBPF_SOFTIRQ, BEGAN_SOFTIRQ + which, &i);
	}
	return 0;
}

SEC("tp_btf/tasklet_entry")
int BPF_PROG(kbpf_tasklet_entry, void *tasklet, void *function)
{
	begin(BEGAN_TASKLET);
	return 0;
}

SEC("tp_btf/tasklet_exit")
int BPF_PROG(kbpf_tasklet_exit, void *tasklet, void *function)
{
	struct kbpf_irq i = {.routine = (uint64_t)function};
	end(ctx, KBPF_TASKLET, BEGAN_TASKLET, &i);
	return 0;
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(kbpf_work_start, struct work_struct___irq *work)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	struct work w = {.began = bpf_ktime_get_ns(), .function = (uint64_t)BPF_CORE_READ(work, func)};
	bpf_map_update_elem(&irq_work_began, &tid, &w, BPF_ANY);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(kbpf_work_end, void *work)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	struct work *w = bpf_map_lookup_elem(&irq_work_began, &tid);
	struct kbpf_who who;
	if (w && kbpf_wanted_of_all(KBPF_WORK, &who)) {
		struct kbpf_irq i = {.start = w->began, .routine = w->function};
		kbpf_write(ctx, &who, KBPF_SLOT_IRQ, &i, sizeof i);
	}
	bpf_map_delete_elem(&irq_work_began, &tid);
	return 0;
}

#if defined(__TARGET_ARCH_x86)
#define VECTOR(name, which)                                                         \
	SEC("tp_btf/" #name "_entry")                                               \
	int BPF_PROG(kbpf_##name##_entry, int vector)                               \
	{                                                                           \
		begin(BEGAN_VECTOR + which);                                        \
		return 0;                                                           \
	}                                                                           \
	SEC("tp_btf/" #name "_exit")                                                \
	int BPF_PROG(kbpf_##name##_exit, int vector)                                \
	{                                                                           \
		struct kbpf_irq i = {.vector = vector, .handled = 1, .own = which}; \
		end(ctx, KBPF_VECTOR, BEGAN_VECTOR + which, &i);                    \
		return 0;                                                           \
	}
VECTOR(local_timer, KBPF_VECTOR_TIMER)
VECTOR(reschedule, KBPF_VECTOR_RESCHEDULE)
VECTOR(call_function, KBPF_VECTOR_CALL)
VECTOR(call_function_single, KBPF_VECTOR_CALL_SINGLE)
VECTOR(irq_work, KBPF_VECTOR_WORK)
#endif

/* ---- power -------------------------------------------------------------------------------------
 */

SEC("tp_btf/cpu_idle")
int BPF_PROG(kbpf_cpu_idle, unsigned int state, unsigned int cpu)
{
	struct kbpf_power p = {.cpu = cpu, .state = state};
	struct kbpf_who who;
	if (kbpf_wanted_of_all(KBPF_IDLE, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_IRQ, &p, sizeof p);
	}
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(kbpf_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	struct kbpf_power p = {.cpu = cpu, .state = khz};
	struct kbpf_who who;
	if (kbpf_wanted_of_all(KBPF_FREQUENCY, &who)) {
		kbpf_write(ctx, &who, KBPF_SLOT_IRQ, &p, sizeof p);
	}
	return 0;
}
