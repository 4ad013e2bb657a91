/* SPDX-License-Identifier: MIT
 * What the benchmark programs share: pinning, ticks, percentiles, the payload everybody writes.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/base.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* u32 + u64 + 16 bytes: the payload of every comparison. */
struct bench_payload {
	uint32_t a;
	uint64_t b;
	uint8_t c[16];
};

static inline void bench_pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static inline void bench_sleep_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

static inline void bench_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

static inline double bench_ticks_to_ns(uint64_t ticks)
{
	return (double)ticks * 1e9 / (double)clock_frequency();
}

static int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

struct bench_summary {
	double best, median, p90, p99;
};

static inline struct bench_summary bench_summarise(double *v, size_t n)
{
	qsort(v, n, sizeof *v, bench_compare);
	return (struct bench_summary){v[0], v[n / 2], v[n * 90 / 100], v[n * 99 / 100]};
}

/* Runs `call` in `rounds` batches with a pause between them, so that the other side can drain what the
 * last batch wrote; each batch gives one ns-per-call value. */
#define BENCH_BATCHES(out, rounds, batch, pause_us, call)                       \
	do {                                                                    \
		for (size_t round_ = 0; round_ < (rounds); round_++) {          \
			uint64_t t0_ = clock_read_counter();                    \
			for (unsigned i_ = 0; i_ < (batch); i_++) {             \
				call;                                           \
			}                                                       \
			uint64_t t1_ = clock_read_counter();                    \
			(out)[round_] = bench_ticks_to_ns(t1_ - t0_) / (batch); \
			if ((pause_us) > 0) {                                   \
				bench_sleep_us(pause_us);                       \
			}                                                       \
		}                                                               \
	} while (0)

#endif
