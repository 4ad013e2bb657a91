/* SPDX-License-Identifier: MIT
 *
 * What ran from a Start to its Stop, operations on files and requests to disks, of traces made here and of a real one.
 */
#include "../corpus/corpus.h"
#include "lane_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

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

static bool no_link(void *context, const struct openetw_link *l)
{
	return false;
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
	assert_int_not_equal(openetw_query_chain(q, 1, INT64_MAX, 8, no_link, NULL, NULL), 0);
	close_trace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_from_start_to_stop),
		cmocka_unit_test(spans_are_those_of_a_list),
		cmocka_unit_test(operations_on_files_end_with_their_request),
		cmocka_unit_test(requests_to_disks_tell_how_long_they_took),
		cmocka_unit_test(spans_of_a_real_trace_are_as_many_as_its_events),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
