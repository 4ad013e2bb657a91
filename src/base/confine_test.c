/* SPDX-License-Identifier: MIT
 *
 * What each program gives up, tried in a process of its own: it may not do it any more, and what it needs it may.
 */
#include "base/confine.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NEED(condition)                                                                                       \
	do {                                                                                                  \
		if (!(condition)) {                                                                           \
			fprintf(stderr, "line %d: not so: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
			return 1;                                                                             \
		}                                                                                             \
	} while (0)

static char dir[64];

static int in_child(int (*body)(void *), void *arg)
{
	int status = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		_exit(body(arg));
	}
	assert_true(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static uint64_t capability(const char *which)
{
	char line[256];
	unsigned long long v = UINT64_MAX;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, which, strlen(which)) == 0) {
			sscanf(line + strlen(which), ":\t%llx", &v);
		}
	}
	if (f) {
		fclose(f);
	}
	return v;
}

static void *thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static bool refused(long result, int error)
{
	return result < 0 && errno == error;
}

/* What none of them may do, and all of them may. */
static int everybody(unsigned done)
{
	pthread_t t;
	int ran = 0;
	NEED(capability("CapInh") == 0);
	NEED(capability("CapAmb") == 0);
	NEED(capability("CapEff") == capability("CapPrm"));
	NEED(capability("NoNewPrivs") == 1);
	NEED(pthread_create(&t, NULL, thread, &ran) == 0);
	pthread_join(t, NULL);
	NEED(ran == 1);
	void *p = malloc(8 << 20);
	NEED(p != NULL);
	free(p);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0);
	close(fd);
	if (done & CONFINED_CALLS) {
		pid_t pid;
		char *argv[] = {(char *)(uintptr_t) "true", NULL};
		NEED(capability("Seccomp") == 2);
		NEED(fork() < 0);
		NEED(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL) != 0);
		NEED(refused(execv("/bin/true", argv), EPERM));
		NEED(refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM));
		NEED(refused(mount("none", dir, "tmpfs", 0, NULL), EPERM));
		NEED(refused(syscall(SYS_init_module, NULL, 0, ""), EPERM));
		NEED(refused(syscall(SYS_unshare, 0), EPERM));
		NEED(refused(syscall(SYS_setuid, 0), EPERM));
		NEED(refused(syscall(SYS_keyctl, 0, 0), EPERM));
		NEED(refused(syscall(425 /* io_uring_setup */, 1, NULL), EPERM));
		NEED(refused(syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0), EPERM));
		NEED(refused(syscall(900), ENOSYS)); /* of a kernel that is not yet */
	}
	return 0;
}

static int etwd(void *arg)
{
	char path[128];
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	unsigned done = confine(CONFINE_ETWD);
	int r = everybody(done);
	if (r != 0) {
		return r;
	}
	NEED(listener >= 0 && listen(listener, 1) < 0 && errno == EINVAL); /* it has no name */
	if (geteuid() == 0) {
		uint64_t may = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 19; /* chown, files, ptrace */
		NEED((capability("CapPrm") & ~may) == 0 && capability("CapPrm") != 0);
		NEED((capability("CapBnd") & ~may) == 0);
	}
	snprintf(path, sizeof path, "%s/log", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	NEED(fd >= 0);
	NEED(ftruncate(fd, 4096) == 0);
	NEED(fchmod(fd, 0644) == 0);
	NEED(geteuid() != 0 || fchown(fd, 4242, 4242) == 0);
	NEED(unlink(path) == 0);
	if (done & CONFINED_CALLS) {
		NEED(refused(syscall(SYS_bpf, 0, NULL, 0), EPERM));
		NEED(refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), EPERM));
	}
	return 0;
}

/* What receives strangers' descriptors for etwd. */
static int taker(void *arg)
{
	unsigned done = confine(CONFINE_TAKER);
	int r = everybody(done);
	if (r != 0) {
		return r;
	}
	NEED(capability("CapPrm") == 0 && capability("CapEff") == 0);
	NEED(geteuid() != 0 || capability("CapBnd") == 0);
	return 0;
}

static int collector(void *arg)
{
	unsigned done = confine(CONFINE_COLLECTOR);
	struct rlimit l;
	int r = everybody(done);
	if (r != 0) {
		return r;
	}
	if (geteuid() == 0) {
		NEED(capability("CapPrm") >> 39 & 1);   /* BPF */
		NEED(!(capability("CapPrm") >> 1 & 1)); /* writing files of others */
		NEED(!(capability("CapBnd") >> 7 & 1)); /* becoming others */
	}
	if (done & CONFINED_CALLS) {
		NEED(syscall(SYS_bpf, 0, NULL, 0) < 0 && (geteuid() != 0 || errno != EPERM));
		NEED(refused(syscall(SYS_unlinkat, AT_FDCWD, dir, 0), EPERM));
	}
	if (done & CONFINED_MEMORY) {
		NEED(getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_max < 1ull << 40);
		void *volatile much = malloc(l.rlim_max); /* compilers may leave out what nobody uses */
		NEED(much == NULL);
	}
	return 0;
}

static int describe(void *arg)
{
	char mine[128], other[128];
	snprintf(mine, sizeof mine, "%s/mine", dir);
	snprintf(other, sizeof other, "%s/other", dir);
	int fd = open(mine, O_RDWR | O_CREAT | O_CLOEXEC, 0600), no = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	NEED(fd >= 0 && no >= 0);
	close(no);
	unsigned done = confine(CONFINE_DESCRIBE);
	int r = everybody(done);
	if (r != 0) {
		return r;
	}
	NEED(capability("CapPrm") == 0);
	NEED(geteuid() != 0 || capability("CapBnd") == 0);
	NEED(write(fd, "data", 4) == 4);
	NEED(ftruncate(fd, 2) == 0);
	no = open(other, O_RDONLY | O_CLOEXEC);
	NEED(no >= 0);
	close(no);
	if (done & CONFINED_FILES) {
		NEED(refused(open(other, O_WRONLY | O_CLOEXEC), EACCES));
		NEED(refused(open(mine, O_RDWR | O_CLOEXEC), EACCES));
		NEED(refused(open(other, O_RDONLY | O_TRUNC | O_CLOEXEC), EACCES));
		snprintf(other, sizeof other, "%s/new", dir);
		NEED(refused(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), EACCES));
	}
	if (done & CONFINED_CALLS) {
		NEED(refused(socket(AF_INET, SOCK_STREAM, 0), EPERM));
		NEED(refused(syscall(SYS_unlinkat, AT_FDCWD, mine, 0), EPERM));
	}
	return 0;
}

/* A kernel without them, or a sandbox around us that says so. */
static int on_an_old_kernel(void *arg)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444 /* landlock_create_ruleset */, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog p = {BASE_ARRAY_LEN(f), f};
	NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	NEED(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0);
	unsigned done = confine(CONFINE_DESCRIBE);
	NEED(!(done & (CONFINED_CALLS | CONFINED_FILES)));
	NEED(done & CONFINED_CAPABILITIES);
	NEED(capability("CapPrm") == 0);
	return 0;
}

static void etwd_has_files_and_proc_and_nothing_of_the_machines(void **state)
{
	assert_int_equal(in_child(etwd, NULL), 0);
}

static void what_takes_descriptors_has_no_rights(void **state)
{
	assert_int_equal(in_child(taker, NULL), 0);
}

static void the_collector_has_what_events_take(void **state)
{
	assert_int_equal(in_child(collector, NULL), 0);
}

static void describing_a_file_writes_no_other(void **state)
{
	assert_int_equal(in_child(describe, NULL), 0);
}

static void without_seccomp_and_landlock_the_rest_is_done(void **state)
{
	assert_int_equal(in_child(on_an_old_kernel, NULL), 0);
}

static void what_came_about_is_said(void **state)
{
	char text[128];
	assert_string_equal(confine_text(0, text, sizeof text), "");
	assert_string_equal(confine_text(CONFINED_CAPABILITIES | CONFINED_CALLS, text, sizeof text),
			    "capabilities, system calls");
}

static int setup(void **state)
{
	snprintf(dir, sizeof dir, "/tmp/openetw-confine-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(etwd_has_files_and_proc_and_nothing_of_the_machines),
		cmocka_unit_test(what_takes_descriptors_has_no_rights),
		cmocka_unit_test(the_collector_has_what_events_take),
		cmocka_unit_test(describing_a_file_writes_no_other),
		cmocka_unit_test(without_seccomp_and_landlock_the_rest_is_done),
		cmocka_unit_test(what_came_about_is_said),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
