/* SPDX-License-Identifier: MIT
 *
 * Archives made by other programs (zlib, a zip library) around one small trace, which stands beside
 * them: tests/corpus/archives/plain.etl.
 */
#include "etl/etl_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define LZX_SUM 16714981676779997368ull

static const char *const names[] = {"small.etl.gz", "fixed.gz", "stored.gz", "two.zip",
				    "stored.zip",   "two.cab",	"stored.cab",	"lzx.cab"};

static uint8_t *load(const char *path, size_t *ret_n)
{
	char full[4096];
	snprintf(full, sizeof full, "%s/tests/%s", OPENETW_SOURCE_DIR, path);
	FILE *f = fopen(full, "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size_t n = (size_t)ftell(f);
	rewind(f);
	uint8_t *p = malloc(n + 1);
	assert_int_equal(fread(p, 1, n, f), n);
	fclose(f);
	*ret_n = n;
	return p;
}

static uint8_t *load_archive(const char *name, size_t *ret_n)
{
	char path[256];
	snprintf(path, sizeof path, "fuzz/corpus/etl_archive_fuzz/%s", name);
	return load(path, ret_n);
}

struct output {
	uint8_t bytes[65536];
	size_t n;
};
static int collect(void *ctx, const uint8_t *p, size_t n)
{
	struct output *o = ctx;
	assert_true(n <= sizeof o->bytes - o->n);
	memcpy(o->bytes + o->n, p, n);
	o->n += n;
	return 0;
}

static int unpack(const uint8_t *p, size_t n, struct output *o, struct diag *d)
{
	uint8_t *copy = malloc(n ? n : 1);
	memcpy(copy, p, n);
	struct etl_source s = {.fd = -1, .mem = copy, .bytes = n};
	enum etl_archive_kind kind = etl_archive_kind_of(copy, n);
	o->n = 0;
	diag_clear(d);
	int r = kind == ETL_ARCHIVE_NONE ? -EINVAL : etl_archive_unpack(&s, kind, collect, o, d);
	free(copy);
	return r;
}

static struct output out;

static void every_kind_of_archive_gives_the_trace_in_it(void **state)
{
	size_t n, plain_n;
	uint8_t *plain = load("corpus/archives/plain.etl", &plain_n);
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		struct diag d;
		uint8_t *p = load_archive(names[i], &n);
		assert_int_equal(unpack(p, n, &out, &d), 0);
		assert_int_equal(out.n, plain_n);
		assert_memory_equal(out.bytes, plain, plain_n);
		free(p);
	}
	free(plain);
}

static void an_archive_cut_anywhere_gives_what_stands_before_the_cut(void **state)
{
	size_t n, plain_n;
	uint8_t *plain = load("corpus/archives/plain.etl", &plain_n);
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		uint8_t *p = load_archive(names[i], &n);
		for (size_t cut = 0; cut < n; cut += n > 2000 ? 37 : 1) {
			struct diag d;
			int r = unpack(p, cut, &out, &d);
			assert_true(out.n <= plain_n);
			assert_memory_equal(out.bytes, plain, out.n);
			/* A zip without its directory is read all the same, and may be whole. */
			assert_true(r < 0 || out.n == plain_n);
			assert_true(r == 0 || r == -EINVAL || d.text[0] != 0);
		}
		free(p);
	}
	free(plain);
}

/* Three kinds of blocks, a block that goes over frames, and calls whose targets were made absolute: 48
 * KiB, whose first 12 KiB are plain.etl. The sum is that of the file before it was packed; another
 * program unpacks it to the same. */
static void frames_of_lzx_go_on_where_the_last_one_ended(void **state)
{
	size_t n, plain_n;
	struct diag d;
	uint8_t *plain = load("corpus/archives/plain.etl", &plain_n);
	uint8_t *p = load_archive("lzx-calls.cab", &n);
	assert_int_equal(unpack(p, n, &out, &d), 0);
	assert_int_equal(out.n, 4 * plain_n);
	assert_memory_equal(out.bytes, plain, plain_n);
	uint64_t h = 14695981039346656037ull;
	for (size_t i = 0; i < out.n; i++) {
		h = (h ^ out.bytes[i]) * 1099511628211ull;
	}
	assert_true(h == LZX_SUM);
	free(p);
	free(plain);
}

static void a_wrong_checksum_is_told(void **state)
{
	struct diag d;
	size_t n;
	uint8_t *p = load_archive("small.etl.gz", &n);
	p[n - 6] ^= 1;
	assert_int_equal(unpack(p, n, &out, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "damaged"));
	free(p);
}

static void what_cannot_be_read_is_named(void **state)
{
	struct diag d;
	size_t n;
	uint8_t *p = load_archive("two.cab", &n);
	p[36 + 6] = 2;
	assert_int_equal(unpack(p, n, &out, &d), -ENOTSUP);
	assert_non_null(strstr(d.text, "Quantum"));
	p[36 + 6] = 3;
	p[36 + 7] = 22; /* a window that there is not */
	assert_int_equal(unpack(p, n, &out, &d), -ENOTSUP);
	p[36 + 7] = 21; /* MSZIP's data is no LZX */
	assert_int_equal(unpack(p, n, &out, &d), -EBADMSG);
	free(p);
	p = load_archive("two.zip", &n);
	for (size_t i = 0; i + 4 < n; i++) { /* neither name ends in .etl any more */
		if (memcmp(p + i, ".ETL", 4) == 0) {
			memcpy(p + i, ".dat", 4);
		}
	}
	assert_int_equal(unpack(p, n, &out, &d), -ENOENT);
	assert_non_null(strstr(d.text, "no .etl"));
	free(p);
}

static void a_reader_opens_archives_as_if_they_were_the_trace(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/tests/fuzz/corpus/etl_archive_fuzz/%s",
			 OPENETW_SOURCE_DIR, names[i]);
		struct etl_reader *r;
		struct etl_record e;
		assert_int_equal(etl_reader_open(path, 0, &r, NULL), 0);
		unsigned events = 0;
		while (etl_reader_next(r, &e) > 0) {
			events += e.type == ETL_RT_EVENT64;
		}
		assert_int_equal(events, 12);
		struct etl_problem p;
		assert_false(etl_reader_next_problem(r, &p));
		etl_reader_close(r);
	}
}

static void a_cut_archive_is_a_trace_with_a_problem(void **state)
{
	size_t n;
	uint8_t *p = load_archive("stored.gz", &n);
	char path[] = "/tmp/openetw-archive-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n - 3000), (ssize_t)(n - 3000));
	close(fd);
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open(path, 0, &r, NULL), 0);
	unsigned events = 0;
	while (etl_reader_next(r, &e) > 0) {
		events++;
	}
	assert_true(events >= 7); /* header and the first buffer */
	struct etl_problem problem;
	bool told = false;
	while (etl_reader_next_problem(r, &problem)) {
		told = told || strstr(problem.text, "the archive ends");
	}
	assert_true(told);
	etl_reader_close(r);
	unlink(path);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_archive_gives_the_trace_in_it),
		cmocka_unit_test(an_archive_cut_anywhere_gives_what_stands_before_the_cut),
		cmocka_unit_test(frames_of_lzx_go_on_where_the_last_one_ended),
		cmocka_unit_test(a_wrong_checksum_is_told),
		cmocka_unit_test(what_cannot_be_read_is_named),
		cmocka_unit_test(a_reader_opens_archives_as_if_they_were_the_trace),
		cmocka_unit_test(a_cut_archive_is_a_trace_with_a_problem),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
