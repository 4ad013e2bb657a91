/* SPDX-License-Identifier: MIT
 *
 * MemInfo and MemInfoWS: the machine's memory and that of each process, every half second. Linux
 * keeps no lists by priority: what files left in memory is standby of normal priority, what must be
 * written first is modified.
 */
#include "kernel/kernel_private.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOOK_MEMINFO    0x0270u
#define HOOK_MEMINFO_WS 0x027Du
#define PERIOD_NS       500000000ull
#define PRIORITIES      8u
#define NORMAL          5u
#define PROCESS_BYTES   68u

struct memory {
	uint64_t next;
};

static int memory_open(struct kernel *k, void **ret_state, struct kernel_mask *ret_can, struct diag *d)
{
	struct memory *m = calloc(1, sizeof *m);
	(void)k, (void)d;
	if (!m) {
		return -ENOMEM;
	}
	kernel_mask_set(ret_can, KERNEL_BIT_MEMINFO | KERNEL_BIT_MEMINFO_WS);
	kernel_mask_set(ret_can, KERNEL_BIT_PERF_COUNTER); /* kernel_counters.c */
	*ret_state = m;
	return 0;
}

static void memory_close(struct kernel *k, void *state)
{
	(void)k;
	free(state);
}

static void memory_update(struct kernel *k, void *state)
{
	struct memory *m = state;
	(void)k;
	m->next = 0; /* whoever is new is told at once */
}

/* "Name:   123 kB" and "name 123". */
static uint64_t value_of(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		if (strncmp(p, name, n) == 0 && (p[n] == ':' || p[n] == ' ')) {
			return strtoull(p + n + 1, NULL, 10);
		}
	}
	return 0;
}

static bool text_of(const char *path, char *out, size_t cap)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(out, 1, cap - 1, f) : 0;
	if (f) {
		fclose(f);
	}
	out[n] = 0;
	return n > 0;
}

static void machine(struct kernel *k, uint64_t sessions, uint64_t now)
{
	char info[8192], stat[16384];
	uint64_t kb_page = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	if (!text_of("/proc/meminfo", info, sizeof info)) {
		return;
	}
	text_of("/proc/vmstat", stat, sizeof stat);
	uint64_t modified = value_of(info, "Dirty") + value_of(info, "Writeback");
	uint64_t cached = value_of(info, "Cached") + value_of(info, "Buffers");
	uint64_t kept = value_of(info, "Shmem") + modified; /* of which these are not just copies */
	struct kernel_record r = {
		.hook = HOOK_MEMINFO, .version = 2, .perfinfo = true, .time = now, .sessions = sessions};
	kernel_put(&r, PRIORITIES, 1);
	kernel_put(&r, 0, 8); /* zeroed ahead of time: none */
	kernel_put(&r, value_of(info, "MemFree") / kb_page, 8);
	kernel_put(&r, modified / kb_page, 8);
	kernel_put(&r, 0, 8);
	kernel_put(&r, value_of(info, "HardwareCorrupted") / kb_page, 8);
	for (unsigned i = 0; i < PRIORITIES; i++) {
		kernel_put(&r, i == NORMAL && cached > kept ? (cached - kept) / kb_page : 0, 8);
	}
	for (unsigned i = 0; i < PRIORITIES; i++) {
		uint64_t taken = value_of(stat, "pgsteal_kswapd") + value_of(stat, "pgsteal_direct");
		kernel_put(&r, i == NORMAL ? taken : 0, 8);
	}
	kernel_put(&r, value_of(info, "SwapCached") / kb_page, 8);
	kernel_out(k, &r);
}

/* As many in a record as it holds. */
static void processes(struct kernel *k, uint64_t sessions, uint64_t now)
{
	struct kernel_record r = {
		.hook = HOOK_MEMINFO_WS, .version = 2, .perfinfo = true, .time = now, .sessions = sessions};
	uint32_t count = 0;
	DIR *d = opendir("/proc");
	kernel_put(&r, 0, 4);
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[64], text[256];
		unsigned long long size, resident, shared, data;
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);
		snprintf(path, sizeof path, "/proc/%u/statm", pid);
		if (pid == 0 || !text_of(path, text, sizeof text) ||
		    sscanf(text, "%llu %llu %llu %*u %*u %llu", &size, &resident, &shared, &data) != 4 ||
		    size == 0) { /* the kernel's own threads */
			continue;
		}
		if (r.n + PROCESS_BYTES > sizeof r.payload) {
			le32_put(r.payload, count);
			kernel_out(k, &r);
			count = 0;
			r.n = 4;
		}
		kernel_put(&r, pid, 4);
		kernel_put(&r, resident, 8);
		kernel_put(&r, data, 8);
		kernel_put(&r, size, 8);
		kernel_put(&r, resident > shared ? resident - shared : 0, 8);
		for (int i = 0; i < 3; i++) { /* the store, what it holds, debt of commitments */
			kernel_put(&r, 0, 8);
		}
		kernel_put(&r, shared, 8);
		count++;
	}
	if (d) {
		closedir(d);
	}
	le32_put(r.payload, count);
	if (count > 0) {
		kernel_out(k, &r);
	}
}

static bool memory_drain(struct kernel *k, void *state)
{
	struct memory *m = state;
	uint64_t machines = kernel_wants(k, HOOK_MEMINFO), each = kernel_wants(k, HOOK_MEMINFO_WS);
	uint64_t now = clock_read_system_ns();
	if ((machines | each) == 0 || now < m->next) {
		return false;
	}
	m->next = now + PERIOD_NS;
	if (machines) {
		machine(k, machines, now);
	}
	if (each) {
		processes(k, each, now);
	}
	return true;
}

const struct kernel_source kernel_source_memory = {
	.name = "memory",
	.open = memory_open,
	.update = memory_update,
	.drain = memory_drain,
	.close = memory_close,
};
