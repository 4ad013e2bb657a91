/* SPDX-License-Identifier: MIT
 *
 * EventWrite that never returns: a fault in the payload with siglongjmp out of its handler, a timer whose handler
 * jumps out of anything, threads that are cancelled in the middle. The process must go on being heard, at full
 * speed, however often that happened; and what was begun and not finished is no event.
 */
#include "live.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>

#define FAULTS  100000
#define DEPTHS  200
#define JUMPS   20000
#define CANCELS 500

static const GUID provider = {0x5d1bb2a1, 0x77c3, 0x4e53, {0x91, 0x0a, 1, 2, 3, 4, 5, 6}};
static REGHANDLE handle;
static sigjmp_buf out;
static char *hole; /* a page that cannot be read */

struct seen {
	uint64_t numbered, last, disorder;
	uint64_t others;
};

static void look(PEVENT_RECORD r, void *context)
{
	struct seen *s = context;
	if (!IsEqualGUID(&r->EventHeader.ProviderId, &provider)) {
		return;
	}
	if (r->EventHeader.EventDescriptor.Id != 1) {
		s->others++;
		return;
	}
	uint64_t n;
	EXPECT(r->UserDataLength, sizeof n);
	memcpy(&n, r->UserData, sizeof n);
	s->disorder += s->numbered > 0 && n <= s->last;
	s->last = n;
	s->numbered++;
}

/* A numbered event that must arrive. */
static uint64_t next_number;
static __attribute__((noinline)) void say(unsigned depth)
{
	volatile char frame[64];
	frame[0] = (char)depth;
	if (depth > 0) {
		say(depth - 1);
		return;
	}
	EVENT_DATA_DESCRIPTOR data;
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
	uint64_t n = next_number++;
	EventDataDescCreate(&data, &n, sizeof n);
	/* Only etwd makes room again, and it may have to wait for a processor. */
	live_wait(EventWrite(handle, &d, 1, &data) == ERROR_SUCCESS);
	(void)frame[0];
}

static void on_fault(int sig)
{
	siglongjmp(out, 1);
}

/* Faults in the copy of the payload, so deep in the stack. */
static __attribute__((noinline)) void fault(unsigned depth, unsigned pieces)
{
	volatile char frame[64];
	frame[0] = (char)depth;
	if (depth > 0) {
		fault(depth - 1, pieces);
	} else {
		EVENT_DATA_DESCRIPTOR data[12];
		EVENT_DESCRIPTOR d = {.Id = 2, .Level = 4};
		for (unsigned i = 0; i < pieces; i++) {
			EventDataDescCreate(&data[i], &depth, sizeof depth);
		}
		EventDataDescCreate(&data[pieces], hole, 40);
		EventWrite(handle, &d, pieces + 1, data);
	}
	(void)frame[0];
}

static void faults(void)
{
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, old;
	sigaction(SIGSEGV, &sa, &old);
	for (volatile unsigned i = 0; i < FAULTS; i++) {
		if (sigsetjmp(out, 0) == 0) {
			fault(i % DEPTHS, i % 11);
		}
		if (i % 100 == 99) {
			say(i / 100 % DEPTHS);
		}
	}
	/* Each deeper than the one before, and the next event deeper still. */
	for (volatile unsigned i = 0; i < 3000; i++) {
		if (sigsetjmp(out, 0) == 0) {
			fault(i, 1);
		}
		if (i % 50 == 49) {
			say(i + 20);
		}
	}
	sigaction(SIGSEGV, &old, NULL);
}

static volatile sig_atomic_t inside;
static atomic_ulong jumped;

static void on_timer(int sig)
{
	if (inside) {
		inside = 0;
		jumped++;
		siglongjmp(out, 1);
	}
}

/* At any instruction of EventWrite. */
static void jumps(void)
{
	struct sigaction sa = {.sa_handler = on_timer}, old;
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	time_t end = time(NULL) + 20;
	volatile unsigned n = 0;
	while (jumped < JUMPS && time(NULL) < end) {
		if (sigsetjmp(out, 1) == 0) {
			EVENT_DATA_DESCRIPTOR data;
			EVENT_DESCRIPTOR d = {.Id = 3, .Level = 4};
			static const char text[900];
			inside = 1;
			for (;;) {
				EventDataDescCreate(&data, text, n++ % sizeof text);
				EventWrite(handle, &d, 1, &data);
			}
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	printf("%lu jumps out of EventWrite\n", (unsigned long)jumped);
}

static void *until_cancelled(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	*(atomic_bool *)arg = true;
	EVENT_DATA_DESCRIPTOR data;
	EVENT_DESCRIPTOR d = {.Id = 4, .Level = 4};
	static const char text[600];
	EventDataDescCreate(&data, text, sizeof text);
	for (;;) {
		EventWrite(handle, &d, 1, &data);
	}
	return NULL;
}

static void cancels(void)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (unsigned i = 0; i < CANCELS; i++) {
		pthread_t t;
		atomic_bool runs = false;
		EXPECT(pthread_create(&t, &attr, until_cancelled, &runs), 0);
		while (!runs) {
		}
		for (volatile unsigned k = 0; k < i % 400; k++) {
		}
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
}

/* A thread that jumped out lives on, and writes nothing more. */
static void *jump_and_stay(void *arg)
{
	sigset_t set;
	if (sigsetjmp(out, 0) == 0) {
		fault(3, 2);
	}
	*(atomic_bool *)arg = true;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	int sig;
	sigwait(&set, &sig);
	return NULL;
}

static void idle_threads(void)
{
	enum { THREADS = 600 };
	static pthread_t t[THREADS];
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, old;
	sigset_t set;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGSEGV, &sa, &old);
	for (int i = 0; i < THREADS; i++) {
		atomic_bool done = false;
		EXPECT(pthread_create(&t[i], &attr, jump_and_stay, &done), 0);
		while (!done) {
			usleep(100);
		}
	}
	sigaction(SIGSEGV, &old, NULL);
	/* Nothing tells at once that a thread which sleeps does not come back to an event. */
	EVENT_DATA_DESCRIPTOR data;
	EVENT_DESCRIPTOR d = {.Id = 5, .Level = 4};
	EventDataDescCreate(&data, "x", 1);
	for (int good = 0, tries = 0; good < 20; tries++) {
		good = EventWrite(handle, &d, 1, &data) == ERROR_SUCCESS ? good + 1 : 0;
		EXPECT(tries < 2000, 1);
		usleep(10000);
	}
	for (int i = 0; i < 1000; i++) {
		say(0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_kill(t[i], SIGUSR2);
		pthread_join(t[i], NULL);
	}
}

static void run(const char *what, void (*body)(void))
{
	struct live_session s;
	char file[64];
	struct seen seen = {0};
	uint64_t before = next_number;
	snprintf(file, sizeof file, "%s.etl", what);
	live_start(&s, what, file, 0);
	EXPECT(live_enable(&s, &provider, 1, 5, 0, 0, 0), ERROR_SUCCESS);
	live_wait(EventProviderEnabled(handle, 4, 0));
	body();
	/* A pool that is full of events is emptied; one that is full of what was left behind would stay so. */
	EVENT_DESCRIPTOR other = {.Id = 5, .Level = 4};
	live_wait(EventWrite(handle, &other, 0, NULL) == ERROR_SUCCESS);
	usleep(200000);
	/* It writes as ever. */
	for (int i = 0; i < 20000; i++) {
		say((unsigned)i % 7);
		if (i % 1000 == 0) {
			usleep(2000);
		}
	}
	live_stop(&s);
	live_read(s.path, look, &seen);
	printf("%s: %llu of %llu numbered events, %llu others, %u lost\n", what, (unsigned long long)seen.numbered,
	       (unsigned long long)(next_number - before), (unsigned long long)seen.others, s.block.p.EventsLost);
	EXPECT(seen.disorder, 0);
	EXPECT(seen.numbered, next_number - before);
}

int main(int argc, char **argv)
{
	live_begin();
	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(EventRegister(&provider, NULL, NULL, &handle), ERROR_SUCCESS);
	static const struct {
		const char *name;
		void (*body)(void);
	} all[] = {{"faults", faults}, {"jumps", jumps}, {"cancels", cancels}, {"idle", idle_threads}};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		if (argc < 2 || strcmp(argv[1], all[i].name) == 0) {
			run(all[i].name, all[i].body);
		}
	}
	EXPECT(EventUnregister(handle), ERROR_SUCCESS);
	return 0;
}
