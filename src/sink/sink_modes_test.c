/* SPDX-License-Identifier: MIT
 *
 * What LogFileMode does to the files.
 */
#include "sink/sink_testing.h"

#include <fcntl.h>

struct fixture {
	struct test_dir dir;
	char path[128];
	struct sink_options options;
	struct sink *sink;
	uint64_t ok, tried;
};

static void prepare(struct fixture *f, const char *file, uint32_t mode, uint32_t size_kb)
{
	memset(f, 0, sizeof *f);
	test_dir_make(&f->dir);
	snprintf(f->path, sizeof f->path, "%s/%s", f->dir.path, file);
	f->options = test_options(f->path);
	f->options.props.mode = mode | 0x2000;
	f->options.props.maximum_file_size = size_kb;
}

static void begin(struct fixture *f, const char *file, uint32_t mode, uint32_t size_kb)
{
	prepare(f, file, mode, size_kb);
	assert_int_equal(sink_create(&f->options, &f->sink, NULL), 0);
}

static void put_some(struct fixture *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = f->tried++;
		f->ok += test_put(f->sink, (uint16_t)(number % 4), number, number, TEST_RECORD_BYTES);
		if (number % 50 == 49 && !(f->options.props.mode & 0x400)) {
			sink_tick(f->sink, number * 1000000);
			assert_int_equal(sink_drain_wait(f->sink, 10000), 0);
		}
	}
}

static uint64_t file_bytes(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* A compressed file as [doc] describes it: buffer 0 plain, all others smaller than they were and one
 * behind the other. */
static void check_compressed(uint32_t more, uint16_t format)
{
	struct fixture f;
	begin(&f, "a.etl", 0x04000001 | more, 0);
	put_some(&f, 3000);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), 0);
	uint64_t bytes = file_bytes(f.path);
	uint8_t h[0x48], zero[0x100];
	int fd = open(f.path, O_RDONLY);
	uint64_t at = 0, count = 0;
	while (at < bytes) {
		assert_int_equal(pread(fd, h, sizeof h, (off_t)at), sizeof h);
		uint32_t size = le32_get(h + 0x00), used = le32_get(h + 0x30);
		uint16_t flags = le16_get(h + 0x34);
		assert_true(size >= 0x48 && at + size <= bytes);
		if (at == 0) {
			assert_int_equal(size, (used + 0x1FF) / 0x200 * 0x200);
			assert_int_equal(le32_get(h + 0x2C) & 0xFFFF, format);
			assert_int_equal(flags, 0x21);
			assert_int_equal(pread(fd, zero, sizeof zero, 0x68), sizeof zero);
			assert_int_equal(le32_get(zero + 4) >> 16, 0x0002);                  /* layout 2.0 */
			assert_int_equal(le32_get(zero + 32), 0x04002001 | (more & 0xFFFF)); /* LogFileMode */
		} else {
			assert_int_equal(flags, at + size == bytes ? 0x61 : 0x60);
			assert_int_equal(le32_get(h + 0x2C), 3);
		}
		at += size;
		count++;
	}
	close(fd);
	assert_int_equal(at, bytes);
	assert_int_equal(count, st.buffers_written + 1);
	assert_true(st.bytes_written < bytes && bytes < st.bytes_written + 0x1000);
	test_dir_remove(&f.dir);
}

static void a_compressed_file_is_what_windows_describes(void **state)
{
	check_compressed(0, 3);
}

static void a_zstandard_file_has_our_format_in_buffer_0(void **state)
{
	if (!etl_zstd_available()) {
		skip();
	}
	check_compressed(0x40000000, 0x5A53);
}

static void a_compressed_file_ends_near_its_maximum_size(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x04000001, 64);
	put_some(&f, 60000);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), 0);
	assert_true(st.file_full);
	uint64_t bytes = file_bytes(f.path);
	assert_true(bytes <= 64 * 1024 && bytes > 40 * 1024);
	assert_int_equal(st.lost_disk_events, 0);
	assert_true(st.lost_no_buffer > 0);
	test_dir_remove(&f.dir);
}

static void sequential_stops_at_the_maximum_size(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x1, 64);
	put_some(&f, 5000);
	struct sink_stats st;
	sink_stats(f.sink, &st);
	assert_true(st.file_full);
	assert_true(f.ok < f.tried);
	assert_int_equal(sink_stop(f.sink, &st), 0);
	assert_int_equal(file_bytes(f.path), 64 * 1024);
	struct test_walk w;
	test_walk_init(&w, f.tried);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events, f.ok);
	assert_int_equal(st.lost_disk_events, 0);
	assert_int_equal(st.lost_no_buffer, f.tried - f.ok);
	assert_int_equal(w.header_events_lost, f.tried - f.ok);
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void circular_keeps_the_newest_and_buffer_0(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x2, 64);
	put_some(&f, 5000);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), 0);
	assert_int_equal(f.ok, f.tried);
	assert_int_equal(file_bytes(f.path), 64 * 1024);
	struct test_walk w;
	test_walk_init(&w, f.tried);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU | TEST_WALK_ANY_ORDER);
	assert_int_equal(w.buffers, 15);
	assert_int_equal(w.events + st.overwritten_events, f.ok);
	assert_true(st.overwritten_buffers > 0);
	assert_int_equal(st.events_lost, 0);
	/* The last event of every cpu is there. */
	for (uint64_t i = f.tried - 4; i < f.tried; i++) {
		assert_int_equal(w.seen[i], 1);
	}
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void newfile_writes_complete_files_with_counters(void **state)
{
	struct fixture f;
	begin(&f, "a%d.etl", 0x8, 32);
	f.options.log_file = NULL;
	put_some(&f, 1500);
	assert_int_equal(sink_next_file(f.sink, NULL), 0);
	put_some(&f, 10);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), 0);
	assert_int_equal(f.ok, f.tried);
	struct test_walk w;
	test_walk_init(&w, f.tried);
	int files = 0;
	char path[160];
	for (;; files++) {
		snprintf(path, sizeof path, "%s/a%d.etl", f.dir.path, files + 1);
		if (access(path, F_OK) != 0) {
			break;
		}
		assert_true(file_bytes(path) <= 32 * 1024);
		uint64_t before = w.events;
		test_walk_file(&w, path, TEST_WALK_PER_CPU);
		assert_true(w.events > before);
	}
	assert_true(files > 5);
	assert_int_equal(w.events, f.ok);
	assert_int_equal(w.duplicates, 0);
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void newfile_goes_on_to_the_next_file_when_told_and_keeps_the_last_ones(void **state)
{
	struct fixture f;
	char path[160];
	uint64_t found = 0, before = 0;
	begin(&f, "a%d.etl", 0x8, 1024);
	sink_keep_files(f.sink, 2);
	for (int i = 1; i <= 4; i++) {
		before = f.ok;
		put_some(&f, 20);
		sink_rotate(f.sink);
		assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	}
	put_some(&f, 7);
	struct sink_stats st;
	assert_int_equal(sink_stop(f.sink, &st), 0);
	struct test_walk w;
	test_walk_init(&w, f.tried);
	for (int i = 1; i <= 5; i++) {
		snprintf(path, sizeof path, "%s/a%d.etl", f.dir.path, i);
		assert_int_equal(access(path, F_OK), i < 4 ? -1 : 0);
		if (i >= 4) {
			test_walk_file(&w, path, TEST_WALK_PER_CPU);
		}
	}
	found = w.events;
	assert_int_equal(found, f.ok - before); /* those of the last two */
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void newfile_expands_the_name_in_the_header(void **state)
{
	struct fixture f;
	prepare(&f, "a%d.etl", 0x8, 32);
	f.options.log_file = u"C:\\x%d.etl";
	assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
	assert_int_equal(sink_next_file(f.sink, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	for (int i = 1; i <= 2; i++) {
		char path[160], want[32];
		snprintf(path, sizeof path, "%s/a%d.etl", f.dir.path, i);
		snprintf(want, sizeof want, "C:\\x%d.etl", i);
		struct test_walk w;
		test_walk_init(&w, 1);
		test_walk_file(&w, path, 0);
		assert_string_equal(w.file, want);
		test_walk_finish(&w);
	}
	test_dir_remove(&f.dir);
}

static void append_continues_a_file_and_its_counts(void **state)
{
	struct fixture f;
	prepare(&f, "a.etl", 0x4, 0);
	f.options.props.clock = 2;
	f.options.props.mode = 0x5;
	uint64_t ok = 0, number = 0;
	struct test_walk w;
	test_walk_init(&w, 1000);
	for (int session = 0; session < 3; session++) {
		assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
		for (int i = 0; i < 100; i++, number++) {
			ok += test_put(f.sink, (uint16_t)(i % 4), 1000 + number, number, TEST_RECORD_BYTES);
		}
		sink_add_lost(f.sink, 7);
		assert_int_equal(sink_stop(f.sink, NULL), 0);
	}
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events, ok);
	assert_int_equal(ok, 300);
	assert_int_equal(w.header_events_lost, 21);
	assert_int_equal(w.buffers, 12);
	assert_int_equal(w.max_sequence, 12);
	test_walk_finish(&w);

	/* Other settings are refused and the file stays as it is. */
	uint64_t bytes = file_bytes(f.path);
	struct sink_options o = f.options;
	o.props.buffer_kb = 8;
	assert_int_equal(sink_create(&o, &f.sink, NULL), -EINVAL);
	o = f.options;
	o.props.clock = 1;
	assert_int_equal(sink_create(&o, &f.sink, NULL), -EINVAL);
	o = f.options;
	o.cpus = 2;
	assert_int_equal(sink_create(&o, &f.sink, NULL), -EINVAL);
	assert_int_equal(file_bytes(f.path), bytes);
	test_dir_remove(&f.dir);
}

static void append_after_a_crash_drops_the_torn_buffer(void **state)
{
	struct fixture f;
	prepare(&f, "a.etl", 0x4, 0);
	f.options.props.clock = 2;
	assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
	assert_true(test_put(f.sink, 1, 1, 0, TEST_RECORD_BYTES));
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	assert_int_equal(truncate(f.path, 8192 + 1000), 0); /* grows: half a buffer of nothing */
	assert_int_equal(sink_create(&f.options, &f.sink, NULL), 0);
	assert_true(test_put(f.sink, 1, 2, 1, TEST_RECORD_BYTES));
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	struct test_walk w;
	test_walk_init(&w, 2);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events, 2);
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void preallocate_has_full_length_while_running(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x21, 256);
	assert_int_equal(file_bytes(f.path), 256 * 1024);
	put_some(&f, 100);
	assert_int_equal(file_bytes(f.path), 256 * 1024);
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	struct test_walk w;
	test_walk_init(&w, f.tried);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events, 100);
	assert_int_equal(file_bytes(f.path), (1 + w.buffers) * 4096);
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void buffering_writes_the_ring_on_flush_only(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x400, 0);
	put_some(&f, 2000);
	assert_int_equal(access(f.path, F_OK), -1);
	struct test_walk w;
	test_walk_init(&w, 4000);
	assert_int_equal(sink_flush(f.sink, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	struct sink_stats st;
	sink_stats(f.sink, &st);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + st.overwritten_events, f.ok);
	assert_int_equal(w.buffers, 8);
	assert_int_equal(w.seen[1999], 1);
	test_walk_finish(&w);

	/* A snapshot keeps the ring: the next one holds what is newest then. */
	char other[200];
	snprintf(other, sizeof other, "%s/b.etl", f.dir.path);
	put_some(&f, 20);
	assert_int_equal(sink_flush(f.sink, other, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	sink_stats(f.sink, &st);
	test_walk_init(&w, 4000);
	test_walk_file(&w, other, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + st.overwritten_events, f.ok);
	assert_int_equal(w.seen[2019], 1);
	assert_string_equal(w.file, other);
	test_walk_finish(&w);
	assert_int_equal(sink_flush(f.sink, "/nonexistent-directory/x", NULL), -ENOENT);
	sink_stop(f.sink, NULL);
	test_dir_remove(&f.dir);
}

static bool explain(struct sink *s, uint64_t time, uint64_t number)
{
	uint8_t *p = sink_explain(s, time, TEST_RECORD_BYTES);
	if (p) {
		memset(p, 0, TEST_RECORD_BYTES);
		le16_put(p, TEST_RECORD_BYTES);
		p[2] = ETL_RT_EVENT64;
		p[3] = 0xC0;
		le64_put(p + ETL_EH_TIME, time);
		le64_put(p + ETL_EVENT_HEADER_SIZE, number);
	}
	return p != NULL;
}

static void an_explanation_is_in_one_snapshot_and_takes_nothing_from_the_ring(void **state)
{
	enum { EXPLAINED = 500 };
	struct fixture f;
	struct test_walk w;
	struct sink_stats st;
	char other[200];
	begin(&f, "a.etl", 0x400, 0);
	put_some(&f, 2000);
	assert_int_equal(sink_flush_held(f.sink, NULL, NULL), 0);
	sink_stats(f.sink, &st);
	for (uint64_t i = 0; i < EXPLAINED; i++) {
		/* Also out of order, and while the ring goes on: it is overwritten altogether. */
		assert_true(explain(f.sink, f.tried + i % 7, 3000 + i));
		put_some(&f, i < 400 ? 2 : 0);
	}
	sink_flush_explained(f.sink);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	test_walk_init(&w, 4000);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + st.overwritten_events, 2000 + EXPLAINED);
	for (uint64_t i = 0; i < EXPLAINED; i++) {
		assert_int_equal(w.seen[3000 + i], 1);
	}
	assert_int_equal(w.seen[1999], 1);
	assert_int_equal(w.seen[2000], 0); /* what came then */
	assert_int_equal(w.duplicates, 0);
	test_walk_finish(&w);

	snprintf(other, sizeof other, "%s/b.etl", f.dir.path);
	assert_int_equal(sink_flush(f.sink, other, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	sink_stats(f.sink, &st);
	test_walk_init(&w, 4000);
	test_walk_file(&w, other, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + st.overwritten_events, f.ok);
	assert_int_equal(w.seen[3000], 0);
	test_walk_finish(&w);

	/* One that is never explained is complete all the same, at the latest with the session. */
	snprintf(other, sizeof other, "%s/c.etl", f.dir.path);
	assert_int_equal(sink_flush_held(f.sink, other, NULL), 0);
	assert_true(explain(f.sink, f.tried, 3999));
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	test_walk_init(&w, 4000);
	test_walk_file(&w, other, TEST_WALK_PER_CPU);
	assert_int_equal(w.events + st.overwritten_events, f.ok);
	test_walk_finish(&w);

	struct fixture g; /* elsewhere there is nothing to explain */
	begin(&g, "c.etl", 0x1, 0);
	assert_false(explain(g.sink, 1, 1));
	assert_int_equal(sink_flush_held(g.sink, other, NULL), -EINVAL);
	assert_int_equal(sink_stop(g.sink, NULL), 0);
	test_dir_remove(&f.dir);
	test_dir_remove(&g.dir);
}

static void check_ring(uint32_t mode, uint32_t size_kb)
{
	enum { RECORDS = 3000, CPUS = 4 };
	struct fixture f;
	struct test_walk w;
	uint64_t until[CPUS];
	begin(&f, "a.etl", mode, size_kb);
	assert_int_equal(sink_ring_until(f.sink, 1), 0);
	put_some(&f, RECORDS);
	assert_int_equal(sink_flush(f.sink, NULL, NULL), 0);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	uint64_t since = sink_ring_since(f.sink);
	for (uint16_t i = 0; i < CPUS; i++) {
		until[i] = sink_ring_until(f.sink, i);
		assert_true(until[i] > 0 && until[i] < RECORDS - CPUS);
	}
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	test_walk_init(&w, RECORDS);
	test_walk_file(&w, f.path, TEST_WALK_PER_CPU | (mode & 0x400 ? 0 : TEST_WALK_ANY_ORDER));
	for (uint64_t time = 0; time < RECORDS; time++) { /* which is its number, and tells its processor */
		assert_int_equal(w.seen[time], time > until[time % CPUS]);
		assert_true(!w.seen[time] || time >= since);
	}
	test_walk_finish(&w);
	test_dir_remove(&f.dir);
}

static void a_ring_knows_what_it_has_forgotten(void **state)
{
	check_ring(0x2, 64);
	check_ring(0x400, 0);
}

static void set_file_leaves_two_complete_files(void **state)
{
	struct fixture f;
	begin(&f, "a.etl", 0x1, 0);
	char other[200];
	snprintf(other, sizeof other, "%s/b.etl", f.dir.path);
	put_some(&f, 100);
	assert_int_equal(sink_set_file(f.sink, other, u"C:\\b.etl", NULL), 0);
	put_some(&f, 77);
	assert_int_equal(sink_drain_wait(f.sink, 10000), 0);
	struct test_walk a, b;
	test_walk_init(&a, f.tried);
	test_walk_file(&a, f.path, TEST_WALK_PER_CPU); /* finished already */
	assert_int_equal(a.events, 100);
	assert_int_equal(sink_stop(f.sink, NULL), 0);
	test_walk_init(&b, f.tried);
	test_walk_file(&b, other, TEST_WALK_PER_CPU);
	assert_int_equal(b.events, 77);
	assert_string_equal(b.file, "C:\\b.etl");
	assert_int_equal(b.seen[176], 1);
	test_walk_finish(&a);
	test_walk_finish(&b);
	test_dir_remove(&f.dir);
}

static void contradicting_modes_are_refused(void **state)
{
	static const struct {
		uint32_t mode, size;
		const char *file;
	} bad[] = {
		{0x3, 1, "x.etl"},        /* sequential and circular */
		{0xA, 1, "x%d.etl"},      /* circular and new file */
		{0x2, 0, "x.etl"},        /* circular without a size */
		{0x8, 0, "x%d.etl"},      /* new file without a size */
		{0x8, 1, "x.etl"},        /* new file without %d */
		{0x6, 1, "x.etl"},        /* append to circular */
		{0x104, 0, "x.etl"},      /* append and real time */
		{0x500, 0, NULL},         /* buffering and real time */
		{0x401, 0, NULL},         /* buffering and sequential */
		{0x04000002, 1, "x.etl"}, /* compressed and circular */
		{0x04000004, 0, "x.etl"}, /* compressed and append */
		{0x40000001, 0, "x.etl"}, /* Zstandard, not compressed */
	};
	struct test_dir dir;
	test_dir_make(&dir);
	for (size_t i = 0; i < BASE_ARRAY_LEN(bad); i++) {
		char path[128] = "";
		if (bad[i].file) {
			snprintf(path, sizeof path, "%s/%s", dir.path, bad[i].file);
		}
		struct sink_options o = test_options(bad[i].file ? path : NULL);
		o.props.mode = bad[i].mode;
		o.props.maximum_file_size = bad[i].size;
		struct sink *s = NULL;
		assert_int_equal(sink_create(&o, &s, NULL), -EINVAL);
		assert_int_equal(access(path, F_OK), -1);
	}
	test_dir_remove(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequential_stops_at_the_maximum_size),
		cmocka_unit_test(circular_keeps_the_newest_and_buffer_0),
		cmocka_unit_test(newfile_writes_complete_files_with_counters),
		cmocka_unit_test(newfile_expands_the_name_in_the_header),
		cmocka_unit_test(newfile_goes_on_to_the_next_file_when_told_and_keeps_the_last_ones),
		cmocka_unit_test(append_continues_a_file_and_its_counts),
		cmocka_unit_test(append_after_a_crash_drops_the_torn_buffer),
		cmocka_unit_test(preallocate_has_full_length_while_running),
		cmocka_unit_test(buffering_writes_the_ring_on_flush_only),
		cmocka_unit_test(an_explanation_is_in_one_snapshot_and_takes_nothing_from_the_ring),
		cmocka_unit_test(a_ring_knows_what_it_has_forgotten),
		cmocka_unit_test(set_file_leaves_two_complete_files),
		cmocka_unit_test(contradicting_modes_are_refused),
		cmocka_unit_test(a_compressed_file_is_what_windows_describes),
		cmocka_unit_test(a_zstandard_file_has_our_format_in_buffer_0),
		cmocka_unit_test(a_compressed_file_ends_near_its_maximum_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
