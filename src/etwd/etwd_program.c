/* SPDX-License-Identifier: MIT
 * Programs that etwd has do something: found beside it, run with nothing of its own.
 */
#include "etwd/etwd_schedule.h"
#include "etwd/etwd_start.h"

#include <stdio.h>
#include <sys/stat.h>

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
		int k = snprintf(out, cap, "%s%s%s", **places == '/' ? "" : here, *places, name);
		if (k > 0 && (size_t)k < cap && etwd_program_usable(out)) {
			return true;
		}
	}
	return false;
}

bool etwd_program_find_cli(char *out, size_t cap)
{
	static const char *const places[] = {"", "../../tools/", OPENETW_BINDIR "/", NULL};
	return etwd_program_find("openetw", places, out, cap);
}

int etwd_program_run(const char *program, char *const *argv, char *const *env, int file)
{
	struct etwd_start s = {.program = program, .argv = argv, .env = env, .fd = {file, -1}, .quiet = true};
	pid_t pid;
	int status_fd, status = etwd_start(&s, &pid, &status_fd);
	if (status < 0) {
		return status;
	}
	status = etwd_start_status(status_fd, true);
	close(status_fd);
	return status;
}
