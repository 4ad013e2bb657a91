/* SPDX-License-Identifier: MIT
 *
 * Sequential files: every reserved event is in the file once, whatever the order and sizes.
 */
#include "sink/sink_testing.h"

#define EVENTS 20000u

static struct sink_stats run(const struct sink_options *o, struct test_walk *w, unsigned flags, bool disorder)
{
	struct sink *s = NULL;
	struct diag d = {0};
	assert_int_equal(sink_create(o, &s, &d), 0);
	uint64_t ok = 0;
	srand(11);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint64_t time = 1000 + i;
		if (disorder && rand() % 50 == 0) {
			time -= (uint64_t)(rand() % 800);
		}
		uint32_t bytes = 96 + 8 * (uint32_t)(rand() % 12);
		ok += test_put(s, (uint16_t)(rand() % o->cpus), time, i, bytes);
		if (i % 100 == 0) {
			sink_tick(s, i * 10000000ull);
			assert_int_equal(sink_drain_wait(s, 10000), 0);
		}
	}
	struct sink_stats st;
	assert_int_equal(sink_stop(s, &st), 0);
	test_walk_file(w, o->path, flags);
	assert_int_equal(st.events, ok);
	assert_int_equal(st.lost_no_buffer, EVENTS - ok);
	assert_int_equal(w->events, ok);
	assert_int_equal(w->duplicates, 0);
	assert_int_equal(w->header_events_lost, st.events_lost);
	assert_int_equal(st.buffers_written, w->buffers);
	return st;
}

static void every_event_is_in_the_file_once(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	struct test_walk w;
	test_walk_init(&w, EVENTS);
	struct sink_stats st = run(&o, &w, TEST_WALK_PER_CPU, false);
	assert_int_equal(st.events, EVENTS);
	assert_int_equal(st.late_records, 0);
	assert_string_equal(w.logger, "sink test");
	assert_string_equal(w.file, "C:\\trace.etl");
	test_walk_finish(&w);
	test_dir_remove(&dir);
}

static void late_records_keep_every_buffer_sorted(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	o.props.maximum_buffers = 200;
	struct test_walk w;
	test_walk_init(&w, EVENTS);
	struct sink_stats st = run(&o, &w, TEST_WALK_PER_CPU, true);
	assert_int_equal(st.events, EVENTS);
	assert_true(st.late_records > 100);
	test_walk_finish(&w);
	test_dir_remove(&dir);
}

static void one_stream_sorts_records_of_all_cpus(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	o.props.mode = 0x10000000;
	o.props.maximum_buffers = 50;
	struct test_walk w;
	test_walk_init(&w, EVENTS);
	struct sink_stats st = run(&o, &w, 0, true);
	assert_int_equal(st.events, EVENTS);
	/* Whatever order the records came in, no space is wasted. */
	assert_true(w.buffers < EVENTS * 152ull / 4000 * 11 / 10);
	test_walk_finish(&w);
	test_dir_remove(&dir);
}

static void a_session_without_events_is_one_buffer(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	struct sink_stats st;
	assert_int_equal(sink_stop(s, &st), 0);
	struct test_walk w;
	test_walk_init(&w, 1);
	test_walk_file(&w, path, 0);
	assert_int_equal(w.buffers, 0);
	assert_int_equal(w.header_buffers_written, 1);
	test_walk_finish(&w);
	test_dir_remove(&dir);
}

static void records_bigger_than_a_buffer_are_counted(void **state)
{
	struct sink_options o = test_options(NULL);
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	assert_null(sink_reserve(s, 0, 1, 4096 - 0x48 + 8));
	assert_non_null(sink_reserve(s, 0, 1, 4096 - 0x48));
	struct sink_stats st;
	sink_stats(s, &st);
	assert_int_equal(st.lost_too_big, 1);
	assert_int_equal(st.events, 1);
	assert_int_equal(st.events_lost, 1);
	sink_stop(s, NULL);
}

static void flush_makes_everything_readable_before_the_stop(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
	}
	assert_int_equal(sink_flush(s, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(s, 10000), 0);
	struct test_walk w;
	test_walk_init(&w, 10);
	test_walk_file(&w, path, TEST_WALK_PER_CPU | TEST_WALK_UNFINISHED);
	assert_int_equal(w.events, 10);
	assert_int_equal(w.buffers, 4);
	test_walk_finish(&w);
	sink_stop(s, NULL);
	test_dir_remove(&dir);
}

static void flush_timer_closes_part_filled_buffers(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	o.props.flush_timer = 3;
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	const uint64_t second = 1000000000;
	sink_tick(s, 100 * second);
	assert_true(test_put(s, 1, 5, 0, TEST_RECORD_BYTES));
	sink_tick(s, 102 * second);
	assert_int_equal(sink_drain_wait(s, 10000), 0);
	struct sink_stats st;
	sink_stats(s, &st);
	assert_int_equal(st.buffers_written, 0);
	sink_tick(s, 103 * second);
	assert_int_equal(sink_drain_wait(s, 10000), 0);
	sink_stats(s, &st);
	assert_int_equal(st.buffers_written, 1);
	sink_tick(s, 107 * second); /* nothing new, nothing written */
	sink_stats(s, &st);
	assert_int_equal(st.buffers_written, 1);
	sink_stop(s, NULL);
	test_dir_remove(&dir);
}

static void a_crashed_file_is_readable(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128], copy[128], command[300];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	snprintf(copy, sizeof copy, "%s/b.etl", dir.path);
	struct sink_options o = test_options(path);
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	for (uint32_t i = 0; i < 500; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
	}
	sink_tick(s, 1);
	assert_int_equal(sink_drain_wait(s, 10000), 0);
	struct sink_stats st;
	sink_stats(s, &st);
	assert_true(st.buffers_written > 0);
	/* What a crash leaves is what is in the file now. */
	snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
	assert_int_equal(system(command), 0);
	struct test_walk w;
	test_walk_init(&w, 500);
	test_walk_file(&w, copy, TEST_WALK_PER_CPU | TEST_WALK_UNFINISHED);
	assert_int_equal(w.buffers, st.buffers_written);
	test_walk_finish(&w);
	sink_stop(s, NULL);
	test_dir_remove(&dir);
}

static void bad_paths_fail_at_create(void **state)
{
	struct sink *s = NULL;
	struct diag d = {0};
	struct sink_options o = test_options("/nonexistent-directory/a.etl");
	assert_int_equal(sink_create(&o, &s, &d), -ENOENT);
	assert_true(d.text[0] != 0);
	o = test_options("/dev/null");
	assert_int_equal(sink_create(&o, &s, NULL), -EINVAL);
	o = test_options("/tmp");
	assert_true(sink_create(&o, &s, NULL) < 0);
}

static void two_sessions_cannot_share_a_file(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	struct sink *a = NULL, *b = NULL;
	assert_int_equal(sink_create(&o, &a, NULL), 0);
	assert_int_equal(sink_create(&o, &b, NULL), -EBUSY);
	sink_stop(a, NULL);
	test_dir_remove(&dir);
}

static void adjust_follows_the_documented_rules(void **state)
{
	struct sink_options o = {.cpus = 8, .name = u"x"};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.buffer_kb, 64);
	assert_int_equal(o.props.minimum_buffers, 16);
	assert_int_equal(o.props.maximum_buffers, 128); /* at least 8 MB, and at least minimum + 20 */
	assert_int_equal(o.props.flush_timer, 0);
	/* An exact request is honoured unchanged. */
	o = (struct sink_options){.cpus = 8, .props.minimum_buffers = 17, .props.maximum_buffers = 18};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.minimum_buffers, 17);
	assert_int_equal(o.props.maximum_buffers, 18);
	/* NO_PER_PROCESSOR and REAL_TIME with zeros. */
	o = (struct sink_options){.cpus = 8, .props.mode = 0x10000100};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.minimum_buffers, 2);
	assert_true(o.props.maximum_buffers > 2);
	assert_int_equal(o.props.flush_timer, 1);
	/* Sizes are limited and whole pages. */
	o = (struct sink_options){.cpus = 1, .props.buffer_kb = 1};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.buffer_kb, 4);
	o = (struct sink_options){.cpus = 1, .props.buffer_kb = 99999};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.buffer_kb, 16384);
	o = (struct sink_options){.cpus = 1, .props.buffer_kb = 9};
	assert_int_equal(sink_adjust(&o), 0);
	assert_int_equal(o.props.buffer_kb, 12);
}

static void raising_the_maximum_gives_more_buffers(void **state)
{
	struct sink_options o = test_options(NULL);
	o.props.mode = 0x400; /* nothing is written: buffers stay in the ring */
	o.props.minimum_buffers = 8;
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	sink_set_limits(s, 100, 5); /* the ring keeps its size */
	for (uint32_t i = 0; i < 2000; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
	}
	struct sink_stats st;
	sink_stats(s, &st);
	assert_int_equal(st.buffers, 8);
	assert_true(st.overwritten_events > 0);
	sink_stop(s, NULL);

	o.props.mode = 0;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	sink_set_limits(s, 100, 5);
	sink_stats(s, &st);
	assert_int_equal(st.buffers, 8);
	sink_stop(s, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_in_the_file_once),
		cmocka_unit_test(late_records_keep_every_buffer_sorted),
		cmocka_unit_test(one_stream_sorts_records_of_all_cpus),
		cmocka_unit_test(a_session_without_events_is_one_buffer),
		cmocka_unit_test(records_bigger_than_a_buffer_are_counted),
		cmocka_unit_test(flush_makes_everything_readable_before_the_stop),
		cmocka_unit_test(flush_timer_closes_part_filled_buffers),
		cmocka_unit_test(a_crashed_file_is_readable),
		cmocka_unit_test(bad_paths_fail_at_create),
		cmocka_unit_test(two_sessions_cannot_share_a_file),
		cmocka_unit_test(adjust_follows_the_documented_rules),
		cmocka_unit_test(raising_the_maximum_gives_more_buffers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
