/* SPDX-License-Identifier: MIT
 * Which lines monitor shows with which results; the events are given as what kevent_of() makes of them.
 */
#include "tools/openetw/monitor.h"

#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

static const struct kevent *given;
static uint64_t shown, results, bytes;

bool kevent_of(struct openetw_state *s, const EVENT_RECORD *e, struct kevent *ret)
{
	(void)s, (void)e;
	*ret = *given;
	return true;
}
bool feed_shows(const struct feed *f, uint32_t pid, uint64_t time)
{
	(void)f, (void)pid, (void)time;
	return true;
}
ULONG openetw_state_process(struct openetw_state *s, uint32_t pid, uint64_t time, struct openetw_process *ret)
{
	(void)s, (void)pid, (void)time, (void)ret;
	return ERROR_NOT_FOUND;
}
bool monitor_wants_process(const struct monitor *m, const struct line *l)
{
	(void)m;
	return strcmp(l->process, "other") != 0;
}
void monitor_print(struct monitor *m, const struct line *l)
{
	(void)m;
	shown++;
	results += l->has_result;
	bytes += l->k.bytes;
}

static void event(struct monitor *m, enum kevent_kind kind, enum kevent_op op, uint64_t irp, uint64_t time,
		  const char *process)
{
	EVENT_RECORD e = {0};
	struct kevent k = {.kind = kind, .op = op, .irp = irp, .time = time, .name = "", .process = process};
	k.thread = "";
	k.bytes = kind == KEVENT_FILE_END ? 4096 : 0;
	given = &k;
	monitor_event(m, &e);
}

static struct monitor *begin(void)
{
	struct monitor *m = calloc(1, sizeof *m);
	assert_non_null(m);
	m->live = true;
	m->kinds = ~0u;
	shown = results = bytes = 0;
	return m;
}

static void a_result_is_found_whatever_closes_have_none(void **state)
{
	(void)state;
	struct monitor *m = begin();
	event(m, KEVENT_FILE, KOP_READ, 1, 1000, "mine");
	for (uint64_t i = 0; i < 3 * MONITOR_PENDING_MAX; i++) { /* files of processes that ended */
		event(m, KEVENT_FILE, KOP_CLEANUP, 2 + i, 2000 + i, i % 2 ? "mine" : "other");
	}
	event(m, KEVENT_FILE_END, KOP_END, 1, 1000000000, "mine");
	monitor_release(m, UINT64_MAX);
	assert_int_equal(m->early, 0);
	assert_int_equal(results, 1);
	assert_int_equal(bytes, 4096);
	assert_int_equal(shown, 1 + 3 * MONITOR_PENDING_MAX / 2);
	free(m);
}

static void lines_that_are_shown_before_their_results_are_counted(void **state)
{
	(void)state;
	struct monitor *m = begin();
	for (uint64_t i = 0; i <= MONITOR_PENDING_MAX; i++) {
		event(m, KEVENT_FILE, KOP_READ, 1 + i, 1000 + i, "mine");
	}
	assert_int_equal(m->early, MONITOR_PENDING_MAX / 8);
	assert_int_equal(shown, MONITOR_PENDING_MAX / 8);
	event(m, KEVENT_FILE_END, KOP_END, 1 + MONITOR_PENDING_MAX, 9000000, "mine");
	monitor_release(m, UINT64_MAX);
	assert_int_equal(shown, 1 + MONITOR_PENDING_MAX);
	assert_int_equal(results, 1);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_found_whatever_closes_have_none),
		cmocka_unit_test(lines_that_are_shown_before_their_results_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
