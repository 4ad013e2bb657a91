/* SPDX-License-Identifier: MIT
 * A daemon keeps nothing of whoever starts it.
 */
#include "raw_client.h"
#include "etwd/etwd_clean.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[64], lock_path[96];
static int pipe_fd = -1;

/* As a script does it: a lock held as descriptor 9, a pipe that somebody reads, a place of its own. */
static pid_t start(bool foreground)
{
	int ready[2], words[2];
	snprintf(dir, sizeof dir, "/tmp/openetw-etwd-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(lock_path, sizeof lock_path, "%s/script.lock", dir);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(words), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int lock = open(lock_path, O_RDWR | O_CREAT, 0600);
		sigset_t set;
		char number[16];
		if (lock < 0 || flock(lock, LOCK_EX) < 0 || dup2(lock, 9) < 0 || dup2(words[1], 200) < 0 ||
		    chdir(dir) < 0) {
			_exit(3);
		}
		close(ready[0]);
		close(words[0]);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		sigaddset(&set, SIGTERM);
		sigprocmask(SIG_BLOCK, &set, NULL);
		signal(SIGCHLD, SIG_IGN);
		signal(SIGUSR1, SIG_IGN);
		snprintf(number, sizeof number, "%d", ready[1]);
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		dup2(null, 2);
		close(0);
		execl(getenv("OPENETW_ETWD"), "etwd", "--idle-exit=0", "--runtime-dir", ".", "--ready-fd", number,
		      foreground ? "--foreground" : (char *)NULL, (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	close(words[1]);
	pipe_fd = words[0];
	char byte = 1;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 0);
	close(ready[0]);
	if (!foreground) {
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		char path[96];
		snprintf(path, sizeof path, "%s/pid", dir);
		FILE *f = fopen(path, "r");
		assert_non_null(f);
		assert_int_equal(fscanf(f, "%d", &pid), 1);
		fclose(f);
	}
	return pid;
}

static uint64_t status_of(pid_t pid, const char *name)
{
	char path[64], line[256];
	unsigned long long v = ~0ull;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, name, strlen(name)) == 0) {
			sscanf(line + strlen(name), ": %llx", &v);
		}
	}
	fclose(f);
	return v;
}

static void stop(pid_t pid)
{
	char command[128];
	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++) {
		usleep(10000);
	}
	assert_int_equal(kill(pid, 0), -1);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

#define BIT(sig) (1ull << ((sig)-1))

static void nothing_of_the_starters_stays_with_it(void **state)
{
	for (int foreground = 0; foreground < 2; foreground++) {
		char link[64], cwd[64] = "";
		pid_t pid = start(foreground);
		/* Its starter is gone, and what that had is nobody's. */
		int lock = open(lock_path, O_RDWR);
		assert_true(lock >= 0);
		assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
		close(lock);
		struct pollfd p = {.fd = pipe_fd, .events = POLLIN};
		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_true(p.revents & POLLHUP);
		close(pipe_fd);
		snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
		assert_true(readlink(link, cwd, sizeof cwd - 1) > 0);
		assert_string_equal(cwd, "/");
		assert_int_equal(status_of(pid, "SigBlk"), BIT(SIGTERM) | BIT(SIGINT)); /* it reads these */
		assert_int_equal(status_of(pid, "SigIgn"), BIT(SIGPIPE) | BIT(SIGHUP) | BIT(SIGXFSZ));
		stop(pid);
	}
}

static void variables_that_nobody_needs_are_gone(void **state)
{
	int status = -1;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("OPENETW_ROOT", "/somewhere", 1);
		setenv("LC_ALL", "C", 1);
		setenv("TZ", "UTC", 1);
		setenv("SSH_AUTH_SOCK", "/tmp/agent", 1);
		setenv("A_SECRET_TOKEN", "x", 1);
		setenv("TZX", "x", 1);
		setenv("HOME_OF", "x", 1);
		setenv("LD_PRELOAD", "x.so", 1);
		etwd_clean_environment();
		bool good = getenv("OPENETW_ROOT") && getenv("LC_ALL") && getenv("TZ") && !getenv("SSH_AUTH_SOCK") &&
			    !getenv("A_SECRET_TOKEN") && !getenv("TZX") && !getenv("HOME_OF") && !getenv("LD_PRELOAD");
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_the_starters_stays_with_it),
		cmocka_unit_test(variables_that_nobody_needs_are_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
