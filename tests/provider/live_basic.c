/* SPDX-License-Identifier: MIT
 *
 * The life of a provider in short, with nothing of live.h but the directory, which it removes: provider and controller in one
 * program against a living etwd. What was written must be what the session says it recorded.
 */
#include "live.h"

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const GUID provider = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static volatile int enabled_calls, disabled_calls, captures;

#define CHECK(what, want)                                                                                     \
	do {                                                                                                  \
		unsigned long got_ = (unsigned long)(what);                                                   \
		if (got_ != (unsigned long)(want)) {                                                          \
			printf("line %d: %s = %lu, not %lu\n", __LINE__, #what, got_, (unsigned long)(want)); \
			exit(1);                                                                              \
		}                                                                                             \
	} while (0)

static VOID NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
	enabled_calls += code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	disabled_calls += code == EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	captures += code == EVENT_CONTROL_CODE_CAPTURE_STATE;
}

struct props {
	EVENT_TRACE_PROPERTIES p;
	WCHAR name[256];
	WCHAR file[256];
};

static void fill(struct props *s, const char *file)
{
	memset(s, 0, sizeof *s);
	s->p.Wnode.BufferSize = sizeof *s;
	s->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	s->p.Wnode.ClientContext = 1;
	s->p.BufferSize = 64;
	s->p.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	s->p.LoggerNameOffset = offsetof(struct props, name);
	s->p.LogFileNameOffset = offsetof(struct props, file);
	for (size_t i = 0; file[i]; i++) {
		s->file[i] = (unsigned char)file[i];
	}
}

static int seen, from_child;
static VOID WINAPI on_record(PEVENT_RECORD r)
{
	if (memcmp(&r->EventHeader.ProviderId, &provider, sizeof provider) == 0) {
		seen++;
		from_child += (pid_t)r->EventHeader.ProcessId != getpid();
	}
}

static void read_back(const char *file)
{
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (LPSTR)file};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_record;
	PROCESSTRACE_HANDLE t = OpenTraceA(&log);
	CHECK(t == INVALID_PROCESSTRACE_HANDLE, 0);
	CHECK(ProcessTrace(&t, 1, NULL, NULL), 0);
	CHECK(CloseTrace(t), 0);
}

int main(void)
{
	char file[128];
	struct props s;
	CONTROLTRACE_ID id = 0;
	REGHANDLE h = 0;
	static const EVENT_DESCRIPTOR desc = {.Id = 1, .Level = 4, .Keyword = 1};
	live_init();
	snprintf(file, sizeof file, "%s/live.etl", live_dir);
	fill(&s, file);
	/* Registered before there is a daemon. */
	CHECK(EventRegister(&provider, on_enable, NULL, &h), 0);
	CHECK(EventWrite(h, &desc, 0, NULL), 0);
	CHECK(StartTraceW(&id, u"live", &s.p), 0);
	for (int i = 0; i < 2000 && !enabled_calls; i++) {
		if (i % 50 == 0) {
			CHECK(EnableTraceEx2(id, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 20000, NULL),
			      0);
		}
		usleep(1000);
	}
	CHECK(enabled_calls > 0, 1);
	int written = 0;
	for (int i = 0; i < 5000; i++) {
		written += EventWrite(h, &desc, 0, NULL) == 0;
		if (i % 50 == 0) {
			usleep(1000);
		}
	}
	CHECK(EnableTraceEx2(id, &provider, EVENT_CONTROL_CODE_CAPTURE_STATE, 5, 0, 0, 20000, NULL), 0);
	CHECK(captures, 1);
	/* A registration under an enabled GUID: the first event counts. */
	REGHANDLE second = 0;
	CHECK(EventRegister(&provider, on_enable, NULL, &second), 0);
	CHECK(EventWrite(second, &desc, 0, NULL), 0);
	written++;
	/* A forked child attaches by itself. */
	pid_t pid = fork();
	if (pid == 0) {
		_exit((int)EventWrite(h, &desc, 0, NULL));
	}
	int status = 0;
	waitpid(pid, &status, 0);
	CHECK(status, 0);
	written++;
	CHECK(EnableTraceEx2(id, &provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 20000, NULL), 0);
	CHECK(disabled_calls, 2);
	CHECK(EventWrite(h, &desc, 0, NULL), 0);
	fill(&s, file);
	CHECK(ControlTraceW(id, NULL, &s.p, EVENT_TRACE_CONTROL_STOP), 0);
	CHECK(s.p.EventsLost, 0);
	CHECK(EventUnregister(second), 0);
	CHECK(EventUnregister(h), 0);
	read_back(file);
	CHECK(seen, written);
	CHECK(from_child, 1);
	printf("%d events written, %u buffers, file %s\n", written, s.p.BuffersWritten, file);
	return 0;
}
