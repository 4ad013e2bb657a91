/* SPDX-License-Identifier: MIT
 * xperf's names for kernel events.
 */
#include "cli/xperf.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char *const flags[] = {
	"PROC_THREAD", "LOADER", "PROFILE", "CSWITCH", "COMPACT_CSWITCH", "DISPATCHER", "DPC",
	"INTERRUPT", "INTERRUPT_STEER", "WDF_DPC", "WDF_INTERRUPT", "SYSCALL", "PRIORITY", "SPINLOCK",
	"KQUEUE", "ALPC", "PERF_COUNTER", "DISK_IO", "DISK_IO_INIT", "FILE_IO", "FILE_IO_INIT",
	"HARD_FAULTS", "FILENAME", "SPLIT_IO", "REGISTRY", "REG_HIVE", "DRIVERS", "POWER", "CC",
	"NETWORKTRACE", "VIRT_ALLOC", "MEMINFO", "ALL_FAULTS", "MEMINFO_WS", "VAMAP", "FOOTPRINT",
	"MEMORY", "REFSET", "HIBERRUNDOWN", "CONTMEMGEN", "POOL", "SHOULDYIELD", "CPU_CONFIG", "SESSION",
	"IDLE_STATES", "TIMER", "CLOCKINT", "IPI", "OPTICAL_IO", "OPTICAL_IO_INIT", "FLT_IO_INIT",
	"FLT_IO", "FLT_FASTIO", "FLT_IO_FAILURE", "OB_HANDLE", "OB_OBJECT", "KE_CLOCK", "PMC_PROFILE",
	"DPC_QUEUE", "CACHE_FLUSH", "DEBUG_EVENTS",
};
static const struct {
	const char *name, *content;
} groups[] = {
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

static const char *name_at(const void *ctx, int i)
{
	size_t k = (size_t)i;
	(void)ctx;
	return k < BASE_ARRAY_LEN(flags) ? flags[k]
	       : k - BASE_ARRAY_LEN(flags) < BASE_ARRAY_LEN(groups)
		       ? groups[k - BASE_ARRAY_LEN(flags)].name
		       : NULL;
}

static const char *content_of(const char *word)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(flags); i++) {
		if (strcasecmp(flags[i], word) == 0) {
			return flags[i];
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(groups); i++) {
		if (strcasecmp(groups[i].name, word) == 0) {
			return groups[i].content;
		}
	}
	return NULL;
}

bool xperf_kernel_flags(const struct cli_args *a, const char *text, char *out, size_t cap)
{
	size_t used = 0;
	*out = 0;
	for (const char *s = text; *s;) {
		char word[40];
		size_t n = strcspn(s, "+");
		snprintf(word, sizeof word, "%.*s", (int)n, s);
		s += n + (s[n] == '+');
		const char *content = strncasecmp(word, "0x", 2) == 0 ? word : content_of(word);
		if (!content) {
			const char *near = cli_nearest(word, name_at, NULL);
			cli_usage(a,
				  near ? "'%s' is no kernel flag or group; is %s meant?"
				       : "'%s' is no kernel flag or group ('xperf -providers K' lists them)",
				  word, near);
			return false;
		}
		int k = snprintf(out + used, cap - used, "%s%s", used ? "+" : "", content);
		used += k > 0 && (size_t)k < cap - used ? (size_t)k : 0;
	}
	return true;
}

uint32_t xperf_kernel_sources(const char *list, char *missing, size_t cap)
{
	static const struct {
		const char *flag;
		uint32_t source;
	} known[] = {{"PROC_THREAD", KERNEL_PROCESS}, {"LOADER", KERNEL_PROCESS},
		     {"PROFILE", KERNEL_CPU},	      {"CSWITCH", KERNEL_CSWITCH},
		     {"DISPATCHER", KERNEL_CSWITCH}};
	uint32_t sources = 0;
	size_t used = 0;
	*missing = 0;
	for (const char *s = list; *s;) {
		size_t n = strcspn(s, "+"), i = 0;
		while (i < BASE_ARRAY_LEN(known) &&
		       (strlen(known[i].flag) != n || strncasecmp(known[i].flag, s, n) != 0)) {
			i++;
		}
		if (i < BASE_ARRAY_LEN(known)) {
			sources |= known[i].source;
		} else {
			int k = snprintf(missing + used, cap - used, "%s%.*s", used ? "+" : "", (int)n, s);
			used += k > 0 && (size_t)k < cap - used ? (size_t)k : 0;
		}
		s += n + (s[n] == '+');
	}
	return sources;
}

void xperf_kernel_print(const char *kinds)
{
	if (strcasecmp(kinds, "KG") != 0) {
		printf("Kernel Flags:\n");
		for (size_t i = 0; i < BASE_ARRAY_LEN(flags); i++) {
			printf("\t%s\n", flags[i]);
		}
	}
	if (strcasecmp(kinds, "KF") != 0) {
		printf("Kernel Groups:\n");
		for (size_t i = 0; i < BASE_ARRAY_LEN(groups); i++) {
			printf("\t%-14s : %s\n", groups[i].name, groups[i].content);
		}
	}
}
