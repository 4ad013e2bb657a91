/* SPDX-License-Identifier: MIT
 * Kernel sessions through the API as Windows programs use it: the NT Kernel Logger, system-logger
 * sessions beside one another, system providers, information classes, and what happens when the
 * collector or etwd is killed. Needs perf events for the whole machine; skipped without.
 */
#include "control_testing.h"

#include <openetw/openetw.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKS 12

static const GUID process_class = {0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID thread_class = {0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID image_class = {0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
static const GUID perf_class = {0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
static const GUID stack_class = {0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};
static const GUID trace_class = {0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0, 0, 0xf8, 0x04, 0x64, 0xe3}};

/* ---- what a trace holds ----------------------------------------------------------------------- */

struct seen {
	unsigned starts, dc_starts, dc_ends, ends; /* processes */
	unsigned mine;                             /* children of this process that started */
	unsigned threads, images, switches, ready, samples, stacks, masks, done, others;
	ULONG last_mask[8];
	uint64_t last_time, backwards;
};

static void WINAPI on_event(PEVENT_RECORD e)
{
	struct seen *s = e->UserContext;
	const GUID *g = &e->EventHeader.ProviderId;
	UCHAR op = e->EventHeader.EventDescriptor.Opcode;
	const uint8_t *p = e->UserData;
	if ((uint64_t)e->EventHeader.TimeStamp.QuadPart < s->last_time) {
		s->backwards++;
	}
	s->last_time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (memcmp(g, &process_class, 16) == 0) {
		uint32_t parent = 0; /* events of this class that are no starts can be shorter */
		if (e->UserDataLength >= 16) {
			memcpy(&parent, p + 12, 4);
		}
		s->starts += op == 1;
		s->ends += op == 2;
		s->dc_starts += op == 3;
		s->dc_ends += op == 4;
		s->mine += op == 1 && parent == (uint32_t)getpid();
	} else if (memcmp(g, &thread_class, 16) == 0) {
		s->switches += op == 36;
		s->ready += op == 50;
		s->threads += op <= 4 || op == 72;
	} else if (memcmp(g, &image_class, 16) == 0) {
		s->images++;
	} else if (memcmp(g, &perf_class, 16) == 0) {
		s->samples += op == 46;
	} else if (memcmp(g, &stack_class, 16) == 0) {
		s->stacks++;
	} else if (memcmp(g, &trace_class, 16) == 0) {
		s->masks += op == 5;
		s->done += op == 8;
		if (op == 5 && e->UserDataLength >= 32 && p[0] + p[4] + p[7] != 0) {
			memcpy(s->last_mask, p, 32);
		}
	} else {
		s->others++;
	}
}

static void read_file(const char *file, struct seen *ret)
{
	EVENT_TRACE_LOGFILEA log = {0};
	memset(ret, 0, sizeof *ret);
	log.LogFileName = (char *)(uintptr_t)testing_path(file);
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_event;
	log.Context = ret;
	TRACEHANDLE h = OpenTraceA(&log);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	expect_code(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS, "ProcessTrace");
	CloseTrace(h);
}

static void fork_some(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* ---- starting --------------------------------------------------------------------------------- */

static bool kernel_there;

#define NEEDS_KERNEL()               \
	do {                         \
		if (!kernel_there) { \
			skip();      \
		}                    \
	} while (0)

static CONTROLTRACE_ID kernel_start_as(const char *name, ULONG mode, ULONG flags, const char *file)
{
	struct block b;
	CONTROLTRACE_ID id = 0;
	block_init_a(&b, mode, file);
	b.p.EnableFlags = flags;
	expect_code(StartTraceA(&id, name, &b.p), ERROR_SUCCESS, name);
	return id;
}

static CONTROLTRACE_ID system_start(const char *name, ULONG flags, const char *file)
{
	return kernel_start_as(name, EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, flags, file);
}

static void the_kernel_logger_of_the_documentation_starts_and_stops(void **state)
{
	NEEDS_KERNEL();
	struct block b;
	struct seen s;
	TRACEHANDLE handle = 0, second = 0;
	block_init_a(&b, EVENT_TRACE_FILE_MODE_CIRCULAR, "nt.etl");
	b.p.Wnode.ClientContext = 1;
	b.p.Wnode.Guid = SystemTraceControlGuid;
	b.p.EnableFlags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD;
	b.p.MaximumFileSize = 5;
	expect_code(StartTrace(&handle, KERNEL_LOGGER_NAME, &b.p), ERROR_SUCCESS, "StartTrace");
	struct block again = b;
	expect_code(StartTrace(&second, KERNEL_LOGGER_NAME, &again.p), ERROR_ALREADY_EXISTS, "twice");
	fork_some();
	block_init_a(&b, 0, NULL);
	expect_code(ControlTrace(0, KERNEL_LOGGER_NAME, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS,
		    "query by name");
	assert_int_equal(b.p.EnableFlags, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD);
	assert_memory_equal(&b.p.Wnode.Guid, &SystemTraceControlGuid, 16);
	block_init_a(&b, 0, NULL);
	expect_code(ControlTrace(handle, KERNEL_LOGGER_NAME, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS, "stop");
	assert_int_equal(b.p.EventsLost, 0);
	expect_code(ControlTrace(0, KERNEL_LOGGER_NAME, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND,
		    "query after the stop");
	read_file("nt.etl", &s);
	assert_int_equal(s.mine, FORKS);
	assert_true(s.dc_starts > 2 && s.dc_ends > 2 && s.threads > 2);
	assert_int_equal(s.images + s.switches + s.samples + s.stacks, 0);
	assert_int_equal(s.done, 2);
}

static void what_is_wrong_with_a_kernel_session_is_refused_with_the_documented_code(void **state)
{
	static const struct {
		const char *what, *name;
		ULONG mode, flags, code;
		bool guid;
	} row[] = {
		{"a registry", KERNEL_LOGGER_NAMEA, EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_FLAG_REGISTRY,
		 ERROR_NOT_SUPPORTED, false},
		{"ALPC", "x", EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SYSTEM_LOGGER_MODE,
		 EVENT_TRACE_FLAG_ALPC | EVENT_TRACE_FLAG_PROCESS, ERROR_NOT_SUPPORTED, false},
		{"the kernel's GUID, another name", "x", EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_FLAG_PROCESS,
		 ERROR_INVALID_PARAMETER, true},
		{"new files of the NT Kernel Logger", KERNEL_LOGGER_NAMEA, EVENT_TRACE_FILE_MODE_NEWFILE,
		 EVENT_TRACE_FLAG_PROCESS, ERROR_INVALID_PARAMETER, false},
		{"paged memory", KERNEL_LOGGER_NAMEA, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_PAGED_MEMORY,
		 EVENT_TRACE_FLAG_PROCESS, ERROR_INVALID_PARAMETER, false},
		{"a private one", KERNEL_LOGGER_NAMEA,
		 EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_PRIVATE_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS,
		 ERROR_INVALID_PARAMETER, false},
	};
	for (size_t i = 0; i < COUNT_OF(row); i++) {
		struct block b;
		TRACEHANDLE h = 1;
		block_init_a(&b, row[i].mode, "refused%d.etl");
		b.p.MaximumFileSize = row[i].mode & EVENT_TRACE_FILE_MODE_NEWFILE ? 1 : 0;
		b.p.EnableFlags = row[i].flags;
		if (row[i].guid) {
			b.p.Wnode.Guid = SystemTraceControlGuid;
		}
		expect_code(StartTraceA(&h, row[i].name, &b.p), row[i].code, row[i].what);
	}
}

static void the_name_of_a_session_that_the_kernel_refused_is_free_at_once(void **state)
{
	NEEDS_KERNEL();
	for (int i = 0; i < 3; i++) {
		struct {
			EVENT_TRACE_PROPERTIES p;
			char name[64];
			USHORT head[2], item[2];
			ULONG mask[8];
		} b;
		CONTROLTRACE_ID id = 0;
		memset(&b, 0, sizeof b);
		b.p.Wnode.BufferSize = sizeof b;
		b.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
		b.p.LogFileMode = EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_REAL_TIME_MODE;
		b.p.LoggerNameOffset = offsetof(__typeof__(b), name);
		b.p.EnableFlags = 0x80FF0000 | (ULONG)offsetof(__typeof__(b), head);
		b.head[0] = 1 + 9;
		b.head[1] = 1;
		b.item[0] = 9;
		b.item[1] = 1;
		b.mask[1] = 0x10000; /* spin locks */
		expect_code(StartTraceA(&id, "kt-refused", &b.p), ERROR_NOT_SUPPORTED, "spin locks");
		assert_non_null(strstr(openetw_last_error_text(), "SPINLOCK"));
	}
	CONTROLTRACE_ID id = system_start("kt-refused", EVENT_TRACE_FLAG_PROCESS, "refused.etl");
	session_stop(id);
}

static void two_sessions_hold_what_each_asked_for_and_nothing_of_the_other(void **state)
{
	NEEDS_KERNEL();
	struct seen a, b;
	CONTROLTRACE_ID first = system_start("kt-process", EVENT_TRACE_FLAG_PROCESS, "process.etl");
	fork_some();
	CONTROLTRACE_ID second =
		system_start("kt-switch", EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DISPATCHER, "switch.etl");
	fork_some();
	session_stop(first);
	fork_some();
	session_stop(second);
	read_file("process.etl", &a);
	read_file("switch.etl", &b);
	assert_int_equal(a.mine, 2 * FORKS);
	assert_true(a.dc_starts > 0 && a.dc_ends > 0);
	assert_int_equal(a.switches + a.ready + a.images + a.threads + a.samples, 0);
	assert_true(b.switches > FORKS && b.ready > 0);
	assert_int_equal(b.starts + b.dc_starts + b.dc_ends + b.threads + b.images + b.samples, 0);
	assert_int_equal(a.backwards + b.backwards, 0);
}

static void an_update_changes_the_flags_of_a_running_session(void **state)
{
	NEEDS_KERNEL();
	struct block b;
	struct seen s;
	CONTROLTRACE_ID id = system_start("kt-update", EVENT_TRACE_FLAG_CSWITCH, "update.etl");
	fork_some();
	expect_code(session_query(id, &b), ERROR_SUCCESS, "query");
	b.p.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
	b.p.LogFileNameOffset = 0;
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS, "update");
	fork_some();
	b.p.EnableFlags = 0;
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS, "update to none");
	fork_some();
	expect_code(session_query(id, &b), ERROR_SUCCESS, "query");
	assert_int_equal(b.p.EnableFlags, 0);
	session_stop(id);
	read_file("update.etl", &s);
	assert_true(s.switches > 0);
	assert_int_equal(s.mine, FORKS);
	assert_true(s.dc_starts > 2);
}

/* Virtual machines have no counters of the processor. */
static bool source_is_there(ULONG id)
{
	static uint8_t list[65536];
	ULONG n = 0;
	assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, list, sizeof list, &n), 0);
	const PROFILE_SOURCE_INFO *s = (const void *)list;
	while (s->Source != id && s->NextEntryOffset) {
		s = (const void *)((const uint8_t *)s + s->NextEntryOffset);
	}
	return s->Source == id;
}

static void information_classes_set_stacks_masks_and_the_interval(void **state)
{
	NEEDS_KERNEL();
	struct seen s;
	CLASSIC_EVENT_ID stack[257] = {{.EventGuid = perf_class, .Type = 46}};
	ULONG mask[8], length = 0, process_and_profile[8] = {1, 2};
	TRACE_PROFILE_INTERVAL interval = {0, 2500}, got = {0, 0};
	CONTROLTRACE_ID id = system_start("kt-info", EVENT_TRACE_FLAG_PROFILE, "info.etl");
	expect_code(TraceQueryInformation(id, TraceSystemTraceEnableFlagsInfo, mask, sizeof mask, &length),
		    ERROR_SUCCESS, "masks");
	assert_int_equal(length, 32);
	assert_int_equal(mask[0], 0);
	assert_int_equal(mask[1], 2); /* where PERF_PROFILE is */
	expect_code(TraceSetInformation(id, TraceStackTracingInfo, stack, sizeof stack), ERROR_INVALID_PARAMETER,
		    "more than 256 events");
	expect_code(TraceSetInformation(id, TraceStackTracingInfo, stack, 23), ERROR_BAD_LENGTH, "23 bytes");
	expect_code(TraceSetInformation(id, TraceStackTracingInfo, stack, sizeof *stack), ERROR_SUCCESS,
		    "stacks of samples");
	expect_code(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval), ERROR_SUCCESS,
		    "interval");
	expect_code(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &got, sizeof got, &length), ERROR_SUCCESS,
		    "interval again");
	assert_int_equal(got.Source, 0);
	assert_int_equal(got.Interval, 2500);
	interval.Source = 10;
	expect_code(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval),
		    source_is_there(10) ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED, "cache misses");
	expect_code(TraceSetInformation(id, TraceSystemTraceEnableFlagsInfo, process_and_profile, 32), ERROR_SUCCESS,
		    "masks");
	fork_some();
	for (volatile unsigned i = 0; i < 20000000; i++) {
	}
	process_and_profile[0] = EVENT_TRACE_FLAG_REGISTRY;
	expect_code(TraceSetInformation(id, TraceSystemTraceEnableFlagsInfo, process_and_profile, 32),
		    ERROR_NOT_SUPPORTED, "a registry");
	expect_code(TraceQueryInformation(id, TraceSystemTraceEnableFlagsInfo, mask, sizeof mask, &length),
		    ERROR_SUCCESS, "masks");
	assert_int_equal(mask[0], 1);
	session_stop(id);
	read_file("info.etl", &s);
	assert_int_equal(s.mine, FORKS);
	assert_true(s.samples > 0 && s.stacks > 0 && s.stacks <= s.samples);
	assert_int_equal(s.switches, 0);
	interval = (TRACE_PROFILE_INTERVAL){0, 10000};
	TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval);
	CONTROLTRACE_ID plain = session_start(u"kt-plain", EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(TraceSetInformation(plain, TraceSystemTraceEnableFlagsInfo, mask, 32), ERROR_INVALID_PARAMETER,
		    "no system logger");
	session_stop(plain);
}

static void system_providers_are_enabled_by_keyword_and_disabled(void **state)
{
	NEEDS_KERNEL();
	struct seen s;
	CONTROLTRACE_ID id = system_start("kt-provider", 0, "provider.etl");
	fork_some();
	expect_code(EnableTraceEx2(id, &SystemProcessProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
				   SYSTEM_PROCESS_KW_GENERAL, 0, 0, NULL),
		    ERROR_SUCCESS, "enable");
	fork_some();
	expect_code(
		EnableTraceEx2(id, &SystemProcessProviderGuid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0, NULL),
		ERROR_SUCCESS, "disable");
	fork_some();
	expect_code(EnableTraceEx2(id, &SystemRegistryProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
				   SYSTEM_REGISTRY_KW_GENERAL, 0, 0, NULL),
		    ERROR_NOT_SUPPORTED, "a registry");
	session_stop(id);
	read_file("provider.etl", &s);
	assert_int_equal(s.mine, FORKS);
	assert_int_equal(s.threads + s.images + s.switches, 0);
	id = session_start(u"kt-plain", EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(
		EnableTraceEx2(id, &SystemProcessProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 1, 0, 0, NULL),
		ERROR_INVALID_PARAMETER, "no system logger");
	session_stop(id);
}

static void a_process_filter_keeps_other_processes_out(void **state)
{
	NEEDS_KERNEL();
	struct seen s;
	/* A process that never runs: nobody's switches are wanted. */
	ULONG pid[1] = {0x7FFFFFF0};
	EVENT_FILTER_DESCRIPTOR f = {.Ptr = (ULONGLONG)(uintptr_t)pid, .Size = 4, .Type = EVENT_FILTER_TYPE_PID};
	ENABLE_TRACE_PARAMETERS p = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2, .EnableFilterDesc = &f, .FilterDescCount = 1};
	CONTROLTRACE_ID id = system_start("kt-filter", 0, "filter.etl");
	expect_code(EnableTraceEx2(id, &SystemSchedulerProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
				   SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH, 0, 0, &p),
		    ERROR_SUCCESS, "enable");
	fork_some();
	session_stop(id);
	read_file("filter.etl", &s);
	assert_int_equal(s.switches, 0);
	pid[0] = (ULONG)getpid();
	id = system_start("kt-filter", 0, "filter2.etl");
	expect_code(EnableTraceEx2(id, &SystemSchedulerProviderGuid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
				   SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH, 0, 0, &p),
		    ERROR_SUCCESS, "enable");
	fork_some(); /* waits for each */
	session_stop(id);
	read_file("filter2.etl", &s);
	assert_true(s.switches > 0);
}

static void group_masks_come_through_the_flags_extension(void **state)
{
	NEEDS_KERNEL();
	struct {
		EVENT_TRACE_PROPERTIES p;
		char name[64], file[256];
		USHORT head[2], item[2];
		ULONG mask[8];
	} b;
	ULONG mask[8], length;
	CONTROLTRACE_ID id = 0;
	memset(&b, 0, sizeof b);
	b.p.Wnode.BufferSize = sizeof b;
	b.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	b.p.LogFileMode = EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_REAL_TIME_MODE;
	b.p.LoggerNameOffset = offsetof(__typeof__(b), name);
	b.p.EnableFlags = 0x80FF0000 | (ULONG)offsetof(__typeof__(b), head);
	b.head[0] = 1 + 9; /* of 32 bits, with this header */
	b.head[1] = 1;
	b.item[0] = 9;
	b.item[1] = 1;
	b.mask[0] = 1;
	b.mask[1] = 4;
	expect_code(StartTraceA(&id, "kt-extension", &b.p), ERROR_SUCCESS, "extension");
	expect_code(TraceQueryInformation(id, TraceSystemTraceEnableFlagsInfo, mask, sizeof mask, &length),
		    ERROR_SUCCESS, "masks");
	assert_memory_equal(mask, b.mask, 32);
	session_stop(id);
	b.p.EnableFlags = 0x80FF0000 | 0xFFF0;
	expect_code(StartTraceA(&id, "kt-extension", &b.p), ERROR_INVALID_PARAMETER, "an offset outside");
}

/* ---- real time -------------------------------------------------------------------------------- */

static TRACEHANDLE live;
static struct seen live_seen;

static void WINAPI on_live(PEVENT_RECORD e)
{
	e->UserContext = &live_seen;
	on_event(e);
}

static void *consume(void *arg)
{
	ProcessTrace(&live, 1, NULL, NULL);
	return NULL;
}

static void a_live_consumer_gets_kernel_events(void **state)
{
	NEEDS_KERNEL();
	pthread_t thread;
	EVENT_TRACE_LOGFILEA log = {0};
	memset(&live_seen, 0, sizeof live_seen);
	CONTROLTRACE_ID id = kernel_start_as("kt-live", EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_REAL_TIME_MODE,
					     EVENT_TRACE_FLAG_PROCESS, NULL);
	log.LoggerName = (char *)(uintptr_t) "kt-live";
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	log.EventRecordCallback = on_live;
	live = OpenTraceA(&log);
	assert_true(live != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(pthread_create(&thread, NULL, consume, NULL), 0);
	fork_some();
	session_stop(id); /* the consumer gets what there is, and the end */
	pthread_join(thread, NULL);
	CloseTrace(live);
	assert_int_equal(live_seen.mine, FORKS);
	assert_true(live_seen.dc_ends > 2);
}

static void every_clock_and_one_stream_for_all_processors_keep_the_order(void **state)
{
	NEEDS_KERNEL();
	struct seen s;
	for (ULONG clock = 1; clock <= 3; clock++) {
		struct block b;
		CONTROLTRACE_ID id = 0;
		ULONG mode = EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		block_init_a(&b, clock == 3 ? mode | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : mode, "clock.etl");
		b.p.Wnode.ClientContext = clock;
		b.p.EnableFlags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH;
		expect_code(StartTraceA(&id, "kt-clock", &b.p), ERROR_SUCCESS, "StartTrace");
		fork_some();
		session_stop(id);
		read_file("clock.etl", &s);
		assert_int_equal(s.mine, FORKS);
		assert_int_equal(s.backwards, 0);
	}
}

/* ---- death ------------------------------------------------------------------------------------ */

static int etwd_pid(void)
{
	int pid = 0;
	char path[300];
	snprintf(path, sizeof path, "%s/pid", getenv("OPENETW_RUNTIME_DIR"));
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%d", &pid) != 1) {
		pid = 0;
	}
	if (f) {
		fclose(f);
	}
	return pid;
}

/* Its parent; 0: it is gone, or a body. */
static int parent_of(int pid, const char *name)
{
	char path[64], text[600] = "", state = 'Z';
	int ppid = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = pid > 0 ? fopen(path, "r") : NULL;
	char *s = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
	if (f) {
		fclose(f);
	}
	return s && strstr(text, name) && sscanf(s + 1, " %c %d", &state, &ppid) == 2 && state != 'Z' ? ppid : 0;
}

/* The process of that name that comes from etwd, which starts it through a starter and a watcher; 0: none. */
static int collector_pid(int ancestor)
{
	int found = 0;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		int pid = atoi(e->d_name), up = parent_of(pid, "(openetw-kernel)");
		for (int i = 0; i < 2 && up > 0 && up != ancestor; i++) {
			up = parent_of(up, "");
		}
		found = up > 0 && up == ancestor ? pid : found;
	}
	if (d) {
		closedir(d);
	}
	return found;
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void a_killed_collector_is_started_again_and_the_gap_is_counted(void **state)
{
	NEEDS_KERNEL();
	struct seen s;
	struct block b;
	CONTROLTRACE_ID id = system_start("kt-killed", EVENT_TRACE_FLAG_PROCESS, "killed.etl");
	int daemon = etwd_pid(), first = collector_pid(daemon), second = 0;
	assert_true(first > 0);
	fork_some();
	kill(first, SIGKILL);
	while ((second = collector_pid(daemon)) == 0 || second == first) {
		wait_a_little();
	}
	/* It records again when its rundown is done: asked for something, it answers after that. */
	expect_code(TraceSetInformation(id, TraceStackTracingInfo, NULL, 0), ERROR_SUCCESS, "stacks: none");
	fork_some();
	block_init(&b, 0, NULL);
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS, "stop");
	assert_int_not_equal(b.p.EventsLost, 0);
	read_file("killed.etl", &s);
	assert_true(s.mine >= FORKS && s.mine <= 2 * FORKS);
	assert_true(s.done >= 3); /* two beginnings and an end */
	while (collector_pid(daemon) != 0) {
		wait_a_little(); /* nobody wants it any more */
	}
}

static void a_killed_etwd_takes_its_collector_along(void **state)
{
	NEEDS_KERNEL();
	system_start("kt-orphan", EVENT_TRACE_FLAG_PROCESS, "orphan.etl");
	int daemon = etwd_pid(), collector = collector_pid(daemon);
	assert_true(collector > 0);
	kill(daemon, SIGKILL);
	while (kill(collector, 0) == 0) {
		char path[64], line[200] = "";
		snprintf(path, sizeof path, "/proc/%d/stat", collector);
		FILE *f = fopen(path, "r");
		char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
		if (f) {
			fclose(f);
		}
		if (!end || end[2] == 'Z') {
			break; /* a body whose new parent looks the other way */
		}
		wait_a_little();
	}
}

static void without_the_right_the_start_is_denied(void **state)
{
	enum { CAP_ADMIN = 21, CAP_PERFMON_NR = 38, CAP_BPF_NR = 39 };
	char run[300];
	int paranoid = 2, status = 0;
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	if (f) {
		if (fscanf(f, "%d", &paranoid) != 1) {
			paranoid = 2;
		}
		fclose(f);
	}
	snprintf(run, sizeof run, "%s", testing_path("denied"));
	pid_t pid = fork();
	if (pid == 0) {
		struct block b;
		TRACEHANDLE h = 0;
		/* What the daemon that this starts can have at most. */
		if (geteuid() == 0 && (prctl(PR_CAPBSET_DROP, CAP_ADMIN, 0, 0, 0) < 0 ||
				       prctl(PR_CAPBSET_DROP, CAP_PERFMON_NR, 0, 0, 0) < 0)) {
			_exit(77);
		}
		setenv("OPENETW_RUNTIME_DIR", run, 1);
		block_init_a(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "denied.etl");
		b.p.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
		ULONG code = StartTraceA(&h, KERNEL_LOGGER_NAMEA, &b.p);
		int other = etwd_pid();
		if (other > 1) {
			kill(other, SIGTERM);
		}
		_exit(code == ERROR_ACCESS_DENIED ? 0 : code == ERROR_SUCCESS ? 2 : 1);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77 || (WEXITSTATUS(status) == 2 && paranoid < 1)) {
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
	struct block b;
	CONTROLTRACE_ID id = 0;
	int r = testing_setup(state);
	block_init_a(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SYSTEM_LOGGER_MODE, "probe.etl");
	/* Switches alone: a machine without tracepoints refuses that, and is not the one to test on. */
	b.p.EnableFlags = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DISPATCHER;
	ULONG code = r == 0 ? StartTraceA(&id, "kt-probe", &b.p) : 0;
	kernel_there = r == 0 && code == ERROR_SUCCESS;
	if (kernel_there) {
		session_stop(id);
	} else {
		printf("SKIP: kernel events need root or CAP_PERFMON and a readable tracefs (code %u)\n", code);
	}
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_logger_of_the_documentation_starts_and_stops),
		cmocka_unit_test(what_is_wrong_with_a_kernel_session_is_refused_with_the_documented_code),
		cmocka_unit_test(the_name_of_a_session_that_the_kernel_refused_is_free_at_once),
		cmocka_unit_test(two_sessions_hold_what_each_asked_for_and_nothing_of_the_other),
		cmocka_unit_test(an_update_changes_the_flags_of_a_running_session),
		cmocka_unit_test(information_classes_set_stacks_masks_and_the_interval),
		cmocka_unit_test(system_providers_are_enabled_by_keyword_and_disabled),
		cmocka_unit_test(a_process_filter_keeps_other_processes_out),
		cmocka_unit_test(group_masks_come_through_the_flags_extension),
		cmocka_unit_test(a_live_consumer_gets_kernel_events),
		cmocka_unit_test(every_clock_and_one_stream_for_all_processors_keep_the_order),
		cmocka_unit_test(without_the_right_the_start_is_denied),
		cmocka_unit_test(a_killed_collector_is_started_again_and_the_gap_is_counted),
		cmocka_unit_test(a_killed_etwd_takes_its_collector_along),
	};
	return cmocka_run_group_tests(tests, setup, testing_teardown);
}
