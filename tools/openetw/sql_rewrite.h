/* SPDX-License-Identifier: MIT
 *
 * DuckDB does not tell openetw's tables which times a query is about, so a query with "where time between A and B" would
 * read all of them.
 */
#ifndef TOOLS_OPENETW_SQL_REWRITE_H
#define TOOLS_OPENETW_SQL_REWRITE_H

/* The query with "from events" made "from events(t0 := A, t1 := B)" (and so for the other tables that have a column
 * time), where that cannot change its answer: one statement with one SELECT over that one table, whose WHERE has that
 * condition, or time >= A, time <= B, time < B with whole numbers, joined to the others by AND alone. The condition
 * stays where it is. NULL: nothing was done. To be freed. */
char *sql_rewrite(const char *text);

#endif
