/* SPDX-License-Identifier: MIT
 * Does what is known, for tests of stacks and waits. Built with frame pointers and without.
 *
 *   stack_acts burn SECONDS   burns so much CPU in acts_burn, called by libc's qsort, called by acts_outer
 *   stack_acts wait COUNT MS  a thread waits COUNT times for MS ms, in acts_wait called by acts_waiter,
 *                             on a futex that another thread wakes; prints both threads' ids
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__ /* which makes no clones */
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* however busy the machine is */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

KEEP int acts_burn(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	for (int i = 0; i < 400; i++) {
		x = x * 6364136223846793005u + 1;
		y = y * 6364136223846793005u + 1;
	}
	sink += x;
	return (x > y) - (x < y);
}

/* Its frame is big, and nothing is the last thing it does. */
KEEP void acts_middle(uint64_t *list, size_t n)
{
	volatile char room[700];
	memset((char *)room, (int)n, sizeof room);
	qsort(list, n, sizeof *list, acts_burn);
	sink += (uint64_t)room[n % sizeof room];
}

KEEP void acts_outer(uint64_t *list, size_t n)
{
	acts_middle(list, n);
	sink++;
}

static int burn(double seconds)
{
	uint64_t list[128];
	for (double end = used() + seconds; used() < end;) {
		for (size_t i = 0; i < 128; i++) {
			list[i] = (uint64_t)i * 2654435761u;
		}
		acts_outer(list, 128);
	}
	return 0;
}

static int word;
static int waiter_tid;
static int rounds;
static long wait_ms;

KEEP void acts_wait(void)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) {
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	}
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}

KEEP void acts_waiter(void)
{
	for (int i = 0; i < rounds; i++) {
		acts_wait();
		sink++;
	}
	sink++;
}

static void *waiter(void *arg)
{
	*(int *)arg = (int)syscall(SYS_gettid);
	__atomic_store_n(&waiter_tid, *(int *)arg, __ATOMIC_RELEASE);
	acts_waiter();
	return NULL;
}

/* Nothing else makes it sleep. */
static int sleeps(int tid)
{
	char path[64], line[256] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *f = fopen(path, "r");
	if (f) {
		if (!fgets(line, sizeof line, f)) {
			line[0] = 0;
		}
		fclose(f);
	}
	const char *p = strrchr(line, ')');
	return p && p[1] == ' ' && p[2] == 'S';
}

static void *waker(void *arg)
{
	*(int *)arg = (int)syscall(SYS_gettid);
	for (int i = 0; i < rounds; i++) {
		struct timespec t = {wait_ms / 1000, wait_ms % 1000 * 1000000};
		int tid;
		while ((tid = __atomic_load_n(&waiter_tid, __ATOMIC_ACQUIRE)) == 0 ||
		       __atomic_load_n(&word, __ATOMIC_ACQUIRE) != 0 || !sleeps(tid)) {
			sched_yield();
		}
		nanosleep(&t, NULL); /* it waits at least that long */
		__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	int tid[2] = {0, 0};
	if (argc == 3 && strcmp(argv[1], "burn") == 0) {
		return burn(atof(argv[2]));
	}
	if (argc != 4 || strcmp(argv[1], "wait") != 0) {
		return 2;
	}
	rounds = atoi(argv[2]);
	wait_ms = atol(argv[3]);
	if (pthread_create(&a, NULL, waiter, &tid[0]) != 0 || pthread_create(&b, NULL, waker, &tid[1]) != 0) {
		return 1;
	}
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d %d %d\n", (int)getpid(), tid[0], tid[1]);
	return 0;
}
