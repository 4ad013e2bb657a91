/* SPDX-License-Identifier: MIT
 *
 * Real-time feed: every event once, sorted per little buffer, backlog bounded and counted.
 */
#include "base/order.h"
#include "sink/sink_testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

struct consumer {
	struct test_walk walk;
	bool refuse;
	uint64_t calls, last_sequence;
	uint16_t flags; /* of all buffers so far */
};

static bool take(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu)
{
	struct consumer *c = ctx;
	c->calls++;
	if (c->refuse) {
		return false;
	}
	assert_int_equal(le32_get(buf + ETL_BH_BUFFER_SIZE), bytes);
	assert_int_equal(le32_get(buf + ETL_BH_OFFSET), bytes);
	assert_int_equal(le32_get(buf + ETL_BH_SAVED_OFFSET), bytes);
	assert_int_equal(le16_get(buf + ETL_BH_PROCESSOR), cpu);
	assert_true(le64_get(buf + ETL_BH_SEQUENCE) > c->last_sequence);
	c->last_sequence = le64_get(buf + ETL_BH_SEQUENCE);
	c->flags |= le16_get(buf + ETL_BH_FLAG);
	test_walk_buffer(&c->walk, buf, true);
	return true;
}

static struct sink *begin(struct consumer *c, struct sink_options o, bool attach)
{
	memset(c, 0, sizeof *c);
	test_walk_init(&c->walk, 100000);
	struct sink *s = NULL;
	o.props.mode |= 0x100;
	assert_int_equal(sink_create(&o, &s, NULL), 0);
	if (attach) {
		sink_set_tap(s, true, take, c);
	}
	return s;
}

static void every_event_is_delivered_once_and_in_the_file_once(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct consumer c;
	struct sink *s = begin(&c, test_options(path), true);
	srand(3);
	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t time = 1000 + i - (rand() % 40 == 0 ? (uint64_t)(rand() % 500) : 0);
		assert_true(test_put(s, (uint16_t)(i % 4), time, i, TEST_RECORD_BYTES));
		c.refuse = rand() % 4 == 0;
		if (rand() % 30 == 0) {
			sink_tick(s, i * 10000000ull);
			assert_int_equal(sink_drain_wait(s, 10000), 0);
		}
	}
	c.refuse = false;
	sink_tick(s, 1ull << 60);
	struct sink_stats st;
	assert_int_equal(sink_stop(s, &st), 0);
	assert_int_equal(st.rt_events_lost, 0);
	assert_int_equal(c.walk.events, 5000);
	assert_int_equal(c.walk.duplicates, 0);
	struct test_walk w;
	test_walk_init(&w, 5000);
	test_walk_file(&w, path, TEST_WALK_PER_CPU);
	assert_int_equal(w.events, 5000);
	assert_int_equal(w.duplicates, 0);
	test_walk_finish(&w);
	test_walk_finish(&c.walk);
	test_dir_remove(&dir);
}

static void new_records_arrive_with_the_next_tick(void **state)
{
	struct consumer c;
	struct sink *s = begin(&c, test_options(NULL), true);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(test_put(s, 2, i, i, TEST_RECORD_BYTES));
		assert_int_equal(c.walk.events, i);
		sink_tick(s, i);
		assert_int_equal(c.walk.events, i + 1);
		sink_tick(s, i);
		assert_int_equal(c.calls, i + 1); /* nothing new, no call */
	}
	sink_stop(s, NULL);
	assert_int_equal(c.walk.events, 10);
	test_walk_finish(&c.walk);
}

static void without_a_consumer_the_newest_events_wait(void **state)
{
	struct consumer c;
	struct sink_options o = test_options(NULL);
	o.props.maximum_buffers = 10;
	struct sink *s = begin(&c, o, false);
	uint32_t n = 3000;
	for (uint32_t i = 0; i < n; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
		sink_tick(s, i * 1000000000ull);
	}
	struct sink_stats st;
	sink_stats(s, &st);
	assert_true(st.rt_events_lost > 0);
	assert_true(st.rt_buffers_lost > 0);
	assert_int_equal(st.lost_no_buffer, 0);
	sink_set_tap(s, true, take, &c);
	assert_int_equal(c.walk.events + st.rt_events_lost, n);
	assert_int_equal(c.walk.duplicates, 0);
	/* At least ten whole buffers could wait. */
	assert_true(c.walk.events >= 10 * (4096 / TEST_RECORD_BYTES - 1));
	assert_int_equal(c.walk.seen[n - 1], 1);
	assert_int_equal(c.flags & ETL_BF_BUFFER_LOST, ETL_BF_BUFFER_LOST);
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
}

/* Without a consumer, 10 buffers in memory and `kb` in a file; then a consumer comes. Returns what was
 * lost. */
static uint64_t late_consumer(uint32_t events, uint64_t spool_bytes, const char *folder, bool losing)
{
	struct consumer c;
	struct test_dir dir;
	char path[160];
	test_dir_make(&dir);
	snprintf(path, sizeof path, "%s%s/EtwRT-test.etl", dir.path, folder);
	struct sink_options o = test_options(NULL);
	o.props.maximum_buffers = 10;
	o.spool_path = path;
	o.spool_bytes = spool_bytes;
	struct sink *s = begin(&c, o, false);
	struct sink_stats st;
	for (uint32_t i = 0; i < events; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
		if (i % 16 == 0) {
			sink_tick(s, i);
		}
	}
	sink_stats(s, &st);
	for (int i = 0; i < 20000 && losing && st.rt_events_lost == 0; i++) {
		usleep(500);
		sink_stats(s, &st);
	}
	sink_set_tap(s, true, take, &c);
	for (int i = 0; i < 20000 && sink_tap_behind(s); i++) {
		usleep(500);
		sink_tap_pump(s);
	}
	assert_false(sink_tap_behind(s));
	sink_stats(s, &st);
	assert_int_equal(c.walk.events + st.rt_events_lost, events);
	assert_int_equal(c.walk.duplicates, 0);
	assert_int_equal(c.walk.seen[events - 1], 1);
	/* and from now on live */
	assert_true(test_put(s, 0, events, events, TEST_RECORD_BYTES));
	sink_tap_pump(s);
	assert_int_equal(c.walk.seen[events], 1);
	sink_stop(s, NULL);
	assert_int_equal(access(path, F_OK), -1); /* it ends with the session */
	test_walk_finish(&c.walk);
	test_dir_remove(&dir);
	return st.rt_events_lost;
}

static void a_consumer_that_comes_late_gets_everything_from_the_disk(void **state)
{
	assert_int_equal(late_consumer(5000, 4u << 20, "", false), 0);
}

static void the_backlog_on_disk_is_bounded_and_drops_the_oldest(void **state)
{
	assert_true(late_consumer(5000, 64u << 10, "", true) > 0);
}

static void a_backlog_that_cannot_be_written_is_counted(void **state)
{
	assert_true(late_consumer(3000, 4u << 20, "/not-there", true) > 0);
}

/* Two sessions of one user whose consumers are late: together they have no more on the disk than the quota, and
 * nothing once it was delivered. Without a quota they have none at all. */
static void sessions_of_one_user_share_what_they_may_have_on_the_disk(void **state)
{
	enum { EVENTS = 5000 };
	for (int full = 0; full < 2; full++) {
		struct sink_quota quota = {.limit_bytes = 128u << 10};
		struct consumer c[2];
		struct test_dir dir;
		struct sink *s[2];
		struct sink_stats st;
		char path[2][160];
		uint64_t on_disk = 0;
		test_dir_make(&dir);
		quota.limit_bytes = full ? 0 : quota.limit_bytes;
		for (int k = 0; k < 2; k++) {
			snprintf(path[k], sizeof path[k], "%s/EtwRT-%d.etl", dir.path, k);
			struct sink_options o = test_options(NULL);
			o.props.maximum_buffers = 10;
			o.spool_path = path[k];
			o.spool_bytes = 4u << 20;
			o.spool_quota = &quota;
			s[k] = begin(&c[k], o, false);
		}
		for (uint32_t i = 0; i < EVENTS; i++) {
			for (int k = 0; k < 2; k++) {
				assert_true(test_put(s[k], (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
				sink_tick(s[k], i);
			}
		}
		for (int k = 0; k < 2; k++) {
			sink_stats(s[k], &st);
			for (int i = 0; i < 20000 && st.rt_events_refused == 0; i++) {
				usleep(500);
				sink_stats(s[k], &st);
			}
			assert_true(st.rt_events_refused > 0);
			struct stat file;
			on_disk += stat(path[k], &file) == 0 ? (uint64_t)file.st_size : 0;
		}
		assert_true(on_disk <= quota.limit_bytes);
		assert_int_equal(on_disk > 0, !full);
		for (int k = 0; k < 2; k++) {
			sink_set_tap(s[k], true, take, &c[k]);
			for (int i = 0; i < 20000 && sink_tap_behind(s[k]); i++) {
				usleep(500);
				sink_tap_pump(s[k]);
			}
			sink_stats(s[k], &st);
			assert_int_equal(c[k].walk.events + st.rt_events_lost, EVENTS);
			assert_int_equal(st.rt_events_refused, st.rt_events_lost);
		}
		for (int i = 0; i < 20000 && order_load_relaxed(&quota.used_bytes) > 0; i++) {
			usleep(500);
		}
		assert_true(order_load_relaxed(&quota.used_bytes) == 0);
		for (int k = 0; k < 2; k++) {
			sink_stop(s[k], NULL);
			test_walk_finish(&c[k].walk);
		}
		test_dir_remove(&dir);
	}
}

struct look {
	const char *path;
	int fd;
};

static void *end_the_look(void *arg)
{
	struct look *l = arg;
	usleep(50000);
	unlink(l->path);
	close(l->fd);
	return NULL;
}

/* Whoever removes leftovers opens each file, locks it and removes it. A new file that has no lock yet looks like a
 * leftover: the session whose file it is makes another, and loses nothing. */
static void a_file_that_was_taken_for_a_leftover_is_made_again(void **state)
{
	struct consumer c;
	struct test_dir dir;
	char path[160];
	test_dir_make(&dir);
	snprintf(path, sizeof path, "%s/EtwRT-test.etl", dir.path);
	struct look look = {path, open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
	assert_true(look.fd >= 0);
	assert_int_equal(flock(look.fd, LOCK_EX), 0);
	struct sink_options o = test_options(NULL);
	o.props.maximum_buffers = 10;
	o.spool_path = path;
	o.spool_bytes = 4u << 20;
	struct sink *s = begin(&c, o, false);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_true(test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES));
		sink_tick(s, i);
	}
	pthread_t other;
	assert_int_equal(pthread_create(&other, NULL, end_the_look, &look), 0);
	struct stat file = {0};
	for (int i = 0; i < 20000 && file.st_size == 0; i++) {
		usleep(500);
		file.st_size = stat(path, &file) == 0 ? file.st_size : 0;
	}
	assert_true(file.st_size > 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	sink_set_tap(s, true, take, &c);
	for (int i = 0; i < 20000 && sink_tap_behind(s); i++) {
		usleep(500);
		sink_tap_pump(s);
	}
	struct sink_stats st;
	sink_stats(s, &st);
	assert_int_equal(st.rt_events_lost, 0);
	assert_int_equal(c.walk.events, 5000);
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
	test_dir_remove(&dir);
}

static struct sink_options keeping(const struct test_dir *dir, char path[2][160])
{
	struct sink_options o = test_options(NULL);
	snprintf(path[0], 160, "%s/EtwRTKeep-test.etl", dir->path);
	snprintf(path[1], 160, "%s/keep", dir->path);
	o.props.maximum_buffers = 10;
	o.spool_path = path[0];
	o.spool_bytes = 4u << 20;
	o.keep_path = path[1];
	return o;
}

/* A producer without a consumer, in a process of its own that is killed. */
static void record_and_be_killed(struct sink_options o, uint32_t from, uint32_t to, bool losing)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct consumer c;
		struct sink *s = begin(&c, o, false);
		for (uint32_t i = from; i < to; i++) {
			if (!test_put(s, (uint16_t)(i % 4), i, i, TEST_RECORD_BYTES)) {
				_exit(1);
			}
			if (i % 16 == 0) {
				sink_tick(s, i);
			}
		}
		sink_tick(s, to);
		struct sink_stats st = {0};
		while (losing && st.rt_events_lost == 0) { /* which is the spool's thread's affair */
			usleep(500);
			sink_stats(s, &st);
		}
		kill(getpid(), SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Everything that waits, by a consumer that comes now. */
static struct sink *take_up(struct consumer *c, struct sink_options o, struct sink_stats *st)
{
	struct sink *s = begin(c, o, false);
	sink_stats(s, st);
	sink_set_tap(s, true, take, c);
	for (int i = 0; i < 20000 && sink_tap_behind(s); i++) {
		usleep(500);
		sink_tap_pump(s);
	}
	assert_false(sink_tap_behind(s));
	return s;
}

static void what_waited_outlives_a_killed_process(void **state)
{
	/* In memory only, and mostly on the disk; twice, so that the second finds what the first kept. */
	static const uint32_t amounts[] = {100, 5000};
	for (unsigned k = 0; k < 2; k++) {
		struct test_dir dir;
		char path[2][160];
		struct consumer c;
		struct sink_stats st;
		test_dir_make(&dir);
		struct sink_options o = keeping(&dir, path);
		uint32_t n = amounts[k];
		record_and_be_killed(o, 0, n, false);
		record_and_be_killed(o, n, 2 * n, false);
		struct sink *s = take_up(&c, o, &st);
		assert_int_equal(st.rt_found, 2 * n);
		assert_int_equal(st.rt_events_lost, 0);
		assert_int_equal(c.walk.events, 2 * n);
		assert_int_equal(c.walk.duplicates, 0);
		test_walk_finish(&c.walk);
		/* Taken is taken, also when the process does not end by itself either. */
		assert_true(test_put(s, 0, 2 * n, 2 * n, TEST_RECORD_BYTES));
		c.refuse = true;
		sink_tick(s, 1);
		sink_keep_backlog(s);
		assert_int_equal(sink_stop(s, NULL), 0);
		s = take_up(&c, o, &st);
		assert_int_equal(st.rt_found, 1);
		assert_int_equal(c.walk.events, 1);
		assert_int_equal(c.walk.seen[2 * n], 1);
		test_walk_finish(&c.walk);
		sink_stop(s, NULL);
		assert_int_equal(access(path[0], F_OK), -1); /* both end with the session */
		assert_int_equal(access(path[1], F_OK), -1);
		test_dir_remove(&dir);
	}
}

static void what_a_killed_process_had_lost_stays_counted(void **state)
{
	struct test_dir dir;
	char path[2][160];
	struct consumer c;
	struct sink_stats st;
	test_dir_make(&dir);
	struct sink_options o = keeping(&dir, path);
	o.spool_bytes = 64u << 10;
	record_and_be_killed(o, 0, 20000, true);
	struct sink *s = take_up(&c, o, &st);
	assert_int_equal(st.rt_found + st.rt_events_lost, 20000);
	assert_true(st.rt_events_lost > 0 && st.rt_buffers_lost > 0);
	assert_int_equal(c.walk.events, st.rt_found);
	assert_int_equal(c.walk.duplicates, 0);
	assert_int_equal(c.walk.seen[19999], 1);
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
	/* And of a session whose buffers have another size now, what cannot be read any more. */
	record_and_be_killed(o, 0, 1000, false);
	o.props.buffer_kb = 8;
	s = take_up(&c, o, &st);
	assert_int_equal(st.rt_found + st.rt_events_lost, 1000);
	assert_int_equal(c.walk.events, st.rt_found);
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
	test_dir_remove(&dir);
}

static void losses_are_announced_to_the_consumer_once(void **state)
{
	struct consumer c;
	struct sink *s = begin(&c, test_options(NULL), true);
	assert_true(test_put(s, 0, 1, 0, TEST_RECORD_BYTES));
	sink_tick(s, 1);
	assert_int_equal(c.flags & ETL_BF_EVENTS_LOST, 0);
	sink_add_lost(s, 3);
	assert_true(test_put(s, 0, 2, 1, TEST_RECORD_BYTES));
	sink_tick(s, 2);
	assert_int_equal(c.flags & ETL_BF_EVENTS_LOST, ETL_BF_EVENTS_LOST);
	c.flags = 0;
	assert_true(test_put(s, 0, 3, 2, TEST_RECORD_BYTES));
	sink_tick(s, 3);
	assert_int_equal(c.flags & ETL_BF_EVENTS_LOST, 0);
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
}

static void one_stream_is_sorted_for_the_consumer_too(void **state)
{
	struct test_dir dir;
	test_dir_make(&dir);
	char path[128];
	snprintf(path, sizeof path, "%s/a.etl", dir.path);
	struct consumer c;
	struct sink_options o = test_options(path);
	o.props.mode = 0x10000000;
	o.cpus = 1; /* the events say cpu 0, so that the walk can compare */
	struct sink *s = begin(&c, o, true);
	srand(5);
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t time = 1000 + i - (uint64_t)(rand() % 30);
		assert_true(test_put(s, 0, time, i, TEST_RECORD_BYTES));
		if (i % 20 == 0) {
			sink_tick(s, i);
			assert_int_equal(sink_drain_wait(s, 10000), 0);
		}
	}
	assert_int_equal(sink_stop(s, NULL), 0);
	assert_int_equal(c.walk.events, 3000);
	assert_int_equal(c.walk.duplicates, 0);
	struct test_walk w;
	test_walk_init(&w, 3000);
	test_walk_file(&w, path, 0);
	assert_int_equal(w.events, 3000);
	assert_int_equal(w.duplicates, 0);
	test_walk_finish(&w);
	test_walk_finish(&c.walk);
	test_dir_remove(&dir);
}

static void the_header_for_consumers_is_buffer_0(void **state)
{
	struct consumer c;
	struct sink *s = begin(&c, test_options(NULL), true);
	uint8_t buf[4096];
	assert_int_equal(sink_header(s, buf, 16), -EMSGSIZE);
	long n = sink_header(s, buf, sizeof buf);
	assert_int_equal(n, 0x200); /* short names: readers take less for something else than a trace */
	assert_int_equal(le32_get(buf), n);
	assert_in_range(le32_get(buf + ETL_BH_OFFSET), 0x180, 0x1FF);
	assert_int_equal(buf[0x1FF], 0xFF);
	assert_int_equal(le16_get(buf + ETL_BH_TYPE), ETL_BT_HEADER);
	assert_int_equal(le32_get(buf + 0x68), 4096); /* the session's buffer size */
	assert_int_equal(le64_get(buf + 0x168), 1000000000);
	assert_int_equal(le16_get(buf + 0x180), 's');
	sink_stop(s, NULL);
	test_walk_finish(&c.walk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_delivered_once_and_in_the_file_once),
		cmocka_unit_test(new_records_arrive_with_the_next_tick),
		cmocka_unit_test(without_a_consumer_the_newest_events_wait),
		cmocka_unit_test(a_consumer_that_comes_late_gets_everything_from_the_disk),
		cmocka_unit_test(the_backlog_on_disk_is_bounded_and_drops_the_oldest),
		cmocka_unit_test(a_backlog_that_cannot_be_written_is_counted),
		cmocka_unit_test(sessions_of_one_user_share_what_they_may_have_on_the_disk),
		cmocka_unit_test(a_file_that_was_taken_for_a_leftover_is_made_again),
		cmocka_unit_test(what_waited_outlives_a_killed_process),
		cmocka_unit_test(what_a_killed_process_had_lost_stays_counted),
		cmocka_unit_test(losses_are_announced_to_the_consumer_once),
		cmocka_unit_test(one_stream_is_sorted_for_the_consumer_too),
		cmocka_unit_test(the_header_for_consumers_is_buffer_0),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
