/* SPDX-License-Identifier: MIT
 *
 * Reading events of the trace file, where columns do not tell. Private to query.
 */
#ifndef QUERY_QUERY_READING_H
#define QUERY_QUERY_READING_H

#include "query/query_question.h"

/* Of these rows of a part, those that match; the plan's columns left all of them open or passed them. Rows that nobody
 * can judge are counted (scan.undecided) and left out. `rows` is made shorter. */
int reading_select(struct scan *s, struct scan_part *p, uint16_t *rows, uint32_t n, uint32_t *ret);
void reading_free(struct reading *r);

#endif
