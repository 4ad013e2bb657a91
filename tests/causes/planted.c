/* SPDX-License-Identifier: MIT
 * Programs that lose their time to one known cause, for a while, for the tests of report's first lines. Each prints
 * its cause and the ids of the threads that lose, of which one has to be named: "lock 12 13 14".
 *
 * planted lock SECONDS THREADS         a mutex that threads hold while they work
 * planted futex SECONDS THREADS        the same of a lock that the program made of a futex
 * planted unix SECONDS MILLISECONDS    as peer, over a Unix socket
 * planted fsync SECONDS DIRECTORY      a thread that writes a little and calls fsync
 * planted neighbour SECONDS            a process that computes, and another one on its processor
 * planted faults SECONDS               memory mapped, touched and unmapped
 * planted peer SECONDS MILLISECONDS    a client whose server takes so long for each answer
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

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

static int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* ---- a lock ---------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int ids[THREADS_MAX];

static void *convoy(void *number)
{
	ids[(size_t)number] = thread_id();
	pthread_barrier_wait(&ready);
	while (now() < end) {
		pthread_mutex_lock(&lock);
		usleep(2000); /* as if it waited for something else while it holds the lock */
		work(0.0005);
		pthread_mutex_unlock(&lock);
		work(0.0001);
	}
	return NULL;
}

/* 0: free, 1: taken, 2: taken, and somebody waits (Drepper, Futexes Are Tricky). */
static _Atomic unsigned hand_made;

__attribute__((noinline)) static void take_hand_made(void)
{
	unsigned was = 0;
	if (!atomic_compare_exchange_strong(&hand_made, &was, 1)) {
		while (atomic_exchange(&hand_made, 2) != 0) {
			syscall(SYS_futex, &hand_made, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
		}
	}
}

static void *futex_convoy(void *number)
{
	ids[(size_t)number] = thread_id();
	pthread_barrier_wait(&ready);
	while (now() < end) {
		take_hand_made();
		usleep(2000);
		work(0.0005);
		if (atomic_exchange(&hand_made, 0) == 2) {
			syscall(SYS_futex, &hand_made, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		}
		work(0.0001);
	}
	return NULL;
}

static void plant_lock(const char *word, void *(*run)(void *), size_t threads)
{
	pthread_t t[THREADS_MAX];
	pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
	for (size_t i = 0; i < threads; i++) {
		need(pthread_create(&t[i], NULL, run, (void *)i) == 0, "pthread_create");
	}
	pthread_barrier_wait(&ready);
	printf("%s", word);
	for (size_t i = 0; i < threads; i++) {
		printf(" %d", ids[i]);
	}
	printf("\n");
	fflush(stdout);
	for (size_t i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
	}
}

/* ---- fsync ----------------------------------------------------------------------------------------- */

static void *flusher(void *directory)
{
	char path[4096], line[512];
	snprintf(path, sizeof path, "%s/planted-%d", (const char *)directory, (int)getpid());
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0, path);
	memset(line, 'x', sizeof line);
	printf("fsync %d\n", thread_id());
	fflush(stdout);
	while (now() < end) {
		need(write(fd, line, sizeof line) == (ssize_t)sizeof line && fsync(fd) == 0, path);
		work(0.0002);
	}
	close(fd);
	unlink(path);
	return NULL;
}

/* ---- a neighbour ----------------------------------------------------------------------------------- */

static void plant_neighbour(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	need(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
	pid_t other = fork();
	need(other >= 0, "fork");
	if (other == 0) {
		prctl(PR_SET_NAME, "neighbour");
		work(end - now());
		_exit(0);
	}
	printf("neighbour %d\n", thread_id());
	fflush(stdout);
	while (now() < end) {
		work(0.003);
		usleep(500);
	}
	waitpid(other, NULL, 0);
}

/* ---- faults ---------------------------------------------------------------------------------------- */

static void plant_faults(void)
{
	size_t size = 4u << 20;
	printf("faults %d\n", thread_id());
	fflush(stdout);
	while (now() < end) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		need(p != MAP_FAILED, "mmap");
		madvise(p, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += 4096) {
			p[i] = 1;
		}
		munmap(p, size);
	}
}

/* ---- a peer ---------------------------------------------------------------------------------------- */

static void serve(int listener, unsigned ms)
{
	char request[64];
	prctl(PR_SET_NAME, "server");
	int fd = accept(listener, NULL, NULL);
	while (fd >= 0 && read(fd, request, sizeof request) > 0) {
		usleep(ms * 1000);
		if (write(fd, "answer", 6) != 6) {
			break;
		}
	}
	_exit(0);
}

static void plant_peer(unsigned ms)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	char answer[64];
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	need(listener >= 0 && bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 1) == 0, "listen");
	need(getsockname(listener, (struct sockaddr *)&a, &n) == 0, "getsockname");
	pid_t server = fork();
	need(server >= 0, "fork");
	if (server == 0) {
		serve(listener, ms);
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	need(connect(fd, (struct sockaddr *)&a, n) == 0, "connect");
	printf("peer %d\n", thread_id());
	fflush(stdout);
	while (now() < end) {
		need(write(fd, "request", 7) == 7 && read(fd, answer, sizeof answer) > 0, "request");
		work(0.001);
	}
	close(fd);
	waitpid(server, NULL, 0);
}

static void plant_unix(unsigned ms)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char answer[64];
	/* Without a name in the file system: nobody has to remove it. */
	socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				  (size_t)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "planted-%d", (int)getpid()));
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	need(listener >= 0 && bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 1) == 0, "listen");
	pid_t server = fork();
	need(server >= 0, "fork");
	if (server == 0) {
		serve(listener, ms);
	}
	usleep(50000); /* until it waits */
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	need(connect(fd, (struct sockaddr *)&a, n) == 0, "connect");
	printf("unix %d\n", thread_id());
	fflush(stdout);
	while (now() < end) {
		need(write(fd, "request", 7) == 7 && read(fd, answer, sizeof answer) > 0, "request");
		work(0.001);
	}
	close(fd);
	waitpid(server, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "planted CAUSE SECONDS [MORE]\n");
		return 2;
	}
	const char *cause = argv[1], *more = argc > 3 ? argv[3] : NULL;
	end = now() + atof(argv[2]);
	if (strcmp(cause, "lock") == 0 || strcmp(cause, "futex") == 0) {
		int threads = more ? atoi(more) : 6;
		plant_lock(cause, cause[0] == 'f' ? futex_convoy : convoy,
			   threads < 2             ? 2
			   : threads > THREADS_MAX ? THREADS_MAX
						   : (size_t)threads);
	} else if (strcmp(cause, "fsync") == 0) {
		pthread_t t;
		need(pthread_create(&t, NULL, flusher, (void *)(more ? more : ".")) == 0, "pthread_create");
		pthread_join(t, NULL);
	} else if (strcmp(cause, "neighbour") == 0) {
		plant_neighbour();
	} else if (strcmp(cause, "faults") == 0) {
		plant_faults();
	} else if (strcmp(cause, "unix") == 0) {
		plant_unix(more ? (unsigned)atoi(more) : 50);
	} else if (strcmp(cause, "peer") == 0) {
		plant_peer(more ? (unsigned)atoi(more) : 50);
	} else {
		fprintf(stderr, "planted: what is %s?\n", cause);
		return 2;
	}
	return 0;
}
