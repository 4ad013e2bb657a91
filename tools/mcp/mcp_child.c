/* SPDX-License-Identifier: MIT
 * A verb of openetw in a process of its own, for tools that are such a verb.
 */
#include "tools/mcp/mcp_tool.h"

#include "tools/common/unpacked.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS     100
#define PATIENCE_MS 2000

/* The child's environment: which descriptors are its files. False: no memory. */
static bool hand_over(const int *files, int count)
{
	struct strbuf list = {0};
	for (int i = 0; i < count; i++) {
		strbuf_addf(&list, "%s%d", i ? "," : "", files[i]);
		if (fcntl(files[i], F_SETFD, 0) < 0) {
			return false;
		}
	}
	return count == 0 || (!list.failed && setenv(CLI_HELD, list.s, 1) == 0);
}

static void child(int out, char *const *words, const int *files, int file_count)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cli_child_signals();
	cli_work_hand_over();
	if (dup2(out, 1) < 0 || !hand_over(files, file_count)) {
		_exit(126);
	}
	execv("/proc/self/exe", words);
	_exit(127);
}

/* Takes what comes until it ends, or nobody wants it any more. */
static void take(int in, pid_t pid, size_t most, struct strbuf *out, bool *ret_cut)
{
	char block[4096];
	size_t from = out->len;
	int waited = -1;
	for (;;) {
		struct pollfd p = {.fd = in, .events = POLLIN};
		int ready = poll(&p, 1, LOOK_MS);
		if (cli_signal_caught() && waited < 0) {
			kill(pid, SIGINT);
			waited = 0;
		}
		if (waited >= 0 && (waited += LOOK_MS) > PATIENCE_MS) {
			kill(pid, SIGKILL);
		}
		if (ready <= 0) {
			continue;
		}
		ssize_t n = read(in, block, sizeof block);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return;
		}
		size_t room = most - BASE_MIN(out->len - from, most);
		strbuf_add(out, block, BASE_MIN((size_t)n, room));
		if ((size_t)n > room) {
			*ret_cut = true; /* the rest of it is not wanted */
			kill(pid, SIGKILL);
			return;
		}
	}
}

int mcp_child_run(const struct cli_args *a, char *const *words, const int *files, int file_count, size_t most,
		  struct strbuf *out, bool *ret_cut)
{
	int ends[2], status = 0;
	*ret_cut = false;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return cli_tell(a, "cannot start openetw %s: %s", words[1], strerror(errno)), -1;
	}
	pid_t pid = fork();
	if (pid == 0) {
		child(ends[1], words, files, file_count);
	}
	base_close(&ends[1]);
	if (pid < 0) {
		base_close(&ends[0]);
		return cli_tell(a, "cannot start openetw %s: %s", words[1], strerror(errno)), -1;
	}
	take(ends[0], pid, most, out, ret_cut);
	base_close(&ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (cli_signal_caught()) {
		return cli_tell(a, "cancelled"), -1;
	}
	if (*ret_cut) {
		return 0;
	}
	if (!WIFEXITED(status)) {
		return cli_tell(a, "openetw %s ended by signal %d", words[1], WTERMSIG(status)), -1;
	}
	return WEXITSTATUS(status);
}
