/* SPDX-License-Identifier: MIT
 *
 * A table as a file of columns (tools/sql/sql_columns.h), made row by row:
 *
 *	struct table_build *b = table_build_create();
 *	int time = table_build_column(b, "time", SQL_TYPE_I64), name = table_build_column(b, "name", SQL_TYPE_TEXT);
 *	for (...) {
 *		table_build_number(b, time, t);
 *		table_build_text(b, name, s, n);
 *		table_build_row(b);
 *	}
 *	int fd = table_build_finish(b);
 *
 * A column may come late, its earlier rows are NULL; so is what a row was not given. A text that is put into a column
 * of numbers makes it a column of texts.
 */
#ifndef TOOLS_TABLES_TABLE_BUILD_H
#define TOOLS_TABLES_TABLE_BUILD_H

#include "tools/sql/sql_columns.h"

struct table_build;

struct table_build *table_build_create(void); /* NULL: no memory */
void table_build_destroy(struct table_build *b);
/* A column of that name, in any case, that is not there yet gets it; -1: no memory, or too many columns. */
int table_build_column(struct table_build *b, const char *name, enum sql_type type);
/* The column of that name, in any case; -1: there is none. */
int table_build_find(const struct table_build *b, const char *name, size_t n);
enum sql_type table_build_type(const struct table_build *b, int column);

/* Integers and booleans; each is kept in the width of its column. */
void table_build_number(struct table_build *b, int column, uint64_t v);
void table_build_float(struct table_build *b, int column, double v);
/* What is not UTF-8 becomes U+FFFD. */
void table_build_text(struct table_build *b, int column, const char *s, size_t n);
void table_build_guid(struct table_build *b, int column, const struct guid *g);
void table_build_row(struct table_build *b);
/* A value of an earlier row, of a column of integers: what is known only later. */
void table_build_late(struct table_build *b, int column, uint64_t row, uint64_t v);
uint64_t table_build_rows(const struct table_build *b);
/* NULL: all is well; else why no rows are taken any more. */
const char *table_build_problem(const struct table_build *b);

/* A descriptor of a file in memory, and the end of `b`; -errno. */
int table_build_finish(struct table_build *b);

#endif
