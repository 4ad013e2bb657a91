/* SPDX-License-Identifier: MIT
 * The row of an index that has a given number.
 */
#ifndef TOOLS_TABLES_INDEX_ROW_H
#define TOOLS_TABLES_INDEX_ROW_H

#include <openetw/query.h>

/* Finds what the index `x` says of row number `row`. `q` is a query of it without a filter and a range. The caller reads the
 * event with openetw_query_event(). ERROR_NOT_FOUND: there is no such row. ERROR_CANCELLED: a signal came. */
uint32_t index_row_find(struct openetw_index *x, struct openetw_query *q, uint64_t row, struct openetw_row *ret);

#endif
