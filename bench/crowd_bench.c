/* SPDX-License-Identifier: MIT
 * Many registered, quiet processes: memory of all of them together and the time an enable takes to reach every
 * one. Memory is MemAvailable before and after, against the same number of processes that do not register, and
 * etwd's own resident set.
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const GUID guid = {0x9c5e4a56, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x14}};

static long meminfo(const char *key)
{
	char line[256];
	long v = 0;
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, key, strlen(key)) == 0) {
			v = strtol(line + strlen(key) + 1, NULL, 10);
		}
	}
	if (f) {
		fclose(f);
	}
	return v;
}

struct shared {
	volatile unsigned registered, enabled;
	volatile uint64_t enabled_at;
};

static long crowd(unsigned n, bool do_register, struct shared *sh, double *ret_ms)
{
	pid_t *pid = calloc(n, sizeof *pid);
	long before = meminfo("MemAvailable:");
	for (unsigned i = 0; i < n; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			REGHANDLE r = 0;
			if (do_register) {
				EventRegister(&guid, NULL, NULL, &r);
			}
			__atomic_fetch_add(&sh->registered, 1, __ATOMIC_SEQ_CST);
			while (do_register && !EventProviderEnabled(r, 1, 0)) {
				bench_sleep_us(200000);
				/* Poll the word only after the measurement began: sleeping keeps them quiet. */
				if (sh->enabled_at) {
					break;
				}
			}
			if (do_register && EventProviderEnabled(r, 1, 0)) {
				__atomic_fetch_add(&sh->enabled, 1, __ATOMIC_SEQ_CST);
			}
			pause();
			_exit(0);
		}
	}
	for (int i = 0; i < 600 && sh->registered < n; i++) {
		bench_sleep_us(50000);
	}
	bench_sleep_us(1000000);
	long used = before - meminfo("MemAvailable:");
	if (ret_ms) {
		static struct {
			EVENT_TRACE_PROPERTIES p;
			char name[64];
		} props;
		TRACEHANDLE h;
		props.p.Wnode.BufferSize = sizeof props;
		props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
		props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
		props.p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
		ULONG code = StartTraceA(&h, "bench-crowd", &props.p);
		uint64_t t0 = clock_now();
		code = code ? code : EnableTraceEx2(h, &guid, 1, 5, 0, 0, 0, NULL);
		*ret_ms = bench_ticks_to_ns(clock_now() - t0) / 1e6;
		sh->enabled_at = 1;
		for (int i = 0; i < 100 && sh->enabled < n; i++) {
			bench_sleep_us(50000);
		}
		if (code) {
			fprintf(stderr, "enable: %u\n", code);
		}
		ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	}
	for (unsigned i = 0; i < n; i++) {
		kill(pid[i], SIGKILL);
	}
	while (wait(NULL) > 0) {
	}
	free(pid);
	return used;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	struct shared *sh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long bare = crowd(n, false, sh, NULL);
	memset(sh, 0, sizeof *sh);
	bench_sleep_us(2000000);
	double ms = 0;
	long with = crowd(n, true, sh, &ms);
	printf("%u processes: %ld KB without, %ld KB registered: %ld KB for tracing, %.1f KB a process\n", n, bare, with,
	       with - bare, (double)(with - bare) / n);
	printf("enable returned after %.1f ms; %u of %u processes saw it\n", ms, sh->enabled, n);
	return 0;
}
