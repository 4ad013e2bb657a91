/* SPDX-License-Identifier: MIT
 * The producer of flat_out_bench for LTTng-UST: lttng_flat_bench CPU M_EVENTS_PER_S SECONDS; prints how many it
 * wrote. bench/lttng_flat makes the session and counts what was lost.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_tp.h"

#include "bench.h"

int main(int argc, char **argv)
{
	struct bench_payload p = {1, 0, {2}};
	int cpu = argc > 1 ? atoi(argv[1]) : 0;
	double rate = argc > 2 ? atof(argv[2]) * 1e6 : 0, seconds = argc > 3 ? atof(argv[3]) : 2;
	bench_pin(cpu);
	uint64_t freq = clock_frequency(), start = clock_now();
	uint64_t end = start + (uint64_t)(seconds * (double)freq), n = 0;
	double per_event = rate > 0 ? (double)freq / rate : 0;
	for (uint64_t now = start; now < end; now = clock_now()) {
		while (rate > 0 && (double)n * per_event > (double)(clock_now() - start)) {
			bench_pause();
		}
		for (int i = 0; i < 32; i++, n++) {
			p.b = n;
			lttng_ust_tracepoint(bench, event, p.a, p.b, p.c);
		}
	}
	printf("%llu\n", (unsigned long long)n);
	return 0;
}
