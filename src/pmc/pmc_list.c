/* SPDX-License-Identifier: MIT
 * The table of sources, and which of them can be had.
 */
#include "pmc/pmc_private.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE(which, op, result) (which | op << 8 | result << 16)
#define L1D_READ                 CACHE(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)
#define L1D_MISS                 CACHE(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)
#define L1I_READ                 CACHE(PERF_COUNT_HW_CACHE_L1I, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)
#define L1I_MISS                 CACHE(PERF_COUNT_HW_CACHE_L1I, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)

static const struct known {
	uint16_t id;
	uint16_t type;
	uint32_t config;
	char name[28];
	uint32_t interval, least, most;
} known[] = {
#define HARD(id, name, config)                                                               \
	{                                                                                    \
		id, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, name, 65536, 4096, INT32_MAX \
	}
#define CACHED(id, name, config)                                             \
	{                                                                    \
		id, PERF_TYPE_HW_CACHE, config, name, 65536, 4096, INT32_MAX \
	}
#define SOFT(id, name, config, interval)                                                     \
	{                                                                                    \
		id, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, name, interval, 1, INT32_MAX \
	}
	{PMC_TIMER, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "Timer", 10000, 1250, 10000000},
	SOFT(1, "AlignmentFixup", ALIGNMENT_FAULTS, 1),
	HARD(2, "TotalIssues", INSTRUCTIONS),
	HARD(6, "BranchInstructions", BRANCH_INSTRUCTIONS),
	CACHED(8, "DcacheMisses", L1D_MISS),
	CACHED(9, "IcacheMisses", L1I_MISS),
	HARD(10, "CacheMisses", CACHE_MISSES),
	HARD(11, "BranchMispredictions", BRANCH_MISSES),
	HARD(19, "TotalCycles", CPU_CYCLES),
	CACHED(20, "IcacheIssues", L1I_READ),
	CACHED(21, "DcacheAccesses", L1D_READ),
	HARD(25, "UnhaltedCoreCycles", CPU_CYCLES),
	HARD(26, "InstructionRetired", INSTRUCTIONS),
	HARD(27, "UnhaltedReferenceCycles", REF_CPU_CYCLES),
	HARD(28, "LLCReference", CACHE_REFERENCES),
	HARD(29, "LLCMisses", CACHE_MISSES),
	HARD(30, "BranchInstructionRetired", BRANCH_INSTRUCTIONS),
	HARD(31, "BranchMispredictsRetired", BRANCH_MISSES),
	SOFT(0x100, "ContextSwitches", CONTEXT_SWITCHES, 100),
	SOFT(0x101, "CpuMigrations", CPU_MIGRATIONS, 1),
	SOFT(0x102, "PageFaults", PAGE_FAULTS, 100),
	SOFT(0x103, "SoftPageFaults", PAGE_FAULTS_MIN, 100),
	SOFT(0x104, "HardPageFaults", PAGE_FAULTS_MAJ, 1),
	SOFT(0x105, "EmulationFaults", EMULATION_FAULTS, 1),
	/* Counts nanoseconds; as source of samples it is the timer's twin. */
	{0x106, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "CpuClock", 1000000, 125000, INT32_MAX},
};

static void describe(const struct known *k, struct pmc_source *ret)
{
	*ret = (struct pmc_source){.id = k->id,
				   .interval = k->interval,
				   .least = k->least,
				   .most = k->most,
				   .hardware = k->type != PERF_TYPE_SOFTWARE,
				   .type = k->type,
				   .config = {k->config}};
	snprintf(ret->name, sizeof ret->name, "%s", k->name);
}

static bool is_virtual(void)
{
	char line[4096];
	bool found = access("/sys/hypervisor/type", F_OK) == 0;
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f && !found && fgets(line, sizeof line, f) && line[0] != '\n') {
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor") != NULL;
	}
	if (f) {
		fclose(f);
	}
	return found;
}

/* 0, or why it cannot be opened. A right that this process lacks does not count: who records has it. */
static int try(const struct pmc_source *s)
{
	struct perf_event_attr a = {
		.size = sizeof a,
		.type = s->type,
		.config = s->config[0],
		.config1 = s->config[1],
		.config2 = s->config[2],
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	base_close(&fd);
	if (err == -EACCES || err == -EPERM) {
		struct pmc_source any;
		err = !s->hardware || access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
				      pmc_named_events("", &any, 1) > 0
			      ? 0
			      : -ENOENT;
	}
	return err;
}

int pmc_here(const struct pmc_source *s, struct diag *d)
{
	int err = s->id == PMC_TIMER ? 0 : try(s);
	if (err == -ENOSYS) {
		diag_at(d, UINT64_MAX, "%s: this kernel has no perf events (perf_event_open)", s->name);
	} else if (err < 0 && s->hardware && access("/sys/bus/event_source/devices/cpu", F_OK) < 0) {
		diag_at(d, UINT64_MAX, "%s: this processor's counters are not available to this %smachine", s->name,
			is_virtual() ? "virtual " : "");
	} else if (err < 0) {
		diag_at(d, UINT64_MAX, "%s: %s does not count it (%s)", s->name,
			s->hardware ? "this processor" : "this kernel", strerror(-err));
	}
	return err < 0 ? -ENODEV : 0;
}

static struct pmc_source *named(size_t *ret_count)
{
	struct pmc_source *all = calloc(PMC_SOURCES_MAX, sizeof *all);
	*ret_count = all ? pmc_named_events("", all, PMC_SOURCES_MAX) : 0;
	return all;
}

size_t pmc_list(struct pmc_source *ret, size_t cap)
{
	struct pmc_source s, *more;
	size_t n = 0, events;
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		describe(&known[i], &s);
		if (pmc_here(&s, NULL) == 0 && n++ < cap) {
			ret[n - 1] = s;
		}
	}
	more = named(&events);
	for (size_t i = 0; i < events; i++) {
		if (pmc_here(&more[i], NULL) == 0 && n++ < cap) {
			ret[n - 1] = more[i];
		}
	}
	free(more);
	return n;
}

static bool is_it(const struct pmc_source *s, const char *name, size_t n, uint32_t id)
{
	return name ? strlen(s->name) == n && strncasecmp(s->name, name, n) == 0 : s->id == id;
}

static int find(const char *name, size_t n, uint32_t id, struct pmc_source *ret, struct diag *d)
{
	struct pmc_source s, *more;
	size_t events;
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		describe(&known[i], &s);
		if (is_it(&s, name, n, id)) {
			int err = pmc_here(&s, d);
			*ret = err == 0 ? s : *ret;
			return err;
		}
	}
	if (!name && pmc_unpack(id, &s)) {
		int err = pmc_here(&s, d);
		*ret = err == 0 ? s : *ret;
		return err;
	}
	int err = -ENOENT;
	more = named(&events);
	for (size_t i = 0; i < events && err == -ENOENT; i++) {
		if (is_it(&more[i], name, n, id)) {
			err = pmc_here(&more[i], d);
			*ret = err == 0 ? more[i] : *ret;
		}
	}
	free(more);
	if (err == -ENOENT && name) {
		diag_at(d, UINT64_MAX, "there is no source '%.*s'", (int)BASE_MIN(n, 60u), name);
	} else if (err == -ENOENT) {
		diag_at(d, UINT64_MAX, "there is no source %u", id);
	}
	return err;
}

int pmc_find(uint32_t id, struct pmc_source *ret, struct diag *d)
{
	return find(NULL, 0, id, ret, d);
}

int pmc_find_name(const char *name, size_t n, struct pmc_source *ret, struct diag *d)
{
	char text[16], *end;
	if (n > 0 && n < sizeof text && name[0] >= '0' && name[0] <= '9') {
		memcpy(text, name, n);
		text[n] = 0;
		unsigned long id = strtoul(text, &end, 0);
		if (*end == 0 && (id <= UINT16_MAX || (id >= PMC_PACKED && id <= UINT32_MAX))) {
			return find(NULL, 0, (uint32_t)id, ret, d);
		}
	}
	return find(name, n, 0, ret, d);
}

const char *pmc_known_name(size_t i)
{
	return i < BASE_ARRAY_LEN(known) ? known[i].name : NULL;
}

uint32_t pmc_most(void)
{
	struct pmc_source s;
	return pmc_list(&s, 1) > 1 ? PMC_COUNTERS_MAX : 0;
}
