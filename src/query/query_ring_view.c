/* SPDX-License-Identifier: MIT
 *
 * Views of a ring: what a question is about.
 */
#include "query/query_ring_state.h"

#include "query/query_field.h"
#include "query/query_kept.h"

#include <stdlib.h>
#include <sys/mman.h>

static void view_free(struct ring_view *v)
{
	field_columns_free(v->x.fields);
	kept_free(v->x.kept);
	pthread_mutex_destroy(&v->x.lock);
	if (v->nodes) {
		munmap(v->nodes, v->nodes_bytes);
	}
	if (v->frames) {
		munmap(v->frames, v->frames_bytes);
	}
	free(v->groups);
	free(v->raw_used);
	free(v->store_groups);
	free(v->columns);
	free(v->running);
	free(v->sayings);
	free(v->types);
	free(v->processes);
	free(v->threads);
	free(v->stacks);
	free(v->late[0]);
	free(v->late[1]);
	free(v);
}

/* NULL for nothing, too: never an error by itself. */
static void *copy_of(const void *p, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);
	if (copy && bytes) {
		memcpy(copy, p, bytes);
	}
	return copy;
}

/* The first bytes of a set's file, which only grows. What is there is never written again. */
static int map_items(const struct build_set *s, void **ret, size_t *ret_bytes)
{
	size_t bytes = (s->count * sizeof(uint64_t) + STORE_PAGE - 1) & ~(size_t)(STORE_PAGE - 1);
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->items.fd, 0);
	if (p == MAP_FAILED) {
		return -errno;
	}
	*ret = p;
	*ret_bytes = bytes;
	return 0;
}

static int take_groups(struct ring *r, struct ring_view *v)
{
	uint32_t n = r->count, processors = BASE_MIN(r->b.info.processors, 4096u);
	v->groups = calloc(n + 1ull, sizeof(struct ring_group *));
	v->raw_used = calloc(n + 1ull, sizeof *v->raw_used);
	v->store_groups = calloc(n + 1ull, sizeof *v->store_groups);
	v->columns = calloc(n + 1ull, sizeof *v->columns);
	v->running = calloc((size_t)n * processors + 1, sizeof *v->running);
	if (!v->groups || !v->raw_used || !v->store_groups || !v->columns || !v->running) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ring_group *g = ring_at(r, i);
		uint32_t rows = g->rows->rows;
		const uint32_t *stack = g->rows->stack;
		if (i + 2 >= n) { /* stacks of its events may still come */
			uint32_t **late = &v->late[n - 1 - i];
			*late = copy_of(stack, rows * sizeof *stack);
			stack = *late;
			if (!stack) {
				return -ENOMEM;
			}
		}
		v->raw_used[i] = g->raw_used;
		v->store_groups[i] = (struct store_group){.from = g->from,
							  .to = g->to,
							  .rows = rows,
							  .time_bytes = 8,
							  .type_bytes = 4,
							  .process_bytes = 4,
							  .has_stacks = 1};
		v->columns[i] = (struct store_columns){.rows = rows,
						       .from = RING_TIME_BASE,
						       .time8 = g->offsets,
						       .type4 = g->rows->type,
						       .process4 = g->rows->process,
						       .thread = g->rows->thread,
						       .cpu = g->rows->cpu,
						       .where = g->rows->where,
						       .stack = stack};
		memcpy(v->running + (size_t)i * processors, g->running, processors * sizeof *g->running);
		v->about.first = i ? BASE_MIN(v->about.first, g->from) : g->from;
		v->about.last = i ? BASE_MAX(v->about.last, g->to) : g->to;
		v->about.rows += rows;
		v->bytes += ring_group_bytes(g);
		v->groups[v->count++] = g;
		g->refs++;
	}
	v->sections[0] = (struct store_section){.kind = STORE_RUNNING,
						.at = (uintptr_t)v->running,
						.bytes = sizeof(uint32_t) * n * processors,
						.count = (uint64_t)n * processors};
	return 0;
}

static int take_dictionaries(struct ring *r, struct ring_view *v)
{
	struct build *b = &r->b;
	if (r->machine_told) {
		int err = build_who_refresh(&b->who);
		if (err < 0) {
			return err;
		}
		r->machine_told = false;
	}
	v->types = copy_of(b->types.list, b->types.count * sizeof *v->types);
	v->processes = copy_of(b->who.processes, b->who.process_count * sizeof *v->processes);
	v->threads = copy_of(b->who.threads, b->who.thread_count * sizeof *v->threads);
	v->stacks = calloc(b->stacks.pairs.count + 1ull, sizeof *v->stacks);
	v->sayings = copy_of(r->sayings.list, r->sayings.count * sizeof *v->sayings);
	v->saying_count = r->sayings.count;
	if (!v->types || !v->processes || !v->threads || !v->stacks || !v->sayings) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->types.count; i++) {
		v->types[i].rows_low = (uint32_t)b->types.rows[i];
		v->types[i].rows_high = (uint32_t)(b->types.rows[i] >> 32);
		v->types[i].first_where = b->types.first_where[i];
	}
	const uint64_t *pairs = build_set_items(&b->stacks.pairs);
	for (uint32_t i = 1; i < b->stacks.pairs.count; i++) {
		v->stacks[i].kernel = build_stacks_part(&b->stacks, (uint32_t)pairs[i]);
		v->stacks[i].user = build_stacks_part(&b->stacks, (uint32_t)(pairs[i] >> 32));
	}
	v->sections[1] = (struct store_section){.kind = STORE_TELLERS,
						.at = (uintptr_t)v->sayings,
						.bytes = v->saying_count * sizeof *v->sayings,
						.count = v->saying_count};
	int err = map_items(&b->stacks.nodes, &v->nodes, &v->nodes_bytes);
	return err < 0 ? err : map_items(&b->stacks.frames, &v->frames, &v->frames_bytes);
}

static void fill_store(const struct ring *r, struct ring_view *v)
{
	const struct build *b = &r->b;
	v->about.start_filetime = (int64_t)b->clock.start_filetime;
	v->about.trace_end = INT64_MIN;
	v->about.boot_filetime = b->info.boot_filetime;
	v->about.events_lost = r->events_lost;
	v->about.buffers_lost = r->buffers_lost;
	v->about.stacks_without_event = b->lost_stacks;
	v->about.types_left_out = b->types.left_out;
	v->about.processors = b->info.processors;
	v->about.pointer_size = b->info.pointer_size;
	v->about.os_version = b->info.os_version;
	v->about.os_build = b->info.os_build;
	v->file.path = r->name;
	v->file.fd = -1;
	v->file.bytes = v->file.all_bytes = v->bytes;
	v->file.store = (struct store){
		.fd = -1,
		.columns = v->columns,
		.ring = v,
		.first_row = r->count ? v->groups[0]->first_row : r->rows,
		.directory = v->sections,
		.directory_count = BASE_ARRAY_LEN(v->sections),
		.about = &v->about,
		.groups = v->store_groups,
		.group_count = v->count,
		.types = v->types,
		.type_count = (uint32_t)b->types.count,
		.processes = v->processes,
		.process_count = (uint32_t)b->who.process_count,
		.threads = v->threads,
		.thread_count = (uint32_t)b->who.thread_count,
		.stacks = v->stacks,
		.stack_count = b->stacks.pairs.count,
		.nodes = v->nodes,
		.node_count = b->stacks.nodes.count,
		.frames = v->frames,
		.frame_flip = UINT64_MAX,
		.frame_count = b->stacks.frames.count,
		.strings = b->strings.bytes,
		.string_bytes = b->strings.count,
	};
}

static struct ring_view *view_make(struct ring *r)
{
	struct ring_view *v = calloc(1, sizeof *v);
	if (!v) {
		return NULL;
	}
	pthread_mutex_init(&v->x.lock, NULL);
	v->ring = r;
	v->refs = 1; /* the ring's */
	v->changes = r->changes;
	v->kept_used = r->kept_used;
	v->x.files = &v->file;
	v->x.file_count = 1;
	int err = take_groups(r, v);
	err = err < 0 ? err : take_dictionaries(r, v);
	if (err == 0) {
		fill_store(r, v);
		err = index_join(&v->x);
	}
	err = err < 0 ? err : field_columns_begin(&v->x);
	if (err < 0) {
		for (uint32_t i = 0; i < v->count; i++) {
			v->groups[i]->refs--; /* the ring's is left */
		}
		view_free(v);
		return NULL;
	}
	return v;
}

/* True: nobody holds it any more, and its groups are given back. */
static bool unref_locked(struct ring_view *v)
{
	if (--v->refs > 0) {
		return false;
	}
	for (uint32_t i = 0; i < v->count; i++) {
		ring_group_unref(v->groups[i]);
	}
	return true;
}

bool ring_view_idle(struct ring_view *v)
{
	if (v->refs != 1 || !unref_locked(v)) {
		return false;
	}
	view_free(v);
	return true;
}

struct openetw_index *ring_view_hold(struct openetw_index *x)
{
	struct ring *r = x->ring ? x->ring : x->files[0].store.ring->ring;
	struct ring_view *old = NULL;
	pthread_mutex_lock(&r->lock);
	struct ring_view *v = x->ring ? r->view : (struct ring_view *)(void *)x;
	if (x->ring && (!v || v->changes != r->changes)) {
		struct ring_view *made = view_make(r);
		if (made && v && unref_locked(v)) {
			old = v;
		}
		r->view = made ? made : r->view;
		v = made;
	}
	if (v) {
		v->refs++;
	}
	pthread_mutex_unlock(&r->lock);
	if (old) {
		view_free(old);
	}
	return v ? &v->x : NULL;
}

void ring_view_release(struct openetw_index *view)
{
	struct ring_view *v = (struct ring_view *)(void *)view;
	pthread_mutex_t *lock = &v->ring->lock;
	pthread_mutex_lock(lock);
	bool gone = unref_locked(v);
	pthread_mutex_unlock(lock);
	if (gone) {
		view_free(v);
	}
}
