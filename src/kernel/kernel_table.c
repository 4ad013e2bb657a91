/* SPDX-License-Identifier: MIT
 * Threads by tid: open addressing, grown at half full.
 */
#include "kernel/kernel_private.h"

#include <stdlib.h>

struct kernel_table {
	struct kernel_thread *slot; /* tid UINT32_MAX: free */
	uint32_t cap, used;
};

static struct kernel_thread *place(struct kernel_thread *slot, uint32_t cap, uint32_t tid)
{
	uint32_t i = (tid * 2654435761u) & (cap - 1);
	while (slot[i].tid != tid && slot[i].tid != KERNEL_NO_ID) {
		i = (i + 1) & (cap - 1);
	}
	return &slot[i];
}

static struct kernel_thread *slots(uint32_t cap)
{
	struct kernel_thread *s = calloc(cap, sizeof *s);
	for (uint32_t i = 0; s && i < cap; i++) {
		s[i].tid = KERNEL_NO_ID;
	}
	return s;
}

struct kernel_table *kernel_table_create(void)
{
	struct kernel_table *t = calloc(1, sizeof *t);
	if (t) {
		t->cap = 1024;
		t->slot = slots(t->cap);
		if (!t->slot) {
			free(t);
			t = NULL;
		}
	}
	return t;
}

void kernel_table_destroy(struct kernel_table *t)
{
	for (uint32_t i = 0; t && i < t->cap; i++) {
		free(t->slot[i].frame);
	}
	if (t) {
		free(t->slot);
	}
	free(t);
}

struct kernel_thread *kernel_table_find(struct kernel_table *t, uint32_t tid)
{
	struct kernel_thread *s = place(t->slot, t->cap, tid);
	return s->tid == tid && tid != KERNEL_NO_ID ? s : NULL;
}

struct kernel_thread *kernel_table_add(struct kernel_table *t, uint32_t tid, uint32_t pid)
{
	struct kernel_thread *s = kernel_table_find(t, tid);
	if (!s) {
		if (t->used * 2 >= t->cap) {
			struct kernel_thread *bigger = slots(t->cap * 2);
			if (!bigger) {
				return NULL;
			}
			for (uint32_t i = 0; i < t->cap; i++) {
				if (t->slot[i].tid != KERNEL_NO_ID) {
					*place(bigger, t->cap * 2, t->slot[i].tid) = t->slot[i];
				}
			}
			free(t->slot);
			t->slot = bigger;
			t->cap *= 2;
		}
		s = place(t->slot, t->cap, tid);
		*s = (struct kernel_thread){.tid = tid};
		t->used++;
	}
	s->pid = pid;
	return s;
}

void kernel_table_each(const struct kernel_table *t, void (*fn)(void *ctx, const struct kernel_thread *t), void *ctx)
{
	for (uint32_t i = 0; i < t->cap; i++) {
		if (t->slot[i].tid != KERNEL_NO_ID) {
			fn(ctx, &t->slot[i]);
		}
	}
}

void kernel_table_unwatch(struct kernel_table *t, uint64_t sessions)
{
	for (uint32_t i = 0; i < t->cap; i++) {
		t->slot[i].watchers &= ~sessions;
	}
}

void kernel_table_remove(struct kernel_table *t, uint32_t tid)
{
	struct kernel_thread *s = kernel_table_find(t, tid);
	if (!s) {
		return;
	}
	free(s->frame);
	s->tid = KERNEL_NO_ID;
	s->frame = NULL;
	t->used--;
	/* What was pushed past this place moves back, so that searches need no tombstones. */
	uint32_t hole = (uint32_t)(s - t->slot), i = hole;
	for (;;) {
		i = (i + 1) & (t->cap - 1);
		if (t->slot[i].tid == KERNEL_NO_ID) {
			return;
		}
		uint32_t home = (t->slot[i].tid * 2654435761u) & (t->cap - 1);
		if (((i - home) & (t->cap - 1)) >= ((i - hole) & (t->cap - 1))) {
			t->slot[hole] = t->slot[i];
			t->slot[i] = (struct kernel_thread){.tid = KERNEL_NO_ID};
			hole = i;
		}
	}
}
