/* SPDX-License-Identifier: MIT
 *
 * Programs that end the thread which calls their callback, fork before there is an etwd, and write events in
 * signal handlers while they register: they go on being heard.
 */
#include "live.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

static const GUID provider = {0x83c1f1a0, 0x0b1d, 0x4f7b, {0x9d, 0x0e, 4, 4, 4, 4, 4, 4}};
static const GUID other = {0x83c1f1a0, 0x0b1d, 0x4f7b, {0x9d, 0x0e, 5, 5, 5, 5, 5, 5}};
static atomic_uint told, ends;
static REGHANDLE handle;

struct seen {
	uint64_t events, children;
};

static void look(PEVENT_RECORD r, void *context)
{
	struct seen *s = context;
	if (IsEqualGUID(&r->EventHeader.ProviderId, &provider)) {
		s->events++;
		s->children += r->EventHeader.ProcessId != (ULONG)getpid();
	}
}

static void on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		      PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	told++;
	if (ends > 0) {
		ends--;
		pthread_exit(NULL);
	}
}

static ULONG put(void)
{
	static const EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
	return EventWrite(handle, &d, 0, NULL);
}

static void callbacks_end_their_thread(void)
{
	struct live_session s;
	live_start(&s, "ends", "ends.etl", 0);
	EXPECT(EventRegister(&provider, on_enable, NULL, &handle), ERROR_SUCCESS);
	ends = 50;
	for (unsigned i = 0; i < 100; i++) {
		unsigned before = told;
		EXPECT(live_enable(&s, &provider, i % 2 == 0, 4, 0, 0, 0), ERROR_SUCCESS);
		live_wait(told > before);
	}
	EXPECT(ends, 0);
	EXPECT(EventUnregister(handle), ERROR_SUCCESS);
	live_stop(&s);
}

/* No callback: nothing of ours runs in the child before it calls, and there is no etwd then. */
static pid_t child_before_etwd(int ready)
{
	EXPECT(EventRegister(&provider, NULL, NULL, &handle), ERROR_SUCCESS);
	pid_t pid = fork();
	if (pid != 0) {
		return pid;
	}
	alarm(60);
	put();
	(void)!write(ready, "", 1);
	while (!EventProviderEnabled(handle, 4, 0)) {
		usleep(1000);
	}
	_exit(put() == ERROR_SUCCESS ? 0 : 1);
}

static atomic_ulong from_handler;

static void on_timer(int sig)
{
	from_handler += put() == ERROR_SUCCESS;
}

static void events_from_handlers_while_registering(void)
{
	struct live_session s;
	struct seen seen = {0};
	struct sigaction sa = {.sa_handler = on_timer}, old;
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	live_start(&s, "handlers", "handlers.etl", 0);
	EXPECT(live_enable(&s, &provider, 1, 5, 0, 0, 0), ERROR_SUCCESS);
	live_wait(EventProviderEnabled(handle, 4, 0));
	sigaction(SIGALRM, &sa, &old);
	for (unsigned i = 0; i < 40; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			/* Also while the child finds its etwd and creates its threads. */
			REGHANDLE h;
			setitimer(ITIMER_REAL, &often, NULL);
			for (unsigned k = 0; k < 20; k++) {
				EXPECT(EventRegister(&other, on_enable, NULL, &h), ERROR_SUCCESS);
				EXPECT(EventUnregister(h), ERROR_SUCCESS);
			}
			setitimer(ITIMER_REAL, &never, NULL);
			_exit(from_handler > 0 && put() == ERROR_SUCCESS ? 0 : 1);
		}
		int status;
		waitpid(pid, &status, 0);
		EXPECT(status, 0);
	}
	sigaction(SIGALRM, &old, NULL);
	live_stop(&s);
	live_read(s.path, look, &seen);
	EXPECT(seen.children >= 80, 1);
}

int main(void)
{
	int ready[2], status;
	char byte;
	struct live_session s;
	struct seen seen = {0};
	live_init();
	setenv("OPENETW_WAIT_MS", "100", 1);
	EXPECT(pipe(ready), 0);
	pid_t pid = child_before_etwd(ready[1]);
	EXPECT(read(ready[0], &byte, 1), 1);
	live_start(&s, "late", "late.etl", 0); /* starts etwd */
	EXPECT(live_enable(&s, &provider, 1, 5, 0, 0, 0), ERROR_SUCCESS);
	waitpid(pid, &status, 0);
	EXPECT(status, 0);
	live_stop(&s);
	live_read(s.path, look, &seen);
	EXPECT(seen.children, 1);
	events_from_handlers_while_registering();
	EXPECT(EventUnregister(handle), ERROR_SUCCESS);
	callbacks_end_their_thread();
	return 0;
}
