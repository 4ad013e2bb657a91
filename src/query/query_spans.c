/* SPDX-License-Identifier: MIT */
#include "query/query_spans.h"

#include "base/map.h"
#include "base/vec.h"
#include "query/query_companion.h"
#include "query/query_reading.h"
#include "query/query_span_edges.h"

#include <limits.h>
#include <stdlib.h>

/* One that has begun. */
struct open_span {
	struct edge edge;
	size_t span; /* which one it is */
	uint32_t
		older; /* the one that belongs with it and began before; of those that have ended: the next that is free */
};
#define NO_SPAN     UINT32_MAX
#define SPACE_FIRST ((size_t)1 << 14)
struct maker {
	struct openetw_query *q;
	struct reading *reading;
	const struct store *store;
	uint32_t file;
	enum openetw_spans kind;
	uint64_t ticks_per_second;
	bool *wanted; /* of each type */
	struct edge *edges;
	struct open_span *open;
	uint32_t open_count, open_cap, open_free;
	struct map of;         /* hash of what belongs together: the one that began last */
	char folder[PATH_MAX]; /* for files without a name; "": memory */
	uint64_t *bytes;       /* of memory */
	struct spans *s;
};

/* ---- making them ----------------------------------------------------------------------------------- */

static bool has_id(const struct edge *e)
{
	static const uint8_t none[16];
	return memcmp(e->id, none, sizeof none) != 0;
}

static bool belong(const struct maker *m, const struct edge *a, const struct edge *b)
{
	const struct store_type *x = &m->store->types[a->type], *y = &m->store->types[b->type];
	if (memcmp(a->id, b->id, sizeof a->id) != 0) {
		return false;
	}
	/* A request belongs to nobody: its end is told by whoever is interrupted. */
	return m->kind == OPENETW_SPANS_FILES ||
	       (a->process == b->process && x->task == y->task &&
		memcmp(x->provider, y->provider, sizeof x->provider) == 0 && (has_id(a) || a->thread == b->thread));
}

static uint64_t key_of(const struct maker *m, const struct edge *e)
{
	const struct store_type *t = &m->store->types[e->type];
	uint64_t h = map_hash(&m->of, e->id, sizeof e->id);
	if (m->kind == OPENETW_SPANS_FILES) {
		return h;
	}
	h = map_mix(h, map_hash(&m->of, t->provider, sizeof t->provider) | 1);
	uint32_t thread = has_id(e) ? 0 : e->thread;
	return map_mix(h ^ ((uint64_t)t->task << 32 | thread), e->process + 0x9E3779B97F4A7C15ull);
}

/* The place in the map of what belongs with this. */
static size_t newest_of(const struct maker *m, const struct edge *e, uint64_t key)
{
	MAP_EACH(&m->of, key, at) {
		if (belong(m, &m->open[map_value(&m->of, at)].edge, e)) {
			return at;
		}
	}
	return MAP_NONE;
}

static const char *directory_of(const struct maker *m)
{
	return m->folder[0] ? m->folder : NULL;
}

/* False: there is no room. */
static bool more_room(struct maker *m)
{
	struct spans *s = m->s;
	size_t before = s->space.bytes, more = BASE_MAX(2 * before, SPACE_FIRST);
	bool memory = !m->folder[0];
	if ((memory && *m->bytes + (more - before) > KEPT_BYTES_MAX) ||
	    build_space_grow(&s->space, directory_of(m), more) < 0) {
		return false;
	}
	*m->bytes += memory ? more - before : 0;
	s->list = s->space.p;
	return true;
}

/* SIZE_MAX: there is no room. */
static int new_span(struct maker *m, const struct edge *e, size_t *ret)
{
	struct spans *s = m->s;
	*ret = SIZE_MAX;
	s->cut = s->cut || ((s->count + 1) * sizeof *s->list > s->space.bytes && !more_room(m));
	if (s->cut) {
		return 0;
	}
	*ret = s->count++;
	s->list[*ret] = (struct span){
		.from = e->time, .to = INT64_MAX, .thread = e->thread, .type = e->type, .end = SPAN_NO_END};
	return 0;
}

/* One that belongs with others that are open, which is at `at` in the map. */
static int open_span(struct maker *m, const struct edge *e, uint64_t key, size_t at, size_t span)
{
	uint32_t i = m->open_free;
	if (i != NO_SPAN) {
		m->open_free = m->open[i].older;
	} else if (VEC_ROOM_UP_TO(m->open, m->open_count, m->open_cap, NO_SPAN - 1)) {
		i = m->open_count++;
	} else {
		return -ENOMEM;
	}
	m->open[i] = (struct open_span){.edge = *e, .span = span, .older = NO_SPAN};
	if (at == MAP_NONE) {
		return map_add(&m->of, key, i);
	}
	m->open[i].older = (uint32_t)map_value(&m->of, at);
	map_set(&m->of, at, i);
	return 0;
}

/* The newest of those at `at` has ended. */
static void close_span(struct maker *m, size_t at, int64_t to, uint64_t end)
{
	uint32_t i = (uint32_t)map_value(&m->of, at);
	struct open_span *o = &m->open[i];
	struct span *s = &m->s->list[o->span];
	s->to = BASE_MAX(to, s->from);
	s->end = end;
	if (o->older == NO_SPAN) {
		map_remove(&m->of, at);
	} else {
		map_set(&m->of, at, o->older);
	}
	o->older = m->open_free;
	m->open_free = i;
}

static int start(struct maker *m, const struct edge *e)
{
	uint64_t key = key_of(m, e);
	size_t span, at = newest_of(m, e, key);
	if (e->does == EDGE_ALONE && at != MAP_NONE) {
		if (edge_again(&m->open[map_value(&m->of, at)].edge, e)) {
			return 0;
		}
		close_span(m, at, INT64_MIN, SPAN_NO_END); /* nobody said when */
		at = MAP_NONE;
	}
	int err = new_span(m, e, &span);
	return err < 0 || span == SIZE_MAX ? err : open_span(m, e, key, at, span);
}

static int take(struct maker *m, struct edge *e)
{
	size_t span, at;
	int err;
	switch (e->does) {
	case EDGE_START:
	case EDGE_ALONE: return start(m, e);
	case EDGE_STOP:
		at = newest_of(m, e, key_of(m, e));
		if (at != MAP_NONE) { /* else it began before the trace */
			close_span(m, at, e->time, e->place);
		}
		return 0;
	case EDGE_BOTH:
	case EDGE_AT: {
		int64_t to = e->time;
		e->time = index_time_of_file(to, (int64_t)BASE_MIN(e->ns, (uint64_t)INT64_MAX));
		err = new_span(m, e, &span);
		if (err == 0 && span != SIZE_MAX) {
			m->s->list[span].to = to;
			m->s->list[span].end = e->does == EDGE_BOTH ? e->place : SPAN_NO_END;
		}
		return err;
	}
	default: return 0;
	}
}

static int group_read(struct maker *m, uint32_t group)
{
	struct store_columns c;
	struct etl_record r;
	uint32_t n = 0;
	int err = 0;
	store_columns_of(m->store, group, &c);
	struct due *due = reading_due(m->reading);
	for (uint32_t row = 0; row < c.rows; row++) {
		uint32_t type = store_type_at(&c, row), thread = c.thread[row];
		if (type < m->store->type_count && m->wanted[type]) {
			due[n] = (struct due){c.where[row], n};
			m->edges[n++] = (struct edge){.time = store_time(&c, row),
						      .process = store_process_at(&c, row),
						      .thread = thread < m->store->thread_count ? thread : 0,
						      .type = type,
						      .place = (uint64_t)group << 16 | row};
		}
	}
	const struct due *order = reading_in_order(m->reading, n);
	for (uint32_t i = 0; i < n && err == 0; i++) {
		struct edge *e = &m->edges[order[i].at];
		err = reading_raw(m->reading, m->file, order[i].where, &r);
		if (err == 0) {
			edge_understand(m->kind, &m->store->types[e->type], &r, m->ticks_per_second, e);
			m->q->answer.decoded++;
		}
		err = err == -ENOENT ? 0 : err;
	}
	for (uint32_t i = 0; i < n && err == 0; i++) {
		err = take(m, &m->edges[i]);
	}
	return err;
}

static int know_types(struct maker *m)
{
	m->wanted = calloc(m->store->type_count + 1ull, sizeof *m->wanted);
	for (uint32_t i = 0; m->wanted && i < m->store->type_count; i++) {
		m->wanted[i] = edge_wanted(m->kind, &m->store->types[i]);
	}
	return m->wanted ? reading_frequency(m->reading, m->file, &m->ticks_per_second) : -ENOMEM;
}

static bool group_has(const struct maker *m, uint32_t group)
{
	const struct store_group *g = &m->store->groups[group];
	const struct store_count *c = m->q->files[m->file].type_counts + g->type_counts;
	for (uint32_t i = 0; i < g->type_count_rows; i++) {
		if (c[i].id < m->store->type_count && m->wanted[c[i].id]) {
			return true;
		}
	}
	return false;
}

static int read_all(struct maker *m)
{
	int err = 0;
	for (uint32_t g = 0; g < m->store->group_count && err == 0; g++) {
		m->q->done = g;
		m->q->groups = m->store->group_count;
		question_tell(m->q);
		if (question_cancelled(m->q)) {
			return -ECANCELED;
		}
		err = group_has(m, g) ? group_read(m, g) : 0;
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	if (x->from != y->from) {
		return x->from < y->from ? -1 : 1;
	}
	return x->to > y->to ? -1 : x->to < y->to; /* what holds others first */
}

static void sort_thread(struct span *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (by_time(&list[i - 1], &list[i]) > 0) {
			qsort(list, count, sizeof *list, by_time);
			return;
		}
	}
}

static void give_levels(struct span *list, size_t count)
{
	int64_t ends[SPAN_LEVELS];
	uint32_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct span *p = &list[i];
		uint32_t level = 0;
		while (level < used && ends[level] > p->from) {
			level++;
		}
		level = BASE_MIN(level, SPAN_LEVELS - 1);
		ends[level] = level < used ? BASE_MAX(ends[level], p->to) : p->to;
		used = BASE_MAX(used, level + 1);
		p->level = level;
	}
}

/* Those of each thread behind each other, and in the order of time, which they nearly are already. */
static int sort_spans(struct maker *m)
{
	struct spans *s = m->s;
	struct build_space sorted = {.fd = -1};
	uint32_t threads = m->store->thread_count;
	size_t *first = calloc(threads + 2ull, sizeof *first);
	int err = first ? build_space_grow(&sorted, directory_of(m), s->count * sizeof *s->list) : -ENOMEM;
	struct span *to = sorted.p;
	if (err < 0) {
		free(first);
		return err;
	}
	/* first[thread + 1] becomes the place of the thread's next one. */
	for (size_t i = 0; i < s->count; i++) {
		first[s->list[i].thread + 2]++;
	}
	for (uint32_t i = 1; i <= threads; i++) {
		first[i + 1] += first[i];
	}
	for (size_t i = 0; i < s->count; i++) {
		to[first[s->list[i].thread + 1]++] = s->list[i];
	}
	for (uint32_t i = 0; i < threads; i++) {
		struct span *list = to + first[i];
		size_t count = first[i + 1] - first[i];
		sort_thread(list, count);
		give_levels(list, count);
	}
	build_space_free(&s->space);
	s->space = sorted;
	s->list = to;
	free(first);
	return 0;
}

static int make(struct openetw_query *q, uint32_t file, enum openetw_spans kind, uint64_t *inout_bytes, void **ret)
{
	struct maker m = {.q = q, .file = file, .kind = kind, .store = &q->x->files[file].store, .bytes = inout_bytes};
	uint64_t before = *inout_bytes;
	m.open_free = NO_SPAN;
	m.s = calloc(1, sizeof *m.s);
	if (m.s) {
		m.s->space.fd = -1;
	}
	if (!companion_folder(&q->x->files[file], m.folder, sizeof m.folder)) {
		m.folder[0] = 0;
	}
	m.reading = reading_make(q->x);
	m.edges = malloc(STORE_GROUP_ROWS * sizeof *m.edges);
	int err = m.s && m.reading && m.edges ? know_types(&m) : -ENOMEM;
	err = err < 0 ? err : read_all(&m);
	if (err == 0 && m.s->count) {
		err = sort_spans(&m);
	}
	reading_free(m.reading);
	free(m.wanted);
	free(m.edges);
	free(m.open);
	map_free(&m.of);
	if (err < 0) {
		*inout_bytes = before;
		spans_free(m.s);
		return err;
	}
	*ret = m.s;
	return 0;
}

static int make_events(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	return make(q, file, OPENETW_SPANS_EVENTS, inout_bytes, ret);
}

static int make_disks(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	return make(q, file, OPENETW_SPANS_DISKS, inout_bytes, ret);
}

static int make_files(struct openetw_query *q, uint32_t file, uint64_t *inout_bytes, void **ret)
{
	return make(q, file, OPENETW_SPANS_FILES, inout_bytes, ret);
}

int spans_of(struct openetw_query *q, uint32_t file, enum openetw_spans kind, const struct spans **ret)
{
	static kept_make_fn *const fn[] = {make_events, make_disks, make_files};
	const void *kept;
	int err = kept_of(q, file, KEPT_EVENTS + kind, fn[kind], &kept);
	if (err == 0) {
		*ret = kept;
		q->answer.partial = q->answer.partial || (*ret)->cut;
	}
	return err;
}

void spans_free(struct spans *s)
{
	if (s) {
		build_space_free(&s->space);
		free(s);
	}
}
