/* SPDX-License-Identifier: MIT
 * Programs that nothing is wrong with, for the tests of report's first lines.
 *
 * healthy idle SECONDS       a server that waits for connections, and asks itself for something now and then
 * healthy busy SECONDS       one thread that computes
 * healthy pool SECONDS       threads that wait for work, one that hands it out
 * healthy rounds SECONDS     threads that work in rounds, and meet after each at a barrier that they made of a futex
 */
#include <arpa/inet.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double end;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work(double seconds)
{
	double until = now() + seconds;
	while (now() < until) {
	}
}

/* ---- a server -------------------------------------------------------------------------------------- */

static void *asks(void *address)
{
	char answer[64];
	while (now() < end) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)address, sizeof(struct sockaddr_in)) == 0 &&
		    write(fd, "request", 7) == 7 && read(fd, answer, sizeof answer) > 0) {
			usleep(200000); /* and keeps the connection that long */
		}
		close(fd);
	}
	return NULL;
}

static void idle(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	pthread_t t;
	char request[64];
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, n) < 0 || listen(listener, 8) < 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &n) < 0 || pthread_create(&t, NULL, asks, &a) != 0) {
		perror("listen");
		exit(1);
	}
	struct pollfd fds[2] = {{listener, POLLIN, 0}, {-1, POLLIN, 0}};
	while (now() < end) {
		if (poll(fds, 2, 100) <= 0) {
			continue;
		}
		if (fds[0].revents) {
			close(fds[1].fd);
			fds[1].fd = accept(listener, NULL, NULL);
		} else if (read(fds[1].fd, request, sizeof request) <= 0 || write(fds[1].fd, "answer", 6) != 6) {
			close(fds[1].fd);
			fds[1].fd = -1;
		}
	}
	pthread_join(t, NULL);
}

/* ---- rounds ---------------------------------------------------------------------------------------- */

#define MEMBERS 5u

static _Atomic unsigned arrived, round_number;

__attribute__((noinline)) static void meet(void)
{
	unsigned now_is = atomic_load(&round_number);
	if (atomic_fetch_add(&arrived, 1) == MEMBERS - 1) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&round_number, 1);
		syscall(SYS_futex, &round_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
		return;
	}
	while (atomic_load(&round_number) == now_is) {
		syscall(SYS_futex, &round_number, FUTEX_WAIT_PRIVATE, now_is, NULL, NULL, 0);
	}
}

static void *member(void *number)
{
	for (unsigned i = 0; i < 200; i++) {
		usleep(i % MEMBERS == (unsigned)(size_t)number ? 6000 : 1000); /* each is the last one in its turn */
		meet();
	}
	return NULL;
}

static void rounds(void)
{
	pthread_t t[MEMBERS];
	for (size_t i = 0; i < MEMBERS; i++) {
		if (pthread_create(&t[i], NULL, member, (void *)i) != 0) {
			exit(1);
		}
	}
	for (size_t i = 0; i < MEMBERS; i++) {
		pthread_join(t[i], NULL);
	}
}

/* ---- threads that wait for work -------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int jobs;
static int over;

static void *worker(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (jobs == 0 && !over) {
			pthread_cond_wait(&some, &lock);
		}
		if (over) {
			break;
		}
		jobs--;
		pthread_mutex_unlock(&lock);
		work(0.001);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void pool(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&t[i], NULL, worker, NULL) != 0) {
			perror("pthread_create");
			exit(1);
		}
	}
	while (now() < end) {
		usleep(10000);
		pthread_mutex_lock(&lock);
		jobs += 2;
		pthread_cond_broadcast(&some);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_broadcast(&some);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
}

int main(int argc, char **argv)
{
	end = now() + (argc > 2 ? atof(argv[2]) : 1);
	if (argc > 1 && strcmp(argv[1], "idle") == 0) {
		idle();
	} else if (argc > 1 && strcmp(argv[1], "busy") == 0) {
		work(end - now());
	} else if (argc > 1 && strcmp(argv[1], "pool") == 0) {
		pool();
	} else if (argc > 1 && strcmp(argv[1], "rounds") == 0) {
		rounds();
	} else {
		fprintf(stderr, "healthy idle|busy|pool|rounds SECONDS\n");
		return 2;
	}
	return 0;
}
