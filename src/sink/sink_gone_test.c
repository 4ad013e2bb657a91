/* SPDX-License-Identifier: MIT
 *
 * What others do to a log file while a session writes it: nothing vanishes uncounted.
 *
 *   reserved ok == events in the file + gone_events
 */
#include "etw/values/session_modes.h"
#include "sink/sink_testing.h"

struct fixture {
	struct test_dir dir;
	char path[128], other[128];
	struct sink *sink;
	uint64_t put;
};

static void begin(struct fixture *f, uint32_t mode, uint32_t maximum_mb)
{
	memset(f, 0, sizeof *f);
	test_dir_make(&f->dir);
	snprintf(f->path, sizeof f->path, "%s/trace.etl", f->dir.path);
	snprintf(f->other, sizeof f->other, "%s/other.etl", f->dir.path);
	struct sink_options o = test_options(f->path);
	o.props.mode = mode;
	o.props.maximum_file_size = maximum_mb;
	assert_int_equal(sink_create(&o, &f->sink, NULL), 0);
}

/* So many events, all of them on their way to the disk. */
static void put(struct fixture *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		assert_true(test_put(f->sink, 0, 1000 + f->put, f->put, TEST_RECORD_BYTES));
		f->put++;
		if (i % 200 == 199) {
			assert_int_equal(sink_flush(f->sink, NULL, NULL), 0);
			assert_int_equal(sink_drain_wait(f->sink, 20000), 0);
		}
	}
	assert_int_equal(sink_flush(f->sink, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(f->sink, 20000), 0);
}

static struct sink_stats now(struct fixture *f)
{
	struct sink_stats st;
	assert_int_equal(sink_flush(f->sink, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(f->sink, 20000), 0);
	sink_stats(f->sink, &st);
	return st;
}

static struct sink_stats stop(struct fixture *f)
{
	struct sink_stats st;
	assert_int_equal(sink_stop(f->sink, &st), 0);
	return st;
}

/* The file at `path` is whole; its header tells of the losses. */
static uint64_t events_in(const struct fixture *f, const char *path, const struct sink_stats *st, unsigned flags)
{
	struct test_walk w;
	test_walk_init(&w, f->put + 1);
	test_walk_file(&w, path, flags);
	assert_int_equal(w.duplicates, 0);
	if (st) {
		assert_int_equal(w.header_events_lost, st->events_lost);
		assert_int_equal(w.header_buffers_lost, st->gone_buffers);
	}
	test_walk_finish(&w);
	return w.events;
}

static void a_file_that_was_removed_is_begun_again_and_its_events_are_counted(void **state)
{
	struct fixture f;
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
	put(&f, 1000);
	assert_int_equal(unlink(f.path), 0);
	struct sink_stats st = now(&f);
	assert_int_equal(st.file_fate, SINK_FATE_REMOVED);
	assert_int_equal(st.gone_events, 1000);
	assert_true(st.gone_buffers > 0);
	assert_true(st.file_fate_filetime > 0);
	assert_int_equal(st.events_lost, 1000);
	assert_int_equal(access(f.path, F_OK), -1); /* not before there is something for it */
	put(&f, 300);
	st = stop(&f);
	assert_int_equal(st.file_fate, SINK_FATE_REMOVED);
	assert_int_equal(st.gone_events, 1000);
	assert_int_equal(events_in(&f, f.path, &st, TEST_WALK_PER_CPU), 300);
	test_dir_remove(&f.dir);
}

static void a_file_that_somebody_else_put_there_is_left_alone(void **state)
{
	struct fixture f;
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
	put(&f, 500);
	int fd = open(f.other, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(rename(f.other, f.path), 0);
	put(&f, 200);
	struct sink_stats st = now(&f);
	assert_int_equal(st.file_fate, SINK_FATE_REPLACED);
	assert_int_equal(st.gone_events, 700);
	size_t n;
	uint8_t *bytes = test_read_file(f.path, &n);
	assert_int_equal(n, 4);
	free(bytes);
	st = stop(&f);
	assert_int_equal(st.gone_events, 700);
	bytes = test_read_file(f.path, &n);
	assert_int_equal(n, 4);
	assert_memory_equal(bytes, "mine", 4);
	free(bytes);
	test_dir_remove(&f.dir);
}

static void a_file_that_was_overwritten_is_left_alone(void **state)
{
	struct fixture f;
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
	put(&f, 500);
	static const char text[100000] = "somebody copied something over it";
	int fd = open(f.path, O_WRONLY);
	assert_int_equal(write(fd, text, sizeof text), sizeof text);
	close(fd);
	put(&f, 200);
	struct sink_stats st = stop(&f);
	assert_int_equal(st.file_fate, SINK_FATE_REPLACED);
	assert_int_equal(st.gone_events, 700);
	size_t n;
	uint8_t *bytes = test_read_file(f.path, &n);
	assert_true(n >= sizeof text);
	assert_memory_equal(bytes, text, sizeof text);
	free(bytes);
	test_dir_remove(&f.dir);
}

static void a_file_that_was_moved_is_written_on(void **state)
{
	struct fixture f;
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
	put(&f, 500);
	assert_int_equal(rename(f.path, f.other), 0);
	put(&f, 200);
	struct sink_stats st = stop(&f);
	assert_int_equal(st.file_fate, SINK_FATE_MOVED);
	assert_int_equal(st.gone_events, 0);
	assert_int_equal(st.events_lost, 0);
	assert_int_equal(events_in(&f, f.other, &st, TEST_WALK_PER_CPU), 700);
	assert_int_equal(access(f.path, F_OK), -1);
	test_dir_remove(&f.dir);
}

/* At each of these lengths. */
static void a_file_that_was_cut_is_written_on_behind_what_is_left(void **state)
{
	static const off_t lengths[] = {0, 100, 4096, 4097, 5 * 4096 + 17, 20 * 4096};
	for (size_t i = 0; i < BASE_ARRAY_LEN(lengths); i++) {
		struct fixture f;
		begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
		put(&f, 1000);
		assert_int_equal(truncate(f.path, lengths[i]), 0);
		struct sink_stats st = now(&f);
		assert_int_equal(st.file_fate, SINK_FATE_CUT);
		assert_true(st.gone_events > 0 && st.gone_buffers > 0);
		put(&f, 300);
		st = stop(&f);
		uint64_t there = events_in(&f, f.path, &st, TEST_WALK_PER_CPU);
		assert_int_equal(there + st.gone_events, f.put);
		assert_true(there >= 300);
		test_dir_remove(&f.dir);
	}
}

static void a_ring_that_was_cut_or_removed_is_a_ring_again(void **state)
{
	for (int removed = 0; removed < 2; removed++) {
		struct fixture f;
		begin(&f, EVENT_TRACE_FILE_MODE_CIRCULAR, 1); /* 256 buffers of 35 events */
		put(&f, 12000);
		if (removed) {
			assert_int_equal(unlink(f.path), 0);
		} else {
			assert_int_equal(truncate(f.path, 100 * 4096), 0);
		}
		put(&f, 6000);
		struct sink_stats st = stop(&f);
		assert_int_equal(st.file_fate, removed ? SINK_FATE_REMOVED : SINK_FATE_CUT);
		assert_true(st.gone_events > 0);
		uint64_t there = events_in(&f, f.path, NULL, TEST_WALK_PER_CPU | TEST_WALK_ANY_ORDER);
		assert_int_equal(there + st.gone_events + st.overwritten_events, f.put);
		test_dir_remove(&f.dir);
	}
}

static void the_places_of_what_is_gone_may_be_used_again(void **state)
{
	struct fixture f;
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 1);
	put(&f, 5000);
	assert_int_equal(truncate(f.path, 0), 0);
	put(&f, 6000); /* more than what was left of the megabyte */
	struct sink_stats st = stop(&f);
	assert_false(st.file_full);
	assert_int_equal(st.lost_no_buffer, 0);
	assert_int_equal(events_in(&f, f.path, &st, TEST_WALK_PER_CPU) + st.gone_events, f.put);
	test_dir_remove(&f.dir);
}

static void a_compressed_file_that_was_cut_or_removed_is_counted(void **state)
{
	for (int removed = 0; removed < 2; removed++) {
		struct fixture f;
		begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_COMPRESSED_MODE, 0);
		put(&f, 2000);
		struct stat before;
		assert_int_equal(stat(f.path, &before), 0);
		if (removed) {
			assert_int_equal(unlink(f.path), 0);
		} else {
			assert_int_equal(truncate(f.path, before.st_size / 2), 0);
		}
		put(&f, 400);
		struct sink_stats st = stop(&f);
		assert_int_equal(st.file_fate, removed ? SINK_FATE_REMOVED : SINK_FATE_CUT);
		assert_true(st.gone_events >= 900 && st.gone_events <= 2000);
		/* Whole buffers, one behind the other. */
		size_t n;
		uint64_t at = 0, buffers = 0;
		uint8_t *bytes = test_read_file(f.path, &n);
		for (; at + ETL_BUFFER_HEADER_SIZE <= n; buffers++) {
			uint32_t size = le32_get(bytes + at);
			assert_true(size >= ETL_BUFFER_HEADER_SIZE && size <= n - at);
			at += size;
		}
		assert_int_equal(at, n);
		const uint8_t *h = bytes + ETL_HEADER_LIVE_OFFSET;
		assert_int_equal(le32_get(h + ETL_LH_BUFFERS_WRITTEN), buffers);
		assert_int_equal(le32_get(h + ETL_LH_EVENTS_LOST), st.gone_events);
		free(bytes);
		test_dir_remove(&f.dir);
	}
}

static void a_directory_that_comes_back_gets_a_file_again(void **state)
{
	struct fixture f;
	char command[300];
	begin(&f, EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
	put(&f, 100);
	snprintf(command, sizeof command, "rm -rf '%s'", f.dir.path);
	assert_int_equal(system(command), 0);
	put(&f, 100); /* nowhere to go */
	assert_int_equal(now(&f).gone_events, 200);
	assert_int_equal(mkdir(f.dir.path, 0700), 0);
	for (int i = 0; i < 200 && access(f.path, F_OK) != 0; i++) {
		put(&f, 1);
		usleep(50000);
	}
	put(&f, 100);
	struct sink_stats st = stop(&f);
	assert_int_equal(events_in(&f, f.path, &st, TEST_WALK_PER_CPU) + st.gone_events, f.put);
	assert_true(st.gone_events < f.put - 99);
	test_dir_remove(&f.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_was_removed_is_begun_again_and_its_events_are_counted),
		cmocka_unit_test(a_file_that_somebody_else_put_there_is_left_alone),
		cmocka_unit_test(a_file_that_was_overwritten_is_left_alone),
		cmocka_unit_test(a_file_that_was_moved_is_written_on),
		cmocka_unit_test(a_file_that_was_cut_is_written_on_behind_what_is_left),
		cmocka_unit_test(a_ring_that_was_cut_or_removed_is_a_ring_again),
		cmocka_unit_test(the_places_of_what_is_gone_may_be_used_again),
		cmocka_unit_test(a_compressed_file_that_was_cut_or_removed_is_counted),
		cmocka_unit_test(a_directory_that_comes_back_gets_a_file_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
