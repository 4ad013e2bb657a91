/* SPDX-License-Identifier: MIT
 * An index as it is written and read again.
 */
#include "query/query_store.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static const struct store_key KEY = {.trace_bytes = 4096, .trace_mtime = 7, .trace_hash = "of a trace"};

static void must_write(struct store_writer *w, uint32_t kind, const void *p, uint64_t each, uint64_t count)
{
	assert_int_equal(store_write_section(w, kind, 0, p, each * count, count), 0);
}

/* What every index has. */
static void write_rest(struct store_writer *w, uint64_t rows)
{
	struct store_about about = {.rows = rows};
	must_write(w, STORE_ABOUT, &about, sizeof about, 1);
	must_write(w, STORE_TYPES, &(struct store_type[3]){{.id = 0}, {.id = 1}, {.id = 2}}, sizeof(struct store_type),
		   3);
	must_write(w, STORE_PROCESSES, &(struct store_process[2]){{.pid = 0}}, sizeof(struct store_process), 2);
	must_write(w, STORE_THREADS, &(struct store_thread[1]){{.tid = 0}}, sizeof(struct store_thread), 1);
	must_write(w, STORE_STRINGS, "\0name", 1, 6);
}

static struct store_rows *some_rows(uint32_t n, int64_t from, int64_t step)
{
	struct store_rows *r = calloc(1, sizeof *r);
	assert_non_null(r);
	for (uint32_t i = 0; i < n; i++) {
		r->time[i] = from + step * i;
		r->type[i] = i % 3;
		r->process[i] = i % 2;
		r->where[i] = (uint64_t)i << 32 | 64;
		r->cpu[i] = (uint16_t)(i % 5);
	}
	r->rows = n;
	return r;
}

static int made(uint32_t groups, uint32_t rows, int64_t step)
{
	int fd = memfd_create("index", MFD_CLOEXEC);
	assert_true(fd >= 0);
	struct store_writer *w;
	assert_int_equal(store_writer_create(fd, &KEY, &w), 0);
	for (uint32_t i = 0; i < groups; i++) {
		struct store_rows *r = some_rows(rows, -5 + step * (int64_t)rows * i, step);
		assert_int_equal(store_write_group(w, r), 0);
		free(r);
	}
	write_rest(w, (uint64_t)groups * rows);
	assert_int_equal(store_writer_commit(w), 0);
	store_writer_destroy(w);
	return fd;
}

static void rows_come_back_as_they_were(void **state)
{
	struct store s;
	struct diag d = {0};
	assert_int_equal(store_open(made(3, 1000, 10), &KEY, &s, &d), 0);
	assert_int_equal(s.group_count, 3);
	struct store_columns c;
	store_columns_of(&s, 1, &c);
	assert_int_equal(c.rows, 1000);
	assert_non_null(c.time4);
	assert_null(c.stack);
	for (uint32_t i = 0; i < c.rows; i++) {
		assert_int_equal(store_time(&c, i), -5 + 10000 + 10 * (int64_t)i);
		assert_int_equal(store_type_at(&c, i), i % 3);
		assert_int_equal(store_process_at(&c, i), i % 2);
		assert_int_equal(c.cpu[i], i % 5);
		assert_int_equal(c.where[i], (uint64_t)i << 32 | 64);
	}
	assert_string_equal(store_string(&s, 1), "name");
	assert_string_equal(store_string(&s, 99), "");
	store_close(&s);
}

static void a_group_of_hours_has_wide_times(void **state)
{
	struct store s;
	struct diag d = {0};
	assert_int_equal(store_open(made(1, 3, 10000000000), &KEY, &s, &d), 0);
	struct store_columns c;
	store_columns_of(&s, 0, &c);
	assert_non_null(c.time8);
	assert_int_equal(store_time(&c, 2), 20000000000 - 5);
	store_close(&s);
}

static void the_summary_of_a_group_counts_its_rows(void **state)
{
	struct store s;
	struct diag d = {0};
	uint64_t bytes, count;
	assert_int_equal(store_open(made(2, 1000, 10), &KEY, &s, &d), 0);
	const struct store_count *t = store_section(&s, STORE_TYPE_COUNTS, 0, &bytes, &count);
	const struct store_group *g = &s.groups[1];
	assert_int_equal(g->type_count_rows, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(t[g->type_counts + i].id, i);
		assert_int_equal(t[g->type_counts + i].rows, i == 0 ? 334 : 333);
	}
	store_close(&s);
}

static void a_stack_that_comes_late_finds_its_row(void **state)
{
	int fd = memfd_create("index", MFD_CLOEXEC);
	struct store_writer *w;
	assert_int_equal(store_writer_create(fd, &KEY, &w), 0);
	struct store_rows *r = some_rows(9, 0, 1);
	assert_int_equal(store_write_group(w, r), 0);
	assert_int_equal(store_write_group(w, r), 0);
	assert_int_equal(store_write_late_stack(w, 0, 7, 42), 0);
	assert_int_equal(store_write_late_stack(w, 0, 8, 43), 0);
	write_rest(w, 18);
	assert_int_equal(store_writer_commit(w), 0);
	store_writer_destroy(w);
	free(r);
	struct store s;
	struct diag d = {0};
	assert_int_equal(store_open(fd, NULL, &s, &d), 0);
	struct store_columns c;
	store_columns_of(&s, 0, &c);
	assert_non_null(c.stack);
	assert_int_equal(c.stack[6], 0);
	assert_int_equal(c.stack[7], 42);
	assert_int_equal(c.stack[8], 43);
	assert_int_equal(c.cpu[8], 3);
	store_columns_of(&s, 1, &c);
	assert_null(c.stack);
	store_close(&s);
}

static void an_index_of_another_trace_is_stale(void **state)
{
	struct store s;
	struct diag d = {0};
	struct store_key other = KEY;
	other.trace_mtime++;
	assert_int_equal(store_open(made(1, 5, 1), &other, &s, &d), -ESTALE);
}

/* Every place of a small index, changed: it is refused, or what it says can be read without harm. */
static void no_damage_reads_outside(void **state)
{
	int fd = made(2, 40, 3);
	uint8_t *good = malloc(1 << 20);
	ssize_t n = pread(fd, good, 1 << 20, 0);
	assert_true(n > 0);
	for (ssize_t at = 0; at < n; at += at < 128 || at > n - 2048 ? 1 : 97) {
		int bad = memfd_create("damaged", MFD_CLOEXEC);
		uint8_t keep = good[at];
		good[at] ^= 0xFF;
		assert_int_equal(pwrite(bad, good, (size_t)n, 0), n);
		good[at] = keep;
		struct store s;
		struct diag d = {0};
		if (store_open(bad, NULL, &s, &d) < 0) {
			continue;
		}
		uint64_t sum = 0;
		for (uint32_t g = 0; g < s.group_count; g++) {
			struct store_columns c;
			store_columns_of(&s, g, &c);
			for (uint32_t i = 0; i < c.rows; i++) {
				sum += (uint64_t)store_time(&c, i) + store_type_at(&c, i) + c.where[i];
			}
		}
		assert_true(sum != 1);
		store_close(&s);
	}
	free(good);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back_as_they_were),
		cmocka_unit_test(a_group_of_hours_has_wide_times),
		cmocka_unit_test(the_summary_of_a_group_counts_its_rows),
		cmocka_unit_test(a_stack_that_comes_late_finds_its_row),
		cmocka_unit_test(an_index_of_another_trace_is_stale),
		cmocka_unit_test(no_damage_reads_outside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
