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

static inline void fill(EVENT_DATA_DESCRIPTOR d[3])
{
	payload.b++;
	EventDataDescCreate(&d[0], &payload.a, sizeof payload.a);
	EventDataDescCreate(&d[1], &payload.b, sizeof payload.b);
	EventDataDescCreate(&d[2], payload.c, sizeof payload.c);
}

static inline void write_plain(void)
{
	EVENT_DATA_DESCRIPTOR d[3];
	fill(d);
	EventWrite(plain, &descriptor, 3, d);
}

static inline void write_tlg(void)
{
	payload.b++;
	TraceLoggingWrite(tlg, "Event", TraceLoggingLevel(4), TraceLoggingKeyword(1),
			  TraceLoggingUInt32(payload.a, "a"), TraceLoggingUInt64(payload.b, "b"),
			  TraceLoggingUInt8FixedArray(payload.c, 16, "c"));
}

/* An event nobody listens to, with its surroundings left out: what the inline check costs. */
static inline void write_nothing(void)
{
	TraceLoggingWrite(tlg, "Event", TraceLoggingLevel(4), TraceLoggingKeyword(1),
			  TraceLoggingUInt32(payload.a, "a"), TraceLoggingUInt64(payload.b, "b"),
			  TraceLoggingUInt8FixedArray(payload.c, 16, "c"));
	__asm__ volatile("" ::: "memory");
}

static uint8_t floor_mem[65536] __attribute__((aligned(64)));
static size_t floor_at;

static inline void write_floor(void)
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

/* Short batches, so that many of them are not interrupted; pauses in which etwd can take everything. */
#define ROUNDS 1500
static double values[ROUNDS];

#define MEASURE(batch, pause, call)                                \
	__extension__({                                            \
		for (int w_ = 0; w_ < 1000; w_++) {                \
			call;                                      \
		}                                                  \
		bench_sleep_us(20000);                             \
		BENCH_BATCHES(values, ROUNDS, batch, pause, call); \
		bench_summarise(values, ROUNDS);                   \
	})

/* Every 16 calls with a pause on the CPU of some microseconds between them, as a busy program writes;
 * etwd drains on the other core all the while. The clock readings around the 16 are taken off. */
static struct bench_summary measure_live(void)
{
	uint64_t overhead = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t t0 = clock_read_counter(), t1 = clock_read_counter();
		overhead = t1 - t0 < overhead ? t1 - t0 : overhead;
	}
	static double live[40000];
	for (size_t i = 0; i < BASE_ARRAY_LEN(live); i++) {
		uint64_t t0 = clock_read_counter();
		for (int k = 0; k < 16; k++) {
			write_plain();
		}
		uint64_t t1 = clock_read_counter();
		live[i] = bench_ticks_to_ns(t1 - t0 - overhead) / 16;
		while (bench_ticks_to_ns(clock_read_counter() - t1) < 10000) {
		}
	}
	return bench_summarise(live, BASE_ARRAY_LEN(live));
}

/* Each call by itself, every 10 us, the readings around it taken off: what of the call does not run
 * beside the second reading. Batches say what a call costs, this says how it is spread. */
static struct bench_summary measure_single(void)
{
	uint64_t overhead = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t t0 = clock_read_counter(), t1 = clock_read_counter();
		overhead = t1 - t0 < overhead ? t1 - t0 : overhead;
	}
	static double single[100000];
	for (size_t i = 0; i < BASE_ARRAY_LEN(single); i++) {
		uint64_t t0 = clock_read_counter();
		write_plain();
		uint64_t t1 = clock_read_counter();
		single[i] = bench_ticks_to_ns(t1 - t0 - overhead);
		while (bench_ticks_to_ns(clock_read_counter() - t1) < 10000) {
		}
	}
	return bench_summarise(single, BASE_ARRAY_LEN(single));
}

static void show(const char *what, struct bench_summary s, double base)
{
	printf("%-40s best %7.2f  median %7.2f  p90 %7.2f  p99 %7.2f ns  %5.2f x floor\n", what, s.best, s.median,
	       s.p90, s.p99, s.median / base);
	fflush(stdout);
}

static ULONG lost;

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
	props.p.MinimumBuffers = 64;
	props.p.MaximumBuffers = 128;
	snprintf(name, sizeof name, "bench-%d", i);
	snprintf(props.file, sizeof props.file, "%s/bench-%d.etl", getenv("BENCH_DIR") ? getenv("BENCH_DIR") : "/tmp",
		 i);
	ULONG code = StartTraceA(&h, name, &props.p);
	if (code) {
		fprintf(stderr, "StartTrace: %u\n", code);
		exit(1);
	}
	GUID g = TraceLoggingProviderId(tlg);
	code = EnableTraceEx2(h, &plain_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 1000, NULL);
	code = code ? code : EnableTraceEx2(h, &g, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 1000, NULL);
	if (code) {
		fprintf(stderr, "EnableTraceEx2: %u\n", code);
		exit(1);
	}
	return h;
}

static void stop(TRACEHANDLE h)
{
	props.p.Wnode.BufferSize = sizeof props;
	props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
	props.p.LogFileNameOffset = offsetof(__typeof__(props), file);
	ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
	lost += props.p.EventsLost;
	unlink(props.file);
}

int main(void)
{
	TRACEHANDLE h[8];
	EventRegister(&plain_guid, NULL, NULL, &plain);
	TraceLoggingRegister(tlg);
	bench_pin(0);
	clock_frequency();
	struct bench_summary floor = MEASURE(500, 0, write_floor());
	show("floor: clock read and copy", floor, floor.median);
	show("disabled, TraceLoggingWrite (inline)", MEASURE(5000, 0, write_nothing()), floor.median);
	show("disabled, EventEnabled (call)", MEASURE(1000, 0, (void)EventEnabled(plain, &descriptor)), floor.median);
	show("disabled, EventWrite (call)", MEASURE(1000, 0, write_plain()), floor.median);
	h[0] = start(0);
	struct bench_summary one = MEASURE(250, 1000, write_plain());
	show("1 session, EventWrite", one, floor.median);
	struct bench_summary tl = MEASURE(250, 1000, write_tlg());
	show("1 session, TraceLoggingWrite", tl, floor.median);
	show("1 session, EventWrite, live, 16 calls", measure_live(), floor.median);
	show("1 session, EventWrite, live, 1 call", measure_single(), floor.median);
	stop(h[0]);
	printf("lost with 1 session: %u, counted\n", lost);
	lost = 0;
	for (int i = 0; i < 8; i++) {
		h[i] = start(i);
	}
	show("8 sessions, EventWrite", MEASURE(250, 4000, write_plain()), floor.median);
	show("8 sessions, TraceLoggingWrite", MEASURE(250, 4000, write_tlg()), floor.median);
	for (int i = 0; i < 8; i++) {
		stop(h[i]);
	}
	printf("lost with 8 sessions: %u, counted\n", lost);
	printf("TraceLoggingWrite / EventWrite: %.2f (medians), %.2f (best)\n", tl.median / one.median,
	       tl.best / one.best);
	TraceLoggingUnregister(tlg);
	EventUnregister(plain);
	return 0;
}
