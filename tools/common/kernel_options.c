/* SPDX-License-Identifier: MIT */
#include "tools/common/session_options.h"
#include "tools/common/kernel_options.h"
#include "base/parse.h"
#include "tools/common/output.h"

#include "etw/values/session_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- names ------------------------------------------------------------------------------------ */

static const char *name_at(const void *ctx, int i)
{
	size_t k = (size_t)i, flags = 0;
	(void)ctx;
	while (kernel_flag_at(flags)) {
		flags++;
	}
	const struct kernel_flag *f = kernel_flag_at(k);
	const struct kernel_group *g = f ? NULL : kernel_group_at(k - flags);
	return f ? f->name : g ? g->name : NULL;
}

static const char *stack_at(const void *ctx, int i)
{
	uint16_t hook;
	(void)ctx;
	return kernel_stack_name_at((size_t)i, &hook);
}

/* False: Linux has no such thing, and it is not to be left out. */
static bool add_flag(const struct cli_args *a, const struct kernel_flag *f, bool drop, struct session_kernel *w)
{
	if (!f->none[0]) {
		kernel_mask_set(&w->mask, f->bits);
	} else if (drop) {
		fprintf(stderr, "openetw %s: warning: without %s: %s\n", a->command->name, f->name, f->none);
	} else {
		bool partial = strcmp(a->command->name, "xperf") == 0; /* the one tool that can leave it out */
		cli_fail(a, ERROR_NOT_SUPPORTED, "%s: %s%s", f->name, f->none,
			 partial ? "; -partial records the rest" : "");
		return false;
	}
	return true;
}

static void add_group(const struct cli_args *a, const struct kernel_group *g, struct session_kernel *w)
{
	for (const char *s = g->flags; *s;) {
		size_t n = strcspn(s, "+");
		const struct kernel_flag *f = kernel_flag_find(s, n);
		if (f) {
			add_flag(a, f, true, w);
		}
		s += n + (s[n] == '+');
	}
}

int cli_kernel_flags(const struct cli_args *a, const char *text, bool drop, struct session_kernel *w)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "+,");
		const struct kernel_flag *f = kernel_flag_find(s, n);
		const struct kernel_group *g = f ? NULL : kernel_group_find(s, n);
		char word[64];
		snprintf(word, sizeof word, "%.*s", (int)n, s);
		if (!f && !g && strncasecmp(word, "0x", 2) == 0) {
			uint64_t v = 0;
			struct kernel_mask m = {0}, unknown;
			bool fine = parse_number(word, 1, UINT32_MAX, &v);
			kernel_mask_set(&m, (uint32_t)v);
			if (!fine || kernel_mask_unknown(&m, &unknown)) {
				return cli_usage(a, "'%s': PERF_* numbers have the word in their top three bits", word);
			}
			f = kernel_mask_refused(&m);
			if (!f) {
				kernel_mask_add(&w->mask, &m);
			}
		} else if (!f && !g) {
			const char *near = cli_nearest(word, name_at, NULL);
			return cli_usage(a,
					 near ? "'%s' is no kernel flag or group; is %s meant?"
					      : "'%s' is no kernel flag or group ('xperf -providers K' lists them)",
					 word, near);
		}
		if (f && !add_flag(a, f, drop, w)) {
			return CLI_FAILED;
		}
		if (g) {
			add_group(a, g, w);
		}
		s += n + (s[n] != 0);
	}
	return CLI_OK;
}

void cli_kernel_add_stack(struct session_kernel *w, uint16_t hook)
{
	for (uint32_t i = 0; i < w->stacks; i++) {
		if (w->stack[i] == hook) {
			return;
		}
	}
	if (w->stacks < KERNEL_STACKS_MAX) {
		w->stack[w->stacks++] = hook;
	}
}

bool cli_kernel_stacks(const struct cli_args *a, const char *text, struct session_kernel *w)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "+,");
		uint16_t hook;
		if (!kernel_stack_find(s, n, &hook)) {
			char word[64];
			snprintf(word, sizeof word, "%.*s", (int)n, s);
			const char *near = cli_nearest(word, stack_at, NULL);
			cli_usage(a,
				  near ? "'%s' is no event that can have stacks; is %s meant?"
				       : "'%s' is no event that can have stacks, such as Profile, CSwitch, "
					 "ReadyThread, DiskReadInit or 0x0F2E",
				  word, near);
			return false;
		}
		cli_kernel_add_stack(w, hook);
		s += n + (s[n] != 0);
	}
	return true;
}

bool cli_kernel_pids(const struct cli_args *a, const char *text, struct session_kernel *w)
{
	int n = parse_numbers(text, 0, UINT32_MAX, w->pid + w->pids, (int)(BASE_ARRAY_LEN(w->pid) - w->pids));
	if (n < 0) {
		cli_usage(a, "up to 8 process ids such as 17,42, not '%s'", text);
		return false;
	}
	w->pids += (uint32_t)n;
	return true;
}

#define NOT_RECORDED "accepted, with a word about it: it is not recorded yet"

/* What each flag has recorded, for the list. */
static const char *flag_meaning(const char *name)
{
	static const struct {
		const char *name, *what;
	} rows[] = {
		{"PROC_THREAD", "processes and threads: created, ended, there at start and stop"},
		{"LOADER", "executable images mapped and unmapped"},
		{"PROFILE", "processor samples"},
		{"CSWITCH", "context switches"},
		{"COMPACT_CSWITCH", "context switches (in their long form)"},
		{"DISPATCHER", "threads made ready to run"},
		{"DPC", "software interrupts"},
		{"INTERRUPT", "interrupts"},
		{"SYSCALL", "system calls: entered and left"},
		{"PRIORITY", NOT_RECORDED},
		{"AFFINITY", NOT_RECORDED},
		{"SPINLOCK", NOT_RECORDED},
		{"PERF_COUNTER", "counters of each process at its end"},
		{"DISK_IO", "disk reads, writes and flushes, done"},
		{"DISK_IO_INIT", "disk reads, writes and flushes, begun"},
		{"FILE_IO", "file operations, done"},
		{"FILE_IO_INIT", "file operations, begun: create, read, write, rename, delete, …"},
		{"FILENAME", "names of files"},
		{"HARD_FAULTS", "page faults that read from a disk"},
		{"ALL_FAULTS", "all page faults"},
		{"VIRT_ALLOC", "memory reserved, committed and given back"},
		{"VAMAP", "views of files mapped and unmapped"},
		{"MEMINFO", "memory of the machine, twice a second"},
		{"MEMINFO_WS", "memory of each process, twice a second"},
		{"NETWORKTRACE", "TCP and UDP: connect, accept, send, receive, disconnect"},
		{"POWER", "frequencies and states of processors"},
		{"IDLE_STATES", "idle states of processors"},
		{"CPU_CONFIG", NOT_RECORDED},
		{"OB_HANDLE", "descriptors opened, duplicated and closed"},
		{"TIMER", NOT_RECORDED},
		{"CLOCKINT", NOT_RECORDED},
		{"IPI", NOT_RECORDED},
		{"DPC_QUEUE", NOT_RECORDED},
		{"SYNC_OBJECTS", NOT_RECORDED},
		{"KE_CLOCK", NOT_RECORDED},
		{"PMC_PROFILE", "samples by hardware counters"},
		{"HEAP", "'openetw record --heap' records heaps"},
		{"SYSCONFIG", "what the machine is, at the end"},
		{"NO_SYSCONFIG", "without it"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return rows[i].what;
		}
	}
	return NULL;
}

void cli_kernel_print(bool flags, bool groups)
{
	const struct kernel_flag *f;
	const struct kernel_group *g;
	if (flags) {
		printf("Kernel Flags:\n");
		for (size_t i = 0; (f = kernel_flag_at(i)) != NULL; i++) {
			const char *what = f->none[0] ? f->none : flag_meaning(f->name);
			printf(what ? "\t%-15s: %s%s\n" : "\t%s\n", f->name, f->none[0] ? "not here: " : "", what);
		}
	}
	if (groups) {
		printf("Kernel Groups:\n");
		for (size_t i = 0; (g = kernel_group_at(i)) != NULL; i++) {
			printf("\t%-14s : %s\n", g->name, g->flags);
		}
	}
}

void cli_kernel_explain(FILE *f, const struct session_kernel *w, const struct cli_counters *c)
{
	char names[1200];
	kernel_mask_names(&w->mask, names, sizeof names);
	fprintf(f, " --kernel %s", names);
	for (uint32_t i = 0; i < w->stacks; i++) {
		uint16_t hook = 0;
		const char *name;
		size_t k = 0;
		while ((name = kernel_stack_name_at(k, &hook)) != NULL && hook != w->stack[i]) {
			k++;
		}
		if (name) {
			fprintf(f, "%s%s", i ? "+" : " --stackwalk ", name);
		} else {
			fprintf(f, "%s0x%04X", i ? "+" : " --stackwalk ", w->stack[i]);
		}
	}
	for (uint32_t i = 0; i < w->pids; i++) {
		fprintf(f, "%s%u", i ? "," : " --pids ", w->pid[i]);
	}
	if (c) {
		cli_counters_explain(f, c);
	}
}

/* ---- sessions that run ------------------------------------------------------------------------- */

void cli_kernel_tell(const char *tool, const char *name)
{
	struct openetw_kernel k = {.size = sizeof k};
	if (openetw_session_kernel(name, &k) == ERROR_SUCCESS && k.note[0]) {
		fprintf(stderr, "%s: '%s': %s\n", tool, name, k.note);
	}
}

uint32_t cli_kernel_capture(TRACEHANDLE session)
{
	return EnableTraceEx2(session, &SystemProcessProviderGuid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, NULL);
}

uint32_t cli_kernel_set_interval(uint32_t source, uint32_t interval)
{
	TRACE_PROFILE_INTERVAL v = {.Source = source, .Interval = interval};
	return TraceSetInformation(0, TraceSampledProfileIntervalInfo, &v, sizeof v);
}

uint32_t cli_kernel_get_interval(uint32_t *ret)
{
	TRACE_PROFILE_INTERVAL v = {0};
	ULONG n;
	uint32_t code = TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &v, sizeof v, &n);
	if (code == ERROR_SUCCESS) {
		*ret = v.Interval;
	}
	return code;
}
