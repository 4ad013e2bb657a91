/* SPDX-License-Identifier: MIT
 * The parent's side: starts children, asks them, and buries them.
 */
#include "sandbox/sandbox.h"

#include "base/confine.h"
#include "proto/proto.h"
#include "sandbox/sandbox_wire.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HIGH_FD       10 /* above those that the child's get */
#define FDS_MAX       16384u
#define HELLO_MS      30000 /* loading a program on a machine that is busy */
#define ENDING_MS     1000  /* between the end of the socket and that of the process */
#define NR_PIDFD_OPEN 434
#define NR_PIDFD_SEND 424
#define NR_CLOSE_FROM 436 /* close_range */

struct sandbox {
	struct sandbox_options o;
	char *program, *argument;
	int socket, pidfd; /* -1: no child, or the kernel has none of these */
	pid_t pid;         /* 0: no child */
	uint32_t started;
	unsigned confined;
	char problem[256];
	uint8_t message[sizeof(struct sandbox_head) + SANDBOX_BYTES_MAX];
};

int sandbox_create(const struct sandbox_options *o, struct sandbox **ret)
{
	struct sandbox *s = calloc(1, sizeof *s);
	if (!s) {
		return -ENOMEM;
	}
	s->o = *o;
	s->socket = s->pidfd = -1;
	s->program = strdup(o->program);
	s->argument = o->argument ? strdup(o->argument) : NULL;
	if (!s->program || (o->argument && !s->argument)) {
		sandbox_destroy(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static const char *name_of(const struct sandbox *s)
{
	const char *slash = strrchr(s->program, '/');
	return slash ? slash + 1 : s->program;
}

static void BASE_PRINTF(2, 3) say(struct sandbox *s, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(s->problem, sizeof s->problem, "%.64s ", name_of(s));
	va_start(ap, fmt);
	vsnprintf(s->problem + n, sizeof s->problem - (size_t)n, fmt, ap);
	va_end(ap);
}

/* Whatever it is doing. What waitpid() says; -1: somebody else has waited for it. */
static int bury(struct sandbox *s)
{
	int status = -1;
	if (s->pid == 0) {
		return -1;
	}
	/* One that ends by itself keeps the status that it ends with. */
	if (s->pidfd >= 0) {
		(void)syscall(NR_PIDFD_SEND, s->pidfd, SIGKILL, NULL, 0);
	} else {
		(void)kill(s->pid, SIGKILL);
	}
	base_close(&s->socket);
	base_close(&s->pidfd);
	pid_t r;
	do {
		r = waitpid(s->pid, &status, 0);
	} while (r < 0 && errno == EINTR);
	s->pid = 0;
	return r < 0 ? -1 : status;
}

void sandbox_destroy(struct sandbox *s)
{
	if (s) {
		bury(s);
		free(s->program);
		free(s->argument);
	}
	free(s);
}

void sandbox_end(struct sandbox *s)
{
	bury(s);
}

const char *sandbox_problem(const struct sandbox *s)
{
	return s->problem;
}

int sandbox_running(const struct sandbox *s)
{
	return s->pid ? (int)s->started : 0;
}

unsigned sandbox_confined(const struct sandbox *s)
{
	return s->confined;
}

/* It has closed its socket, which mostly means that it is gone. */
static int ended(struct sandbox *s)
{
	struct pollfd p = {.fd = s->pidfd, .events = POLLIN};
	bool lives = s->pidfd >= 0 && poll(&p, 1, ENDING_MS) == 0;
	int status = bury(s);
	if (lives) {
		say(s, "does not listen any more");
	} else if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
		say(s, "used up its %llu s of processor time", (unsigned long long)s->o.processor_s);
	} else if (status >= 0 && WIFSIGNALED(status)) {
		say(s, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (status >= 0 && WIFEXITED(status)) {
		say(s, "ended with status %d", WEXITSTATUS(status));
	} else {
		say(s, "ended");
	}
	return -ECHILD;
}

/* ---- starting ------------------------------------------------------------------------------------ */

static void limit(int which, uint64_t most)
{
	struct rlimit l;
	if (getrlimit(which, &l) == 0) {
		l.rlim_max = BASE_MIN(l.rlim_max, most);
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(which, &l);
	}
}

/* context: a forked child of a process that may have threads: system calls only */
static _Noreturn void become_child(const struct sandbox *s, int fd, pid_t parent)
{
	char *argv[] = {(char *)(uintptr_t)name_of(s), s->argument, NULL}, *env[] = {NULL};
	sigset_t none;
	setsid(); /* Ctrl-C is for the parent */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127);
	}
	for (int i = 1; i < NSIG; i++) {
		signal(i, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	null = null >= 0 ? fcntl(null, F_DUPFD, HIGH_FD) : -1;
	fd = fcntl(fd, F_DUPFD, HIGH_FD);
	for (int i = 0; i < SANDBOX_SOCKET; i++) {
		if (null < 0 || dup2(null, i) < 0) {
			_exit(127);
		}
	}
	if (fd < 0 || dup2(fd, SANDBOX_SOCKET) < 0) {
		_exit(127);
	}
	limit(RLIMIT_NOFILE, FDS_MAX);
	if (syscall(NR_CLOSE_FROM, SANDBOX_SOCKET + 1, ~0u, 0) < 0) {
		for (int i = SANDBOX_SOCKET + 1; i < (int)FDS_MAX; i++) {
			close(i);
		}
	}
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, s->o.file_bytes);
	(void)confine_memory(s->o.memory_bytes, s->o.processor_s);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (chdir("/") == 0) {
		execve(s->program, argv, env);
	}
	_exit(127);
}

static int nonsense(struct sandbox *s)
{
	bury(s);
	say(s, "answered what is no answer");
	return -EBADMSG;
}

/* The length of the next message, which is in s->message; or how the child failed, which is gone then. */
static long hear(struct sandbox *s, uint32_t within_ms)
{
	uint64_t end = clock_read_system_ns() + within_ms * 1000000ull;
	struct pollfd p = {.fd = s->socket, .events = POLLIN};
	int r;
	do {
		uint64_t now = clock_read_system_ns();
		r = poll(&p, 1, now < end ? (int)((end - now + 999999) / 1000000) : 0);
	} while (r < 0 && errno == EINTR);
	if (r == 0) {
		bury(s);
		say(s, "did not answer within %u s", (within_ms + 999) / 1000);
		return -ETIMEDOUT;
	}
	long n = proto_recv(s->socket, s->message, sizeof s->message, NULL, NULL, -1);
	if (n == -EBADMSG) { /* longer than an answer may be, or with descriptors */
		return nonsense(s);
	}
	if (n < 0 && n != -ECONNRESET) {
		bury(s);
		say(s, "cannot be heard: %s", strerror((int)-n));
		return n;
	}
	return n > 0 ? n : ended(s);
}

/* Is that message the one with this number? */
static bool take(const struct sandbox *s, long n, uint32_t number, struct sandbox_head *ret)
{
	if ((size_t)n < sizeof *ret) {
		return false;
	}
	memcpy(ret, s->message, sizeof *ret);
	return ret->magic == SANDBOX_MAGIC && ret->number == number && ret->bytes == (size_t)n - sizeof *ret;
}

int sandbox_start(struct sandbox *s)
{
	int pair[2];
	struct sandbox_head h;
	if (s->pid) {
		return (int)s->started;
	}
	if (s->started >= s->o.starts_max) {
		say(s, "ended too often");
		return -ENOLINK;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		int err = errno;
		say(s, "cannot be started: %s", strerror(err));
		return -err;
	}
	/* Our side never waits in a call: not for a child that reads nothing either. */
	int flags = fcntl(pair[0], F_GETFL);
	(void)fcntl(pair[0], F_SETFL, flags | O_NONBLOCK);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		become_child(s, pair[1], parent);
	}
	int err = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		say(s, "cannot be started: %s", strerror(err));
		return -err;
	}
	s->pid = pid;
	s->pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	s->socket = pair[0];
	s->started++;
	long n = hear(s, HELLO_MS);
	if (n < 0) {
		return (int)n;
	}
	if (!take(s, n, SANDBOX_HELLO, &h)) {
		return nonsense(s);
	}
	s->confined = h.value;
	return (int)s->started;
}

/* ---- asking -------------------------------------------------------------------------------------- */

/* A child that could foresee it would answer before it is asked. */
static uint32_t new_number(void)
{
	uint32_t v = 0;
	(void)!getrandom(&v, sizeof v, 0);
	return v & INT32_MAX;
}

/* 0, or why the question was not sent. A child that reads its questions has room for one. */
static int send_question(struct sandbox *s, size_t n, const int *fds, int fd_count)
{
	int r = proto_send(s->socket, s->message, n, fds, fd_count);
	if (r == -EPIPE || r == -ECONNRESET) {
		return ended(s);
	}
	if (r == -EAGAIN) {
		bury(s);
		say(s, "does not read what it is asked");
		return -ETIMEDOUT;
	}
	if (r < 0) {
		say(s, "cannot be asked: %s", strerror(-r));
	}
	return r;
}

int sandbox_ask(struct sandbox *s, uint32_t kind, const void *p, size_t n, const int *fds, int fd_count,
		const uint8_t **ret, size_t *ret_n)
{
	if (n > SANDBOX_BYTES_MAX || fd_count > SANDBOX_FDS_MAX) {
		return -EMSGSIZE;
	}
	int r = sandbox_start(s);
	if (r < 0) {
		return r;
	}
	struct sandbox_head h = {SANDBOX_MAGIC, new_number(), kind, (uint32_t)n};
	uint32_t number = h.number;
	memcpy(s->message, &h, sizeof h);
	if (n > 0) {
		memcpy(s->message + sizeof h, p, n);
	}
	r = send_question(s, sizeof h + n, fds, fd_count);
	if (r < 0) {
		return r;
	}
	long got = hear(s, s->o.answer_ms);
	if (got < 0) {
		return (int)got;
	}
	if (!take(s, got, number, &h)) {
		return nonsense(s);
	}
	if (h.value != SANDBOX_FITS) {
		say(s, "has an answer that is too long");
		return -EMSGSIZE;
	}
	*ret = s->message + sizeof h;
	*ret_n = h.bytes;
	return 0;
}
