/* SPDX-License-Identifier: MIT
 *
 * What an event costs: filter + write for 1 and 8 sessions, without and with a live drain on
 * another CPU, and the drain itself. Times drift with the machine, so each is also given as a ratio
 * to the floor (clock read + copy of the same payload) measured in the same run.
 *
 *   gcc -std=gnu17 -D_GNU_SOURCE -O2 -Isrc bench/pool_bench.c \
 *       src/pool/pool_{ctl,drain,pass,segment,writer}.c src/base/clock.c -lpthread -o pool_bench
 */
#include "pool/pool_evaluate.h"
#include "pool/pool_testing.h"

#include <pthread.h>
#include <time.h>

#define BATCH     256u
#define BATCHES   4000u
#define CTL_BYTES 65536u
#define ENTRY     128u

static struct rig rig;
static uint8_t *ctl;
static double floor_ns;

static uint32_t field_a = 1;
static uint64_t field_b = 2;
static char field_c[16] = "fifteen letters";
static uint64_t descriptor[2] = {0x0004000000000001ull, 0x10}; /* level 4, keyword 0x10 */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* As EventWrite does it: the caller's array of pieces, summed, checked, written. */
static __attribute__((noinline)) int event_write(const struct ctl_entry *e, const void *desc,
						 const struct pool_piece *piece, uint32_t count)
{
	if (order_load_relaxed(&e->enabled) == 0) {
		return 0;
	}
	const uint8_t *d = (const uint8_t *)desc;
	struct pool_verdict v = pool_ctl_evaluate(e, ctl, CTL_BYTES, d[4], le64_get(d + 8));
	if (v.mask == 0) {
		return 0;
	}
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += piece[i].size;
	}
	struct pool_write_args a = {
		.kind = POOL_REC_EVENT,
		.prov = 1,
		.cfg_gen = v.cfg_gen,
		.tid = test_tid(),
		.mask = v.mask,
		.descriptor = desc,
		.piece = piece,
		.piece_count = count,
		.payload_bytes = sum,
	};
	return pool_write(rig.w, &a);
}

static uint8_t floor_buffer[4096];

static __attribute__((noinline)) void floor_write(uint32_t at)
{
	uint8_t *p = floor_buffer + at % 4000;
	le64_put(p, clock_read_counter());
	memcpy(p + 8, &field_a, 4);
	memcpy(p + 12, &field_b, 8);
	memcpy(p + 20, field_c, 16);
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void report(const char *what, double ns)
{
	printf("%-52s %7.2f ns  %5.2f x floor\n", what, ns, ns / floor_ns);
}

struct result {
	double best, median, p99;
	uint64_t lost;
};

static const struct ctl_entry *entry(void)
{
	return (const struct ctl_entry *)(const void *)(ctl + ENTRY);
}

static struct result measure_write(bool drain_here, unsigned pause_us)
{
	static double ns[BATCHES];
	struct pool_piece p[3] = {{&field_a, 4, 0}, {&field_b, 8, 0}, {field_c, 16, 0}};
	struct result r = {0, 0, 0, 0};
	double ticks_per_ns = (double)clock_frequency() / 1e9;
	for (unsigned b = 0; b < BATCHES; b++) {
		uint64_t t0 = clock_read_counter();
		for (unsigned i = 0; i < BATCH; i++) {
			r.lost += event_write(entry(), descriptor, p, 3) != 0;
		}
		ns[b] = (double)(clock_read_counter() - t0) / BATCH / ticks_per_ns;
		if (drain_here) {
			rig_flush(&rig, NULL, NULL);
		}
		if (pause_us) {
			uint64_t until = clock_read_system_ns() + pause_us * 1000ull;
			while (clock_read_system_ns() < until) {
			}
		}
	}
	qsort(ns, BATCHES, sizeof ns[0], compare_double);
	r.best = ns[0];
	r.median = ns[BATCHES / 2];
	r.p99 = ns[BATCHES * 99 / 100];
	return r;
}

static void enable(uint32_t sessions)
{
	static uint32_t generation;
	struct filter_row rows[8];
	memset(rows, 0, sizeof rows);
	for (uint32_t i = 0; i < sessions; i++) {
		rows[i] = (struct filter_row){.bit = (uint8_t)i, .level = 5, .any = 0xff};
	}
	pool_ctl_publish(ctl, ENTRY, ++generation, rows, sessions, 0);
}

static bool drain_stop;
static uint64_t drained;

static void count_event(void *ctx, const struct pool_event *ev)
{
	uint64_t *sum = ctx;
	*sum += ev->rec->mask + ev->payload_bytes;
}

static void *drain_thread(void *arg)
{
	uint64_t sum = 0;
	while (!order_load_relaxed(&drain_stop)) {
		drained += test_round(rig.p, &rig.v, 1, 0, clock_now(), count_event, &sum);
		struct timespec ts = {0, 100000};
		nanosleep(&ts, NULL);
	}
	return NULL;
}

static void bench_floor(void)
{
	double best = 1e9;
	for (unsigned b = 0; b < 2000; b++) {
		uint64_t t0 = clock_read_counter();
		for (unsigned i = 0; i < BATCH; i++) {
			floor_write(i * 64);
		}
		double ns = (double)(clock_read_counter() - t0) / BATCH * 1e9 / (double)clock_frequency();
		best = ns < best ? ns : best;
	}
	floor_ns = best;
	report("floor: rdtsc + copy of 28 bytes", best);
}

static void bench_disabled(void)
{
	struct pool_piece p[1] = {{&field_a, 4, 0}};
	enable(0);
	double best = 1e9;
	for (unsigned b = 0; b < 2000; b++) {
		uint64_t t0 = clock_read_counter();
		for (unsigned i = 0; i < BATCH; i++) {
			event_write(entry(), descriptor, p, 1);
		}
		double ns = (double)(clock_read_counter() - t0) / BATCH * 1e9 / (double)clock_frequency();
		best = ns < best ? ns : best;
	}
	report("disabled, real call", best);
}

static void bench_alone(uint32_t sessions)
{
	char what[64];
	enable(sessions);
	struct result r = measure_write(true, 0);
	snprintf(what, sizeof what, "%u session%s, best batch", sessions, sessions > 1 ? "s" : "");
	report(what, r.best);
	snprintf(what, sizeof what, "%u session%s, median batch", sessions, sessions > 1 ? "s" : "");
	report(what, r.median);
	if (r.lost) {
		printf("  (%llu lost)\n", (unsigned long long)r.lost);
	}
}

static void bench_live(uint32_t sessions)
{
	char what[64];
	pthread_t t;
	enable(sessions);
	order_store_relaxed(&drain_stop, false);
	pthread_create(&t, NULL, drain_thread, NULL);
	struct result r = measure_write(false, 50);
	order_store_relaxed(&drain_stop, true);
	pthread_join(t, NULL);
	rig_flush(&rig, NULL, NULL);
	snprintf(what, sizeof what, "%u session%s, live drain, median", sessions, sessions > 1 ? "s" : "");
	report(what, r.median);
	snprintf(what, sizeof what, "%u session%s, live drain, p99", sessions, sessions > 1 ? "s" : "");
	report(what, r.p99);
	if (r.lost) {
		printf("  (%llu of %u lost)\n", (unsigned long long)r.lost, BATCH * BATCHES);
	}
}

/* The memory is in this CPU's cache, as it would be on a CPU that shares one with the writer. */
static void bench_drain(void)
{
	struct pool_piece p[3] = {{&field_a, 4, 0}, {&field_b, 8, 0}, {field_c, 16, 0}};
	enable(1);
	rig_flush(&rig, NULL, NULL);
	double best = 1e9;
	uint64_t sum = 0;
	for (unsigned b = 0; b < 1000; b++) {
		for (unsigned i = 0; i < 1500; i++) {
			event_write(entry(), descriptor, p, 3);
		}
		uint64_t t0 = clock_read_counter();
		uint64_t n = rig_flush(&rig, count_event, &sum);
		double ns = (double)(clock_read_counter() - t0) * 1e9 / (double)clock_frequency();
		if (n > 0 && ns / (double)n < best) {
			best = ns / (double)n;
		}
	}
	report("drain: copy, validate, merge, callback", best);
}

/* Two processes on one CPU number: every few events the merge changes its source. */
static void bench_merge(void)
{
	struct rig other = rig_make(4096);
	struct pool_view *views[2] = {rig.v, other.v};
	double best = 1e9;
	uint64_t sum = 0;
	for (unsigned b = 0; b < 500; b++) {
		for (unsigned i = 0; i < 1000; i++) {
			test_write(i / 8 % 2 ? rig.w : other.w, field_c, 16);
		}
		uint64_t t0 = clock_read_counter();
		uint64_t n = test_round(rig.p, views, 2, POOL_PASS_FLUSH, clock_now(), count_event, &sum);
		double ns = (double)(clock_read_counter() - t0) * 1e9 / (double)clock_frequency();
		if (n > 0 && ns / (double)n < best) {
			best = ns / (double)n;
		}
	}
	report("drain: two writers in turns of 8", best);
	rig_free(&other);
}

int main(void)
{
	rig = rig_make(4096);
	ctl = calloc(1, CTL_BYTES);
	if (!ctl) {
		return 1;
	}
	struct ctl_entry *e = (struct ctl_entry *)(void *)(ctl + ENTRY);
	e->table[0] = 1024;
	e->table[1] = 8192;
	bench_floor();
	bench_disabled();
	bench_alone(1);
	bench_alone(8);
	bench_live(1);
	bench_live(8);
	bench_drain();
	bench_merge();
	rig_free(&rig);
	free(ctl);
	return 0;
}
