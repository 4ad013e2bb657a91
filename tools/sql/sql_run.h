/* SPDX-License-Identifier: MIT
 *
 * A query at work: one thread that executes it, and the program's own thread, which answers the parent meanwhile.
 */
#ifndef TOOLS_SQL_SQL_RUN_H
#define TOOLS_SQL_SQL_RUN_H

#include "tools/sql/sql_columns.h"
#include "tools/sql/sql_duckdb.h"
#include "tools/sql/sql_wire.h"

/* ---- of the program's thread ---------------------------------------------------------------------- */

/* NULL, or why not. `format`: write the rows into `fd` in this enum sql_export_format; 0: send them. */
const char *sql_run_start(duckdb_handle connection, const char *text, size_t bytes, uint32_t format, int fd);
/* An answer to SQL_NEXT. */
void sql_run_next(struct strbuf *answer);
/* The table that was wanted; NULL: `why` there is none. Takes the table over. */
void sql_run_table(struct sql_columns *table, const char *name, const char *why);
void sql_run_cancel(void);

/* ---- of the query's thread ------------------------------------------------------------------------ */

/* The table of that name, from the parent or from an earlier query. NULL: `why` says it. */
const struct sql_columns *sql_run_want(const char *name, char *why, size_t cap);
/* The indexes of all files are there. False: `why`. */
bool sql_run_want_events(char *why, size_t cap);

#endif
