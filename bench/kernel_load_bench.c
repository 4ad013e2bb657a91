/* SPDX-License-Identifier: MIT
 * Loads for bench/kernel, each in microseconds of processor time, the best of many batches: waiting for
 * others costs nothing, so the machine may do other things meanwhile.
 *   kernel_load_bench calls    one system call that does nothing
 *   kernel_load_bench switch   there and back over two pipes: two context switches, two wake-ups; the bytes of both
 *                              stacks are the same at each switch, the best case for a recorder that remembers them
 *   kernel_load_bench count    the same, and each side counts in a variable on its stack, as most programs do
 *   kernel_load_bench spin     a stretch of counting
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t used_ns(clockid_t clock)
{
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double calls(void)
{
	enum { BATCHES = 200, CALLS = 1000 };
	uint64_t best = UINT64_MAX;
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = used_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (int i = 0; i < CALLS; i++) {
			syscall(SYS_getppid);
		}
		uint64_t took = used_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
		best = took < best ? took : best;
	}
	return (double)best / 1000 / CALLS;
}

static double switches(bool counting)
{
	enum { BATCHES = 100, TRIPS = 1000 };
	int there[2], back[2];
	char c = 0;
	volatile uint64_t trips = 0;
	cpu_set_t one;
	uint64_t best = UINT64_MAX;
	clockid_t other;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	if (pipe(there) < 0 || pipe(back) < 0) {
		return -1;
	}
	pid_t child = fork();
	if (child == 0) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1) {
			trips += counting;
		}
		_exit(0);
	}
	clock_getcpuclockid(child, &other);
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = used_ns(CLOCK_PROCESS_CPUTIME_ID) + used_ns(other);
		for (int i = 0; i < TRIPS; i++) {
			if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) {
				return -1;
			}
			trips += counting;
		}
		uint64_t took = used_ns(CLOCK_PROCESS_CPUTIME_ID) + used_ns(other) - start;
		best = took < best ? took : best;
	}
	(void)trips;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return (double)best / 1000 / TRIPS;
}

static double spin(void)
{
	uint64_t best = UINT64_MAX;
	for (int b = 0; b < 5; b++) { /* each long enough for a hundred samples: all of them count */
		uint64_t start = used_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (volatile uint64_t i = 0; i < 60000000; i++) {
		}
		uint64_t took = used_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
		best = took < best ? took : best;
	}
	return (double)best / 1000;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double us = strcmp(what, "calls") == 0    ? calls()
		    : strcmp(what, "switch") == 0 ? switches(false)
		    : strcmp(what, "count") == 0  ? switches(true)
		    : strcmp(what, "spin") == 0   ? spin()
						  : -1;
	printf("%.4f\n", us);
	return us < 0;
}
