/* SPDX-License-Identifier: MIT */
#include "etwd/etwd_start.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STARTER_FD  3
#define FDS_MAX     4u /* the text, the pipe, and those of the program */
#define PROGRAM_FD  3
#define HIGH_FD     10
#define TEXT_MAX    (4u << 20)
#define STRINGS_MAX 16384u

static int starter = -1;

/* What it is told; the strings are in a memory file: program, arguments, environment. */
struct request {
	uint32_t bytes, argc, envc;
	uint32_t fds; /* of the program: bit 0, bit 1 */
	uint32_t quiet;
};

/* ---- a message with descriptors ------------------------------------------------------------------ */

static int send_request(int fd, const struct request *r, const int *fds, unsigned n)
{
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))] = {0};
	struct iovec part = {(void *)(uintptr_t)r, sizeof *r};
	struct msghdr h = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	ssize_t sent;
	do {
		sent = sendmsg(fd, &h, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof *r ? 0 : -errno;
}

/* How many descriptors came; -1: etwd is gone. */
static int take_request(int fd, struct request *ret, int fds[FDS_MAX])
{
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct iovec part = {ret, sizeof *ret};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	ssize_t n;
	do {
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	struct cmsghdr *c = n == (ssize_t)sizeof *ret ? CMSG_FIRSTHDR(&h) : NULL;
	if (n <= 0) {
		return -1;
	}
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
		return 0;
	}
	size_t count = BASE_MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), (size_t)FDS_MAX);
	memcpy(fds, CMSG_DATA(c), count * sizeof(int));
	return (int)count;
}

/* ---- the watcher --------------------------------------------------------------------------------- */

static bool split(char *text, size_t bytes, char **list, uint32_t count, size_t *inout_at)
{
	for (uint32_t i = 0; i < count; i++) {
		char *end = memchr(text + *inout_at, 0, bytes - *inout_at);
		if (!end) {
			return false;
		}
		list[i] = text + *inout_at;
		*inout_at = (size_t)(end + 1 - text);
	}
	list[count] = NULL;
	return true;
}

static int spawn(const struct request *r, const char *program, char **argv, char **env, const int *fds, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int high[2] = {-1, -1};
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	for (int fd = 0; r->quiet && fd < 3; fd++) {
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	}
	for (unsigned i = 0, n = 0; i < 2; i++) {
		/* High numbers first, so that none is overwritten while it is still needed. */
		high[i] = r->fds >> i & 1 ? fcntl(fds[n++], F_DUPFD_CLOEXEC, HIGH_FD) : -1;
		if (high[i] >= 0) {
			posix_spawn_file_actions_adddup2(&files, high[i], PROGRAM_FD + (int)i);
		}
	}
	posix_spawnattr_setflags(
		&attr, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (r->quiet ? POSIX_SPAWN_SETSID : 0)));
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	int err = posix_spawn(ret, program, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	base_close(&high[0]);
	base_close(&high[1]);
	return -err;
}

static void say(int fd, int32_t v)
{
	ssize_t n = write(fd, &v, sizeof v);
	(void)n; /* etwd is gone: nobody is interested */
}

static void watch(const struct request *r, int text_fd, int pipe_fd, const int *fds)
{
	size_t at = 0;
	pid_t pid = 0;
	int status = 0, err = -EINVAL;
	char *text = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, text_fd, 0);
	char **lists = calloc((size_t)r->argc + r->envc + 3, sizeof *lists);
	char **argv = lists, **env = lists ? lists + r->argc + 2 : NULL;
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	if (text != MAP_FAILED && lists && split(text, r->bytes, argv, r->argc + 1, &at) &&
	    split(text, r->bytes, env, r->envc, &at)) {
		err = spawn(r, argv[0], argv + 1, env, fds, &pid);
	}
	base_close(&text_fd);
	for (unsigned i = 0; i < 2; i++) {
		if (r->fds >> i & 1) {
			close(*fds++);
		}
	}
	say(pipe_fd, err < 0 ? err : (int32_t)pid);
	while (err == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	say(pipe_fd, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	_exit(0);
}

/* ---- the starter --------------------------------------------------------------------------------- */

static bool is_sound(const struct request *r, int fds)
{
	unsigned of_program = (r->fds & 1) + (r->fds >> 1 & 1);
	return fds == (int)(2 + of_program) && r->fds <= 3 && r->bytes > 0 && r->bytes <= TEXT_MAX &&
	       r->argc <= STRINGS_MAX && r->envc <= STRINGS_MAX;
}

static void serve(void)
{
	struct request r;
	int fds[FDS_MAX], n;
	while ((n = take_request(STARTER_FD, &r, fds)) >= 0) {
		if (is_sound(&r, n) && fork() == 0) {
			close(STARTER_FD);
			watch(&r, fds[0], fds[1], fds + 2);
		}
		for (int i = 0; i < n; i++) {
			close(fds[i]);
		}
	}
	_exit(0);
}

int etwd_starter_begin(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGPIPE};
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		return -errno;
	}
	pid_t pid = fork();
	if (pid < 0) {
		int err = -errno;
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (pid == 0) {
		/* Its end is etwd's, not that of a terminal; children are nobody's to wait for. */
		for (size_t i = 0; i < BASE_ARRAY_LEN(ignored); i++) {
			signal(ignored[i], SIG_IGN);
		}
		prctl(PR_SET_NAME, "etwd-start");
		/* Neither the lock nor what somebody waits for may live on in it. */
		if (pair[1] != STARTER_FD) {
			dup3(pair[1], STARTER_FD, O_CLOEXEC);
		}
		if (syscall(SYS_close_range, STARTER_FD + 1, ~0u, 0) < 0) {
			for (int fd = STARTER_FD + 1, most = (int)sysconf(_SC_OPEN_MAX); fd < most; fd++) {
				close(fd);
			}
		}
		serve();
	}
	close(pair[1]);
	starter = pair[0];
	return 0;
}

/* ---- etwd ---------------------------------------------------------------------------------------- */

static uint32_t count(char *const *list)
{
	uint32_t n = 0;
	while (list[n]) {
		n++;
	}
	return n;
}

static int text_of(const struct etwd_start *s, uint32_t *ret_bytes)
{
	struct strbuf b = {0};
	strbuf_add(&b, s->program, strlen(s->program) + 1);
	for (char *const *a = s->argv; *a; a++) {
		strbuf_add(&b, *a, strlen(*a) + 1);
	}
	for (char *const *e = s->env; *e; e++) {
		strbuf_add(&b, *e, strlen(*e) + 1);
	}
	int fd = b.failed ? -ENOMEM : b.len > TEXT_MAX ? -E2BIG : base_memfd("openetw-start", b.len);
	int err = fd < 0 ? fd : base_pwrite_all(fd, b.s, b.len, 0);
	*ret_bytes = (uint32_t)b.len;
	strbuf_finish(&b);
	if (err < 0) {
		base_close(&fd);
		return err;
	}
	return fd;
}

static int read_word(int fd, int32_t *ret)
{
	ssize_t n;
	do {
		n = read(fd, ret, sizeof *ret);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *ret ? 0 : n < 0 ? -errno : -EPIPE;
}

int etwd_start(const struct etwd_start *s, pid_t *ret_pid, int *ret_status)
{
	struct request r = {.argc = count(s->argv), .envc = count(s->env), .quiet = s->quiet};
	int fds[FDS_MAX], pipe_fd[2], text = text_of(s, &r.bytes);
	unsigned n = 2;
	int32_t pid = 0;
	if (text < 0) {
		return text;
	}
	if (starter < 0 || pipe2(pipe_fd, O_CLOEXEC) < 0) {
		int err = starter < 0 ? -ECHILD : -errno;
		close(text);
		return err;
	}
	fds[0] = text;
	fds[1] = pipe_fd[1];
	for (unsigned i = 0; i < 2; i++) {
		if (s->fd[i] >= 0) {
			r.fds |= 1u << i;
			fds[n++] = s->fd[i];
		}
	}
	int err = send_request(starter, &r, fds, n);
	close(text);
	close(pipe_fd[1]);
	err = err < 0 ? err : read_word(pipe_fd[0], &pid);
	err = err < 0 ? err : pid < 0 ? pid : 0;
	if (err < 0) {
		close(pipe_fd[0]);
		return err;
	}
	*ret_pid = pid;
	*ret_status = pipe_fd[0];
	return 0;
}

int etwd_start_status(int status_fd, bool wait)
{
	struct pollfd p = {.fd = status_fd, .events = POLLIN};
	int32_t status;
	if (!wait && poll(&p, 1, 0) == 0) {
		return -EAGAIN;
	}
	int err = read_word(status_fd, &status);
	return err < 0 ? err : status;
}
