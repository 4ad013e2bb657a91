/* SPDX-License-Identifier: MIT
 * The parent's tables as tables of DuckDB.
 */
#ifndef TOOLS_SQL_SQL_TABLES_H
#define TOOLS_SQL_SQL_TABLES_H

#include "tools/sql/sql_columns.h"
#include "tools/sql/sql_duckdb.h"

/* From then on a name that DuckDB does not know is asked of the parent. */
void sql_tables_register(duckdb_handle database, duckdb_handle connection);

/* What reading a table needs, once for each. False: no memory. */
bool sql_tables_prepare(struct sql_columns *t);

#endif
