/* SPDX-License-Identifier: MIT
 * Whole files, and directories with those above them.
 */
#include "base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

static char dir[64];

static int setup(void **state)
{
	snprintf(dir, sizeof dir, "/tmp/openetw-file-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

static const char *in_dir(const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void put(const char *name, size_t n)
{
	FILE *f = fopen(in_dir(name), "w");
	for (size_t i = 0; i < n; i++) {
		putc((int)(i % 251), f);
	}
	fclose(f);
}

static void a_file_is_read_whole_and_terminated(void **state)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
	for (size_t i = 0; i < BASE_ARRAY_LEN(sizes); i++) {
		struct strbuf b = {0};
		put("f", sizes[i]);
		assert_int_equal(file_read(in_dir("f"), 300000, &b), 0);
		assert_int_equal(b.len, sizes[i]);
		assert_int_equal(b.s[b.len], 0);
		for (size_t k = 0; k < b.len; k++) {
			assert_int_equal((uint8_t)b.s[k], k % 251);
		}
		strbuf_finish(&b);
	}
}

static void a_file_is_put_behind_what_is_there(void **state)
{
	struct strbuf b = {0};
	strbuf_adds(&b, "ab");
	put("f", 3);
	assert_int_equal(file_read(in_dir("f"), 3, &b), 0);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.s, "ab\0\1\2", 6);
	strbuf_finish(&b);
}

static void more_than_the_limit_is_refused_and_nothing_stays(void **state)
{
	struct strbuf b = {0};
	strbuf_adds(&b, "ab");
	put("f", 100);
	assert_int_equal(file_read(in_dir("f"), 99, &b), -EFBIG);
	assert_string_equal(b.s, "ab");
	assert_int_equal(file_read(in_dir("f"), 0, &b), -EFBIG);
	assert_int_equal(file_read("/dev/zero", 99, &b), -EINVAL);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_read_fd(fd, 200000, &b), -EFBIG); /* the size of it is said to be 0 */
	close(fd);
	assert_string_equal(b.s, "ab");
	strbuf_finish(&b);
}

static void what_is_no_file_does_not_hold_the_caller_up(void **state)
{
	struct strbuf b = {0};
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(file_read(in_dir("fifo"), 10, &b), -EINVAL);
	assert_int_equal(file_read(dir, 10, &b), -EISDIR);
	assert_int_equal(file_read(in_dir("none"), 10, &b), -ENOENT);
	strbuf_finish(&b);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A pipe that gives a byte at a time, while signals interrupt the reader. */
static void *drip(void *ctx)
{
	int fd = *(int *)ctx;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(write(fd, "x", 1), 1);
		kill(getpid(), SIGUSR1);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	close(fd);
	return NULL;
}

static void short_reads_and_signals_do_not_cut_what_is_read(void **state)
{
	struct sigaction sa = {.sa_handler = on_signal}, before; /* without SA_RESTART */
	int fd[2];
	pthread_t t;
	struct strbuf b = {0};
	sigaction(SIGUSR1, &sa, &before);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(pthread_create(&t, NULL, drip, &fd[1]), 0);
	assert_int_equal(file_read_fd(fd[0], 1000, &b), 0);
	pthread_join(t, NULL);
	assert_int_equal(b.len, 50);
	close(fd[0]);
	sigaction(SIGUSR1, &before, NULL);
	strbuf_finish(&b);
}

static void the_start_of_a_file_fills_what_room_there_is(void **state)
{
	char out[8];
	put("f", 100);
	assert_int_equal(file_read_start(in_dir("f"), out, sizeof out), 7);
	assert_int_equal(out[7], 0);
	assert_true(file_read_start("/proc/self/stat", out, sizeof out) > 0);
	assert_int_equal(file_read_start(in_dir("none"), out, sizeof out), -ENOENT);
	assert_string_equal(out, "");
	assert_int_equal(file_read_start(dir, out, sizeof out), -EISDIR);
}

static void directories_are_made_with_those_above_them(void **state)
{
	struct stat st;
	mode_t before = umask(077);
	assert_int_equal(file_make_dirs(in_dir("a/b/c"), 0755), 0);
	assert_int_equal(stat(in_dir("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755); /* whatever the umask */
	assert_int_equal(file_make_dirs(in_dir("a/b/d/"), 0700), 0);
	assert_int_equal(stat(in_dir("a/b/d"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in_dir("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755); /* it was there */
	umask(before);
	put("f", 1);
	assert_int_equal(file_make_dirs(in_dir("f/x"), 0700), -ENOTDIR);
	assert_int_equal(file_make_dirs(in_dir("f"), 0700), -ENOTDIR);
	assert_int_equal(symlink("nowhere", in_dir("link")), 0);
	assert_int_equal(file_make_dirs(in_dir("link"), 0700), -ENOTDIR);
	assert_int_equal(file_make_dirs("", 0700), -EINVAL);
	assert_int_equal(file_make_dirs("/proc/none", 0700), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_whole_and_terminated),
		cmocka_unit_test(a_file_is_put_behind_what_is_there),
		cmocka_unit_test(more_than_the_limit_is_refused_and_nothing_stays),
		cmocka_unit_test(what_is_no_file_does_not_hold_the_caller_up),
		cmocka_unit_test(short_reads_and_signals_do_not_cut_what_is_read),
		cmocka_unit_test(the_start_of_a_file_fills_what_room_there_is),
		cmocka_unit_test(directories_are_made_with_those_above_them),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
