/* SPDX-License-Identifier: MIT
 * Shared by the files that answer questions to tables: which rows a question is about, and which parts of them.
 *
 * A row belongs to the moment when it begins: `time`, else `start`. Intervals (a wait, an operation) reach further:
 * of those that reach into the range that was asked for, the part that lies in it counts for sums of their time, so that
 * the sums of neighbouring ranges are the sum of both.
 */
#ifndef TOOLS_TABLES_TABLE_CHOOSE_H
#define TOOLS_TABLES_TABLE_CHOOSE_H

#include "tools/tables/table_query.h"

struct table_intervals { /* columns of a table whose rows are intervals; -1: none */
	int start, duration, running, ready, waiting;
};
struct table_chosen {
	uint64_t *rows; /* in their order */
	bool *outside;  /* of each: it reaches into the range, but does not begin there; NULL: of none */
	uint64_t count, within;
	bool cut; /* sums of intervals are of their parts between these */
	int64_t from, to;
	struct table_intervals intervals;
};

/* The table of the question. One that adds samples up is made of those that the question is about, which then asks for
 * all of its rows. NULL: `why`. */
const struct table_view *table_narrow(struct table_set *s, struct table_ask *inout_ask, char *why, size_t cap);
/* `reaching`: rows that do not begin in the range as well. False: `why`. */
bool table_choose(struct table_set *s, const struct table_view *v, const struct table_ask *ask, bool reaching,
		  struct table_chosen *ret, char *why, size_t cap);
void table_chosen_free(struct table_chosen *c);
/* Is the column a time that lies between two moments of its row? */
bool table_is_interval(const struct table_view *v, const char *table, int column);
/* How much of the value of such a column lies in the range. */
int64_t table_chosen_part(const struct table_chosen *c, const struct table_view *v, int column, uint64_t row);
/* Is the process, by its number and its name (not named: NULL), the one of that word? The same of threads. */
bool table_word_is(const char *word, int64_t number, const char *name, size_t name_length);

#endif
