/* SPDX-License-Identifier: MIT
 *
 * What of the kernel's events a session wants: the group masks of Windows (PERFINFO_GROUPMASK, eight
 * words), the EnableFlags of EVENT_TRACE_PROPERTIES that are the older way to say the same, the
 * keywords of the system providers, and the names that tools have for all three.
 *
 * A hook is one kind of event: group byte << 8 | type byte. A "bit" is written as Windows' PERF_*
 * constants are: the top three bits are the word, the others what is set in it.
 */
#ifndef FORMAT_KERNEL_MASK_H
#define FORMAT_KERNEL_MASK_H

#include "base/base.h"

#define KERNEL_MASK_WORDS 8u
#define KERNEL_HOOKS      0x2000u /* no hook is above */
#define KERNEL_STACKS_MAX 256u    /* hooks with stacks, of a session */

struct kernel_mask {
	uint32_t word[KERNEL_MASK_WORDS];
};

enum kernel_bit {
	KERNEL_BIT_PROCESS = 0x00000001,
	KERNEL_BIT_THREAD = 0x00000002,
	KERNEL_BIT_LOADER = 0x00000004,
	KERNEL_BIT_PERF_COUNTER = 0x00000008,
	KERNEL_BIT_DISK_IO = 0x00000100,
	KERNEL_BIT_FILENAME = 0x00000200,
	KERNEL_BIT_DISK_IO_INIT = 0x00000400,
	KERNEL_BIT_ALL_FAULTS = 0x00001000,
	KERNEL_BIT_HARD_FAULTS = 0x00002000,
	KERNEL_BIT_VAMAP = 0x00008000,
	KERNEL_BIT_NETWORK = 0x00010000,
	KERNEL_BIT_REGISTRY = 0x00020000,
	KERNEL_BIT_DBGPRINT = 0x00040000,
	KERNEL_BIT_JOB = 0x00080000,
	KERNEL_BIT_ALPC = 0x00100000,
	KERNEL_BIT_SPLIT_IO = 0x00200000,
	KERNEL_BIT_DEBUG_EVENTS = 0x00400000,
	KERNEL_BIT_FILE_IO = 0x02000000,
	KERNEL_BIT_FILE_IO_INIT = 0x04000000,
	KERNEL_BIT_NO_SYSCONFIG = 0x10000000,
	KERNEL_BIT_MEMORY = 0x20000001,
	KERNEL_BIT_PROFILE = 0x20000002,
	KERNEL_BIT_CSWITCH = 0x20000004,
	KERNEL_BIT_FOOTPRINT = 0x20000008,
	KERNEL_BIT_DRIVERS = 0x20000010,
	KERNEL_BIT_REFSET = 0x20000020,
	KERNEL_BIT_POOL = 0x20000040,
	KERNEL_BIT_DPC = 0x20000080,
	KERNEL_BIT_COMPACT_CSWITCH = 0x20000100,
	KERNEL_BIT_DISPATCHER = 0x20000200,
	KERNEL_BIT_PMC_PROFILE = 0x20000400,
	KERNEL_BIT_AFFINITY = 0x20001000,
	KERNEL_BIT_PRIORITY = 0x20002000,
	KERNEL_BIT_INTERRUPT = 0x20004000,
	KERNEL_BIT_VIRT_ALLOC = 0x20008000,
	KERNEL_BIT_SPINLOCK = 0x20010000,
	KERNEL_BIT_SYNC_OBJECTS = 0x20020000,
	KERNEL_BIT_DPC_QUEUE = 0x20040000,
	KERNEL_BIT_MEMINFO = 0x20080000,
	KERNEL_BIT_CONTMEM_GEN = 0x20100000,
	KERNEL_BIT_SESSION = 0x20400000,
	KERNEL_BIT_MEMINFO_WS = 0x20800000,
	KERNEL_BIT_KERNEL_QUEUE = 0x21000000,
	KERNEL_BIT_INTERRUPT_STEER = 0x22000000,
	KERNEL_BIT_SHOULD_YIELD = 0x24000000,
	KERNEL_BIT_HEAP = 0x40000020,
	KERNEL_BIT_SYSCALL = 0x40000040,
	KERNEL_BIT_PROCESSOR_IDLE = 0x40008000,
	KERNEL_BIT_CPU_CONFIG = 0x40010000,
	KERNEL_BIT_TIMER = 0x40020000,
	KERNEL_BIT_CLOCK_INTERRUPT = 0x40040000,
	KERNEL_BIT_CLOCK_TIMER = 0x40100000,
	KERNEL_BIT_IPI = 0x40400000,
	KERNEL_BIT_REG_HIVE = 0x41000000,
	KERNEL_BIT_OPTICAL_IO = (int)0x80000001,
	KERNEL_BIT_OPTICAL_IO_INIT = (int)0x80000002,
	KERNEL_BIT_OB_HANDLE = (int)0x80000040,
	KERNEL_BIT_OB_OBJECT = (int)0x80000080,
	KERNEL_BIT_POWER = (int)0x80008000,
	KERNEL_BIT_CC = (int)0x80020000,
	KERNEL_BIT_FLT_IO_INIT = (int)0x80080000,
	KERNEL_BIT_FLT_IO = (int)0x80100000,
	KERNEL_BIT_FLT_FASTIO = (int)0x80200000,
	KERNEL_BIT_FLT_IO_FAILURE = (int)0x80400000,
	KERNEL_BIT_WDF_DPC = (int)0x81000000,
	KERNEL_BIT_WDF_INTERRUPT = (int)0x82000000,
	KERNEL_BIT_CACHE_FLUSH = (int)0x84000000,
	KERNEL_BIT_HIBER_RUNDOWN = (int)0xA0000001,
	KERNEL_BIT_SYSCFG_ALL = (int)0xC000007F,
};

/* Is any of the bits set? */
bool kernel_mask_has(const struct kernel_mask *m, uint32_t bits);
void kernel_mask_set(struct kernel_mask *m, uint32_t bits);
void kernel_mask_clear(struct kernel_mask *m, uint32_t bits);
/* All but these bits, of one word, are cleared. */
void kernel_mask_keep(struct kernel_mask *m, uint32_t bits);
void kernel_mask_add(struct kernel_mask *m, const struct kernel_mask *other);
bool kernel_mask_empty(const struct kernel_mask *m);
bool kernel_mask_equal(const struct kernel_mask *a, const struct kernel_mask *b);

/* EVENT_TRACE_FLAG_*, some of which are other words' bits. Back: what has such a flag. */
void kernel_mask_from_flags(uint32_t flags, struct kernel_mask *ret);
uint32_t kernel_mask_to_flags(const struct kernel_mask *m);

/* One name of xperf's. `none`: why Linux has no such thing; NULL when it has. */
struct kernel_flag {
	char name[20]; /* arrays: pointers would be written by the loader, in every process */
	char none[84]; /* why Linux has not; or empty */
	uint32_t bits; /* of one word */
};
const struct kernel_flag *kernel_flag_at(size_t i);                     /* NULL behind the last */
const struct kernel_flag *kernel_flag_find(const char *name, size_t n); /* in any case */
/* "CSWITCH+PROFILE"; bits without a name as PERF_* numbers. Cut to cap. */
void kernel_mask_names(const struct kernel_mask *m, char *out, size_t cap);
/* The first thing asked for that Linux has not, or NULL. */
const struct kernel_flag *kernel_mask_refused(const struct kernel_mask *m);
/* Bits that nothing here has a name for, set into *ret; false: none. */
bool kernel_mask_unknown(const struct kernel_mask *m, struct kernel_mask *ret);

/* Bits that users without rights may not have even of their own processes; false: none. */
bool kernel_mask_unconfinable(const struct kernel_mask *m, struct kernel_mask *ret);

/* xperf's groups, as names joined by '+'. */
struct kernel_group {
	char name[16], flags[112];
};
const struct kernel_group *kernel_group_at(size_t i);
const struct kernel_group *kernel_group_find(const char *name, size_t n);

/* Which bits bring a hook: any of them suffices. Walks ranges; NULL behind the last. */
struct kernel_hook_range {
	uint16_t first, last;
	uint32_t bits;
};
const struct kernel_hook_range *kernel_hook_range_at(size_t i);

/* Names of hooks for stack walks (xperf -stackwalk, profiles). 0xGGTT and 0xGGTT0000 are understood
 * too. False: unknown. */
bool kernel_stack_find(const char *name, size_t n, uint16_t *ret_hook);
const char *kernel_stack_name_at(size_t i, uint16_t *ret_hook); /* NULL behind the last */

/* A class GUID and a type as TraceStackTracingInfo has them. False: no kernel class. */
bool kernel_hook_of_class(const struct guid *g, uint8_t type, uint16_t *ret_hook);
/* Back; the type is the hook's low byte. */
bool kernel_class_of_hook(uint16_t hook, struct guid *ret);

/* System providers: keywords of EnableTraceEx2 to bits. False: no system provider. */
bool kernel_provider_mask(const struct guid *g, uint64_t any, struct kernel_mask *ret);
/* Name as in the documentation ("SystemProcessProvider"), or NULL. */
const char *kernel_provider_name(const struct guid *g);
/* The other way, in any case. */
bool kernel_provider_find(const char *name, struct guid *ret);

/* Of the sessions "NT Kernel Logger" and "Circular Kernel Context Logger". */
extern const struct guid kernel_trace_control_guid, kernel_circular_guid;

#endif
