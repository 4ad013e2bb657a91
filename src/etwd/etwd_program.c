/* SPDX-License-Identifier: MIT
 * Programs that etwd has do something: found beside it, run with nothing of its own.
 */
#include "etwd/etwd.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

bool etwd_program_usable(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool etwd_program_find(const char *name, const char *const *places, char *out, size_t cap)
{
	char here[4000];
	ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
	if (n <= 0) {
		return false;
	}
	here[n] = 0;
	*(strrchr(here, '/') + 1) = 0;
	for (; *places; places++) {
		int k = snprintf(out, cap, "%s%s%s", here, *places, name);
		if (k > 0 && (size_t)k < cap && etwd_program_usable(out)) {
			return true;
		}
	}
	return false;
}

bool etwd_program_find_cli(char *out, size_t cap)
{
	/* Here, in the build tree, in the prefix. */
	static const char *const places[] = {"", "../cli/", "../bin/", "../../bin/", NULL};
	return etwd_program_find("openetw", places, out, cap);
}

int etwd_program_run(const char *program, char *const *argv, char *const *env)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;
	int status = 0;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	for (int fd = 0; fd < 3; fd++) {
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	}
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	int err = posix_spawn(&pid, program, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err != 0) {
		return -err;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
