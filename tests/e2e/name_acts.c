/* SPDX-License-Identifier: MIT
 * Does what is known, for tests of names: name_acts SECONDS. Two threads with names burn so much processor time each in
 * act(), which calls a function of the C library that does next to nothing, through its stub. Before that each of
 * them opens /etc/passwd and closes it. Prints the numbers of both threads.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;
static double seconds;
static int numbers[2];

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void act(void)
{
	for (long i = 0; i < 1000000; i++) {
		sink += labs(i - 5);
	}
}

static void *burner(void *ctx)
{
	static const char *const names[] = {"first of two", "second of two"};
	int *mine = ctx;
	*mine = gettid();
	pthread_setname_np(pthread_self(), names[mine - numbers]);
	close(open("/etc/passwd", O_RDONLY));
	while (used() < seconds) {
		act();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	seconds = argc > 1 ? atof(argv[1]) : 1;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, burner, &numbers[i]);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
	}
	printf("%d %d %d\n", getpid(), numbers[0], numbers[1]);
	return 0;
}
