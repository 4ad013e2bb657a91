/* SPDX-License-Identifier: MIT
 *
 * Writes that are left at each point where others can see a difference, again and again: by a thread that jumps
 * out and goes on, and by threads that end there. A pool has 64 chunks; were one lost each time, it would be full
 * after 64. What was published is there once, what was not is nowhere.
 */
#include "pool/pool_testing.h"

#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef OPENETW_TESTPOINTS

#define ROUNDS 400

static const char *const points[] = {
	"writer-after-lock",       "writer-after-begun",   "writer-mid-copy",     "writer-before-publish",
	"writer-after-publish",    "writer-before-unlock", "writer-before-claim", "writer-after-claim",
	"writer-after-generation", "writer-after-close",
};

static uint8_t payload[1500];
static const char *leave_at;
static sigjmp_buf out;
static bool by_thread;

static void at_point(const char *name)
{
	if (leave_at && strcmp(name, leave_at) == 0) {
		leave_at = NULL;
		if (by_thread) {
			pthread_exit(NULL);
		}
		siglongjmp(out, 1);
	}
}

struct count {
	uint64_t written, refused, drained, jumped;
};

/* Ordinary events; the drain runs beside them. */
static void some(struct rig *r, struct count *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		c->written += test_write(r->w, payload, 1 + i * 37 % sizeof payload) == 0;
		c->drained += rig_flush(r, NULL, NULL);
	}
}

/* Writes until the point is reached, as far down the stack as this. */
static __attribute__((noinline)) void leave(struct rig *r, struct count *c, unsigned depth)
{
	volatile uint8_t frame[512]; /* so that what some() writes is from higher up, however a compiler lays it out */
	__asm__ volatile("" : : "r"(frame) : "memory"); /* all of it is there */
	frame[0] = (uint8_t)depth;
	if (depth > 0) {
		leave(r, c, depth - 1);
	}
	for (unsigned i = 0; leave_at && i < 1000; i++) {
		c->written += test_write(r->w, payload, 900 + i % 600) == 0;
	}
	(void)frame[0];
}

/* Published before it was left, though nobody was told so. */
static bool is_published(const char *point)
{
	return strcmp(point, "writer-after-publish") == 0 || strcmp(point, "writer-before-unlock") == 0;
}

static unsigned chunks_of_slots(const struct rig *r)
{
	unsigned n = 0;
	for (unsigned i = 0; i < POOL_SLOTS_TOTAL; i++) {
		n += r->w->slot[i].at != NULL;
	}
	return n;
}

static unsigned locked_slots(const struct rig *r)
{
	unsigned n = 0;
	for (unsigned i = 0; i < POOL_SLOTS_TOTAL; i++) {
		n += r->w->slot[i].lock != 0;
	}
	return n;
}

/* The kernel knows a thread a little longer than who has joined it. */
static void reap_all(struct rig *r)
{
	for (int i = 0; i < 2000 && locked_slots(r) != 0; i++) {
		pool_writer_reap(r->w);
		usleep(i ? 5000 : 0);
	}
	assert_int_equal(locked_slots(r), 0);
}

/* Nothing is missing: each chunk is free, or some slot has it. */
static void expect_all_chunks(struct rig *r)
{
	rig_flush(r, NULL, NULL);
	unsigned taken = 64 - (unsigned)__builtin_popcountll(order_load_relaxed(&rig_header(r)->free_mask));
	assert_int_equal(taken, chunks_of_slots(r));
}

static void a_thread_that_jumps_out_anywhere_goes_on(void **state)
{
	pool_testpoint_hook = at_point;
	by_thread = false;
	for (volatile size_t p = 0; p < BASE_ARRAY_LEN(points); p++) {
		struct rig r = rig_make(4096);
		static struct count c;
		c = (struct count){0};
		for (volatile unsigned round = 0; round < ROUNDS; round++) {
			leave_at = points[p];
			if (sigsetjmp(out, 0) == 0) {
				leave(&r, &c, round % 5);
				fail_msg("%s was not reached", points[p]);
			}
			c.jumped++;
			c.drained += rig_flush(&r, NULL, NULL);
			some(&r, &c, 8);
		}
		/* As ever: nothing is refused any more. */
		uint64_t before = c.written;
		some(&r, &c, 500);
		assert_int_equal(c.written - before, 500);
		c.drained += rig_flush(&r, NULL, NULL);
		assert_int_equal(c.drained, c.written + (is_published(points[p]) ? c.jumped : 0));
		struct pool_view_stats st;
		pool_view_stats(r.v, &st);
		assert_int_equal(st.records_rejected, 0);
		/* The latest ones are still in doubt. */
		assert_true(locked_slots(&r) <= 64);
		pool_reclaim_mine(r.w, test_tid(), UINT64_MAX / 2, NULL, true);
		rig_free(&r);
	}
	pool_testpoint_hook = NULL;
}

struct job {
	struct rig *r;
	struct count *c;
};

static void *write_and_end(void *arg)
{
	struct job *j = arg;
	leave(j->r, j->c, 0);
	return NULL;
}

static void threads_that_end_anywhere_leave_nothing_behind(void **state)
{
	pool_testpoint_hook = at_point;
	by_thread = true;
	for (size_t p = 0; p < BASE_ARRAY_LEN(points); p++) {
		struct rig r = rig_make(4096);
		struct count c = {0};
		struct job j = {&r, &c};
		for (unsigned round = 0; round < ROUNDS / 2; round++) {
			pthread_t t;
			leave_at = points[p];
			assert_int_equal(pthread_create(&t, NULL, write_and_end, &j), 0);
			pthread_join(t, NULL);
			assert_null(leave_at);
			c.jumped++;
			if (round % 7 == 6) {
				reap_all(&r);
			}
			some(&r, &c, 3);
		}
		reap_all(&r);
		assert_true(r.w->abandoned >= ROUNDS / 2);
		uint64_t before = c.written;
		some(&r, &c, 500);
		assert_int_equal(c.written - before, 500);
		c.drained += rig_flush(&r, NULL, NULL);
		assert_int_equal(c.drained, c.written + (is_published(points[p]) ? c.jumped : 0));
		expect_all_chunks(&r);
		rig_free(&r);
	}
	pool_testpoint_hook = NULL;
}

/* While somebody who lives is about to claim a chunk, nobody can know whose a claimed one is. */
static void a_claim_is_not_undone_while_somebody_else_claims(void **state)
{
	struct rig r = rig_make(4096);
	pthread_t t;
	struct count c = {0};
	struct job j = {&r, &c};
	pool_testpoint_hook = at_point;
	by_thread = true;
	leave_at = "writer-after-claim";
	assert_int_equal(pthread_create(&t, NULL, write_and_end, &j), 0);
	pthread_join(t, NULL);
	pool_testpoint_hook = NULL;
	struct pool_slot *other = &r.w->slot[300];
	other->lock = test_tid();
	other->frame = 1; /* far away */
	other->chunk = pool_claim_note(0, 5, 1, 0);
	uint64_t free = order_load_relaxed(&rig_header(&r)->free_mask);
	pool_writer_reap(r.w);
	assert_int_equal(order_load_relaxed(&rig_header(&r)->free_mask), free);
	assert_int_equal(locked_slots(&r), 2);
	other->chunk = POOL_CHUNK_NONE;
	other->lock = 0;
	reap_all(&r);
	assert_int_equal(order_load_relaxed(&rig_header(&r)->free_mask), UINT64_MAX);
	rig_free(&r);
}

#endif

static volatile bool left;

static void *stay(void *arg)
{
	struct rig *r = arg;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	r->w->slot[100].frame = here - 20000; /* below everything that follows */
	r->w->slot[101].frame = here + 100;   /* above: a handler may sleep here that interrupted it */
	r->w->slot[100].lock = r->w->slot[101].lock = (uint32_t)gettid();
	left = true;
	while (left) {
		usleep(1000);
	}
	return NULL;
}

static void a_living_thread_that_sleeps_higher_up_has_left_its_write(void **state)
{
	struct rig r = rig_make(4096);
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, stay, &r), 0);
	while (!left) {
		usleep(1000);
	}
	pool_writer_reap(r.w); /* the first look */
	assert_int_not_equal(r.w->slot[100].lock, 0);
	for (int i = 0; i < 1000 && r.w->slot[100].lock != 0; i++) {
		usleep(20000);
		pool_writer_reap(r.w);
	}
	assert_int_equal(r.w->slot[100].lock, 0);
	assert_int_not_equal(r.w->slot[101].lock, 0);
	left = false;
	pthread_join(t, NULL);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef OPENETW_TESTPOINTS
		cmocka_unit_test(a_thread_that_jumps_out_anywhere_goes_on),
		cmocka_unit_test(threads_that_end_anywhere_leave_nothing_behind),
		cmocka_unit_test(a_claim_is_not_undone_while_somebody_else_claims),
#endif
		cmocka_unit_test(a_living_thread_that_sleeps_higher_up_has_left_its_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
