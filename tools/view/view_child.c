/* SPDX-License-Identifier: MIT */
#include "tools/view/view_child.h"
#include "tools/common/json_put.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS     100
#define PATIENCE_MS 2000
#define ERR_MOST    4000u

extern char **environ;

/* posix_spawn: other threads of this process may hold any lock, so nothing of ours runs between fork and exec. */
static int spawn(char *const *words, int out, int err, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, err, 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	int failed = posix_spawn(ret, "/proc/self/exe", &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -failed;
}

/* Something that came. False: the other end is closed. */
static bool take(int fd, struct strbuf *b, size_t most, bool *ret_full)
{
	char block[8192];
	ssize_t n = read(fd, block, sizeof block);
	if (n < 0 && errno == EINTR) {
		return true;
	}
	if (n > 0) {
		size_t room = most - BASE_MIN(b->len, most);
		strbuf_add(b, block, BASE_MIN((size_t)n, room));
		*ret_full = *ret_full || (size_t)n > room;
	}
	return n > 0;
}

static void listen_to(int out_fd, int err_fd, pid_t pid, size_t most, struct strbuf *out, struct strbuf *err,
		      bool (*gone)(void *context), void *context, bool *ret_ended)
{
	struct pollfd p[2] = {{.fd = out_fd, .events = POLLIN}, {.fd = err_fd, .events = POLLIN}};
	bool full = false, cut = false;
	int waited = -1;
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		int ready = poll(p, 2, LOOK_MS);
		if (waited < 0 && (full || gone(context))) {
			kill(pid, SIGINT);
			*ret_ended = true;
			waited = 0;
		}
		if (waited >= 0 && (waited += LOOK_MS) > PATIENCE_MS) {
			kill(pid, SIGKILL);
		}
		if (ready <= 0) {
			continue;
		}
		if ((p[0].revents && !take(out_fd, out, most, &full))) {
			p[0].fd = -1;
		}
		if ((p[1].revents && !take(err_fd, err, ERR_MOST, &cut))) {
			p[1].fd = -1;
		}
	}
}

int view_child_run(char *const *words, size_t most, struct strbuf *out, struct strbuf *err, bool (*gone)(void *context),
		   void *context)
{
	int o[2], e[2], status = 0;
	bool ended = false;
	pid_t pid;
	if (pipe2(o, O_CLOEXEC) < 0) {
		return -errno - 1;
	}
	if (pipe2(e, O_CLOEXEC) < 0) {
		int failed = errno;
		close(o[0]);
		close(o[1]);
		return -failed - 1;
	}
	int failed = spawn(words, o[1], e[1], &pid);
	close(o[1]);
	close(e[1]);
	if (failed == 0) {
		listen_to(o[0], e[0], pid, most, out, err, gone, context, &ended);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		}
	}
	close(o[0]);
	close(e[0]);
	return failed ? failed - 1 : ended || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

void view_child_objects(struct strbuf *json, const char *printed)
{
	for (const char *line = printed; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t n = end ? (size_t)(end - line) : strlen(line);
		if (n && line[0] == '{' && line[n - 1] == '}') {
			json_put_comma(json);
			strbuf_add(json, line, n);
		}
		line = end ? end + 1 : NULL;
	}
}
