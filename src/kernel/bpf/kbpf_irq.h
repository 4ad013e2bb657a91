/* SPDX-License-Identifier: MIT
 * What irq.bpf.c says of an interrupt or what it left to do, when it is over. Included by both
 * sides.
 */
#ifndef KERNEL_BPF_KBPF_IRQ_H
#define KERNEL_BPF_KBPF_IRQ_H

enum kbpf_vector { /* of the processor itself: they have no handler of a driver */
		   KBPF_VECTOR_TIMER = 1,
		   KBPF_VECTOR_RESCHEDULE,
		   KBPF_VECTOR_CALL,
		   KBPF_VECTOR_CALL_SINGLE,
		   KBPF_VECTOR_WORK,
};

struct kbpf_irq {
	uint64_t start, routine;
	uint32_t vector; /* of an interrupt; which softirq */
	uint8_t handled;
	uint8_t own; /* enum kbpf_vector */
	uint16_t reserved;
};

struct kbpf_power {
	uint32_t cpu, state; /* idle: UINT32_MAX leaves; frequency: kHz */
};

#endif
