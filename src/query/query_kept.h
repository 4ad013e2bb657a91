/* SPDX-License-Identifier: MIT
 *
 * What questions made of the whole of a file, and is kept for the next one: stays, spans and durations. Private to query.
 *
 * Each view of an index has its own. All of them together are bounded by KEPT_BYTES_MAX.
 */
#ifndef QUERY_QUERY_KEPT_H
#define QUERY_QUERY_KEPT_H

#include "query/query_question.h"

#define KEPT_BYTES_MAX (1ull << 30)

enum kept_kind { KEPT_STAYS, KEPT_STAYS_BEGUN, KEPT_EVENTS, KEPT_DISKS, KEPT_FILES, KEPT_DURATIONS, KEPT_KINDS };
/* Makes one of a file of the query's view. *inout_bytes: of all that is kept; it does not grow above KEPT_BYTES_MAX.
 * -errno, -ECANCELED. */
typedef int kept_make_fn(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret);

/* It is made when it is not there; who asks for the same meanwhile waits. Between question_begin() and question_end(). */
int kept_of(struct openetw_query *q, uint32_t file, enum kept_kind kind, kept_make_fn *make, const void **ret);
/* One that is there already, for those that are made of others; NULL. */
const void *kept_there(const struct openetw_query *q, uint32_t file, enum kept_kind kind);
/* What a maker leaves for the next one, which gets it by kept_there(); NULL: nothing. */
void kept_leave(const struct openetw_query *q, uint32_t file, enum kept_kind kind, void *p);
/* One that somebody else made, for tests; it is the view's then. Nobody asks the view meanwhile. -ENOMEM. */
int kept_give(struct openetw_index *x, uint32_t file, enum kept_kind kind, void *p);
void kept_free(struct kept *k);

#endif
