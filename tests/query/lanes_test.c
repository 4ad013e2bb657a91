/* SPDX-License-Identifier: MIT
 *
 * What threads did and why they waited, of traces made here: one that is told step by step, and many at random beside a
 * table of what each thread does at each tick.
 */
#include "lane_trace.h"

#include "openetw/error.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

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
		cmocka_unit_test(chains_go_back_in_time),
		cmocka_unit_test(lanes_of_several_files_are_their_own),
		cmocka_unit_test(many_threads_ask_at_the_same_time),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
