/* SPDX-License-Identifier: MIT */
#include "tools/tables/table_build.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct sql_column *column(const struct sql_columns *t, const char *name)
{
	for (uint32_t i = 0; i < t->head->columns; i++) {
		if (strcmp(t->column[i].name, name) == 0) {
			return &t->column[i];
		}
	}
	return NULL;
}

static bool is_null(const struct sql_columns *t, const struct sql_column *c, uint64_t row)
{
	const uint64_t *valid = (const void *)(t->map + c->valid_at);
	return c->valid_at && !(valid[row / 64] >> (row % 64) & 1);
}

static void text_of(const struct sql_columns *t, const struct sql_column *c, uint64_t row, char *out, size_t cap)
{
	uint32_t i = ((const uint32_t *)(const void *)(t->map + c->at))[row];
	assert_true(i < t->head->texts);
	snprintf(out, cap, "%.*s", (int)(t->text_at[i + 1] - t->text_at[i]), t->text_bytes + t->text_at[i]);
}

static void a_table_is_read_as_it_was_made(void **state)
{
	struct table_build *b = table_build_create();
	struct sql_columns t;
	char text[40];
	int n = table_build_column(b, "n", SQL_TYPE_I16), s = table_build_column(b, "s", SQL_TYPE_TEXT);
	for (int i = 0; i < 1000; i++) {
		table_build_number(b, n, (uint64_t)(int64_t)-i);
		if (i % 3) {
			snprintf(text, sizeof text, "text %d", i % 7);
			table_build_text(b, s, text, strlen(text));
		}
		if (i == 500) { /* late, and once */
			table_build_float(b, table_build_column(b, "late", SQL_TYPE_F64), 0.5);
		}
		table_build_row(b);
	}
	int fd = table_build_finish(b);
	assert_true(fd >= 0);
	assert_int_equal(sql_columns_map(fd, &t), 0);
	assert_int_equal(t.head->rows, 1000);
	assert_int_equal(t.head->texts, 8); /* each once, and "" */
	assert_int_equal(((const int16_t *)(const void *)(t.map + column(&t, "n")->at))[999], -999);
	assert_int_equal(column(&t, "n")->valid_at, 0);
	assert_true(is_null(&t, column(&t, "s"), 999));
	assert_false(is_null(&t, column(&t, "s"), 998));
	text_of(&t, column(&t, "s"), 998, text, sizeof text);
	assert_string_equal(text, "text 4");
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(is_null(&t, column(&t, "late"), i), i != 500);
	}
	/* Nobody changes it any more. */
	assert_int_equal(ftruncate(fd, 1), -1);
	sql_columns_unmap(&t);
	close(fd);
}

static void names_of_columns_are_the_same_in_any_case(void **state)
{
	struct table_build *b = table_build_create();
	int first = table_build_column(b, "Time", SQL_TYPE_I64), second = table_build_column(b, "time", SQL_TYPE_I64);
	assert_int_equal(table_build_find(b, "TIME", 4), first);
	assert_int_equal(table_build_find(b, "time_2", 6), second);
	assert_int_equal(table_build_find(b, "tim", 3), -1);
	table_build_destroy(b);
}

static void a_text_makes_a_column_of_numbers_one_of_texts(void **state)
{
	static const struct guid g = {
		{0x14, 0xc6, 0xd6, 0x0a, 0xf4, 0x0e, 0x25, 0x42, 0x80, 0x13, 0xf4, 0x4f, 0x37, 0xcb, 0x03, 0x97}};
	struct table_build *b = table_build_create();
	struct sql_columns t;
	char text[64];
	int n = table_build_column(b, "n", SQL_TYPE_I8), u = table_build_column(b, "u", SQL_TYPE_UUID);
	table_build_number(b, n, (uint64_t)-5ll);
	table_build_guid(b, u, &g);
	table_build_row(b);
	table_build_text(b, n,
			 "a\xFF"
			 "b",
			 3);
	table_build_text(b, u, "none", 4);
	table_build_row(b);
	int fd = table_build_finish(b);
	assert_int_equal(sql_columns_map(fd, &t), 0);
	text_of(&t, column(&t, "n"), 0, text, sizeof text);
	assert_string_equal(text, "-5");
	text_of(&t, column(&t, "n"), 1, text, sizeof text);
	assert_string_equal(text, "a\xEF\xBF\xBD"
				  "b");
	text_of(&t, column(&t, "u"), 0, text, sizeof text);
	assert_string_equal(text, "0ad6c614-0ef4-4225-8013-f44f37cb0397");
	sql_columns_unmap(&t);
	close(fd);
}

static void a_damaged_table_is_refused_or_stays_within_its_bytes(void **state)
{
	struct table_build *b = table_build_create();
	int n = table_build_column(b, "n", SQL_TYPE_U32), s = table_build_column(b, "s", SQL_TYPE_TEXT);
	table_build_number(b, n, 1);
	table_build_row(b);
	table_build_text(b, s, "one", 3);
	table_build_row(b);
	int fd = table_build_finish(b);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)size);
	assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
	close(fd);
	unsigned refused = 0;
	for (off_t i = 0; i < size; i++) {
		static const uint8_t flips[] = {0xFF, 0x01, 0x80};
		for (size_t f = 0; f < BASE_ARRAY_LEN(flips); f++) {
			struct sql_columns t;
			fd = memfd_create("damaged", MFD_CLOEXEC);
			bytes[i] ^= flips[f];
			assert_int_equal(pwrite(fd, bytes, (size_t)size, 0), size);
			bytes[i] ^= flips[f];
			if (sql_columns_map(fd, &t) < 0) {
				refused++;
			} else {
				for (uint32_t c = 0; c < t.head->columns; c++) {
					const uint8_t *end = t.map + t.column[c].at +
							     t.head->rows * sql_type_bytes(t.column[c].type);
					assert_true(end <= t.map + t.map_bytes);
				}
				sql_columns_unmap(&t);
			}
			close(fd);
		}
	}
	assert_true(refused > 100);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_table_is_read_as_it_was_made),
					   cmocka_unit_test(names_of_columns_are_the_same_in_any_case),
					   cmocka_unit_test(a_text_makes_a_column_of_numbers_one_of_texts),
					   cmocka_unit_test(a_damaged_table_is_refused_or_stays_within_its_bytes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
