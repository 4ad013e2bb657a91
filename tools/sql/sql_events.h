/* SPDX-License-Identifier: MIT
 * The table events: the columns of the trace's index, as they are.
 */
#ifndef TOOLS_SQL_SQL_EVENTS_H
#define TOOLS_SQL_SQL_EVENTS_H

#include "tools/sql/sql_duckdb.h"
#include "tools/sql/sql_wire.h"

/* The index of one more file. Takes the descriptor over. False: it is no index, or there is no memory. */
bool sql_events_add(int fd, const struct sql_store *s);

/* What a query wants of the events. */
struct sql_events_bounds {
	int64_t from, to;     /* times, both included */
	const char *provider; /* NULL: all */
	const char *process;  /* a name or a number; NULL: all */
};
/* Of DuckDB's calls for the table function events(): */
void sql_events_bind(duckdb_handle info, const struct sql_events_bounds *b);
void sql_events_init(duckdb_handle info);
void sql_events_init_part(duckdb_handle info);
void sql_events_scan(duckdb_handle info, duckdb_handle chunk);

#endif
