/* SPDX-License-Identifier: MIT
 * The kernel part of a recording: what keywords and stacks of system providers come to.
 */
#include "tools/wpt/wpr.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Names of profiles beside xperf's. NULL: the same name means nothing to the kernel. */
static const struct {
	const char *keyword, *flag;
} renamed[] =
	{
		{"ProcessThread", "PROC_THREAD"},
		{"SampledProfile", "PROFILE"},
		{"ReadyThread", "DISPATCHER"},
		{"ThreadPriority", "PRIORITY"},
		{"IdealProcessor", "AFFINITY"},
		{"SystemCall", "SYSCALL"},
		{"DiskIO", "DISK_IO"},
		{"DiskIOInit", "DISK_IO_INIT"},
		{"DiskIOInitialization", "DISK_IO_INIT"},
		{"DPCQueue", "DPC_QUEUE"},
		{"FileIO", "FILE_IO"},
		{"FileIOInit", "FILE_IO_INIT"},
		{"HardFaults", "HARD_FAULTS"},
		{"AllFaults", "ALL_FAULTS"},
		{"NetworkTrace", "NETWORKTRACE"},
		{"VirtualAllocation", "VIRT_ALLOC"},
		{"MemoryInfo", "MEMINFO"},
		{"MemoryInfoWS", "MEMINFO_WS"},
		{"ReferenceSet", "REFSET"},
		{"Handle", "OB_HANDLE"},
		{"Object", "OB_OBJECT"},
		{"InterProcessorInterrupt", "IPI"},
		{"ClockInterrupt", "CLOCKINT"},
		{"HalClock", "KE_CLOCK"},
		{"FilterIO", "FLT_IO"},
		{"FilterIOInit", "FLT_IO_INIT"},
		{"FilterIOFastIO", "FLT_FASTIO"},
		{"FilterIOFailure", "FLT_IO_FAILURE"},
		{"ProcessCounter", "PERF_COUNTER"},
		{"CompactCSwitch", "COMPACT_CSWITCH"},
		{"ContiguousMemorygeneration", "CONTMEMGEN"},
		{"CpuConfig", "CPU_CONFIG"},
		{"IdleStates", "IDLE_STATES"},
		{"KernelQueue", "KQUEUE"},
		{"OpticalIO", "OPTICAL_IO"},
		{"PmcProfile", "PMC_PROFILE"},
		{"OpticalIOInit", "OPTICAL_IO_INIT"},
		{"RegistryHive", "REG_HIVE"},
		{"SplitIO", "SPLIT_IO"},
		{"SynchronizationObjects", "SYNC_OBJECTS"},
		{"WDFDPC", "WDF_DPC"},
		{"WDFInterrupt", "WDF_INTERRUPT"},
},
  stacks[] = {
	  {"SampledProfile", "Profile"},       {"VirtualAllocation", "VirtualAlloc"},
	  {"SystemCallEnter", "SyscallEnter"}, {"SystemCallExit", "SyscallExit"},
	  {"HeapAllocation", "HeapAlloc"},     {"HeapReallocation", "HeapRealloc"},
	  {"PoolAllocation", "PoolAlloc"},     {"PoolAllocationSession", "PoolAllocSession"},
	  {"TimerOneShot", "TimerSetOneShot"}, {"TimerPeriodic", "TimerSetPeriodic"},
};

/* Custom ones are hexadecimal. */
static bool number_of(const char *text, uint64_t *ret)
{
	return strncasecmp(text, "0x", 2) == 0 && parse_number(text, 1, UINT64_MAX, ret);
}

bool wpr_kernel_keyword(const char *keyword, uint32_t *ret_bits, const char **ret_why)
{
	uint64_t number;
	const char *name = keyword;
	*ret_why = NULL;
	if (number_of(keyword, &number) && number <= UINT32_MAX) {
		struct kernel_mask m = {0}, unknown;
		kernel_mask_set(&m, (uint32_t)number);
		const struct kernel_flag *f = kernel_mask_refused(&m);
		*ret_why = f ? f->none : NULL;
		*ret_bits = (uint32_t)number;
		return !f && !kernel_mask_unknown(&m, &unknown);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(renamed); i++) {
		name = strcasecmp(renamed[i].keyword, keyword) == 0 ? renamed[i].flag : name;
	}
	const struct kernel_flag *f = kernel_flag_find(name, strlen(name));
	if (f) {
		*ret_bits = f->bits;
		*ret_why = f->none[0] ? f->none : NULL;
	}
	return f && !f->none[0];
}

static bool stack_hook(const char *name, uint16_t *ret)
{
	uint64_t number;
	if (number_of(name, &number) && number < KERNEL_HOOKS) {
		*ret = (uint16_t)number;
		return true;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(stacks); i++) {
		name = strcasecmp(stacks[i].keyword, name) == 0 ? stacks[i].flag : name;
	}
	return kernel_stack_find(name, strlen(name), ret);
}

void wpr_kernel_wish(const struct profile_collector *c, struct session_kernel *ret)
{
	*ret = (struct session_kernel){0};
	for (const struct profile_provider *p = c->kind == PROFILE_SYSTEM ? c->providers : NULL; p; p = p->next) {
		for (const struct profile_word *k = p->system_keywords; k; k = k->next) {
			uint32_t bits;
			const char *why;
			if (wpr_kernel_keyword(k->text, &bits, &why)) {
				kernel_mask_set(&ret->mask, bits);
			}
		}
		for (const struct profile_word *k = p->stacks; k; k = k->next) {
			uint16_t hook;
			if (stack_hook(k->text, &hook)) {
				cli_kernel_add_stack(ret, hook);
			}
		}
	}
}

/* CMask, CMaskInvert, AnyThread, EdgeDetect: two hexadecimal digits each. */
static bool extended_bits(const char *text, struct pmc_definition *ret)
{
	const char *s = text + (strncasecmp(text, "0x", 2) == 0 ? 2 : 0);
	char *end;
	unsigned long v = strtoul(s, &end, 16);
	if (!*text) {
		return true;
	}
	if (strlen(s) != 8 || *end || (v & 0x00FEFEFE) != 0) {
		return false;
	}
	ret->least = (uint8_t)(v >> 24);
	ret->invert = v >> 16 & 1;
	ret->any_thread = v >> 8 & 1;
	ret->edge = v & 1;
	return true;
}

/* What the profile defines itself. NULL: no memory, or nothing. */
static struct pmc_definition *definitions(const struct profile_counters *p, uint32_t *ret_count)
{
	uint32_t n = 0;
	for (const struct profile_defined *d = p->defined; d; d = d->next) {
		n++;
	}
	struct pmc_definition *all = n ? calloc(n, sizeof *all) : NULL;
	*ret_count = 0;
	for (const struct profile_defined *d = p->defined; d && all; d = d->next) {
		struct pmc_definition *to = &all[*ret_count];
		*to = (struct pmc_definition){.name = d->name,
					      .architecture = d->architecture,
					      .family = d->family,
					      .model = d->model,
					      .stepping = d->stepping,
					      .event = d->event,
					      .unit = d->unit};
		if (extended_bits(d->extended, to)) {
			++*ret_count;
		} else {
			fprintf(stderr,
				"wpr: warning: %s: ExtendedBits=\"%s\" are not four numbers of two hexadecimal "
				"digits\n",
				d->name, d->extended);
		}
	}
	return all;
}

static int choose_counters(const struct cli_args *a, const struct profile_counters *p, struct session_kernel *inout,
			   struct cli_counters *to)
{
	if (p->refused) {
		if (!to->lenient) {
			return wpr_fail(WPR_NOT_SUPPORTED, "<%s> of a HardwareCounter has no counterpart here.",
					p->refused);
		}
		fprintf(stderr, "wpr: warning: <%s> of a HardwareCounter has no counterpart here\n", p->refused);
	}
	for (const struct profile_word *k = p->counters; k; k = k->next) {
		if (!cli_counters_list(a, k->text, to)) {
			return CLI_FAILED;
		}
	}
	for (const struct profile_word *k = p->events; k; k = k->next) {
		uint16_t hook;
		if (!stack_hook(k->text, &hook) || to->events == PMC_EVENTS_MAX) {
			return wpr_fail(WPR_NOT_SUPPORTED,
					"<Event Value=\"%s\"> is no kernel event that can have counters.", k->text);
		}
		to->event[to->events++] = hook;
	}
	for (const struct profile_word *k = p->sampled; k; k = k->next) {
		if (!cli_counters_sampled(a, k->text, to)) {
			return CLI_FAILED;
		}
	}
	if (to->counters && !to->events) {
		fprintf(stderr, "wpr: warning: counters without <Events> that have their values are not recorded\n");
	}
	if (to->sampleds) {
		kernel_mask_set(&inout->mask, KERNEL_BIT_PMC_PROFILE);
	}
	return CLI_OK;
}

/* Counters and sources of samples. Without Strict what this machine lacks is left out with a warning. */
int wpr_kernel_counters(const struct cli_args *a, const struct profile *profile, const struct profile_collector *c,
			struct session_kernel *inout, struct cli_counters *to)
{
	*to = (struct cli_counters){0};
	struct pmc_definition *defined = definitions(&c->counting, &to->defineds);
	to->lenient = !c->counting.strict && !profile->strict;
	to->defined = defined;
	int status = choose_counters(a, &c->counting, inout, to);
	free(defined);
	to->defined = NULL;
	to->defineds = 0;
	return status;
}

bool wpr_kernel_wanted(const struct profile_collector *c)
{
	struct session_kernel w;
	wpr_kernel_wish(c, &w);
	return !kernel_mask_empty(&w.mask);
}

bool wpr_kernel_strict(const struct profile *profile, const struct profile_collector *c)
{
	bool strict = profile->strict;
	for (const struct profile_provider *p = c->providers; p; p = p->next) {
		strict = strict || p->strict;
		for (const struct profile_word *k = p->system_keywords; k; k = k->next) {
			strict = strict || k->strict;
		}
	}
	return strict;
}
