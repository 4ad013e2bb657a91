/* SPDX-License-Identifier: MIT
 *
 * ISR for interrupts, DPC for what they leave to do: softirqs and tasklets (TimerDPC for the
 * timers'), ThreadedDPC for work that runs in threads of the kernel. Processors' idle states and
 * frequencies.
 */
#include "kernel/kernel_bpf.h"

#include "kernel/bpf/kbpf_irq.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOOK_DPC_THREADED 0x0F42u
#define HOOK_ISR          0x0F43u
#define HOOK_DPC          0x0F44u
#define HOOK_DPC_TIMER    0x0F45u
#define HOOK_FREQUENCY    0x1233u
#define HOOK_IDLE_ENTER   0x1239u
#define HOOK_IDLE_EXIT    0x123Au
#define IDLE_LEFT         UINT32_MAX
#define SOFTIRQS          10u
#define VECTORS           6u
#define CPUS_MAX          4096u

enum { SOFTIRQ_HI = 0, SOFTIRQ_TIMER = 1, SOFTIRQ_TASKLET = 6, SOFTIRQ_HRTIMER = 8 };

struct interrupts {
	uint64_t softirq[SOFTIRQS], vector[VECTORS]; /* the kernel's functions */
	bool tasklets;                               /* are told one by one, so that their softirqs add nothing */
	uint32_t idle[CPUS_MAX], khz[CPUS_MAX];
};

/* Names changed over time; the first that there is counts. */
static const struct {
	const char *name;
	uint8_t softirq; /* + 1 */
	uint8_t vector;
} functions[] = {
	{"tasklet_hi_action", 1, 0},
	{"run_timer_softirq", 2, 0},
	{"net_tx_action", 3, 0},
	{"net_rx_action", 4, 0},
	{"blk_done_softirq", 5, 0},
	{"irq_poll_softirq", 6, 0},
	{"tasklet_action", 7, 0},
	{"sched_balance_softirq", 8, 0},
	{"run_rebalance_domains", 8, 0},
	{"hrtimer_run_softirq", 9, 0},
	{"rcu_core_si", 10, 0},
	{"rcu_process_callbacks", 10, 0},
	{"sysvec_apic_timer_interrupt", 0, KBPF_VECTOR_TIMER},
	{"sysvec_reschedule_ipi", 0, KBPF_VECTOR_RESCHEDULE},
	{"sysvec_call_function", 0, KBPF_VECTOR_CALL},
	{"sysvec_call_function_single", 0, KBPF_VECTOR_CALL_SINGLE},
	{"sysvec_irq_work", 0, KBPF_VECTOR_WORK},
};

void *kernel_irq_create(struct kernel *k, struct kernel_names *names)
{
	(void)names;
	struct interrupts *s = calloc(1, sizeof *s);
	char line[512], name[256], kind;
	unsigned long long address;
	(void)k;
	FILE *f = s ? fopen("/proc/kallsyms", "re") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%llx %c %255s", &address, &kind, name) != 3) {
			continue;
		}
		for (size_t i = 0; i < BASE_ARRAY_LEN(functions); i++) {
			if (strcmp(name, functions[i].name) != 0) {
				continue;
			}
			if (functions[i].softirq && !s->softirq[functions[i].softirq - 1]) {
				s->softirq[functions[i].softirq - 1] = address;
			} else if (functions[i].vector) {
				s->vector[functions[i].vector] = address;
			}
		}
	}
	if (f) {
		fclose(f);
	}
	if (s) {
		memset(s->idle, 0xFF, sizeof s->idle);
	}
	return s;
}

void kernel_irq_destroy(void *state)
{
	free(state);
}

static bool power(struct kernel *k, struct interrupts *s, const struct kbpf_record *raw)
{
	const struct kbpf_power *p = (const void *)(raw + 1);
	struct kernel_record r;
	if (raw->bytes < sizeof *p || p->cpu >= CPUS_MAX) {
		return false;
	}
	if (raw->hook == KBPF_FREQUENCY) {
		kernel_record_begin(&r, raw, HOOK_FREQUENCY, 2, true);
		kernel_put(&r, 0, 4);               /* Type */
		kernel_put(&r, p->state / 1000, 4); /* NewState: MHz */
		kernel_put(&r, s->khz[p->cpu] / 1000, 4);
		kernel_put(&r, 0, 4); /* Result */
		kernel_put(&r, p->cpu < 64 ? 1ull << p->cpu : 0, 8);
		s->khz[p->cpu] = p->state;
	} else if (p->state == IDLE_LEFT) {
		if (s->idle[p->cpu] == IDLE_LEFT) {
			return false; /* was there before we looked */
		}
		kernel_record_begin(&r, raw, HOOK_IDLE_EXIT, 2, true);
		kernel_put(&r, s->idle[p->cpu], 4);
		kernel_put(&r, 0, 4); /* Status */
		s->idle[p->cpu] = IDLE_LEFT;
	} else {
		kernel_record_begin(&r, raw, HOOK_IDLE_ENTER, 2, true);
		kernel_put(&r, p->state, 4);
		kernel_put(&r, 0, 4); /* Properties, ExpectedWakeReason */
		kernel_put(&r, 0, 8); /* ExpectedDuration */
		s->idle[p->cpu] = p->state;
	}
	kernel_out(k, &r);
	return true;
}

bool kernel_irq_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	struct interrupts *s = state;
	const struct kbpf_irq *i = (const void *)(raw + 1);
	struct kernel_record r;
	if (!s) {
		return false;
	}
	if (raw->hook == KBPF_IDLE || raw->hook == KBPF_FREQUENCY) {
		return power(k, s, raw);
	}
	if (raw->bytes < sizeof *i) {
		return false;
	}
	if (raw->hook == KBPF_ISR || raw->hook == KBPF_VECTOR) {
		kernel_record_begin(&r, raw, HOOK_ISR, 2, true);
		kernel_put(&r, i->start, 8);
		kernel_put(&r, i->own && i->own < VECTORS ? s->vector[i->own] : i->routine, 8);
		kernel_put(&r, i->handled, 1);
		kernel_put(&r, i->vector, 2);
		kernel_put(&r, 0, 1);
		kernel_out(k, &r);
		return true;
	}
	uint64_t routine = i->routine;
	uint16_t hook = raw->hook == KBPF_WORK ? HOOK_DPC_THREADED : HOOK_DPC;
	if (raw->hook == KBPF_TASKLET) {
		s->tasklets = true;
	} else if (raw->hook == KBPF_SOFTIRQ) {
		if (i->vector >= SOFTIRQS ||
		    (s->tasklets && (i->vector == SOFTIRQ_HI || i->vector == SOFTIRQ_TASKLET))) {
			return false;
		}
		routine = s->softirq[i->vector];
		if (i->vector == SOFTIRQ_TIMER || i->vector == SOFTIRQ_HRTIMER) {
			hook = HOOK_DPC_TIMER;
		}
	}
	kernel_record_begin(&r, raw, hook, 2, true);
	kernel_put(&r, i->start, 8);
	kernel_put(&r, routine, 8);
	kernel_out(k, &r);
	return true;
}
