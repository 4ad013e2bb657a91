/* SPDX-License-Identifier: MIT
 *
 * A query: what is asked for. include/openetw/query.h. The questions themselves are in files of their own.
 */
#include "query/query_question.h"

#include "base/sized.h"
#include "base/win32_error.h"
#include "query/query_reading.h"

#include "etw/values/errors.h"

#include <stdio.h>
#include <stdlib.h>

struct openetw_query *openetw_query_create(struct openetw_index *x)
{
	struct openetw_query *q = x ? calloc(1, sizeof *q) : NULL;
	if (q) {
		q->index = x;
		q->x = x->ring ? x : index_now(x);
		q->from = INT64_MIN;
		q->to = INT64_MAX;
	}
	return q;
}

void openetw_query_destroy(struct openetw_query *q)
{
	if (!q) {
		return;
	}
	question_free(q);
	for (uint32_t i = 0; i < QUESTION_THREADS_MAX; i++) {
		if (q->scan[i]) {
			reading_free(q->scan[i]->reading);
			for (size_t k = 0; k < BASE_ARRAY_LEN(q->scan[i]->mask); k++) {
				free(q->scan[i]->mask[k]);
			}
			free(q->scan[i]->memo);
			free(q->scan[i]->truth);
			free(q->scan[i]);
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(q->kept); i++) {
		free(q->kept[i]);
	}
	free(q->field);
	free(q->filter);
	free(q);
}

void openetw_query_set_range(struct openetw_query *q, int64_t from, int64_t to)
{
	q->from = from;
	q->to = to;
	q->counted = false;
}

int question_plan(struct openetw_query *q, const char *filter, struct plan **ret, struct diag *d)
{
	/* What is open of the files is the first thread's later. */
	struct reading *r = q->scan[0] ? q->scan[0]->reading : NULL;
	bool mine = !r;
	r = r ? r : reading_make(q->x);
	struct plan_reader reader = {.look = reading_look, .reader = r};
	int err = r ? plan_make(q->x, filter, &reader, ret, d) : -ENOMEM;
	if (mine && err == 0 && (*ret)->reads && q->scan[0]) {
		q->scan[0]->reading = r;
	} else if (mine) {
		reading_free(r);
	}
	return err;
}

uint32_t openetw_query_set_filter(struct openetw_query *q, const char *text)
{
	struct diag d = {0};
	struct plan *plan = NULL;
	char *copy = text && text[0] ? strdup(text) : NULL;
	int err = text && text[0] && !copy ? -ENOMEM : question_renew(q);
	err = err < 0 ? err : question_plan(q, text, &plan, &d);
	q->problem[0] = 0;
	if (err < 0) {
		if (err == -EINVAL && d.column) {
			snprintf(q->problem, sizeof q->problem, "column %u: %s", d.column, d.text);
		} else {
			snprintf(q->problem, sizeof q->problem, "%s", d.text[0] ? d.text : strerror(-err));
		}
		free(copy);
		question_leave(q);
		return win32_from_errno(err);
	}
	plan_free(q->plan);
	free(q->filter);
	q->plan = plan;
	q->filter = copy;
	question_forget(q);
	question_leave(q);
	return 0;
}

const char *openetw_query_problem(const struct openetw_query *q)
{
	return q->problem;
}

void openetw_query_cancel(struct openetw_query *q)
{
	order_store_relaxed(&q->cancelled, 1);
}

void openetw_query_set_progress(struct openetw_query *q, openetw_query_progress_fn fn, void *context)
{
	q->progress = fn;
	q->progress_context = context;
}

/* ---- count --------------------------------------------------------------------------------------- */

uint32_t openetw_query_count(struct openetw_query *q, struct openetw_answer *ret)
{
	if (!SIZED_VALID(ret, undecided)) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	err = err < 0 ? err : question_count(q);
	if (err == 0) {
		q->answer = q->counted_answer;
	}
	return question_end(q, err, ret);
}

/* ---- fields and whole events ------------------------------------------------------------------------ */

uint32_t openetw_query_set_field(struct openetw_query *q, const char *name)
{
	char *copy = name && name[0] ? strdup(name) : NULL;
	if (name && name[0] && !copy) {
		return win32_from_errno(-ENOMEM);
	}
	free(q->field);
	q->field = copy;
	return 0;
}

static bool has_row(const struct store *s, uint64_t place)
{
	return place >= s->first_row && place - s->first_row < s->about->rows;
}

uint32_t openetw_query_event(struct openetw_query *q, uint64_t row, const openetw_event_record **ret)
{
	uint32_t file = (uint32_t)(row >> INDEX_ROW_BITS);
	uint64_t place = row & ((1ull << INDEX_ROW_BITS) - 1);
	struct store_columns c;
	struct reading *r;
	if (!ret) {
		return win32_from_errno(-EINVAL);
	}
	int err = question_begin(q);
	if (err == 0 && (row >> INDEX_ROW_BITS >= q->x->file_count || !has_row(&q->x->files[file].store, place))) {
		err = -ENOENT;
	}
	if (err < 0) {
		uint32_t code = question_end(q, err, NULL);
		return err == -ENOENT ? ERROR_NOT_FOUND : code;
	}
	const uint64_t *first = q->files[file].first_row;
	uint32_t low = 0, high = q->x->files[file].store.group_count;
	while (high - low > 1) { /* the last group that does not begin behind it */
		uint32_t middle = low + (high - low) / 2;
		if (first[middle] <= place) {
			low = middle;
		} else {
			high = middle;
		}
	}
	store_columns_of(&q->x->files[file].store, low, &c);
	q->scan[0]->q = q;
	err = reading_of(q->scan[0], &r);
	err = err < 0 ? err : reading_event(r, file, c.where[place - first[low]]);
	if (err == 0) {
		*ret = reading_record(r);
	}
	return question_end(q, err, NULL);
}
