/* SPDX-License-Identifier: MIT
 *
 * The header buffer against the documented layout and against buffer 0 of a file recorded by
 * Windows.
 */
#include "etl/etl_writer.h"
#include "format/etl_item.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const uint8_t zone_zero[ETL_TIME_ZONE_SIZE];

static struct etl_header_args args(void)
{
	return (struct etl_header_args){
		.buffer_size = 4096,
		.processors = 6,
		.end_filetime = 0x1122334455667788,
		.timer_resolution = 156250,
		.maximum_file_size = 77,
		.log_file_mode = 0x10002,
		.buffers_written = 9,
		.events_lost = 5,
		.buffers_lost = 3,
		.cpu_mhz = 2400,
		.clock_type = 1,
		.perf_freq = 10000000,
		.boot_filetime = 0x0101010101010101,
		.start_filetime = 0x0202020202020202,
		.start_raw = 0x0303030303030303,
		.pid = 0xAAAA,
		.tid = 0xBBBB,
		.logger_id = 0x2C,
		.logger_name = u"abc",
		.logger_name_units = 3,
		.file_name = u"C:\\x.etl",
		.file_name_units = 8,
		.time_zone = zone_zero,
	};
}

struct expected {
	uint32_t offset;
	uint8_t bytes;
	uint64_t value;
};

static void check_fields(const uint8_t *buf, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;
		memcpy(&v, buf + e[i].offset, e[i].bytes);
		if (v != e[i].value) {
			fail_msg("offset 0x%x: 0x%llx instead of 0x%llx", e[i].offset, (unsigned long long)v,
				 (unsigned long long)e[i].value);
		}
	}
}

static void header_fields_stand_at_the_documented_offsets(void **state)
{
	uint8_t *buf = malloc(4096);
	memset(buf, 0x5A, 4096);
	struct etl_header_args a = args();
	assert_int_equal(etl_write_header_buffer(buf, &a), 0);
	/* 0x20 header + 0x118 fixed part + "abc" 0 + "C:\x.etl" 0 */
	uint32_t size = 0x20 + 0x118 + 8 + 18;
	uint32_t end = 0x48 + ((size + 7) & ~7u) + 0x50;
	const struct expected e[] = {
		{0x00, 4, 4096},
		{0x04, 4, end},
		{0x08, 4, end},
		{0x0C, 4, 0},
		{0x10, 8, 0},
		{0x18, 8, 0},
		{0x20, 8, 0},
		{0x28, 2, 0},
		{0x2A, 2, 0x2C},
		{0x2C, 4, 3},
		{0x30, 4, end},
		{0x34, 2, 0x21},
		{0x36, 2, 4},
		{0x38, 8, 0},
		{0x40, 8, 0},
		/* SYSTEM64 version 2, hook 0 */
		{0x48, 4, 0xC0020002},
		{0x4C, 2, size},
		{0x4E, 2, 0},
		{0x50, 4, 0xBBBB},
		{0x54, 4, 0xAAAA},
		{0x58, 8, 0x0303030303030303},
		{0x60, 8, 0},
		/* TRACE_LOGFILE_HEADER */
		{0x68, 4, 4096},
		{0x6C, 4, 0x0501000A},
		{0x70, 4, 19045},
		{0x74, 4, 6},
		{0x78, 8, 0x1122334455667788},
		{0x80, 4, 156250},
		{0x84, 4, 77},
		{0x88, 4, 0x10002},
		{0x8C, 4, 9},
		{0x90, 4, 1},
		{0x94, 4, 8},
		{0x98, 4, 5},
		{0x9C, 4, 2400},
		{0xA0, 8, 0},
		{0xA8, 8, 0},
		{0x15C, 4, 0},
		{0x160, 8, 0x0101010101010101},
		{0x168, 8, 10000000},
		{0x170, 8, 0x0202020202020202},
		{0x178, 4, 1},
		{0x17C, 4, 3},
		{0x180, 8, 0x0000006300620061},
		{0x188, 4, 0x003A0043},
		{0x198, 2, 0},
		/* PartitionInfo: SYSTEM64 version 2, Size 0x50, hook 0x0050, same stamps, zeros */
		{end - 0x50, 4, 0xC0020002},
		{end - 0x4C, 4, 0x00500050},
		{end - 0x48, 4, 0xBBBB},
		{end - 0x44, 4, 0xAAAA},
		{end - 0x40, 8, 0x0303030303030303},
		{end - 0x30, 8, 0},
		{end - 8, 8, 0},
	};
	check_fields(buf, e, BASE_ARRAY_LEN(e));
	for (uint32_t i = end; i < 4096; i++) {
		assert_int_equal(buf[i], 0xFF);
	}
	assert_int_equal(etl_header_used(3, 8), end);
	free(buf);
}

static void header_refuses_names_that_do_not_fit(void **state)
{
	uint8_t *buf = malloc(1024);
	uint16_t *name = calloc(70000, 2);
	struct etl_header_args a = args();
	a.buffer_size = 1024;
	a.file_name = name;
	a.file_name_units = 250;
	uint32_t used = etl_header_used(a.logger_name_units, a.file_name_units);
	assert_true(used > 0);
	/* The longest name that fits, and one more. */
	while (etl_header_used(a.logger_name_units, a.file_name_units + 1) <= 1024) {
		a.file_name_units++;
	}
	assert_int_equal(etl_write_header_buffer(buf, &a), 0);
	a.file_name_units++;
	assert_int_equal(etl_write_header_buffer(buf, &a), -EMSGSIZE);
	a.file_name_units = 0xFFFFFFF0;
	assert_int_equal(etl_write_header_buffer(buf, &a), -EMSGSIZE);
	free(name);
	free(buf);
}

static void live_counts_change_nothing_else(void **state)
{
	uint8_t before[4096], after[4096];
	struct etl_header_args a = args();
	assert_int_equal(etl_write_header_buffer(before, &a), 0);
	memcpy(after, before, sizeof after);
	struct etl_header_counts c = {
		.end_filetime = ~0ull, .buffers_written = ~0u, .events_lost = ~0u, .buffers_lost = ~0u};
	etl_header_set_counts(after, &c);
	for (uint32_t i = 0; i < 4096; i++) {
		bool live = (i >= 0x78 && i < 0x80) || (i >= 0x8C && i < 0x90) || (i >= 0x98 && i < 0x9C) ||
			    (i >= 0x17C && i < 0x180);
		assert_int_equal(after[i], live ? 0xFF : before[i]);
	}
	assert_true(ETL_HEADER_LIVE_OFFSET <= 0x78);
	assert_true(ETL_HEADER_LIVE_OFFSET + ETL_HEADER_LIVE_BYTES >= 0x180);
}

static void data_buffer_headers_look_like_a_flushed_buffer(void **state)
{
	uint8_t buf[1024];
	memset(buf, 0x5A, sizeof buf);
	struct etl_buffer_args a = {.buffer_size = 1024,
				    .used = 0x90,
				    .flush_raw = 0x1234567890,
				    .sequence = 42,
				    .processor = 0x123,
				    .logger_id = 9,
				    .flags = ETL_BF_FLUSH_MARKER};
	etl_write_buffer_header(buf, &a, true);
	const struct expected e[] = {
		{0x00, 4, 1024},
		{0x04, 4, 0x90},
		{0x08, 4, 0x490},
		{0x0C, 4, 0},
		{0x10, 8, 0x1234567890},
		{0x18, 8, 42},
		{0x20, 8, 0},
		{0x28, 2, 0x123},
		{0x2A, 2, 9},
		{0x2C, 4, 3},
		{0x30, 4, 0x90},
		{0x34, 2, 0x21},
		{0x36, 2, 0},
		{0x38, 8, 0},
		{0x40, 8, 0},
		{0x48, 8, 0x5A5A5A5A5A5A5A5A},
		{0x88, 8, 0x5A5A5A5A5A5A5A5A},
		{0x90, 8, ~0ull},
		{0x3F8, 8, ~0ull},
	};
	check_fields(buf, e, BASE_ARRAY_LEN(e));
}

static void items_are_padded_with_zeros_and_linked(void **state)
{
	uint8_t buf[64];
	memset(buf, 0x5A, sizeof buf);
	assert_int_equal(etl_put_item(buf, ETL_ITEM_TS_ID, "\1\2\3\4", 4, true), 16);
	const uint8_t linked[16] = {16, 0, 3, 0, 1, 0, 4, 0, 1, 2, 3, 4, 0, 0, 0, 0};
	assert_memory_equal(buf, linked, 16);
	assert_int_equal(buf[16], 0x5A);
	assert_int_equal(etl_put_item(buf, ETL_ITEM_EVENT_KEY, "\1\2\3\4\5\6\7\10", 8, false), 16);
	const uint8_t last[16] = {16, 0, 10, 0, 0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	assert_memory_equal(buf, last, 16);
	assert_int_equal(etl_item_total(0), 8);
	assert_int_equal(etl_item_total(1), 16);
	assert_int_equal(etl_item_total(0xFFFF), 0x10008);
}

/* Expected: what Windows writes for these zones (month, weekday, n-th, hour of both rules). */
static void time_zones_become_windows_rules(void **state)
{
	static const struct {
		const char *tz;
		int32_t bias, daylight_bias;
		uint16_t standard[4], daylight[4];
		uint16_t first_letter;
	} zones[] = {
		{"EST5EDT,M3.2.0,M11.1.0", 300, -60, {11, 0, 1, 2}, {3, 0, 2, 2}, 'E'},
		/* primitive-types.etl was recorded here */
		{"EET-2EEST,M3.5.0/3,M10.5.0/4", -120, -60, {10, 0, 5, 4}, {3, 0, 5, 3}, 'E'},
		/* gcevents.etl was recorded here */
		{"PST8PDT,M3.2.0,M11.1.0", 480, -60, {11, 0, 1, 2}, {3, 0, 2, 2}, 'P'},
		/* southern half, and half an hour */
		{"LHST-10:30LHDT-11,M10.1.0,M4.1.0", -630, -30, {4, 0, 1, 2}, {10, 0, 1, 2}, 'L'},
		{"CST-8", -480, -60, {0}, {0}, 'C'},
		{"UTC0", 0, -60, {0}, {0}, 'U'},
	};
	const char *before = getenv("TZ");
	char *saved = before ? strdup(before) : NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(zones); i++) {
		setenv("TZ", zones[i].tz, 1);
		/* Any moment of the year gives the same. */
		for (int month = 0; month < 12; month++) {
			uint8_t z[ETL_TIME_ZONE_SIZE];
			etl_time_zone_at(1675000000 + month * 2600000, z);
			assert_int_equal((int32_t)le32_get(z), zones[i].bias);
			assert_int_equal((int32_t)le32_get(z + 0x54), 0);
			assert_int_equal((int32_t)le32_get(z + 0xA8), zones[i].daylight_bias);
			assert_int_equal(le16_get(z + 0x04), zones[i].first_letter);
			for (int side = 0; side < 2; side++) {
				const uint8_t *p = z + (side ? 0x98 : 0x44);
				const uint16_t *want = side ? zones[i].daylight : zones[i].standard;
				assert_int_equal(le16_get(p), 0);
				for (int k = 0; k < 4; k++) {
					assert_int_equal(le16_get(p + 2 + 2 * k), want[k]);
				}
				assert_int_equal(le64_get(p + 8) >> 16, 0);
			}
		}
	}
	if (saved) {
		setenv("TZ", saved, 1);
	} else {
		unsetenv("TZ");
	}
	free(saved);
	tzset();
}

static const uint16_t *units_at(const uint8_t *p, uint16_t *out, size_t cap, uint32_t *ret_units)
{
	uint32_t n = 0;
	while (n < cap && le16_get(p + 2 * n) != 0) {
		out[n] = le16_get(p + 2 * n);
		n++;
	}
	*ret_units = n;
	return out;
}

/* Windows 10 and 11 files recorded (not merged) by a session without kernel events. */
static void buffer_0_of_recorded_files_can_be_rebuilt_byte_for_byte(void **state)
{
	const char *corpus = getenv("OPENETW_CORPUS");
	if (!corpus || access(corpus, R_OK) < 0) {
		print_message("skipped: OPENETW_CORPUS does not name the directory of real files\n");
		skip();
	}
	static const char *const files[] = {
		"perfview/gcevents.etl",
		"perfview/primitive-types.etl",
		"etl-parser/lxcore_kernel.etl",
		"krabsetw/powershell.etl",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", corpus, files[i]);
		int fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		uint8_t first[4];
		assert_int_equal(read(fd, first, 4), 4);
		uint32_t size = le32_get(first);
		uint8_t *real = malloc(size), *ours = malloc(size);
		assert_int_equal(pread(fd, real, size, 0), size);
		close(fd);
		const uint8_t *h = real + 0x68;
		uint16_t logger[1024], file[1024];
		struct etl_header_args a = {
			.buffer_size = size,
			.processors = le32_get(h + 0x0C),
			.end_filetime = le64_get(h + 0x10),
			.timer_resolution = le32_get(h + 0x18),
			.maximum_file_size = le32_get(h + 0x1C),
			.log_file_mode = le32_get(h + 0x20),
			.buffers_written = le32_get(h + 0x24),
			.events_lost = le32_get(h + 0x30),
			.cpu_mhz = le32_get(h + 0x34),
			.boot_filetime = le64_get(h + 0xF8),
			.perf_freq = le64_get(h + 0x100),
			.start_filetime = le64_get(h + 0x108),
			.clock_type = le32_get(h + 0x110),
			.buffers_lost = le32_get(h + 0x114),
			.start_raw = le64_get(real + 0x58),
			.tid = le32_get(real + 0x50),
			.pid = le32_get(real + 0x54),
			.kernel_time = le32_get(real + 0x60),
			.user_time = le32_get(real + 0x64),
			.logger_id = le16_get(real + 0x2A),
			.os_build = le32_get(h + 0x08),
			.time_zone = h + 0x48,
		};
		a.logger_name = units_at(h + 0x118, logger, 1024, &a.logger_name_units);
		a.file_name = units_at(h + 0x118 + 2 * (a.logger_name_units + 1), file, 1024, &a.file_name_units);
		assert_int_equal(etl_write_header_buffer(ours, &a), 0);
		/* The exception: 0xA0..0xAF, the clock sources, where we write 0. */
		memset(real + 0xA0, 0, 16);
		for (uint32_t k = 0; k < size; k++) {
			if (real[k] != ours[k]) {
				fail_msg("%s: byte 0x%x is %02x, ours is %02x", files[i], k, real[k], ours[k]);
			}
		}
		free(real);
		free(ours);
	}
}

/* Data buffers: everything but leftover kernel pointers comes from what we are told. */
static void data_buffer_headers_of_a_recorded_file_can_be_rebuilt(void **state)
{
	const char *corpus = getenv("OPENETW_CORPUS");
	if (!corpus || access(corpus, R_OK) < 0) {
		print_message("skipped: OPENETW_CORPUS does not name the directory of real files\n");
		skip();
	}
	char path[512];
	snprintf(path, sizeof path, "%s/perfview/gcevents.etl", corpus);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	static uint8_t real[65536], ours[65536];
	for (int i = 1; i < 5; i++) {
		assert_int_equal(pread(fd, real, sizeof real, i * (off_t)sizeof real), sizeof real);
		memset(ours, 0, sizeof ours);
		struct etl_buffer_args a = {
			.buffer_size = sizeof real,
			.used = le32_get(real + 0x30),
			.flush_raw = le64_get(real + 0x10),
			.sequence = le64_get(real + 0x18),
			.processor = le16_get(real + 0x28),
			.logger_id = le16_get(real + 0x2A),
			.flags = i == 4 ? ETL_BF_FLUSH_MARKER : 0,
		};
		memcpy(ours + 0x48, real + 0x48, a.used - 0x48);
		etl_write_buffer_header(ours, &a, true);
		memset(real + 0x20, 0, 8);
		memset(real + 0x38, 0, 16);
		assert_memory_equal(real, ours, sizeof real);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_fields_stand_at_the_documented_offsets),
		cmocka_unit_test(header_refuses_names_that_do_not_fit),
		cmocka_unit_test(live_counts_change_nothing_else),
		cmocka_unit_test(data_buffer_headers_look_like_a_flushed_buffer),
		cmocka_unit_test(items_are_padded_with_zeros_and_linked),
		cmocka_unit_test(time_zones_become_windows_rules),
		cmocka_unit_test(buffer_0_of_recorded_files_can_be_rebuilt_byte_for_byte),
		cmocka_unit_test(data_buffer_headers_of_a_recorded_file_can_be_rebuilt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
