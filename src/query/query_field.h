/* SPDX-License-Identifier: MIT
 *
 * Values of payload fields as columns, made when somebody asks for them. Private to query.
 */
#ifndef QUERY_QUERY_FIELD_H
#define QUERY_QUERY_FIELD_H

#include "query/query_question.h"

struct field_column;
/* The column of the query's field, with the values of all rows that match. */
int field_prepare(struct openetw_query *q, struct field_column **ret);
/* The value of a row as a number. False: it has none. */
bool field_number(const struct field_column *c, const struct scan_part *p, uint32_t row, double *ret);

#endif
