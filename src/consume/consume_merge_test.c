/* SPDX-License-Identifier: MIT
 *
 * The order of several files: as Windows delivers them.
 */
#include "consume/consume.h"

#include "../../tests/corpus/etl_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define START_RAW      1000000ull
#define START_FILETIME 130000000000000000ull
#define MAX            16

struct spec {
	struct etl_build_header header;
	uint64_t raw[MAX]; /* of events with ids 1, 2, … */
	unsigned count;
};

static void save(const struct spec *s, const char *path)
{
	struct etl_build b;
	etl_build_start(&b, 4096, &s->header);
	etl_build_begin(&b, 0, 1);
	for (unsigned i = 0; i < s->count; i++) {
		etl_build_event(&b, s->raw[i], i + 1, 0);
	}
	etl_build_end(&b, s->count ? s->raw[s->count - 1] : s->header.start_raw);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.mem, b.buffer_size, b.buffers, f), b.buffers);
	fclose(f);
	free(b.mem);
}

/* "A" is the header of the first file, "a1" its first event, "B" the header of the second … */
static const char *order_of(const struct spec *specs, unsigned n, bool headers_first)
{
	static char text[512];
	struct consume_source *sources[4];
	struct consume_merge *m;
	const struct etl_record *r;
	uint32_t who;
	int got;
	text[0] = 0;
	for (unsigned i = 0; i < n; i++) {
		char path[] = "/tmp/openetw-merge-XXXXXX";
		int fd = mkstemp(path);
		assert_true(fd >= 0);
		close(fd);
		save(&specs[i], path);
		assert_int_equal(consume_file_open(path, &sources[i], NULL), 0);
		unlink(path);
	}
	assert_int_equal(consume_merge_create(sources, n, headers_first, &m), 0);
	while ((got = consume_merge_next(m, &r, &who)) > 0) {
		size_t used = strlen(text);
		bool header = r->type == ETL_RT_SYSTEM64;
		snprintf(text + used, sizeof text - used, "%s%c", used ? " " : "", (header ? 'A' : 'a') + (int)who);
		used = strlen(text);
		if (!header) {
			snprintf(text + used, sizeof text - used, "%u", r->id);
		}
	}
	assert_int_equal(got, 0);
	consume_merge_destroy(m);
	for (unsigned i = 0; i < n; i++) {
		consume_source_close(sources[i]);
	}
	return text;
}

static const struct etl_build_header qpc = {
	.clock_type = 1, .perf_freq = 1000000000, .start_raw = START_RAW, .start_filetime = START_FILETIME};

/* The same clock, looked at `ns` later; what the wall says is `skew` x 100 ns off. */
static struct etl_build_header later(uint64_t ns, int skew)
{
	struct etl_build_header h = qpc;
	h.start_raw += ns;
	h.start_filetime += ns / 100 + (uint64_t)(int64_t)skew;
	return h;
}

static void a_header_comes_at_its_time(void **state)
{
	struct spec s[2] = {{qpc, {START_RAW + 1000, START_RAW + 9000}, 2},
			    {later(5000, 0), {START_RAW + 6000, START_RAW + 9500}, 2}};
	assert_string_equal(order_of(s, 2, false), "A a1 B b1 a2 b2");
	assert_string_equal(order_of(s, 2, true), "A B a1 b1 a2 b2");
	struct spec turned[2] = {s[1], s[0]};
	assert_string_equal(order_of(turned, 2, false), "B b1 A a1 b2 a2");
}

static void equal_times_stay_with_the_file_that_is_read(void **state)
{
	uint64_t t = START_RAW + 1000;
	struct spec s[3] = {{qpc, {t, t, t + 10, t + 20}, 4},
			    {later(10, 0), {t - 5, t, t, t + 20}, 4},
			    {later(20, 0), {t, t, t + 20, t + 30}, 4}};
	assert_string_equal(order_of(s, 3, false), "A B C b1 b2 b3 a1 a2 c1 c2 a3 a4 b4 c3 c4");
}

static void files_of_one_clock_are_compared_by_its_ticks(void **state)
{
	/* The second header was written when the clock on the wall had been moved by 1 ms: by dates its events come later. */
	struct spec s[2] = {
		{qpc, {START_RAW + 3000000, START_RAW + 3000050}, 2},
		{later(2000000, 10000), {START_RAW + 2900000, START_RAW + 3000049, START_RAW + 3000051}, 3}};
	assert_string_equal(order_of(s, 2, false), "A B b1 a1 b2 a2 b3");
}

static void files_of_different_clocks_are_compared_by_date(void **state)
{
	struct etl_build_header other = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 77, .start_filetime = START_FILETIME + 5};
	struct etl_build_header system = {.clock_type = 2,
					  .perf_freq = 10000000,
					  .start_raw = START_FILETIME + 7,
					  .start_filetime = START_FILETIME + 7};
	struct spec s[3] = {{qpc, {START_RAW + 400, START_RAW + 900}, 2},
			    {other, {78, 80}, 2}, /* 600 and 800 ns */
			    {system, {START_FILETIME + 7, START_FILETIME + 10}, 2}};
	assert_string_equal(order_of(s, 3, false), "A a1 B b1 C c1 b2 a2 c2");
	/* One that says to be of the same frequency, and started an hour before: another boot. */
	struct etl_build_header boot = qpc;
	boot.start_filetime -= 36000000000ull;
	struct spec t[2] = {{qpc, {START_RAW + 10}, 1}, {boot, {START_RAW + 5, START_RAW + 20}, 2}};
	assert_string_equal(order_of(t, 2, false), "B b1 b2 A a1");
}

static void two_files_of_one_clock_beside_another_keep_its_ticks(void **state)
{
	struct etl_build_header other = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 77, .start_filetime = START_FILETIME};
	struct spec s[3] = {{qpc, {START_RAW + 3000050}, 1},
			    {other, {78}, 1},
			    {later(2000000, 10000), {START_RAW + 3000049, START_RAW + 3000051}, 2}};
	assert_string_equal(order_of(s, 3, false), "A B b1 C c1 a1 c2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_comes_at_its_time),
		cmocka_unit_test(equal_times_stay_with_the_file_that_is_read),
		cmocka_unit_test(files_of_one_clock_are_compared_by_its_ticks),
		cmocka_unit_test(files_of_different_clocks_are_compared_by_date),
		cmocka_unit_test(two_files_of_one_clock_beside_another_keep_its_ticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
