/* SPDX-License-Identifier: MIT */
#include "provider/provider_rights.h"

#include "base/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Nobody in the files of a machine has these numbers. */
#define USER  4000000001u
#define GROUP 4000000002u
#define EXTRA 4000000003u
#define ALIEN 4000000004u

static struct provider_rights plain(void)
{
	return (struct provider_rights){
		.uid = {USER, USER, USER, USER},
		.gid = {GROUP, GROUP, GROUP, GROUP},
		.group_count = 2,
		.group = {GROUP, EXTRA},
	};
}

static const struct provider_asker asker = {.uid = USER, .gid = GROUP, .group_count = 2, .group = {EXTRA, GROUP}};

static void a_process_with_its_users_ids_has_nothing_more(void **state)
{
	struct provider_rights r = plain();
	assert_null(provider_rights_exceed(&r, &asker));
	r.group_count = 0;
	assert_null(provider_rights_exceed(&r, &asker));
}

static void each_other_user_id_is_too_much(void **state)
{
	for (int i = 0; i < PROVIDER_IDS; i++) {
		struct provider_rights r = plain();
		r.uid[i] = 0;
		assert_non_null(provider_rights_exceed(&r, &asker));
	}
}

static void each_other_group_id_is_too_much(void **state)
{
	for (int i = 0; i < PROVIDER_IDS; i++) {
		struct provider_rights r = plain();
		r.gid[i] = ALIEN;
		assert_non_null(provider_rights_exceed(&r, &asker));
	}
}

static void a_supplementary_group_the_user_lacks_is_too_much(void **state)
{
	struct provider_rights r = plain();
	r.group[r.group_count++] = ALIEN;
	assert_non_null(provider_rights_exceed(&r, &asker));
}

static void capabilities_and_hidden_processes_are_too_much(void **state)
{
	struct provider_rights r = plain();
	r.capable = true;
	assert_non_null(provider_rights_exceed(&r, &asker));
	r = plain();
	r.hidden = true;
	assert_non_null(provider_rights_exceed(&r, &asker));
	r = plain();
	r.unknown = true;
	assert_non_null(provider_rights_exceed(&r, &asker));
}

static void the_rights_of_this_process_are_what_the_system_says(void **state)
{
	static struct provider_rights r;
	provider_rights_get(&r);
	assert_false(r.unknown);
	assert_int_equal(r.uid[0], getuid());
	assert_int_equal(r.uid[1], geteuid());
	assert_int_equal(r.uid[3], geteuid());
	assert_int_equal(r.gid[0], getgid());
	assert_int_equal(r.gid[3], getegid());
	assert_int_equal(r.group_count, getgroups(0, NULL));
}

static const char *file_of(const char *name, const char *text)
{
	static char path[2][64];
	static int turn;
	char *p = path[turn ^= 1];
	snprintf(p, sizeof path[0], "/tmp/openetw-account-%s-XXXXXX", name);
	int fd = mkstemp(p);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return p;
}

static void account_files_say_home_and_groups(void **state)
{
	char home[64];
	const char *passwd = file_of("passwd", "root:x:0:0:root:/root:/bin/sh\n"
					       "damaged:x:17\n"
					       "ann:x:1001:100:Ann,,,:/home/ann:/bin/sh\n"
					       "bob:x:1002:1002::relative:/bin/sh\n");
	const char *group = file_of("group", "users:x:100:\n"
					     "audio:x:29:bob,ann\n"
					     "annex:x:30:annex,bobann\n"
					     "half:x\n"
					     "last:x:31:ann");
	assert_true(account_home_in(passwd, 1001, home, sizeof home));
	assert_string_equal(home, "/home/ann");
	assert_false(account_home_in(passwd, 1001, home, 9));
	assert_false(account_home_in(passwd, 1002, home, sizeof home));
	assert_false(account_home_in(passwd, 17, home, sizeof home));
	assert_false(account_home_in("/nonexistent", 0, home, sizeof home));
	assert_true(account_has_group_in(passwd, group, 1001, 100));
	assert_true(account_has_group_in(passwd, group, 1001, 29));
	assert_true(account_has_group_in(passwd, group, 1001, 31));
	assert_false(account_has_group_in(passwd, group, 1001, 30));
	assert_false(account_has_group_in(passwd, group, 1001, 0));
	assert_false(account_has_group_in(passwd, group, 4711, 29));
	unlink(passwd);
	unlink(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_its_users_ids_has_nothing_more),
		cmocka_unit_test(each_other_user_id_is_too_much),
		cmocka_unit_test(each_other_group_id_is_too_much),
		cmocka_unit_test(a_supplementary_group_the_user_lacks_is_too_much),
		cmocka_unit_test(capabilities_and_hidden_processes_are_too_much),
		cmocka_unit_test(the_rights_of_this_process_are_what_the_system_says),
		cmocka_unit_test(account_files_say_home_and_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
