/* SPDX-License-Identifier: MIT
 *
 * tests/corpus/archives: one small trace, plain.etl, in archives that other programs made.
 */
#include "tools/common/archive.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#define PLENTY (64u << 20)

static const char *const names[] = {"small.etl.gz", "fixed.gz", "stored.gz", "two.zip",    "stored.zip", "two.cab",
				    "stored.cab",   "lzx.cab",  "one.7z",    "two.tar.xz", "one.etl.bz2"};

struct bytes_of_file {
	size_t n;
	uint8_t p[1 << 17];
};
static struct bytes_of_file plain, archive, out;
static struct cli_archive_result result;
static struct diag why;

static void load_fd(int fd, struct bytes_of_file *ret)
{
	ssize_t n = pread(fd, ret->p, sizeof ret->p, 0);
	assert_true(n >= 0 && (size_t)n < sizeof ret->p);
	ret->n = (size_t)n;
}

static void load(const char *name, struct bytes_of_file *ret)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/tests/corpus/archives/%s", OPENETW_SOURCE_DIR, name);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	load_fd(fd, ret);
	close(fd);
}

static int unpack_bounded(const uint8_t *p, size_t n, uint64_t most, cli_archive_progress_fn *progress)
{
	int in = memfd_create("in", 0), to = memfd_create("out", 0);
	assert_true(in >= 0 && to >= 0);
	assert_int_equal(write(in, p, n), (ssize_t)n);
	diag_clear(&why);
	int r = cli_archive_unpack(in, to, most, progress, NULL, &result, &why);
	load_fd(to, &out);
	close(in);
	close(to);
	return r;
}

static int unpack(const uint8_t *p, size_t n)
{
	return unpack_bounded(p, n, PLENTY, NULL);
}

static int setup(void **state)
{
	load("plain.etl", &plain);
	return 0;
}

static void every_kind_of_archive_is_recognised_and_a_trace_is_none(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		load(names[i], &archive);
		assert_non_null(cli_archive_kind(archive.p, archive.n));
		assert_null(cli_archive_kind(archive.p, 2));
	}
	assert_null(cli_archive_kind(plain.p, plain.n));
	assert_null(cli_archive_kind(plain.p, 0));
}

#ifdef OPENETW_ARCHIVES

static void every_kind_of_archive_gives_the_trace_in_it(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		load(names[i], &archive);
		assert_int_equal(unpack(archive.p, archive.n), 0);
		assert_string_equal(result.damage, "");
		assert_int_equal(out.n, plain.n);
		assert_int_equal(result.bytes, plain.n);
		assert_memory_equal(out.p, plain.p, plain.n);
	}
}

/* The sum is that of the file before it was packed. */
static void frames_of_lzx_go_on_where_the_last_one_ended(void **state)
{
	load("lzx-calls.cab", &archive);
	assert_int_equal(unpack(archive.p, archive.n), 0);
	assert_int_equal(out.n, 4 * plain.n);
	uint64_t h = 14695981039346656037ull;
	for (size_t i = 0; i < out.n; i++) {
		h = (h ^ out.p[i]) * 1099511628211ull;
	}
	assert_true(h == 16714981676779997368ull);
}

static void an_archive_cut_anywhere_gives_a_part_and_says_so_or_fails_with_a_reason(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		load(names[i], &archive);
		size_t step = archive.n > 2000 ? 1499 : 83;
		for (size_t cut = 0; cut < archive.n; cut += step) {
			int r = unpack(archive.p, cut);
			assert_true(r <= 0);
			if (r == 0) {
				assert_true(out.n > 0 && out.n <= plain.n);
				assert_memory_equal(out.p, plain.p, out.n);
				/* What is missing may be an archive's directory, which nothing needs. */
				assert_true(out.n == plain.n || result.damage[0]);
			} else {
				assert_string_not_equal(why.text, "");
			}
		}
	}
}

static void no_changed_byte_does_more_than_spoil_the_result(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		load(names[i], &archive);
		size_t step = archive.n / 12 + 1;
		for (size_t at = 3; at < archive.n; at += step) {
			archive.p[at] ^= 0xA5;
			int r = unpack(archive.p, archive.n);
			assert_true(r <= 0 && out.n <= PLENTY);
			assert_true(r == 0 || why.text[0]);
			archive.p[at] ^= 0xA5;
		}
	}
}

static void a_wrong_checksum_is_told(void **state)
{
	load("small.etl.gz", &archive);
	archive.p[archive.n - 6] ^= 1;
	assert_int_equal(unpack(archive.p, archive.n), 0);
	assert_int_equal(out.n, plain.n);
	assert_non_null(strstr(result.damage, "damaged"));
	load("stored.zip", &archive);
	archive.p[6000] ^= 1;
	assert_int_equal(unpack(archive.p, archive.n), 0);
	assert_non_null(strstr(result.damage, "damaged"));
}

static void the_output_is_bounded(void **state)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		load(names[i], &archive);
		assert_int_equal(unpack_bounded(archive.p, archive.n, plain.n - 1, NULL), -EFBIG);
		assert_true(out.n < plain.n);
		assert_int_equal(unpack_bounded(archive.p, archive.n, plain.n, NULL), 0);
	}
}

static void an_archive_without_a_trace_says_so(void **state)
{
	load("two.zip", &archive);
	for (size_t i = 0; i + 4 < archive.n; i++) { /* neither name ends in .etl any more */
		if (memcmp(archive.p + i, ".ETL", 4) == 0) {
			memcpy(archive.p + i, ".dat", 4);
		}
	}
	assert_int_equal(unpack(archive.p, archive.n), -ENOENT);
	assert_non_null(strstr(why.text, "no .etl"));
}

static void an_encrypted_trace_is_named_as_such(void **state)
{
	load("stored.zip", &archive);
	archive.p[6] |= 1;
	for (size_t i = 0; i + 10 < archive.n; i++) {
		if (memcmp(archive.p + i, "PK\1\2", 4) == 0) {
			archive.p[i + 8] |= 1;
		}
	}
	assert_int_equal(unpack(archive.p, archive.n), -ENOTSUP);
	assert_non_null(strstr(why.text, "encrypted"));
}

static void names_of_members_are_printable_and_never_paths(void **state)
{
	static const char evil[] = "../../../../tmp/openetw-evil.etl";
	static uint8_t zip[4096];
	size_t n = 0;
	/* A zip of one stored member of one byte, without a directory. */
	static const uint8_t head[] = {'P', 'K',  3,    4,    10,   0, 0, 0, 0, 0, 0, 0, 0,
				       0,   0x83, 0x16, 0xdc, 0x8c, 1, 0, 0, 0, 1, 0, 0, 0};
	memcpy(zip, head, sizeof head);
	n = sizeof head;
	zip[n++] = sizeof evil;
	zip[n++] = 0;
	zip[n++] = 0;
	zip[n++] = 0;
	zip[n++] = 27; /* ESC */
	memcpy(zip + n, evil, sizeof evil - 1);
	n += sizeof evil - 1;
	zip[n++] = 'x';
	struct stat st;
	(void)unpack(zip, n);
	assert_null(strchr(result.member, 27));
	assert_int_equal(stat("/tmp/openetw-evil.etl", &st), -1);
	assert_int_equal(out.n, 1);
}

static bool stop(void *ctx, unsigned percent, uint64_t bytes)
{
	assert_true(percent <= 100);
	return false;
}
static void a_caller_can_stop_it(void **state)
{
	/* gzip members, one behind the other, make one file. */
	load("small.etl.gz", &archive);
	size_t copies = 60000, n = archive.n * copies;
	uint8_t *many = malloc(n);
	for (size_t i = 0; i < copies; i++) {
		memcpy(many + i * archive.n, archive.p, archive.n);
	}
	int in = memfd_create("in", 0), to = memfd_create("out", 0);
	assert_int_equal(write(in, many, n), (ssize_t)n);
	diag_clear(&why);
	assert_int_equal(cli_archive_unpack(in, to, 4ull << 30, stop, NULL, &result, &why), -ECANCELED);
	assert_string_equal(why.text, "interrupted");
	close(in);
	close(to);
	free(many);
}

#else

static void a_build_without_libarchive_says_what_to_install(void **state)
{
	load("two.zip", &archive);
	assert_int_equal(unpack(archive.p, archive.n), -ENOTSUP);
	assert_non_null(strstr(why.text, "libarchive-dev"));
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_archive_is_recognised_and_a_trace_is_none),
#ifdef OPENETW_ARCHIVES
		cmocka_unit_test(every_kind_of_archive_gives_the_trace_in_it),
		cmocka_unit_test(frames_of_lzx_go_on_where_the_last_one_ended),
		cmocka_unit_test(an_archive_cut_anywhere_gives_a_part_and_says_so_or_fails_with_a_reason),
		cmocka_unit_test(no_changed_byte_does_more_than_spoil_the_result),
		cmocka_unit_test(a_wrong_checksum_is_told),
		cmocka_unit_test(the_output_is_bounded),
		cmocka_unit_test(an_archive_without_a_trace_says_so),
		cmocka_unit_test(an_encrypted_trace_is_named_as_such),
		cmocka_unit_test(names_of_members_are_printable_and_never_paths),
		cmocka_unit_test(a_caller_can_stop_it),
#else
		cmocka_unit_test(a_build_without_libarchive_says_what_to_install),
#endif
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
