/* SPDX-License-Identifier: MIT
 *
 * What threads did and why they waited, of traces made here: one that is told step by step, and many at random beside a
 * table of what each thread does at each tick.
 */
#include "../corpus/etl_build.h"

#include "openetw/error.h"
#include "openetw/query.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define START  1000u /* raw time of the trace's beginning */
#define BUFFER 1048576u
#define CPUS   3u
#define PID    40u
#define TID(i) (100u + 4u * (i)) /* of thread 0, 1, … */
#define IDLE   UINT32_MAX

static char path[64];

/* ---- making traces ------------------------------------------------------------------------------- */

/* Each processor's records are in buffers of its own, so they are collected first. */
struct cpu {
	uint8_t *mem;
	uint32_t at;
};
static struct cpu cpus[CPUS];

static uint8_t *record(uint32_t cpu, uint32_t header, uint32_t type, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint32_t n = header + payload;
	struct cpu *c = &cpus[cpu];
	c->mem = c->mem ? c->mem : calloc(1, BUFFER);
	assert_non_null(c->mem);
	assert_true(c->at + n + 8 < BUFFER - 0x100);
	uint8_t *r = c->mem + c->at;
	etl_build_u16(r, version);
	r[2] = (uint8_t)type;
	r[3] = 0xC0;
	etl_build_u16(r + 4, n);
	etl_build_u16(r + 6, hook);
	c->at += (n + 7) & ~7u;
	return r;
}

/* A record of 64-bit Windows that names nobody in its header. */
static uint8_t *perfinfo(uint32_t cpu, uint64_t time, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint8_t *r = record(cpu, 16, 17, version, hook, payload);
	etl_build_u64(r + 8, START + time);
	return r + 16;
}

/* Process and threads that are there when the trace begins. */
static void rundown(uint32_t threads)
{
	for (uint32_t i = 0; i < threads; i++) {
		uint8_t *r = record(0, 32, 2, 3, 0x0503, 80);
		etl_build_u32(r + 8, UINT32_MAX);
		etl_build_u32(r + 12, UINT32_MAX);
		etl_build_u64(r + 16, START);
		etl_build_u32(r + 32, PID);
		etl_build_u32(r + 36, TID(i));
	}
}

static void switch_to(uint32_t cpu, uint64_t time, uint32_t in, uint32_t out, uint8_t state, uint8_t reason)
{
	uint8_t *p = perfinfo(cpu, time, 4, 0x0524, 24);
	etl_build_u32(p, in == IDLE ? 0 : TID(in));
	etl_build_u32(p + 4, out == IDLE ? 0 : TID(out));
	p[12] = reason;
	p[14] = state;
}

static void ready(uint32_t cpu, uint64_t time, uint32_t who, bool by_dpc)
{
	uint8_t *p = perfinfo(cpu, time, 2, 0x0532, 8);
	etl_build_u32(p, TID(who));
	p[6] = by_dpc;
}

static void write_trace(uint64_t end)
{
	struct etl_build b;
	const struct etl_build_header h = {.clock_type = 1,
					   .perf_freq = 10000000,
					   .start_raw = START,
					   .start_filetime = 133000000000000000,
					   .mode = 1};
	/* Something at the end, so that the last stays have one. */
	uint8_t *last = record(0, 80, 19, 0, 0, 4);
	etl_build_u16(last, 84);
	etl_build_u16(last + 2, 0xC013);
	etl_build_u32(last + 4, 0);
	etl_build_u64(last + 0x10, START + end);
	memset(last + 0x18, 0xAB, 16);
	etl_build_start(&b, BUFFER, &h);
	for (uint32_t i = 0; i < CPUS; i++) {
		etl_build_begin(&b, i, b.buffers);
		if (cpus[i].mem) {
			memcpy(etl_build_record(&b, cpus[i].at), cpus[i].mem, cpus[i].at);
		}
		etl_build_end(&b, START + end);
		free(cpus[i].mem);
		cpus[i] = (struct cpu){0};
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b.mem, b.buffer_size, b.buffers, f), b.buffers);
	assert_int_equal(fclose(f), 0);
	free(b.mem);
}

/* ---- asking -------------------------------------------------------------------------------------- */

static struct openetw_index *x;
static struct openetw_query *q;

static void open_trace(void)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	const char *p = path;
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	assert_non_null(q);
}

static void close_trace(void)
{
	openetw_query_destroy(q);
	openetw_index_close(x);
}

static uint32_t number_of(uint32_t thread)
{
	OPENETW_SIZED(struct openetw_index_about, about);
	OPENETW_SIZED(struct openetw_index_thread, t);
	assert_int_equal(openetw_index_about(x, &about), 0);
	for (uint32_t i = 1; i < about.threads; i++) {
		assert_int_equal(openetw_index_thread(x, i, &t), 0);
		if (t.tid == TID(thread)) {
			return i;
		}
	}
	fail_msg("no thread %u", thread);
	return 0;
}

#define RUNS_MOST 70000u
static struct openetw_lane_run runs[RUNS_MOST];
static uint32_t run_count;

static bool keep_run(void *context, const struct openetw_lane_run *r)
{
	assert_true(run_count < RUNS_MOST);
	runs[run_count++] = *r;
	return true;
}

static void ask(enum openetw_lanes kind, uint32_t id, int64_t from, int64_t to, uint32_t pixels)
{
	OPENETW_SIZED(struct openetw_answer, a);
	run_count = 0;
	assert_int_equal(openetw_query_lanes(q, kind, &id, 1, from * 100, to * 100, pixels, keep_run, NULL, &a), 0);
	assert_true(a.exact);
	assert_false(a.partial);
}

static void check_run(uint32_t i, uint32_t first, uint32_t pixels, enum openetw_doing doing, double coverage)
{
	assert_true(i < run_count);
	assert_int_equal(runs[i].first, first);
	assert_int_equal(runs[i].pixels, pixels);
	assert_int_equal(runs[i].doing, doing);
	assert_true(runs[i].coverage > coverage - 1e-9 && runs[i].coverage < coverage + 1e-9);
}

static struct openetw_link links[8];
static uint32_t link_count;

static bool keep_link(void *context, const struct openetw_link *l)
{
	assert_true(link_count < 8);
	links[link_count++] = *l;
	return true;
}

static uint32_t chain(uint32_t thread, int64_t time, uint32_t most)
{
	OPENETW_SIZED(struct openetw_answer, a);
	link_count = 0;
	return openetw_query_chain(q, thread, time * 100, most, keep_link, NULL, &a);
}

static void check_link(uint32_t i, uint32_t thread, int64_t from, int64_t is_ready, int64_t to)
{
	assert_true(i < link_count);
	assert_int_equal(links[i].thread, thread);
	assert_int_equal(links[i].from, from * 100);
	assert_int_equal(links[i].ready, is_ready * 100);
	assert_int_equal(links[i].to, to * 100);
}

/* ---- step by step -------------------------------------------------------------------------------- */

enum { A, B, C };

static void tell_story(void)
{
	rundown(3);
	switch_to(0, 1000, A, IDLE, 0, 0);
	switch_to(1, 1000, B, IDLE, 0, 0);
	switch_to(0, 2000, IDLE, A, 5, 6);
	switch_to(1, 3000, C, B, 5, 15);
	ready(1, 4000, B, false); /* by C, which runs there */
	switch_to(0, 5000, B, IDLE, 0, 0);
	ready(0, 6000, A, false); /* by B */
	ready(0, 6500, A, true);  /* it was awake already */
	switch_to(1, 7000, A, C, 1, 0);
	switch_to(1, 8000, C, A, 5, 4);
	ready(0, 8500, A, true);
	switch_to(2, 9000, A, IDLE, 0, 0);
	write_trace(10000);
}

static void a_lane_is_what_its_thread_did(void **state)
{
	tell_story();
	open_trace();
	uint32_t a = number_of(A), b = number_of(B), c = number_of(C);
	ask(OPENETW_LANES_THREADS, a, 0, 10000, 10);
	assert_int_equal(run_count, 6);
	check_run(0, 1, 1, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[0].cpu, 0);
	check_run(1, 2, 4, OPENETW_DOING_WAITING, 1);
	assert_int_equal(runs[1].reason, 6);
	assert_int_equal(runs[1].intervals, 1);
	assert_int_equal(runs[1].from, 200000);
	assert_int_equal(runs[1].to, 600000);
	check_run(2, 6, 1, OPENETW_DOING_READY, 1);
	assert_int_equal(runs[2].thread, b);
	assert_int_equal(runs[2].waker, OPENETW_WAKER_THREAD);
	check_run(3, 7, 1, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[3].cpu, 1);
	check_run(4, 8, 1, OPENETW_DOING_READY, 0.5);
	assert_int_equal(runs[4].waker, OPENETW_WAKER_DPC);
	check_run(5, 9, 1, OPENETW_DOING_RUNNING, 1);
	/* From far away. */
	ask(OPENETW_LANES_THREADS, a, 1000, 9000, 1);
	assert_int_equal(run_count, 1);
	check_run(0, 0, 1, OPENETW_DOING_WAITING, 4500.0 / 8000);
	assert_int_equal(runs[0].intervals, 2);
	assert_int_equal(runs[0].from, 200000);
	/* The thread whose processor was taken. */
	ask(OPENETW_LANES_THREADS, c, 0, 10000, 10);
	assert_int_equal(run_count, 3);
	check_run(0, 3, 4, OPENETW_DOING_RUNNING, 1);
	check_run(1, 7, 1, OPENETW_DOING_READY, 1);
	assert_int_equal(runs[1].waker, OPENETW_WAKER_PREEMPTED);
	check_run(2, 8, 2, OPENETW_DOING_RUNNING, 1);
	close_trace();
}

static void a_processors_lane_is_who_ran_there(void **state)
{
	tell_story();
	open_trace();
	ask(OPENETW_LANES_CPUS, OPENETW_CPU_OF(0, 1), 0, 10000, 10);
	assert_int_equal(run_count, 4);
	check_run(0, 1, 2, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[0].thread, number_of(B));
	check_run(1, 3, 4, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[1].thread, number_of(C));
	check_run(2, 7, 1, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[2].thread, number_of(A));
	check_run(3, 8, 2, OPENETW_DOING_RUNNING, 1);
	assert_int_equal(runs[3].thread, number_of(C));
	ask(OPENETW_LANES_CPUS, OPENETW_CPU_OF(0, 0), 0, 10000, 10);
	assert_int_equal(run_count, 3);
	check_run(1, 2, 3, OPENETW_DOING_IDLE, 1);
	close_trace();
}

static void a_chain_goes_back_to_the_cause(void **state)
{
	tell_story();
	open_trace();
	uint32_t a = number_of(A), b = number_of(B), c = number_of(C);
	for (int64_t at = 2000; at < 8000; at += 1500) { /* while it waits, and until it waits again */
		assert_int_equal(chain(a, at, 8), 0);
		assert_int_equal(link_count, 2);
		check_link(0, a, 2000, 6000, 7000);
		assert_int_equal(links[0].cause, OPENETW_CAUSE_NEXT);
		assert_int_equal(links[0].waker_thread, b);
		assert_int_equal(links[0].reason, 6);
		check_link(1, b, 3000, 4000, 5000);
		assert_int_equal(links[1].waker_thread, c);
		assert_int_equal(links[1].cause, OPENETW_CAUSE_RAN);
	}
	assert_int_equal(chain(a, 7500, 1), 0);
	assert_int_equal(link_count, 1);
	assert_int_equal(links[0].cause, OPENETW_CAUSE_MORE);
	assert_int_equal(chain(a, 9500, 8), 0);
	assert_int_equal(link_count, 1);
	check_link(0, a, 8000, 8500, 9000);
	assert_int_equal(links[0].cause, OPENETW_CAUSE_OUTSIDE);
	assert_int_equal(links[0].waker, OPENETW_WAKER_DPC);
	assert_int_not_equal(chain(c, 9500, 8), 0); /* it never waited */
	assert_int_equal(link_count, 0);
	close_trace();
}

static void a_wait_that_has_no_end_says_so(void **state)
{
	rundown(2);
	switch_to(0, 1000, A, IDLE, 0, 0);
	switch_to(0, 2000, B, A, 5, 1);
	write_trace(5000);
	open_trace();
	assert_int_equal(chain(number_of(A), 4000, 8), 0);
	assert_int_equal(link_count, 1);
	assert_int_equal(links[0].cause, OPENETW_CAUSE_WAITS);
	assert_true(links[0].ready == INT64_MAX && links[0].to == INT64_MAX);
	close_trace();
}

static void what_is_asked_wrongly_is_refused(void **state)
{
	uint32_t id = 7777, cpu = OPENETW_CPU_OF(0, 99), file = OPENETW_CPU_OF(3, 0);
	tell_story();
	open_trace();
	run_count = 0;
	const enum openetw_lanes t = OPENETW_LANES_THREADS, c = OPENETW_LANES_CPUS;
	assert_int_not_equal(openetw_query_lanes(q, t, &id, 1, 0, 100, 10, keep_run, NULL, NULL), 0);
	assert_int_not_equal(openetw_query_lanes(q, c, &cpu, 1, 0, 100, 10, keep_run, NULL, NULL), 0);
	assert_int_not_equal(openetw_query_lanes(q, c, &file, 1, 0, 100, 10, keep_run, NULL, NULL), 0);
	id = number_of(A);
	assert_int_not_equal(openetw_query_lanes(q, t, &id, 1, 100, 100, 10, keep_run, NULL, NULL), 0);
	assert_int_not_equal(openetw_query_lanes(q, t, &id, 1, 0, 100, 0, keep_run, NULL, NULL), 0);
	assert_int_equal(run_count, 0);
	/* All of time, and times before the trace. */
	assert_int_equal(openetw_query_lanes(q, t, &id, 1, INT64_MIN, INT64_MAX, 65536, keep_run, NULL, NULL), 0);
	assert_int_equal(run_count, 1);
	run_count = 0;
	assert_int_equal(openetw_query_lanes(q, t, &id, 1, -5000, -1, 10, keep_run, NULL, NULL), 0);
	assert_int_equal(run_count, 0);
	assert_int_not_equal(chain(7777, 0, 8), 0);
	assert_int_not_equal(chain(0, 0, 8), 0);
	assert_int_not_equal(chain(id, 5000, 0), 0);
	close_trace();
}

/* ---- at random ----------------------------------------------------------------------------------- */

#define THREADS 9u
#define TICKS   30000u

static uint8_t table[THREADS][TICKS];
static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) * n >> 32);
}

static void make_random(void)
{
	uint8_t doing[THREADS] = {0};
	uint32_t on[CPUS];
	rundown(THREADS);
	for (uint32_t i = 0; i < CPUS; i++) {
		on[i] = IDLE;
	}
	memset(table, 0, sizeof table);
	for (uint32_t t = 1; t < TICKS; t++) {
		uint32_t cpu = below(CPUS), who = below(THREADS), much = t / 10000 % 2 ? 4 : 300;
		if (below(much) == 0 && doing[who] != OPENETW_DOING_RUNNING) {
			uint8_t state = below(3) ? 5 : 1;
			if (on[cpu] != IDLE) {
				doing[on[cpu]] = state == 5 ? OPENETW_DOING_WAITING : OPENETW_DOING_READY;
			}
			if (below(20) == 0) {
				switch_to(cpu, t, IDLE, on[cpu], state, 3);
				on[cpu] = IDLE;
			} else {
				switch_to(cpu, t, who, on[cpu], state, 3);
				on[cpu] = who;
				doing[who] = OPENETW_DOING_RUNNING;
			}
		} else if (below(much) == 0 && doing[who] == OPENETW_DOING_WAITING) {
			ready(cpu, t, who, below(5) == 0);
			doing[who] = OPENETW_DOING_READY;
		}
		for (uint32_t i = 0; i < THREADS; i++) {
			table[i][t] = doing[i];
		}
	}
	write_trace(TICKS);
}

/* Ticks from the pixel's first on, of each doing. */
static void count_ticks(uint32_t thread, uint32_t from, uint32_t per, uint32_t pixel, uint32_t ret[5])
{
	memset(ret, 0, 5 * sizeof *ret);
	for (uint32_t i = 0; i < per; i++) {
		uint32_t t = from + pixel * per + i;
		ret[t < TICKS ? table[thread][t] : 0]++;
	}
}

static uint64_t intervals_of(uint32_t thread, enum openetw_doing doing, uint32_t from, uint32_t ticks)
{
	uint64_t n = 0;
	for (uint32_t t = from; t < from + ticks && t < TICKS; t++) {
		n += table[thread][t] == doing && (t == from || table[thread][t - 1] != doing);
	}
	return n;
}

static void check_random(uint32_t thread, uint32_t number, uint32_t from, uint32_t pixels, uint32_t per)
{
	uint32_t at = 0;
	ask(OPENETW_LANES_THREADS, number, from, from + (int64_t)pixels * per, pixels);
	for (uint32_t i = 0; i < run_count; i++) {
		const struct openetw_lane_run *r = &runs[i];
		uint64_t ticks = 0;
		assert_true(r->first >= at && r->pixels > 0 && r->first + r->pixels <= pixels);
		for (uint32_t p = at; p < r->first + r->pixels; p++) {
			uint32_t n[5];
			count_ticks(thread, from, per, p, n);
			for (uint32_t k = 1; k < 5; k++) {
				assert_true(p < r->first ? n[k] == 0 : n[k] <= n[r->doing]);
			}
			ticks += p < r->first ? 0 : n[r->doing];
		}
		assert_int_equal(r->intervals, intervals_of(thread, r->doing, from + r->first * per, r->pixels * per));
		double coverage = (double)ticks / ((double)r->pixels * per);
		assert_true(r->coverage > coverage - 1e-9 && r->coverage < coverage + 1e-9);
		assert_true(r->intervals > 0);
		at = r->first + r->pixels;
	}
	for (uint32_t p = at; p < pixels; p++) {
		uint32_t n[5];
		count_ticks(thread, from, per, p, n);
		assert_int_equal(n[0], per);
	}
}

static void lanes_are_those_of_a_table(void **state)
{
	static const uint32_t per[] = {1, 2, 7, 64, 999};
	for (uint32_t round = 1; round <= 4; round++) {
		random_state = round * 0x9E3779B97F4A7C15ull;
		make_random();
		open_trace();
		for (uint32_t i = 0; i < THREADS; i++) {
			uint32_t number = number_of(i);
			for (uint32_t k = 0; k < sizeof per / sizeof *per; k++) {
				uint32_t from = below(TICKS / 2);
				check_random(i, number, from, (TICKS - from) / per[k], per[k]);
			}
		}
		close_trace();
	}
}

/* Each link is earlier, and is of the thread that woke the one before. */
static void chains_go_back_in_time(void **state)
{
	random_state = 77;
	make_random();
	open_trace();
	uint32_t long_ones = 0;
	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t number = number_of(below(THREADS)), t = below(TICKS);
		if (chain(number, t, 8) != 0) {
			continue;
		}
		assert_true(link_count > 0);
		assert_int_equal(links[0].thread, number);
		assert_true(links[0].from <= (int64_t)t * 100);
		for (uint32_t i = 0; i + 1 < link_count; i++) {
			assert_int_equal(links[i].cause, OPENETW_CAUSE_NEXT);
			assert_int_equal(links[i + 1].thread, links[i].waker_thread);
			assert_true(links[i + 1].ready < links[i].ready || links[i + 1].ready == INT64_MAX);
		}
		assert_int_not_equal(links[link_count - 1].cause, OPENETW_CAUSE_NEXT);
		long_ones += link_count > 1;
	}
	assert_true(long_ones > 10);
	close_trace();
}

static int begin(void **state)
{
	snprintf(path, sizeof path, "/tmp/openetw-lanes-XXXXXX");
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lane_is_what_its_thread_did),
		cmocka_unit_test(a_processors_lane_is_who_ran_there),
		cmocka_unit_test(a_chain_goes_back_to_the_cause),
		cmocka_unit_test(a_wait_that_has_no_end_says_so),
		cmocka_unit_test(what_is_asked_wrongly_is_refused),
		cmocka_unit_test(lanes_are_those_of_a_table),
		cmocka_unit_test(chains_go_back_in_time),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
