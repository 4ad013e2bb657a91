/* SPDX-License-Identifier: MIT
 *
 * The order in which a file's records come, whatever the buffers look like: overlapping, unsorted,
 * without times, damaged.
 */
#include "etl/etl_reader.h"

#include "../../tests/corpus/etl_build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define START 1000000ull

static struct etl_build_header header = {
	.clock_type = 1,
	.perf_freq = 10000000,
	.start_raw = START,
	.start_filetime = START,
};

/* One buffer with events at START + times[i], ids counted from `id`. */
static void buffer(struct etl_build *b, unsigned cpu, uint64_t sequence, unsigned id, const int *times, unsigned n)
{
	etl_build_begin(b, cpu, sequence);
	for (unsigned i = 0; i < n; i++) {
		etl_build_event(b, START + (uint64_t)times[i], id + i, 0);
	}
	etl_build_end(b, START + 1000000);
}
#define BUFFER(b, cpu, sequence, id, ...) \
	buffer(b, cpu, sequence, id, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

/* Reads all; ids in the order they come, the header left out. */
static unsigned read_ids(struct etl_build *b, uint32_t flags, unsigned *ids, unsigned cap)
{
	struct etl_reader *r;
	struct etl_record e;
	unsigned n = 0;
	assert_int_equal(etl_reader_open_memory(b->mem, (size_t)b->buffers * b->buffer_size, flags, &r, NULL), 0);
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.type, ETL_RT_SYSTEM64);
	while (etl_reader_next(r, &e) > 0) {
		assert_true(n < cap);
		ids[n++] = e.id;
	}
	etl_reader_close(r);
	return n;
}

static void expect_ids(struct etl_build *b, uint32_t flags, const unsigned *want, unsigned n)
{
	unsigned ids[64];
	assert_int_equal(read_ids(b, flags, ids, 64), n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(ids[i], want[i]);
	}
}
#define EXPECT(b, flags, ...) \
	expect_ids(b, flags, (const unsigned[]){__VA_ARGS__}, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void buffers_of_one_processor_that_overlap_are_merged(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 0, 1, 10, 100, 200, 300, 400);
	BUFFER(&b, 0, 2, 20, 150, 250, 350); /* what came late */
	BUFFER(&b, 0, 3, 30, 390, 500);
	BUFFER(&b, 1, 4, 40, 50, 160);
	EXPECT(&b, 0, 40, 10, 20, 41, 11, 21, 12, 22, 30, 13, 31);
	EXPECT(&b, ETL_READER_FILE_ORDER, 10, 11, 12, 13, 20, 21, 22, 30, 31, 40, 41);
	free(b.mem);
}

static void an_unsorted_buffer_is_sorted(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 0, 1, 10, 100, 300, 200, 300, 150);
	BUFFER(&b, 1, 2, 20, 120, 250);
	EXPECT(&b, 0, 10, 20, 14, 12, 21, 11, 13);
	free(b.mem);
}

static void equal_times_come_by_sequence_then_by_place(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 2, 3, 10, 100, 100);
	BUFFER(&b, 0, 2, 20, 90, 100, 100);
	BUFFER(&b, 1, 1, 30, 100);
	EXPECT(&b, 0, 20, 30, 21, 22, 10, 11);
	free(b.mem);
}

static void a_system_clock_that_was_set_back_keeps_the_order_of_the_buffer(void **state)
{
	struct etl_build_header h = header;
	h.clock_type = 2;
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	BUFFER(&b, 0, 1, 10, 100, 300, 200, 310);
	EXPECT(&b, 0, 10, 11, 12, 13);
	free(b.mem);
}

static void a_wrapped_circular_file_comes_in_order(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 0, 9, 10, 900, 950);
	BUFFER(&b, 0, 10, 20, 1000);
	BUFFER(&b, 0, 7, 30, 700);
	BUFFER(&b, 1, 8, 40, 690, 910);
	EXPECT(&b, 0, 40, 30, 10, 41, 11, 20);
	free(b.mem);
}

static void message(struct etl_build *b, unsigned id, uint64_t time)
{
	uint8_t *p = etl_build_record(b, time ? 16 : 8);
	etl_build_u16(p, time ? 16 : 8);
	etl_build_u16(p + 2, 0x9000);
	etl_build_u16(p + 4, id);
	etl_build_u16(p + 6, time ? 8 : 0);
	if (time) {
		etl_build_u64(p + 8, time);
	}
}

static void a_buffer_that_begins_with_messages_without_time_is_found_its_place(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 8192, &header);
	BUFFER(&b, 0, 1, 10, 100, 500);
	etl_build_begin(&b, 1, 2);
	for (unsigned i = 0; i < 300; i++) { /* more than a glance at the buffer covers */
		message(&b, 1000 + i, 0);
	}
	message(&b, 2000, START + 300);
	etl_build_end(&b, START + 600);
	etl_build_begin(&b, 1, 3); /* none at all: the time of the buffer */
	message(&b, 3000, 0);
	etl_build_end(&b, START + 400);
	unsigned ids[400];
	unsigned n = read_ids(&b, 0, ids, 400);
	assert_int_equal(n, 304);
	assert_int_equal(ids[0], 10);
	assert_int_equal(ids[1], 1000);
	assert_int_equal(ids[301], 2000);
	assert_int_equal(ids[302], 3000);
	assert_int_equal(ids[303], 11);
	free(b.mem);
}

static void damage_in_an_unsorted_buffer_is_told_and_the_rest_sorted(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 0, 1, 10, 300, 100, 200, 400);
	uint8_t *third = b.mem + 4096 + 0x48 + 3 * 0x58;
	etl_build_u32(third, 0x12345678);
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, 2 * 4096, 0, &r, NULL), 0);
	assert_int_equal(etl_reader_next(r, &e), 1);
	static const unsigned want[] = {11, 12, 10};
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, want[i]);
	}
	assert_int_equal(etl_reader_next(r, &e), 0);
	struct etl_problem p;
	assert_true(etl_reader_next_problem(r, &p));
	assert_int_equal(p.file_offset, 4096);
	assert_non_null(strstr(p.text, "0x12345678"));
	assert_false(etl_reader_next_problem(r, &p));
	etl_reader_close(r);
	free(b.mem);
}

/* A thousand buffers, each a step later than the one before and overlapping two: any order of
 * buffers in the file gives the same order of events. */
static void many_overlapping_buffers_in_any_file_order_come_sorted(void **state)
{
	enum { BUFFERS = 1000, EVENTS = 6 };
	struct etl_build b;
	etl_build_start(&b, 1024, &header);
	for (unsigned i = 0; i < BUFFERS; i++) {
		unsigned k = (i * 377) % BUFFERS;
		etl_build_begin(&b, k % 3, k + 1);
		for (unsigned e = 0; e < EVENTS; e++) {
			etl_build_event(&b, START + k * 10 + e * 4, 1, k);
		}
		etl_build_end(&b, START + k * 10 + 100);
	}
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, (size_t)b.buffers * 1024, 0, &r, NULL), 0);
	uint64_t last = 0;
	unsigned n = 0;
	for (; etl_reader_next(r, &e) > 0; n++) {
		assert_true(e.time_raw >= last);
		last = e.time_raw;
	}
	assert_int_equal(n, BUFFERS * EVENTS + 1);
	etl_reader_close(r);
	free(b.mem);
}

/* What a real-time session put aside: no header buffer; FILETIME and raw time stand in each. */
static void a_backing_file_has_its_clock_in_the_buffers_and_tells_losses(void **state)
{
	struct etl_build b = {.buffer_size = 4096};
	BUFFER(&b, 0, 5, 10, 100, 300);
	BUFFER(&b, 1, 6, 20, 200, 400);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *p = b.mem + i * 4096;
		etl_build_u64(p + 0x20, 1 | 1000000ull << 3);   /* QPC of 1 MHz */
		etl_build_u16(p + 0x34, 0x30 | (i ? 0x06 : 0)); /* and both kinds of loss */
		etl_build_u64(p + 0x38, 130000000000000000ull);
		etl_build_u64(p + 0x40, START);
	}
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, 2 * 4096, 0, &r, NULL), 0);
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 10);
	assert_int_equal(e.time_filetime, 130000000000000000ull + 1000); /* 100 us */
	assert_int_equal(e.cpu, 0);
	for (unsigned opcode = 32; opcode <= 33; opcode++) {
		char text[37];
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.opcode, opcode);
		assert_string_equal(guid_format(&e.provider, text), "6a399ae0-4bc6-4de9-870b-3657f8947e7e");
	}
	static const unsigned rest[] = {20, 11, 21};
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, rest[i]);
	}
	assert_int_equal(etl_reader_next(r, &e), 0);
	etl_reader_close(r);
	free(b.mem);
}

/* Layout 1.2: no type and no flags in buffer headers, a GUID where the sequence number is today. */
static void a_file_from_before_vista_is_read_by_time(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &header);
	BUFFER(&b, 1, 1, 10, 300, 400);
	BUFFER(&b, 0, 2, 20, 100, 350);
	etl_build_u32(b.mem + 0x68 + 4, 0x02010105); /* 5.1, layout 1.2 */
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *p = b.mem + i * 4096;
		etl_build_u32(p + 0x34, 0); /* events lost */
		memset(p + 0x18, 0xC7 + (int)i, 16);
		etl_build_u16(p + 0x28, i == 1 ? 0x0801 : 0x0800);
	}
	etl_build_u32(b.mem + 0x34, 0x12345678);
	etl_build_u32(b.mem + 2 * 4096 + 0x34, 77777);
	EXPECT(&b, 0, 20, 10, 21, 11);
	free(b.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_of_one_processor_that_overlap_are_merged),
		cmocka_unit_test(an_unsorted_buffer_is_sorted),
		cmocka_unit_test(equal_times_come_by_sequence_then_by_place),
		cmocka_unit_test(a_system_clock_that_was_set_back_keeps_the_order_of_the_buffer),
		cmocka_unit_test(a_wrapped_circular_file_comes_in_order),
		cmocka_unit_test(a_buffer_that_begins_with_messages_without_time_is_found_its_place),
		cmocka_unit_test(damage_in_an_unsorted_buffer_is_told_and_the_rest_sorted),
		cmocka_unit_test(a_backing_file_has_its_clock_in_the_buffers_and_tells_losses),
		cmocka_unit_test(a_file_from_before_vista_is_read_by_time),
		cmocka_unit_test(many_overlapping_buffers_in_any_file_order_come_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
