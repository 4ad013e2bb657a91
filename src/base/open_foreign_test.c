/* SPDX-License-Identifier: MIT
 *
 * What others put where we look: each is refused, or found where they see it, and nobody waits. A test that
 * hangs has failed.
 */
#include "base/open_foreign.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char dir[64];
	int root; /* dir/root */
};

static const char *in(const struct place *p, const char *name)
{
	static char path[4][128];
	static unsigned n;
	char *out = path[n++ % 4];
	snprintf(out, 128, "%s/%s", p->dir, name);
	return out;
}

static void put(const struct place *p, const char *name, const char *text)
{
	FILE *f = fopen(in(p, name), "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	assert_non_null(p);
	snprintf(p->dir, sizeof p->dir, "/tmp/openetw-foreign-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(mkdir(in(p, "root"), 0755), 0);
	assert_int_equal(mkdir(in(p, "root/sub"), 0755), 0);
	put(p, "outside", "outside");
	put(p, "root/outside", "inside");
	put(p, "root/file", "inside");
	put(p, "root/sub/file", "below");
	p->root = open(in(p, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->root >= 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	char command[128];
	close(p->root);
	snprintf(command, sizeof command, "rm -r %s", p->dir);
	assert_int_equal(system(command), 0);
	free(p);
	return 0;
}

static void assert_reads(int fd, const char *text)
{
	char got[32] = "";
	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof got - 1) >= 0);
	assert_string_equal(got, text);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void a_file_is_read_where_the_process_sees_it(void **state)
{
	struct place *p = *state;
	struct stat st;
	assert_reads(open_foreign(p->root, "/file", 0, &st), "inside");
	assert_int_equal(st.st_size, 6);
	assert_reads(open_foreign(p->root, "/sub/file", OPEN_FOREIGN_NO_LINK, NULL), "below");
	assert_reads(open_foreign(p->root, "sub//file", 0, NULL), "below");
	assert_reads(open_foreign(-1, in(p, "outside"), 0, NULL), "outside");
	assert_int_equal(open_foreign(p->root, "/nothing", 0, NULL), -ENOENT);
}

static void no_link_leads_out_of_the_root(void **state)
{
	struct place *p = *state;
	assert_int_equal(symlink("/outside", in(p, "root/absolute")), 0);
	assert_int_equal(symlink("../outside", in(p, "root/relative")), 0);
	assert_int_equal(symlink("../../../../../../outside", in(p, "root/sub/far")), 0);
	assert_int_equal(symlink("..", in(p, "root/up")), 0);
	assert_reads(open_foreign(p->root, "/absolute", 0, NULL), "inside");
	assert_reads(open_foreign(p->root, "/relative", 0, NULL), "inside");
	assert_reads(open_foreign(p->root, "/sub/far", 0, NULL), "inside");
	assert_reads(open_foreign(p->root, "/up/outside", 0, NULL), "inside");
	assert_reads(open_foreign(p->root, "/sub/../../outside", 0, NULL), "inside");
	assert_int_equal(open_foreign(p->root, "/absolute", OPEN_FOREIGN_NO_LINK, NULL), -EBADMSG);
	assert_int_equal(open_foreign(-1, in(p, "root/relative"), OPEN_FOREIGN_NO_LINK, NULL), -EBADMSG);
}

static void links_of_proc_are_not_followed(void **state)
{
	struct place *p = *state;
	char path[64];
	int fd = open(in(p, "outside"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_int_equal(open_foreign(-1, path, 0, NULL), -ELOOP);
	assert_int_equal(open_foreign(-1, "/proc/self/root/etc/passwd", 0, NULL), -ELOOP);
	close(fd);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
	struct place *p = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	assert_int_equal(mkfifo(in(p, "root/pipe"), 0666), 0);
	assert_int_equal(symlink("pipe", in(p, "root/to_pipe")), 0);
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", in(p, "root/socket"));
	assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(open_foreign(p->root, "/pipe", 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(p->root, "/to_pipe", 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(p->root, "/socket", 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(p->root, "/sub", 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(-1, in(p, "root/pipe"), 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(-1, "/dev/zero", 0, NULL), -EBADMSG);
	assert_int_equal(open_foreign(-1, "/dev/tty", 0, NULL), -EBADMSG);
	close(s);
}

static void the_root_of_a_process_and_what_it_runs_are_found(void **state)
{
	struct stat here, there, at;
	char path[PATH_MAX];
	int root = open_foreign_root((uint32_t)getpid());
	assert_true(root >= 0);
	assert_int_equal(fstat(root, &there), 0);
	assert_int_equal(stat("/", &here), 0);
	assert_int_equal(here.st_ino, there.st_ino);
	close(root);
	int fd = open_foreign_program((uint32_t)getpid(), &at);
	assert_true(fd >= 0);
	close(fd);
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	assert_true(n > 0);
	path[n] = 0;
	assert_int_equal(stat(path, &here), 0);
	assert_int_equal(here.st_ino, at.st_ino);
	assert_true(open_foreign_root(0x7FFFFFF0) < 0);
	assert_true(open_foreign_program(0x7FFFFFF0, NULL) < 0);
}

static void a_strangers_word_is_not_believed(void **state)
{
	static const struct {
		uid_t file, process, root;
		bool believed;
	} cases[] = {
		{0, 1000, 0, true},  {1000, 1000, 0, true},          {1001, 1000, 0, false},
		{1000, 0, 0, false}, {100000, 100005, 100000, true}, {100001, 100005, 100000, false},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct stat st = {.st_uid = cases[i].file};
		assert_int_equal(open_foreign_believed(&st, cases[i].process, cases[i].root), cases[i].believed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_read_where_the_process_sees_it, setup, teardown),
		cmocka_unit_test_setup_teardown(no_link_leads_out_of_the_root, setup, teardown),
		cmocka_unit_test_setup_teardown(links_of_proc_are_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_refused_without_waiting, setup, teardown),
		cmocka_unit_test(the_root_of_a_process_and_what_it_runs_are_found),
		cmocka_unit_test(a_strangers_word_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
