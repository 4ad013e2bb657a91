/* SPDX-License-Identifier: MIT
 * Descriptors that a peer passes and that do not let themselves be closed: they stop nobody, neither in a
 * message that may have some, nor in one that may not, nor in one that is never read.
 */
#include "raw_client.h"

#include "base/base.h"
#include "stuck.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define UNPRIVILEGED 65534

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

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static int daemon_entries(const char *what)
{
	char path[64];
	int n = 0;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)daemon_.pid, what);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir)) {
		n++;
	}
	closedir(dir);
	return n;
}

/* Within 20 s; what is stuck here is so for longer. */
static void still_answers(void)
{
	int fd = control_connect(&daemon_);
	uint8_t mem[64];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_PING, 1);
	call(fd, &w, &reply);
	assert_int_equal(reply.status, 0);
	close(fd);
}

static size_t message(uint8_t mem[16], uint16_t type)
{
	struct proto_writer w;
	proto_begin(&w, mem, 16, type, 5);
	return (size_t)proto_end(&w);
}

static int attached(void)
{
	uint8_t mem[64];
	struct proto_writer w;
	int fd = proto_connect(daemon_.dir, "provider");
	assert_true(fd >= 0);
	proto_begin(&w, mem, sizeof mem, PROTO_HELLO, 1);
	proto_put_u32(&w, PROTO_TAG_VERSION, PROTO_VERSION);
	call(fd, &w, &reply);
	for (int i = 0; i < reply.fd_count; i++) {
		close(reply.fds[i]);
	}
	return fd;
}

static bool is_closed(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	return poll(&p, 1, timeout_ms) == 1;
}

/* The daemon takes no notice before it has the last reference. */
static int pass_lingering(int sock, const uint8_t *p, size_t n)
{
	assert_int_equal(kill(daemon_.pid, SIGSTOP), 0);
	int peer = lingering_send(sock, p, n);
	assert_int_equal(kill(daemon_.pid, SIGCONT), 0);
	return peer;
}

static void a_message_that_may_have_none_costs_its_sender_the_connection(void **state)
{
	uint8_t mem[16];
	size_t n = message(mem, PROTO_PING);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0   ? control_connect(&daemon_)
			 : i == 1 ? proto_connect(daemon_.dir, "provider")
				  : attached();
		int peer = pass_lingering(fd, mem, n);
		still_answers();
		assert_true(is_closed(fd, 10000));
		close(fd);
		still_answers();
		close(peer);
	}
}

static void a_message_that_is_never_read_stops_nobody(void **state)
{
	uint8_t mem[16], bad[16] = {0};
	size_t n = message(mem, PROTO_PING);
	for (int i = 0; i < 6; i++) {
		int fd = i % 2 ? control_connect(&daemon_) : attached();
		/* One that costs the connection, which still has the other in it then; or the peer ends it. */
		assert_int_equal(kill(daemon_.pid, SIGSTOP), 0);
		for (int k = 0; k < (i < 2 ? 1 : 100); k++) {
			assert_int_equal(proto_send(fd, i < 2 ? bad : mem, i < 2 ? 11 : n, NULL, 0), 0);
		}
		int peer = lingering_send(fd, mem, n);
		assert_int_equal(kill(daemon_.pid, SIGCONT), 0);
		if (i >= 4) {
			shutdown(fd, SHUT_WR);
		} else {
			close(fd);
		}
		still_answers();
		if (i >= 4) {
			close(fd);
			still_answers();
		}
		close(peer);
	}
}

static uint32_t answer_to_adopt(int sock)
{
	uint32_t status = 0xFFFF;
	assert_true(receive(sock, &reply, 20000));
	assert_int_equal(reply.m.type, PROTO_ADOPT | PROTO_REPLY);
	assert_true(proto_get_u32(&reply.m, PROTO_TAG_STATUS, &status));
	return status;
}

static void what_is_no_pool_is_not_adopted_and_stops_nobody(void **state)
{
	uint8_t mem[16];
	int fd = attached();
	/* Afterwards the connection is as good as before, also for the next one. */
	for (int i = 0; i < 3; i++) {
		int peer = pass_lingering(fd, mem, message(mem, PROTO_ADOPT));
		assert_int_equal(answer_to_adopt(fd), 87);
		still_answers();
		close(peer);
	}
	size_t n = message(mem, PROTO_PING);
	assert_int_equal(proto_send(fd, mem, n, NULL, 0), 0);
	assert_true(receive(fd, &reply, 10000));
	assert_int_equal(reply.m.type, PROTO_PING | PROTO_REPLY);
	close(fd);
}

/* Many of them: neither descriptors nor threads nor children of the daemon grow with their number. */
static void hundreds_of_them_leave_nothing_behind(void **state)
{
	enum { MANY = 300 };
	static int peer[MANY];
	uint8_t mem[16];
	size_t n = message(mem, PROTO_PING);
	still_answers();
	int fds = daemon_entries("fd"), threads = daemon_entries("task");
	for (int i = 0; i < MANY; i++) {
		int sock = i % 2 ? control_connect(&daemon_) : attached();
		peer[i] = pass_lingering(sock, mem, n);
		close(sock);
		if (i % 50 == 0) {
			still_answers();
		}
	}
	still_answers();
	for (int i = 0; i < 500 && (daemon_entries("fd") > fds || daemon_entries("task") > threads); i++) {
		pause_ms(20);
	}
	assert_true(daemon_entries("fd") <= fds);
	assert_true(daemon_entries("task") <= threads);
	for (int i = 0; i < MANY; i++) {
		close(peer[i]);
	}
}

/* ---- a file system that does not answer -------------------------------------------------------- */

/* A process that passes a file of it, and will wait for it to be closed itself. */
static pid_t offer(const struct stuck_mount *m, uint32_t expect)
{
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char path[96], byte = 0;
		int sock = attached();
		if (reply.status == expect && expect != 0) {
			byte = 1;
		} else if (reply.status == 0) {
			snprintf(path, sizeof path, "%s/file", m->dir);
			int fd = open(path, O_RDWR);
			uint8_t mem[16];
			size_t n = message(mem, PROTO_ADOPT);
			byte = fd >= 0 && send_with(sock, mem, n, &fd, 1) == 0 && answer_to_adopt(sock) == 87;
		}
		ssize_t w = write(ready[1], &byte, 1);
		(void)w;
		_exit(0);
	}
	char byte = 0;
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return byte == 1 ? pid : -pid;
}

static void a_file_whose_close_waits_for_its_server_stops_nobody(void **state)
{
	struct stuck_mount m;
	pid_t pid[10];
	int n = 0;
	if (!stuck_mount(&m)) {
		print_message("needs root and /dev/fuse\n");
		skip();
	}
	for (; n < 4; n++) {
		pid[n] = offer(&m, 0);
		assert_true(pid[n] > 0);
		still_answers();
	}
	/* Who has so many of them cannot attach until these are closed. */
	int sock = -1;
	for (int i = 0; i < 500; i++) {
		sock = attached();
		close(sock);
		if (reply.status != 0) {
			break;
		}
		pause_ms(20);
	}
	assert_int_equal(reply.status, 1450);
	still_answers();
	stuck_release(&m);
	for (int i = 0; i < 500; i++) {
		sock = attached();
		close(sock);
		if (reply.status == 0) {
			break;
		}
		pause_ms(20);
	}
	assert_int_equal(reply.status, 0);
	for (int i = 0; i < n; i++) {
		waitpid(pid[i], NULL, 0);
	}
	stuck_unmount(&m);
}

/* The daemon can still leave. */
static void a_file_whose_close_waits_does_not_keep_the_daemon(void **state)
{
	struct daemon before = daemon_;
	struct stuck_mount m;
	if (!stuck_mount(&m)) {
		print_message("needs root and /dev/fuse\n");
		skip();
	}
	daemon_start(&daemon_);
	pid_t pid = offer(&m, 0);
	assert_true(pid > 0);
	daemon_stop(&daemon_);
	daemon_ = before;
	stuck_unmount(&m);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_that_may_have_none_costs_its_sender_the_connection),
		cmocka_unit_test(a_message_that_is_never_read_stops_nobody),
		cmocka_unit_test(what_is_no_pool_is_not_adopted_and_stops_nobody),
		cmocka_unit_test(hundreds_of_them_leave_nothing_behind),
		cmocka_unit_test(a_file_whose_close_waits_for_its_server_stops_nobody),
		cmocka_unit_test(a_file_whose_close_waits_does_not_keep_the_daemon),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
