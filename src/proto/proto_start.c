/* SPDX-License-Identifier: MIT
 * On-demand start of etwd. Only controllers and consumers come here; providers never start anything.
 */
#include "proto/proto.h"

#include "base/runtime_dir.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define START_TIMEOUT_MS 10000

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* `place` may be absolute; else it is seen from `here`. */
static bool find_in(const char *here, const char *place, char *out, size_t cap)
{
	int n = place[0] == '/' ? snprintf(out, cap, "%s/etwd", place) : snprintf(out, cap, "%s/%s/etwd", here, place);
	return n > 0 && (size_t)n < cap && is_program(out);
}

/* OPENETW_ETWD, then from where this library or program lies: beside it, in the build tree, where programs are
 * when it is installed; then where programs were to be installed. */
static int find_etwd(char *out, size_t cap)
{
	const char *env = getauxval(AT_SECURE) ? NULL : getenv("OPENETW_ETWD");
	if (env && env[0] == '/') {
		int n = snprintf(out, cap, "%s", env);
		return n > 0 && (size_t)n < cap && is_program(out) ? 0 : -ENOENT;
	}
	Dl_info info;
	char here[4096];
	if (dladdr((void *)(uintptr_t)&is_program, &info) && info.dli_fname && realpath(info.dli_fname, here)) {
		static const char *const places[] = {".", "src/etwd", "../src/etwd", OPENETW_BINDIR_FROM_LIB};
		*strrchr(here, '/') = 0;
		for (size_t i = 0; i < BASE_ARRAY_LEN(places); i++) {
			if (find_in(here, places[i], out, cap)) {
				return 0;
			}
		}
	}
	return find_in("", OPENETW_BINDIR, out, cap) ? 0 : -ENOENT;
}

/* etwd daemonises itself; the byte on the pipe says that its sockets accept. */
static int spawn(const char *program, const char *dir, bool system, struct diag *d)
{
	int ready[2];
	if (pipe2(ready, O_CLOEXEC) < 0) {
		return -errno;
	}
	pid_t pid = fork();
	if (pid < 0) {
		int err = -errno;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	if (pid == 0) {
		/* The daemon must outlive this process's terminal and not inherit its streams. */
		setsid();
		int null = open("/dev/null", O_RDWR);
		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 1);
			dup2(null, 2);
		}
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		int fd = fcntl(ready[1], F_DUPFD, 3); /* without CLOEXEC */
		char number[16];
		snprintf(number, sizeof number, "%d", fd);
		execl(program, "etwd", "--runtime-dir", dir, "--ready-fd", number, system ? "--system" : (char *)NULL,
		      (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	struct pollfd pfd = {.fd = ready[0], .events = POLLIN};
	int r;
	do {
		r = poll(&pfd, 1, START_TIMEOUT_MS);
	} while (r < 0 && errno == EINTR);
	char byte;
	bool ok = r > 0 && read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (!ok) {
		diag_at(d, UINT64_MAX, "etwd (%s) did not start; see %s/etwd.log", program, dir);
		return -ETIMEDOUT;
	}
	return 0;
}

bool proto_system_wanted(void)
{
	const char *env = getauxval(AT_SECURE) ? NULL : getenv("OPENETW_INSTANCE");
	return env && strcmp(env, "system") == 0;
}

static int no_system_instance(bool root_only, struct diag *d)
{
	diag_at(d, UINT64_MAX,
		"the instance for all users does not run; root starts it with 'etwd --system' "
		"or 'openetw --system start …'");
	return root_only ? -EACCES : -ECONNREFUSED;
}

int proto_connect_control(bool start, struct diag *d)
{
	char dir[512];
	bool system = proto_system_wanted(), root_only = start && system && geteuid() != 0;
	start = start && !root_only; /* it serves everybody */
	int r = runtime_dir(system, start, dir, sizeof dir);
	if (system && r == -ENOENT) {
		return no_system_instance(root_only, d);
	}
	if (r < 0) {
		diag_at(d, UINT64_MAX, "cannot use the runtime directory %s: %s", dir, strerror(-r));
		return r == -ENOENT ? -ECONNREFUSED : r;
	}
	int fd = proto_connect(dir, "control");
	if (fd >= 0) {
		return fd;
	}
	if (system && fd == -EACCES) {
		diag_at(d, UINT64_MAX,
			"the instance for all users is controlled by root and by the group "
			"of %s/control, which you are not in",
			dir);
		return fd;
	}
	if (system && !start && (fd == -ENOENT || fd == -ECONNREFUSED)) {
		return no_system_instance(root_only, d);
	}
	if (!start || (fd != -ENOENT && fd != -ECONNREFUSED)) {
		diag_at(d, UINT64_MAX, "no etwd answers in %s: %s", dir, strerror(-fd));
		return fd == -ENOENT ? -ECONNREFUSED : fd;
	}
	char program[4096];
	r = find_etwd(program, sizeof program);
	if (r < 0) {
		diag_at(d, UINT64_MAX, "etwd was not found; set OPENETW_ETWD to its full path");
		return r;
	}
	/* Two controllers may come here at once: the second etwd sees the lock held, waits for the first
	 * one's socket and reports ready too. */
	r = spawn(program, dir, system, d);
	if (r < 0) {
		return r;
	}
	fd = proto_connect(dir, "control");
	if (fd < 0) {
		diag_at(d, UINT64_MAX, "etwd started but does not answer in %s: %s", dir, strerror(-fd));
	}
	return fd;
}
