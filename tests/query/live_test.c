/* SPDX-License-Identifier: MIT
 *
 * An index that is made in the background: what it answers meanwhile, how it is cancelled, and what is left of it.
 * The function that is told of the progress stops the work where a test wants to look.
 */
#include "made_trace.h"

#include "openetw/error.h"
#include "openetw/query.h"

#include "evntcons.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS 400000u
#define GROUP  65536u

static char folder[64], trace[96], second[96];

/* Events of an id among the first n. */
static uint64_t of_id(uint64_t n, uint32_t id)
{
	return n / MADE_IDS + (n % MADE_IDS >= id);
}

static int begin(void **state)
{
	made_folder(folder, sizeof folder, "live");
	snprintf(trace, sizeof trace, "%s/big.etl", folder);
	snprintf(second, sizeof second, "%s/small.etl", folder);
	made_trace_write(trace, EVENTS);
	return 0;
}

/* What is in the folder besides the traces. */
static unsigned others(bool remove)
{
	DIR *d = opendir(folder);
	unsigned n = 0;
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		size_t length = strlen(e->d_name);
		if (e->d_name[0] == '.' && (e->d_name[1] == 0 || e->d_name[1] == '.')) {
			continue;
		}
		bool is_trace = length > 4 && strcmp(e->d_name + length - 4, ".etl") == 0;
		n += !is_trace;
		if (remove && !is_trace) {
			assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
		}
	}
	closedir(d);
	return n;
}

static int end(void **state)
{
	return made_folder_remove(folder);
}

static int clean(void **state)
{
	others(true);
	return 0;
}

/* ---- the gate ------------------------------------------------------------------------------------ */

/* The maker waits at each report until the test lets it go on. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open, waits, refuse;
	uint64_t passes, rows;
};
#define GATE                                                                           \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

static bool at_gate(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	struct gate *g = context;
	assert_true(done <= total);
	pthread_mutex_lock(&g->lock);
	g->rows = rows;
	uint64_t pass = g->passes;
	while (!g->open && g->passes == pass) {
		g->waits = true;
		pthread_cond_broadcast(&g->changed);
		pthread_cond_wait(&g->changed, &g->lock);
	}
	g->waits = false;
	bool yes = !g->refuse;
	pthread_mutex_unlock(&g->lock);
	return yes;
}

static void gate_wait(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	while (!g->waits) {
		pthread_cond_wait(&g->changed, &g->lock);
	}
	pthread_mutex_unlock(&g->lock);
}

static void gate_pass(struct gate *g, bool all)
{
	pthread_mutex_lock(&g->lock);
	g->passes++;
	g->waits = false;
	g->open = all;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static struct openetw_index *open_live(struct gate *g, uint32_t flags)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	struct openetw_index *x = NULL;
	const char *path = trace;
	o.flags = OPENETW_INDEX_BACKGROUND | flags;
	o.progress = g ? at_gate : NULL;
	o.context = g;
	assert_int_equal(openetw_index_open(&path, 1, &o, &x), 0);
	return x;
}

static struct openetw_index_progress progress_of(struct openetw_index *x)
{
	OPENETW_SIZED(struct openetw_index_progress, p);
	assert_int_equal(openetw_index_progress(x, &p), 0);
	return p;
}

/* Lets the maker work until questions have something to look at. */
static struct openetw_index_progress work_until_rows(struct openetw_index *x, struct gate *g, uint64_t rows)
{
	struct openetw_index_progress p;
	for (;;) {
		gate_wait(g);
		p = progress_of(x);
		if (p.rows_covered >= rows) {
			return p;
		}
		assert_int_equal(p.code, ERROR_IO_PENDING);
		gate_pass(g, false);
	}
}

/* ---- questions ----------------------------------------------------------------------------------- */

static bool add_facet(void *context, const struct openetw_facet *f)
{
	*(uint64_t *)context += f->count;
	return true;
}

static bool last_row(void *context, const struct openetw_row *r)
{
	*(struct openetw_row *)context = *r;
	return true;
}

/* Everything that can be asked is of the first `rows` events. */
static void check_answers(struct openetw_query *q, uint64_t rows, bool partial)
{
	OPENETW_SIZED(struct openetw_answer, a);
	OPENETW_SIZED(struct openetw_histogram, h);
	uint64_t sum = 0;
	struct openetw_row last = {0};
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, of_id(rows, 3));
	assert_int_equal(a.scanned, rows);
	assert_int_equal(a.partial, partial);
	assert_int_equal(a.rows_covered, rows);
	assert_true(partial ? a.bytes_covered < a.bytes : a.bytes_covered == a.bytes);
	assert_int_equal(openetw_query_histogram(q, INT64_MIN / 2, INT64_MAX / 2, 5, OPENETW_BY_TYPE, 9, &h), 0);
	assert_int_equal(h.series, rows ? 1 : 0);
	assert_true(rows == 0 || h.totals[0] == a.matched);
	assert_int_equal(h.answer.partial, partial);
	assert_int_equal(openetw_query_facets(q, OPENETW_BY_PROCESS, 9, add_facet, &sum, &a), 0);
	assert_int_equal(sum, a.matched);
	if (a.matched) {
		const openetw_event_record *e;
		assert_int_equal(openetw_query_rows(q, a.matched - 1, 9, last_row, &last, &a), 0);
		assert_int_equal(last.row, (a.matched - 1) * MADE_IDS + 2);
		assert_int_equal(last.time, (int64_t)(last.row + 1) * MADE_STEP * 100);
		assert_int_equal(openetw_query_event(q, last.row, &e), 0);
		assert_int_equal(e->UserDataLength, 4);
		assert_memory_equal(e->UserData, &(uint32_t){(uint32_t)last.row}, 4);
	}
}

static void questions_are_answered_of_what_is_there(void **state)
{
	struct gate g = GATE;
	struct openetw_index *x = open_live(&g, OPENETW_INDEX_WRITE);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, "id == 3"), 0);
	gate_wait(&g); /* nothing was read yet */
	check_answers(q, 0, true);
	assert_true(progress_of(x).covered_until == INT64_MIN);
	double fraction = 0;
	unsigned views = 0;
	for (uint64_t rows = GROUP; rows + GROUP <= EVENTS - GROUP; rows += GROUP) {
		struct openetw_index_progress p = work_until_rows(x, &g, rows);
		assert_int_equal(p.rows_covered % GROUP, 0);
		assert_true(p.rows_covered < EVENTS);
		assert_true(p.rows_covered <= p.rows_read);
		assert_int_equal(p.covered_until, (int64_t)p.rows_covered * MADE_STEP * 100);
		assert_true(p.fraction >= fraction && p.fraction < 1);
		assert_true(p.bytes_covered > 0 && p.bytes_covered < p.bytes && p.seconds_left >= 0);
		fraction = p.fraction;
		check_answers(q, p.rows_covered, true);
		views++;
	}
	assert_true(views >= 3);
	gate_pass(&g, true);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), 0);
	struct openetw_index_progress p = progress_of(x);
	assert_int_equal(p.code, 0);
	assert_int_equal(p.rows_covered, EVENTS);
	assert_true(p.fraction == 1 && p.bytes_covered == p.bytes && p.covered_until == INT64_MAX);
	check_answers(q, EVENTS, false);
	openetw_query_destroy(q);
	openetw_index_close(x);
	assert_int_equal(others(false), 1);
	x = open_live(NULL, 0);
	OPENETW_SIZED(struct openetw_index_about, about);
	assert_int_equal(openetw_index_about(x, &about), 0);
	assert_true(about.reused);
	assert_int_equal(openetw_index_wait(x, 0), 0);
	openetw_index_close(x);
}

/* Without a schema a number of ours stands for the payload, so all events have to be read. */
static void what_was_read_of_a_field_is_kept_while_the_index_grows(void **state)
{
	struct gate g = GATE;
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_index *x = open_live(&g, OPENETW_INDEX_MEMORY);
	uint64_t first = work_until_rows(x, &g, GROUP).rows_covered;
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, "__payload ~ 00"), 0);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.decoded, first);
	gate_pass(&g, true);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), 0);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.scanned, EVENTS);
	assert_int_equal(a.decoded, EVENTS - first);
	openetw_query_destroy(q);
	openetw_index_close(x);
}

static uint64_t decoded_for(struct openetw_index *x, const char *filter, uint64_t matched)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, filter), 0);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, matched);
	openetw_query_destroy(q);
	return a.decoded;
}

static void a_field_that_was_read_is_not_read_again_by_another_process(void **state)
{
	OPENETW_SIZED(struct openetw_index_options, o);
	struct openetw_index *x;
	const char *path = trace;
	o.flags = OPENETW_INDEX_WRITE;
	assert_int_equal(openetw_index_open(&path, 1, &o, &x), 0);
	/* The payload is the event's number: of the first 65,536 its upper half is 0. */
	assert_int_equal(decoded_for(x, "_raw =~ /0000$/", 65536), EVENTS);
	assert_int_equal(decoded_for(x, "_raw == 01000000", 1), 0);
	openetw_index_close(x);
	assert_int_equal(others(false), 2);
	assert_int_equal(openetw_index_open(&path, 1, &o, &x), 0);
	assert_int_equal(decoded_for(x, "_raw =~ /0000$/", 65536), 0);
	assert_int_equal(decoded_for(x, "_raw == 01000000", 1), 0);
	openetw_index_close(x);
}

static void numbers_of_other_files_stay_the_same(void **state)
{
	struct gate g = GATE;
	OPENETW_SIZED(struct openetw_index_options, o);
	OPENETW_SIZED(struct openetw_index_type, before);
	OPENETW_SIZED(struct openetw_index_type, after);
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_index *x;
	const char *paths[] = {trace, second}, *small = second;
	made_trace_write(second, 100);
	o.flags = OPENETW_INDEX_WRITE;
	assert_int_equal(openetw_index_open(&small, 1, &o, &x), 0);
	openetw_index_close(x);
	o.flags = OPENETW_INDEX_WRITE | OPENETW_INDEX_BACKGROUND;
	o.progress = at_gate;
	o.context = &g;
	assert_int_equal(openetw_index_open(paths, 2, &o, &x), 0);
	struct openetw_query *q = openetw_query_create(x);
	gate_wait(&g);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, 100);
	assert_true(a.partial);
	assert_int_equal(openetw_index_type(x, 1, &before), 0);
	work_until_rows(x, &g, 100 + GROUP);
	assert_int_equal(openetw_index_type(x, 1, &after), 0);
	assert_string_equal(before.provider, after.provider);
	assert_int_equal(before.rows, after.rows);
	gate_pass(&g, true);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), 0);
	assert_int_equal(openetw_index_type(x, 1, &after), 0);
	assert_ptr_equal(before.name, after.name); /* texts live as long as the index */
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, 100 + EVENTS);
	openetw_query_destroy(q);
	openetw_index_close(x);
	unlink(second);
}

/* ---- the end of the work --------------------------------------------------------------------------- */

static void a_cancelled_index_leaves_no_file_and_answers_what_it_has(void **state)
{
	struct gate g = GATE;
	struct openetw_index *x = open_live(&g, OPENETW_INDEX_WRITE);
	uint64_t rows = work_until_rows(x, &g, GROUP).rows_covered;
	assert_int_equal(openetw_index_wait(x, 1), ERROR_TIMEOUT);
	openetw_index_cancel(x);
	gate_pass(&g, true);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), ERROR_CANCELLED);
	assert_int_equal(progress_of(x).code, ERROR_CANCELLED);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, "id == 3"), 0);
	check_answers(q, rows, true);
	openetw_query_destroy(q);
	openetw_index_close(x);
	assert_int_equal(others(false), 0);
}

static void the_progress_function_cancels_too(void **state)
{
	struct gate g = GATE;
	struct openetw_index *x = open_live(&g, OPENETW_INDEX_WRITE);
	gate_wait(&g);
	g.refuse = true;
	gate_pass(&g, true);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), ERROR_CANCELLED);
	openetw_index_close(x);
	assert_int_equal(others(false), 0);
}

static void closing_ends_the_work_and_leaves_no_file(void **state)
{
	struct gate g = GATE;
	struct openetw_index *x = open_live(&g, OPENETW_INDEX_WRITE);
	work_until_rows(x, &g, GROUP);
	openetw_index_cancel(x); /* before it may go on, or it could be ready sooner than it is closed */
	gate_pass(&g, true);
	openetw_index_close(x);
	assert_int_equal(others(false), 0);
	for (unsigned i = 0; i < 20; i++) {
		openetw_index_close(open_live(NULL, OPENETW_INDEX_MEMORY));
	}
}

static void what_is_no_trace_is_told_at_once(void **state)
{
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_options, o);
	const char *path = "/etc/passwd";
	o.flags = OPENETW_INDEX_BACKGROUND | OPENETW_INDEX_MEMORY;
	assert_int_not_equal(openetw_index_open(&path, 1, &o, &x), 0);
	assert_non_null(strstr(openetw_last_error_text(), "/etc/passwd"));
}

/* ---- processes ------------------------------------------------------------------------------------- */

static bool tell_and_sleep(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	if (rows >= 2 * GROUP) {
		(void)!write(*(int *)context, "x", 1);
		pause();
	}
	return true;
}

static bool tell_and_wait(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	int *pipes = context;
	char c;
	if (rows >= 2 * GROUP && pipes[0] >= 0) {
		(void)!write(pipes[3], "x", 1);
		(void)!read(pipes[0], &c, 1);
		pipes[0] = -1;
	}
	return true;
}

/* In a child: makes the index and exits with what became of it. */
static pid_t child(bool (*fn)(void *, uint64_t, uint64_t, uint64_t), void *context)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		OPENETW_SIZED(struct openetw_index_options, o);
		struct openetw_index *x;
		const char *path = trace;
		o.flags = OPENETW_INDEX_WRITE | OPENETW_INDEX_REBUILD;
		o.progress = fn;
		o.context = context;
		_exit(openetw_index_open(&path, 1, &o, &x) == 0 ? 0 : 1);
	}
	return pid;
}

static void check_reused(bool reused)
{
	OPENETW_SIZED(struct openetw_index_about, about);
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_index *x;
	const char *path = trace;
	assert_int_equal(openetw_index_open(&path, 1, NULL, &x), 0);
	assert_int_equal(openetw_index_about(x, &about), 0);
	assert_int_equal(about.reused, reused);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_int_equal(a.matched, EVENTS);
	openetw_query_destroy(q);
	openetw_index_close(x);
}

static void a_killed_maker_leaves_nothing(void **state)
{
	int pipes[2], status;
	char c;
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = child(tell_and_sleep, &pipes[1]);
	assert_int_equal(read(pipes[0], &c, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(others(false), 0);
	check_reused(false);
}

/* Both are in the middle of it at the same time. */
static void two_makers_end_with_one_good_index(void **state)
{
	int pipes[4], status;
	pid_t pid[2];
	char c;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(pipes + 2), 0);
	for (int i = 0; i < 2; i++) {
		pid[i] = child(tell_and_wait, pipes);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read(pipes[2], &c, 1), 1);
	}
	assert_int_equal(write(pipes[1], "go", 2), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	for (int i = 0; i < 4; i++) {
		close(pipes[i]);
	}
	assert_int_equal(others(false), 1);
	check_reused(true);
}

/* ---- questions that take long ------------------------------------------------------------------------ */

struct asked {
	unsigned calls;
	unsigned most;
};

static bool asked_for(void *context, uint64_t done, uint64_t total)
{
	struct asked *a = context;
	assert_true(done <= total);
	return ++a->calls < a->most;
}

static void a_question_tells_its_progress_and_ends_when_told_to(void **state)
{
	struct asked few = {.most = 1}, many = {.most = UINT32_MAX};
	OPENETW_SIZED(struct openetw_answer, a);
	struct openetw_index *x = open_live(NULL, OPENETW_INDEX_MEMORY);
	assert_int_equal(openetw_index_wait(x, UINT32_MAX), 0);
	struct openetw_query *q = openetw_query_create(x);
	assert_int_equal(openetw_query_set_filter(q, "__payload ~ 00"), 0);
	openetw_query_set_progress(q, asked_for, &few);
	assert_int_equal(openetw_query_count(q, &a), ERROR_CANCELLED);
	assert_int_equal(few.calls, 1);
	openetw_query_set_progress(q, asked_for, &many);
	assert_int_equal(openetw_query_count(q, &a), 0);
	assert_true(many.calls >= 1);
	assert_false(a.partial);
	openetw_query_destroy(q);
	openetw_index_close(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_killed_maker_leaves_nothing, clean),
		cmocka_unit_test_teardown(two_makers_end_with_one_good_index, clean),
		cmocka_unit_test_teardown(questions_are_answered_of_what_is_there, clean),
		cmocka_unit_test_teardown(what_was_read_of_a_field_is_kept_while_the_index_grows, clean),
		cmocka_unit_test_teardown(a_field_that_was_read_is_not_read_again_by_another_process, clean),
		cmocka_unit_test_teardown(numbers_of_other_files_stay_the_same, clean),
		cmocka_unit_test_teardown(a_cancelled_index_leaves_no_file_and_answers_what_it_has, clean),
		cmocka_unit_test_teardown(the_progress_function_cancels_too, clean),
		cmocka_unit_test_teardown(closing_ends_the_work_and_leaves_no_file, clean),
		cmocka_unit_test_teardown(what_is_no_trace_is_told_at_once, clean),
		cmocka_unit_test_teardown(a_question_tells_its_progress_and_ends_when_told_to, clean),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
