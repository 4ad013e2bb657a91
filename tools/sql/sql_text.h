/* SPDX-License-Identifier: MIT
 * Values of DuckDB's vectors as text; nested ones as JSON.
 */
#ifndef TOOLS_SQL_SQL_TEXT_H
#define TOOLS_SQL_SQL_TEXT_H

#include "tools/sql/sql_duckdb.h"
#include "tools/sql/sql_wire.h"

/* How values of that type are written. */
enum sql_class sql_text_class(duckdb_handle type);
/* Appends the value of a row. False: it is NULL. */
bool sql_text_add(struct strbuf *b, duckdb_handle type, duckdb_handle vector, uint64_t row);

#endif
