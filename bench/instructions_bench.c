/* SPDX-License-Identifier: MIT
 *
 * For bench/instructions: a number of events of one kind, nothing else. Run under callgrind, which
 * counts the instructions inside count_*(). Sessions are real-time ones, so that nothing is written.
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <TraceLoggingProvider.h>

#define EVENTS 2000

TRACELOGGING_DEFINE_PROVIDER(tlg, "OpenETW.Bench.Tlg",
			     (0x9c5e4a53, 0x6c86, 0x55a5, 0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x11));
static const GUID plain_guid = {0x9c5e4a54, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x12}};

static REGHANDLE plain;
static struct bench_payload payload = {1, 2, {3}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};

__attribute__((noinline)) void count_write(void)
{
	EVENT_DATA_DESCRIPTOR d[3];
	payload.b++;
	EventDataDescCreate(&d[0], &payload.a, sizeof payload.a);
	EventDataDescCreate(&d[1], &payload.b, sizeof payload.b);
	EventDataDescCreate(&d[2], payload.c, sizeof payload.c);
	EventWrite(plain, &descriptor, 3, d);
}

__attribute__((noinline)) void count_tracelogging(void)
{
	payload.b++;
	TraceLoggingWrite(tlg, "Event", TraceLoggingLevel(4), TraceLoggingKeyword(1),
			  TraceLoggingUInt32(payload.a, "a"), TraceLoggingUInt64(payload.b, "b"),
			  TraceLoggingUInt8FixedArray(payload.c, 16, "c"));
}

static struct {
	EVENT_TRACE_PROPERTIES p;
	char name[64];
} props;

static TRACEHANDLE start(int i)
{
	char name[32];
	TRACEHANDLE h = 0;
	GUID g = TraceLoggingProviderId(tlg);
	memset(&props, 0, sizeof props);
	props.p.Wnode.BufferSize = sizeof props;
	props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	snprintf(name, sizeof name, "bench-count-%d", i);
	ULONG code = StartTraceA(&h, name, &props.p);
	code = code ? code : EnableTraceEx2(h, &plain_guid, 1, 5, 0, 0, 2000, NULL);
	code = code ? code : EnableTraceEx2(h, &g, 1, 5, 0, 0, 2000, NULL);
	if (code) {
		fprintf(stderr, "session: %u\n", code);
		exit(1);
	}
	return h;
}

/* argv: write | tracelogging, number of sessions */
int main(int argc, char **argv)
{
	TRACEHANDLE h[8];
	int sessions = argc > 2 ? atoi(argv[2]) : 0;
	void (*call)(void) = argc > 1 && argv[1][0] == 't' ? count_tracelogging : count_write;
	EventRegister(&plain_guid, NULL, NULL, &plain);
	TraceLoggingRegister(tlg);
	for (int i = 0; i < sessions && i < 8; i++) {
		h[i] = start(i);
	}
	for (int i = 0;
	     i < 1000 && sessions && !(EventProviderEnabled(plain, 4, 1) && TraceLoggingProviderEnabled(tlg, 4, 1));
	     i++) {
		bench_sleep_us(2000);
	}
	for (int i = 0; i < EVENTS; i++) {
		call();
		if (i % 100 == 99) {
			bench_sleep_us(3000); /* the pool stays empty */
		}
	}
	for (int i = 0; i < sessions && i < 8; i++) {
		ControlTraceA(h[i], NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	}
	return 0;
}
