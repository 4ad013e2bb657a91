/* SPDX-License-Identifier: MIT
 *
 * What the sink writes, read by the tree's own reader: no problems, every event once, in time
 * order.
 */
#include "etl/etl_reader.h"
#include "sink/sink_testing.h"

#define EVENTS 5000u

static void check(uint32_t mode, uint32_t size_kb, bool disorder)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	o.props.mode = mode | 0x2000;
	o.props.maximum_file_size = size_kb;
	o.props.maximum_buffers = 100;
	struct sink *s = NULL;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	/* Never before the header record, which leads the stream of cpu 0. */
	uint64_t base = clock_now() + 1000;
	srand(23);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint64_t time = base + i - (disorder && rand() % 60 == 0 ? 300u : 0);
		assert_true(test_put(s, (uint16_t)(i % 4), time, i, TEST_RECORD_BYTES));
		if (i % 100 == 0) {
			sink_tick(s, i);
			assert_int_equal(sink_drain_wait(s, 10000), 0);
		}
	}
	sink_add_lost(s, 5);
	struct sink_stats st;
	assert_int_equal(sink_stop(s, &st), 0);

	struct etl_reader *r = NULL;
	struct diag d = {0};
	assert_int_equal(etl_reader_open(path, 0, &r, &d), 0);
	const struct etl_file_info *info = etl_reader_info(r);
	assert_true(info->stopped_cleanly);
	assert_int_equal(info->buffers_found, info->buffers_written);
	assert_int_equal(info->events_lost, 5);
	assert_int_equal(info->perf_freq, 1000000000);
	assert_int_equal(info->start_filetime, st.start_filetime);
	assert_int_equal(info->processors, 4);
	uint64_t found = 0, last = 0;
	uint8_t *seen = calloc(1, EVENTS);
	struct etl_record rec;
	int more;
	while ((more = etl_reader_next(r, &rec)) == 1) {
		if (rec.type != ETL_RT_EVENT64) {
			continue; /* header and partition records */
		}
		uint64_t number = le64_get(rec.payload);
		assert_true(number < EVENTS);
		assert_int_equal(seen[number]++, 0);
		assert_true(rec.time_raw >= last);
		last = rec.time_raw;
		if (!(mode & 0x10000000)) {
			assert_int_equal(rec.cpu, number % 4);
		}
		found++;
	}
	assert_int_equal(more, 0);
	struct etl_problem p;
	if (etl_reader_next_problem(r, &p)) {
		fail_msg("problem: %s", p.text);
	}
	assert_int_equal(found + st.overwritten_events, EVENTS);
	free(seen);
	etl_reader_close(r);
	test_dir_remove(&dir);
}

static void sequential_files_are_read_without_problems(void **state)
{
	check(0, 0, false);
}

static void files_with_late_buffers_are_read_without_problems(void **state)
{
	check(0, 0, true);
}

static void wrapped_circular_files_are_read_without_problems(void **state)
{
	check(0x2, 128, false);
}

static void one_stream_files_are_read_without_problems(void **state)
{
	check(0x10000000, 0, false);
}

static void compressed_files_are_read_without_problems(void **state)
{
	check(0x04000000, 0, true);
	check(0x14000000, 0, false);
}

static void zstandard_files_are_read_without_problems(void **state)
{
	if (!etl_zstd_available()) {
		skip();
	}
	check(0x44000000, 0, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequential_files_are_read_without_problems),
		cmocka_unit_test(files_with_late_buffers_are_read_without_problems),
		cmocka_unit_test(wrapped_circular_files_are_read_without_problems),
		cmocka_unit_test(one_stream_files_are_read_without_problems),
		cmocka_unit_test(compressed_files_are_read_without_problems),
		cmocka_unit_test(zstandard_files_are_read_without_problems),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
