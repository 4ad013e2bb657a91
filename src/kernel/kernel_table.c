/* SPDX-License-Identifier: MIT
 * Threads by tid.
 */
#include "kernel/kernel_private.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

struct kernel_table {
	struct kernel_thread *thread;
	uint32_t count, cap;
	struct map places; /* by tid */
};

struct kernel_table *kernel_table_create(void)
{
	return calloc(1, sizeof(struct kernel_table));
}

void kernel_table_destroy(struct kernel_table *t)
{
	for (uint32_t i = 0; t && i < t->count; i++) {
		free(t->thread[i].frame);
	}
	if (t) {
		free(t->thread);
		map_free(&t->places);
	}
	free(t);
}

struct kernel_thread *kernel_table_find(struct kernel_table *t, uint32_t tid)
{
	size_t at = map_find(&t->places, tid);
	return at != MAP_NONE ? &t->thread[map_value(&t->places, at)] : NULL;
}

struct kernel_thread *kernel_table_add(struct kernel_table *t, uint32_t tid, uint32_t pid)
{
	struct kernel_thread *s = kernel_table_find(t, tid);
	if (!s) {
		if (tid == KERNEL_NO_ID || !VEC_ROOM(t->thread, t->count, t->cap) ||
		    map_add(&t->places, tid, t->count) < 0) {
			return NULL;
		}
		s = &t->thread[t->count++];
		*s = (struct kernel_thread){.tid = tid};
	}
	s->pid = pid;
	return s;
}

void kernel_table_each(const struct kernel_table *t, void (*fn)(void *ctx, const struct kernel_thread *t), void *ctx)
{
	for (uint32_t i = 0; i < t->count; i++) {
		fn(ctx, &t->thread[i]);
	}
}

void kernel_table_unwatch(struct kernel_table *t, uint64_t sessions)
{
	for (uint32_t i = 0; i < t->count; i++) {
		t->thread[i].watchers &= ~sessions;
	}
}

/* The last one takes its place. */
void kernel_table_remove(struct kernel_table *t, uint32_t tid)
{
	struct kernel_thread *s = kernel_table_find(t, tid);
	if (s) {
		struct kernel_thread *last = &t->thread[--t->count];
		free(s->frame);
		map_set(&t->places, map_find(&t->places, last->tid), (uint64_t)(s - t->thread));
		map_remove(&t->places, map_find(&t->places, tid));
		*s = *last;
	}
}
