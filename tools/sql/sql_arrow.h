/* SPDX-License-Identifier: MIT
 * Rows as an Arrow stream (Apache Arrow's IPC streaming format, which readers of .arrow and .arrows files take).
 */
#ifndef TOOLS_SQL_SQL_ARROW_H
#define TOOLS_SQL_SQL_ARROW_H

#include "tools/sql/sql_duckdb.h"

struct sql_arrow;

/* Writes into `fd`, from where it stands. NULL: no memory. */
struct sql_arrow *sql_arrow_create(int fd, uint32_t columns, const char *const *names, const duckdb_handle *types);
void sql_arrow_destroy(struct sql_arrow *a);
/* 0 or -errno; -EFBIG: a text of more than 1 GiB. */
int sql_arrow_chunk(struct sql_arrow *a, duckdb_handle chunk);
int sql_arrow_end(struct sql_arrow *a);

#endif
