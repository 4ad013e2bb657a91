/* SPDX-License-Identifier: MIT
 * Write to callback, for a live consumer: one event every 7 ms (so that it falls anywhere in a tick), the
 * time of the write is in the payload.
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <evntcons.h>
#include <pthread.h>

#define EVENTS 1000
static const GUID guid = {0x9c5e4a55, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x13}};
static double latency[EVENTS];
static volatile unsigned got;

static void WINAPI on_event(PEVENT_RECORD e)
{
	uint64_t now = clock_now();
	if (memcmp(&e->EventHeader.ProviderId, &guid, sizeof guid) == 0 && e->UserDataLength == 8 && got < EVENTS) {
		latency[got] = bench_ticks_to_ns(now - le64_get(e->UserData)) / 1000;
		got++;
	}
}

static void *consume(void *arg)
{
	EVENT_TRACE_LOGFILEA f = {.LoggerName = arg, .EventRecordCallback = on_event};
	f.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	TRACEHANDLE h = OpenTraceA(&f);
	if (h == INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "OpenTrace: %u\n", GetLastError());
		return NULL;
	}
	ProcessTrace(&h, 1, NULL, NULL);
	CloseTrace(h);
	return NULL;
}

static int run(bool low)
{
	static struct {
		EVENT_TRACE_PROPERTIES p;
		char name[256];
	} props;
	char name[] = "bench-latency";
	TRACEHANDLE h = 0;
	REGHANDLE r;
	memset(&props, 0, sizeof props);
	props.p.Wnode.BufferSize = sizeof props;
	props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	if (low) {
		props.p.LogFileMode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		props.p.FlushTimer = 1;
	}
	ULONG code = StartTraceA(&h, name, &props.p);
	if (code) {
		fprintf(stderr, "StartTrace: %u\n", code);
		return 1;
	}
	got = 0;
	EnableTraceEx2(h, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL);
	EventRegister(&guid, NULL, NULL, &r);
	pthread_t th;
	pthread_create(&th, NULL, consume, name);
	bench_sleep_us(300000);
	for (int i = 0; i < EVENTS; i++) {
		EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
		EVENT_DATA_DESCRIPTOR data;
		uint64_t now = clock_now();
		EventDataDescCreate(&data, &now, sizeof now);
		EventWrite(r, &d, 1, &data);
		bench_sleep_us(low ? 2300 : 7000);
	}
	bench_sleep_us(100000);
	EventUnregister(r);
	ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	pthread_join(th, NULL);
	if (got == 0) {
		fprintf(stderr, "no event arrived\n");
		return 1;
	}
	struct bench_summary s = bench_summarise(latency, got);
	printf("write to callback, %-12s best %7.0f  median %7.0f  p90 %7.0f  p99 %7.0f us  (%u of %d events)\n",
	       low ? "low latency" : "default", s.best, s.median, s.p90, s.p99, got, EVENTS);
	return 0;
}

int main(void)
{
	return run(false) | run(true);
}
