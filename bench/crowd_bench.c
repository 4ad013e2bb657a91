/* SPDX-License-Identifier: MIT
 * Many registered, quiet processes: memory of all of them together, and the time an enable takes to reach every one.
 *
 * Each process is a program of its own (crowd_child.c, fork and exec). Memory is PSS (each page divided by the
 * number of processes that map it), so that the pages a process shares with etwd, and the library's code, are
 * counted once: the sum over all processes, plus all of etwd, less the sum for as many programs without us. Two
 * of those: "plain" is not linked with libetw, "linked" is and does not register. It is taken registered (nobody
 * listens) and enabled (every one has seen the enable, none has written). What the kernel itself needs is given
 * beside it: page tables and additional threads.
 */
#include "crowd_child.h"
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const GUID guid = {0x9c5e4a56, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x14}};

struct memory {
	long pss_kb, tables_kb, threads;
};

static long field(FILE *f, const char *key)
{
	char line[256];
	long sum = 0;
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, key, strlen(key)) == 0) {
			sum += strtol(line + strlen(key), NULL, 10);
		}
	}
	if (f) {
		fclose(f);
	}
	return sum;
}

static long proc_field(pid_t pid, const char *file, const char *key)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	return field(fopen(path, "re"), key);
}

static struct memory memory_of(const pid_t *pid, unsigned n)
{
	struct memory m = {0, 0, 0};
	for (unsigned i = 0; i < n; i++) {
		m.pss_kb += proc_field(pid[i], "smaps_rollup", "Pss:");
		m.tables_kb += proc_field(pid[i], "status", "VmPTE:");
		m.threads += proc_field(pid[i], "status", "Threads:");
	}
	return m;
}

static pid_t etwd_pid(void)
{
	char path[512];
	int pid = 0;
	const char *dir = getenv("OPENETW_RUNTIME_DIR");
	snprintf(path, sizeof path, "%s/pid", dir ? dir : "");
	FILE *f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &pid) != 1) {
		pid = 0;
	}
	if (f) {
		fclose(f);
	}
	return pid;
}

static double cpu_ns(pid_t pid)
{
	clockid_t id;
	struct timespec t = {0, 0};
	if (clock_getcpuclockid(pid, &id) == 0) {
		clock_gettime(id, &t);
	}
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static char programs[4096]; /* where ours lies, and the children beside it */

static void one(const char *program, bool do_register, int fd)
{
	char path[4200];
	snprintf(path, sizeof path, "%s/%s", programs, program);
	dup2(fd, CROWD_FD);
	execl(path, program, do_register ? "register" : (char *)NULL, (char *)NULL);
	_exit(127);
}

static unsigned wait_for(const uint32_t *count, unsigned n)
{
	for (int i = 0; i < 1200 && __atomic_load_n(count, __ATOMIC_SEQ_CST) < n; i++) {
		bench_sleep_us(50000);
	}
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static pid_t *crowd(unsigned n, const char *program, bool do_register, struct shared *sh, int fd)
{
	pid_t *pid = calloc(n, sizeof *pid);
	memset(sh, 0, sizeof *sh);
	for (unsigned i = 0; pid && i < n; i++) {
		pid[i] = vfork();
		if (pid[i] == 0) {
			one(program, do_register, fd);
		}
		/* As a machine starts: not more at once than it can run. */
		while (i > 32 && __atomic_load_n(&sh->ready, __ATOMIC_SEQ_CST) < i - 32) {
			bench_sleep_us(200);
		}
	}
	if (wait_for(&sh->ready, n) < n) {
		fprintf(stderr, "only %u of %u processes came up\n", sh->ready, n);
		exit(1);
	}
	bench_sleep_us(500000);
	return pid;
}

static void disperse(pid_t *pid, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		kill(pid[i], SIGKILL);
	}
	while (wait(NULL) > 0) {
	}
	free(pid);
}

static void show(const char *what, struct memory m, struct memory plain, struct memory linked, long daemon_kb,
		 unsigned n)
{
	long over_plain = m.pss_kb - plain.pss_kb, over_linked = m.pss_kb - linked.pss_kb;
	printf("%-10s over programs that do not register: %6.1f MB in all (%.1f KB a process, etwd %.1f MB)\n", what,
	       (double)(over_linked + daemon_kb) / 1024, (double)over_linked / n, (double)daemon_kb / 1024);
	printf("%-10s over programs without libetw:       %6.1f MB in all (%.1f KB a process, etwd %.1f MB)\n", "",
	       (double)(over_plain + daemon_kb) / 1024, (double)over_plain / n, (double)daemon_kb / 1024);
	printf("%-10s kernel, over those without libetw: page tables %.1f MB (%.1f KB each), threads %+ld\n", "",
	       (double)(m.tables_kb - plain.tables_kb) / 1024, (double)(m.tables_kb - plain.tables_kb) / n,
	       m.threads - plain.threads);
}

int main(int argc, char **argv)
{
	static struct {
		EVENT_TRACE_PROPERTIES p;
		char name[64];
	} props;
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	int fd = memfd_create("crowd", 0);
	ssize_t len = readlink("/proc/self/exe", programs, sizeof programs - 1);
	if (fd < 0 || ftruncate(fd, 4096) < 0 || len <= 0) {
		return 1;
	}
	*strrchr(programs, '/') = 0;
	struct shared *sh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t *pid = crowd(n, "crowd_plain", false, sh, fd);
	struct memory plain = memory_of(pid, n);
	disperse(pid, n);
	pid = crowd(n, "crowd_child", false, sh, fd);
	struct memory linked = memory_of(pid, n);
	disperse(pid, n);
	/* A session first: it is what starts etwd, and the processes attach to a running one. */
	TRACEHANDLE h;
	props.p.Wnode.BufferSize = sizeof props;
	props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	ULONG code = StartTraceA(&h, "bench-crowd", &props.p);
	if (code) {
		fprintf(stderr, "StartTrace: %u\n", code);
		return 1;
	}
	pid_t daemon = etwd_pid();
	pid = crowd(n, "crowd_child", true, sh, fd);
	struct memory registered = memory_of(pid, n);
	long daemon_registered = memory_of(&daemon, 1).pss_kb;
	double cpu0 = cpu_ns(daemon);
	uint64_t t0 = clock_now();
	code = EnableTraceEx2(h, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL);
	uint64_t t1 = clock_now();
	double cpu1 = cpu_ns(daemon);
	__atomic_store_n(&sh->look, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &sh->look, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	wait_for(&sh->looked, n);
	unsigned reached = sh->enabled;
	bench_sleep_us(500000);
	struct memory enabled = memory_of(pid, n);
	long daemon_enabled = memory_of(&daemon, 1).pss_kb;
	printf("%u processes, none writes; each without us: %.1f KB\n", n, (double)plain.pss_kb / n);
	show("registered", registered, plain, linked, daemon_registered, n);
	show("enabled", enabled, plain, linked, daemon_enabled, n);
	printf("enable: returned after %.1f ms with code %u; %u of %u have it at once; etwd used %.1f ms CPU\n",
	       bench_ticks_to_ns(t1 - t0) / 1e6, code, reached, n, (cpu1 - cpu0) / 1e6);
	ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	disperse(pid, n);
	return reached == n ? 0 : 1;
}
