/* SPDX-License-Identifier: MIT
 * The enable protocol as providers and controllers see it.
 */
#include "live.h"

#include <pthread.h>

static const GUID guid = {0xE7AB1E00, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID source = {0x50C4CE00, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};
static const GUID none;

struct call {
	ULONG code;
	UCHAR level;
	ULONGLONG any, all;
	GUID source;
	bool filtered;
	ULONG filter_type, filter_size;
	uint8_t filter[256];
};
static struct call calls[64];
static volatile uint32_t call_count;
static REGHANDLE handle;

/* What the callback is to do. */
static volatile unsigned sleep_ms;
static volatile bool write_inside, leave_inside;
static volatile ULONG unregister_code;

static ULONG write_event(USHORT id, UCHAR level, ULONGLONG keyword)
{
	EVENT_DESCRIPTOR d = {.Id = id, .Level = level, .Keyword = keyword};
	return EventWrite(handle, &d, 0, NULL);
}

static VOID NTAPI on_enable(LPCGUID from, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct call *c = &calls[call_count % 64];
	EXPECT(context == &guid, 1);
	*c = (struct call){.code = code, .level = level, .any = any, .all = all, .source = *from};
	if (filter) {
		c->filtered = true;
		c->filter_type = filter->Type;
		c->filter_size = filter->Size;
		EXPECT(filter->Size <= sizeof c->filter, 1);
		memcpy(c->filter, (void *)(uintptr_t)filter->Ptr, filter->Size);
	}
	if (sleep_ms) {
		usleep(sleep_ms * 1000);
	}
	if (write_inside) {
		EXPECT(write_event((USHORT)(100 + code), 1, 0), 0);
	}
	if (leave_inside) {
		unregister_code = EventUnregister(handle);
	}
	__atomic_add_fetch(&call_count, 1, __ATOMIC_RELEASE);
}

#define EXPECT_CALL(index, want_code, want_level, want_any, want_all) \
	do {                                                          \
		const struct call *c_ = &calls[index];                \
		EXPECT(call_count > (index), 1);                      \
		EXPECT(c_->code, want_code);                          \
		EXPECT(c_->level, want_level);                        \
		EXPECT(c_->any, want_any);                            \
		EXPECT(c_->all, want_all);                            \
	} while (0)

static void enter(void)
{
	call_count = 0;
	EXPECT(EventRegister(&guid, on_enable, (PVOID)(uintptr_t)&guid, &handle), 0);
}

static void leave(void)
{
	EXPECT(EventUnregister(handle), 0);
	handle = 0;
}

static ULONG on(struct live_session *s, UCHAR level, ULONGLONG any, ULONGLONG all)
{
	return live_enable(s, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, any, all, 0);
}
static ULONG off(struct live_session *s)
{
	return live_enable(s, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0);
}
static ULONG capture(struct live_session *s, UCHAR level, ULONGLONG any)
{
	return live_enable(s, &guid, EVENT_CONTROL_CODE_CAPTURE_STATE, level, any, 0, 0);
}

struct tally {
	uint32_t count, id[256];
};
static void tally_one(PEVENT_RECORD r, void *context)
{
	struct tally *t = context;
	t->count++;
	t->id[r->EventHeader.EventDescriptor.Id & 255]++;
}
static struct tally tally(const struct live_session *s)
{
	struct tally t = {0};
	live_read(s->path, tally_one, &t);
	return t;
}

/* ---- registering ----------------------------------------------------------------------------- */

static void registering_under_an_enabled_guid_calls_back_before_it_returns(void)
{
	struct live_session s;
	live_start(&s, "early", "early.etl", 0);
	EXPECT(on(&s, 4, 0x30, 0), 0);
	write_inside = true; /* the handle is there already */
	enter();
	write_inside = false;
	EXPECT(call_count, 1);
	EXPECT_CALL(0, 1, 4, 0x30, 0);
	EXPECT(memcmp(&calls[0].source, &none, sizeof none), 0);
	EXPECT(write_event(1, 4, 0x10), 0); /* the very first one counts */
	leave();
	live_stop(&s);
	struct tally t = tally(&s);
	EXPECT(t.id[101], 1);
	EXPECT(t.id[1], 1);
	EXPECT(t.count, 2);
}

static void enabling_first_and_registering_later_is_remembered_through_an_update(void)
{
	struct live_session s;
	live_start(&s, "pre", "pre.etl", 0);
	EXPECT(on(&s, 2, 1, 0), 0);
	EXPECT(on(&s, 3, 2, 2), 0);
	enter();
	EXPECT_CALL(0, 1, 3, 2, 2);
	leave();
	live_stop(&s);
}

/* ---- merging --------------------------------------------------------------------------------- */

static void sessions_merge_to_the_least_restrictive(void)
{
	struct live_session a, b;
	enter();
	live_start(&a, "merge-a", "ma.etl", 0);
	live_start(&b, "merge-b", "mb.etl", 0);
	EXPECT(on(&a, 5, 1, 0), 0);
	EXPECT(on(&b, 4, 2, 0), 0);
	EXPECT(call_count, 2);
	EXPECT_CALL(0, 1, 5, 1, 0);
	EXPECT_CALL(1, 1, 5, 3, 0);
	live_stop(&a); /* as DISABLE for each provider it had enabled */
	live_wait(call_count == 3);
	EXPECT_CALL(2, 1, 4, 2, 0);
	EXPECT(memcmp(&calls[2].source, &none, sizeof none), 0);
	live_stop(&b);
	live_wait(call_count == 4);
	EXPECT_CALL(3, 0, 0, 0, 0);
	leave();
}

static void zero_means_everything_and_all_is_intersected(void)
{
	struct live_session a, b;
	enter();
	live_start(&a, "zero-a", "za.etl", 0);
	live_start(&b, "zero-b", "zb.etl", 0);
	EXPECT(on(&a, 3, 0xF0, 0x30), 0);
	EXPECT(on(&b, 0, 0, 0x10), 0);
	EXPECT_CALL(0, 1, 3, 0xF0, 0x30);
	EXPECT_CALL(1, 1, 255, UINT64_MAX, 0x10);
	EXPECT(off(&b), 0);
	EXPECT_CALL(2, 1, 3, 0xF0, 0x30);
	EXPECT(off(&b), 0); /* not enabled: nothing happens */
	EXPECT(off(&a), 0);
	EXPECT_CALL(3, 0, 0, 0, 0);
	EXPECT(call_count, 4);
	live_stop(&a);
	live_stop(&b);
	leave();
}

/* Each session gets what its own filter accepts, however wide the other's is. */
static void no_session_gets_what_only_the_other_wants(void)
{
	struct live_session a, b;
	enter();
	live_start(&a, "exact-a", "xa.etl", 0);
	live_start(&b, "exact-b", "xb.etl", 0);
	EXPECT(on(&a, 2, 0x1, 0), 0);
	EXPECT(live_enable(&b, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0x6, 0x4,
			   EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0),
	       0);
	EXPECT(EventProviderEnabled(handle, 200, 4), 1);
	EXPECT(EventProviderEnabled(handle, 200, 8), 0);
	EXPECT(write_event(1, 2, 0x1), 0); /* a */
	EXPECT(write_event(2, 3, 0x1), 0); /* nobody: too verbose for a */
	EXPECT(write_event(3, 3, 0x4), 0); /* b */
	EXPECT(write_event(4, 1, 0x2), 0); /* nobody: b wants all of 4 */
	EXPECT(write_event(5, 0, 0x7), 0); /* both */
	EXPECT(write_event(6, 1, 0), 0);   /* a: b ignores keyword 0 */
	EXPECT(write_event(7, 9, 0x8), 0); /* nobody */
	live_stop(&a);
	live_stop(&b);
	leave();
	struct tally x = tally(&a), y = tally(&b);
	EXPECT(x.count, 3);
	EXPECT(x.id[1] + x.id[5] + x.id[6], 3);
	EXPECT(y.count, 2);
	EXPECT(y.id[3] + y.id[5], 2);
}

/* ---- the two-session experiment, as measured on Windows with two recording profiles -------------
 */

static void two_profiles_one_after_the_other(void)
{
	struct live_session a, b;
	enter();
	live_start(&a, "profile-1", "p1.etl", 0);
	EXPECT(on(&a, 5, 0x1 | 0x2, 0), 0);
	EXPECT(capture(&a, 5, 0x1 | 0x2), 0);
	EXPECT(on(&a, 5, 0x1, 0), 0);
	live_start(&b, "profile-2", "p2.etl", 0);
	EXPECT(on(&b, 7, 0x8 | 0x10, 0), 0);
	EXPECT(capture(&b, 0, 0), 0); /* nothing said: what it has enabled */
	EXPECT(on(&b, 7, 0x8, 0), 0);
	EXPECT(on(&a, 5, 0x1 | 0x4, 0), 0);
	EXPECT(capture(&a, 5, 0x1 | 0x4), 0);
	EXPECT(on(&a, 5, 0x1, 0), 0);
	live_stop(&a);
	live_wait(call_count == 10);
	EXPECT(on(&b, 7, 0x8 | 0x20, 0), 0);
	EXPECT(capture(&b, 7, 0x8 | 0x20), 0);
	EXPECT(on(&b, 7, 0x8, 0), 0);
	live_stop(&b);
	live_wait(call_count == 14);
	static const struct {
		ULONG code;
		UCHAR level;
		ULONGLONG any;
	} want[] = {{1, 5, 0x3}, {2, 5, 0x3}, {1, 5, 0x1}, {1, 7, 0x19}, {2, 7, 0x18}, {1, 7, 0x9}, {1, 7, 0xD},
		    {2, 5, 0x5}, {1, 7, 0x9}, {1, 7, 0x8}, {1, 7, 0x28}, {2, 7, 0x28}, {1, 7, 0x8}, {0, 0, 0}};
	for (uint32_t i = 0; i < 14; i++) {
		EXPECT_CALL(i, want[i].code, want[i].level, want[i].any, 0);
		EXPECT(calls[i].filtered, 0);
	}
	leave();
}

/* ---- capturing state ---------------------------------------------------------------------------
 */

static void capturing_state_waits_for_what_the_callback_writes(void)
{
	struct live_session a, b;
	enter();
	live_start(&a, "cap-a", "ca.etl", 0);
	live_start(&b, "cap-b", "cb.etl", 0);
	EXPECT(capture(&a, 0, 0), 0); /* has not enabled it: nothing */
	EXPECT(call_count, 0);
	EXPECT(on(&a, 5, 0, 0), 0);
	sleep_ms = 300;
	write_inside = true;
	EXPECT(capture(&a, 5, 0x2), 0);
	EXPECT(call_count, 2);
	EXPECT_CALL(1, 2, 5, 0x2, 0);
	live_stop(&a);
	write_inside = false;
	sleep_ms = 0;
	live_wait(call_count == 3);
	live_stop(&b);
	leave();
	EXPECT(tally(&a).id[102], 1);
}

static void a_caller_waits_no_longer_than_it_says(void)
{
	struct live_session s;
	enter();
	live_start(&s, "slow", "slow.etl", 0);
	EXPECT(on(&s, 5, 0, 0), 0);
	sleep_ms = 400;
	EXPECT(EnableTraceEx2(s.id, &guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 5, 0, 0, 50, NULL), ERROR_TIMEOUT);
	EXPECT(call_count, 1);
	EXPECT(EnableTraceEx2(s.id, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 0, 0, 0, NULL),
	       0);                                     /* does not wait at all */
	EXPECT(EventProviderEnabled(handle, 4, 0), 0); /* but is in force */
	live_wait(call_count == 3);
	sleep_ms = 0;
	EXPECT_CALL(1, 2, 5, UINT64_MAX, 0);
	EXPECT_CALL(2, 1, 3, UINT64_MAX, 0);
	live_stop(&s);
	leave();
}

/* ---- filters ------------------------------------------------------------------------------------
 */

struct filter {
	EVENT_FILTER_HEADER h;
	uint32_t data;
};

static void put_on_filtered(struct live_session *s, uint32_t data)
{
	struct filter f = {.h = {.Id = 3, .Version = 1, .Size = sizeof f}, .data = data};
	EVENT_FILTER_DESCRIPTOR d = {
		.Ptr = (ULONGLONG)(uintptr_t)&f, .Size = sizeof f, .Type = EVENT_FILTER_TYPE_SCHEMATIZED};
	ENABLE_TRACE_PARAMETERS p = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
				     .SourceId = source,
				     .EnableFilterDesc = &d,
				     .FilterDescCount = 1};
	EXPECT(EnableTraceEx2(s->id, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 5000, &p), 0);
}

static void filters_reach_the_callback_and_name_their_session(void)
{
	struct live_session a, b;
	struct filter f[2];
	enter();
	live_start(&a, "filter-a", "fa.etl", 0);
	live_start(&b, "filter-b", "fb.etl", 0);
	put_on_filtered(&a, 0xAAAA);
	const struct call *c = &calls[0];
	EXPECT(c->filtered, 1);
	EXPECT(c->filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	EXPECT(c->filter_size, sizeof f[0]);
	EXPECT(memcmp(&c->source, &source, sizeof source), 0);
	memcpy(f, c->filter, sizeof f[0]);
	EXPECT(f[0].h.Id, 3);
	EXPECT(f[0].h.Version, 1);
	EXPECT(f[0].data, 0xAAAA);
	EXPECT(f[0].h.NextOffset, 0);
	put_on_filtered(&b, 0xBBBB);
	c = &calls[1];
	EXPECT(c->filter_size, sizeof f);
	memcpy(f, c->filter, sizeof f);
	uint32_t ia = f[0].data == 0xAAAA ? 0 : 1;
	EXPECT(f[ia].data, 0xAAAA);
	EXPECT(f[1 - ia].data, 0xBBBB);
	EXPECT(f[0].h.NextOffset, sizeof f[0]);
	EXPECT(f[1].h.NextOffset, 0);
	ULONGLONG id_a = f[ia].h.InstanceId, id_b = f[1 - ia].h.InstanceId;
	EXPECT(__builtin_popcountll(id_a), 1);
	EXPECT(__builtin_popcountll(id_b), 1);
	EXPECT(id_a != id_b, 1);
	static const EVENT_DESCRIPTOR d1 = {.Id = 1}, d2 = {.Id = 2}, d3 = {.Id = 3}, d4 = {.Id = 4};
	EXPECT(EventWriteEx(handle, &d1, id_a, 0, NULL, NULL, 0, NULL), 0);
	EXPECT(EventWriteEx(handle, &d2, id_b, 0, NULL, NULL, 0, NULL), 0);
	EXPECT(EventWriteEx(handle, &d3, id_a | id_b, 0, NULL, NULL, 0, NULL), 0);
	EXPECT(EventWriteEx(handle, &d4, 0, 0, NULL, NULL, 0, NULL), 0);
	/* A call without filters clears them. */
	EXPECT(on(&a, 5, 0, 0), 0);
	EXPECT(calls[2].filter_size, sizeof f[0]);
	live_stop(&a);
	live_stop(&b);
	leave();
	struct tally x = tally(&a), y = tally(&b);
	EXPECT(x.count, 2);
	EXPECT(x.id[2] + x.id[4], 2);
	EXPECT(y.count, 2);
	EXPECT(y.id[1] + y.id[4], 2);
}

static void events_marked_private_are_kept_from_sessions_that_exclude_them(void)
{
	struct live_session a, b;
	static const EVENT_DESCRIPTOR d = {.Id = 1};
	enter();
	live_start(&a, "priv-a", "va.etl", 0);
	live_start(&b, "priv-b", "vb.etl", 0);
	EXPECT(live_enable(&a, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
			   EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE),
	       0);
	EXPECT(on(&b, 5, 0, 0), 0);
	EXPECT(EventWriteEx(handle, &d, 0, EVENT_WRITE_FLAG_INPRIVATE, NULL, NULL, 0, NULL), 0);
	live_stop(&a);
	live_stop(&b);
	leave();
	EXPECT(tally(&a).count, 0);
	EXPECT(tally(&b).count, 1);
}

/* ---- leaving ------------------------------------------------------------------------------------
 */

static void unregistering_inside_the_callback_does_not_hang(void)
{
	struct live_session s;
	live_start(&s, "leave", "leave.etl", 0);
	enter();
	leave_inside = true;
	unregister_code = 1;
	EXPECT(on(&s, 5, 0, 0), 0);
	leave_inside = false;
	EXPECT(call_count, 1);
	EXPECT(unregister_code, 0);
	EXPECT(EventUnregister(handle), ERROR_INVALID_HANDLE);
	EXPECT(write_event(1, 1, 0), ERROR_INVALID_HANDLE);
	live_stop(&s);
}

static void *enable_slowly(void *arg)
{
	EXPECT(on(arg, 5, 0, 0), 0);
	return NULL;
}

static void after_unregistering_no_callback_runs(void)
{
	struct live_session s;
	pthread_t t;
	live_start(&s, "after", "after.etl", 0);
	enter();
	sleep_ms = 200;
	EXPECT(pthread_create(&t, NULL, enable_slowly, &s), 0);
	live_wait(EventProviderEnabled(handle, 5, 0));
	usleep(50000); /* it sleeps in its callback now */
	leave();
	EXPECT(call_count, 1);
	sleep_ms = 0;
	pthread_join(t, NULL);
	live_stop(&s);
	EXPECT(call_count, 1);
}

static void two_registrations_of_one_guid_are_independent(void)
{
	struct live_session s;
	REGHANDLE second = 0;
	enter();
	EXPECT(EventRegister(&guid, on_enable, (PVOID)(uintptr_t)&guid, &second), 0);
	EXPECT(second != handle, 1);
	live_start(&s, "twice", "twice.etl", 0);
	EXPECT(on(&s, 5, 0, 0), 0);
	EXPECT(call_count, 2);
	EXPECT(EventUnregister(second), 0);
	EXPECT(write_event(1, 1, 0), 0);
	live_stop(&s);
	leave();
	EXPECT(tally(&s).count, 1);
}

int main(void)
{
	live_begin();
	registering_under_an_enabled_guid_calls_back_before_it_returns();
	enabling_first_and_registering_later_is_remembered_through_an_update();
	sessions_merge_to_the_least_restrictive();
	zero_means_everything_and_all_is_intersected();
	no_session_gets_what_only_the_other_wants();
	two_profiles_one_after_the_other();
	capturing_state_waits_for_what_the_callback_writes();
	a_caller_waits_no_longer_than_it_says();
	filters_reach_the_callback_and_name_their_session();
	events_marked_private_are_kept_from_sessions_that_exclude_them();
	unregistering_inside_the_callback_does_not_hang();
	after_unregistering_no_callback_runs();
	two_registrations_of_one_guid_are_independent();
	return 0;
}
