/* SPDX-License-Identifier: MIT
 *
 * Large buffers read through windows give the records that whole buffers give, with less memory.
 */
#include "etl/etl_reader.h"
#include "etl/etl_writer.h"

#include "../../tests/corpus/etl_build.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1u << 20)

enum damage { NONE, UNSORTED, BAD_RECORD, CUT, TAIL_UNUSED };

/* An event whose size changes, up to the largest there is. */
static void put_event(struct etl_build *b, uint64_t time, uint32_t n)
{
	uint32_t bytes = n % 97 == 96 ? 65528 : 0x50 + n % 300;
	uint8_t *r = etl_build_record(b, bytes);
	etl_build_u16(r, bytes);
	etl_build_u16(r + 2, 0xC013);
	etl_build_u32(r + 8, 21);
	etl_build_u32(r + 12, 20);
	etl_build_u64(r + 0x10, time);
	etl_build_u16(r + 0x28, n & 0xFFFF);
	memset(r + 0x50, (int)n, bytes - 0x50);
}

/* A message that has no time: it takes that of the record before it. */
static void put_message(struct etl_build *b)
{
	uint8_t *r = etl_build_record(b, 16);
	etl_build_u32(r, 0x90000010);
	etl_build_u16(r + 4, 12);
}

/* Bytes of the file. */
static size_t write_file(const char *path, unsigned cpus, uint32_t buffer_size, enum damage damage)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 10, .start_filetime = 1000};
	struct etl_build b;
	etl_build_start(&b, buffer_size, &h);
	etl_build_u32(b.mem + 0x48 + 0x20 + 0x0C, cpus);
	for (unsigned i = 0; i < cpus; i++) {
		etl_build_begin(&b, i, i + 1);
		uint64_t time = 2000 + i;
		uint32_t n = 0;
		uint32_t end = damage == TAIL_UNUSED ? buffer_size / 2 : buffer_size;
		while (b.at + 70000 < end) {
			bool early = damage == UNSORTED && i == 1 && n == 1500;
			put_event(&b, early ? 3000 : time, n);
			if (n % 1000 == 999) {
				put_message(&b);
			}
			if (damage == BAD_RECORD && i == 1 && n == 3000) {
				etl_build_u16(etl_build_here(&b) + b.at, 3); /* smaller than its header */
				etl_build_u16(etl_build_here(&b) + b.at + 2, 0xC013);
				b.at += 8;
			}
			time += 1 + n % 5;
			n++;
		}
		etl_build_end(&b, time);
	}
	size_t bytes = (size_t)b.buffers * buffer_size - (damage == CUT ? buffer_size / 3 : 0);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (size_t at = 0; at < bytes;) {
		ssize_t w = write(fd, b.mem + at, bytes - at);
		assert_true(w > 0);
		at += (size_t)w;
	}
	close(fd);
	free(b.mem);
	return bytes;
}

/* The same file with compressed buffers, as a merge writes them; `flip`: a byte of the third is bad. */
static void compress_file(const char *path, size_t bytes, uint32_t buffer_size, bool flip)
{
	uint8_t *plain = malloc(bytes), *packed = malloc(xpress_compress_bound(buffer_size));
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, plain, bytes, 0), bytes);
	etl_build_u32(plain + 0x48 + 0x20 + 0x20, 0x04000000);
	etl_build_u32(plain + 0x2C, 3); /* XPRESS */
	assert_int_equal(pwrite(fd, plain, buffer_size, 0), buffer_size);
	off_t at = buffer_size;
	for (size_t i = 1; i < bytes / buffer_size; i++) {
		uint8_t *b = plain + i * buffer_size;
		uint32_t used = b[0x30] | b[0x31] << 8 | b[0x32] << 16 | (uint32_t)b[0x33] << 24;
		size_t n = xpress_compress(b + 0x48, used - 0x48, packed);
		if (flip && i == 3) {
			packed[n / 2] ^= 0x55;
		}
		etl_build_u32(b, (uint32_t)n + 0x48);
		etl_build_u16(b + 0x34, 0x60);
		assert_int_equal(pwrite(fd, b, 0x48, at), 0x48);
		assert_int_equal(pwrite(fd, packed, n, at + 0x48), n);
		at += (off_t)n + 0x48;
	}
	assert_int_equal(ftruncate(fd, at), 0);
	close(fd);
	free(plain);
	free(packed);
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	const uint8_t *s = p;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ s[i]) * 1099511628211ull;
	}
	return h;
}

static uint64_t callback_bytes;
static unsigned callbacks, callbacks_with_buffer;

static bool buffer_done(void *ctx, const uint8_t *buf, uint32_t bytes)
{
	callbacks++;
	callbacks_with_buffer += buf != NULL;
	callback_bytes += bytes;
	return false;
}

struct result {
	uint64_t records, hash, peak, callback_bytes;
	unsigned problems, callbacks, with_buffer;
	uint64_t problem_offset;
};

static struct result read_file(const char *path, bool windows, uint32_t flags)
{
	struct result x = {.hash = 14695981039346656037ull};
	struct etl_reader *r;
	struct etl_record e;
	struct etl_problem p;
	assert_int_equal(etl_reader_open(path, flags, &r, NULL), 0);
	if (windows) {
		etl_reader_use_windows(r);
	}
	callback_bytes = callbacks = callbacks_with_buffer = 0;
	etl_reader_on_buffer(r, buffer_done, NULL);
	while (etl_reader_next(r, &e) > 0) {
		x.records++;
		x.hash = hash(x.hash, e.raw, e.raw_bytes);
		x.hash = hash(x.hash, &e.time_raw, sizeof e.time_raw);
		x.hash = hash(x.hash, &e.cpu, sizeof e.cpu);
		x.hash = hash(x.hash, &e.file_offset, sizeof e.file_offset);
		x.hash = hash(x.hash, &e.buffer_offset, sizeof e.buffer_offset);
		x.peak = BASE_MAX(x.peak, etl_reader_memory(r));
	}
	while (etl_reader_next_problem(r, &p)) {
		x.problems++;
		x.problem_offset = p.file_offset;
	}
	x.callbacks = callbacks;
	x.with_buffer = callbacks_with_buffer;
	x.callback_bytes = callback_bytes;
	etl_reader_close(r);
	return x;
}

static void windows_give_what_whole_buffers_give(void **state)
{
	char path[] = "/tmp/openetw-window-XXXXXX";
	close(mkstemp(path));
	for (enum damage damage = NONE; damage <= TAIL_UNUSED; damage++) {
		write_file(path, 4, 4 * MIB, damage);
		for (uint32_t flags = 0; flags <= ETL_READER_FILE_ORDER; flags += ETL_READER_FILE_ORDER) {
			struct result whole = read_file(path, false, flags);
			struct result windows = read_file(path, true, flags);
			assert_true(whole.records > 5000);
			assert_int_equal(windows.records, whole.records);
			assert_true(windows.hash == whole.hash);
			assert_int_equal(windows.problems, whole.problems);
			assert_int_equal(whole.problems, damage == BAD_RECORD || damage == CUT);
			assert_true(windows.problem_offset == whole.problem_offset);
			assert_int_equal(windows.callbacks, whole.callbacks);
			assert_true(windows.callback_bytes == whole.callback_bytes);
			assert_int_equal(whole.with_buffer, 5);
			/* only what had to be whole was */
			assert_true(windows.with_buffer <= 2);
		}
	}
	unlink(path);
}

/* 16 processors with buffers of 16 MiB would be 256 MiB. */
static void sixteen_processors_with_large_buffers_take_little_memory(void **state)
{
	char path[] = "/tmp/openetw-window-XXXXXX";
	close(mkstemp(path));
	write_file(path, 16, 8 * MIB, NONE);
	struct result x = read_file(path, true, 0);
	print_message("%u records, at most %u KiB of buffers\n", (unsigned)x.records, (unsigned)(x.peak >> 10));
	assert_true(x.peak <= 33u * MIB);
	unlink(path);
}

static void compressed_buffers_are_read_through_windows_too(void **state)
{
	char path[] = "/tmp/openetw-window-XXXXXX";
	close(mkstemp(path));
	for (enum damage damage = NONE; damage <= TAIL_UNUSED; damage++) {
		if (damage == CUT) {
			continue;
		}
		for (int flip = 0; flip < 2; flip++) {
			size_t n = write_file(path, 4, 4 * MIB, damage);
			compress_file(path, n, 4 * MIB, flip);
			struct result whole = read_file(path, false, 0);
			struct result windows = read_file(path, true, 0);
			assert_true(whole.records > 3000);
			assert_int_equal(windows.records, whole.records);
			assert_true(windows.hash == whole.hash);
			assert_int_equal(windows.problems, whole.problems);
			assert_true(windows.callback_bytes == whole.callback_bytes);
			assert_true(windows.with_buffer <= 3);
		}
	}
	write_file(path, 16, 4 * MIB, NONE);
	compress_file(path, 17 * 4 * (size_t)MIB, 4 * MIB, false);
	struct result x = read_file(path, true, 0);
	print_message("%u records, at most %u KiB of buffers\n", (unsigned)x.records, (unsigned)(x.peak >> 10));
	assert_true(x.peak <= 35u * MIB);
	unlink(path);
}

/* Where windows are small, because processors are many. */
static void windows_of_many_processors_are_small_but_hold_any_record(void **state)
{
	char path[] = "/tmp/openetw-window-XXXXXX";
	close(mkstemp(path));
	write_file(path, 3, 2 * MIB, NONE);
	/* as a machine of 4000 processors would have written it */
	int fd = open(path, O_RDWR);
	uint8_t many[4] = {0xA0, 0x0F, 0, 0};
	assert_int_equal(pwrite(fd, many, 4, 0x48 + 0x20 + 0x0C), 4);
	close(fd);
	struct result whole = read_file(path, false, 0), windows = read_file(path, true, 0);
	assert_true(whole.hash == windows.hash && whole.records == windows.records);
	assert_true(windows.peak < 3 * 140 * 1024);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_give_what_whole_buffers_give),
		cmocka_unit_test(sixteen_processors_with_large_buffers_take_little_memory),
		cmocka_unit_test(compressed_buffers_are_read_through_windows_too),
		cmocka_unit_test(windows_of_many_processors_are_small_but_hold_any_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
