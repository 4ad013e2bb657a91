/* SPDX-License-Identifier: MIT
 *
 * A table for openetw-sql (tools/sql/sql_columns.h), made row by row:
 *
 *	struct sql_build *b = sql_build_create();
 *	int time = sql_build_column(b, "time", SQL_TYPE_I64), name = sql_build_column(b, "name", SQL_TYPE_TEXT);
 *	for (...) {
 *		sql_build_number(b, time, t);
 *		sql_build_text(b, name, s, n);
 *		sql_build_row(b);
 *	}
 *	int fd = sql_build_finish(b);
 *
 * A column may come late, its earlier rows are NULL; so is what a row was not given. A text that is put into a column
 * of numbers makes it a column of texts.
 */
#ifndef TOOLS_OPENETW_SQL_BUILD_H
#define TOOLS_OPENETW_SQL_BUILD_H

#include "tools/sql/sql_columns.h"

struct sql_build;

struct sql_build *sql_build_create(void); /* NULL: no memory */
void sql_build_destroy(struct sql_build *b);
/* A column of that name, in any case, that is not there yet gets it; -1: no memory, or too many columns. */
int sql_build_column(struct sql_build *b, const char *name, enum sql_type type);
/* The column of that name, in any case; -1: there is none. */
int sql_build_find(const struct sql_build *b, const char *name, size_t n);
/* Is this the name of that column? */
bool sql_build_is(const struct sql_build *b, int column, const char *name, size_t n);
enum sql_type sql_build_type(const struct sql_build *b, int column);

/* Integers and booleans; each is kept in the width of its column. */
void sql_build_number(struct sql_build *b, int column, uint64_t v);
void sql_build_float(struct sql_build *b, int column, double v);
/* What is not UTF-8 becomes U+FFFD. */
void sql_build_text(struct sql_build *b, int column, const char *s, size_t n);
void sql_build_guid(struct sql_build *b, int column, const struct guid *g);
void sql_build_row(struct sql_build *b);
uint64_t sql_build_rows(const struct sql_build *b);
/* NULL: all is well; else why no rows are taken any more. */
const char *sql_build_problem(const struct sql_build *b);

/* A descriptor of a file in memory, and the end of `b`; -errno. */
int sql_build_finish(struct sql_build *b);

#endif
