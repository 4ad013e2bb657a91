/* SPDX-License-Identifier: MIT
 *
 * Kinds of records and files that no real file at hand contains, made by hand from the description
 * of the format: compact, instance, message, 32-bit perfinfo, error records; clocks 2 and 3;
 * wrapped circular, appended and preallocated files.
 */
#include "etl/etl_reader.h"

#include "../../tests/corpus/etl_build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define START_RAW      1000000ull
#define START_FILETIME 130000000000000000ull

static const struct etl_build_header plain = {
	.clock_type = 1,
	.perf_freq = 1000000000,
	.cpu_mhz = 2000,
	.start_raw = START_RAW,
	.start_filetime = START_FILETIME,
};

/* Opens what was built; the header record has been taken. */
static struct etl_reader *open_built(const struct etl_build *b)
{
	struct etl_reader *r;
	struct diag d;
	diag_clear(&d);
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b->mem, (size_t)b->buffers * b->buffer_size, 0, &r, &d), 0);
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.type, ETL_RT_SYSTEM64);
	assert_int_equal(e.hook, 0);
	return r;
}

static void expect_end(struct etl_reader *r, struct etl_build *b)
{
	struct etl_record e;
	struct etl_problem p;
	assert_int_equal(etl_reader_next(r, &e), 0);
	assert_false(etl_reader_next_problem(r, &p));
	etl_reader_close(r);
	free(b->mem);
}

static void expect_class(const struct etl_record *e, const char *want)
{
	char text[37];
	assert_string_equal(guid_format(&e->provider, text), want);
}

static void the_header_tells_names_and_clock(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	struct etl_reader *r = open_built(&b);
	const struct etl_file_info *i = etl_reader_info(r);
	assert_int_equal(i->logger_name_units, 1);
	assert_memory_equal(i->logger_name, "S\0", 2);
	assert_int_equal(i->file_name_units, 5);
	assert_memory_equal(i->file_name, "f\0.\0e\0t\0l\0", 10);
	assert_int_equal(i->timer_resolution, 156250);
	assert_int_equal(i->start_raw, START_RAW);
	assert_int_equal(i->os_build, 19045);
	assert_true(i->stopped_cleanly);
	expect_end(r, &b);
}

static void compact_records_have_ids_and_no_cpu_times(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 3, 1);
	for (unsigned type = 3; type <= 4; type++) {
		uint8_t *p = etl_build_record(&b, 0x18 + 4);
		etl_build_u16(p, 2);
		etl_build_u16(p + 2, 0xC000 | type);
		etl_build_u16(p + 4, 0x18 + 4);
		etl_build_u16(p + 6, 0x0501); /* thread start */
		etl_build_u32(p + 8, 77);
		etl_build_u32(p + 12, 66);
		etl_build_u64(p + 16, START_RAW + 100);
		etl_build_u32(p + 24, 0x11223344);
	}
	etl_build_end(&b, START_RAW + 200);
	struct etl_reader *r = open_built(&b);
	for (unsigned type = 3; type <= 4; type++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.type, type);
		assert_int_equal(e.tid, 77);
		assert_int_equal(e.pid, 66);
		assert_int_equal(e.hook, 0x0501);
		assert_int_equal(e.opcode, 1);
		assert_int_equal(e.version, 2);
		assert_int_equal(e.cpu, 3);
		assert_int_equal(e.pointer_size, type == 3 ? 4 : 8);
		assert_int_equal(e.event_flags, 0x0200 | 0x0100 | 0x0010 | (type == 3 ? 0x20 : 0x40));
		assert_int_equal(e.time_filetime, START_FILETIME + 1); /* 100 ns */
		assert_int_equal(e.payload_bytes, 4);
		assert_int_equal(le32_get(e.payload), 0x11223344);
		expect_class(&e, "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
	}
	expect_end(r, &b);
}

static void perfinfo_records_have_no_ids_and_keep_counters_apart(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	for (unsigned type = 0x10; type <= 0x11; type++) {
		uint8_t *p = etl_build_record(&b, 0x10 + 24 + 4);
		etl_build_u16(p, 0x8202); /* PEBS index, two counters, version 2 */
		etl_build_u16(p + 2, 0xC000 | type);
		etl_build_u16(p + 4, 0x10 + 24 + 4);
		etl_build_u16(p + 6, 0x0F2E);
		etl_build_u64(p + 8, START_RAW + 50);
		etl_build_u64(p + 16, 5);
		etl_build_u64(p + 24, 6);
		etl_build_u64(p + 32, 7);
		etl_build_u32(p + 40, 99);
	}
	etl_build_end(&b, START_RAW + 200);
	struct etl_reader *r = open_built(&b);
	for (unsigned type = 0x10; type <= 0x11; type++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.type, type);
		assert_int_equal(e.pid, UINT32_MAX);
		assert_int_equal(e.tid, UINT32_MAX);
		assert_int_equal(e.version, 2);
		assert_int_equal(e.counters_count, 3);
		assert_true(e.counters_pebs);
		assert_int_equal(le64_get(e.counters), 5);
		assert_int_equal(e.payload_bytes, 4);
		assert_int_equal(le32_get(e.payload), 99);
		expect_class(&e, "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc");
	}
	expect_end(r, &b);
}

static void image_load_hook_belongs_to_the_image_class(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	static const uint16_t hooks[] = {0x030A, 0x030B, 0x1E01, 0x1F01};
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *p = etl_build_record(&b, 0x20);
		etl_build_u32(p, 0xC0020002u);
		etl_build_u16(p + 4, 0x20);
		etl_build_u16(p + 6, hooks[i]);
		etl_build_u64(p + 16, START_RAW + i);
		etl_build_u32(p + 24, 3);
		etl_build_u32(p + 28, 4);
	}
	etl_build_end(&b, START_RAW + 9);
	static const char *const classes[] = {
		"2cb15d1d-5fc1-11d2-abe1-00a0c911f518",
		"3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
		"2ce9a149-effe-42f0-a635-a1d39e26c8f2",
		"00000000-0000-0000-0000-000000000000",
	};
	struct etl_reader *r = open_built(&b);
	for (unsigned i = 0; i < 4; i++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		expect_class(&e, classes[i]);
		assert_int_equal(e.kernel_time, 3);
		assert_int_equal(e.user_time, 4);
	}
	expect_end(r, &b);
}

static void instance_records_carry_ids_of_themselves_and_their_parent(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 1, 1);
	for (unsigned type = 0x0B; type <= 0x15; type += 0x0A) {
		uint8_t *p = etl_build_record(&b, 0x48 + 3);
		etl_build_u16(p, 0x48 + 3);
		etl_build_u16(p + 2, 0xC000 | type);
		p[4] = 1;
		p[5] = 5;
		etl_build_u16(p + 6, 2);
		etl_build_u32(p + 8, 31);
		etl_build_u32(p + 12, 30);
		etl_build_u64(p + 16, START_RAW);
		memset(p + 0x18, 0x55, 16);
		etl_build_u32(p + 0x30, 1001);
		etl_build_u32(p + 0x34, 1000);
		memset(p + 0x38, 0x66, 16);
		memcpy(p + 0x48, "xyz", 3);
	}
	etl_build_end(&b, START_RAW);
	struct etl_reader *r = open_built(&b);
	for (unsigned i = 0; i < 2; i++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.opcode, 1);
		assert_int_equal(e.level, 5);
		assert_int_equal(e.version, 2);
		assert_int_equal(e.instance_id, 1001);
		assert_int_equal(e.parent_instance_id, 1000);
		expect_class(&e, "55555555-5555-5555-5555-555555555555");
		assert_int_equal(e.parent_guid.b[7], 0x66);
		assert_int_equal(e.payload_bytes, 3);
		assert_memory_equal(e.payload, "xyz", 3);
		assert_int_equal(e.event_flags, 0x0200 | 0x0100 | (i == 0 ? 0x20 : 0x40));
	}
	expect_end(r, &b);
}

static void messages_are_parsed_field_by_field(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	/* the usual set: sequence, GUID, time, system information, 64 bit */
	uint8_t *p = etl_build_record(&b, 0x2C + 6);
	etl_build_u16(p, 0x2C + 6);
	etl_build_u16(p + 2, 0x9000);
	etl_build_u16(p + 4, 17);
	etl_build_u16(p + 6, 0x2B | 0x80);
	etl_build_u32(p + 8, 5);
	memset(p + 12, 0x77, 16);
	etl_build_u64(p + 0x1C, START_RAW + 1000);
	etl_build_u32(p + 0x24, 41);
	etl_build_u32(p + 0x28, 40);
	memcpy(p + 0x2C, "hello", 6);
	/* no fields at all: takes the time of its neighbour */
	p = etl_build_record(&b, 8 + 2);
	etl_build_u16(p, 8 + 2);
	etl_build_u16(p + 2, 0x9000);
	etl_build_u16(p + 4, 18);
	etl_build_u16(p + 6, 0x40);
	memcpy(p + 8, "zz", 2);
	etl_build_end(&b, START_RAW + 5000);
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.type, ETL_RT_MESSAGE);
	assert_int_equal(e.id, 17);
	assert_int_equal(e.sequence, 5);
	assert_int_equal(e.tid, 41);
	assert_int_equal(e.pid, 40);
	assert_int_equal(e.time_filetime, START_FILETIME + 10);
	assert_int_equal(e.event_flags, 0x0200 | 0x0100 | 0x0008 | 0x0040);
	expect_class(&e, "77777777-7777-7777-7777-777777777777");
	assert_int_equal(e.payload_bytes, 6);
	assert_memory_equal(e.payload, "hello", 6);
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 18);
	assert_int_equal(e.time_raw, START_RAW + 1000);
	assert_int_equal(e.time_filetime, START_FILETIME + 10);
	assert_int_equal(e.pid, UINT32_MAX);
	assert_int_equal(e.pointer_size, 4);
	assert_int_equal(e.payload_bytes, 2);
	expect_end(r, &b);
}

static void a_message_without_time_does_not_hold_up_its_buffer(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	uint8_t *p = etl_build_record(&b, 8);
	etl_build_u16(p, 8);
	etl_build_u16(p + 2, 0x9000);
	etl_build_event(&b, START_RAW + 10, 1, 0);
	etl_build_end(&b, START_RAW + 90000);
	etl_build_begin(&b, 1, 2);
	etl_build_event(&b, START_RAW + 20, 2, 0);
	etl_build_end(&b, START_RAW + 90000);
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.type, ETL_RT_MESSAGE);
	assert_int_equal(e.time_raw, START_RAW + 10);
	for (unsigned id = 1; id <= 2; id++) {
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, id);
	}
	expect_end(r, &b);
}

static void error_records_are_stepped_over(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	etl_build_event(&b, START_RAW, 1, 0);
	uint8_t *p = etl_build_record(&b, 0x50 + 9);
	etl_build_u16(p, 0x50 + 9);
	etl_build_u16(p + 2, 0xC00D);
	etl_build_event(&b, START_RAW, 2, 0);
	etl_build_end(&b, START_RAW);
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	for (unsigned id = 1; id <= 2; id++) {
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, id);
	}
	expect_end(r, &b);
}

static void each_clock_becomes_filetime_by_its_own_rule(void **state)
{
	static const struct {
		uint32_t clock;
		uint64_t freq, raw, want;
	} cases[] = {
		{1, 10000000, START_RAW + 3, START_FILETIME + 3},
		{1, 1818300, START_RAW + 1818300ull * 3 + 1, START_FILETIME + 30000005},
		{1, 1000000000, START_RAW + 199, START_FILETIME + 1},
		{1, 1000000000, START_RAW - 199, START_FILETIME - 1},
		{1, 3000000000000ull, START_RAW + 3000000000000ull * 1000 + 2999999999999ull,
		 START_FILETIME + 10009999999ull},
		{2, 10000000, START_FILETIME + 12345, START_FILETIME + 12345},
		{3, 10000000, START_RAW + 2000ull * 1000000, START_FILETIME + 10000000},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct etl_build_header h = plain;
		h.clock_type = cases[i].clock;
		h.perf_freq = cases[i].freq;
		if (h.clock_type == 2) {
			h.start_raw = START_FILETIME;
		}
		struct etl_build b;
		etl_build_start(&b, 4096, &h);
		etl_build_begin(&b, 0, 1);
		etl_build_event(&b, cases[i].raw, 1, 0);
		etl_build_end(&b, cases[i].raw);
		struct etl_reader *r = open_built(&b);
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.time_raw, cases[i].raw);
		assert_int_equal(e.time_filetime, cases[i].want);
		expect_end(r, &b);
	}
}

static void a_wrapped_circular_file_is_read_by_sequence(void **state)
{
	struct etl_build_header h = plain;
	h.mode = 2;
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	static const unsigned order[] = {7, 8, 4, 5, 6}; /* 1..3 were overwritten */
	for (unsigned i = 0; i < 5; i++) {
		etl_build_begin(&b, 0, order[i]);
		etl_build_event(&b, START_RAW + order[i], order[i], 0);
		etl_build_end(&b, START_RAW + order[i]);
	}
	struct etl_reader *r = open_built(&b);
	for (unsigned id = 4; id <= 8; id++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, id);
	}
	expect_end(r, &b);
}

static void an_appended_session_follows_the_first(void **state)
{
	struct etl_build_header h = plain;
	h.mode = 4;
	h.clock_type = 2;
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	static const unsigned sequence[] = {1, 2, 1, 2}, id[] = {1, 2, 3, 4};
	for (unsigned i = 0; i < 4; i++) {
		etl_build_begin(&b, 0, sequence[i]);
		etl_build_event(&b, START_FILETIME + id[i], id[i], 0);
		etl_build_end(&b, START_FILETIME + id[i]);
	}
	struct etl_reader *r = open_built(&b);
	for (unsigned i = 0; i < 4; i++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, id[i]);
	}
	expect_end(r, &b);
}

static void space_set_aside_and_never_written_is_one_problem(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	etl_build_event(&b, START_RAW, 1, 0);
	etl_build_end(&b, START_RAW);
	for (unsigned i = 0; i < 3; i++) {
		etl_build_begin(&b, 0, 0);
		memset(etl_build_here(&b), 0, 4096);
		b.buffers++;
	}
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	struct etl_problem p;
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(etl_reader_next(r, &e), 0);
	assert_true(etl_reader_next_problem(r, &p));
	assert_int_equal(p.file_offset, 2 * 4096);
	expect_end(r, &b);
}

static void streams_merge_by_time_and_then_by_sequence(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	/* the slowest processor's buffer stands last and holds the earliest event */
	static const struct {
		unsigned cpu, sequence, time[2], id[2];
	} buffers[] = {{5, 2, {30, 50}, {3, 6}}, {2, 3, {30, 40}, {4, 5}}, {9, 1, {10, 20}, {1, 2}}};
	for (unsigned i = 0; i < 3; i++) {
		etl_build_begin(&b, buffers[i].cpu, buffers[i].sequence);
		for (unsigned k = 0; k < 2; k++) {
			etl_build_event(&b, START_RAW + buffers[i].time[k], buffers[i].id[k], 0);
		}
		etl_build_end(&b, START_RAW + 100);
	}
	struct etl_reader *r = open_built(&b);
	for (unsigned id = 1; id <= 6; id++) {
		struct etl_record e;
		assert_int_equal(etl_reader_next(r, &e), 1);
		assert_int_equal(e.id, id);
	}
	expect_end(r, &b);
}

static void a_damaged_record_ends_its_buffer_only(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	etl_build_event(&b, START_RAW + 1, 1, 0);
	etl_build_u16(etl_build_event(&b, START_RAW + 2, 2, 0), 0x4F); /* shorter than its header */
	etl_build_event(&b, START_RAW + 3, 3, 0);
	etl_build_end(&b, START_RAW + 3);
	etl_build_begin(&b, 0, 2);
	etl_build_event(&b, START_RAW + 4, 4, 0);
	etl_build_end(&b, START_RAW + 4);
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	struct etl_problem p;
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 1);
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 4);
	assert_int_equal(etl_reader_next(r, &e), 0);
	assert_true(etl_reader_next_problem(r, &p));
	assert_int_equal(p.file_offset, 4096);
	assert_non_null(strstr(p.text, "at byte 160 ")); /* 0x48 + 0x58 */
	expect_end(r, &b);
}

static void things_that_are_no_trace_are_refused_with_words(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	for (unsigned kind = 0; kind < 4; kind++) {
		uint8_t *copy = malloc(4096);
		memcpy(copy, b.mem, 4096);
		size_t n = 4096;
		switch (kind) {
		case 0: n = 0; break;
		case 1: copy[0x36] = 0; break;
		case 2: copy[0x4B] = 0x40; break;
		default: etl_build_u16(copy + 0x4C, 0xFFFF); break;
		}
		struct etl_reader *r = NULL;
		struct diag d;
		diag_clear(&d);
		assert_int_equal(etl_reader_open_memory(copy, n, 0, &r, &d), -EBADMSG);
		assert_null(r);
		assert_true(d.text[0] != 0);
		free(copy);
	}
	free(b.mem);
	struct etl_reader *r = NULL;
	assert_int_equal(etl_reader_open("/nowhere/at/all.etl", 0, &r, NULL), -ENOENT);
	assert_int_equal(etl_reader_open("/", 0, &r, NULL), -EISDIR);
}

static void broken_extended_items_cost_the_items_not_the_event(void **state)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &plain);
	etl_build_begin(&b, 0, 1);
	uint8_t *p = etl_build_record(&b, 0x50 + 24);
	etl_build_u16(p, 0x50 + 24);
	etl_build_u16(p + 2, 0xC013);
	etl_build_u16(p + 4, 1);
	etl_build_u64(p + 0x10, START_RAW + 1);
	etl_build_u16(p + 0x28, 9);
	etl_build_u16(p + 0x50, 400); /* passes the end of the record */
	etl_build_u16(p + 0x52, 1);
	etl_build_u16(p + 0x56, 16);
	etl_build_event(&b, START_RAW + 2, 10, 0);
	etl_build_end(&b, START_RAW + 2);
	struct etl_reader *r = open_built(&b);
	struct etl_record e;
	struct etl_problem problem;
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 9);
	assert_null(e.items);
	assert_int_equal(e.payload_bytes, 0);
	assert_true(etl_reader_next_problem(r, &problem));
	assert_int_equal(etl_reader_next(r, &e), 1);
	assert_int_equal(e.id, 10);
	expect_end(r, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_tells_names_and_clock),
		cmocka_unit_test(compact_records_have_ids_and_no_cpu_times),
		cmocka_unit_test(perfinfo_records_have_no_ids_and_keep_counters_apart),
		cmocka_unit_test(image_load_hook_belongs_to_the_image_class),
		cmocka_unit_test(instance_records_carry_ids_of_themselves_and_their_parent),
		cmocka_unit_test(messages_are_parsed_field_by_field),
		cmocka_unit_test(a_message_without_time_does_not_hold_up_its_buffer),
		cmocka_unit_test(error_records_are_stepped_over),
		cmocka_unit_test(each_clock_becomes_filetime_by_its_own_rule),
		cmocka_unit_test(a_wrapped_circular_file_is_read_by_sequence),
		cmocka_unit_test(an_appended_session_follows_the_first),
		cmocka_unit_test(space_set_aside_and_never_written_is_one_problem),
		cmocka_unit_test(streams_merge_by_time_and_then_by_sequence),
		cmocka_unit_test(a_damaged_record_ends_its_buffer_only),
		cmocka_unit_test(things_that_are_no_trace_are_refused_with_words),
		cmocka_unit_test(broken_extended_items_cost_the_items_not_the_event),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
