/* SPDX-License-Identifier: MIT
 *
 * Numbers for 64-bit values: the n-th different one is n. Private to query.
 *
 * A trace may have tens of millions (frames of call stacks), so both arrays lie in a file without a name, which the
 * system may write out when memory is short, and not on the heap.
 */
#ifndef QUERY_BUILD_SET_H
#define QUERY_BUILD_SET_H

#include "base/base.h"

/* A growing array in such a file. */
struct build_space {
	int fd; /* -1: not begun */
	void *p;
	size_t bytes;
};
/* A new file without a name in `directory`; in memory when that is NULL or has no such files. -errno. */
int build_space_open(const char *directory);
/* At least so many bytes; new ones are zero. -errno. */
int build_space_grow(struct build_space *s, const char *directory, size_t bytes);
void build_space_free(struct build_space *s);

struct build_set {
	const char *directory; /* where the files are made; NULL: in memory */
	struct build_space items, slots;
	uint32_t count; /* of values, 0 included */
	uint32_t most;  /* so many at most; 0: BUILD_SET_MOST */
	uint32_t bits;  /* 1 << bits slots */
	uint64_t secret;
};
#define BUILD_SET_MOST (1u << 31) /* numbers are below this */

/* Value 0 gets number 0. */
int build_set_create(struct build_set *s, const char *directory);
void build_set_free(struct build_set *s);
/* The number of a value, new or not. -ENOSPC: there are BUILD_SET_MOST; -errno. */
int build_set_number(struct build_set *s, uint64_t value, uint32_t *ret);
static inline uint64_t *build_set_items(const struct build_set *s)
{
	return s->items.p;
}

#endif
