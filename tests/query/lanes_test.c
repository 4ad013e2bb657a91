/* SPDX-License-Identifier: MIT
 *
 * What threads did and why they waited, of traces made here: one that is told step by step, and many at random beside a
 * table of what each thread does at each tick.
 */
#include "../corpus/corpus.h"
#include "../corpus/etl_build.h"

#include "etw/values/errors.h"
#include "openetw/error.h"
#include "openetw/query.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
static struct etl_build *stream; /* buffers that are full go there; NULL: a processor has one */
static uint64_t stream_time;

static void flush_cpu(struct etl_build *b, uint32_t cpu, uint64_t time)
{
	etl_build_begin(b, cpu, b->buffers);
	if (cpus[cpu].mem) {
		memcpy(etl_build_record(b, cpus[cpu].at), cpus[cpu].mem, cpus[cpu].at);
	}
	etl_build_end(b, START + time);
	cpus[cpu].at = 0;
}

static uint8_t *record(uint32_t cpu, uint32_t header, uint32_t type, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint32_t n = header + payload;
	struct cpu *c = &cpus[cpu];
	c->mem = c->mem ? c->mem : calloc(1, BUFFER);
	assert_non_null(c->mem);
	if (stream && c->at + n + 8 >= BUFFER - 0x100) {
		flush_cpu(stream, cpu, stream_time);
		memset(c->mem, 0, BUFFER);
	}
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

static void begin_trace(struct etl_build *b)
{
	const struct etl_build_header h = {.clock_type = 1,
					   .perf_freq = 10000000,
					   .start_raw = START,
					   .start_filetime = 133000000000000000,
					   .mode = 1};
	etl_build_start(b, BUFFER, &h);
}

static void end_trace(struct etl_build *b, uint64_t end)
{
	/* Something at the end, so that the last stays have one. */
	uint8_t *last = record(0, 80, 19, 0, 0, 4);
	etl_build_u16(last, 84);
	etl_build_u16(last + 2, 0xC013);
	etl_build_u32(last + 4, 0);
	etl_build_u64(last + 0x10, START + end);
	memset(last + 0x18, 0xAB, 16);
	for (uint32_t i = 0; i < CPUS; i++) {
		flush_cpu(b, i, end);
		free(cpus[i].mem);
		cpus[i] = (struct cpu){0};
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b->mem, b->buffer_size, b->buffers, f), b->buffers);
	assert_int_equal(fclose(f), 0);
	free(b->mem);
}

static void write_trace(uint64_t end)
{
	struct etl_build b;
	begin_trace(&b);
	end_trace(&b, end);
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

/* Of more groups of rows than one thread reads at once. */
static void make_long(uint32_t records)
{
	struct etl_build b;
	uint32_t on[CPUS] = {IDLE, IDLE, IDLE};
	begin_trace(&b);
	stream = &b;
	rundown(THREADS);
	for (uint32_t t = 1; t <= records; t++) {
		uint32_t cpu = below(CPUS), who = below(THREADS);
		stream_time = t;
		if (below(4) == 0) {
			ready(cpu, t, who, below(5) == 0);
		} else {
			switch_to(cpu, t, who, on[cpu], below(3) ? 5 : 1, (uint8_t)below(37));
			on[cpu] = who;
		}
	}
	end_trace(&b, records + 1);
	stream = NULL;
}

/* Of what runs say, without the bytes between. */
static uint64_t hash_of_runs(uint64_t h)
{
	for (uint32_t i = 0; i < run_count; i++) {
		const struct openetw_lane_run *r = &runs[i];
		const uint64_t all[] = {r->first,     r->pixels,         r->doing,        (uint64_t)(r->coverage * 1e9),
					r->intervals, (uint64_t)r->from, (uint64_t)r->to, r->thread,
					r->cpu,       r->reason,         r->waker};
		for (uint32_t k = 0; k < sizeof all / sizeof *all; k++) {
			h = (h ^ all[k]) * 0x100000001B3ull;
			h ^= h >> 29;
		}
	}
	return h;
}

static uint64_t hash_of_lanes(int64_t end)
{
	uint64_t h = 0xCBF29CE484222325ull;
	for (uint32_t i = 0; i < THREADS + CPUS; i++) {
		bool cpu = i >= THREADS;
		uint32_t id = cpu ? OPENETW_CPU_OF(0, i - THREADS) : number_of(i);
		ask(cpu ? OPENETW_LANES_CPUS : OPENETW_LANES_THREADS, id, 0, end, 40000);
		h = hash_of_runs(h);
	}
	return h;
}

/* As many threads read as there are processors that this one may run on. */
static void lanes_do_not_depend_on_how_many_threads_read(void **state)
{
	const uint32_t records = 300000;
	cpu_set_t all, one;
	random_state = 5;
	make_long(records);
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	}
	open_trace();
	uint64_t many = hash_of_lanes(records);
	close_trace();
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	open_trace();
	assert_true(hash_of_lanes(records) == many);
	close_trace();
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* What one process made the next one reads; what is damaged is made anew. */
static void lanes_are_kept_in_a_file_beside_the_index(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_answer, a);
	char index[80], lanes[80];
	const char *p = path;
	uint64_t decoded[3], hash[3];
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	random_state = 9;
	make_random();
	o.flags = OPENETW_INDEX_WRITE;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t id;
		assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
		q = openetw_query_create(x);
		id = number_of(A);
		run_count = 0;
		assert_int_equal(openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, 100 * (int64_t)TICKS, 500,
						     keep_run, NULL, &a),
				 0);
		decoded[i] = a.decoded;
		hash[i] = hash_of_runs(1);
		close_trace();
		assert_int_equal(access(lanes, R_OK), 0);
		if (i == 1) {
			FILE *f = fopen(lanes, "r+");
			assert_non_null(f);
			assert_int_equal(fseek(f, -40, SEEK_END), 0); /* its directory */
			assert_int_equal(fputs("damaged", f) >= 0, 1);
			assert_int_equal(fclose(f), 0);
		}
	}
	assert_true(decoded[0] > 0 && decoded[1] == 0 && decoded[2] == decoded[0]);
	assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
	unlink(index);
	unlink(lanes);
}

static void *cancel_often(void *over)
{
	while (!__atomic_load_n((bool *)over, __ATOMIC_ACQUIRE)) {
		usleep(2000);
		openetw_query_cancel(q);
	}
	return NULL;
}

/* Who looks at something else meanwhile cancels questions all the time. */
static void lanes_go_on_where_they_were_cancelled(void **state)
{
	const uint32_t records = 500000;
	OPENETW_SIZED(struct openetw_answer, a);
	pthread_t thread;
	bool over = false;
	uint32_t code, asked = 0;
	random_state = 6;
	make_long(records);
	open_trace();
	uint64_t hash = hash_of_lanes(records);
	close_trace();
	open_trace();
	const uint32_t id = number_of(A);
	assert_int_equal(pthread_create(&thread, NULL, cancel_often, &over), 0);
	do {
		run_count = 0;
		asked++;
		code = openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, 100, 1, keep_run, NULL, &a);
		assert_true(code == 0 || (code == ERROR_CANCELLED && a.partial));
	} while (code != 0 && asked < 100000);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(code, 0);
	assert_true(hash_of_lanes(records) == hash);
	close_trace();
}

/* Files are full when this says so; memory is not. Stands before libc's. */
static bool disk_is_full;

static ssize_t write_at(int fd, const void *p, size_t n, off64_t at)
{
	char link[64], name[256];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = disk_is_full ? readlink(link, name, sizeof name - 1) : -1;
	name[length > 0 ? length : 0] = 0;
	if (length > 0 && strncmp(name, "/memfd:", 7) != 0) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, p, n, at);
}

#pragma GCC visibility push(default)
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return write_at(fd, p, n, at);
}
#if !defined(_FILE_OFFSET_BITS) || _FILE_OFFSET_BITS != 64
ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return write_at(fd, p, n, at);
}
#endif
#pragma GCC visibility pop

static uint64_t hash_of_a_lane(void)
{
	uint32_t id = number_of(A);
	ask(OPENETW_LANES_THREADS, id, 0, TICKS, 500);
	return hash_of_runs(1);
}

/* Here a folder has the name: nobody can write there. */
static void lanes_are_kept_in_the_cache_directory_where_nobody_can_write_beside_the_index(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_answer, a);
	char index[80], lanes[80], cache[80], command[300];
	const char *p = path;
	uint64_t decoded[2];
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	snprintf(cache, sizeof cache, "%s.cache", path);
	random_state = 12;
	make_random();
	assert_int_equal(mkdir(lanes, 0700), 0);
	assert_int_equal(mkdir(cache, 0700), 0);
	assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
	o.flags = OPENETW_INDEX_WRITE;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
		q = openetw_query_create(x);
		uint32_t id = number_of(A);
		run_count = 0;
		assert_int_equal(openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, TICKS, 5, keep_run, NULL, &a),
				 0);
		decoded[i] = a.decoded;
		close_trace();
	}
	assert_true(decoded[0] > 0);
	assert_int_equal(decoded[1], 0);
	unsetenv("XDG_CACHE_HOME");
	snprintf(command, sizeof command, "rm -rf '%s' '%s' '%s'", index, lanes, cache);
	assert_int_equal(system(command), 0);
}

static void lanes_are_told_from_memory_when_the_disk_is_full(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	char index[80], lanes[80];
	const char *p = path;
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	random_state = 11;
	make_random();
	o.flags = OPENETW_INDEX_WRITE;
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	disk_is_full = true;
	uint64_t full = hash_of_a_lane();
	disk_is_full = false;
	assert_true(hash_of_a_lane() == full); /* it is kept */
	close_trace();
	assert_int_not_equal(access(lanes, F_OK), 0);
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	assert_true(hash_of_a_lane() == full);
	close_trace();
	assert_int_equal(access(lanes, F_OK), 0);
	unlink(index);
	unlink(lanes);
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

/* ---- spans --------------------------------------------------------------------------------------- */

/* An event of an application. */
static void event(uint32_t thread, uint64_t time, uint32_t task, uint8_t opcode, uint8_t activity)
{
	uint8_t *r = record(thread % CPUS, 80, 19, 0, 0, 4);
	etl_build_u16(r, 84);
	etl_build_u16(r + 2, 0xC013);
	etl_build_u32(r + 4, 0);
	etl_build_u32(r + 8, TID(thread));
	etl_build_u32(r + 12, PID);
	etl_build_u64(r + 0x10, START + time);
	memset(r + 0x18, 0xCD, 16);
	etl_build_u16(r + 0x28, 100 + 2 * task + opcode);
	r[0x2D] = opcode;
	etl_build_u16(r + 0x2E, task);
	memset(r + 0x40, activity, 16);
}

#define SPANS_MOST 20000u
static struct openetw_span spans[SPANS_MOST];
static uint32_t span_count;

static bool keep_span(void *context, const struct openetw_span *s)
{
	assert_true(span_count < SPANS_MOST);
	spans[span_count++] = *s;
	return true;
}

static void ask_spans_of(enum openetw_spans kind, uint32_t number, int64_t from, int64_t to, uint32_t pixels)
{
	OPENETW_SIZED(struct openetw_answer, a);
	span_count = 0;
	assert_int_equal(openetw_query_spans(q, kind, &number, 1, from * 100, to * 100, pixels, keep_span, NULL, &a),
			 0);
	assert_true(a.exact && !a.partial);
}

static void ask_spans(uint32_t number, int64_t from, int64_t to, uint32_t pixels)
{
	ask_spans_of(OPENETW_SPANS_EVENTS, number, from, to, pixels);
}

static void check_span(uint32_t i, uint32_t level, uint32_t first, uint32_t pixels, uint16_t id, int64_t from,
		       int64_t to)
{
	OPENETW_SIZED(struct openetw_index_type, t);
	assert_true(i < span_count);
	assert_int_equal(spans[i].level, level);
	assert_int_equal(spans[i].first, first);
	assert_int_equal(spans[i].pixels, pixels);
	assert_int_equal(spans[i].from, from * 100);
	assert_int_equal(spans[i].to, to == INT64_MAX ? to : to * 100);
	assert_int_equal(openetw_index_type(x, spans[i].type, &t), 0);
	assert_int_equal(t.id, id);
}

static void spans_are_from_start_to_stop(void **state)
{
	rundown(2);
	event(A, 1000, 1, 1, 0);
	event(A, 2000, 2, 1, 0); /* within it */
	event(B, 2500, 1, 2, 0); /* of another thread: ends nothing */
	event(A, 3000, 2, 2, 0);
	event(A, 3500, 5, 1, 9); /* of an activity, which another thread ends */
	event(A, 4000, 1, 2, 0);
	event(A, 4200, 1, 2, 0); /* there is none */
	event(B, 6000, 5, 2, 9);
	event(A, 7000, 1, 1, 0); /* does not end */
	event(A, 8100, 2, 1, 0);
	event(A, 8200, 2, 2, 0);
	event(A, 8300, 2, 1, 0);
	event(A, 8500, 2, 2, 0);
	write_trace(10000);
	open_trace();
	ask_spans(number_of(A), 0, 10000, 10);
	assert_int_equal(span_count, 5);
	check_span(0, 0, 1, 3, 103, 1000, 4000);
	check_span(1, 1, 2, 1, 105, 2000, 3000);
	check_span(2, 1, 3, 3, 111, 3500, 6000);
	check_span(3, 0, 7, 3, 103, 7000, INT64_MAX);
	check_span(4, 1, 8, 1, 105, 8300, 8500);
	assert_int_equal(spans[4].spans, 2);
	assert_true(spans[4].coverage > 0.299 && spans[4].coverage < 0.301);
	ask_spans(number_of(B), 0, 10000, 10);
	assert_int_equal(span_count, 0);
	close_trace();
}

/* A record of a thread, as those of file operations are. */
static uint8_t *of_thread(uint32_t thread, uint64_t time, uint32_t version, uint32_t hook, uint32_t payload)
{
	uint8_t *r = record(0, 32, 2, version, hook, payload);
	etl_build_u32(r + 8, TID(thread));
	etl_build_u32(r + 12, PID);
	etl_build_u64(r + 16, START + time);
	return r + 32;
}

/* Operations begin with their request, ends too. */
static void file_operation(uint32_t thread, uint64_t time, uint8_t opcode, uint64_t request, uint64_t offset)
{
	uint8_t *p = of_thread(thread, time, 3, 0x0400u | opcode, 56);
	etl_build_u64(p, offset);
	etl_build_u64(p + (opcode == 67 ? 8 : 0), request);
}

enum { CREATE = 64, CLEANUP = 65, CLOSE = 66, READ = 67, END = 76 };

static void operations_on_files_end_with_their_request(void **state)
{
	rundown(2);
	file_operation(A, 1000, READ, 0x1000, 7);
	file_operation(A, 1500, CREATE, 0x2000, 0);
	file_operation(B, 2000, END, 0x2000, 0); /* whoever tells it */
	file_operation(A, 3000, END, 0x1000, 0);
	file_operation(A, 4000, CLEANUP, 0x1000, 0);
	file_operation(A, 4100, CLOSE, 0x1000, 0); /* the same again */
	file_operation(A, 5000, END, 0x1000, 0);
	file_operation(A, 6000, READ, 0x1000, 0);
	file_operation(A, 7000, READ, 0x1000, 0); /* the end of the one before is missing */
	file_operation(A, 8000, END, 0x1000, 0);
	file_operation(A, 8500, READ, 0, 0); /* it has no request */
	file_operation(A, 9000, CREATE, 0x3000, 0);
	write_trace(10000);
	open_trace();
	ask_spans_of(OPENETW_SPANS_FILES, number_of(A), 0, 10000, 10000);
	static const int64_t times[][3] = {{1000, 3000, 0}, {1500, 2000, 1}, {4000, 5000, 0},     {6000, 6000, 0},
					   {7000, 8000, 0}, {8500, 8500, 0}, {9000, INT64_MAX, 0}};
	assert_int_equal(span_count, 7);
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t k = 0;
		while (k < span_count && spans[k].from != times[i][0] * 100) {
			k++;
		}
		assert_true(k < span_count);
		assert_true(spans[k].to == (times[i][1] == INT64_MAX ? INT64_MAX : times[i][1] * 100));
		assert_int_equal(spans[k].level, times[i][2]);
	}
	ask_spans_of(OPENETW_SPANS_FILES, number_of(B), 0, 10000, 10);
	assert_int_equal(span_count, 0);
	close_trace();
}

static void requests_to_disks_tell_how_long_they_took(void **state)
{
	rundown(2);
	for (uint32_t i = 0; i < 2; i++) {
		uint8_t *p = of_thread(B, 3000 + 4000 * i, 3, i ? 0x010E : 0x010A, 52);
		etl_build_u64(p + (i ? 8 : 40), 2000); /* ticks: a flush, a read */
	}
	write_trace(10000);
	open_trace();
	ask_spans_of(OPENETW_SPANS_DISKS, number_of(B), 0, 10000, 10);
	assert_int_equal(span_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(spans[i].from, (1000 + 4000 * i) * 100);
		assert_int_equal(spans[i].to, (3000 + 4000 * i) * 100);
		assert_int_equal(spans[i].first, 1 + 4 * i);
		assert_int_equal(spans[i].pixels, 2);
	}
	close_trace();
}

struct model_span {
	uint32_t thread, task, activity;
	int64_t from, to;
};

static void spans_are_those_of_a_list(void **state)
{
	static struct model_span model[SPANS_MOST];
	uint32_t count = 0;
	random_state = 4242;
	rundown(THREADS);
	for (uint32_t t = 1; t < 12000; t++) {
		uint32_t who = below(THREADS), task = 1 + below(3), activity = below(3) ? 0 : 1 + below(2);
		if (below(2)) {
			event(who, t, task, 1, (uint8_t)activity);
			model[count++] = (struct model_span){who, task, activity, t, INT64_MAX};
			continue;
		}
		event(who, t, task, 2, (uint8_t)activity);
		for (uint32_t i = count; i > 0; i--) {
			struct model_span *m = &model[i - 1];
			if (m->to == INT64_MAX && m->task == task && m->activity == activity &&
			    (activity || m->thread == who)) {
				m->to = t;
				break;
			}
		}
	}
	write_trace(12000);
	open_trace();
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		uint32_t number = number_of(thread), at = 0;
		uint64_t sum = 0, own = 0;
		/* Each by itself: they begin at different times. */
		ask_spans(number, 0, 12000, 12000);
		for (uint32_t i = 0; i < count; i++) {
			own += model[i].thread == thread;
			for (uint32_t k = 0; k < span_count && model[i].thread == thread; k++) {
				at += spans[k].from == model[i].from * 100 &&
				      (spans[k].to == model[i].to || spans[k].to == model[i].to * 100);
			}
		}
		assert_int_equal(span_count, own);
		assert_int_equal(at, own);
		for (uint32_t i = 0; i < span_count; i++) {
			for (uint32_t k = 0; k < i && spans[i].level < 63; k++) {
				assert_true(spans[i].level != spans[k].level || spans[k].to <= spans[i].from ||
					    spans[i].to <= spans[k].from);
			}
		}
		ask_spans(number, 0, 12000, 7);
		for (uint32_t i = 0; i < span_count; i++) {
			sum += spans[i].spans;
		}
		assert_int_equal(sum, own);
	}
	close_trace();
}

/* ---- several files ------------------------------------------------------------------------------- */

static void lanes_of_several_files_are_their_own(void **state)
{
	const char *both[] = {path, path};
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_index_about, about);
	tell_story();
	open_trace();
	assert_int_equal(openetw_index_about(x, &about), 0);
	uint32_t a = number_of(A), b = number_of(B), threads = about.threads;
	close_trace();
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(both, 2, &o, &x), 0);
	q = openetw_query_create(x);
	ask(OPENETW_LANES_THREADS, threads + a, 0, 10000, 10);
	assert_int_equal(run_count, 6);
	assert_int_equal(runs[2].thread, threads + b);
	ask(OPENETW_LANES_CPUS, OPENETW_CPU_OF(1, 1), 0, 10000, 10);
	assert_int_equal(runs[0].thread, threads + b);
	assert_int_equal(chain(threads + a, 7500, 8), 0);
	check_link(0, threads + a, 2000, 6000, 7000);
	check_link(1, threads + b, 3000, 4000, 5000);
	close_trace();
}

/* ---- at the same time ---------------------------------------------------------------------------- */

static bool count_run(void *context, const struct openetw_lane_run *r)
{
	*(uint64_t *)context += (uint64_t)r->doing * r->pixels + r->intervals;
	return true;
}

static bool keep_no_span(void *context, const struct openetw_span *s)
{
	*(uint64_t *)context += s->spans;
	return true;
}

/* The first of them makes what all need. */
static void *ask_often(void *arg)
{
	uint64_t *sum = arg;
	struct openetw_query *own = openetw_query_create(x);
	for (uint32_t i = 1; i <= THREADS && own; i++) {
		openetw_query_lanes(own, OPENETW_LANES_THREADS, &i, 1, 0, TICKS * 100, 1000, count_run, sum, NULL);
		openetw_query_spans(own, OPENETW_SPANS_EVENTS, &i, 1, 0, TICKS * 100, 10, keep_no_span, sum, NULL);
	}
	openetw_query_destroy(own);
	return NULL;
}

static void many_threads_ask_at_the_same_time(void **state)
{
	pthread_t threads[4];
	uint64_t sums[4] = {0};
	random_state = 99;
	make_random();
	open_trace();
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &sums[i]), 0);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(sums[i], sums[0]);
	}
	assert_true(sums[0] > 0);
	close_trace();
}

/* ---- of Windows ---------------------------------------------------------------------------------- */

static void count_spans(enum openetw_spans kind, uint64_t *ret_all, uint64_t *ret_ended)
{
	OPENETW_SIZED(struct openetw_index_about, about);
	assert_int_equal(openetw_index_about(x, &about), 0);
	*ret_all = *ret_ended = 0;
	for (uint32_t i = 0; i < about.threads; i++) {
		span_count = 0;
		assert_int_equal(openetw_query_spans(q, kind, &i, 1, about.first - 1000000000, about.last + 1, 65536,
						     keep_span, NULL, NULL),
				 0);
		for (uint32_t k = 0; k < span_count; k++) {
			*ret_all += spans[k].spans;
			*ret_ended += spans[k].to != INT64_MAX ? spans[k].spans : 0;
		}
	}
}

/* The numbers are those of net.4.5.2.x86.baseline.txt: reads, writes and flushes of disks; events of opcode Start, and those
 * of opcode Stop whose Start is there. */
static void spans_of_a_real_trace_are_as_many_as_its_events(void **state)
{
	char real[4096];
	const char *p = corpus_path("perfview/net.4.5.2.x86.etl", real, sizeof real);
	OPENETW_SIZED(struct openetw_index_options, o);
	uint64_t all, ended;
	if (!corpus_present()) {
		skip();
	}
	o.flags = OPENETW_INDEX_MEMORY;
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	count_spans(OPENETW_SPANS_DISKS, &all, &ended);
	assert_int_equal(all, 2339 + 50 + 4);
	assert_int_equal(ended, all);
	count_spans(OPENETW_SPANS_EVENTS, &all, &ended);
	assert_int_equal(all, 16 + 1 + 160 + 1 + 4 + 2 + 4 + 3 + 1 + 1 + 1 + 3);
	assert_int_equal(ended, 16 + 80 + 4 + 3 + 1 + 1 + 1);
	/* It has neither operations on files nor context switches. */
	count_spans(OPENETW_SPANS_FILES, &all, &ended);
	assert_int_equal(all, 0);
	assert_int_not_equal(openetw_query_chain(q, 1, INT64_MAX, 8, keep_link, NULL, NULL), 0);
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
		cmocka_unit_test(lanes_do_not_depend_on_how_many_threads_read),
		cmocka_unit_test(lanes_go_on_where_they_were_cancelled),
		cmocka_unit_test(lanes_are_kept_in_a_file_beside_the_index),
		cmocka_unit_test(lanes_are_told_from_memory_when_the_disk_is_full),
		cmocka_unit_test(lanes_are_kept_in_the_cache_directory_where_nobody_can_write_beside_the_index),
		cmocka_unit_test(chains_go_back_in_time),
		cmocka_unit_test(spans_are_from_start_to_stop),
		cmocka_unit_test(spans_are_those_of_a_list),
		cmocka_unit_test(operations_on_files_end_with_their_request),
		cmocka_unit_test(requests_to_disks_tell_how_long_they_took),
		cmocka_unit_test(lanes_of_several_files_are_their_own),
		cmocka_unit_test(spans_of_a_real_trace_are_as_many_as_its_events),
		cmocka_unit_test(many_threads_ask_at_the_same_time),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
