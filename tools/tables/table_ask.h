/* SPDX-License-Identifier: MIT
 * Shared by the files that answer questions to tables: what the words of a question mean for one table.
 */
#ifndef TOOLS_TABLES_TABLE_ASK_H
#define TOOLS_TABLES_TABLE_ASK_H

#include "tools/tables/table_query.h"

enum table_function {
	TABLE_PLAIN, /* the column itself */
	TABLE_COUNT,
	TABLE_DISTINCT,
	TABLE_SUM,
	TABLE_MIN,
	TABLE_AVG,
	TABLE_MAX,
	TABLE_PERCENTILE,
	TABLE_ERRORS,
};
#define TABLE_COLUMN_SLICE (-2) /* the part of the range in which a row begins */
struct table_term {
	enum table_function function;
	unsigned percent;
	int column;    /* -1: of none, all rows */
	int weight;    /* a column of whole numbers: how much each row counts; -1: all the same */
	bool interval; /* the column is a time that lies between two moments of its row */
};
struct table_plan {
	const struct table_view *view;
	struct table_term term[TABLE_ASK_COLUMNS];
	uint32_t terms, keys; /* keys are the first ones */
	bool grouped;
	int sort; /* a term; -1: as they come */
	/* Of TABLE_COLUMN_SLICE: */
	int time; /* the column */
	uint32_t slices;
	int64_t slice_from, slice_to;
};

/* Fills the plan and the columns of the answer. False: `why`. */
bool table_plan_make(struct table_plan *p, const struct table_ask *ask, struct table_answer *r, char *why, size_t cap);
bool table_name_is_own(const char *table); /* none of an event */
enum table_unit table_unit_of(const char *table, const char *column);

#endif
