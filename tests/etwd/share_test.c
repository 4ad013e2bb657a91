/* SPDX-License-Identifier: MIT
 * The rule by which users share what there is only so much of, for each such thing: nobody can take it
 * from root, and nobody can take so much that somebody who comes later gets nothing.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MS 1000000ull

static struct etwd *instance(bool system)
{
	struct etwd *d;
	assert_int_equal(etwd_create(&d, system), 0);
	d->uid = 0;
	return d;
}

/* Takes what it can get, in steps; how much. */
static uint64_t take_all(struct etwd *d, uid_t uid, enum share what, uint64_t step)
{
	uint64_t got = 0;
	for (; step > 0; step /= 2) {
		while (!etwd_share_take(d, uid, what, step)) {
			got += step;
			assert_true(got < 1ull << 62);
		}
	}
	assert_int_equal(etwd_share_of(d, uid, what), got);
	return got;
}

static void greedy_users_leave_room_for_root_and_for_each_other(void **state)
{
	struct rlimit few = {3000, 3000};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < SHARE_COUNT; i++) {
		enum share what = (enum share)i;
		if (what == SHARE_CONFIG_BYTES) {
			continue; /* another rule */
		}
		struct etwd *d = instance(true);
		uint64_t first = take_all(d, 1000, what, 1u << 20), before = first, users = first;
		assert_true(first > 0);
		for (uid_t uid = 1001; uid < 1005; uid++) {
			uint64_t got = take_all(d, uid, what, 1u << 20);
			if (got == 0 || got > before) {
				fail_msg("%d: user %u gets %llu, the one before got %llu", i, (unsigned)uid,
					 (unsigned long long)got, (unsigned long long)before);
			}
			before = got;
			users += got;
		}
		uint64_t root = take_all(d, 0, what, 1u << 20);
		if (root < users / 4) {
			fail_msg("%d: %llu are left for root, users have %llu", i, (unsigned long long)root,
				 (unsigned long long)users);
		}
		/* Root has taken the rest: then nobody gets anything, until something is given back. */
		assert_non_null(etwd_share_take(d, 0, what, 1));
		assert_non_null(etwd_share_take(d, 2000, what, 1));
		etwd_share_give(d, 1000, what, first);
		assert_null(etwd_share_take(d, 2000, what, 1));
		assert_null(etwd_share_take(d, 0, what, 1));
		etwd_destroy(d);
	}
}

static void in_an_instance_of_ones_own_one_may_have_it_all(void **state)
{
	struct etwd *d = instance(false);
	assert_int_equal(take_all(d, 1000, SHARE_SESSIONS, 64), ETWD_SESSIONS_MAX);
	assert_int_equal(take_all(d, 1000, SHARE_POOL_BYTES, 1ull << 20), ETWD_POOL_BYTES_TOTAL_USER);
	etwd_destroy(d);
}

static void what_is_given_back_twice_is_not_somebody_elses(void **state)
{
	struct etwd *d = instance(true);
	assert_null(etwd_share_take(d, 1000, SHARE_SESSIONS, 5));
	etwd_share_give(d, 1000, SHARE_SESSIONS, 7);
	assert_int_equal(etwd_share_of(d, 1000, SHARE_SESSIONS), 0);
	assert_true(d->share_all[SHARE_SESSIONS] == 0);
	etwd_share_give(d, 1000, SHARE_SESSIONS, 7);
	assert_true(d->share_all[SHARE_SESSIONS] == 0 && d->share_users[SHARE_SESSIONS] == 0);
	etwd_destroy(d);
}

/* A user whose messages take long waits, in the long run for three quarters of the time. */
static void one_user_has_a_part_of_the_loops_time(void **state)
{
	struct etwd *d = instance(true);
	uint64_t now = 1000000 * MS, begin = now, worked = 0;
	while (now < begin + 60000 * MS) {
		if (etwd_share_has_time(d, 1000, now)) {
			etwd_share_busy(d, 1000, now, now + 10 * MS);
			worked += 10 * MS;
			now += 10 * MS;
		}
		assert_true(etwd_share_has_time(d, 1001, now));
		assert_true(etwd_share_has_time(d, 0, now));
		etwd_share_busy(d, 0, now, now + 20 * MS); /* root works all the time */
		now += 1 * MS;
	}
	assert_true(worked > 60000 * MS / 5 && worked < 60000 * MS / 3);
	etwd_destroy(d);
}

static void a_user_has_a_rate_in_the_log(void **state)
{
	struct etwd *d = instance(true);
	uint64_t now = 1000000 * MS, left_out = 0;
	uint32_t lines = 0, told = 0;
	for (uint32_t i = 0; i < 60000; i++, now += MS) {
		lines += etwd_share_log_line(d, 1000, now, &left_out);
		told += (uint32_t)left_out;
		assert_true(etwd_share_log_line(d, 0, now, &left_out));
	}
	assert_true(lines > 60 && lines <= 100 + 60);
	assert_true(etwd_share_log_line(d, 1001, now, &left_out) && left_out == 0);
	/* Each line that was not written is told, and having nothing of etwd does not make somebody new. */
	etwd_share_tick(d, now);
	assert_true(etwd_share_log_line(d, 1000, now + 1000 * MS, &left_out));
	assert_int_equal(lines + told + left_out, 60000);
	for (lines = 0; lines < 3 && etwd_share_log_line(d, 1000, now + 1001 * MS, &left_out); lines++) {
	}
	assert_true(lines < 3);
	etwd_destroy(d);
}

static void the_log_has_a_size_and_one_former_file(void **state)
{
	char dir[] = "/tmp/openetw-etwd-log-XXXXXX", path[64], old[64], command[80];
	struct stat now, former;
	struct etwd *d = instance(true);
	assert_non_null(mkdtemp(dir));
	snprintf(d->dir, sizeof d->dir, "%s", dir);
	snprintf(path, sizeof path, "%s/etwd.log", dir);
	snprintf(old, sizeof old, "%s/etwd.log.old", dir);
	for (int turn = 0; turn < 2; turn++) { /* the second finds a file */
		etwd_log_open(d);
		for (uint32_t i = 0; i < 30000; i++) {
			etwd_log(d, "%u %0500u", i, i);
		}
		assert_int_equal(stat(path, &now), 0);
		assert_int_equal(stat(old, &former), 0);
		assert_true(now.st_size > 0 && now.st_size <= 8 << 20);
		assert_true(former.st_size > 7 << 20 && former.st_size <= 8 << 20);
		assert_int_equal(now.st_mode & 0777, 0600);
		base_close(&d->log_fd);
	}
	/* Where there cannot be a former file, too. */
	unlink(old);
	assert_int_equal(mkdir(old, 0700), 0);
	etwd_log_open(d);
	for (uint32_t i = 0; i < 30000; i++) {
		etwd_log(d, "%u %0500u", i, i);
	}
	assert_int_equal(stat(path, &now), 0);
	assert_true(now.st_size > 0 && now.st_size <= 8 << 20);
	base_close(&d->log_fd);
	etwd_destroy(d);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static uint32_t remembered(const struct etwd *d, uid_t uid)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ETWD_RECENT_MAX; i++) {
		n += d->recent[i].number && d->recent[i].uid == uid;
	}
	return n;
}

static void register_often(struct etwd *d, uid_t uid, uint32_t times)
{
	struct process p = {.pid = (pid_t)uid, .uid = uid};
	struct registration r = {.process = &p};
	for (uint32_t i = 1; i <= times; i++) {
		le32_put(r.guid.b, i);
		etwd_recent_note(d, &r);
	}
}

/* The last registrations say who was there when a recording is empty. */
static void nobody_makes_etwd_forget_the_registrations_of_others(void **state)
{
	struct etwd *d = instance(true);
	register_often(d, 1000, 5);
	register_often(d, 1001, 10000);
	register_often(d, 0, 10000);
	register_often(d, 1002, 3);
	register_often(d, 1001, 10000);
	assert_int_equal(remembered(d, 1000), 5);
	assert_int_equal(remembered(d, 1001), ETWD_RECENT_USER);
	assert_int_equal(remembered(d, 1002), 3);
	assert_int_equal(remembered(d, 0), ETWD_RECENT_ROOT);
	bool newest = false;
	for (uint32_t i = 0; i < ETWD_RECENT_MAX; i++) {
		newest |= d->recent[i].uid == 1001 && le32_get(d->recent[i].guid.b) == 10000;
	}
	assert_true(newest);
	/* All of one's own instance. */
	d->system = false;
	register_often(d, 1003, 10000);
	assert_int_equal(remembered(d, 1003), ETWD_RECENT_MAX);
	d->system = true;
	etwd_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_an_instance_of_ones_own_one_may_have_it_all),
		cmocka_unit_test(what_is_given_back_twice_is_not_somebody_elses),
		cmocka_unit_test(one_user_has_a_part_of_the_loops_time),
		cmocka_unit_test(a_user_has_a_rate_in_the_log),
		cmocka_unit_test(nobody_makes_etwd_forget_the_registrations_of_others),
		cmocka_unit_test(the_log_has_a_size_and_one_former_file),
		cmocka_unit_test(greedy_users_leave_room_for_root_and_for_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
