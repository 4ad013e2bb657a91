/* SPDX-License-Identifier: MIT
 * Run as root it also plays two users; otherwise what it can.
 */
#include "base/open_output.h"

#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALICE = 4242, BOB = 4243 };

static char top[PATH_MAX];
static struct diag d;

static const char *at(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned i;
	char *p = paths[i++ % 8];
	snprintf(p, PATH_MAX, "%.2000s/%.1000s", top, name);
	return p;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void says(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fgets(got, sizeof got, f) != NULL || !*text);
	fclose(f);
	assert_string_equal(got, text);
}

/* A folder with "victim" outside of it. */
static int begin(void **state)
{
	(void)state;
	snprintf(top, sizeof top, "/tmp/open_output_test.XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(chmod(top, 0755), 0);
	put(at("victim"), "precious");
	diag_clear(&d);
	return 0;
}

static int end(void **state)
{
	(void)state;
	char command[PATH_MAX + 16];
	assert_int_equal(seteuid(getuid()), 0);
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	assert_int_equal(system(command), 0);
	return 0;
}

static void opens(const char *path, unsigned flags)
{
	diag_clear(&d);
	int fd = open_output(path, flags, 0600, &d);
	if (fd < 0) {
		fail_msg("%s: %s", path, d.text);
	}
	assert_int_equal(close(fd), 0);
}

static void refuses(const char *path, int err, const char *why)
{
	diag_clear(&d);
	int fd = open_output(path, OPEN_OUTPUT_REUSE | OPEN_OUTPUT_STREAM, 0600, &d);
	if (fd != err || !strstr(d.text, why)) {
		fail_msg("%s: %d (%s), not %d (%s)", path, fd, d.text, err, why);
	}
	says(at("victim"), "precious");
}

static void a_new_file_is_made_and_an_own_one_is_reused(void **state)
{
	(void)state;
	opens(at("new"), 0);
	put(at("new"), "kept");
	diag_clear(&d);
	assert_int_equal(open_output(at("new"), 0, 0600, &d), -EEXIST);
	opens(at("new"), OPEN_OUTPUT_REUSE);
	says(at("new"), "kept");
	assert_int_equal(open_output(at("new"), OPEN_OUTPUT_STREAM, 0600, &d), -EEXIST);
	refuses(at("none/new"), -ENOENT, "none/new");
	refuses(at("victim/new"), -ENOTDIR, "");
	refuses(at("."), -EISDIR, "");
	refuses(at(""), -EISDIR, "");
	assert_int_equal(mkdir(at("folder"), 0755), 0);
	refuses(at("folder"), -EISDIR, "directory");
}

static void no_link_is_followed_at_the_end_of_a_path(void **state)
{
	(void)state;
	assert_int_equal(symlink("victim", at("link")), 0);
	assert_int_equal(symlink("nothing", at("dangling")), 0);
	refuses(at("link"), -ELOOP, "a symbolic link of");
	refuses(at("link"), -ELOOP, " to victim");
	refuses(at("dangling"), -ELOOP, "a symbolic link of");
	assert_int_equal(access(at("nothing"), F_OK), -1);
}

static void own_links_are_followed_on_the_way(void **state)
{
	(void)state;
	assert_int_equal(mkdir(at("a"), 0755), 0);
	assert_int_equal(mkdir(at("a/b"), 0755), 0);
	assert_int_equal(symlink("a/b", at("relative")), 0);
	assert_int_equal(symlink(at("a"), at("absolute")), 0);
	assert_int_equal(symlink("../absolute/b", at("a/twice")), 0);
	assert_int_equal(symlink("round", at("round")), 0);
	opens(at("relative/1"), 0);
	opens(at("absolute/b/2"), 0);
	opens(at("absolute/../a/twice//./3"), 0);
	assert_int_equal(access(at("a/b/1"), F_OK), 0);
	assert_int_equal(access(at("a/b/2"), F_OK), 0);
	assert_int_equal(access(at("a/b/3"), F_OK), 0);
	refuses(at("round/x"), -ELOOP, "round/x");
	refuses(at("relative/none/x"), -ENOENT, "none/x");
}

static void fifos_and_devices_are_for_streams_only(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	diag_clear(&d);
	assert_int_equal(open_output(at("fifo"), OPEN_OUTPUT_REUSE, 0600, &d), -EINVAL);
	assert_non_null(strstr(d.text, "it is a FIFO of"));
	assert_int_equal(open_output("/dev/null", OPEN_OUTPUT_REUSE, 0600, NULL), -EINVAL);
	opens("/dev/null", OPEN_OUTPUT_STREAM);
	int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK);
	opens(at("fifo"), OPEN_OUTPUT_STREAM);
	close(reader);
	opens("/dev/stdout", OPEN_OUTPUT_STREAM);
	opens("/dev/fd/1", OPEN_OUTPUT_STREAM);
	assert_int_equal(open_output("/dev/fd/999", OPEN_OUTPUT_STREAM, 0600, NULL), -EBADF);
}

static void what_others_put_there_is_left_alone(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("other users are played by root only\n");
		skip();
	}
	assert_int_equal(mkdir(at("alice"), 0755), 0);
	assert_int_equal(mkdir(at("alice/own"), 0755), 0);
	assert_int_equal(mkdir(at("etc"), 0755), 0);
	assert_int_equal(symlink("../etc", at("alice/way")), 0);
	assert_int_equal(symlink("../victim", at("alice/link")), 0);
	assert_int_equal(link(at("victim"), at("alice/hard")), 0);
	assert_int_equal(mkfifo(at("alice/fifo"), 0666), 0);
	put(at("alice/hers"), "hers");
	assert_int_equal(chmod(at("alice/hers"), 0666), 0);
	static const char *const all[] = {"alice", "alice/own", "alice/way", "alice/link", "alice/fifo", "alice/hers"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(all); i++) {
		assert_int_equal(lchown(at(all[i]), ALICE, ALICE), 0);
	}
	/* root, in alice's folder */
	refuses(at("alice/link"), -ELOOP, "a symbolic link of user 4242 to ../victim");
	refuses(at("alice/hard"), -EPERM, "2 hard links");
	refuses(at("alice/hers"), -EPERM, "belongs to user 4242");
	refuses(at("alice/fifo"), -EINVAL, "a FIFO of user 4242");
	refuses(at("alice/way/x"), -ELOOP, "through a symbolic link of user 4242");
	assert_int_equal(access(at("etc/x"), F_OK), -1);
	/* also a link that root made, for alice can move it */
	assert_int_equal(symlink("../etc", at("alice/roots")), 0);
	refuses(at("alice/roots/x"), -ELOOP, "through a symbolic link of root");
	says(at("alice/hers"), "hers");
	opens(at("alice/new"), 0);
	opens(at("alice/new"), OPEN_OUTPUT_REUSE);
	assert_int_equal(open_output_remove(at("alice/link")), -ELOOP);
	assert_int_equal(open_output_remove(at("alice/hers")), -EPERM);
	assert_int_equal(open_output_remove(at("alice/new")), 0);
	assert_int_equal(open_output_remove(at("alice/new")), 0);
	assert_int_equal(access(at("alice/new"), F_OK), -1);
	/* everybody in a sticky folder */
	assert_int_equal(mkdir(at("tmp"), 0755), 0);
	assert_int_equal(chmod(at("tmp"), 01777), 0);
	assert_int_equal(symlink("../etc", at("tmp/alices")), 0);
	assert_int_equal(symlink("../alice/own", at("tmp/bobs")), 0);
	assert_int_equal(symlink("../alice/own", at("tmp/roots")), 0);
	put(at("tmp/file"), "hers");
	assert_int_equal(chmod(at("tmp/file"), 0666), 0);
	assert_int_equal(lchown(at("tmp/alices"), ALICE, ALICE), 0);
	assert_int_equal(lchown(at("tmp/bobs"), BOB, BOB), 0);
	assert_int_equal(chown(at("tmp/file"), ALICE, ALICE), 0);
	assert_int_equal(chmod(at("alice/own"), 0777), 0);
	refuses(at("tmp/file"), -EPERM, "belongs to user 4242");
	refuses(at("tmp/alices/x"), -ELOOP, "through a symbolic link of user 4242");
	refuses(at("tmp/bobs/x"), -ELOOP, "through a symbolic link of user 4243");
	opens(at("tmp/roots/1"), 0);
	assert_int_equal(seteuid(BOB), 0);
	refuses(at("tmp/file"), -EPERM, "belongs to user 4242");
	refuses(at("tmp/alices/x"), -ELOOP, "through a symbolic link of user 4242");
	opens(at("tmp/bobs/2"), 0);
	opens(at("tmp/roots/3"), 0);
	opens(at("tmp/mine"), 0);
	opens(at("tmp/mine"), OPEN_OUTPUT_REUSE);
	refuses(at("alice/way/x"), -ELOOP, "through a symbolic link of user 4242");
	assert_int_equal(seteuid(0), 0);
	says(at("tmp/file"), "hers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_file_is_made_and_an_own_one_is_reused, begin, end),
		cmocka_unit_test_setup_teardown(no_link_is_followed_at_the_end_of_a_path, begin, end),
		cmocka_unit_test_setup_teardown(own_links_are_followed_on_the_way, begin, end),
		cmocka_unit_test_setup_teardown(fifos_and_devices_are_for_streams_only, begin, end),
		cmocka_unit_test_setup_teardown(what_others_put_there_is_left_alone, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
