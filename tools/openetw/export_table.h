/* SPDX-License-Identifier: MIT
 *
 * Events as a Parquet file or an Arrow stream: the rows of the table `events` of openetw sql, which DuckDB writes in a
 * program without rights (tools/sql).
 */
#ifndef TOOLS_OPENETW_EXPORT_TABLE_H
#define TOOLS_OPENETW_EXPORT_TABLE_H

#include "tools/common/select.h"
#include "tools/export/export.h"

/* The files are the words of x->args; x->kind is parquet or arrow. Returns the exit status, and said why. */
int export_table(struct export *x, const struct cli_select_options *s);

#endif
