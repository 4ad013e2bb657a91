/* SPDX-License-Identifier: MIT
 * Counters that go with events, and samples by other sources than the timer, through the API as Windows
 * programs use it. What Linux counts itself is there on every machine; the processor's own counters are
 * refused by name where a virtual machine has none. What needs perf events for the whole machine is skipped
 * without.
 */
#include "control_testing.h"

#include <openetw/openetw.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS_MAX 1024
#define PAGES    64

enum { TIMER = 0, INSTRUCTION_RETIRED = 26 };

static const GUID thread_class = {0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID perf_class = {0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
static const GUID tcp_class = {0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}};

static bool kernel_there;

#define NEEDS_KERNEL()               \
	do {                         \
		if (!kernel_there) { \
			skip();      \
		}                    \
	} while (0)

/* ---- sources ---------------------------------------------------------------------------------- */

static uint8_t *list_sources(ULONG *ret_bytes)
{
	ULONG need = 0, got = 0;
	expect_code(TraceQueryInformation(0, TraceProfileSourceListInfo, NULL, 0, &need), ERROR_BAD_LENGTH,
		    "how many bytes");
	uint8_t *p = calloc(1, need);
	assert_non_null(p);
	expect_code(TraceQueryInformation(0, TraceProfileSourceListInfo, p, need, &got), ERROR_SUCCESS, "sources");
	assert_int_equal(got, need);
	*ret_bytes = got;
	return p;
}

/* By its description, as programs look for it; UINT32_MAX: it is not there. */
static ULONG source_of(const WCHAR *name)
{
	ULONG bytes, found = UINT32_MAX;
	uint8_t *all = list_sources(&bytes);
	for (const uint8_t *p = all;;) {
		const PROFILE_SOURCE_INFO *s = (const void *)p;
		size_t n = 0;
		while (name[n] && name[n] == s->Description[n]) {
			n++;
		}
		if (name[n] == s->Description[n]) {
			found = s->Source;
		}
		if (s->NextEntryOffset == 0) {
			break;
		}
		p += s->NextEntryOffset;
	}
	free(all);
	return found;
}

static void sources_are_a_chain_that_begins_with_the_timer(void **state)
{
	ULONG bytes, count = 0, most = 0;
	uint8_t *all = list_sources(&bytes);
	assert_int_equal(((const PROFILE_SOURCE_INFO *)(const void *)all)->Source, TIMER);
	for (ULONG at = 0;; count++) {
		const PROFILE_SOURCE_INFO *s = (const void *)(all + at);
		size_t n = 0;
		while (s->Description[n]) {
			n++;
		}
		assert_true(n > 0);
		assert_true(at + offsetof(PROFILE_SOURCE_INFO, Description) + 2 * (n + 1) <= bytes);
		assert_true(s->MinInterval > 0 && s->MinInterval <= s->MaxInterval);
		if (s->NextEntryOffset == 0) {
			break;
		}
		assert_int_equal(s->NextEntryOffset % 8, 0);
		at += s->NextEntryOffset;
	}
	free(all);
	assert_int_equal(source_of(u"Timer"), TIMER);
	assert_int_not_equal(source_of(u"ContextSwitches"), UINT32_MAX);
	assert_int_not_equal(source_of(u"PageFaults"), UINT32_MAX);
	expect_code(TraceQueryInformation(0, TraceMaxPmcCounterQuery, &most, 4, NULL), ERROR_SUCCESS, "most");
	assert_true(most > 0 && most <= 7); /* what a record's header can say */
}

static void every_source_keeps_an_interval_of_its_own(void **state)
{
	ULONG faults = source_of(u"PageFaults");
	TRACE_PROFILE_INTERVAL set = {faults, 7}, got = {faults, 0}, timer = {TIMER, 0};
	ULONG before;
	expect_code(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &timer, sizeof timer, NULL),
		    ERROR_SUCCESS, "the timer's");
	before = timer.Interval;
	expect_code(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &set, sizeof set), ERROR_SUCCESS, "set");
	expect_code(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &got, sizeof got, NULL), ERROR_SUCCESS,
		    "query");
	assert_int_equal(got.Source, faults);
	assert_int_equal(got.Interval, 7);
	expect_code(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &timer, sizeof timer, NULL),
		    ERROR_SUCCESS, "the timer's again");
	assert_int_equal(timer.Interval, before);
	set.Source = 9999;
	expect_code(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &set, sizeof set), ERROR_INVALID_PARAMETER,
		    "a source that does not exist");
}

static CONTROLTRACE_ID system_start(const char *name, ULONG flags, const char *file)
{
	struct block b;
	CONTROLTRACE_ID id = 0;
	block_init_a(&b, EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, file);
	b.p.EnableFlags = flags;
	expect_code(StartTraceA(&id, name, &b.p), ERROR_SUCCESS, name);
	return id;
}

static CLASSIC_EVENT_ID event_of(const GUID *class, UCHAR type)
{
	CLASSIC_EVENT_ID e = {.EventGuid = *class, .Type = type};
	return e;
}

static void what_cannot_be_counted_is_refused_with_its_name_and_the_reason(void **state)
{
	ULONG faults = source_of(u"PageFaults"), hardware = INSTRUCTION_RETIRED, many[8] = {0};
	/* Without flags it needs no collector. */
	CONTROLTRACE_ID id = system_start("pmc-refused", 0, "refused.etl");
	CONTROLTRACE_ID plain = session_start(u"pmc-plain", EVENT_TRACE_FILE_MODE_SEQUENTIAL, "plain.etl");
	CLASSIC_EVENT_ID tcp = event_of(&tcp_class, 10), cswitch = event_of(&thread_class, 36), none = {0};
	ULONG unknown = 9999, timer = TIMER;
	ULONG twice[2] = {faults, faults};
	for (ULONG i = 0; i < 8; i++) {
		many[i] = 0x100 + i;
	}
	if (source_of(u"InstructionRetired") == UINT32_MAX) {
		expect_code(TraceSetInformation(id, TracePmcCounterListInfo, &hardware, 4), ERROR_NOT_SUPPORTED,
			    "hardware");
		assert_non_null(strstr(openetw_last_error_text(), "InstructionRetired"));
		expect_code(TraceSetInformation(0, TraceProfileSourceConfigInfo, &hardware, 4), ERROR_NOT_SUPPORTED,
			    "samples by hardware");
		assert_non_null(strstr(openetw_last_error_text(), "InstructionRetired"));
	}
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, &unknown, 4), ERROR_INVALID_PARAMETER, "unknown");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, &timer, 4), ERROR_INVALID_PARAMETER, "the timer");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, twice, 8), ERROR_INVALID_PARAMETER, "twice");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, many, 32), ERROR_INVALID_PARAMETER, "eight");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, many, 6), ERROR_BAD_LENGTH, "half a source");
	expect_code(TraceSetInformation(plain, TracePmcCounterListInfo, &faults, 4), ERROR_INVALID_PARAMETER,
		    "no system logger");
	expect_code(TraceSetInformation(999, TracePmcCounterListInfo, &faults, 4), ERROR_WMI_INSTANCE_NOT_FOUND,
		    "no session");
	expect_code(TraceSetInformation(id, TracePmcEventListInfo, &none, sizeof none), ERROR_INVALID_PARAMETER,
		    "no kernel event");
	expect_code(TraceSetInformation(id, TracePmcEventListInfo, &tcp, sizeof tcp), ERROR_NOT_SUPPORTED, "network");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, &faults, 4), ERROR_SUCCESS, "counters");
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, &faults, 4), ERROR_ALREADY_EXISTS, "again");
	expect_code(TraceSetInformation(id, TracePmcEventListInfo, &cswitch, sizeof cswitch), ERROR_SUCCESS, "events");
	expect_code(TraceSetInformation(id, TracePmcEventListInfo, &cswitch, sizeof cswitch), ERROR_ALREADY_EXISTS,
		    "events again");
	/* Now it is told who counts. */
	uint8_t info[256];
	ULONG bytes = 0;
	expect_code(TraceQueryInformation(0, TracePmcSessionInformation, info, sizeof info, &bytes), ERROR_SUCCESS,
		    "who counts");
	assert_int_equal(bytes, sizeof(ETW_PMC_SESSION_INFO) + 4 + 4);
	const ETW_PMC_SESSION_INFO *s = (const void *)info;
	assert_int_equal(s->NextEntryOffset, 0);
	assert_int_equal(s->LoggerId, id);
	assert_int_equal(s->ProfileSourceCount, 1);
	assert_int_equal(s->HookIdCount, 1);
	assert_memory_equal(info + sizeof *s, &faults, 4);
	assert_int_equal(info[sizeof *s + 4] | info[sizeof *s + 5] << 8, 0x0524);
	expect_code(TraceQueryInformation(0, TracePmcCounterOwners, info, sizeof info, &bytes), ERROR_SUCCESS,
		    "owners");
	const ETW_PMC_COUNTER_OWNERSHIP_STATUS *o = (const void *)info;
	assert_int_equal(o->CounterOwners[0].OwnerType, EtwPmcOwnerUntagged);
	assert_int_equal(o->CounterOwners[0].ProfileSource, faults);
	assert_int_equal(o->CounterOwners[1].OwnerType, EtwPmcOwnerFree);
	session_stop(plain);
	session_stop(id);
}

/* ---- what a trace holds ----------------------------------------------------------------------- */

struct seen {
	ULONG words;  /* values that each event is to have */
	ULONG order;  /* of these, the one that counts switches */
	ULONG faults; /* and the one that counts faults */
	unsigned steps, events, wrong_size, jumps, samples, named, interval_3;
	DWORD tid;
	ULONG source;
	uint64_t last[CPUS_MAX], fault_last, most_faults;
	bool there[CPUS_MAX], exit_there;
	DWORD running[CPUS_MAX];
	uint64_t first_faults[1 << 17], first_at[1 << 17];
	unsigned firsts;
};

static const uint64_t *counters_of(PEVENT_RECORD e, ULONG *ret_words)
{
	*ret_words = 0;
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		if (x->ExtType == EVENT_HEADER_EXT_TYPE_PMC_COUNTERS) {
			const EVENT_EXTENDED_ITEM_PMC_COUNTERS *c = (const void *)(uintptr_t)x->DataPtr;
			*ret_words = x->DataSize / 8;
			return (const uint64_t *)(const void *)c->Counter;
		}
	}
	return NULL;
}

static void on_switch(struct seen *s, PEVENT_RECORD e)
{
	unsigned cpu = GetEventProcessorIndex(e);
	ULONG words;
	const uint64_t *v = counters_of(e, &words);
	s->events++;
	if (words != s->words || cpu >= CPUS_MAX) {
		s->wrong_size++;
		return;
	}
	if (!v) {
		return; /* as it is to be */
	}
	uint64_t now, faults;
	memcpy(&now, v + s->order, 8);
	memcpy(&faults, v + s->faults, 8);
	DWORD in, out;
	memcpy(&in, e->UserData, 4);
	memcpy(&out, (const uint8_t *)e->UserData + 4, 4);
	/* Who left is who came last: nothing is missing in between. */
	if (s->there[cpu] && s->order != s->faults && s->running[cpu] == out) {
		s->jumps += now != s->last[cpu] + 1;
		s->steps++;
	}
	s->there[cpu] = true;
	s->running[cpu] = in;
	s->last[cpu] = now;
	if (s->firsts < COUNT_OF(s->first_at)) {
		s->first_at[s->firsts] = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
		s->first_faults[s->firsts++] = faults;
	}
}

static void on_perf(struct seen *s, PEVENT_RECORD e)
{
	UCHAR type = e->EventHeader.EventDescriptor.Opcode;
	const uint8_t *p = e->UserData;
	if (type == 47 && e->UserDataLength >= 16) {
		uint32_t tid;
		uint16_t source;
		memcpy(&tid, p + 8, 4);
		memcpy(&source, p + 12, 2);
		s->samples += tid == s->tid && source == s->source;
	} else if (type == 48 && e->UserDataLength > 4) {
		s->named += p[0] == s->words && p[4] > ' ';
	} else if (type == 73 && e->UserDataLength > 12) {
		uint32_t v[3];
		memcpy(v, p, 12);
		s->interval_3 += v[0] == s->source && v[1] == 3;
	} else if ((type == 51 || type == 52) && e->EventHeader.ThreadId == s->tid) {
		ULONG words;
		const uint64_t *v = counters_of(e, &words);
		uint64_t now = 0;
		s->events++;
		s->wrong_size += words != 1;
		if (words == 1) {
			memcpy(&now, v, 8);
		}
		if (type == 51 && s->exit_there && now - s->fault_last > s->most_faults) {
			s->most_faults = now - s->fault_last;
		}
		s->exit_there = type == 52;
		s->fault_last = now;
	}
}

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct seen *s = e->UserContext;
	if (memcmp(&e->EventHeader.ProviderId, &thread_class, 16) == 0 && e->EventHeader.EventDescriptor.Opcode == 36) {
		on_switch(s, e);
	} else if (memcmp(&e->EventHeader.ProviderId, &perf_class, 16) == 0) {
		on_perf(s, e);
	}
}

static void read_file(const char *file, struct seen *s)
{
	EVENT_TRACE_LOGFILEA log = {0};
	log.LogFileName = (char *)(uintptr_t)testing_path(file);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
	log.EventRecordCallback = on_event;
	log.Context = s;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	expect_code(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS, "ProcessTrace");
	CloseTrace(h);
}

static ULONG stop_lost(CONTROLTRACE_ID id)
{
	struct block b;
	block_init_a(&b, 0, NULL);
	expect_code(ControlTraceA(id, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS, "stop");
	return b.p.EventsLost;
}

static void count(CONTROLTRACE_ID id, const ULONG *source, ULONG sources, const CLASSIC_EVENT_ID *event, ULONG events)
{
	expect_code(TraceSetInformation(id, TracePmcCounterListInfo, (void *)(uintptr_t)source, 4 * sources),
		    ERROR_SUCCESS, "counters");
	expect_code(TraceSetInformation(id, TracePmcEventListInfo, (void *)(uintptr_t)event,
					(ULONG)(events * sizeof *event)),
		    ERROR_SUCCESS, "events");
}

static void ping_pong(void)
{
	int there[2], back[2];
	char c = 'x';
	assert_true(pipe(there) == 0 && pipe(back) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1) {
		}
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		assert_int_equal(write(there[1], &c, 1), 1);
		assert_int_equal(read(back[0], &c, 1), 1);
	}
	close(there[0]), close(there[1]), close(back[0]), close(back[1]);
	waitpid(pid, NULL, 0);
}

static void between_two_switches_of_a_processor_its_switches_count_one(void **state)
{
	NEEDS_KERNEL();
	ULONG both[2] = {source_of(u"PageFaults"), source_of(u"ContextSwitches")};
	CLASSIC_EVENT_ID cswitch = event_of(&thread_class, 36);
	struct seen *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
	assert_true(a && b);
	/* Another one counts less, and gets what it asked for. */
	CONTROLTRACE_ID first = system_start("pmc-first", EVENT_TRACE_FLAG_CSWITCH, "first.etl");
	CONTROLTRACE_ID second = system_start("pmc-second", EVENT_TRACE_FLAG_CSWITCH, "second.etl");
	CONTROLTRACE_ID third = system_start("pmc-third", EVENT_TRACE_FLAG_CSWITCH, "third.etl");
	count(second, both, 1, &cswitch, 1);
	count(first, both, 2, &cswitch, 1);
	ping_pong();
	ULONG lost = stop_lost(first);
	lost += stop_lost(second);
	lost += stop_lost(third);
	memset(a, 0, sizeof *a);
	a->words = 2;
	a->order = 1;
	a->faults = 0;
	read_file("first.etl", a);
	memset(b, 0, sizeof *b);
	b->words = 1;
	read_file("second.etl", b);
	/* The first one was there before, and on a busy machine saw more: each saw at least those of ping_pong(). */
	assert_true(a->events >= 50 && b->events >= 50);
	/* Before the counters were chosen there were none. */
	assert_true(a->events - a->wrong_size >= 50);
	assert_true(a->named > 0 && b->named > 0);
	if (lost == 0) {
		assert_true(a->steps >= 50);
		assert_int_equal(a->jumps, 0);
	}
	/* The same counter at the same event shows both the same. */
	unsigned same = 0;
	for (unsigned i = 0, k = 0; i < a->firsts; i++) {
		while (k < b->firsts && b->first_at[k] < a->first_at[i]) {
			k++;
		}
		same += k < b->firsts && b->first_at[k] == a->first_at[i] && b->first_faults[k] == a->first_faults[i];
	}
	assert_true(same >= 50);
	struct seen *c = b;
	memset(c, 0, sizeof *c);
	c->words = 0;
	read_file("third.etl", c);
	assert_true(c->events >= 50);
	assert_int_equal(c->wrong_size, 0); /* who asked for none has none */
	free(a);
	free(b);
}

/* Fresh pages, each of which faults once. */
static void touch(unsigned pages)
{
	volatile char *p = mmap(NULL, pages * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	madvise((void *)(uintptr_t)p, pages * 4096ul, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < pages; i++) {
		p[i * 4096ul] = 1;
	}
	munmap((void *)(uintptr_t)p, pages * 4096ul);
}

static void faults_between_two_system_calls_show_in_their_counters(void **state)
{
	NEEDS_KERNEL();
	ULONG faults = source_of(u"PageFaults");
	CLASSIC_EVENT_ID calls[2] = {event_of(&perf_class, 51), event_of(&perf_class, 52)};
	struct seen *s = calloc(1, sizeof *s);
	assert_non_null(s);
	CONTROLTRACE_ID id = system_start("pmc-calls", EVENT_TRACE_FLAG_SYSTEMCALL, "calls.etl");
	count(id, &faults, 1, calls, 2);
	touch(PAGES);
	(void)stop_lost(id);
	memset(s, 0, sizeof *s);
	s->words = 1;
	s->tid = (DWORD)syscall(SYS_gettid);
	read_file("calls.etl", s);
	assert_true(s->events > 2);
	/* Whoever else ran on that processor in between only adds to it. */
	assert_true(s->most_faults >= PAGES);
	free(s);
}

static void samples_by_a_counter_come_at_every_so_many_of_its_events(void **state)
{
	NEEDS_KERNEL();
	ULONG faults = source_of(u"PageFaults"), masks[8] = {0}, timer = TIMER;
	TRACE_PROFILE_INTERVAL every = {faults, 3};
	struct seen *s = calloc(1, sizeof *s);
	assert_non_null(s);
	expect_code(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &every, sizeof every), ERROR_SUCCESS,
		    "every third");
	expect_code(TraceSetInformation(0, TraceProfileSourceConfigInfo, &faults, 4), ERROR_SUCCESS, "source");
	CONTROLTRACE_ID id = system_start("pmc-samples", EVENT_TRACE_FLAG_PROCESS, "samples.etl");
	masks[0] = EVENT_TRACE_FLAG_PROCESS;
	masks[1] = 0x400; /* PERF_PMC_PROFILE */
	expect_code(TraceSetInformation(id, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks), ERROR_SUCCESS,
		    "PMC_PROFILE");
	touch(3 * PAGES + 6); /* on two processors a third may be cut twice */
	ULONG lost = stop_lost(id);
	memset(s, 0, sizeof *s);
	s->tid = (DWORD)syscall(SYS_gettid);
	s->source = faults;
	read_file("samples.etl", s);
	assert_true(s->interval_3 > 0); /* the trace says what a sample stands for */
	if (lost == 0) {
		assert_true(s->samples >= PAGES / 2);
	}
	expect_code(TraceSetInformation(0, TraceProfileSourceConfigInfo, &timer, 4), ERROR_SUCCESS, "the timer alone");
	free(s);
}

static int setup(void **state)
{
	struct block b;
	CONTROLTRACE_ID id = 0;
	int r = testing_setup(state);
	block_init_a(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SYSTEM_LOGGER_MODE, "probe.etl");
	b.p.EnableFlags = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_SYSTEMCALL;
	ULONG code = r == 0 ? StartTraceA(&id, "pmc-probe", &b.p) : 0;
	struct openetw_kernel k = {.size = sizeof k};
	/* System calls come from BPF programs alone. */
	kernel_there = r == 0 && code == ERROR_SUCCESS && openetw_session_kernel("pmc-probe", &k) == ERROR_SUCCESS &&
		       !k.note[0];
	if (id) {
		session_stop(id);
	}
	if (!kernel_there) {
		printf("SKIP: counters with events need root or CAP_PERFMON, and BPF programs (code %u%s%s)\n", code,
		       k.note[0] ? ": " : "", k.note);
	}
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_are_a_chain_that_begins_with_the_timer),
		cmocka_unit_test(every_source_keeps_an_interval_of_its_own),
		cmocka_unit_test(what_cannot_be_counted_is_refused_with_its_name_and_the_reason),
		cmocka_unit_test(between_two_switches_of_a_processor_its_switches_count_one),
		cmocka_unit_test(faults_between_two_system_calls_show_in_their_counters),
		cmocka_unit_test(samples_by_a_counter_come_at_every_so_many_of_its_events),
	};
	return cmocka_run_group_tests(tests, setup, testing_teardown);
}
