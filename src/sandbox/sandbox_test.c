/* SPDX-License-Identifier: MIT
 *
 * This program is its own child: called with "--child" it serves, and does whatever a parent has to survive.
 */
#include "sandbox/sandbox.h"

#include "base/confine.h"
#include "proto/proto.h"
#include "sandbox/sandbox_wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1ull << 20)

enum {
	ECHO,
	CRASH,
	LEAVE,
	HANG,
	BOMB,
	LIE,
	LONG,
	LONGER,
	GIVE,
	DEEP,
	OPEN,
	READ_GIVEN,
	RUN,
	CONNECT,
	LOOK,
	SIGNAL,
	HAS,
	KEEP,
	THREAD,
	WRITE_GIVEN
};

extern char **environ;

/* ---- the child ----------------------------------------------------------------------------------- */

static void answer_error(struct strbuf *answer, long result)
{
	strbuf_addf(answer, "%d", result < 0 ? errno : 0);
}

static void take_all_memory(struct strbuf *answer)
{
	size_t all = 0;
	for (char *p; (p = malloc(MIB)) != NULL; all += MIB) {
		memset(p, 1, MIB);
		__asm__ volatile("" : : "r"(p) : "memory"); /* what nobody reads, compilers leave out */
	}
	strbuf_addf(answer, "%zu", all);
}

static unsigned deeper(volatile unsigned *above)
{
	volatile unsigned here[1024];
	here[0] = *above + 1;
	return here[0] == UINT32_MAX ? 0 : deeper(here) + here[0];
}

static void *other_thread(void *arg)
{
	*(int *)arg = 7;
	return NULL;
}

static void child(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	static const struct sandbox_head lie = {SANDBOX_MAGIC, 77777, SANDBOX_FITS, 0};
	static const uint8_t longer[sizeof lie + SANDBOX_BYTES_MAX + 1];
	const int given = STDIN_FILENO;
	char *argv[] = {(char *)(uintptr_t) "true", NULL};
	char text[64];
	struct stat st;
	unsigned zero = 0;
	ssize_t n;
	pthread_t thread;
	int seven = 0;
	switch (q->kind) {
	case ECHO: strbuf_add(answer, q->p, q->n); break;
	case CRASH: __builtin_trap();
	case LEAVE: _exit(3);
	case HANG:
		for (;;) {
			__asm__ volatile("" ::: "memory");
		}
	case BOMB: take_all_memory(answer); break;
	case LIE: (void)proto_send(SANDBOX_SOCKET, &lie, sizeof lie, NULL, 0); break;
	case LONG:
		for (unsigned i = 0; i <= SANDBOX_BYTES_MAX; i++) {
			strbuf_addc(answer, 'x');
		}
		break;
	case LONGER: (void)proto_send(SANDBOX_SOCKET, longer, sizeof longer, NULL, 0); break;
	case GIVE: (void)proto_send(SANDBOX_SOCKET, &lie, sizeof lie, &given, 1); break;
	case DEEP: strbuf_addf(answer, "%u", deeper(&zero)); break;
	case OPEN: answer_error(answer, open("/etc/passwd", O_RDONLY)); break;
	case RUN: answer_error(answer, execve("/bin/true", argv, environ)); break;
	case CONNECT: answer_error(answer, socket(AF_UNIX, SOCK_STREAM, 0)); break;
	case LOOK: answer_error(answer, stat("/etc/passwd", &st)); break;
	case SIGNAL: answer_error(answer, syscall(SYS_kill, -1, 0)); break;
	case HAS: strbuf_addf(answer, "%d", environ && environ[0]); break;
	case READ_GIVEN:
		n = fstat(q->fd[0], &st) == 0 ? pread(q->fd[0], text, sizeof text, 0) : -1;
		strbuf_add(answer, text, n > 0 ? (size_t)n : 0);
		break;
	case THREAD:
		seven = pthread_create(&thread, NULL, other_thread, &seven) == 0 && pthread_join(thread, NULL) == 0
				? seven
				: -1;
		strbuf_addf(answer, "%d", seven);
		break;
	case WRITE_GIVEN: answer_error(answer, pwrite(q->fd[0], "abc", 3, 0)); break;
	case KEEP:
		*(int *)context += 1;
		strbuf_addf(answer, "%d", *(int *)context);
		break;
	}
}

static void say_hello(void)
{
	static const struct sandbox_head hello = {SANDBOX_MAGIC, SANDBOX_HELLO, 0, 0};
	(void)proto_send(SANDBOX_SOCKET, &hello, sizeof hello, NULL, 0);
}

/* Answers without having been asked, and reads nothing. */
static void answer_in_advance(void)
{
	say_hello();
	for (uint32_t i = 0; i < 8; i++) {
		const struct sandbox_head h = {SANDBOX_MAGIC, i, SANDBOX_FITS, 0};
		(void)proto_send(SANDBOX_SOCKET, &h, sizeof h, NULL, 0);
	}
	pause();
}

/* Answers each question, and leaves it where it is: the way to the child fills up. */
static void answer_and_keep(void)
{
	int from = 0;
	struct sandbox_head h;
	say_hello();
	if (setsockopt(SANDBOX_SOCKET, SOL_SOCKET, SO_PEEK_OFF, &from, sizeof from) < 0) {
		return;
	}
	static uint8_t question[sizeof h + SANDBOX_BYTES_MAX];
	while (recv(SANDBOX_SOCKET, question, sizeof question, MSG_PEEK) >= (ssize_t)sizeof h) {
		memcpy(&h, question, sizeof h);
		h.value = SANDBOX_FITS;
		h.bytes = 0;
		(void)proto_send(SANDBOX_SOCKET, &h, sizeof h, NULL, 0);
	}
}

/* ---- the parent ---------------------------------------------------------------------------------- */

static char self[4096];

static struct sandbox *sandbox(const char *argument, uint32_t answer_ms, uint32_t starts)
{
	struct sandbox *s = NULL;
	struct sandbox_options o = {.program = self,
				    .argument = argument,
				    .memory_bytes = 64 * MIB,
				    .processor_s = 1,
				    .answer_ms = answer_ms,
				    .starts_max = starts};
	assert_int_equal(sandbox_create(&o, &s), 0);
	return s;
}

static const char *ask(struct sandbox *s, uint32_t kind, int fd)
{
	static char text[256];
	const uint8_t *p;
	size_t n;
	assert_int_equal(sandbox_ask(s, kind, "abc", 3, &fd, fd >= 0, &p, &n), 0);
	snprintf(text, sizeof text, "%.*s", (int)n, (const char *)p);
	return text;
}

static int fails(struct sandbox *s, uint32_t kind, const char *problem)
{
	const uint8_t *p = NULL;
	size_t n = 0;
	int r = sandbox_ask(s, kind, NULL, 0, NULL, 0, &p, &n);
	assert_null(p);
	if (!strstr(sandbox_problem(s), problem)) {
		fail_msg("'%s' does not say '%s'", sandbox_problem(s), problem);
	}
	return r;
}

static void a_child_answers_and_keeps_what_it_was_told(void **state)
{
	struct sandbox *s = sandbox("--child", 30000, 2);
	assert_int_equal(sandbox_start(s), 1);
	assert_string_equal(ask(s, ECHO, -1), "abc");
	assert_string_equal(ask(s, KEEP, -1), "1");
	assert_string_equal(ask(s, KEEP, -1), "2");
	assert_int_equal(sandbox_start(s), 1);
	sandbox_end(s);
	assert_int_equal(sandbox_running(s), 0);
	assert_string_equal(ask(s, KEEP, -1), "1"); /* another child */
	sandbox_destroy(s);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
}

static void a_crash_costs_one_answer(void **state)
{
	struct sandbox *s = sandbox("--child", 30000, 4);
	assert_string_equal(ask(s, KEEP, -1), "1");
	assert_int_equal(fails(s, CRASH, "ended "), -ECHILD);
	assert_string_equal(ask(s, KEEP, -1), "1"); /* another child */
	assert_int_equal(fails(s, LEAVE, "ended with status 3"), -ECHILD);
	assert_string_equal(ask(s, ECHO, -1), "abc");
	assert_int_equal(fails(s, DEEP, "ended "), -ECHILD);
	assert_int_equal(sandbox_start(s), 4);
	sandbox_destroy(s);
}

static void crashes_have_an_end(void **state)
{
	struct sandbox *s = sandbox("--child", 30000, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fails(s, CRASH, "ended "), -ECHILD);
	}
	assert_int_equal(fails(s, ECHO, "ended too often"), -ENOLINK);
	assert_int_equal(sandbox_start(s), -ENOLINK);
	sandbox_destroy(s);
}

static void a_child_that_never_answers_is_ended(void **state)
{
	struct sandbox *s = sandbox("--child", 100, 2);
	assert_int_equal(sandbox_start(s), 1);
	assert_int_equal(fails(s, HANG, "did not answer within 1 s"), -ETIMEDOUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(sandbox_start(s), 2);
	sandbox_destroy(s);
}

/* The parent would wait for room for a question. */
static void a_child_that_reads_nothing_holds_nobody_up(void **state)
{
	static const uint8_t big[SANDBOX_BYTES_MAX];
	struct sandbox *s = sandbox("--advance", 30000, 1);
	assert_int_equal(fails(s, ECHO, "what is no answer"), -EBADMSG);
	sandbox_destroy(s);
	s = sandbox("--keep", 30000, 1);
	const uint8_t *p;
	size_t n;
	int r = 0, asked = 0;
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	while (r == 0 && asked++ < 10000) {
		r = sandbox_ask(s, ECHO, big, sizeof big, NULL, 0, &p, &n);
	}
	alarm(0);
	assert_int_equal(r, -ETIMEDOUT);
	assert_true(asked > 1);
	assert_non_null(strstr(sandbox_problem(s), "does not read what it is asked"));
	assert_int_equal(sandbox_running(s), 0);
	sandbox_destroy(s);
}

static void processor_time_has_an_end(void **state)
{
	struct sandbox *s = sandbox("--child", 120000, 1);
	assert_int_equal(fails(s, HANG, "used up its 1 s of processor time"), -ECHILD);
	sandbox_destroy(s);
}

static void memory_has_an_end(void **state)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct sandbox *s = sandbox("--child", 60000, 1);
	assert_int_equal(sandbox_start(s), 1);
	unsigned long long had = strtoull(ask(s, BOMB, -1), NULL, 10);
	assert_true(had > 0 && had < 64 * MIB);
	sandbox_destroy(s);
#else
	skip();
#endif
}

static void what_is_no_answer_is_not_believed(void **state)
{
	struct sandbox *s = sandbox("--child", 30000, 2);
	assert_int_equal(fails(s, LONGER, "what is no answer"), -EBADMSG);
	assert_int_equal(fails(s, GIVE, "what is no answer"), -EBADMSG);
	sandbox_destroy(s);
	s = sandbox("--child", 30000, 3);
	assert_int_equal(fails(s, LIE, "what is no answer"), -EBADMSG);
	assert_string_equal(ask(s, ECHO, -1), "abc");
	assert_int_equal(fails(s, LONG, "too long"), -EMSGSIZE);
	assert_string_equal(ask(s, ECHO, -1), "abc");
	assert_int_equal(sandbox_start(s), 2); /* it went on */
	sandbox_destroy(s);
	s = sandbox("--liar", 30000, 2);
	assert_int_equal(sandbox_start(s), -EBADMSG);
	sandbox_destroy(s);
}

/* A question that the kernel does not take is our own failure, not the child's. */
static void a_question_that_is_not_sent_is_told(void **state)
{
	struct sandbox *s = sandbox("--child", 30000, 1);
	int closed = -1;
	const uint8_t *p;
	size_t n;
	assert_string_equal(ask(s, ECHO, -1), "abc");
	assert_int_equal(sandbox_ask(s, ECHO, NULL, 0, &closed, 1, &p, &n), -EBADF);
	assert_non_null(strstr(sandbox_problem(s), "cannot be asked: "));
	assert_string_equal(ask(s, ECHO, -1), "abc"); /* it goes on */
	sandbox_destroy(s);
}

static void a_program_that_does_not_start_is_told(void **state)
{
	struct sandbox *s = sandbox("--nothing", 30000, 2);
	assert_int_equal(fails(s, ECHO, "ended with status 5"), -ECHILD);
	sandbox_destroy(s);
	struct sandbox_options o = {
		.program = "/no/such/program", .memory_bytes = MIB, .answer_ms = 1000, .starts_max = 1};
	assert_int_equal(sandbox_create(&o, &s), 0);
	assert_int_equal(fails(s, ECHO, "program ended with status 127"), -ECHILD);
	sandbox_destroy(s);
}

static void a_child_that_closes_its_socket_was_not_killed(void **state)
{
	struct sandbox *s = sandbox("--close", 30000, 1);
	assert_int_equal(fails(s, ECHO, "does not listen any more"), -ECHILD);
	sandbox_destroy(s);
}

static void *killer(void *arg)
{
	char path[64], text[32] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	while (!text[0]) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
		text[n > 0 ? n : 0] = 0;
		base_close(&fd);
	}
	*(int *)arg = kill(atoi(text), SIGKILL);
	return NULL;
}

static void a_child_that_is_killed_in_the_middle_is_told(void **state)
{
	struct sandbox *s = sandbox("--child", 60000, 2);
	pthread_t t;
	int r = -1;
	assert_int_equal(sandbox_start(s), 1);
	assert_int_equal(pthread_create(&t, NULL, killer, &r), 0);
	assert_int_equal(fails(s, HANG, "was ended by signal 9"), -ECHILD);
	pthread_join(t, NULL);
	assert_int_equal(r, 0);
	assert_string_equal(ask(s, ECHO, -1), "abc");
	sandbox_destroy(s);
}

static void a_child_reads_what_it_is_given_and_opens_nothing(void **state)
{
	char path[] = "/tmp/openetw-sandbox-XXXXXX", eperm[16];
	struct sandbox *s = sandbox("--child", 30000, 1);
	int fd = mkstemp(path);
	snprintf(eperm, sizeof eperm, "%d", EPERM);
	assert_true(fd >= 0 && write(fd, "given", 5) == 5);
	unlink(path);
	assert_string_equal(ask(s, READ_GIVEN, fd), "given");
	close(fd);
	assert_string_equal(ask(s, HAS, -1), "0");
	if (sandbox_confined(s) & CONFINED_CALLS) {
		assert_string_equal(ask(s, OPEN, -1), eperm);
		assert_string_equal(ask(s, RUN, -1), eperm);
		assert_string_equal(ask(s, CONNECT, -1), eperm);
		assert_string_equal(ask(s, LOOK, -1), eperm);
		assert_string_equal(ask(s, SIGNAL, -1), eperm);
	} else if (sandbox_confined(s) & CONFINED_FILES) {
		assert_string_not_equal(ask(s, OPEN, -1), "0");
	}
	sandbox_destroy(s);
}

static void a_child_with_threads_writes_what_it_is_given_within_its_limit(void **state)
{
	char path[] = "/tmp/openetw-sandbox-XXXXXX", eperm[16], text[8] = "";
	struct sandbox *s = sandbox("--child-threads", 30000, 1);
	struct sandbox_options o = {.program = self,
				    .argument = "--child-threads",
				    .memory_bytes = 64 * MIB,
				    .processor_s = 1,
				    .file_bytes = 2,
				    .answer_ms = 30000,
				    .starts_max = 1};
	int fd = mkstemp(path);
	snprintf(eperm, sizeof eperm, "%d", EPERM);
	unlink(path);
	assert_true(fd >= 0);
	assert_string_equal(ask(s, THREAD, -1), "7");
	if (sandbox_confined(s) & CONFINED_CALLS) {
		assert_string_equal(ask(s, OPEN, -1), eperm);
		assert_string_equal(ask(s, RUN, -1), eperm);
		assert_string_equal(ask(s, CONNECT, -1), eperm);
		assert_string_equal(ask(s, LOOK, -1), eperm);
		assert_string_equal(ask(s, SIGNAL, -1), eperm);
	}
	/* Without a length it writes nothing: the signal of that limit ends it. */
	const uint8_t *p;
	size_t n;
	assert_int_equal(sandbox_ask(s, WRITE_GIVEN, NULL, 0, &fd, 1, &p, &n), -ECHILD);
	sandbox_destroy(s);
	assert_int_equal(sandbox_create(&o, &s), 0);
	(void)ask(s, WRITE_GIVEN, fd); /* as much as it may */
	assert_int_equal(pread(fd, text, sizeof text, 0), 2);
	sandbox_destroy(s);
	o.file_bytes = 100;
	assert_int_equal(sandbox_create(&o, &s), 0);
	assert_string_equal(ask(s, WRITE_GIVEN, fd), "0");
	assert_int_equal(pread(fd, text, sizeof text, 0), 3);
	sandbox_destroy(s);
	close(fd);
}

/* It has the socket and three streams, whatever its parent has open. */
static void a_child_inherits_nothing(void **state)
{
	char path[64], text[64] = "";
	int mine = open("/dev/null", O_RDONLY), fds = 0; /* not close-on-exec */
	struct sandbox *s = sandbox("--child", 30000, 1);
	assert_int_equal(sandbox_start(s), 1);
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		skip(); /* a kernel without this file */
	}
	assert_true(read(fd, text, sizeof text - 1) > 0);
	base_close(&fd);
	snprintf(path, sizeof path, "/proc/%d/fd", atoi(text));
	DIR *d = opendir(path);
	for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
		fds += e->d_name[0] != '.';
	}
	if (d) {
		closedir(d);
		assert_int_equal(fds, SANDBOX_SOCKET + 1);
	}
	close(mine);
	sandbox_destroy(s);
}

/* Also one that is busy, and does not look whether its parent is there. */
static void a_child_ends_with_its_parent(void **state)
{
	int status = 0;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	pid_t parent = fork();
	if (parent == 0) {
		const uint8_t *p;
		size_t n;
		struct sandbox *s = sandbox("--child", 60000, 1);
		signal(SIGALRM, SIG_DFL);
		alarm(1);
		_exit(sandbox_ask(s, HANG, NULL, 0, NULL, 0, &p, &n) == 0);
	}
	assert_true(waitpid(parent, &status, 0) == parent);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
	assert_true(waitpid(-1, &status, 0) > 0); /* the child, which is ours now */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_answers_and_keeps_what_it_was_told),
		cmocka_unit_test(a_crash_costs_one_answer),
		cmocka_unit_test(crashes_have_an_end),
		cmocka_unit_test(a_child_that_never_answers_is_ended),
		cmocka_unit_test(a_child_that_reads_nothing_holds_nobody_up),
		cmocka_unit_test(processor_time_has_an_end),
		cmocka_unit_test(memory_has_an_end),
		cmocka_unit_test(what_is_no_answer_is_not_believed),
		cmocka_unit_test(a_question_that_is_not_sent_is_told),
		cmocka_unit_test(a_program_that_does_not_start_is_told),
		cmocka_unit_test(a_child_that_closes_its_socket_was_not_killed),
		cmocka_unit_test(a_child_that_is_killed_in_the_middle_is_told),
		cmocka_unit_test(a_child_reads_what_it_is_given_and_opens_nothing),
		cmocka_unit_test(a_child_with_threads_writes_what_it_is_given_within_its_limit),
		cmocka_unit_test(a_child_inherits_nothing),
		cmocka_unit_test(a_child_ends_with_its_parent),
	};
	if (argc == 2 && strcmp(argv[1], "--child") == 0) {
		int told = 0;
		return -sandbox_serve(child, &told);
	}
	if (argc == 2 && strcmp(argv[1], "--child-threads") == 0) {
		return -sandbox_serve_threads(child, NULL);
	}
	if (argc == 2 && strcmp(argv[1], "--liar") == 0) {
		(void)!send(SANDBOX_SOCKET, "hello", 5, 0);
		pause();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--advance") == 0) {
		answer_in_advance();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--close") == 0) {
		say_hello();
		close(SANDBOX_SOCKET);
		pause();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--keep") == 0) {
		answer_and_keep();
		return 0;
	}
	if (argc == 2) {
		return 5;
	}
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	return n > 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
