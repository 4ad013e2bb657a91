/* SPDX-License-Identifier: MIT
 *
 * Growing arrays. The owner has a pointer, a count and a capacity, in whatever struct and of whatever integer
 * type; all zero is an empty array, and free() ends it.
 *
 *	if (!VEC_ROOM(l->items, l->count, l->cap)) {
 *		return -ENOMEM;
 *	}
 *	l->items[l->count++] = item;
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/base.h"

/* Room for one more element behind the first `count`: true, or false and the array is as it was. The second form
 * never makes room for more than `most` elements. */
#define VEC_ROOM(items, count, cap) VEC_ROOM_UP_TO(items, count, cap, (__typeof__(cap))-1)
#define VEC_ROOM_UP_TO(items, count, cap, most)                                                    \
	((count) < (cap) || ({                                                                     \
		 size_t vec_cap_ = (size_t)(cap);                                                  \
		 void *vec_items_ = vec_grow((items), &vec_cap_, (size_t)(most), sizeof *(items)); \
		 if (vec_items_) {                                                                 \
			 (items) = vec_items_;                                                     \
			 (cap) = (__typeof__(cap))vec_cap_;                                        \
		 }                                                                                 \
		 vec_items_ != NULL;                                                               \
	 }))

/* The array with at least one element more, at most `most`; NULL: no memory, and nothing changed. */
void *vec_grow(void *items, size_t *inout_cap, size_t most, size_t element_bytes);

#endif
