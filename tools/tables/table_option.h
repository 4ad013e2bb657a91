/* SPDX-License-Identifier: MIT
 * Questions to tables on the command line, of report and diff.
 */
#ifndef TOOLS_TABLES_TABLE_OPTION_H
#define TOOLS_TABLES_TABLE_OPTION_H

#include "tools/common/select.h"
#include "tools/tables/table_query.h"

struct table_options {
	const char *table, *group_by, *columns, *sort;
	bool ascending;
	struct cli_words process, thread;
	struct cli_time from, to;
};
#define TABLE_OPTIONS(T, m)                                                                                        \
	CLI_WORD(T, m.table, 't', "table", "NAME",                                                                 \
		 "answer from this table, or from the events \"Provider/Event\"; list: the names of the tables"),  \
		CLI_WORD(T, m.group_by, 'g', "group-by", "A,B",                                                    \
			 "of --table: a row for each value of these columns; '': one row of all"),                 \
		CLI_WORD(T, m.columns, 'c', "columns", "A,B",                                                      \
			 "of --table: count, sum(C), min(C), avg(C), max(C), p50(C) … p99(C), distinct(C), "     \
			 "errors(C); or columns of its rows"),                                                     \
		CLI_WORD(T, m.sort, 's', "sort", "A",                                                              \
			 "of --table: by this column, the largest first (default: the "                            \
			 "first that is no group)"),                                                               \
		CLI_FLAG(T, m.ascending, 0, "ascending", "of --table: the smallest first"),                        \
		CLI_WORDS(T, m.process, 0, "process", "NAME",                                                      \
			  "only processes of this name, pattern or number (repeatable)"),                          \
		CLI_WORDS(T, m.thread, 0, "thread", "TID", "only this thread (repeatable)"),                       \
		CLI_TIME(T, m.from, 0, "from", "from this time on: 2026-01-31T12:00:00, or +1.5s from the start"), \
		CLI_TIME(T, m.to, 0, "to", "up to this time, written likewise")

/* Is one of them given, besides --table? Its name; NULL: none. */
const char *table_options_given(const struct table_options *o);

/* A question, with what it is made of. */
struct table_question {
	struct table_ask ask;
	struct filter_expr *filter;
	const char **names, **process;
};
/* `filter` and `pids` may be NULL. CLI_OK, or said why. table_question_finish() is due either way. */
int table_question_make(const struct cli_args *a, struct table_set *s, const struct table_options *o,
			const char *filter, const struct cli_numbers *pids, uint64_t top, struct table_question *ret);
void table_question_finish(struct table_question *q);
/* When the answers are made: how often a regular expression was given up, if so. Returns the status. */
int table_question_end(const struct cli_args *a, const struct table_question *q, int status);

/* The names of the tables, and what each shows by default. */
void table_list(FILE *f, bool json);

#endif
