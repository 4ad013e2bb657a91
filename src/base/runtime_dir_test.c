/* SPDX-License-Identifier: MIT
 * Where a user's etwd lives, with directories of the test in place of /run/user and /tmp. Other users are
 * those that root becomes, so most of it needs root.
 */
#include "base/runtime_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OTHER 61235

static char base[64], run_user[80], tmp[80], xdg[80], home[80];
static bool homeless;

static bool home_of(uid_t uid, char *ret, size_t cap)
{
	assert_int_equal(uid, geteuid());
	snprintf(ret, cap, "%s", home);
	return !homeless;
}

static struct runtime_places places(void)
{
	return (struct runtime_places){
		.uid = geteuid(),
		.run_user = run_user,
		.tmp = tmp,
		.home = home_of,
		.host = "host",
	};
}

static int setup(void **state)
{
	snprintf(base, sizeof base, "/tmp/openetw-place-XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(run_user, sizeof run_user, "%s/run", base);
	snprintf(tmp, sizeof tmp, "%s/tmp", base);
	snprintf(xdg, sizeof xdg, "%s/xdg", base);
	snprintf(home, sizeof home, "%s/home", base);
	assert_int_equal(mkdir(run_user, 0755), 0);
	assert_int_equal(mkdir(tmp, 01777), 0);
	assert_int_equal(mkdir(xdg, 0700), 0);
	assert_int_equal(mkdir(home, 0755), 0);
	homeless = false;
	return 0;
}

static int teardown(void **state)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

static void skip_unless_root(void)
{
	if (geteuid() != 0) {
		skip();
	}
}

static char path[200], note[200];

static const char *chosen(const struct runtime_places *p, int expected)
{
	assert_int_equal(runtime_dir_choose(p, true, path, 108, note, sizeof note), expected);
	return path;
}

static const char *at(const char *fmt, const char *dir)
{
	static char text[2][200];
	static int turn;
	char *t = text[turn ^= 1];
	snprintf(t, sizeof text[0], fmt, dir, (unsigned)geteuid());
	return t;
}

/* Another user was faster. */
static void squat(const char *dir)
{
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chown(dir, OTHER, OTHER), 0);
}

static void without_anything_else_it_is_in_tmp(void **state)
{
	struct runtime_places p = places();
	assert_int_equal(runtime_dir_choose(&p, false, path, 108, note, sizeof note), -ENOENT);
	assert_string_equal(path, at("%s/openetw-%u", tmp));
	assert_string_equal(chosen(&p, 0), at("%s/openetw-%u", tmp));
	assert_string_equal(note, "");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(runtime_dir_choose(&p, false, path, 108, NULL, 0), 0);
}

static void the_users_own_directory_of_the_system_goes_before_tmp(void **state)
{
	struct runtime_places p = places();
	assert_int_equal(mkdir(at("%s/%u", run_user), 0700), 0);
	assert_string_equal(chosen(&p, 0), at("%s/%u/openetw", run_user));
}

static void xdg_runtime_dir_counts_where_it_is_safe(void **state)
{
	struct runtime_places p = places();
	assert_int_equal(mkdir(at("%s/%u", run_user), 0700), 0);
	p.xdg = xdg;
	assert_string_equal(chosen(&p, 0), at("%s/openetw", xdg));
	assert_int_equal(chmod(xdg, 0770), 0); /* somebody else could put a directory of theirs there */
	assert_string_equal(chosen(&p, 0), at("%s/%u/openetw", run_user));
	p.xdg = "relative";
	assert_string_equal(chosen(&p, 0), at("%s/%u/openetw", run_user));
	p.xdg = at("%s/none", base);
	assert_string_equal(chosen(&p, 0), at("%s/%u/openetw", run_user));
	char link[100];
	snprintf(link, sizeof link, "%s/link", base);
	assert_int_equal(chmod(xdg, 0700), 0);
	assert_int_equal(symlink(xdg, link), 0);
	p.xdg = link;
	assert_string_equal(chosen(&p, 0), at("%s/%u/openetw", run_user));
}

static void anothers_xdg_runtime_dir_is_not_used(void **state)
{
	skip_unless_root();
	struct runtime_places p = places();
	p.xdg = xdg;
	assert_int_equal(chown(xdg, OTHER, OTHER), 0); /* as after su without a login */
	assert_string_equal(chosen(&p, 0), at("%s/openetw-%u", tmp));
}

static void a_squatter_drives_the_user_into_his_home_for_good(void **state)
{
	skip_unless_root();
	struct runtime_places p = places();
	const char *usual = at("%s/openetw-%u", tmp);
	char wanted[200];
	squat(usual);
	snprintf(wanted, sizeof wanted, "%s/.local/state/openetw/run-host", home);
	assert_int_equal(runtime_dir_choose(&p, false, path, 108, note, sizeof note), -ENOENT);
	assert_string_equal(path, wanted);
	assert_string_equal(chosen(&p, 0), wanted);
	assert_non_null(strstr(note, "belongs to another user (id 61235)"));
	struct stat st;
	assert_int_equal(stat(wanted, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* Others have started there; who comes later must not part from them. */
	assert_int_equal(rmdir(at("%s/openetw-%u", tmp)), 0);
	assert_string_equal(chosen(&p, 0), wanted);
	assert_int_equal(runtime_dir_choose(&p, false, path, 108, note, sizeof note), 0);
	assert_string_equal(path, wanted);
}

static void a_link_in_tmp_is_not_followed(void **state)
{
	struct runtime_places p = places();
	assert_int_equal(symlink(xdg, at("%s/openetw-%u", tmp)), 0);
	chosen(&p, 0);
	assert_non_null(strstr(path, "/home/.local/state/openetw/run-host"));
	assert_non_null(strstr(note, "is no directory of this user alone"));
}

static void a_user_without_a_home_finds_a_number_that_is_free(void **state)
{
	skip_unless_root();
	struct runtime_places p = places();
	char first[200], second[200], third[200];
	homeless = true;
	snprintf(first, sizeof first, "%s/openetw-%u-1", tmp, (unsigned)geteuid());
	snprintf(second, sizeof second, "%s/openetw-%u-2", tmp, (unsigned)geteuid());
	snprintf(third, sizeof third, "%s/openetw-%u-3", tmp, (unsigned)geteuid());
	squat(at("%s/openetw-%u", tmp));
	squat(first);
	assert_string_equal(chosen(&p, 0), second);
	assert_string_equal(chosen(&p, 0), second);
	assert_int_equal(rmdir(first), 0);
	assert_string_equal(chosen(&p, 0), second);
	assert_int_equal(runtime_dir_choose(&p, false, path, 108, note, sizeof note), 0);
	assert_string_equal(path, second);
	assert_int_equal(access(third, F_OK), -1);
}

static void a_home_that_is_anothers_or_too_long_is_not_used(void **state)
{
	skip_unless_root();
	struct runtime_places p = places();
	squat(at("%s/openetw-%u", tmp));
	assert_int_equal(chown(home, OTHER, OTHER), 0); /* as /var/www is root's */
	chosen(&p, 0);
	assert_non_null(strstr(path, "-1"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(chown(home, 0, 0), 0);
	p.host = "a-host-whose-name-leaves-no-room-for-the-names-of-sockets-behind-it-in-an-address";
	chosen(&p, 0);
	assert_non_null(strstr(path, "-1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_anything_else_it_is_in_tmp, setup, teardown),
		cmocka_unit_test_setup_teardown(the_users_own_directory_of_the_system_goes_before_tmp, setup, teardown),
		cmocka_unit_test_setup_teardown(xdg_runtime_dir_counts_where_it_is_safe, setup, teardown),
		cmocka_unit_test_setup_teardown(anothers_xdg_runtime_dir_is_not_used, setup, teardown),
		cmocka_unit_test_setup_teardown(a_squatter_drives_the_user_into_his_home_for_good, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_in_tmp_is_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_user_without_a_home_finds_a_number_that_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(a_home_that_is_anothers_or_too_long_is_not_used, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
