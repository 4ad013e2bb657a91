/* SPDX-License-Identifier: MIT
 *
 * A query: what is asked for. include/openetw/query.h. The questions themselves are in files of their own.
 */
#include "query/query_question.h"

#include "base/sized.h"
#include "base/win32_error.h"
#include "query/query_reading.h"

#include <stdio.h>
#include <stdlib.h>

struct openetw_query *openetw_query_create(struct openetw_index *x)
{
	struct openetw_query *q = x ? calloc(1, sizeof *q) : NULL;
	if (q) {
		q->x = x;
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
	for (uint32_t i = 0; i < QUESTION_THREADS_MAX; i++) {
		if (q->scan[i]) {
			reading_free(q->scan[i]->reading);
			free(q->scan[i]->memo);
			free(q->scan[i]);
		}
	}
	for (uint32_t i = 0; q->files && i < q->x->file_count; i++) {
		free(q->files[i].first_row);
		free(q->files[i].latest);
		free(q->files[i].position);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(q->kept); i++) {
		free(q->kept[i]);
	}
	free(q->files);
	free(q->filter);
	free(q->field);
	plan_free(q->plan);
	free(q);
}

void openetw_query_set_range(struct openetw_query *q, int64_t from, int64_t to)
{
	q->from = from;
	q->to = to;
	q->counted = false;
}

uint32_t openetw_query_set_filter(struct openetw_query *q, const char *text)
{
	struct diag d = {0};
	struct plan *plan = NULL;
	char *copy = strdup(text ? text : "");
	int err = copy ? plan_make(q->x, copy, &plan, &d) : -ENOMEM;
	q->problem[0] = 0;
	if (err < 0) {
		free(copy);
		if (err == -EINVAL && d.column) {
			snprintf(q->problem, sizeof q->problem, "column %u: %s", d.column, d.text);
		} else if (err == -EINVAL) {
			snprintf(q->problem, sizeof q->problem, "%s", d.text);
		} else {
			snprintf(q->problem, sizeof q->problem, "no memory");
		}
		return win32_from_errno(err);
	}
	free(q->filter);
	q->filter = copy;
	plan_free(q->plan);
	q->plan = plan;
	q->counted = false;
	for (uint32_t i = 0; i < QUESTION_THREADS_MAX; i++) {
		if (q->scan[i]) {
			q->scan[i]->memo_file = 0; /* it remembers the filter before */
		}
	}
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
