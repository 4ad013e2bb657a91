/* SPDX-License-Identifier: MIT
 *
 * Memory with one lifetime: pieces are handed out, all are freed together. Limited, because what
 * is parsed into it comes from elsewhere. Not locked.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks;
	size_t total_bytes;
	size_t limit_bytes;
	bool failed; /* out of memory or over the limit; stays set */
};

void arena_init(struct arena *a, size_t limit_bytes);
void arena_finish(struct arena *a);
/* n zeroed bytes, aligned for anything; NULL and `failed` when there are none. */
void *arena_alloc(struct arena *a, size_t n);
/* A terminated copy. */
char *arena_text(struct arena *a, const void *s, size_t n);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
