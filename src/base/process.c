/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of this process by "self": /proc may be that of another pid namespace. */
static long read_proc(uint32_t pid, const char *what, char *out, size_t cap)
{
	char path[64];
	if (pid == (uint32_t)getpid()) {
		snprintf(path, sizeof path, "/proc/self/%s", what);
	} else {
		snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
	}
	return file_read_start(path, out, cap);
}

/* Field 22 of stat, counted after the last ')': the name may hold anything. */
static uint64_t start_ticks(uint32_t pid)
{
	char buf[1024];
	if (read_proc(pid, "stat", buf, sizeof buf) <= 0) {
		return 0;
	}
	char *p = strrchr(buf, ')');
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

uint64_t process_start_key(uint32_t pid)
{
	if (pid == 0 || pid > INT_MAX) {
		return 0;
	}
	uint64_t ticks = start_ticks(pid);
	if (ticks == 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
		return 0;
	}
	/* When it started and who it is; pids have at most 22 bits. */
	return ticks << 22 | (pid & 0x3FFFFFu);
}

uint32_t process_login_session(uint32_t pid)
{
	char buf[32];
	if (pid == 0 || pid > INT_MAX || read_proc(pid, "sessionid", buf, sizeof buf) <= 0) {
		return 0;
	}
	uint32_t id = (uint32_t)strtoul(buf, NULL, 10);
	return id == UINT32_MAX ? 0 : id;
}
