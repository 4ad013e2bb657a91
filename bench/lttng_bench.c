/* SPDX-License-Identifier: MIT
 * The same payload through LTTng-UST, measured the same way as event_bench. The sessions are made by
 * bench/run before this starts.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_tp.h"

#include "bench.h"

static struct bench_payload payload = {1, 2, {3}};

static __attribute__((noinline)) void write_event(void)
{
	payload.b++;
	lttng_ust_tracepoint(bench, event, payload.a, payload.b, payload.c);
}

#define ROUNDS 4000
static double values[ROUNDS];

int main(int argc, char **argv)
{
	bench_pin(0);
	clock_frequency();
	for (int i = 0; i < 1000; i++) {
		write_event();
	}
	bench_sleep_us(20000);
	BENCH_BATCHES(values, ROUNDS, 500, 200, write_event());
	struct bench_summary s = bench_summarise(values, ROUNDS);
	printf("%-44s best %6.2f  median %6.2f  p90 %6.2f  p99 %6.2f ns\n", argc > 1 ? argv[1] : "LTTng-UST", s.best,
	       s.median, s.p90, s.p99);
	return 0;
}
