/* SPDX-License-Identifier: MIT
 * The same payload through LTTng-UST, measured the same way as event_bench. The sessions are made by
 * bench/run before this starts.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_tp.h"

#include "bench.h"

static struct bench_payload payload = {1, 2, {3}};

static inline void write_event(void)
{
	payload.b++;
	lttng_ust_tracepoint(bench, event, payload.a, payload.b, payload.c);
}

#define ROUNDS 1500
static double values[ROUNDS];

/* argv: what to print in front, pause between batches in microseconds */
int main(int argc, char **argv)
{
	long pause = argc > 2 ? atol(argv[2]) : 1000;
	bench_pin(0);
	clock_frequency();
	for (int i = 0; i < 1000; i++) {
		write_event();
	}
	bench_sleep_us(20000);
	BENCH_BATCHES(values, ROUNDS, 250, pause, write_event());
	struct bench_summary s = bench_summarise(values, ROUNDS);
	printf("%-40s best %7.2f  median %7.2f  p90 %7.2f  p99 %7.2f ns\n", argc > 1 ? argv[1] : "LTTng-UST", s.best,
	       s.median, s.p90, s.p99);
	return 0;
}
