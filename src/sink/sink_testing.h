/* SPDX-License-Identifier: MIT
 *
 * For the tests of this folder: options, numbered events, and an independent walk over the bytes of
 * a file that checks every rule of docs/etl.md a writer has to keep.
 */
#ifndef SINK_SINK_TESTING_H
#define SINK_SINK_TESTING_H

#include "sink/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEST_RECORD_BYTES 112u /* EVENT_HEADER, u64 number, zero payload */

struct test_dir {
	char path[64];
};

/* A test that fails leaves in the middle, so what is still there goes when the program ends. Children that are forked
 * have not made it. */
#define TEST_DIRS_MAX 16u
static struct test_dirs {
	struct test_dir dir[TEST_DIRS_MAX];
	pid_t maker[TEST_DIRS_MAX]; /* 0: free */
	bool at_exit;
} test_dirs;

static inline void test_dir_delete(const char *path)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", path);
	if (system(command) != 0) {
		fprintf(stderr, "%s: is left\n", path);
	}
}
static inline void test_dirs_at_exit(void)
{
	for (uint32_t i = 0; i < TEST_DIRS_MAX; i++) {
		if (test_dirs.maker[i] == getpid()) {
			test_dir_delete(test_dirs.dir[i].path);
		}
	}
}

static inline void test_dir_make(struct test_dir *d)
{
	uint32_t i = 0;
	strcpy(d->path, "/tmp/sink-test-XXXXXX");
	assert_non_null(mkdtemp(d->path));
	while (i < TEST_DIRS_MAX && test_dirs.maker[i]) {
		i++;
	}
	if (!test_dirs.at_exit) {
		test_dirs.at_exit = atexit(test_dirs_at_exit) == 0;
	}
	if (i < TEST_DIRS_MAX) {
		test_dirs.dir[i] = *d;
		test_dirs.maker[i] = getpid();
	}
}
static inline void test_dir_remove(struct test_dir *d)
{
	test_dir_delete(d->path);
	assert_int_equal(access(d->path, F_OK), -1);
	for (uint32_t i = 0; i < TEST_DIRS_MAX; i++) {
		if (strcmp(test_dirs.dir[i].path, d->path) == 0) {
			test_dirs.maker[i] = 0;
		}
	}
}

static inline struct sink_options test_options(const char *path)
{
	return (struct sink_options){
		.name = u"sink test",
		.log_file = path ? u"C:\\trace.etl" : NULL,
		.path = path,
		.props.buffer_kb = 4,
		.props.clock = 1,
		.clock_freq = 1000000000,
		.logger_id = 7,
		.cpus = 4,
		.patience_ms = 50,
	};
}

static inline bool test_put(struct sink *s, uint16_t cpu, uint64_t time, uint64_t number, uint32_t bytes)
{
	uint8_t *p = sink_reserve(s, cpu, time, bytes);
	if (!p) {
		return false;
	}
	memset(p, 0, bytes);
	le16_put(p, (uint16_t)bytes);
	p[2] = ETL_RT_EVENT64;
	p[3] = 0xC0;
	le64_put(p + ETL_EH_TIME, time);
	le64_put(p + ETL_EVENT_HEADER_SIZE, number);
	le16_put(p + ETL_EVENT_HEADER_SIZE + 8, cpu);
	return true;
}

/* What a walk found. `seen[number]` counts appearances. */
struct test_walk {
	uint8_t *seen;
	size_t seen_cap;
	uint64_t events, duplicates, buffers, max_sequence;
	uint32_t header_events_lost, header_buffers_lost, header_buffers_written;
	uint64_t end_time;
	bool sequence_order_checked;
	char logger[64], file[128];
};

static inline void test_walk_init(struct test_walk *w, size_t numbers)
{
	memset(w, 0, sizeof *w);
	w->seen = calloc(1, numbers);
	w->seen_cap = numbers;
	assert_non_null(w->seen);
}
static inline void test_walk_finish(struct test_walk *w)
{
	free(w->seen);
}

static inline void test_walk_record(struct test_walk *w, const uint8_t *p, bool per_cpu, uint16_t cpu)
{
	uint64_t number = le64_get(p + ETL_EVENT_HEADER_SIZE);
	assert_true(number < w->seen_cap);
	w->duplicates += w->seen[number] != 0;
	w->seen[number] = 1;
	w->events++;
	if (per_cpu) {
		assert_int_equal(le16_get(p + ETL_EVENT_HEADER_SIZE + 8), cpu);
	}
}

/* Records of one buffer: exact walk to `used`, sorted by time. */
static inline void test_walk_buffer(struct test_walk *w, const uint8_t *b, bool per_cpu)
{
	uint32_t used = le32_get(b + ETL_BH_OFFSET);
	uint16_t cpu = le16_get(b + ETL_BH_PROCESSOR);
	uint64_t last = 0;
	uint32_t at = ETL_BUFFER_HEADER_SIZE;
	assert_true(used >= ETL_BUFFER_HEADER_SIZE);
	while (at < used) {
		uint32_t size = le16_get(b + at);
		assert_int_equal(b[at + 2], ETL_RT_EVENT64);
		assert_int_equal(b[at + 3], 0xC0);
		assert_true(size >= ETL_EVENT_HEADER_SIZE + 16);
		uint64_t time = le64_get(b + at + ETL_EH_TIME);
		assert_true(time >= last);
		last = time;
		test_walk_record(w, b + at, per_cpu, cpu);
		at += BASE_ALIGN8(size);
	}
	assert_int_equal(at, used);
	/* Only then: real files are flushed after their last record, too. */
	assert_true(le64_get(b + ETL_BH_TIME_STAMP) >= last);
}

enum test_walk_flags {
	TEST_WALK_PER_CPU = 1,    /* records stand in buffers of their own cpu */
	TEST_WALK_ANY_ORDER = 2,  /* wrapped circular file */
	TEST_WALK_UNFINISHED = 4, /* not stopped */
};

static inline uint8_t *test_read_file(const char *path, size_t *ret_bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	uint8_t *p = malloc((size_t)st.st_size + 1);
	assert_non_null(p);
	assert_int_equal(read(fd, p, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_bytes = (size_t)st.st_size;
	return p;
}

/* Adds to `w`, so that several files of a session can be walked. */
static inline void test_walk_file(struct test_walk *w, const char *path, unsigned flags)
{
	size_t n;
	uint8_t *f = test_read_file(path, &n);
	assert_true(n >= 0x200);
	uint32_t size = le32_get(f);
	assert_int_equal(n % size, 0);
	assert_int_equal(le16_get(f + ETL_BH_TYPE), ETL_BT_HEADER);
	assert_int_equal(le16_get(f + ETL_BH_FLAG), 0x21);
	assert_int_equal(le64_get(f + ETL_BH_SEQUENCE), 0);
	const uint8_t *h = f + ETL_BUFFER_HEADER_SIZE + ETL_SYSTEM_HEADER_SIZE;
	assert_int_equal(le32_get(h + ETL_LH_BUFFER_SIZE), size);
	w->header_buffers_written = le32_get(h + ETL_LH_BUFFERS_WRITTEN);
	w->header_events_lost = le32_get(h + ETL_LH_EVENTS_LOST);
	w->header_buffers_lost = le32_get(h + ETL_LH64_BUFFERS_LOST);
	w->end_time = le64_get(h + ETL_LH_END_TIME);
	const uint8_t *name = h + ETL_LH64_NAMES;
	size_t units = utf16_len((const uint16_t *)name);
	assert_true(utf16_to_utf8(name, units, w->logger, sizeof w->logger) >= 0);
	name += 2 * (units + 1);
	assert_true(utf16_to_utf8(name, utf16_len((const uint16_t *)name), w->file, sizeof w->file) >= 0);
	if (!(flags & TEST_WALK_UNFINISHED)) {
		assert_int_equal(w->header_buffers_written, n / size);
		assert_true(w->end_time != 0);
	} else {
		assert_int_equal(w->end_time, 0);
	}

	uint64_t last_sequence[64] = {0};
	unsigned marked = 0;
	for (size_t off = size; off < n; off += size) {
		const uint8_t *b = f + off;
		uint32_t used = le32_get(b + ETL_BH_OFFSET);
		uint64_t sequence = le64_get(b + ETL_BH_SEQUENCE);
		uint16_t cpu = le16_get(b + ETL_BH_PROCESSOR);
		assert_int_equal(le32_get(b), size);
		assert_int_equal(le32_get(b + ETL_BH_SAVED_OFFSET), used);
		assert_int_equal(le32_get(b + ETL_BH_CURRENT_OFFSET), used + size);
		assert_int_equal(le32_get(b + ETL_BH_STATE), 3);
		assert_int_equal(le16_get(b + ETL_BH_LOGGER_ID), 7);
		assert_int_equal(le16_get(b + ETL_BH_TYPE), 0);
		assert_true(used <= size && cpu < 64);
		for (uint32_t i = used; i < size; i++) {
			assert_int_equal(b[i], 0xFF);
		}
		uint16_t buffer_flags = le16_get(b + ETL_BH_FLAG);
		marked += buffer_flags == 0x21;
		if (flags & TEST_WALK_ANY_ORDER) {
			/* The one written last, wherever it stands. */
			assert_true(buffer_flags == 0x20 || buffer_flags == 0x21);
		} else if (!(flags & TEST_WALK_UNFINISHED)) {
			assert_int_equal(buffer_flags, off + size == n ? 0x21 : 0x20);
		}
		if (!(flags & TEST_WALK_ANY_ORDER)) {
			assert_true(sequence > last_sequence[cpu]);
			last_sequence[cpu] = sequence;
		}
		w->max_sequence = BASE_MAX(w->max_sequence, sequence);
		w->buffers++;
		test_walk_buffer(w, b, flags & TEST_WALK_PER_CPU);
	}
	if (!(flags & TEST_WALK_UNFINISHED) && n > size) {
		assert_int_equal(marked, 1);
	}
	free(f);
}

#endif
