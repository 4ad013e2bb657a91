/* SPDX-License-Identifier: MIT
 * Columns of fields as they are written and read again.
 */
#include "query/query_field_store.h"
#include "query/query_test_index.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define ROWS 900u

static char folder[64];

static int begin(void **state)
{
	snprintf(folder, sizeof folder, "/tmp/openetw-fields-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

/* The same two files each time. */
static void open_index(struct test_index *t, uint32_t rows)
{
	test_random_state = 7;
	assert_int_equal(test_index_make(t, 2, 3, rows), 0);
	for (uint32_t f = 0; f < 2; f++) {
		assert_true(asprintf(&t->x.files[f].fields_path, "%s/%u.fields", folder, f) > 0);
	}
}

/* Groups of few values, of many, and of more than fit into a byte. What the row has: 0: it was not read; 1: no such
 * field; else this text. */
static uint32_t text_of(char ret[32], uint32_t file, uint32_t group, uint32_t row)
{
	uint32_t kinds = group == 0 ? 3 : group == 1 ? 700 : 100000;
	uint32_t n = (row * 2654435761u ^ file * 77u) % kinds;
	snprintf(ret, 32, group == 2 ? "value %u" : "%u", n);
	return row % 10;
}

static void fill(struct test_index *t, const char *name)
{
	struct field_column *c;
	char text[32];
	assert_int_equal(field_column_of(&t->x, name, &c), 0);
	for (uint32_t i = 0; i < 2 * 3 * ROWS; i++) {
		uint32_t f = i / (3 * ROWS), g = i / ROWS % 3, row = i % ROWS, what = text_of(text, f, g, row);
		uint32_t number = what == 0   ? FIELD_NOT_READ
				  : what == 1 ? FIELD_ABSENT
					      : field_number_of(c, text, strlen(text));
		field_set(c, f, g, row, number);
	}
	for (uint32_t f = 0; f < 2; f++) {
		field_set_of_type(c, f, 3, FIELD_OF_TYPE_NONE);
		field_set_of_type(c, f, 4, FIELD_OF_TYPE_MAY_BE);
	}
}

static void check(struct test_index *t, const char *name)
{
	struct field_column *c;
	char text[32];
	assert_int_equal(field_column_of(&t->x, name, &c), 0);
	for (uint32_t i = 0; i < 2 * 3 * ROWS; i++) {
		uint32_t f = i / (3 * ROWS), g = i / ROWS % 3, row = i % ROWS, what = text_of(text, f, g, row);
		uint32_t number = field_get(c, f, g, row);
		if (what < 2) {
			assert_int_equal(number, what == 0 ? FIELD_NOT_READ : FIELD_ABSENT);
		} else {
			assert_true(number >= FIELD_FIRST && number < field_numbers(c));
			assert_string_equal(field_value(c, number)->text, text);
		}
	}
	for (uint32_t f = 0; f < 2; f++) {
		assert_int_equal(field_of_type(c, f, 2), FIELD_OF_TYPE_UNKNOWN);
		assert_int_equal(field_of_type(c, f, 3), FIELD_OF_TYPE_NONE);
		assert_int_equal(field_of_type(c, f, 4), FIELD_OF_TYPE_MAY_BE);
	}
}

static void keep(struct test_index *t)
{
	field_columns_read(&t->x, FIELD_KEEP_AT_ONCE);
	field_columns_keep(&t->x, FIELD_KEEP_AT_ONCE);
}

static void what_was_read_of_a_field_is_there_the_next_time(void **state)
{
	struct test_index t;
	open_index(&t, ROWS);
	fill(&t, "Status");
	keep(&t);
	test_index_free(&t);
	open_index(&t, ROWS);
	check(&t, "Status");
	test_index_free(&t);
}

static void columns_that_nobody_asked_for_stay(void **state)
{
	struct test_index t;
	open_index(&t, ROWS);
	fill(&t, "Url");
	keep(&t);
	test_index_free(&t);
	open_index(&t, ROWS);
	check(&t, "Url");
	check(&t, "Status");
	test_index_free(&t);
}

/* Longer than what is written at once, as long, and many that are short. */
static void values_of_any_length_are_kept(void **state)
{
	static const size_t lengths[] = {1, 262143, 262144, 3, 262145, 600000, 2};
	char *text = malloc(600001);
	struct field_column *c;
	struct test_index t;
	assert_non_null(text);
	for (int twice = 0; twice < 2; twice++) {
		open_index(&t, ROWS);
		assert_int_equal(field_column_of(&t.x, "Long", &c), 0);
		for (uint32_t i = 0; i < ROWS; i++) {
			size_t n = lengths[i % BASE_ARRAY_LEN(lengths)];
			n = i < BASE_ARRAY_LEN(lengths) ? n : 6 + i % 20;
			memset(text, (int)('a' + i % 26), n);
			text[n] = 0;
			if (twice == 0) {
				field_set(c, 0, 0, i, field_number_of(c, text, n));
			} else {
				uint32_t number = field_get(c, 0, 0, i);
				assert_in_range(number, FIELD_FIRST, field_numbers(c) - 1);
				assert_int_equal(field_value(c, number)->length, n);
				assert_memory_equal(field_value(c, number)->text, text, n + 1);
			}
		}
		keep(&t);
		test_index_free(&t);
	}
	free(text);
}

static void little_is_not_worth_a_file(void **state)
{
	struct test_index t;
	struct stat before, after;
	open_index(&t, ROWS);
	assert_int_equal(stat(t.x.files[0].fields_path, &before), 0);
	fill(&t, "Other");
	field_columns_read(&t.x, FIELD_KEEP_AT_END - 1);
	field_columns_keep(&t.x, FIELD_KEEP_AT_END);
	assert_int_equal(stat(t.x.files[0].fields_path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	test_index_free(&t);
}

static void columns_of_another_index_are_not_taken(void **state)
{
	struct test_index t;
	struct field_column *c;
	open_index(&t, ROWS + 1);
	assert_int_equal(field_column_of(&t.x, "Status", &c), 0);
	assert_int_equal(field_get(c, 0, 0, 5), FIELD_NOT_READ);
	test_index_free(&t);
}

static uint64_t read_all(void)
{
	struct test_index t;
	struct field_column *c;
	uint64_t sum = 0;
	open_index(&t, ROWS);
	assert_int_equal(field_column_of(&t.x, "Status", &c), 0);
	for (uint32_t i = 0; i < 3 * ROWS; i += 7) {
		uint32_t number = field_get(c, 0, i / ROWS, i % ROWS);
		assert_true(number < field_numbers(c));
		sum += number >= FIELD_FIRST ? (uint8_t)field_value(c, number)->text[0] : 0;
	}
	test_index_free(&t);
	return sum;
}

/* Many places of the file, changed: it is refused, or what it says can be read without harm. */
static void no_damage_reads_outside(void **state)
{
	char path[96];
	uint64_t sum = 0, end;
	snprintf(path, sizeof path, "%s/0.fields", folder);
	FILE *f = fopen(path, "r+");
	uint8_t *good = malloc(1 << 20);
	assert_non_null(f);
	assert_non_null(good);
	size_t n = fread(good, 1, 1 << 20, f);
	assert_true(n > STORE_PAGE && n < 1 << 20);
	memcpy(&end, good + offsetof(struct store_header, directory_at), sizeof end);
	for (size_t at = 0; at < n; at += at < 96 ? 1 : at >= end ? 5 : at < STORE_PAGE ? 997 : 611) {
		uint8_t was = good[at];
		good[at] ^= at % 2 ? 0xFF : 0x04;
		assert_int_equal(pwrite(fileno(f), &good[at], 1, (off_t)at), 1);
		if (at >= end) { /* as somebody does it who means it */
			uint32_t check = store_check(good + end, n - end);
			assert_int_equal(pwrite(fileno(f), &check, 4, offsetof(struct store_header, directory_check)),
					 4);
		}
		sum += read_all();
		good[at] = was;
		assert_int_equal(pwrite(fileno(f), good, STORE_PAGE, 0), STORE_PAGE);
		assert_int_equal(pwrite(fileno(f), &was, 1, (off_t)at), 1);
	}
	assert_true(sum > 0);
	free(good);
	fclose(f);
}

#define CROWD 800u

/* Gives file 0 many more columns that all have the cells and texts of column 1: their sections are the same bytes.
 * Each has a name of its own, or all have one name. */
static void crowd(bool own_names, uint32_t count)
{
	struct test_index t;
	struct store s;
	struct diag d = {0};
	uint64_t bytes, n;
	open_index(&t, ROWS);
	const char *path = t.x.files[0].fields_path;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(store_open_fields(dup(fd), NULL, &s, &d), 0);
	struct store_header h;
	memcpy(&h, s.map, sizeof h);
	uint32_t all = s.directory_count + count * 6;
	struct store_section *list = calloc(all, sizeof *list);
	struct {
		struct store_field h;
		char name[16];
	} *heads = calloc(count, sizeof *heads);
	assert_non_null(list);
	assert_non_null(heads);
	memcpy(list, s.directory, s.directory_count * sizeof *list);
	uint64_t end = BASE_ALIGN8(s.map_bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct store_section *to = &list[s.directory_count + i * 6];
		memcpy(&heads[i].h, store_section(&s, STORE_FIELD, 1, &bytes, &n), sizeof heads[i].h);
		heads[i].h.name_bytes = sizeof heads[i].name;
		snprintf(heads[i].name, sizeof heads[i].name, "c%u", own_names ? i : 0);
		to[0] = (struct store_section){STORE_FIELD, 1000 + i, end + i * sizeof *heads, sizeof *heads, 1};
		for (uint32_t kind = STORE_FIELD_TYPES; kind <= STORE_FIELD_CELLS; kind++) {
			const uint8_t *p = store_section(&s, kind, 1, &bytes, &n);
			to[kind - STORE_FIELD] =
				(struct store_section){kind, 1000 + i, (uint64_t)(p - s.map), bytes, n};
		}
	}
	h.directory_at = end + count * sizeof *heads;
	h.directory_count = all;
	h.directory_check = store_check(list, all * sizeof *list);
	assert_true(pwrite(fd, heads, count * sizeof *heads, (off_t)end) == (ssize_t)(count * sizeof *heads));
	assert_true(pwrite(fd, list, all * sizeof *list, (off_t)h.directory_at) == (ssize_t)(all * sizeof *list));
	assert_int_equal(pwrite(fd, &h, sizeof h, 0), sizeof h);
	free(heads);
	free(list);
	store_close(&s);
	close(fd);
	test_index_free(&t);
}

/* The bytes of file 0 before and after one more column was written into it. */
static void keep_one_more(const char *name, off_t *ret_before, off_t *ret_after)
{
	struct test_index t;
	struct stat st;
	open_index(&t, ROWS);
	assert_int_equal(stat(t.x.files[0].fields_path, &st), 0);
	*ret_before = st.st_size;
	fill(&t, name);
	keep(&t);
	assert_int_equal(stat(t.x.files[0].fields_path, &st), 0);
	*ret_after = st.st_size;
	test_index_free(&t);
}

/* A column like the others is what the file may grow by. */
static void a_file_does_not_grow_by_columns_that_share_their_bytes(void **state)
{
	struct test_index t;
	off_t before, after;
	for (uint32_t own_names = 0; own_names < 2; own_names++) {
		crowd(own_names, CROWD);
		keep_one_more(own_names ? "Second" : "First", &before, &after);
		assert_true(after < 2 * before);
	}
	open_index(&t, ROWS);
	check(&t, "Status");
	check(&t, "First");
	check(&t, "Second");
	test_index_free(&t);
}

static void a_file_with_more_sections_than_there_can_be_is_written_anew(void **state)
{
	struct test_index t;
	off_t before, after;
	crowd(true, 1500);
	keep_one_more("Third", &before, &after);
	assert_true(after < before);
	open_index(&t, ROWS);
	check(&t, "Third");
	test_index_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_of_a_field_is_there_the_next_time),
		cmocka_unit_test(columns_that_nobody_asked_for_stay),
		cmocka_unit_test(little_is_not_worth_a_file),
		cmocka_unit_test(columns_of_another_index_are_not_taken),
		cmocka_unit_test(no_damage_reads_outside),
		cmocka_unit_test(a_file_does_not_grow_by_columns_that_share_their_bytes),
		cmocka_unit_test(a_file_with_more_sections_than_there_can_be_is_written_anew),
		cmocka_unit_test(values_of_any_length_are_kept), /* last: its file is large */
	};
	return cmocka_run_group_tests(tests, begin, end);
}
