/* SPDX-License-Identifier: MIT
 * Group masks, the flags of EVENT_TRACE_PROPERTIES, and xperf's names for them.
 */
#include "format/kernel_mask.h"

#include "etw/values/guids.h"

#include <stdio.h>
#include <strings.h>

#define WORD(bits)  ((bits) >> 29)
#define VALUE(bits) ((bits)&0x1FFFFFFFu)

const struct guid kernel_trace_control_guid = GUID_INIT(ETW_GUID_SYSTEM_TRACE_CONTROL);
const struct guid kernel_circular_guid = GUID_INIT(ETW_GUID_CIRCULAR_KERNEL_LOGGER);

bool kernel_mask_has(const struct kernel_mask *m, uint32_t bits)
{
	return m->word[WORD(bits)] & VALUE(bits);
}

void kernel_mask_set(struct kernel_mask *m, uint32_t bits)
{
	m->word[WORD(bits)] |= VALUE(bits);
}

void kernel_mask_clear(struct kernel_mask *m, uint32_t bits)
{
	m->word[WORD(bits)] &= ~VALUE(bits);
}

void kernel_mask_keep(struct kernel_mask *m, uint32_t bits)
{
	struct kernel_mask before = *m;
	memset(m, 0, sizeof *m);
	m->word[WORD(bits)] = before.word[WORD(bits)] & VALUE(bits);
}

void kernel_mask_add(struct kernel_mask *m, const struct kernel_mask *other)
{
	for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
		m->word[i] |= other->word[i];
	}
}

bool kernel_mask_empty(const struct kernel_mask *m)
{
	uint32_t any = 0;
	for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
		any |= m->word[i];
	}
	return any == 0;
}

bool kernel_mask_equal(const struct kernel_mask *a, const struct kernel_mask *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* ---- EnableFlags ------------------------------------------------------------------------------ */

/* Those that became bits of another word; the others are word 0 as they stand. */
static const struct {
	uint32_t flag, bits;
} moved[] = {
	{0x00000010, KERNEL_BIT_CSWITCH}, {0x00000020, KERNEL_BIT_DPC},        {0x00000040, KERNEL_BIT_INTERRUPT},
	{0x00000080, KERNEL_BIT_SYSCALL}, {0x00000800, KERNEL_BIT_DISPATCHER}, {0x00004000, KERNEL_BIT_VIRT_ALLOC},
	{0x00800000, KERNEL_BIT_DRIVERS}, {0x01000000, KERNEL_BIT_PROFILE},
};

/* EVENT_TRACE_FLAG_EXTENSION and the two of the other extensible forms say where more stands. */
#define FLAGS_FORM 0xE8000000u

void kernel_mask_from_flags(uint32_t flags, struct kernel_mask *ret)
{
	flags &= ~FLAGS_FORM;
	*ret = (struct kernel_mask){0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(moved); i++) {
		if (flags & moved[i].flag) {
			kernel_mask_set(ret, moved[i].bits);
			flags &= ~moved[i].flag;
		}
	}
	ret->word[0] = flags;
}

uint32_t kernel_mask_to_flags(const struct kernel_mask *m)
{
	uint32_t flags = m->word[0] & 0x1FFFFFFFu;
	for (size_t i = 0; i < BASE_ARRAY_LEN(moved); i++) {
		flags |= kernel_mask_has(m, moved[i].bits) ? moved[i].flag : 0;
	}
	return flags;
}

/* ---- names ------------------------------------------------------------------------------------ */

#define NO_REGISTRY "Linux has no registry"
#define NO_ALPC     "Linux has no ALPC"
#define NO_FILTERS  "Linux has no file system filter drivers"
#define NO_OPTICAL  "optical disks are not told apart from other disks; use DISK_IO"
#define NO_MEMORY   "Linux shows no single page frames; use ALL_FAULTS, HARD_FAULTS or VIRT_ALLOC"
#define NO_WDF      "Linux has no WDF drivers; use DPC and INTERRUPT"

static const struct kernel_flag flag[] = {
	{"PROC_THREAD", "", KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD},
	{"LOADER", "", (uint32_t)KERNEL_BIT_LOADER},
	{"PROFILE", "", (uint32_t)KERNEL_BIT_PROFILE},
	{"CSWITCH", "", (uint32_t)KERNEL_BIT_CSWITCH},
	{"COMPACT_CSWITCH", "", (uint32_t)KERNEL_BIT_COMPACT_CSWITCH},
	{"DISPATCHER", "", (uint32_t)KERNEL_BIT_DISPATCHER},
	{"DPC", "", (uint32_t)KERNEL_BIT_DPC},
	{"INTERRUPT", "", (uint32_t)KERNEL_BIT_INTERRUPT},
	{"INTERRUPT_STEER", "Linux does not steer interrupts by itself", (uint32_t)KERNEL_BIT_INTERRUPT_STEER},
	{"WDF_DPC", NO_WDF, (uint32_t)KERNEL_BIT_WDF_DPC},
	{"WDF_INTERRUPT", NO_WDF, (uint32_t)KERNEL_BIT_WDF_INTERRUPT},
	{"SYSCALL", "", (uint32_t)KERNEL_BIT_SYSCALL},
	{"PRIORITY", "", (uint32_t)KERNEL_BIT_PRIORITY},
	{"AFFINITY", "", (uint32_t)KERNEL_BIT_AFFINITY},
	{"SPINLOCK", "", (uint32_t)KERNEL_BIT_SPINLOCK},
	{"SYNC_OBJECTS", "", (uint32_t)KERNEL_BIT_SYNC_OBJECTS},
	{"KQUEUE", "Linux has no kernel queues", (uint32_t)KERNEL_BIT_KERNEL_QUEUE},
	{"ALPC", NO_ALPC, (uint32_t)KERNEL_BIT_ALPC},
	{"PERF_COUNTER", "", (uint32_t)KERNEL_BIT_PERF_COUNTER},
	{"DISK_IO", "", KERNEL_BIT_DISK_IO | KERNEL_BIT_FILENAME},
	{"DISK_IO_INIT", "", (uint32_t)KERNEL_BIT_DISK_IO_INIT},
	{"FILE_IO", "", (uint32_t)KERNEL_BIT_FILE_IO},
	{"FILE_IO_INIT", "", (uint32_t)KERNEL_BIT_FILE_IO_INIT},
	{"HARD_FAULTS", "", (uint32_t)KERNEL_BIT_HARD_FAULTS},
	{"FILENAME", "", (uint32_t)KERNEL_BIT_FILENAME},
	{"SPLIT_IO", "Linux has no split I/O of mirrored volumes", (uint32_t)KERNEL_BIT_SPLIT_IO},
	{"REGISTRY", NO_REGISTRY, (uint32_t)KERNEL_BIT_REGISTRY},
	{"REG_HIVE", NO_REGISTRY, (uint32_t)KERNEL_BIT_REG_HIVE},
	{"DRIVERS", "Linux has no driver stacks with I/O packets; use DISK_IO_INIT", (uint32_t)KERNEL_BIT_DRIVERS},
	{"POWER", "", (uint32_t)KERNEL_BIT_POWER},
	{"CC", "Linux has no cache manager of that kind; use FILE_IO and HARD_FAULTS", (uint32_t)KERNEL_BIT_CC},
	{"NETWORKTRACE", "", (uint32_t)KERNEL_BIT_NETWORK},
	{"VIRT_ALLOC", "", (uint32_t)KERNEL_BIT_VIRT_ALLOC},
	{"MEMINFO", "", (uint32_t)KERNEL_BIT_MEMINFO},
	{"ALL_FAULTS", "", (uint32_t)KERNEL_BIT_ALL_FAULTS},
	{"MEMINFO_WS", "", (uint32_t)KERNEL_BIT_MEMINFO_WS},
	{"VAMAP", "", (uint32_t)KERNEL_BIT_VAMAP},
	{"FOOTPRINT", NO_MEMORY, (uint32_t)KERNEL_BIT_FOOTPRINT},
	{"MEMORY", NO_MEMORY, (uint32_t)KERNEL_BIT_MEMORY},
	{"REFSET", NO_MEMORY, (uint32_t)KERNEL_BIT_REFSET},
	{"HIBERRUNDOWN", "Linux does not write what hibernates", (uint32_t)KERNEL_BIT_HIBER_RUNDOWN},
	{"CONTMEMGEN", NO_MEMORY, (uint32_t)KERNEL_BIT_CONTMEM_GEN},
	{"POOL", "allocations of the kernel's own memory are not recorded", (uint32_t)KERNEL_BIT_POOL},
	{"SHOULDYIELD", "Linux has no such query", (uint32_t)KERNEL_BIT_SHOULD_YIELD},
	{"CPU_CONFIG", "", (uint32_t)KERNEL_BIT_CPU_CONFIG},
	{"SESSION", "Linux has no session space", (uint32_t)KERNEL_BIT_SESSION},
	{"IDLE_STATES", "", (uint32_t)KERNEL_BIT_PROCESSOR_IDLE},
	{"TIMER", "", (uint32_t)KERNEL_BIT_TIMER},
	{"CLOCKINT", "", (uint32_t)KERNEL_BIT_CLOCK_INTERRUPT},
	{"IPI", "", (uint32_t)KERNEL_BIT_IPI},
	{"OPTICAL_IO", NO_OPTICAL, (uint32_t)KERNEL_BIT_OPTICAL_IO},
	{"OPTICAL_IO_INIT", NO_OPTICAL, (uint32_t)KERNEL_BIT_OPTICAL_IO_INIT},
	{"FLT_IO_INIT", NO_FILTERS, (uint32_t)KERNEL_BIT_FLT_IO_INIT},
	{"FLT_IO", NO_FILTERS, (uint32_t)KERNEL_BIT_FLT_IO},
	{"FLT_FASTIO", NO_FILTERS, (uint32_t)KERNEL_BIT_FLT_FASTIO},
	{"FLT_IO_FAILURE", NO_FILTERS, (uint32_t)KERNEL_BIT_FLT_IO_FAILURE},
	{"OB_HANDLE", "", (uint32_t)KERNEL_BIT_OB_HANDLE},
	{"OB_OBJECT", "Linux' kernel objects have no names and types of that kind; use OB_HANDLE",
	 (uint32_t)KERNEL_BIT_OB_OBJECT},
	{"KE_CLOCK", "", (uint32_t)KERNEL_BIT_CLOCK_TIMER},
	{"PMC_PROFILE", "", (uint32_t)KERNEL_BIT_PMC_PROFILE},
	{"DPC_QUEUE", "", (uint32_t)KERNEL_BIT_DPC_QUEUE},
	{"CACHE_FLUSH", "cache flushes are not recorded", (uint32_t)KERNEL_BIT_CACHE_FLUSH},
	{"HEAP", "", (uint32_t)KERNEL_BIT_HEAP},
	{"DEBUG_EVENTS", "Linux has no debug events of that kind", (uint32_t)KERNEL_BIT_DEBUG_EVENTS},
	{"DBGPRINT", "the kernel's messages are in its log (dmesg), not in traces", (uint32_t)KERNEL_BIT_DBGPRINT},
	{"JOB", "Linux has no job objects", (uint32_t)KERNEL_BIT_JOB},
	{"NO_SYSCONFIG", "", (uint32_t)KERNEL_BIT_NO_SYSCONFIG},
	{"SYSCONFIG", "", (uint32_t)KERNEL_BIT_SYSCFG_ALL},
};

const struct kernel_flag *kernel_flag_at(size_t i)
{
	return i < BASE_ARRAY_LEN(flag) ? &flag[i] : NULL;
}

static bool same(const char *name, const char *s, size_t n)
{
	return strlen(name) == n && strncasecmp(name, s, n) == 0;
}

const struct kernel_flag *kernel_flag_find(const char *name, size_t n)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(flag); i++) {
		if (same(flag[i].name, name, n)) {
			return &flag[i];
		}
	}
	return NULL;
}

static void clear_named(struct kernel_mask *m, const struct kernel_flag *f)
{
	kernel_mask_clear(m, f->bits);
}

static bool all_of(const struct kernel_mask *m, uint32_t bits)
{
	return (m->word[WORD(bits)] & VALUE(bits)) == VALUE(bits);
}

void kernel_mask_names(const struct kernel_mask *m, char *out, size_t cap)
{
	struct kernel_mask left = *m;
	size_t used = 0;
	*out = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(flag); i++) {
		if (all_of(&left, flag[i].bits)) {
			int n = snprintf(out + used, cap - used, "%s%s", used ? "+" : "", flag[i].name);
			used += n > 0 && (size_t)n < cap - used ? (size_t)n : 0;
			clear_named(&left, &flag[i]);
		}
	}
	for (uint32_t w = 0; w < KERNEL_MASK_WORDS; w++) {
		if (left.word[w]) {
			int n = snprintf(out + used, cap - used, "%s%#x", used ? "+" : "",
					 w << 29 | (left.word[w] & 0x1FFFFFFFu));
			used += n > 0 && (size_t)n < cap - used ? (size_t)n : 0;
		}
	}
}

const struct kernel_flag *kernel_mask_refused(const struct kernel_mask *m)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(flag); i++) {
		if (flag[i].none[0] && kernel_mask_has(m, flag[i].bits)) {
			return &flag[i];
		}
	}
	return NULL;
}

bool kernel_mask_unknown(const struct kernel_mask *m, struct kernel_mask *ret)
{
	*ret = *m;
	for (size_t i = 0; i < BASE_ARRAY_LEN(flag); i++) {
		clear_named(ret, &flag[i]);
	}
	return !kernel_mask_empty(ret);
}

static const struct kernel_group group[] = {
	{"Base", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+PROFILE+MEMINFO+MEMINFO_WS"},
	{"Diag", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+PERF_COUNTER+"
		 "COMPACT_CSWITCH"},
	{"DiagEasy", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+PERF_COUNTER"},
	{"Latency", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+DPC+INTERRUPT+CSWITCH+PROFILE"},
	{"FileIO", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+FILE_IO+FILE_IO_INIT"},
	{"IOTrace", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+CSWITCH"},
	{"ResumeTrace", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+PROFILE+POWER"},
	{"SysProf", "PROC_THREAD+LOADER+PROFILE"},
	{"ResidentSet", "PROC_THREAD+LOADER+DISK_IO+HARD_FAULTS+MEMORY+MEMINFO+VAMAP+SESSION+VIRT_ALLOC"},
	{"ReferenceSet", "PROC_THREAD+LOADER+HARD_FAULTS+MEMORY+FOOTPRINT+VIRT_ALLOC+MEMINFO+VAMAP+"
			 "SESSION+REFSET+MEMINFO_WS"},
	{"Network", "PROC_THREAD+LOADER+NETWORKTRACE"},
};

const struct kernel_group *kernel_group_at(size_t i)
{
	return i < BASE_ARRAY_LEN(group) ? &group[i] : NULL;
}

const struct kernel_group *kernel_group_find(const char *name, size_t n)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(group); i++) {
		if (same(group[i].name, name, n)) {
			return &group[i];
		}
	}
	return NULL;
}

/* ---- for users without rights ----------------------------------------------------------------- */

static const uint32_t confinable[] = {
	KERNEL_BIT_PROCESS,      KERNEL_BIT_THREAD,   KERNEL_BIT_LOADER,  KERNEL_BIT_PROFILE,      KERNEL_BIT_FILE_IO,
	KERNEL_BIT_FILE_IO_INIT, KERNEL_BIT_FILENAME, KERNEL_BIT_NETWORK, KERNEL_BIT_NO_SYSCONFIG,
};

bool kernel_mask_unconfinable(const struct kernel_mask *m, struct kernel_mask *ret)
{
	struct kernel_mask may = {0};
	bool any = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(confinable); i++) {
		kernel_mask_set(&may, confinable[i]);
	}
	for (unsigned i = 0; i < KERNEL_MASK_WORDS; i++) {
		ret->word[i] = m->word[i] & ~may.word[i];
		any = any || ret->word[i] != 0;
	}
	return any;
}
