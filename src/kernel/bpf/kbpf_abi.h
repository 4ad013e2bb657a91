/* SPDX-License-Identifier: MIT
 *
 * What the programs in the kernel and the collector say to each other. Included by both sides: the
 * includer brings uint8_t … uint64_t.
 *
 * One ring of each processor holds records one behind the other, each a header, then words (and
 * perhaps text) whose meaning the hook says, then the stack. Bytes are shaped into Windows' payloads
 * by the collector (kernel_<area>.c), never here.
 */
#ifndef KERNEL_BPF_KBPF_ABI_H
#define KERNEL_BPF_KBPF_ABI_H

/* What can be asked for. The order is nobody's business but this program's. */
enum kbpf_hook {
	KBPF_SYS_ENTER, /* u64 number */
	KBPF_SYS_EXIT,	/* u64 number, i64 result */
	/* net.bpf.c: struct kbpf_net */
	KBPF_TCP_SEND,
	KBPF_TCP_RECV,
	KBPF_TCP_CONNECT,
	KBPF_TCP_ACCEPT,
	KBPF_TCP_DISCONNECT,
	KBPF_TCP_RETRANSMIT,
	KBPF_TCP_RECONNECT,
	KBPF_TCP_FAIL,
	KBPF_UDP_SEND,
	KBPF_UDP_RECV,
	/* irq.bpf.c: struct kbpf_irq, struct kbpf_power */
	KBPF_ISR,
	KBPF_VECTOR,
	KBPF_SOFTIRQ,
	KBPF_TASKLET,
	KBPF_WORK,
	KBPF_IDLE,
	KBPF_FREQUENCY,
	/* process.bpf.c: struct kbpf_exec, struct kbpf_exit */
	KBPF_EXEC,
	KBPF_EXIT,
	KBPF_HOOKS_MAX = 96, /* room in the maps */
};

/* Programs that may build a record in the scratch memory of their processor: a slot each. */
enum kbpf_scratch_slot {
	KBPF_SLOT_SYS_ENTER,
	KBPF_SLOT_SYS_EXIT,
	KBPF_SLOT_NET_SEND,
	KBPF_SLOT_NET_RECV,
	KBPF_SLOT_NET_STATE,
	KBPF_SLOT_NET_RETRANSMIT,
	KBPF_SLOT_NET_EXIT,
	KBPF_SLOT_IRQ, /* has no stacks, so that it is never used */
	KBPF_SLOT_EXEC,
	KBPF_SLOT_EXIT,
	KBPF_SLOTS_MAX = 48,
};

#define KBPF_STACK_FRAMES 128u /* of each half: kernel, user */
#define KBPF_PAYLOAD_MAX  2048u

enum kbpf_flags {
	KBPF_KERNEL_THREAD = 1u << 0,
};

struct kbpf_record {
	uint64_t time;	   /* CLOCK_MONOTONIC, ns */
	uint64_t sessions; /* who wants it, a bit each */
	uint32_t pid, tid; /* of the current task; thread group and thread */
	uint16_t hook, cpu;
	uint16_t bytes;	 /* of payload, a multiple of 8 */
	uint16_t frames; /* behind the payload, innermost first, kernel before user */
	uint32_t flags;	 /* enum kbpf_flags */
	uint32_t kernel_frames;
};

/* Written by the collector at any time, read by every program first. */
struct kbpf_config {
	uint64_t filtered; /* sessions that see only the processes in kbpf_pids */
	uint32_t own_pid;  /* the collector: never recorded */
	uint32_t reserved;
	uint64_t sessions[KBPF_HOOKS_MAX]; /* that want the hook */
	uint64_t stacks[KBPF_HOOKS_MAX];   /* that want a stack with it */
};

/* A scratch slot: a record under construction. */
struct kbpf_scratch {
	struct kbpf_record head;
	uint8_t body[KBPF_PAYLOAD_MAX + 2 * KBPF_STACK_FRAMES * 8];
};

#define KBPF_PIDS_MAX 16384u

#endif
