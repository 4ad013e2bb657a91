/* SPDX-License-Identifier: MIT
 * Processes in a pid namespace of their own, as in containers: their events come with the thread ids that
 * the daemon's namespace has, and whatever ids they claim, it costs the daemon next to nothing.
 */
#include "raw_client.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 400u
#define FORGED  40000u
#define KNOWN   60000u

static const struct guid prov = {{0xC2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static struct daemon daemon_;
static struct reply reply;

static int setup(void **state)
{
	daemon_start(&daemon_);
	return 0;
}

static int teardown(void **state)
{
	daemon_stop(&daemon_);
	return 0;
}

/* ---- the container ---------------------------------------------------------------------------- */

static struct provider inside;
static const struct ctl_entry *entry;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static int said[2], told[2];

#define must(x)                                                                 \
	do {                                                                    \
		if (!(x)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

static void write_one(uint16_t id, uint32_t tid)
{
	for (;;) {
		while (provider_poll(&inside, &reply, 0)) {
		}
		if (provider_write(&inside, entry, &(struct raw_event){.id = id, .tid = tid}, 0) == 0) {
			return;
		}
		nanosleep(&(struct timespec){0, 1000000}, NULL); /* the pool is full */
	}
}

static void *thread(void *arg)
{
	pthread_mutex_lock(&turn);
	write_one((uint16_t)(1 + (uintptr_t)arg), 0);
	pthread_mutex_unlock(&turn);
	pthread_barrier_wait(&all);
	for (;;) {
		pause();
	}
	return NULL;
}

static char tell(void)
{
	char byte = 'x';
	must(write(said[1], &byte, 1) == 1);
	must(read(told[0], &byte, 1) == 1);
	return byte;
}

/* Process 1 of a namespace. */
static void live_inside(void)
{
	int code;
	pthread_t t;
	pthread_attr_t small;
	must(getpid() == 1);
	provider_attach(&daemon_, &inside);
	entry = provider_register(&inside, 0, &prov, 0, NULL, 0, &code);
	must(code == 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++) {
		must(pthread_create(&t, &small, thread, (void *)i) == 0);
	}
	pthread_barrier_wait(&all);
	tell();
	for (uint32_t i = 0; i < FORGED; i++) {
		write_one(0, 1000000 + i);
	}
	while (tell() != 'q') {
		write_one(KNOWN, 0);
	}
	_exit(0);
}

/* The number of its process 1 here. */
static pid_t container_start(pid_t *ret_helper)
{
	int pids[2];
	pid_t pid;
	assert_int_equal(pipe(said), 0);
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(pids), 0);
	*ret_helper = fork();
	assert_true(*ret_helper >= 0);
	if (*ret_helper == 0) {
		must(unshare(CLONE_NEWPID) == 0);
		pid = fork();
		if (pid == 0) {
			live_inside();
		}
		must(write(pids[1], &pid, sizeof pid) == (ssize_t)sizeof pid);
		int status = -1;
		waitpid(pid, &status, 0);
		_exit(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
	}
	assert_int_equal(read(pids[0], &pid, sizeof pid), (ssize_t)sizeof pid);
	close(pids[0]);
	close(pids[1]);
	return pid;
}

static void heard(void)
{
	char byte;
	assert_int_equal(read(said[0], &byte, 1), 1);
}

static void go_on(const char *how)
{
	assert_int_equal(write(told[1], how, 1), 1);
}

static bool is_thread_of(pid_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, (pid_t)tid, 0) == 0;
}

/* The thread of the last event with that id. */
static uint32_t last_thread(const char *file, uint16_t id)
{
	struct etl_bytes f;
	uint32_t tid = 0;
	etl_load(file, &f);
	for (uint32_t i = 0; i < f.count; i++) {
		tid = le16_get(f.record[i] + 0x28) == id ? le32_get(f.record[i] + 8) : tid;
	}
	etl_free(&f);
	return tid;
}

/* How many of the threads' events in the file have an id of one of them, each its own. */
static uint32_t count_right(const char *file, pid_t pid, uint32_t *ret_events)
{
	struct etl_bytes f;
	uint32_t right = 0, seen[THREADS] = {0};
	*ret_events = 0;
	etl_load(file, &f);
	for (uint32_t i = 0; i < f.count; i++) {
		uint32_t tid = le32_get(f.record[i] + 8), id = le16_get(f.record[i] + 0x28);
		if (id == 0 || id > THREADS) {
			continue;
		}
		*ret_events += 1;
		bool twice = false;
		for (uint32_t k = 0; k < THREADS; k++) {
			twice = twice || (k != id - 1 && seen[k] == tid);
		}
		seen[id - 1] = tid;
		right += !twice && is_thread_of(pid, tid);
	}
	etl_free(&f);
	return right;
}

static void thread_ids_are_translated_and_inventing_them_costs_little(void **state)
{
	char file[200];
	uint64_t id;
	uint32_t events;
	pid_t helper;
	int status = -1;
	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
	}
	int fd = control_connect(&daemon_);
	snprintf(file, sizeof file, "%s/threads.etl", daemon_.dir);
	struct session_args args = {.name = "threads", .file = file, .mode = 1, .buffer_kb = 1024};
	assert_int_equal(session_start(fd, &args, &id), 0);
	assert_int_equal(session_enable(fd, &(struct enable_request){.id = id, .provider = &prov, .code = 1}), 0);
	pid_t pid = container_start(&helper);
	heard();
	assert_int_equal(session_control(fd, id, 3, NULL), 0); /* flush */
	uint32_t right = count_right(file, pid, &events);
	assert_int_equal(events, THREADS);
	/* A kernel that does not translate has etwd read them, which takes a moment; nothing is held up. */
	if (getenv("OPENETW_TEST_THREADS_SCANNED") == NULL) {
		assert_int_equal(right, THREADS);
	}
	go_on("x");
	heard();
	struct proto_session s;
	/* Answered within 20 s. To look for each of them among 400 threads takes milliseconds. */
	assert_int_equal(session_control(fd, id, 3, NULL), 0);
	assert_int_equal(session_control(fd, id, 0, &s), 0);
	assert_int_equal(s.events, THREADS + FORGED);
	assert_int_equal(s.events_lost, 0);
	char known[200];
	snprintf(known, sizeof known, "%s/known.etl", daemon_.dir);
	uint32_t tid = 0;
	assert_int_equal(session_control(fd, id, 1, NULL), 0);
	for (int i = 0; i < 300 && tid != (uint32_t)pid; i++) {
		args = (struct session_args){.name = "known", .file = known, .mode = 1};
		assert_int_equal(session_start(fd, &args, &id), 0);
		assert_int_equal(session_enable(fd, &(struct enable_request){.id = id, .provider = &prov, .code = 1}),
				 0);
		go_on("x");
		heard();
		assert_int_equal(session_control(fd, id, 1, NULL), 0);
		tid = last_thread(known, KNOWN);
	}
	assert_int_equal(tid, pid);
	go_on("q");
	assert_int_equal(waitpid(helper, &status, 0), helper);
	assert_int_equal(status, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_ids_are_translated_and_inventing_them_costs_little),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
