/* SPDX-License-Identifier: MIT
 *
 * A controller: start a session that writes a file, enable a provider, wait, show how it goes,
 * stop.
 *
 *   controller FILE.etl [seconds, default 5] [GUID, default the hello-tracelogging sample]
 */
#include <windows.h>
#include <evntrace.h>
#include <evntprov.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_NAME "OpenETW Sample Session"

/* {71e4037d-56b7-5e7c-163b-9a48a5792f88} OpenETW.Sample.Hello */
static const GUID HelloId = {0x71e4037d, 0x56b7, 0x5e7c, {0x16, 0x3b, 0x9a, 0x48, 0xa5, 0x79, 0x2f, 0x88}};

/* The fixed part, then room for the two names it refers to by offset. */
struct Properties {
	EVENT_TRACE_PROPERTIES fixed;
	char sessionName[1024];
	char fileName[1024];
};

static void Prepare(struct Properties *p)
{
	memset(p, 0, sizeof(*p));
	p->fixed.Wnode.BufferSize = sizeof(*p);
	p->fixed.LoggerNameOffset = offsetof(struct Properties, sessionName);
	p->fixed.LogFileNameOffset = offsetof(struct Properties, fileName);
}

static int ParseGuid(const char *text, GUID *id)
{
	unsigned v[11];
	int i;

	if (*text == '{') {
		text++;
	}
	if (sscanf(text, "%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		   &v[7], &v[8], &v[9], &v[10]) != 11) {
		return 0;
	}
	id->Data1 = v[0];
	id->Data2 = (USHORT)v[1];
	id->Data3 = (USHORT)v[2];
	for (i = 0; i < 8; i++) {
		id->Data4[i] = (UCHAR)v[3 + i];
	}
	return 1;
}

static int Report(const char *what, ULONG status)
{
	if (status != ERROR_SUCCESS) {
		fprintf(stderr, "%s: error %u\n", what, (unsigned)status);
	}
	return status == ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
	struct Properties p;
	CONTROLTRACE_ID session = 0;
	GUID provider = HelloId;
	int seconds = argc > 2 ? atoi(argv[2]) : 5;
	ULONG status;

	if (argc < 2 || (argc > 3 && !ParseGuid(argv[3], &provider))) {
		fprintf(stderr, "usage: %s FILE.etl [seconds] [provider GUID]\n", argv[0]);
		return 2;
	}

	Prepare(&p);
	p.fixed.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	p.fixed.Wnode.ClientContext = 1; /* time stamps of the performance counter */
	p.fixed.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	p.fixed.BufferSize = 64; /* KB */
	p.fixed.FlushTimer = 1;  /* seconds */
	snprintf(p.fileName, sizeof(p.fileName), "%s", argv[1]);
	status = StartTraceA(&session, SESSION_NAME, &p.fixed);
	if (status == ERROR_ALREADY_EXISTS) {
		fprintf(stderr, "the session runs already; stopping it, try again\n");
		Prepare(&p);
		ControlTraceA(0, SESSION_NAME, &p.fixed, EVENT_TRACE_CONTROL_STOP);
		return 1;
	}
	if (!Report("StartTrace", status)) {
		return 1;
	}

	status = EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_VERBOSE,
				0 /* any keyword */, 0, 1000 /* ms to wait */, NULL);
	Report("EnableTraceEx2", status);

	while (seconds-- > 0) {
		Sleep(1000);
		Prepare(&p);
		if (Report("QueryTrace", ControlTraceA(session, NULL, &p.fixed, EVENT_TRACE_CONTROL_QUERY))) {
			printf("%s: %u buffers, %u written, %u events lost\n", p.sessionName,
			       (unsigned)p.fixed.NumberOfBuffers, (unsigned)p.fixed.BuffersWritten,
			       (unsigned)p.fixed.EventsLost);
		}
	}

	EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0, NULL);
	Prepare(&p);
	if (!Report("StopTrace", ControlTraceA(session, NULL, &p.fixed, EVENT_TRACE_CONTROL_STOP))) {
		return 1;
	}
	printf("%s: %u buffers written, %u events lost\n", p.fileName, (unsigned)p.fixed.BuffersWritten,
	       (unsigned)p.fixed.EventsLost);
	return 0;
}
