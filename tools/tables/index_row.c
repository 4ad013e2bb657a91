/* SPDX-License-Identifier: MIT */
#include "tools/tables/index_row.h"

#include "tools/common/cli.h"

#define TRIES 16 /* while the oldest rows of a live index leave */

struct wanted { /* the row of this number */
	uint64_t row;
	int64_t until;
	struct openetw_row found;
};

static bool look_at_row(void *context, const struct openetw_row *r)
{
	struct wanted *w = context;
	if (r->row == w->row) {
		w->found = *r;
	}
	return w->found.size == 0 && r->time <= w->until && !cli_signal_caught();
}

/* Of several files the number is no position: the row stands among those of its time. Events have times of 100 ns, the
 * index has nanoseconds. */
static uint32_t find_among(const struct openetw_index_about *a, struct openetw_query *q, struct wanted *w)
{
	const openetw_event_record *e;
	uint64_t at;
	uint32_t code = openetw_query_event(q, w->row, &e);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	int64_t time = ((int64_t)e->EventHeader.TimeStamp.QuadPart - (int64_t)a->start_filetime) * 100;
	w->until = time + 100;
	code = openetw_query_position(q, time - 100, &at);
	return code ? code : openetw_query_rows(q, at, UINT64_MAX - at, look_at_row, w, NULL);
}

uint32_t index_row_find(struct openetw_index *x, struct openetw_query *q, uint64_t row, struct openetw_row *ret)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct wanted w = {.row = row, .until = INT64_MAX};
	uint64_t gone = UINT64_MAX;
	uint32_t code = openetw_index_about(x, &a);
	if (code == ERROR_SUCCESS && a.files > 1) {
		code = find_among(&a, q, &w);
	}
	/* Of one file it is the position behind the rows that are gone, of which a live index has more and more. */
	for (int i = 0; i < TRIES && code == ERROR_SUCCESS && a.files <= 1 && !w.found.size && gone != a.rows_gone;
	     i++) {
		gone = a.rows_gone;
		if (row >= gone) {
			code = openetw_query_rows(q, row - gone, 1, look_at_row, &w, NULL);
		}
		code = code ? code : openetw_index_about(x, &a);
	}
	if (code == ERROR_SUCCESS && !w.found.size) {
		code = cli_signal_caught() ? ERROR_CANCELLED : ERROR_NOT_FOUND;
	}
	if (code == ERROR_SUCCESS) {
		*ret = w.found;
	}
	return code;
}
