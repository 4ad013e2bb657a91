/* SPDX-License-Identifier: MIT
 * What processes took: PerfCtr when one ends, PerfCtrRundown for those that go on.
 */
#include "kernel/kernel_process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

void kernel_emit_counters(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu,
			  const struct kernel_counters *c)
{
	struct kernel_record r = {
		.hook = hook, .version = 2, .perfinfo = true, .cpu = cpu, .time = time, .sessions = sessions};
	kernel_put(&r, c->pid, 4);
	kernel_put(&r, c->faults, 4);
	kernel_put(&r, c->handles, 4);
	kernel_put(&r, 0, 4);
	kernel_put(&r, c->peak_virtual, 8);
	kernel_put(&r, c->peak_working, 8);
	kernel_put(&r, c->peak_pagefile, 8);
	kernel_put(&r, 0, 8); /* quotas: Linux has none of those */
	kernel_put(&r, 0, 8);
	kernel_put(&r, c->virtual, 8);
	kernel_put(&r, c->working, 8);
	kernel_put(&r, c->pagefile, 8);
	kernel_put(&r, 0, 8);
	kernel_put(&r, 0, 8);
	kernel_put(&r, c->private_bytes, 8);
	kernel_out(k, &r);
}

static uint32_t handles(uint32_t pid)
{
	char path[64];
	uint32_t n = 0;
	snprintf(path, sizeof path, "/proc/%u/fd", pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		n += e->d_name[0] != '.';
	}
	if (d) {
		closedir(d);
	}
	return n;
}

bool kernel_read_counters(uint32_t pid, struct kernel_counters *ret)
{
	static const struct {
		const char *name;
		size_t at;
	} fields[] = {
		{"VmPeak", offsetof(struct kernel_counters, peak_virtual)},
		{"VmHWM", offsetof(struct kernel_counters, peak_working)},
		{"VmSize", offsetof(struct kernel_counters, virtual)},
		{"VmRSS", offsetof(struct kernel_counters, working)},
		{"VmSwap", offsetof(struct kernel_counters, pagefile)},
		{"RssAnon", offsetof(struct kernel_counters, private_bytes)},
	};
	struct kernel_counters c = {.pid = pid};
	char path[64], line[1024], name[32];
	unsigned long long kb;
	unsigned minor = 0, major = 0;
	snprintf(path, sizeof path, "/proc/%u/status", pid);
	FILE *f = fopen(path, "re");
	if (!f) {
		return false;
	}
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%31[^:]: %llu kB", name, &kb) != 2) {
			continue;
		}
		for (size_t i = 0; i < BASE_ARRAY_LEN(fields); i++) {
			if (strcmp(name, fields[i].name) == 0) {
				uint64_t bytes = kb * 1024;
				memcpy((char *)&c + fields[i].at, &bytes, sizeof bytes);
			}
		}
	}
	fclose(f);
	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	f = fopen(path, "re");
	const char *close = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	if (f) {
		fclose(f);
	}
	if (close && sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %u %*u %u", &minor, &major) == 2) {
		c.faults = minor + major;
	}
	c.handles = handles(pid);
	*ret = c;
	return true;
}
