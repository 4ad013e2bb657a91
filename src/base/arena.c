/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_LEAST 8192u
#define BLOCK_MOST  (1u << 20)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	_Alignas(16) unsigned char data[];
};

void arena_init(struct arena *a, size_t limit_bytes)
{
	*a = (struct arena){.limit_bytes = limit_bytes};
}

void arena_finish(struct arena *a)
{
	for (struct arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
	a->total_bytes = 0;
}

static struct arena_block *new_block(struct arena *a, size_t n)
{
	/* Blocks grow with the arena, so that small ones stay small and big ones are few. */
	size_t size = a->total_bytes / 2;
	size = size < BLOCK_LEAST ? BLOCK_LEAST : size > BLOCK_MOST ? BLOCK_MOST : size;
	size = size < n ? n : size;
	if (size > a->limit_bytes - a->total_bytes) {
		size = n;
	}
	if (size > a->limit_bytes - a->total_bytes) {
		return NULL;
	}
	struct arena_block *b = malloc(sizeof *b + size);
	if (!b) {
		return NULL;
	}
	*b = (struct arena_block){.next = a->blocks, .size = size};
	a->blocks = b;
	a->total_bytes += size;
	return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
	if (a->failed || n > a->limit_bytes) {
		a->failed = true;
		return NULL;
	}
	n = (n + 15) & ~(size_t)15;
	struct arena_block *b = a->blocks;
	if (!b || b->size - b->used < n) {
		b = new_block(a, n);
		if (!b) {
			a->failed = true;
			return NULL;
		}
	}
	void *p = b->data + b->used;
	b->used += n;
	memset(p, 0, n);
	return p;
}

char *arena_text(struct arena *a, const void *s, size_t n)
{
	char *p = n < (size_t)-1 ? arena_alloc(a, n + 1) : NULL;
	if (p && n) {
		memcpy(p, s, n);
	}
	return p;
}
