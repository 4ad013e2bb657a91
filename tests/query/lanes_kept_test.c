/* SPDX-License-Identifier: MIT
 *
 * The file with what threads did: it is made once, goes on where a question was cancelled, and is done without where there is
 * no room for it.
 */
#include "lane_trace.h"

#include "etw/values/errors.h"
#include "openetw/error.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* What one process made the next one reads; what is damaged is made anew. */
static void lanes_are_kept_in_a_file_beside_the_index(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_answer, a);
	char index[80], lanes[80];
	const char *p = path;
	uint64_t decoded[3], hash[3];
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	random_state = 9;
	make_random();
	o.flags = OPENETW_INDEX_WRITE;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t id;
		assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
		q = openetw_query_create(x);
		id = number_of(A);
		run_count = 0;
		assert_int_equal(openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, 100 * (int64_t)TICKS, 500,
						     keep_run, NULL, &a),
				 0);
		decoded[i] = a.decoded;
		hash[i] = hash_of_runs(1);
		close_trace();
		assert_int_equal(access(lanes, R_OK), 0);
		if (i == 1) {
			FILE *f = fopen(lanes, "r+");
			assert_non_null(f);
			assert_int_equal(fseek(f, -40, SEEK_END), 0); /* its directory */
			assert_int_equal(fputs("damaged", f) >= 0, 1);
			assert_int_equal(fclose(f), 0);
		}
	}
	assert_true(decoded[0] > 0 && decoded[1] == 0 && decoded[2] == decoded[0]);
	assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
	unlink(index);
	unlink(lanes);
}

static void *cancel_often(void *over)
{
	while (!__atomic_load_n((bool *)over, __ATOMIC_ACQUIRE)) {
		usleep(2000);
		openetw_query_cancel(q);
	}
	return NULL;
}

/* Who looks at something else meanwhile cancels questions all the time. */
static void lanes_go_on_where_they_were_cancelled(void **state)
{
	const uint32_t records = 500000;
	OPENETW_SIZED(struct openetw_answer, a);
	pthread_t thread;
	bool over = false;
	uint32_t code, asked = 0;
	random_state = 6;
	make_long(records);
	open_trace();
	uint64_t hash = hash_of_lanes(records);
	close_trace();
	open_trace();
	const uint32_t id = number_of(A);
	assert_int_equal(pthread_create(&thread, NULL, cancel_often, &over), 0);
	do {
		run_count = 0;
		asked++;
		code = openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, 100, 1, keep_run, NULL, &a);
		assert_true(code == 0 || (code == ERROR_CANCELLED && a.partial));
	} while (code != 0 && asked < 100000);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(code, 0);
	assert_true(hash_of_lanes(records) == hash);
	close_trace();
}

/* Files are full when this says so; memory is not. Stands before libc's. */
static bool disk_is_full;

static ssize_t write_at(int fd, const void *p, size_t n, off64_t at)
{
	char link[64], name[256];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = disk_is_full ? readlink(link, name, sizeof name - 1) : -1;
	name[length > 0 ? length : 0] = 0;
	if (length > 0 && strncmp(name, "/memfd:", 7) != 0) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, p, n, at);
}

#pragma GCC visibility push(default)
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return write_at(fd, p, n, at);
}
#if !defined(_FILE_OFFSET_BITS) || _FILE_OFFSET_BITS != 64
ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return write_at(fd, p, n, at);
}
#endif
#pragma GCC visibility pop

static uint64_t hash_of_a_lane(void)
{
	uint32_t id = number_of(A);
	ask(OPENETW_LANES_THREADS, id, 0, TICKS, 500);
	return hash_of_runs(1);
}

/* Here a folder has the name: nobody can write there. */
static void lanes_are_kept_in_the_cache_directory_where_nobody_can_write_beside_the_index(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_answer, a);
	char index[80], lanes[80], cache[80], command[300];
	const char *p = path;
	uint64_t decoded[2];
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	snprintf(cache, sizeof cache, "%s.cache", path);
	random_state = 12;
	make_random();
	assert_int_equal(mkdir(lanes, 0700), 0);
	assert_int_equal(mkdir(cache, 0700), 0);
	assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
	o.flags = OPENETW_INDEX_WRITE;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
		q = openetw_query_create(x);
		uint32_t id = number_of(A);
		run_count = 0;
		assert_int_equal(openetw_query_lanes(q, OPENETW_LANES_THREADS, &id, 1, 0, TICKS, 5, keep_run, NULL, &a),
				 0);
		decoded[i] = a.decoded;
		close_trace();
	}
	assert_true(decoded[0] > 0);
	assert_int_equal(decoded[1], 0);
	unsetenv("XDG_CACHE_HOME");
	snprintf(command, sizeof command, "rm -rf '%s' '%s' '%s'", index, lanes, cache);
	assert_int_equal(system(command), 0);
}

static void lanes_are_told_from_memory_when_the_disk_is_full(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	char index[80], lanes[80];
	const char *p = path;
	snprintf(index, sizeof index, "%s.idx", path);
	snprintf(lanes, sizeof lanes, "%s.idx.lanes", path);
	random_state = 11;
	make_random();
	o.flags = OPENETW_INDEX_WRITE;
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	disk_is_full = true;
	uint64_t full = hash_of_a_lane();
	disk_is_full = false;
	assert_true(hash_of_a_lane() == full); /* it is kept */
	close_trace();
	assert_int_not_equal(access(lanes, F_OK), 0);
	assert_int_equal(openetw_index_open(&p, 1, &o, &x), 0);
	q = openetw_query_create(x);
	assert_true(hash_of_a_lane() == full);
	close_trace();
	assert_int_equal(access(lanes, F_OK), 0);
	unlink(index);
	unlink(lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_go_on_where_they_were_cancelled),
		cmocka_unit_test(lanes_are_kept_in_a_file_beside_the_index),
		cmocka_unit_test(lanes_are_told_from_memory_when_the_disk_is_full),
		cmocka_unit_test(lanes_are_kept_in_the_cache_directory_where_nobody_can_write_beside_the_index),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
