/* SPDX-License-Identifier: MIT
 *
 * Questions to one table: its rows, or groups of them with counts, sums and percentiles.
 *
 *	struct table_ask ask = {.table = "io", .group_by = "process_name", .columns = "count,p99(duration)",
 *				.from = INT64_MIN, .to = INT64_MAX};
 *	struct table_answer *r = table_ask(set, &ask, why, sizeof why);
 *	for (uint64_t row = 0; row < r->rows; row++) {
 *		const struct table_value *p99 = table_answer_cell(r, row, 2);
 *	}
 *
 * Aggregates: count (rows), count(C), distinct(C), sum(C), min(C), avg(C), max(C), pN(C) with N from 1 to 99, errors(C)
 * (values below 0, which is what a failure is for Windows and for Linux). Like SQL's they pass over NULL, and all but the
 * counts are NULL where no row has a value. A percentile is the smallest value that N percent of the values do not
 * exceed: DuckDB's quantile_disc. pN(C,W) and avg(C,W) let each row count as much as its column W says, a column of
 * whole numbers: "p99(queue,duration)".
 *
 * With `from` and `to` a row is one of those that begin between them (`time`, else `start`). sum() of an interval's time
 * (duration, running, ready, waiting) is of the parts that lie between them, of all rows that reach in.
 */
#ifndef TOOLS_TABLES_TABLE_QUERY_H
#define TOOLS_TABLES_TABLE_QUERY_H

#include "tools/tables/table_read.h"

#include "filter/filter_parse.h"

#define TABLE_ASK_COLUMNS 64u

struct table_ask {
	const char *table;    /* a table, or "Provider/Event" */
	const char *group_by; /* "A,B"; NULL: what the table has by default; "": all rows are one group */
	const char *columns;  /* aggregates; without any of them columns of the rows, ungrouped; NULL: the default */
	const char *sort;     /* a column of the answer; NULL: the first aggregate */
	bool ascending;
	uint64_t top;     /* rows of the answer; 0: all */
	int64_t from, to; /* as in struct table_part */
	int process_count, thread_count;
	const char *const *process;       /* any of these: a number, or a name as --process takes it */
	const char *const *thread;        /* a number */
	const struct filter_expr *filter; /* its names are those of columns, `process` is the name; NULL: every row */
	/* More than 0: groups are divided by the time of their rows' beginnings as well, into so many equal parts of the
	 * range from slice_from to slice_to. The number of the part, from 0 on, is the last column of the group. */
	uint32_t slices;
	int64_t slice_from, slice_to;
};
/* How a column is meant, for whoever shows it. */
enum table_unit { TABLE_UNIT_NONE, TABLE_UNIT_TIME, TABLE_UNIT_DURATION, TABLE_UNIT_BYTES, TABLE_UNIT_ADDRESS };
struct table_answer_column {
	char name[160]; /* "p99(duration)" */
	bool key;       /* of the group */
	bool number;
	bool truth; /* 0 and 1 are false and true */
	enum table_unit unit;
};
struct table_answer {
	const char *table;
	uint32_t columns;
	struct table_answer_column column[TABLE_ASK_COLUMNS];
	uint64_t rows;    /* of the answer */
	uint64_t all;     /* before `top` cut them */
	uint64_t matched; /* rows of the table that it is made of */
	struct table_value *cells;
	uint64_t *order;
};

/* NULL: `why`. Its texts are valid as long as the set. */
struct table_answer *table_ask(struct table_set *s, const struct table_ask *ask, char *why, size_t cap);
void table_answer_free(struct table_answer *r);
/* What the set calls the table that the question is put to: its name, but for one that adds samples up, which is made of
 * those that the question is about; true then. */
bool table_ask_key(const struct table_ask *ask, struct strbuf *out);
/* Makes that table. False: `why`. */
bool table_ask_make(struct table_set *s, const struct table_ask *ask, char *why, size_t cap);
static inline const struct table_value *table_answer_cell(const struct table_answer *r, uint64_t row, uint32_t column)
{
	return &r->cells[r->order[row] * r->columns + column];
}
/* What a table is grouped by and which columns it shows when nobody says; "" where there is none. */
void table_defaults(const char *table, const char **ret_group_by, const char **ret_columns);
/* The names that a filter of this table may hold, NULL-terminated, for struct filter_dialect. NULL: `why`. To be freed. */
const char **table_filter_names(struct table_set *s, const char *table, char *why, size_t cap);
/* The text of a value as JSON and CSV have it: numbers as they are; nothing for NULL. */
void table_value_text(const struct table_value *v, bool truth, struct strbuf *out);

#endif
