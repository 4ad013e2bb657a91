/* SPDX-License-Identifier: MIT
 * What heap.bpf.c says. Included by both sides.
 */
#ifndef KERNEL_BPF_KBPF_HEAP_H
#define KERNEL_BPF_KBPF_HEAP_H

struct kbpf_heap {
	uint64_t address, bytes, old;
};

#endif
