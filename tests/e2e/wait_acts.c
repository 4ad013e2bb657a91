/* SPDX-License-Identifier: MIT
 * Programs whose waits are known. "wait_acts sleep N MS" sleeps N times and says how long it took in all and at most;
 * "wait_acts tick MS" does it until it is killed; "wait_acts NAME N" is woken N times by what it says: a thread, a timer,
 * the network.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void nap(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int act_sleep(int n, int ms)
{
	long long all = 0, longest = 0;
	for (int i = 0; i < n; i++) {
		long long begun = now_us();
		nap(ms * 1000l);
		long long took = now_us() - begun;
		all += took;
		longest = took > longest ? took : longest;
	}
	printf("{\"pid\": %d, \"waits\": %d, \"us\": %lld, \"longest\": %lld}\n", (int)getpid(), n, all, longest);
	return 0;
}

static __attribute__((noreturn)) void act_tick(int ms)
{
	for (;;) {
		long long until = now_us() + 300;
		nap(ms * 1000l);
		while (now_us() < until) {
		}
	}
}

/* ---- woken by another thread -------------------------------------------------------------------- */

static int turn;
static void pass(int to)
{
	__atomic_store_n(&turn, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void await(int mine)
{
	int other;
	while ((other = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine) {
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, other, NULL, NULL, 0);
	}
}
static void *waker(void *arg)
{
	for (int i = *(int *)arg; i > 0; i--) {
		await(1);
		nap(1000); /* until the other one sleeps for certain */
		pass(0);
	}
	return NULL;
}
static int act_thread(int n)
{
	pthread_t t;
	if (pthread_create(&t, NULL, waker, &n) != 0) {
		return 1;
	}
	for (int i = 0; i < n; i++) {
		pass(1);
		await(0);
	}
	pthread_join(t, NULL);
	printf("{\"pid\": %d, \"wakes\": %d}\n", (int)getpid(), n);
	return 0;
}

/* ---- woken by nobody ------------------------------------------------------------------------------ */

static int act_timer(int n)
{
	struct itimerspec every = {{0, 3000000}, {0, 3000000}};
	unsigned long long fired;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) < 0) {
		return 1;
	}
	for (int i = 0; i < n; i++) {
		if (read(fd, &fired, sizeof fired) != sizeof fired) {
			return 1;
		}
	}
	printf("{\"pid\": %d, \"wakes\": %d}\n", (int)getpid(), n);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	if (argc == 4 && strcmp(argv[1], "sleep") == 0) {
		return act_sleep(n, atoi(argv[3]));
	}
	if (argc == 3 && strcmp(argv[1], "tick") == 0) {
		act_tick(n);
	}
	if (argc == 3 && strcmp(argv[1], "thread") == 0) {
		return act_thread(n);
	}
	if (argc == 3 && strcmp(argv[1], "timer") == 0) {
		return act_timer(n);
	}
	fprintf(stderr, "usage: wait_acts sleep N MS | tick MS | thread N | timer N\n");
	return 2;
}
