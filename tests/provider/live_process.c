/* SPDX-License-Identifier: MIT
 * What processes do to a library inside them, with the real etwd at the other end.
 */
#include "live.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static const GUID guid = {0x9C0CE550, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static REGHANDLE handle;
static struct live_session session;
static const char *self;

static ULONG write_id(REGHANDLE h, USHORT id)
{
	EVENT_DESCRIPTOR d = {.Id = id, .Level = 4, .Keyword = 1};
	return EventWrite(h, &d, 0, NULL);
}

static void begin(const char *name)
{
	char file[64];
	snprintf(file, sizeof file, "%s.etl", name);
	live_start(&session, name, file, 0);
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
}

static int exit_code(pid_t pid)
{
	int status = 0;
	EXPECT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct seen {
	uint32_t count, mine, id[256], by_pid_id[256];
	uint32_t tids, tid[1024];
};
static void see(PEVENT_RECORD r, void *context)
{
	struct seen *s = context;
	uint8_t id = (uint8_t)r->EventHeader.EventDescriptor.Id;
	bool mine = r->EventHeader.ProcessId == (ULONG)getpid();
	s->count++;
	s->mine += mine;
	s->id[id]++;
	s->by_pid_id[id] = r->EventHeader.ProcessId;
	for (uint32_t i = 0; i < s->tids; i++) {
		if (s->tid[i] == r->EventHeader.ThreadId) {
			return;
		}
	}
	s->tid[s->tids++ % 1024] = r->EventHeader.ThreadId;
}
static struct seen *end(void)
{
	static struct seen s;
	live_stop(&session);
	EXPECT(session.block.p.EventsLost, 0);
	memset(&s, 0, sizeof s);
	live_read(session.path, see, &s);
	return &s;
}

/* ---- fork, exec ---------------------------------------------------------------------------------
 */

static void a_forked_child_writes_as_itself(void)
{
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	begin("fork");
	EXPECT(write_id(handle, 1), 0);
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = write_id(handle, 2);
		pid_t grandchild = fork();
		if (grandchild == 0) {
			_exit((int)write_id(handle, 3));
		}
		_exit((int)r + exit_code(grandchild) + (int)write_id(handle, 4));
	}
	EXPECT(exit_code(pid), 0);
	EXPECT(write_id(handle, 5), 0);
	struct seen *s = end();
	EXPECT(s->count, 5);
	EXPECT(s->mine, 2);
	EXPECT(s->by_pid_id[2], pid);
	EXPECT(s->by_pid_id[4], pid);
	EXPECT(s->by_pid_id[1], getpid());
	EXPECT(s->by_pid_id[3] != s->by_pid_id[2] && s->by_pid_id[3] != (uint32_t)getpid(), 1);
	EXPECT(EventUnregister(handle), 0);
}

/* As generated code does: it calls only when its own copy of the enable state says so. */
static volatile int inline_level;
static VOID NTAPI on_enable(LPCGUID from, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)from, (void)any, (void)all, (void)filter, (void)context;
	if (code <= 1) {
		inline_level = code ? level : 0;
	}
}

static void a_worker_forked_while_off_learns_of_a_later_enable(void)
{
	EXPECT(EventRegister(&guid, on_enable, NULL, &handle), 0);
	EXPECT(inline_level, 0);
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[4];
	for (int w = 0; w < 4; w++) {
		pid[w] = fork();
		if (pid[w] == 0) {
			for (int i = 0; i < 2000 && inline_level < 4; i++) {
				usleep(5000);
			}
			ULONG r = inline_level >= 4 ? write_id(handle, (USHORT)(10 + w)) : 99;
			__atomic_add_fetch(shared, 1, __ATOMIC_SEQ_CST);
			for (int i = 0; i < 2000 && inline_level; i++) {
				usleep(5000); /* until it is disabled */
			}
			_exit((int)r + inline_level);
		}
	}
	begin("prefork");
	EXPECT(write_id(handle, 1), 0);
	live_wait(*shared == 4);
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0), 0);
	for (int w = 0; w < 4; w++) {
		EXPECT(exit_code(pid[w]), 0);
	}
	struct seen *s = end();
	EXPECT(s->count, 5);
	for (int w = 0; w < 4; w++) {
		EXPECT(s->by_pid_id[10 + w], pid[w]);
	}
	EXPECT(EventUnregister(handle), 0);
	munmap(shared, 4096);
}

static void a_worker_forked_while_on_learns_that_it_is_off(void)
{
	EXPECT(EventRegister(&guid, on_enable, NULL, &handle), 0);
	begin("forkoff");
	EXPECT(inline_level, 5);
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0), 0);
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 0, 0, 0), 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 2000 && inline_level; i++) {
			usleep(5000);
		}
		_exit(inline_level);
	}
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0), 0);
	EXPECT(exit_code(pid), 0);
	EXPECT(end()->count, 0);
	EXPECT(EventUnregister(handle), 0);
}

/* The new program is a provider of its own. */
static void exec_starts_afresh(void)
{
	EXPECT(EventRegister(&guid, on_enable, NULL, &handle), 0);
	begin("exec");
	EXPECT(write_id(handle, 1), 0);
	pid_t pid = fork();
	if (pid == 0) {
		write_id(handle, 2);
		execl(self, self, "exec-child", (char *)NULL);
		_exit(99);
	}
	EXPECT(exit_code(pid), 0);
	pid_t quick = fork();
	if (quick == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	EXPECT(exit_code(quick), 0);
	struct seen *s = end();
	EXPECT(s->count, 3);
	EXPECT(s->by_pid_id[2], pid);
	EXPECT(s->by_pid_id[3], pid);
	EXPECT(EventUnregister(handle), 0);
}

static int exec_child(void)
{
	REGHANDLE h;
	return EventRegister(&guid, NULL, NULL, &h) || write_id(h, 3);
}

/* ---- signals, threads
 * ---------------------------------------------------------------------------- */

/* Handlers interrupt one another, too. */
static _Atomic uint32_t handler_tried, from_handler;
static void on_signal(int sig)
{
	(void)sig;
	handler_tried++;
	from_handler += write_id(handle, 7) == 0;
}

static void a_handler_may_write_while_it_interrupts_a_write(void)
{
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	begin("signal");
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_NODEFER}, old;
	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
	/* On a busy machine some find the pool full, and some find no buffer of the session: these are
	 * counted, and all others are in the file. */
	const uint32_t tried = 200000;
	uint32_t ok = 0;
	for (uint32_t i = 0; i < tried; i++) {
		ok += write_id(handle, 6) == 0;
		if (i % 500 == 0) {
			usleep(500);
		}
	}
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	sigaction(SIGALRM, &old, NULL);
	EXPECT(from_handler > 0, 1);
	EXPECT(ok > 1000, 1);
	live_stop(&session);
	struct seen s = {0};
	live_read(session.path, see, &s);
	EXPECT(s.id[6] + s.id[7] + session.block.p.EventsLost, tried + handler_tried);
	EXPECT(s.id[6] <= ok, 1);
	EXPECT(s.id[7] <= from_handler, 1);
	EXPECT(s.id[7] > 0, 1);
	EXPECT(EventUnregister(handle), 0);
}

static void *write_and_end(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		EXPECT(write_id(handle, 8), 0);
	}
	return NULL;
}

static void *write_for_ever(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		write_id(handle, 9);
		*(volatile uint32_t *)arg += 1;
	}
	return NULL;
}

static void events_of_ended_and_cancelled_threads_arrive(void)
{
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	begin("threads");
	for (int i = 0; i < 100; i++) {
		pthread_t t[4];
		for (int k = 0; k < 4; k++) {
			EXPECT(pthread_create(&t[k], NULL, write_and_end, NULL), 0);
		}
		for (int k = 0; k < 4; k++) {
			pthread_join(t[k], NULL);
		}
	}
	struct seen *s = end();
	EXPECT(s->count, 2000);
	EXPECT(s->tids > 100, 1);
	/* Killed in the middle of a write, it leaves a locked slot; others go on. */
	begin("cancel");
	for (int i = 0; i < 50; i++) {
		static volatile uint32_t count;
		pthread_t t;
		uint32_t was = count;
		EXPECT(pthread_create(&t, NULL, write_for_ever, (void *)(uintptr_t)&count), 0);
		while (count == was) {
			sched_yield();
		}
		pthread_cancel(t);
		pthread_join(t, NULL);
		live_wait(write_id(handle, 10) == 0); /* the flood has filled the pool */
	}
	live_stop(&session);
	struct seen now = {0};
	live_read(session.path, see, &now);
	/* All written; the flood may have taken the session's buffers, and then that is counted. */
	EXPECT(now.id[10] <= 50, 1);
	EXPECT(now.id[10] + session.block.p.EventsLost >= 50, 1);
	EXPECT(EventUnregister(handle), 0);
}

/* ---- libraries
 * ------------------------------------------------------------------------------------ */

static void a_library_may_go_without_a_word(void)
{
	char path[512];
	const char *slash = strrchr(self, '/');
	snprintf(path, sizeof path, "%.*s/libplugin.so", (int)(slash - self), self);
	for (int round = 0; round < 3; round++) {
		void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!lib) {
			printf("%s\n", dlerror());
		}
		EXPECT(lib != NULL, 1);
		int (*start)(const GUID *) = (int (*)(const GUID *))dlsym(lib, "plugin_start");
		int (*put)(int) = (int (*)(int))dlsym(lib, "plugin_write");
		int (*calls)(void) = (int (*)(void))dlsym(lib, "plugin_calls");
		begin("plugin");
		EXPECT(start(&guid), 0);
		EXPECT(calls(), 1);
		EXPECT(put(20), 0);
		EXPECT(dlclose(lib), 0);
		bool gone = dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL;
		/* Would call into the hole where the library was. */
		EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 0, 0, 0), 0);
		struct seen *s = end();
		EXPECT(s->id[20], 1);
		if (!gone) {
			printf("the library stays loaded here: nothing proven\n");
		}
	}
}

/* ---- several registrations of one provider
 */

enum { MANY = 300 };
static REGHANDLE many[MANY];
static volatile int looks, behind; /* registrations that had another state when a callback came */
static VOID NTAPI look_at_others(LPCGUID from, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
				 PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)from, (void)any, (void)all, (void)filter, (void)context;
	for (int i = 0; level == 3 && i < MANY; i++) {
		behind += code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && EventProviderEnabled(many[i], 4, 0);
	}
	looks++; /* callbacks come one after the other */
}

/* The first callback and the last one alike: each may write with any handle. */
static void the_new_state_holds_everywhere_before_a_callback_comes(void)
{
	REGHANDLE first, last;
	begin("everywhere");
	EXPECT(EventRegister(&guid, look_at_others, NULL, &first), 0);
	for (int i = 0; i < MANY; i++) {
		EXPECT(EventRegister(&guid, NULL, NULL, &many[i]), 0);
	}
	EXPECT(EventRegister(&guid, look_at_others, NULL, &last), 0);
	EXPECT(looks, 2);
	for (int turn = 0; turn < 20; turn++) {
		EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, turn % 2 ? 5 : 3, 0, 0, 0), 0);
		live_wait(looks == 2 * turn + 4);
	}
	EXPECT(behind, 0);
	for (int i = 0; i < MANY; i++) {
		EXPECT(EventUnregister(many[i]), 0);
	}
	EXPECT(EventUnregister(first), 0);
	EXPECT(EventUnregister(last), 0);
	(void)end();
}

/* ---- descriptors
 * ---------------------------------------------------------------------------------- */

static void closing_every_descriptor_changes_nothing(void)
{
	begin("close");
	pid_t pid = fork(); /* so that this program keeps its own */
	if (pid == 0) {
		EXPECT(EventRegister(&guid, on_enable, NULL, &handle), 0);
		EXPECT(syscall(SYS_close_range, 3, ~0u, 0), 0);
		int mine = open("/dev/null", O_RDWR);
		EXPECT(mine, 3); /* the numbers are the application's alone */
		EXPECT(write_id(handle, 30), 0);
		REGHANDLE second;
		EXPECT(EventRegister(&guid, on_enable, NULL, &second), 0);
		EXPECT(write_id(second, 31), 0);
		live_wait(inline_level == 3); /* enables still arrive */
		EXPECT(write_id(handle, 32), 0);
		EXPECT(fcntl(mine, F_GETFD) >= 0, 1);
		EXPECT(open("/dev/null", O_RDWR), 4);
		_exit(0);
	}
	usleep(300000);
	EXPECT(live_enable(&session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 0, 0, 0), 0);
	EXPECT(exit_code(pid), 0);
	struct seen *s = end();
	EXPECT(s->id[30], 1);
	EXPECT(s->id[31], 1);
	EXPECT(s->id[32], 0); /* level 4 is filtered out by then */
	EXPECT(s->count, 2);
}

static void no_descriptor_left(void)
{
	begin("limit");
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit few = {64, 64};
		EXPECT(setrlimit(RLIMIT_NOFILE, &few), 0);
		while (open("/dev/null", O_RDONLY) >= 0) {
		}
		EXPECT(errno, EMFILE);
		EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
		_exit((int)write_id(handle, 33));
	}
	EXPECT(exit_code(pid), 0);
	EXPECT(end()->id[33], 1);
}

/* ---- sandboxes
 * ------------------------------------------------------------------------------------ */

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* The calls fail with EPERM, or (kill) everything but the calls ends the process. */
static void sandbox(const int *calls, size_t n, bool kill_others)
{
	struct sock_filter prog[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	size_t k = 1;
	uint32_t hit = kill_others ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM;
	for (size_t i = 0; i < n; i++) {
		prog[k++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		prog[k++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, hit);
	}
	prog[k++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						 kill_others ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
	struct sock_fprog fprog = {(unsigned short)k, prog};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) != 0) {
		_exit(77);
	}
}

static int in_sandbox(const int *calls, size_t n, bool kill_others, bool register_first, USHORT id)
{
	pid_t pid = fork();
	if (pid == 0) {
		ULONG r = 0;
		if (register_first) {
			r = EventRegister(&guid, NULL, NULL, &handle);
			r |= write_id(handle, id); /* learns its thread id */
		}
		sandbox(calls, n, kill_others);
		if (!register_first) {
			r = EventRegister(&guid, NULL, NULL, &handle);
		}
		for (int i = 0; i < 100; i++) {
			r |= write_id(handle, id);
		}
		syscall(SYS_exit_group, (int)r);
	}
	return exit_code(pid);
}

static void sandboxes(void)
{
	static const int only[] = {SYS_exit_group, SYS_futex};
	static const int table[] = {SYS_close_range, SYS_unshare};
	static const int sockets[] = {SYS_socket, SYS_connect, SYS_memfd_create, SYS_close_range};
	static const int threads[] = {SYS_clone, SYS_clone3, SYS_close_range};
	begin("sandbox");
	int code = in_sandbox(only, 2, true, true, 40);
	if (code == 77) {
		printf("no seccomp here\n");
		end();
		return;
	}
	EXPECT(code, 0);
	/* No descriptor table of its own, but everything works. */
	EXPECT(in_sandbox(table, 2, false, false, 41), 0);
	/* No way to etwd: a provider that nobody listens to. No thread to go it: it is attached without. */
	EXPECT(in_sandbox(sockets, 4, false, false, 42), 0);
	EXPECT(in_sandbox(threads, 3, false, false, 43), 0);
	struct seen *s = end();
	EXPECT(s->id[40], 101);
	EXPECT(s->id[41], 100);
	EXPECT(s->id[42], 0);
	EXPECT(s->id[43], 100);
}
#else
static void sandboxes(void)
{
	printf("the sandbox test is written for x86-64 without sanitizers\n");
}
#endif

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1) {
		return exec_child();
	}
	live_begin();
	closing_every_descriptor_changes_nothing(); /* before this process has threads of ours */
	no_descriptor_left();
	sandboxes();
	a_forked_child_writes_as_itself();
	a_worker_forked_while_off_learns_of_a_later_enable();
	a_worker_forked_while_on_learns_that_it_is_off();
	exec_starts_afresh();
	a_handler_may_write_while_it_interrupts_a_write();
	events_of_ended_and_cancelled_threads_arrive();
	a_library_may_go_without_a_word();
	the_new_state_holds_everywhere_before_a_callback_comes();
	return 0;
}
