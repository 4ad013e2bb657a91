/* SPDX-License-Identifier: MIT
 * What processes do to a library inside them: fork, exec, signals, closing descriptors, threads
 * that end, libraries that go, sandboxes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "provider/fake_etwd.h"

#include <evntprov.h>

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

static struct fake_etwd *f;
static const struct guid G1 = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct guid G2 = {{2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const EVENT_DESCRIPTOR DESC = {.Id = 7, .Level = 4, .Keyword = 0x10};

static void enable_all(const struct guid *g, uint8_t bit)
{
	struct filter_row row = fake_row_all(bit);
	fake_set(f, g, &row, 1, 0);
}

static REGHANDLE must_register(const struct guid *g, PENABLECALLBACK fn, void *context)
{
	REGHANDLE h = 0;
	assert_int_equal(EventRegister((LPCGUID)(const void *)g, fn, context, &h), 0);
	return h;
}

static int setup(void **state)
{
	fake_drain(f);
	fake_forget_events(f);
	return 0;
}

static int exit_code(pid_t pid)
{
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static ULONG write_id(REGHANDLE h, USHORT id)
{
	EVENT_DESCRIPTOR d = DESC;
	d.Id = id;
	return EventWrite(h, &d, 0, NULL);
}

static void a_forked_child_attaches_as_a_process_of_its_own(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	assert_int_equal(write_id(h, 1), 0);
	uint32_t peers = f->peers;
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = write_id(h, 2);
		r |= write_id(h, 3);
		/* With EventRegister the child gets its threads. */
		REGHANDLE h2 = 0;
		r |= EventRegister((LPCGUID)(const void *)&G1, NULL, NULL, &h2);
		r |= write_id(h2, 4) | write_id(h, 5);
		r |= EventUnregister(h2) | EventUnregister(h);
		_exit((int)r);
	}
	assert_int_equal(exit_code(pid), 0);
	assert_int_equal(f->peers, peers + 1);
	assert_int_equal(write_id(h, 6), 0);
	assert_int_equal(fake_drain(f), 6);
	for (uint32_t i = 0; i < 6; i++) {
		const struct fake_event *e = &f->event[i];
		bool childs = e->rec.id >= 2 && e->rec.id <= 5;
		assert_int_equal(e->peer, childs ? (int)peers : 0);
		assert_int_equal(e->rec.tid, childs ? pid : gettid());
	}
	EventUnregister(h);
}

static void a_child_without_a_daemon_is_disabled_and_unhurt(void **state)
{
	char dir[64];
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	strcpy(dir, f->dir);
	fake_kill(f);
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = 0;
		for (int i = 0; i < 1000; i++) {
			r |= EventWrite(h, &DESC, 0, NULL);
		}
		_exit(r != 0 || EventEnabled(h, &DESC));
	}
	assert_int_equal(exit_code(pid), 0);
	f = fake_start(dir);
	assert_true(fake_wait(f, &f->registers, 1));
	EventUnregister(h);
}

/* Nobody in it reads what the daemon answers. */
static void a_child_without_threads_does_not_wait_until_its_images_are_known(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	struct filter_row row = fake_row_all(1);
	row.props |= FILTER_ROW_STACK;
	fake_set(f, &G1, &row, 1, 0);
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = write_id(h, 2);
		alarm(3); /* it would wait for 5 seconds */
		r |= EventUnregister(h);
		_exit((int)r);
	}
	assert_int_equal(exit_code(pid), 0);
	EventUnregister(h);
}

static void exec_after_fork_costs_and_breaks_nothing(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	uint32_t peers = f->peers;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(exit_code(pid), 0);
	pid = vfork();
	if (pid == 0) {
		EventWrite(h, &DESC, 0, NULL); /* shares our memory: counts as ours */
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(exit_code(pid), 0);
	assert_int_equal(f->peers, peers);
	assert_int_equal(fake_drain(f), 1);
	EventUnregister(h);
}

static REGHANDLE signal_handle;
static uint32_t from_signal;
static void on_signal(int sig)
{
	if (EventWrite(signal_handle, &DESC, 0, NULL) == 0) {
		from_signal++;
	}
}

static void writes_from_signal_handlers_interrupt_writes(void **state)
{
	signal_handle = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	struct sigaction sa = {.sa_handler = on_signal}, old;
	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 200}, {0, 200}}, NULL);
	uint64_t drained = 0, ok = 0;
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 1000; i++) {
			ok += EventWrite(signal_handle, &DESC, 0, NULL) == 0;
		}
		drained += fake_drain_drop(f);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	sigaction(SIGALRM, &old, NULL);
	drained += fake_drain_drop(f);
	assert_true(from_signal > 0);
	assert_true(drained == ok + from_signal);
	EventUnregister(signal_handle);
}

static void closing_every_descriptor_does_not_detach(void **state)
{
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	uint32_t peers = f->peers;
	for (int fd = 3; fd < 1024; fd++) {
		close(fd);
	}
	assert_int_equal(EventWrite(h, &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 1);
	uint32_t registers = f->registers;
	REGHANDLE h2 = must_register(&G1, NULL, NULL);
	assert_true(fake_wait(f, &f->registers, registers + 1));
	assert_int_equal(f->peers, peers);
	assert_int_equal(EventWrite(h2, &DESC, 0, NULL), 0);
	assert_int_equal(fake_drain(f), 2);
	EventUnregister(h2);
	EventUnregister(h);
}

static REGHANDLE thread_handle;
static void *thread_main(void *arg)
{
	return (void *)(uintptr_t)EventWrite(thread_handle, &DESC, 0, NULL);
}

static void threads_may_end(void **state)
{
	thread_handle = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	for (int i = 0; i < 200; i++) {
		pthread_t t;
		void *r;
		assert_int_equal(pthread_create(&t, NULL, thread_main, NULL), 0);
		pthread_join(t, &r);
		assert_null(r);
	}
	assert_int_equal(fake_drain(f), 200);
	assert_true(f->event[0].rec.tid != f->event[199].rec.tid);
	EventUnregister(thread_handle);
}

/* Its first cancellation point is the waiting for the answer of the daemon. */
static void *cancelled_main(void *arg)
{
	REGHANDLE h = 0;
	pthread_cancel(pthread_self());
	ULONG r = EventRegister((LPCGUID)(const void *)&G2, NULL, NULL, &h);
	r |= EventUnregister(h);
	return (void *)(uintptr_t)(r + 1);
}

static void a_thread_cancelled_while_it_registers_leaves_no_lock_behind(void **state)
{
	pthread_t t;
	void *r;
	f->silent = true;
	assert_int_equal(pthread_create(&t, NULL, cancelled_main, NULL), 0);
	usleep(200000);
	f->silent = false;
	assert_int_equal(pthread_join(t, &r), 0);
	assert_int_equal((uintptr_t)r, 1); /* all of it was done */
	alarm(60);
	REGHANDLE h = must_register(&G2, NULL, NULL);
	alarm(0);
	EventUnregister(h);
}

static void a_callback_whose_library_is_gone_is_not_called(void **state)
{
	/* Any code of a library that nothing else in this program uses. */
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	void *code = lib ? dlsym(lib, "ilogb") : NULL;
	Dl_info info;
	if (!code) {
		print_message("no library to unload here\n");
		skip();
	}
	REGHANDLE h = must_register(&G2, (PENABLECALLBACK)(uintptr_t)code, NULL);
	dlclose(lib);
	if (dladdr(code, &info)) {
		print_message("the library stays loaded (sanitizer or static use)\n");
		EventUnregister(h);
		skip();
	}
	uint32_t notified = f->notified;
	enable_all(&G2, 1); /* would crash */
	assert_true(fake_wait(f, &f->notified, notified + 1));
	/* Dropped, once destructors of that library have had their time. */
	for (int i = 0; i < 20000 && EventWrite(h, &DESC, 0, NULL) != ERROR_INVALID_HANDLE; i++) {
		usleep(1000);
	}
	assert_int_equal(EventUnregister(h), ERROR_INVALID_HANDLE);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
static void allow_only(const int *calls, size_t n)
{
	struct sock_filter prog[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	size_t k = 1;
	for (size_t i = 0; i < n; i++) {
		prog[k++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		prog[k++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	prog[k++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	struct sock_fprog fprog = {(unsigned short)k, prog};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) != 0) {
		_exit(77);
	}
}
#endif

static void a_sandboxed_writer_needs_no_system_call(void **state)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
	REGHANDLE h = must_register(&G1, NULL, NULL);
	enable_all(&G1, 1);
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = write_id(h, 1); /* attaches, learns its thread id */
		static const int calls[] = {SYS_exit_group};
		allow_only(calls, 1);
		for (int i = 0; i < 100; i++) { /* less than half a pool: the bell would be a futex */
			r |= write_id(h, 2);
		}
		syscall(SYS_exit_group, (int)r);
	}
	int code = exit_code(pid);
	if (code == 77) {
		print_message("no seccomp here\n");
		skip();
	}
	assert_int_equal(code, 0);
	assert_int_equal(fake_drain(f), 101);
	EventUnregister(h);
#else
	print_message("written for x86-64 without sanitizers\n");
	skip();
#endif
}

static void errno_survives_every_call(void **state)
{
	GUID id;
	errno = 4711;
	REGHANDLE h = must_register(&G1, NULL, NULL);
	assert_int_equal(errno, 4711);
	enable_all(&G1, 1);
	errno = 4711;
	for (int i = 0; i < 20000; i++) {
		EventWrite(h, &DESC, 0, NULL);
	}
	EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id);
	assert_int_equal(errno, 4711);
	EventUnregister(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_forked_child_attaches_as_a_process_of_its_own, setup),
		cmocka_unit_test_setup(a_child_without_threads_does_not_wait_until_its_images_are_known, setup),
		cmocka_unit_test_setup(exec_after_fork_costs_and_breaks_nothing, setup),
		cmocka_unit_test_setup(writes_from_signal_handlers_interrupt_writes, setup),
		cmocka_unit_test_setup(threads_may_end, setup),
		cmocka_unit_test_setup(a_thread_cancelled_while_it_registers_leaves_no_lock_behind, setup),
		cmocka_unit_test_setup(a_callback_whose_library_is_gone_is_not_called, setup),
		cmocka_unit_test_setup(a_sandboxed_writer_needs_no_system_call, setup),
		cmocka_unit_test_setup(errno_survives_every_call, setup),
		cmocka_unit_test_setup(a_child_without_a_daemon_is_disabled_and_unhurt, setup),
		cmocka_unit_test_setup(closing_every_descriptor_does_not_detach, setup),
	};
	f = fake_start(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
