/* SPDX-License-Identifier: MIT
 *
 * Cost of one event through the public API, as a program calls it: disabled, one session, eight sessions,
 * EventWrite and TraceLoggingWrite, beside the floor (clock read + copy). etwd drains live all the while.
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <TraceLoggingProvider.h>

TRACELOGGING_DEFINE_PROVIDER(tlg, "OpenETW.Bench.Tlg",
			     (0x9c5e4a53, 0x6c86, 0x55a5, 0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x11));
static const GUID plain_guid = {0x9c5e4a54, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x12}};

static REGHANDLE plain;
static struct bench_payload payload = {1, 2, {3}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};

static __attribute__((noinline)) void write_plain(void)
{
	EVENT_DATA_DESCRIPTOR d[3];
	payload.b++;
	EventDataDescCreate(&d[0], &payload.a, sizeof payload.a);
	EventDataDescCreate(&d[1], &payload.b, sizeof payload.b);
	EventDataDescCreate(&d[2], payload.c, sizeof payload.c);
	EventWrite(plain, &descriptor, 3, d);
}

static __attribute__((noinline)) void write_tlg(void)
{
	payload.b++;
	TraceLoggingWrite(tlg, "Event", TraceLoggingLevel(4), TraceLoggingKeyword(1),
			  TraceLoggingUInt32(payload.a, "a"), TraceLoggingUInt64(payload.b, "b"),
			  TraceLoggingUInt8FixedArray(payload.c, 16, "c"));
}

static uint8_t floor_mem[65536] __attribute__((aligned(64)));
static size_t floor_at;

static __attribute__((noinline)) void write_floor(void)
{
	payload.b++;
	uint8_t *p = floor_mem + floor_at;
	uint64_t t = clock_read_counter();
	memcpy(p, &t, 8);
	memcpy(p + 8, &descriptor, 16);
	memcpy(p + 24, &payload.a, 4);
	memcpy(p + 28, &payload.b, 8);
	memcpy(p + 36, payload.c, 16);
	__asm__ volatile("" ::"r"(p) : "memory");
	floor_at = (floor_at + 56) & 0xFFFF;
	if (floor_at > sizeof floor_mem - 64) {
		floor_at = 0;
	}
}

#define ROUNDS 2000
static double values[ROUNDS];

static struct bench_summary measure(void (*call)(void), unsigned batch, long pause)
{
	for (int i = 0; i < 1000; i++) {
		call();
	}
	bench_sleep_us(20000);
	BENCH_BATCHES(values, ROUNDS, batch, pause, call());
	return bench_summarise(values, ROUNDS);
}

static void show(const char *what, struct bench_summary s, double base)
{
	printf("%-44s best %6.2f  median %6.2f  p90 %6.2f  p99 %6.2f ns  %5.2fx\n", what, s.best, s.median, s.p90,
	       s.p99, s.median / base);
}

static struct {
	EVENT_TRACE_PROPERTIES p;
	char name[256], file[256];
} props;

static TRACEHANDLE start(int i)
{
	char name[64];
	TRACEHANDLE h = 0;
	memset(&props, 0, sizeof props);
	props.p.Wnode.BufferSize = sizeof props;
	props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileNameOffset = offsetof(__typeof__(props), file);
	props.p.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	props.p.BufferSize = 256;
	props.p.MinimumBuffers = 32;
	props.p.MaximumBuffers = 64;
	snprintf(name, sizeof name, "bench-%d", i);
	snprintf(props.file, sizeof props.file, "%s/bench-%d.etl", getenv("BENCH_DIR") ? getenv("BENCH_DIR") : "/tmp", i);
	ULONG code = StartTraceA(&h, name, &props.p);
	if (code) {
		fprintf(stderr, "StartTrace: %u\n", code);
		exit(1);
	}
	EnableTraceEx2(h, &plain_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 1000, NULL);
	GUID g = TraceLoggingProviderId(tlg);
	EnableTraceEx2(h, &g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 1000, NULL);
	return h;
}

static void stop(TRACEHANDLE h)
{
	props.p.Wnode.BufferSize = sizeof props;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileNameOffset = offsetof(__typeof__(props), file);
	ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	if (props.p.EventsLost) {
		printf("  (lost %u events, counted)\n", props.p.EventsLost);
	}
	unlink(props.file);
}

int main(int argc, char **argv)
{
	bool once = argc > 1 && strcmp(argv[1], "count") == 0; /* for callgrind: 10000 plain events */
	TRACEHANDLE h[8];
	EventRegister(&plain_guid, NULL, NULL, &plain);
	TraceLoggingRegister(tlg);
	if (once) {
		h[0] = start(0);
		for (int i = 0; i < 10000; i++) {
			write_plain();
		}
		for (int i = 0; i < 10000; i++) {
			write_tlg();
		}
		stop(h[0]);
		return 0;
	}
	bench_pin(0);
	clock_frequency();
	struct bench_summary floor = measure(write_floor, 500, 0);
	show("floor: clock read and copy", floor, floor.median);
	show("EventWrite, disabled (call)", measure(write_plain, 500, 0), floor.median);
	show("TraceLoggingWrite, disabled (inline)", measure(write_tlg, 500, 0), floor.median);
	h[0] = start(0);
	struct bench_summary one = measure(write_plain, 500, 200);
	show("EventWrite, 1 session", one, floor.median);
	show("TraceLoggingWrite, 1 session", measure(write_tlg, 500, 200), floor.median);
	show("EventWrite, 1 session, 16 at a time", measure(write_plain, 16, 100), floor.median);
	for (int i = 1; i < 8; i++) {
		h[i] = start(i);
	}
	show("EventWrite, 8 sessions", measure(write_plain, 500, 200), floor.median);
	for (int i = 0; i < 8; i++) {
		stop(h[i]);
	}
	printf("EventWrite/floor %.2f\n", one.median / floor.median);
	TraceLoggingUnregister(tlg);
	EventUnregister(plain);
	return 0;
}
