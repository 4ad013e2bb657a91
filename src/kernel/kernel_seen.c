/* SPDX-License-Identifier: MIT
 *
 * Which addresses stacks in the trace have, each once. What programs do they do again, so most
 * stacks are known as a whole.
 */
#include "kernel/kernel_seen.h"

#include "base/vec.h"

#include <stdlib.h>

#define SEEN_MAX (1u << 21) /* 32 MB, and 64 MB to find them */

static void add(struct kernel_walk *w, const struct kernel_seen *k)
{
	_Static_assert(sizeof *k == 16, "without gaps: it is its own key");
	uint64_t key = map_hash(&w->places, k, sizeof *k);
	MAP_EACH(&w->places, key, at) {
		if (memcmp(&w->seen[map_value(&w->places, at)], k, sizeof *k) == 0) {
			return;
		}
	}
	if (!VEC_ROOM_UP_TO(w->seen, w->seen_count, w->seen_cap, SEEN_MAX) ||
	    map_add(&w->places, key, w->seen_count) < 0) {
		w->full = true; /* the rest stays without names */
		return;
	}
	w->seen[w->seen_count++] = *k;
	if (k->where == SEEN_IN_NO_FILE) {
		kernel_jit_seen(w, k->of);
	} else if (k->where == SEEN_IN_FILE) {
		unwind_file_keep(w->unwind, k->of);
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
	uint32_t n = w->seen_count;
	struct kernel_seen *list = n ? malloc(n * sizeof *list) : NULL;
	n = list ? n : 0;
	if (n) {
		memcpy(list, w->seen, n * sizeof *list);
		qsort(list, n, sizeof *list, by_place);
	}
	*ret_count = n;
	return list;
}
