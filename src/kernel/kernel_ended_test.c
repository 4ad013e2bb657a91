/* SPDX-License-Identifier: MIT
 */
#include "kernel/kernel_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOOK_THREAD_END  0x0502u
#define HOOK_PROCESS_END 0x0302u
#define HOOK_SYSCALL     0x0F33u

/* A ring that has forgotten what was older than `since`, of processor 0 all until `until`. */
struct ring {
	struct kernel *k;
	struct kernel_window window;
	uint32_t said[16], count; /* threads whose ends were told again */
	bool saying;
};

static void on_record(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		      const void *body, uint32_t body_bytes)
{
	struct ring *r = ctx;
	(void)sessions, (void)cpu, (void)time, (void)head_bytes, (void)body, (void)body_bytes;
	if (r->saying && le16_get((const uint8_t *)head + 6) == HOOK_THREAD_END) {
		assert_true(r->count < BASE_ARRAY_LEN(r->said));
		r->said[r->count++] = le32_get((const uint8_t *)head + 8);
	}
}

static bool on_window(void *ctx, uint32_t slot, struct kernel_window *ret)
{
	*ret = ((struct ring *)ctx)->window;
	return slot == 0;
}

static int setup(void **state)
{
	struct ring *r = calloc(1, sizeof *r);
	r->k = calloc(1, sizeof *r->k);
	r->k->threads = kernel_table_create();
	r->k->forgetful = r->k->active = 1;
	r->k->want[HOOK_THREAD_END] = r->k->want[HOOK_PROCESS_END] = r->k->want[HOOK_SYSCALL] = 1;
	r->k->out = (struct kernel_output){.record = on_record, .window = on_window, .ctx = r};
	r->window = (struct kernel_window){.since = 1000, .after = UINT64_MAX, .until = {2000}};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct ring *r = *state;
	kernel_table_destroy(r->k->threads);
	free(r->k->ended);
	free(r->k);
	free(r);
	return 0;
}

static void end(struct ring *r, uint32_t tid, uint64_t time)
{
	kernel_emit_thread(r->k, 0, HOOK_THREAD_END, time, 0, tid, tid, "");
	kernel_ended_thread(r->k, tid, tid);
}

static void act(struct ring *r, uint32_t tid, uint64_t time)
{
	struct kernel_record e = {.hook = HOOK_SYSCALL, .time = time, .pid = tid, .tid = tid};
	kernel_out(r->k, &e);
}

static void say(struct ring *r)
{
	r->saying = true;
	kernel_ended_say(r->k, 0);
}

static void ends_that_a_ring_has_forgotten_are_said_again(void **state)
{
	struct ring *r = *state;
	end(r, 10, 900); /* all that it did is gone as well */
	end(r, 11, 1500);
	end(r, 12, 2500); /* this the ring still has */
	say(r);
	assert_int_equal(r->count, 1);
	assert_int_equal(r->said[0], 11);
}

/* Linux tells the end of a thread before it takes its memory apart. */
static void an_end_older_than_the_ring_is_said_again_if_the_thread_ran_on(void **state)
{
	struct ring *r = *state;
	end(r, 20, 900);
	end(r, 21, 901);
	act(r, 20, 1100);
	act(r, 21, 950); /* forgotten, too */
	act(r, 22, 1100);
	say(r);
	assert_int_equal(r->count, 1);
	assert_int_equal(r->said[0], 20);
}

static void what_a_new_thread_of_the_same_number_does_is_not_the_old_ones(void **state)
{
	struct ring *r = *state;
	end(r, 30, 900);
	kernel_ended_not(r->k, 30);
	act(r, 30, 1100);
	say(r);
	assert_int_equal(r->count, 0);
}

/* Events after the end bring a thread back into the table: it goes for good when its number's place is needed. */
static void threads_that_ran_on_do_not_stay_in_the_table(void **state)
{
	struct ring *r = *state;
	assert_non_null(kernel_table_add(r->k->threads, 40, 40));
	kernel_table_remove(r->k->threads, 40);
	end(r, 40, 900);
	assert_non_null(kernel_table_add(r->k->threads, 40, 40));
	end(r, 40 + KERNEL_DYING, 950);
	assert_null(kernel_table_find(r->k->threads, 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_that_a_ring_has_forgotten_are_said_again, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_older_than_the_ring_is_said_again_if_the_thread_ran_on, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_a_new_thread_of_the_same_number_does_is_not_the_old_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(threads_that_ran_on_do_not_stay_in_the_table, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
