/* SPDX-License-Identifier: MIT
 * What process.bpf.c says. Included by both sides.
 */
#ifndef KERNEL_BPF_KBPF_PROCESS_H
#define KERNEL_BPF_KBPF_PROCESS_H

#define KBPF_ARGS_MAX 1800u

#define KBPF_NO_OWNER 0xFFFFFFFFu

struct kbpf_exec {
	uint32_t uid, bytes; /* of arguments behind this, each with its NUL */
	uint32_t owner;      /* uid that may trace it without rights; KBPF_NO_OWNER: nobody */
	uint32_t old_tid;    /* of the thread that did it: from now on it is the process' first */
};

/* Memory that is about to be unmapped, with a file in it; nothing: dlclose() returned. */
struct kbpf_unload {
	uint64_t address, bytes;
};

struct kbpf_exit {
	uint32_t code, parent; /* as wait() has it */
	uint64_t faults, peak_pages;
	char name[16]; /* the kernel's */
	uint32_t uid, reserved2;
};

#endif
