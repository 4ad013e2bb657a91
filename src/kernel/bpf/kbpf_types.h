/* SPDX-License-Identifier: MIT
 *
 * The kernel's structures, as much of them as programs here read. Offsets are found in the running
 * kernel's BTF when a program is loaded (preserve_access_index), so neither order nor
 * completeness matters; names and types of fields do. Where a field was renamed or moved between
 * kernels there is a second structure with a ___suffix, which the loader ignores.
 */
#ifndef KERNEL_BPF_KBPF_TYPES_H
#define KERNEL_BPF_KBPF_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s64 int64_t;
typedef __s32 int32_t;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true  1
#define false 0
#define NULL  ((void *)0)

/* Of linux/bpf.h, which wants more headers than there are for this machine. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_RB_NO_WAKEUP = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, ax, orig_ax, ip, sp, flags, cs;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
	__u64 orig_x0;
};
#endif

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	int prio;
	struct signal_struct *signal;
	struct task_struct *group_leader;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000u

#endif
