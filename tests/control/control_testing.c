/* SPDX-License-Identifier: MIT */
#include "control_testing.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64];

int testing_setup(void **state)
{
	char run[96];
	snprintf(dir, sizeof dir, "/tmp/openetw-control-XXXXXX");
	if (!mkdtemp(dir)) {
		return -1;
	}
	snprintf(run, sizeof run, "%s/run", dir);
	return setenv("OPENETW_RUNTIME_DIR", run, 1);
}

void testing_stop_daemon(void)
{
	char path[128];
	int pid = 0;
	snprintf(path, sizeof path, "%s/run/pid", dir);
	FILE *f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &pid) != 1) {
			pid = 0;
		}
		fclose(f);
	}
	if (pid > 1) {
		kill(pid, SIGTERM);
		for (int i = 0; i < 500 && kill(pid, 0) == 0; i++) {
			nanosleep(&(struct timespec){0, 10000000}, NULL);
		}
	}
}

int testing_teardown(void **state)
{
	char command[128];
	testing_stop_daemon();
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

const char *testing_path(const char *name)
{
	static char path[2][256];
	static int turn;
	turn ^= 1;
	snprintf(path[turn], sizeof path[0], "%s/%s", dir, name);
	return path[turn];
}

static void widen(WCHAR *out, const char *in)
{
	while ((*out++ = (unsigned char)*in++)) {
	}
}

static void init(struct block *b, ULONG mode)
{
	memset(b, 0, sizeof *b);
	b->p.Wnode.BufferSize = sizeof *b;
	b->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	b->p.LogFileMode = mode;
	b->p.LoggerNameOffset = offsetof(struct block, name);
}

void block_init(struct block *b, ULONG mode, const char *file)
{
	init(b, mode);
	if (file) {
		b->p.LogFileNameOffset = offsetof(struct block, file);
		widen(b->file, testing_path(file));
	}
}

void block_init_a(struct block *b, ULONG mode, const char *file)
{
	init(b, mode);
	if (file) {
		b->p.LogFileNameOffset = offsetof(struct block, file);
		strcpy((char *)b->file, testing_path(file));
	}
}

CONTROLTRACE_ID session_start(const WCHAR *name, ULONG mode, const char *file)
{
	struct block b;
	CONTROLTRACE_ID id = 0;
	block_init(&b, mode, file);
	expect_code(StartTraceW(&id, name, &b.p), ERROR_SUCCESS, file ? file : "a session");
	assert_true(id != 0);
	return id;
}

void session_stop(CONTROLTRACE_ID id)
{
	struct block b;
	block_init(&b, 0, NULL);
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS, "stop");
}

ULONG session_query(CONTROLTRACE_ID id, struct block *b)
{
	block_init(b, 0, NULL);
	b->p.LogFileNameOffset = offsetof(struct block, file);
	return ControlTraceW(id, NULL, &b->p, EVENT_TRACE_CONTROL_QUERY);
}

static VOID WINAPI on_event(PEVENT_RECORD e)
{
	struct tally *t = e->UserContext;
	if (memcmp(&e->EventHeader.ProviderId, &EventTraceGuid, 16) == 0) {
		t->binaries += e->EventHeader.EventDescriptor.Opcode == 0x43;
		return;
	}
	t->events++;
	t->by_id[e->EventHeader.EventDescriptor.Id % 64]++;
	t->last_id = e->EventHeader.EventDescriptor.Id;
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		t->traits += e->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS;
		t->stacks += e->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
	}
}

void tally_file(const char *file, struct tally *ret)
{
	EVENT_TRACE_LOGFILEA l = {0};
	memset(ret, 0, sizeof *ret);
	l.LogFileName = (char *)(uintptr_t)testing_path(file);
	l.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	l.EventRecordCallback = on_event;
	l.Context = ret;
	PROCESSTRACE_HANDLE h = OpenTraceA(&l);
	assert_true(h != INVALID_PROCESSTRACE_HANDLE);
	expect_code(ProcessTrace(&h, 1, NULL, NULL), ERROR_SUCCESS, file);
	CloseTrace(h);
}
