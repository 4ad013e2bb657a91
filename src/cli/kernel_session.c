/* SPDX-License-Identifier: MIT */
#include "cli/kernel_session.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define STOP_WAIT_MS 120000
#define POLL_MS	     10

static const struct {
	uint32_t source, bits;
	uint16_t stack[10];
} wants[] = {
	{KERNEL_CPU, KERNEL_BIT_PROFILE, {0x0F2E}},
	{KERNEL_CSWITCH, KERNEL_BIT_CSWITCH | KERNEL_BIT_DISPATCHER, {0x0524}},
	{KERNEL_SYSCALL, KERNEL_BIT_SYSCALL, {0x0F33}},
	{KERNEL_DISK, KERNEL_BIT_DISK_IO | KERNEL_BIT_DISK_IO_INIT | KERNEL_BIT_FILENAME, {0x010C, 0x010D, 0x010F}},
	{KERNEL_FILE, KERNEL_BIT_FILE_IO | KERNEL_BIT_FILE_IO_INIT | KERNEL_BIT_FILENAME,
	 {0x0440, 0x0443, 0x0444, 0x0446, 0x0447, 0x0449}},
	{KERNEL_FAULT, KERNEL_BIT_ALL_FAULTS | KERNEL_BIT_HARD_FAULTS, {0x0220, 0x020B}},
	{KERNEL_VIRTUAL, KERNEL_BIT_VIRT_ALLOC, {0x0262, 0x0263}},
	{KERNEL_VIRTUAL, KERNEL_BIT_VAMAP, {0}},
	{KERNEL_HANDLE, (uint32_t)KERNEL_BIT_OB_HANDLE, {0x1120, 0x1121}},
	/* Sends, receives, accepts; connections come up in whatever context the answer came. */
	{KERNEL_NET, KERNEL_BIT_NETWORK,
	 {0x060A, 0x061A, 0x060B, 0x061B, 0x060F, 0x061F, 0x080A, 0x081A, 0x080B, 0x081B}},
	{KERNEL_INTERRUPT, KERNEL_BIT_DPC | KERNEL_BIT_INTERRUPT, {0}},
	{KERNEL_POWER, KERNEL_BIT_PROCESSOR_IDLE, {0}},
	{KERNEL_POWER, (uint32_t)KERNEL_BIT_POWER, {0}},
	{KERNEL_MEMINFO, KERNEL_BIT_MEMINFO | KERNEL_BIT_MEMINFO_WS, {0}},
	{KERNEL_COUNTERS, KERNEL_BIT_PERF_COUNTER, {0}},
};

void cli_kernel_wants(struct kernel_session *s, uint32_t sources, bool stacks)
{
	kernel_mask_set(&s->mask, KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER);
	for (size_t i = 0; i < BASE_ARRAY_LEN(wants); i++) {
		if (!(sources & wants[i].source)) {
			continue;
		}
		kernel_mask_set(&s->mask, wants[i].bits);
		for (size_t n = 0; stacks && n < BASE_ARRAY_LEN(wants[i].stack) && wants[i].stack[n]; n++) {
			kernel_session_stack(s, wants[i].stack[n]);
		}
	}
}

static bool folder(char *out, size_t cap)
{
	char dir[2048];
	if (openetw_runtime_directory(dir, sizeof dir) != ERROR_SUCCESS) {
		return false;
	}
	int n = snprintf(out, cap, "%s/kernel", dir);
	return n > 0 && (size_t)n < cap && (mkdir(out, 0700) == 0 || errno == EEXIST);
}

static bool path_of(const char *key, const char *suffix, char *out, size_t cap)
{
	char dir[2100];
	int n = folder(dir, sizeof dir) ? snprintf(out, cap, "%s/%s%s", dir, key, suffix) : -1;
	return n > 0 && (size_t)n < cap;
}

/* Field 22 of /proc/PID/stat; 0 when there is no such process, or it is only a body. */
static uint64_t start_of(int pid)
{
	char path[40], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	base_close(&fd);
	text[n > 0 ? n : 0] = 0;
	const char *s = strrchr(text, ')');
	if (!s || s[1] != ' ' || s[2] == 'Z' || s[2] == 'X') {
		return 0;
	}
	s += 2;
	for (int field = 3; s && field < 22; field++) {
		s = strchr(s + 1, ' ');
	}
	return s ? strtoull(s, NULL, 10) : 0;
}

bool cli_kernel_find(const char *key, struct cli_kernel *ret)
{
	char path[2300];
	FILE *f = path_of(key, "", path, sizeof path) ? fopen(path, "re") : NULL;
	unsigned long long start = 0;
	bool ok = f && fscanf(f, "%d %llu ", &ret->pid, &start) == 2 &&
		  fgets(ret->file, sizeof ret->file, f);
	if (f) {
		fclose(f);
	}
	if (ok) {
		ret->file[strcspn(ret->file, "\n")] = 0;
		ret->pid_start = start;
	}
	return ok && start != 0 && start_of(ret->pid) == start;
}

static volatile sig_atomic_t told;
static void on_end(int sig)
{
	told = sig;
}

/* The background process. Says "" or a problem into `out`, then records until it is told to stop. */
static void collect(const char *key, const struct kernel_options *o, int out)
{
	struct kernel_file *k;
	struct kernel_mask missing;
	struct kernel_stats stats;
	struct diag d;
	char path[2300];
	struct sigaction sa = {.sa_handler = on_end};
	/* What the starting command holds, such as its lock, is none of ours. */
	dup2(out, 3);
	out = 3;
	syscall(SYS_close_range, 4u, ~0u, 0u);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGHUP, SIG_IGN);
	setsid();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null >= 0; fd++) {
		dup2(null, fd);
	}
	diag_clear(&d);
	int err = kernel_file_start(o, &k, &missing, &d);
	const char *problem = err < 0 ? (d.text[0] ? d.text : strerror(-err)) : "";
	ssize_t n = write(out, problem, strlen(problem) + 1);
	(void)n;
	close(out);
	if (err < 0) {
		_exit(1);
	}
	while (!told) {
		kernel_file_poll(k, POLL_MS);
	}
	err = kernel_file_stop(k, &stats);
	FILE *f = path_of(key, ".stats", path, sizeof path) ? fopen(path, "we") : NULL;
	if (f) {
		fwrite(&stats, sizeof stats, 1, f);
		fclose(f);
	}
	_exit(err < 0);
}

int cli_kernel_start(const char *key, const struct kernel_options *o, char *problem, size_t cap)
{
	struct cli_kernel running;
	char path[2300];
	int pipe_fd[2];
	snprintf(problem, cap, "it is running already");
	if (cli_kernel_find(key, &running)) {
		return -EEXIST;
	}
	if (!path_of(key, ".stats", path, sizeof path) || (unlink(path) < 0 && errno != ENOENT) ||
	    pipe2(pipe_fd, O_CLOEXEC) < 0) {
		snprintf(problem, cap, "%s", strerror(errno));
		return -errno;
	}
	fflush(stdout);
	fflush(stderr);
	pid_t pid = fork();
	if (pid == 0) {
		close(pipe_fd[0]);
		collect(key, o, pipe_fd[1]);
	}
	close(pipe_fd[1]);
	ssize_t n = pid > 0 ? read(pipe_fd[0], problem, cap - 1) : -1;
	close(pipe_fd[0]);
	problem[n > 0 ? n : 0] = 0;
	if (n != 1) { /* one byte: an empty text */
		if (n <= 0) {
			snprintf(problem, cap, "its process ended at once");
		}
		return -EIO;
	}
	FILE *f = path_of(key, "", path, sizeof path) ? fopen(path, "we") : NULL;
	bool ok = f && fprintf(f, "%d %llu %s\n", (int)pid, (unsigned long long)start_of(pid), o->path) > 0;
	ok = f && fclose(f) == 0 && ok;
	if (!ok) {
		snprintf(problem, cap, "cannot write %s", path);
		kill(pid, SIGTERM);
		return -EIO;
	}
	return 0;
}

int cli_kernel_stop(const char *key, char *ret_file, size_t cap, struct kernel_stats *ret)
{
	struct cli_kernel k;
	char path[2300];
	bool done = false;
	if (!cli_kernel_find(key, &k)) {
		return -ENOENT;
	}
	int fd = (int)syscall(SYS_pidfd_open, k.pid, 0);
	if (fd >= 0 && start_of(k.pid) == k.pid_start) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		kill(k.pid, SIGTERM);
		done = poll(&p, 1, STOP_WAIT_MS) == 1;
	}
	base_close(&fd);
	snprintf(ret_file, cap, "%s", k.file);
	memset(ret, 0, sizeof *ret);
	FILE *f = path_of(key, ".stats", path, sizeof path) ? fopen(path, "re") : NULL;
	bool ok = f && fread(ret, sizeof *ret, 1, f) == 1;
	if (f) {
		fclose(f);
	}
	unlink(path);
	if (path_of(key, "", path, sizeof path)) {
		unlink(path);
	}
	return done && ok ? 0 : -EIO;
}
