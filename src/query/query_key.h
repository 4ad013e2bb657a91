/* SPDX-License-Identifier: MIT
 *
 * By what rows are told apart. Each value of a key has a slot: 0, 1, 2, …; questions count by slots. Private to query.
 */
#ifndef QUERY_QUERY_KEY_H
#define QUERY_QUERY_KEY_H

#include "query/query_question.h"

#define KEY_NO_SLOT UINT32_MAX /* of no value */

struct key_file {
	uint32_t *slot; /* of each number of the column; NULL: by another way */
	uint32_t count; /* numbers. Others have the slot of number 0 */
};
struct key {
	enum openetw_key by;
	const struct openetw_index *x;
	uint32_t slots;
	uint32_t *id; /* of each slot, as programs see it */
	struct key_file *files;
	struct field_column *field;
};
/* -EINVAL: there is no such key; -ENOENT: BY_FIELD without a field. */
int key_make(struct openetw_query *q, enum openetw_key by, struct key *ret);
void key_free(struct key *k);
/* The slot of each row of a part. */
void key_slots(const struct key *k, const struct scan_part *p, uint32_t *slots);
/* What programs see of a slot. */
uint32_t key_id(const struct key *k, uint32_t slot);
/* What a slot means, for people. */
void key_text(const struct key *k, uint32_t slot, struct strbuf *out);

#endif
