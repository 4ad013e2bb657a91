/* SPDX-License-Identifier: MIT
 *
 * Which addresses stacks in the trace have, each once. What programs do they do again, so most
 * stacks are known as a whole.
 */
#include "kernel/kernel_seen.h"

#include <stdlib.h>

#define SEEN_MAX (1u << 22) /* slots: 64 MB */

static uint64_t hash_of(const struct kernel_seen *k)
{
	uint64_t h = (k->at ^ (uint64_t)k->of << 40 ^ k->where) * 0x9E3779B97F4A7C15ull;
	return h ^ h >> 29;
}

static struct kernel_seen *place(struct kernel_seen *slot, uint32_t cap, const struct kernel_seen *k)
{
	uint32_t i = (uint32_t)hash_of(k) & (cap - 1);
	while (slot[i].where && (slot[i].where != k->where || slot[i].of != k->of || slot[i].at != k->at)) {
		i = (i + 1) & (cap - 1);
	}
	return &slot[i];
}

static void add(struct kernel_walk *w, const struct kernel_seen *k)
{
	if (w->used * 2 >= w->cap) {
		uint32_t cap = w->cap ? 2 * w->cap : 4096;
		struct kernel_seen *bigger = cap > SEEN_MAX ? NULL : calloc(cap, sizeof *bigger);
		if (!bigger) {
			w->full = true; /* the rest stays without names */
			return;
		}
		for (uint32_t i = 0; i < w->cap; i++) {
			if (w->slot[i].where) {
				*place(bigger, cap, &w->slot[i]) = w->slot[i];
			}
		}
		free(w->slot);
		w->slot = bigger;
		w->cap = cap;
	}
	struct kernel_seen *s = place(w->slot, w->cap, k);
	if (!s->where) {
		*s = *k;
		w->used++;
		if (k->where == SEEN_IN_NO_FILE) {
			kernel_jit_seen(w, k->of);
		} else if (k->where == SEEN_IN_FILE) {
			unwind_file_keep(w->unwind, k->of);
		}
	}
}

void kernel_walk_seen(struct kernel_walk *w, uint32_t pid, const uint64_t *frames, uint32_t count)
{
	uint64_t h = pid + 1;
	for (uint32_t i = 0; i < count; i++) {
		h = (h ^ frames[i]) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 29;
	}
	uint64_t *recent = &w->recent[h & (SEEN_RECENT_STACKS - 1)];
	if (*recent == h || w->full) {
		return;
	}
	*recent = h;
	for (uint32_t i = 0; i < count && !w->full; i++) {
		struct unwind_module m;
		/* Callers are seen behind their call, which may be the end of the function. */
		bool called = i > 0 && (frames[i - 1] >= KERNEL_SPACE) == (frames[i] >= KERNEL_SPACE);
		uint64_t at = frames[i] - (called ? 1 : 0);
		struct kernel_seen k = {SEEN_IN_KERNEL, 0, at};
		if (at < KERNEL_SPACE) {
			bool in_file = unwind_module_at(w->unwind, pid, at, &m);
			k = in_file ? (struct kernel_seen){SEEN_IN_FILE, m.file, at - m.base}
				    : (struct kernel_seen){SEEN_IN_NO_FILE, pid, at};
		}
		add(w, &k);
	}
}

static int by_place(const void *pa, const void *pb)
{
	const struct kernel_seen *a = pa, *b = pb;
	if (a->where != b->where) {
		return a->where < b->where ? -1 : 1;
	}
	if (a->of != b->of) {
		return a->of < b->of ? -1 : 1;
	}
	return a->at < b->at ? -1 : a->at > b->at;
}

struct kernel_seen *kernel_seen_list(const struct kernel_walk *w, uint32_t *ret_count)
{
	struct kernel_seen *list = w->used ? malloc(w->used * sizeof *list) : NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; list && i < w->cap; i++) {
		if (w->slot[i].where) {
			list[n++] = w->slot[i];
		}
	}
	if (n) {
		qsort(list, n, sizeof *list, by_place);
	}
	*ret_count = n;
	return list;
}
