/* SPDX-License-Identifier: MIT
 *
 * Failing disks: nothing vanishes uncounted, the session goes on, a stop ends.
 *
 *   reserved ok == events in the file + lost_disk_events + overwritten_events
 */
#include "sink/sink_testing.h"

#include <pthread.h>
#include <time.h>

enum fault {
	FAULT_NONE,
	FAULT_ALWAYS,
	FAULT_SOMETIMES,
	FAULT_SHORT,
	FAULT_UNTIL_CALL,
	FAULT_DATA, /* buffer 0 can be written, others cannot */
	FAULT_TORN, /* half of each buffer arrives */
	FAULT_GATE, /* data waits until the gate opens */
};

struct faulty {
	enum fault kind;
	int error;
	unsigned calls, until;
	unsigned seed;
	pthread_mutex_t lock;
	pthread_cond_t gate;
	bool at_gate;
};

static long faulty_pwrite(void *ctx, int fd, const void *p, size_t n, uint64_t off)
{
	struct faulty *f = ctx;
	pthread_mutex_lock(&f->lock);
	unsigned call = f->calls++;
	enum fault kind = f->kind;
	unsigned r = (unsigned)rand_r(&f->seed);
	while (f->kind == FAULT_GATE && off >= 4096) {
		f->at_gate = true;
		pthread_cond_broadcast(&f->gate);
		pthread_cond_wait(&f->gate, &f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	if (kind == FAULT_TORN) {
		if (n < 4096) {
			return f->error; /* the rest of a buffer */
		}
		n = 2048;
	}
	if (kind == FAULT_DATA && off >= 4096) {
		return f->error;
	}
	if (kind == FAULT_ALWAYS || (kind == FAULT_SOMETIMES && r % 3 == 0) ||
	    (kind == FAULT_UNTIL_CALL && call < f->until)) {
		return f->error;
	}
	if (kind == FAULT_SHORT || (kind == FAULT_SOMETIMES && r % 3 == 1)) {
		n = 1 + r % n;
	}
	ssize_t done = pwrite(fd, p, n, (off_t)off);
	return done < 0 ? -errno : done;
}

static void set_fault(struct faulty *f, enum fault kind, int error)
{
	pthread_mutex_lock(&f->lock);
	f->kind = kind;
	f->error = error;
	f->calls = 0;
	pthread_cond_broadcast(&f->gate);
	pthread_mutex_unlock(&f->lock);
}

struct fixture {
	struct test_dir dir;
	char path[128];
	struct faulty faulty;
	struct sink_options options;
	struct sink *sink;
	uint64_t ok, tried;
};

static void begin(struct fixture *f, uint32_t mode, uint32_t size_kb)
{
	memset(f, 0, sizeof *f);
	pthread_mutex_init(&f->faulty.lock, NULL);
	pthread_cond_init(&f->faulty.gate, NULL);
	test_dir_make(&f->dir);
	snprintf(f->path, sizeof f->path, "%s/a.etl", f->dir.path);
	f->options = test_options(f->path);
	f->options.props.mode = mode | 0x2000;
	f->options.props.maximum_file_size = size_kb;
	f->options.ops.pwrite = faulty_pwrite;
	f->options.ops.ctx = &f->faulty;
	f->options.patience_ms = 20;
	assert_int_equal(sink_create(&f->options, &f->sink, NULL), 0);
}

static void put_some(struct fixture *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = f->tried++;
		f->ok += test_put(f->sink, (uint16_t)(number % 4), number, number, TEST_RECORD_BYTES);
		if (number % 50 == 0) {
			sink_tick(f->sink, number * 1000000);
		}
	}
}

static struct sink_stats end(struct fixture *f, unsigned flags, int want)
{
	struct sink_stats st;
	int r = sink_stop(f->sink, &st);
	if (want <= 0) {
		assert_int_equal(r, want);
	}
	struct test_walk w;
	test_walk_init(&w, f->tried + 1);
	test_walk_file(&w, f->path, flags);
	assert_int_equal(st.events, f->ok);
	assert_int_equal(w.duplicates, 0);
	assert_int_equal(f->ok, w.events + st.lost_disk_events + st.overwritten_events);
	assert_int_equal(f->tried, f->ok + st.lost_no_buffer);
	test_walk_finish(&w);
	test_dir_remove(&f->dir);
	return st;
}

static void a_full_disk_costs_counted_events_and_the_session_goes_on(void **state)
{
	struct fixture f;
	begin(&f, 0, 0);
	put_some(&f, 500);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	set_fault(&f.faulty, FAULT_ALWAYS, -ENOSPC);
	put_some(&f, 4000);
	sink_flush(f.sink, NULL, NULL);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	struct sink_stats st;
	sink_stats(f.sink, &st);
	assert_int_equal(st.file_error, ENOSPC);
	assert_true(st.lost_disk_events > 0);
	uint64_t lost = st.lost_disk_events;
	set_fault(&f.faulty, FAULT_NONE, 0);
	for (int i = 0; i < 40; i++) {
		put_some(&f, 100);
		assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	}
	sink_stats(f.sink, &st);
	assert_int_equal(st.file_error, 0);
	st = end(&f, TEST_WALK_PER_CPU, 1);
	assert_int_equal(st.lost_disk_events, lost);
	assert_true(st.lost_disk_buffers > 0);
}

static void short_writes_are_completed(void **state)
{
	struct fixture f;
	begin(&f, 0, 0);
	set_fault(&f.faulty, FAULT_SHORT, 0);
	for (int i = 0; i < 50; i++) {
		put_some(&f, 200);
		assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	}
	struct sink_stats st = end(&f, TEST_WALK_PER_CPU, 1);
	assert_int_equal(st.lost_disk_events, 0);
}

static void a_passing_error_costs_nothing(void **state)
{
	struct fixture f;
	begin(&f, 0, 0);
	f.faulty.until = 3;
	put_some(&f, 60);
	set_fault(&f.faulty, FAULT_UNTIL_CALL, -EIO);
	sink_flush(f.sink, NULL, NULL);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	struct sink_stats st = end(&f, TEST_WALK_PER_CPU, 0);
	assert_int_equal(st.lost_disk_events, 0);
	assert_int_equal(st.events, 60);
}

static void random_errors_and_short_writes_keep_the_books(void **state)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct fixture f;
		begin(&f, seed % 2 ? 0x2 : 0, seed % 2 ? 100 : 0);
		f.faulty.seed = seed;
		set_fault(&f.faulty, FAULT_SOMETIMES, seed % 3 ? -EIO : -ENOSPC);
		f.faulty.seed = seed;
		for (int i = 0; i < 30; i++) {
			put_some(&f, 150);
			sink_drain_wait(f.sink, 10000);
		}
		set_fault(&f.faulty, FAULT_NONE, 0); /* or the header cannot tell the truth */
		end(&f, TEST_WALK_PER_CPU | (seed % 2 ? TEST_WALK_ANY_ORDER : 0), 1);
	}
}

static void circular_under_faults_that_outlast_patience(void **state)
{
	struct fixture f;
	begin(&f, 0x2, 64);
	for (int round = 0; round < 10; round++) {
		set_fault(&f.faulty, round % 2 ? FAULT_ALWAYS : FAULT_NONE, -EIO);
		for (int i = 0; i < 6; i++) {
			put_some(&f, 300);
			sink_drain_wait(f.sink, 10000);
		}
	}
	set_fault(&f.faulty, FAULT_NONE, 0);
	struct sink_stats st = end(&f, TEST_WALK_PER_CPU | TEST_WALK_ANY_ORDER, 1);
	assert_true(st.overwritten_events > 0);
	assert_true(st.lost_disk_events > 0);
}

static void a_half_overwritten_buffer_is_counted_and_mended(void **state)
{
	for (int later = 0; later < 2; later++) {
		struct fixture f;
		begin(&f, 0x2, 64);
		for (int i = 0; i < 10; i++) {
			put_some(&f, 300);
			assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
		}
		set_fault(&f.faulty, FAULT_TORN, -EIO);
		for (int i = 0; i < 3; i++) {
			put_some(&f, 150);
			sink_flush(f.sink, NULL, NULL);
			assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
		}
		set_fault(&f.faulty, FAULT_NONE, 0);
		if (later) {
			put_some(&f, 100); /* the place is written again */
		}
		struct sink_stats st = end(&f, TEST_WALK_PER_CPU | TEST_WALK_ANY_ORDER, 1);
		assert_true(st.lost_disk_events > 0);
	}
}

static void a_new_file_begins_exactly_where_it_was_ordered(void **state)
{
	struct fixture f;
	begin(&f, 0, 0);
	sink_stop(f.sink, NULL);
	f.options.patience_ms = 60000;
	assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
	/* The file thread is held up with the first buffers, so that the rest queues up. */
	set_fault(&f.faulty, FAULT_DATA, -EIO);
	put_some(&f, 160);
	sink_tick(f.sink, 1);
	char other[200];
	snprintf(other, sizeof other, "%s/b.etl", f.dir.path);
	assert_int_equal(sink_set_file(f.sink, other, u"b", NULL), 0);
	assert_int_equal(sink_set_file(f.sink, other, u"b", NULL), -EBUSY);
	put_some(&f, 77);
	sink_flush(f.sink, NULL, NULL);
	set_fault(&f.faulty, FAULT_NONE, 0);
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	assert_int_equal(f.ok, 237);
	struct test_walk a, b;
	test_walk_init(&a, 237);
	test_walk_init(&b, 237);
	test_walk_file(&a, f.path, TEST_WALK_PER_CPU);
	test_walk_file(&b, other, TEST_WALK_PER_CPU);
	for (int i = 0; i < 237; i++) {
		assert_int_equal(a.seen[i], i < 160);
		assert_int_equal(b.seen[i], i >= 160);
	}
	test_walk_finish(&a);
	test_walk_finish(&b);
	test_dir_remove(&f.dir);
}

static void a_snapshot_is_not_overwritten_while_it_is_written(void **state)
{
	struct fixture f;
	begin(&f, 0x400, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		f.ok += test_put(f.sink, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES);
	}
	assert_int_equal(f.ok, 1000);
	set_fault(&f.faulty, FAULT_GATE, 0);
	assert_int_equal(sink_flush(f.sink, NULL, NULL), 0);
	pthread_mutex_lock(&f.faulty.lock);
	while (!f.faulty.at_gate) {
		pthread_cond_wait(&f.faulty.gate, &f.faulty.lock);
	}
	pthread_mutex_unlock(&f.faulty.lock);
	uint64_t more = 0;
	for (uint32_t i = 1000; i < 2000; i++) {
		more += test_put(f.sink, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES);
	}
	struct sink_stats st;
	sink_stats(f.sink, &st);
	assert_int_equal(more + st.lost_no_buffer, 1000);
	uint64_t overwritten = st.overwritten_events;
	set_fault(&f.faulty, FAULT_NONE, 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	struct test_walk w;
	test_walk_init(&w, 1000); /* no number of later */
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + overwritten, 1000);
	assert_int_equal(w.duplicates, 0);
	test_walk_finish(&w);
	assert_true(test_put(f.sink, 0, 3000, 3000, TEST_RECORD_BYTES)); /* and it goes on */
	sink_stop(f.sink, NULL);
	test_dir_remove(&f.dir);
}

static void dropped_buffers_leave_their_room_in_a_sequential_file(void **state)
{
	struct fixture f;
	begin(&f, 0x1, 64);
	set_fault(&f.faulty, FAULT_ALWAYS, -EIO);
	put_some(&f, 300);
	sink_flush(f.sink, NULL, NULL);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	set_fault(&f.faulty, FAULT_NONE, 0);
	for (int i = 0; i < 50; i++) {
		put_some(&f, 100);
		assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	}
	struct stat file;
	assert_int_equal(sink_flush(f.sink, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	assert_int_equal(stat(f.path, &file), 0);
	assert_int_equal(file.st_size, 64 * 1024);
	struct sink_stats st = end(&f, TEST_WALK_PER_CPU, 1);
	assert_true(st.file_full);
	assert_true(st.lost_disk_events > 0);
}

static void a_stop_on_a_dead_disk_ends(void **state)
{
	struct fixture f;
	begin(&f, 0, 0);
	sink_stop(f.sink, NULL);
	f.options.patience_ms = 3600u * 1000;
	assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
	set_fault(&f.faulty, FAULT_ALWAYS, -EIO);
	put_some(&f, 1000);
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), -EIO);
	clock_gettime(CLOCK_MONOTONIC, &b);
	/* One second is promised; the rest is for a busy machine. */
	assert_true(b.tv_sec - a.tv_sec < 60);
	assert_int_equal(st.lost_disk_events, f.ok);
	test_dir_remove(&f.dir);
}

static int slow_then_fail_fallocate(void *ctx, int fd, uint64_t off, uint64_t len)
{
	return -ENOSPC;
}

static void a_create_without_space_fails_cleanly(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct sink_options o = test_options(path);
	struct faulty faulty = {.kind = FAULT_ALWAYS, .error = -ENOSPC, .lock = PTHREAD_MUTEX_INITIALIZER};
	o.ops.pwrite = faulty_pwrite;
	o.ops.ctx = &faulty;
	struct sink *s = NULL;
	struct diag d = {0};
	assert_int_equal(sink_create(&o, &s, &d), -ENOSPC);
	assert_true(d.text[0] != 0);
	o.ops.pwrite = NULL;
	o.ops.fallocate = slow_then_fail_fallocate;
	o.props.mode = 0x20;
	o.props.maximum_file_size = 1;
	assert_int_equal(sink_create(&o, &s, NULL), -ENOSPC);
	/* Without PREALLOCATE a refused reservation is no error. */
	o.props.mode = 0;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	for (uint32_t i = 0; i < 300; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
	}
	struct sink_stats st;
	assert_int_equal(sink_stop(s, &st), 0);
	assert_int_equal(st.lost_disk_events, 0);
	test_dir_remove(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_costs_counted_events_and_the_session_goes_on),
		cmocka_unit_test(short_writes_are_completed),
		cmocka_unit_test(a_passing_error_costs_nothing),
		cmocka_unit_test(random_errors_and_short_writes_keep_the_books),
		cmocka_unit_test(circular_under_faults_that_outlast_patience),
		cmocka_unit_test(a_half_overwritten_buffer_is_counted_and_mended),
		cmocka_unit_test(a_new_file_begins_exactly_where_it_was_ordered),
		cmocka_unit_test(a_snapshot_is_not_overwritten_while_it_is_written),
		cmocka_unit_test(dropped_buffers_leave_their_room_in_a_sequential_file),
		cmocka_unit_test(a_stop_on_a_dead_disk_ends),
		cmocka_unit_test(a_create_without_space_fails_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
