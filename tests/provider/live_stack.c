/* SPDX-License-Identifier: MIT
 * A session that asks for stacks gets the chain of calls, whatever the code was compiled with; one
 * that does not ask gets none.
 */
#include "live.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

/* EventWrite's own frame shows only where no sibling call is made: -O0, sanitizers. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_FRAME true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define OWN_FRAME true
#endif
#ifndef OWN_FRAME
#define OWN_FRAME false
#endif

typedef int leaf_fn(int);
int with_fp_a(leaf_fn *leaf, int n);
int with_fp_b(leaf_fn *leaf, int n);
int with_fp_c(leaf_fn *leaf, int n);
int without_fp_a(leaf_fn *leaf, int n);
int without_fp_b(leaf_fn *leaf, int n);
int without_fp_c(leaf_fn *leaf, int n);

static const GUID guid = {0x57ACC000, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static REGHANDLE handle;
static USHORT next_id;

__attribute__((noinline)) static int leaf(int n)
{
	EVENT_DESCRIPTOR d = {.Id = next_id, .Level = 4, .Keyword = 1};
	int r = (int)EventWrite(handle, &d, 0, NULL);
	__asm__ volatile("" ::: "memory"); /* not a sibling call */
	return r + n * 0;
}

__attribute__((noinline)) static int leaf_transfer(int n)
{
	EVENT_DESCRIPTOR d = {.Id = next_id, .Level = 4, .Keyword = 1};
	static const GUID related = {1, 1, 1, {1, 1, 1, 1, 1, 1, 1, 1}};
	int r = (int)EventWriteTransfer(handle, &d, NULL, &related, 0, NULL);
	__asm__ volatile("" ::: "memory");
	return r + n * 0;
}

static void on_signal(int sig)
{
	leaf(sig);
}

__attribute__((noinline)) static int leaf_signal(int n)
{
	int r = raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
	return r + n * 0;
}

/* No function of ours begins between it and the address. */
static bool inside(ULONG64 address, const void *function)
{
	static const void *const known[] = {
		(void *)leaf,         (void *)leaf_transfer, (void *)leaf_signal, (void *)on_signal,
		(void *)with_fp_a,    (void *)with_fp_b,     (void *)with_fp_c,   (void *)without_fp_a,
		(void *)without_fp_b, (void *)without_fp_c,
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if ((uintptr_t)known[i] > (uintptr_t)function && (uintptr_t)known[i] < address) {
			return false;
		}
	}
	return address > (uintptr_t)function && address < (uintptr_t)function + 4096;
}

static bool is_own_frame(ULONG64 address)
{
	Dl_info at, api;
	return OWN_FRAME && dladdr((void *)(uintptr_t)address, &at) && dladdr((void *)EventWrite, &api) &&
	       at.dli_fbase == api.dli_fbase;
}

struct expected {
	USHORT id;
	bool any_place; /* behind frames of the system */
	const void *chain[4];
};
static const struct expected expected[] = {
	{1, false, {(void *)leaf, (void *)with_fp_c, (void *)with_fp_b, (void *)with_fp_a}},
	{2, false, {(void *)leaf, (void *)without_fp_c, (void *)without_fp_b, (void *)without_fp_a}},
	{3, false, {(void *)leaf_transfer, (void *)without_fp_c, (void *)without_fp_b, (void *)without_fp_a}},
	{4, true, {(void *)leaf_signal, (void *)without_fp_c, (void *)without_fp_b, (void *)without_fp_a}},
};

struct found {
	pthread_mutex_t lock;
	uint32_t events, stacks, right;
};

static void check(PEVENT_RECORD r, void *context)
{
	struct found *f = context;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item = live_item(r, EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
	USHORT id = r->EventHeader.EventDescriptor.Id;
	if (memcmp(&r->EventHeader.ProviderId, &guid, sizeof guid) != 0) {
		return; /* what explains the stacks */
	}
	f->events++;
	if (!item) {
		return;
	}
	f->stacks++;
	const EVENT_EXTENDED_ITEM_STACK_TRACE64 *s = (const void *)(uintptr_t)item->DataPtr;
	uint32_t frames = (item->DataSize - 8u) / 8u;
	EXPECT(s->MatchId, 0);
	EXPECT(frames > 4 && frames <= 192, 1);
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		const struct expected *e = &expected[i];
		uint32_t at = is_own_frame(s->Address[0]);
		if (e->id != id) {
			continue;
		}
		while (e->any_place && at < frames && !inside(s->Address[at], e->chain[0])) {
			at++;
		}
		bool all = at + 4 <= frames;
		for (uint32_t k = 0; all && k < 4; k++) {
			all = inside(s->Address[at + k], e->chain[k]);
		}
		if (!all) {
			for (uint32_t k = 0; k < frames; k++) {
				printf("id %u frame %u: %llx\n", id, k, (unsigned long long)s->Address[k]);
			}
		}
		f->right += all;
	}
}

static void write_all(void)
{
	next_id = 1;
	EXPECT(with_fp_a(leaf, 1), 0);
	next_id = 2;
	EXPECT(without_fp_a(leaf, 1), 0);
	next_id = 3;
	EXPECT(without_fp_a(leaf_transfer, 1), 0);
	next_id = 4;
	EXPECT(without_fp_a(leaf_signal, 1), 0);
}

/* ---- live
 * ---------------------------------------------------------------------------------------- */

static struct found live = {.lock = PTHREAD_MUTEX_INITIALIZER};
static VOID WINAPI on_live(PEVENT_RECORD r)
{
	if (memcmp(&r->EventHeader.ProviderId, &guid, sizeof guid) == 0) {
		check(r, &live);
	}
}

static void *consume(void *arg)
{
	PROCESSTRACE_HANDLE t = *(PROCESSTRACE_HANDLE *)arg;
	EXPECT(ProcessTrace(&t, 1, NULL, NULL), 0);
	EXPECT(CloseTrace(t), 0);
	return NULL;
}

int main(void)
{
	struct live_session s, plain;
	struct found f = {.events = 0}, none = {.events = 0};
	pthread_t t;
	live_begin();
	signal(SIGUSR1, on_signal);
	EXPECT(EventRegister(&guid, NULL, NULL, &handle), 0);
	live_start(&plain, "plain", "plain.etl", 0);
	EXPECT(live_enable(&plain, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0), 0);
	live_start(&s, "stacks", "stacks.etl", EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE);
	EXPECT(live_enable(&s, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, EVENT_ENABLE_PROPERTY_STACK_TRACE),
	       0);
	EVENT_TRACE_LOGFILEA log = {.LoggerName = (LPSTR) "stacks"};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_live;
	PROCESSTRACE_HANDLE h = OpenTraceA(&log);
	EXPECT(h == INVALID_PROCESSTRACE_HANDLE, 0);
	EXPECT(pthread_create(&t, NULL, consume, &h), 0);
	live_wait(EventProviderEnabled(handle, 4, 1));
	usleep(500000); /* a thread of ours loads the unwinder meanwhile */
	write_all();
	live_stop(&s);
	live_stop(&plain);
	pthread_join(t, NULL);
	live_read(s.path, check, &f);
	EXPECT(f.events, 4);
	EXPECT(f.stacks, 4);
	EXPECT(f.right, 4);
	EXPECT(live.events, 4);
	EXPECT(live.stacks, 4);
	EXPECT(live.right, 4);
	live_read(plain.path, check, &none);
	EXPECT(none.events, 4);
	EXPECT(none.stacks, 0);
	EXPECT(EventUnregister(handle), 0);
	return 0;
}
