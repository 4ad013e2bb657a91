/* SPDX-License-Identifier: MIT
 *
 * Questions on all processors: the groups are handed out one after the other, so each thread gets its own in ascending
 * order and none waits long for the others.
 */
#include "query/query_question.h"

#include "base/quiet_thread.h"
#include "base/sized.h"
#include "base/win32_error.h"
#include "query/query_durations.h"
#include "query/query_reading.h"

#include <sched.h>
#include <stdlib.h>

/* ---- what is known of the groups ------------------------------------------------------------------ */

static int know_file(const struct index_file *f, struct question_file *ret)
{
	const struct store *s = &f->store;
	uint64_t bytes, count, row = s->first_row;
	int64_t latest = INT64_MIN;
	ret->type_counts = store_section(s, STORE_TYPE_COUNTS, 0, &bytes, &count);
	ret->process_counts = store_section(s, STORE_PROCESS_COUNTS, 0, &bytes, &count);
	ret->first_row = malloc((s->group_count + 1ull) * sizeof *ret->first_row);
	ret->latest = malloc((s->group_count + 1ull) * sizeof *ret->latest);
	ret->found = calloc(s->group_count + 1ull, sizeof *ret->found);
	if (!ret->first_row || !ret->latest || !ret->found) {
		return -ENOMEM;
	}
	for (uint32_t g = 0; g < s->group_count; g++) {
		ret->first_row[g] = row;
		ret->latest[g] = latest;
		row += s->groups[g].rows;
		latest = BASE_MAX(latest, s->groups[g].to);
	}
	ret->first_row[s->group_count] = row;
	ret->latest[s->group_count] = latest;
	return 0;
}

static int know_files(struct openetw_query *q)
{
	if (q->files) {
		return 0;
	}
	q->files = calloc(q->x->file_count ? q->x->file_count : 1, sizeof *q->files);
	int err = q->files ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->x->file_count && err == 0; i++) {
		err = know_file(&q->x->files[i], &q->files[i]);
	}
	return err;
}

void question_forget(struct openetw_query *q)
{
	q->counted = false;
	q->undecided = 0;
	for (uint32_t f = 0; q->files && f < q->x->file_count; f++) {
		for (uint32_t g = 0; q->files[f].found && g < q->x->files[f].store.group_count; g++) {
			free(q->files[f].found[g]);
			q->files[f].found[g] = NULL;
		}
	}
	for (uint32_t i = 0; i < QUESTION_THREADS_MAX; i++) {
		if (q->scan[i]) {
			/* They remember what another filter said. */
			q->scan[i]->memo_file = 0;
			q->scan[i]->truth_count = 0;
			reading_forget(q->scan[i]->reading);
		}
	}
}

static void files_free(struct openetw_query *q)
{
	for (uint32_t i = 0; q->files && i < q->x->file_count; i++) {
		free(q->files[i].found);
		free(q->files[i].first_row);
		free(q->files[i].latest);
		free(q->files[i].position);
	}
	free(q->files);
	q->files = NULL;
}

void question_free(struct openetw_query *q)
{
	question_forget(q);
	files_free(q);
	plan_free(q->plan);
	q->plan = NULL;
}

/* All that was made for another view goes with it, but for what is open of the files. */
static void use_view(struct openetw_query *q, struct openetw_index *now)
{
	struct openetw_index *before = q->x;
	question_free(q);
	q->x = now;
	for (uint32_t i = 0; i < QUESTION_THREADS_MAX; i++) {
		if (q->scan[i] && q->scan[i]->reading) {
			reading_renew(q->scan[i]->reading, now);
		}
	}
	index_release(before);
}

/* There is more in the index: all that was made for the older view is made anew. */
int question_renew(struct openetw_query *q)
{
	struct openetw_index *now = index_hold(q->index);
	if (!now) {
		return -ENOMEM;
	}
	if (now == q->x) {
		index_release(now);
		return 0;
	}
	use_view(q, now);
	return 0;
}

void question_leave(struct openetw_query *q)
{
	if (q->index->ring && q->x != q->index) {
		use_view(q, q->index);
	}
}

#define TELL_NS 100000000u

void question_tell(struct openetw_query *q)
{
	uint64_t now = q->progress ? clock_read_system_ns() : 0;
	if (q->progress && now - q->told_ns >= TELL_NS) {
		q->told_ns = now;
		if (!q->progress(q->progress_context, q->done, q->groups)) {
			openetw_query_cancel(q);
		}
	}
}

/* ---- a question ---------------------------------------------------------------------------------- */

static uint32_t processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return (uint32_t)BASE_MAX(1, BASE_MIN(n, (int)QUESTION_THREADS_MAX));
}

/* How long what ended took: before any row is looked at, because what ends in one group began in another. */
static int know_durations(struct openetw_query *q)
{
	const struct durations **all = calloc(q->x->file_count + 1ull, sizeof *all);
	int err = all ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < q->x->file_count && err == 0; i++) {
		err = durations_of(q, i, &all[i]);
	}
	if (err < 0) {
		free(all);
		return err;
	}
	q->plan->durations = all;
	q->plan->durations_cut = q->answer.partial;
	return 0;
}

int question_begin(struct openetw_query *q)
{
	struct diag d = {0};
	order_store_relaxed(&q->cancelled, 0);
	int err = question_renew(q);
	q->told_ns = 0;
	q->answer = (struct openetw_answer){.exact = true};
	for (size_t i = 0; i < BASE_ARRAY_LEN(q->kept); i++) {
		free(q->kept[i]);
		q->kept[i] = NULL;
	}
	q->threads = q->threads ? q->threads : processors();
	err = err < 0 ? err : know_files(q);
	for (uint32_t i = 0; i < q->threads && err == 0; i++) {
		if (!q->scan[i]) {
			q->scan[i] = calloc(1, sizeof *q->scan[i]);
			err = q->scan[i] ? 0 : -ENOMEM;
		}
	}
	if (err == 0 && !q->plan) {
		err = question_plan(q, q->filter, &q->plan, &d);
	}
	if (err == 0 && q->plan->asks_duration && !q->plan->durations) {
		err = know_durations(q);
	}
	if (err == 0) {
		q->answer.partial = q->plan->durations_cut;
	}
	return err;
}

struct run {
	struct openetw_query *q;
	int64_t from, to;
	question_fn *fn;
	uint8_t *sinks;
	size_t sink_bytes;
	uint64_t groups; /* of all files */
	uint64_t next;   /* order_add: the first that nobody has taken */
	uint32_t failed; /* order_…: the others may stop */
	bool counts;     /* how many match is all that `fn` looks at: summaries will do */
};

static int look_at(const struct run *r, struct scan *s, uint32_t file, uint32_t group, struct scan_part *ret)
{
	uint32_t n;
	if (!r->counts || !scan_group_summary(r->q, file, group, r->from, r->to, &n)) {
		return scan_group(s, file, group, r->from, r->to, ret);
	}
	const struct index_file *f = &r->q->x->files[file];
	*ret = (struct scan_part){.file = f, .file_at = file, .group = group, .count = n};
	ret->judged = scan_group_touches(r->q, file, group, r->from, r->to) ? f->store.groups[group].rows : 0;
	return 0;
}

static void run_groups(struct run *r, struct scan *s)
{
	const struct openetw_index *x = r->q->x;
	uint32_t file = 0;
	uint64_t first = 0, at; /* the file's first group, and ours */
	struct scan_part p;
	while (s->err == 0 && (at = order_add_relaxed(&r->next, 1)) < r->groups) {
		if (s->number == 0) {
			r->q->done = at;
			r->q->groups = r->groups;
			question_tell(r->q);
		}
		if (question_cancelled(r->q) || order_load_relaxed(&r->failed)) {
			s->err = -ECANCELED;
			break;
		}
		while (at - first >= x->files[file].store.group_count) {
			first += x->files[file++].store.group_count;
		}
		s->err = look_at(r, s, file, (uint32_t)(at - first), &p);
		if (s->err == 0) {
			s->scanned += p.judged;
			s->matched += p.count;
		}
		if (s->err == 0 && p.count) {
			s->err = r->fn(r->sinks + s->number * r->sink_bytes, s, &p);
		}
	}
	if (s->err < 0) {
		order_store_relaxed(&r->failed, 1);
	}
}

struct worker {
	struct run *run;
	struct scan *scan;
	pthread_t thread;
	bool started;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	run_groups(w->run, w->scan);
	return NULL;
}

static int run(struct run *r)
{
	struct openetw_query *q = r->q;
	struct worker w[QUESTION_THREADS_MAX] = {0};
	uint64_t given_up = filter_expr_given_up(q->plan->filter);
	int err = 0;
	for (uint32_t i = 0; i < q->x->file_count; i++) {
		r->groups += q->x->files[i].store.group_count;
	}
	for (uint32_t i = 0; i < q->threads; i++) {
		struct scan *s = q->scan[i];
		s->q = q;
		s->number = i;
		s->err = 0;
		s->scanned = s->matched = s->decoded = s->undecided = 0;
		w[i] = (struct worker){.run = r, .scan = s};
		/* The caller's thread is the first. Without threads it does everything. */
		if (i > 0 && i < r->groups) {
			w[i].started = quiet_thread_start(&w[i].thread, work, &w[i]) == 0;
		}
	}
	run_groups(r, q->scan[0]);
	q->answer.scanned = q->answer.matched = 0;
	for (uint32_t i = 0; i < q->threads; i++) {
		struct scan *s = q->scan[i];
		if (w[i].started) {
			pthread_join(w[i].thread, NULL);
		}
		/* Whoever stopped because of another says less than that one. */
		err = s->err < 0 && (err == 0 || err == -ECANCELED) ? s->err : err;
		q->answer.scanned += s->scanned;
		q->answer.matched += s->matched;
		q->answer.decoded += s->decoded;
		field_columns_read(q->x, s->decoded);
		q->undecided += s->undecided;
	}
	q->undecided += filter_expr_given_up(q->plan->filter) - given_up;
	q->answer.undecided = q->undecided;
	return err;
}

int question_run(struct openetw_query *q, int64_t from, int64_t to, question_fn *fn, void *sinks, size_t sink_bytes)
{
	struct run r = {.q = q, .from = from, .to = to, .fn = fn, .sinks = sinks, .sink_bytes = sink_bytes};
	return run(&r);
}

uint32_t question_end(struct openetw_query *q, int err, struct openetw_answer *ret)
{
	q->answer.partial = q->answer.partial || err == -ECANCELED || q->x->unfinished;
	q->answer.bytes_covered = q->x->bytes;
	q->answer.bytes = q->x->all_bytes;
	q->answer.rows_covered = q->x->rows;
	if (err == 0) {
		field_columns_keep(q->x, FIELD_KEEP_AT_ONCE);
	}
	if (ret && (err == 0 || err == -ECANCELED)) {
		SIZED_GIVE(ret, &q->answer);
	}
	question_leave(q);
	return win32_from_errno(err);
}

void *question_keep(struct openetw_query *q, void *p)
{
	for (size_t i = 0; p && i < BASE_ARRAY_LEN(q->kept); i++) {
		if (!q->kept[i]) {
			return q->kept[i] = p;
		}
	}
	free(p);
	return NULL;
}

/* ---- counting ------------------------------------------------------------------------------------ */

/* How many rows of each group match, where the columns had to be looked at. Groups have one owner each. */
static int count_part(void *sink, struct scan *s, const struct scan_part *p)
{
	struct openetw_query *q = *(struct openetw_query **)sink;
	q->files[p->file_at].position[p->group] = p->count;
	return 0;
}

int question_count(struct openetw_query *q)
{
	struct openetw_query *sinks[QUESTION_THREADS_MAX];
	int err = 0;
	if (q->counted) {
		return 0;
	}
	for (uint32_t i = 0; i < q->x->file_count && err == 0; i++) {
		struct question_file *f = &q->files[i];
		free(f->position);
		f->position = calloc(q->x->files[i].store.group_count + 1ull, sizeof *f->position);
		err = f->position ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < q->threads; i++) {
		sinks[i] = q;
	}
	struct run r = {.q = q, .from = INT64_MIN, .to = INT64_MAX, .fn = count_part, .counts = true};
	r.sinks = (uint8_t *)sinks;
	r.sink_bytes = sizeof sinks[0];
	err = err < 0 ? err : run(&r);
	if (err < 0) {
		return err;
	}
	for (uint32_t i = 0; i < q->x->file_count; i++) {
		uint64_t *position = q->files[i].position, sum = 0;
		for (uint32_t g = 0; g <= q->x->files[i].store.group_count; g++) {
			uint64_t n = position[g];
			position[g] = sum;
			sum += n;
		}
	}
	q->counted_answer = q->answer;
	q->counted = true;
	return 0;
}
