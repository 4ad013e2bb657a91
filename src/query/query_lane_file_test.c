/* SPDX-License-Identifier: MIT
 *
 * Files of lanes: what was written is what is read, wherever the writer flushed; and what records mean, beside a model
 * that keeps each lane as an array.
 */
#include "query/query_stays_take.h"
#include "query/query_test_index.h"

#include <fcntl.h>
#include <setjmp.h>
#include <unistd.h>
#include <cmocka.h>

#define LANES TEST_THREADS /* and TEST_CPUS behind them */
#define ALL   (TEST_THREADS + TEST_CPUS)

/* ---- the model ----------------------------------------------------------------------------------- */

struct model_lane {
	struct stay *list;
	uint32_t count, cap;
};
struct model {
	struct model_lane lanes[ALL];
	struct {
		int64_t time;
		uint32_t who;
		uint8_t waker;
		bool is;
	} early[LANES];
	int64_t losses[4096];
	uint32_t loss_count;
};

static void push(struct model *m, uint32_t lane, struct stay s)
{
	struct model_lane *l = &m->lanes[lane];
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->list = realloc(l->list, l->cap * sizeof *l->list);
		assert_non_null(l->list);
	}
	if (l->count && l->list[l->count - 1].from > s.from) {
		s.from = l->list[l->count - 1].from;
	}
	l->list[l->count++] = s;
}

static uint8_t doing_of(const struct model *m, uint32_t lane)
{
	const struct model_lane *l = &m->lanes[lane];
	return l->count ? l->list[l->count - 1].doing : OPENETW_DOING_UNKNOWN;
}

static void mind(struct model *m, uint32_t lane)
{
	const struct model_lane *l = &m->lanes[lane];
	for (uint32_t i = 0; doing_of(m, lane) != OPENETW_DOING_UNKNOWN && i < m->loss_count; i++) {
		if (m->losses[i] > l->list[l->count - 1].from) {
			push(m, lane, (struct stay){.from = m->losses[i]});
			return;
		}
	}
}

static void model_switch(struct model *m, const struct said *e)
{
	if (e->out) {
		struct stay s = {.from = e->time, .doing = OPENETW_DOING_WAITING, .detail = e->reason};
		if (e->state == 4) {
			s = (struct stay){.from = e->time};
		} else if (e->state != 5) {
			s.doing = OPENETW_DOING_READY;
			s.detail = OPENETW_WAKER_PREEMPTED;
		}
		bool early = m->early[e->out].is && m->early[e->out].time >= e->time - 1000000;
		m->early[e->out].is = false;
		mind(m, e->out);
		push(m, e->out, s);
		if (s.doing == OPENETW_DOING_WAITING && early) {
			push(m, e->out,
			     (struct stay){.from = e->time,
					   .doing = OPENETW_DOING_READY,
					   .who = m->early[e->out].who,
					   .detail = m->early[e->out].waker});
		}
	}
	if (e->in) {
		struct model_lane *l = &m->lanes[e->in];
		m->early[e->in].is = false;
		mind(m, e->in);
		for (uint32_t i = l->count; e->unwatched && i > 0; i--) {
			struct stay *s = &l->list[i - 1];
			if (s->doing != OPENETW_DOING_WAITING && s->doing != OPENETW_DOING_READY) {
				break;
			}
			*s = (struct stay){.from = s->from};
		}
		push(m, e->in, (struct stay){.from = e->time, .doing = OPENETW_DOING_RUNNING, .cpu = e->cpu});
	}
	if (e->cpu < TEST_CPUS) {
		mind(m, LANES + e->cpu);
		push(m, LANES + e->cpu,
		     (struct stay){.from = e->time,
				   .doing = e->idle ? OPENETW_DOING_IDLE : OPENETW_DOING_RUNNING,
				   .who = e->in,
				   .cpu = e->cpu});
	}
}

static void model_ready(struct model *m, const struct said *e)
{
	uint32_t who = e->waker == OPENETW_WAKER_THREAD ? e->who : 0;
	if (e->in == 0) {
		return;
	}
	mind(m, e->in);
	if (doing_of(m, e->in) == OPENETW_DOING_WAITING) {
		push(m, e->in,
		     (struct stay){.from = e->time, .doing = OPENETW_DOING_READY, .who = who, .detail = e->waker});
	} else if (doing_of(m, e->in) != OPENETW_DOING_READY) {
		m->early[e->in].time = e->time;
		m->early[e->in].who = who;
		m->early[e->in].waker = e->waker;
		m->early[e->in].is = true;
	}
}

static void model_take(struct model *m, const struct said *e)
{
	if (e->says == SAID_SWITCH) {
		model_switch(m, e);
	} else if (e->says == SAID_READY) {
		model_ready(m, e);
	} else if (e->says == SAID_LOSS && m->loss_count < BASE_ARRAY_LEN(m->losses)) {
		int64_t last = m->loss_count ? m->losses[m->loss_count - 1] : e->time;
		m->losses[m->loss_count++] = BASE_MAX(e->time, last);
	}
}

static void model_end(struct model *m)
{
	for (uint32_t i = 0; i < ALL; i++) {
		mind(m, i);
	}
}

static void model_free(struct model *m)
{
	for (uint32_t i = 0; i < ALL; i++) {
		free(m->lanes[i].list);
	}
	free(m);
}

/* ---- random records -------------------------------------------------------------------------------- */

/* `pace`: how far apart they are; a few are out of order, say what is forgotten, or that switches were lost. */
static struct said random_said(int64_t *inout_time, uint32_t pace, uint32_t threads)
{
	*inout_time += test_random() % pace;
	uint32_t kind = test_random() % 100;
	struct said e = {.time = *inout_time - (kind == 50 ? test_random() % (10 * pace) : 0),
			 .says = kind < 60   ? SAID_SWITCH
				 : kind < 98 ? SAID_READY
				 : kind < 99 ? SAID_LOSS
					     : SAID_NOTHING,
			 .in = test_random() % threads,
			 .out = test_random() % threads,
			 .who = test_random() % TEST_THREADS,
			 .cpu = (uint16_t)(test_random() % (TEST_CPUS + 1)),
			 .reason = (uint8_t)(test_random() % 256),
			 .state = (uint8_t)(test_random() % 6),
			 .waker = (uint8_t)(OPENETW_WAKER_THREAD + test_random() % 4)};
	e.state = test_random() % 2 ? 5 : e.state;
	e.says = e.says == SAID_LOSS && test_random() % 50 ? SAID_NOTHING : e.says;
	e.idle = e.in == 0 && test_random() % 2;
	e.unwatched = e.in && test_random() % 30 == 0;
	return e;
}

static void check_lane(const struct stay_lane *l, const struct model_lane *m, int64_t end)
{
	uint64_t at = lane_first(l), before = STAY_NOWHERE;
	for (uint32_t i = 0; i < m->count; i++) {
		assert_true(at != STAY_NOWHERE);
		struct stay s = lane_stay(l, at);
		const struct stay *w = &m->list[i];
		assert_int_equal(s.from, w->from);
		assert_int_equal(s.doing, w->doing);
		assert_int_equal(s.detail, w->detail);
		assert_int_equal(s.who, w->who);
		assert_true(s.cpu == w->cpu || s.doing == OPENETW_DOING_UNKNOWN);
		assert_int_equal(lane_stay_end(l, at), i + 1 < m->count ? w[1].from : BASE_MAX(end, w->from));
		assert_int_equal(lane_before(l, at), before);
		if (i + 1 == m->count || w[1].from > w->from) {
			assert_int_equal(lane_at(l, w->from), at);
		}
		before = at;
		at = lane_behind(l, at);
	}
	assert_int_equal(at, STAY_NOWHERE);
	assert_int_equal(lane_at(l, INT64_MIN), STAY_NOWHERE);
}

/* Each block says the same as its stays. */
static void check_blocks(const struct stay_lane *l)
{
	for (uint32_t i = 0; i < l->part_count; i++) {
		const struct store_lane_part *p = &l->parts[i];
		const uint8_t *bytes = l->s->bytes + p->at;
		for (uint32_t b = 0; b < lane_blocks(p); b++) {
			struct store_stay_block have, want;
			memcpy(&have, bytes + b * sizeof have, sizeof have);
			lane_block_put(lane_narrow(p, bytes) + (size_t)b * STORE_BLOCK_STAYS, &want);
			assert_memory_equal(&have, &want, sizeof have);
		}
	}
}

static void check_file(const struct test_index *t, int fd, const struct model *m)
{
	struct stays s;
	struct diag d = {0};
	assert_int_equal(lane_file_open(fd, &t->x.files[0].store, &s, &d), 0);
	assert_false(s.cut);
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		struct stay_lane l = lane_of_thread(&s, i);
		check_lane(&l, &m->lanes[i], s.end);
		check_blocks(&l);
	}
	for (uint32_t i = 0; i < TEST_CPUS; i++) {
		struct stay_lane l = lane_of_cpu(&s, i);
		check_lane(&l, &m->lanes[LANES + i], s.end);
		check_blocks(&l);
	}
	lane_file_close(&s);
}

static void take_random(const struct test_index *t, uint32_t count, uint32_t pace, uint32_t threads, uint32_t flush)
{
	const struct lane_writer_options o = {
		.index = &t->x.files[0].store, .cpus = TEST_CPUS, .bytes_most = UINT64_MAX};
	struct model *m = calloc(1, sizeof *m);
	struct lane_writer *w;
	int64_t time = -1000;
	int fd = memfd_create("lanes", MFD_CLOEXEC);
	assert_non_null(m);
	assert_int_equal(lane_writer_create(fd, &o, &w), 0);
	struct stays_taker *taker = stays_taker_create(w, TEST_THREADS, TEST_CPUS);
	assert_non_null(taker);
	for (uint32_t i = 0; i < count; i++) {
		struct said e = random_said(&time, pace, threads);
		model_take(m, &e);
		assert_int_equal(stays_take(taker, &e), 0);
		if (flush && test_random() % flush == 0) {
			assert_int_equal(lane_write_flush(w), 0);
		}
	}
	model_end(m);
	assert_int_equal(stays_take_end(taker), 0);
	assert_int_equal(lane_write_end(w), 0);
	stays_taker_destroy(taker);
	lane_writer_destroy(w);
	check_file(t, fd, m);
	model_free(m);
}

static void a_file_has_what_records_mean_wherever_it_was_flushed(void **state)
{
	static const uint32_t flushes[] = {0, 3, 50, 1000, 20000};
	struct test_index t;
	assert_int_equal(test_index_make(&t, 1, 3, 100), 0);
	for (uint32_t i = 0; i < BASE_ARRAY_LEN(flushes); i++) {
		test_random_state = 77 + i;
		take_random(&t, 40000, 3000, TEST_THREADS, flushes[i]);
		/* Few threads: long lanes, and stays that are forgotten in parts that have been written. */
		take_random(&t, 20000, 200, 3, flushes[i]);
		/* Far apart: parts are wide. */
		take_random(&t, 3000, 2000000000, 5, flushes[i]);
	}
	test_index_free(&t);
}

static int write_some(const struct test_index *t, uint64_t most)
{
	const struct lane_writer_options o = {.index = &t->x.files[0].store, .cpus = TEST_CPUS, .bytes_most = most};
	struct lane_writer *w;
	int fd = memfd_create("lanes", MFD_CLOEXEC);
	assert_int_equal(lane_writer_create(fd, &o, &w), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct stay s = {.from = 10 * i, .doing = (uint8_t)(1 + i % 3)};
		assert_int_equal(lane_write(w, i % 7, s), 0);
		if (i % 100 == 99) {
			assert_int_equal(lane_write_flush(w), 0);
		}
	}
	assert_int_equal(lane_write_end(w), 0);
	lane_writer_destroy(w);
	return fd;
}

static void what_finds_no_room_is_cut_at_a_time(void **state)
{
	struct test_index t;
	struct stays s;
	struct diag d = {0};
	assert_int_equal(test_index_make(&t, 1, 3, 100), 0);
	assert_int_equal(lane_file_open(write_some(&t, 5000), &t.x.files[0].store, &s, &d), 0);
	assert_true(s.cut);
	assert_true(s.end > 0 && s.end < 10000 && s.end % 1000 == 0);
	struct stay_lane l = lane_of_thread(&s, 3);
	uint64_t last = lane_at(&l, INT64_MAX);
	assert_true(lane_stay(&l, last).from < s.end);
	assert_int_equal(lane_stay_end(&l, last), s.end);
	lane_file_close(&s);
	test_index_free(&t);
}

static int try_damaged(const struct test_index *t, uint32_t kind, size_t at, uint64_t value, size_t bytes)
{
	struct stays s;
	struct diag d = {0};
	int fd = write_some(t, UINT64_MAX), other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	uint64_t n, count;
	assert_int_equal(lane_file_open(fd, &t->x.files[0].store, &s, &d), 0);
	const uint8_t *p = store_section(&s.store, kind, 0, &n, &count);
	assert_int_equal(pwrite(other, &value, bytes, p - s.store.map + (off_t)at), bytes);
	lane_file_close(&s);
	int err = lane_file_open(other, &t->x.files[0].store, &s, &d);
	if (err == 0) {
		lane_file_close(&s);
	}
	return err;
}

static void a_file_of_another_index_or_a_damaged_one_is_refused(void **state)
{
	struct test_index t;
	assert_int_equal(test_index_make(&t, 1, 3, 100), 0);
	const size_t part = sizeof(struct store_lane_part), word = sizeof(uint64_t);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, cut), 0, 8), 0);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, rows), 5, 8), -ESTALE);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, index_check), 5, 4), -ESTALE);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, rules), 99, 4), -ESTALE);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, cpus), 4000000000u, 4), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANES, offsetof(struct store_lanes, cpus), 1, 4), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_FIRST, 0, 1, 8), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_FIRST, 3 * word, UINT64_MAX, 8), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_FIRST, ALL * word, 7, 8), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_PARTS, offsetof(struct store_lane_part, at), 1, 8), -EBADMSG);
	assert_int_equal(
		try_damaged(&t, STORE_LANE_PARTS, 2 * part + offsetof(struct store_lane_part, at), 1u << 30, 8),
		-EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_PARTS, offsetof(struct store_lane_part, count), 0, 4), -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_PARTS, offsetof(struct store_lane_part, count), UINT32_MAX, 4),
			 -EBADMSG);
	assert_int_equal(try_damaged(&t, STORE_LANE_PARTS, offsetof(struct store_lane_part, wide), 7, 4), -EBADMSG);
	test_index_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_what_records_mean_wherever_it_was_flushed),
		cmocka_unit_test(what_finds_no_room_is_cut_at_a_time),
		cmocka_unit_test(a_file_of_another_index_or_a_damaged_one_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
