/* SPDX-License-Identifier: MIT */
#include "query/query_lane_write.h"

#include "base/vec.h"
#include "query/build_set.h"

#include "openetw/query.h"

#include <fcntl.h>
#include <stdlib.h>

/* Room for stays that lanes keep from one flush to the next. */
#define KEPT_STAYS_MOST (2u << 20)

struct lane_state {
	struct stay *fresh; /* since the last flush */
	uint32_t fresh_count, fresh_cap;
	int64_t last;  /* when the last stay began */
	uint64_t part; /* number of the last part, plus 1; 0: none */
	uint8_t doing; /* of the last stay */
	bool any;      /* it has a stay */
};
/* A part that has been written. */
struct written {
	struct store_lane_part p;
	uint64_t before; /* the lane's part before it, plus 1 */
	uint32_t lane, reserved;
};
struct lane_writer {
	int fd;
	struct store_writer *store;
	const struct store *index;
	const char *directory;
	uint32_t threads, lane_count;
	struct lane_state *lanes;
	uint64_t fresh_count; /* of all lanes */
	uint64_t kept_stays;  /* for which they have room */
	uint32_t *touched;    /* lanes that have fresh ones */
	uint32_t touched_count, touched_cap;
	struct build_space parts; /* struct written */
	uint64_t part_count;
	uint64_t stays_at; /* where the section begins in the file */
	uint64_t bytes, bytes_most;
	uint64_t stays;
	uint8_t *block; /* of parts, until they are written */
	size_t block_bytes, block_cap;
	bool cut;
	int64_t cut_at;
};

int lane_writer_create(int fd, const struct lane_writer_options *o, struct lane_writer **ret)
{
	static const struct store_key none;
	const struct store *s = o->index;
	const struct store_header *h = (const struct store_header *)(const void *)s->map;
	struct lane_writer *w = calloc(1, sizeof *w);
	if (!w) {
		return -ENOMEM;
	}
	w->fd = fd;
	w->index = s;
	w->directory = o->directory;
	w->threads = s->thread_count;
	w->lane_count = s->thread_count + o->cpus;
	w->parts.fd = -1;
	w->bytes_most = o->bytes_most;
	w->lanes = calloc(w->lane_count + 1ull, sizeof *w->lanes);
	int err = w->lanes ? store_writer_create(fd, s->check ? &h->key : &none, &w->store) : -ENOMEM;
	err = err < 0 ? err : store_write_begin(w->store, STORE_LANE_STAYS, 0);
	if (err < 0) {
		lane_writer_destroy(w);
		return err;
	}
	w->stays_at = store_writer_bytes(w->store);
	*ret = w;
	return 0;
}

void lane_writer_destroy(struct lane_writer *w)
{
	if (w) {
		store_writer_destroy(w->store);
		build_space_free(&w->parts);
		for (uint32_t i = 0; w->lanes && i < w->lane_count; i++) {
			free(w->lanes[i].fresh);
		}
		free(w->lanes);
		free(w->touched);
		free(w->block);
		free(w);
	}
}

bool lane_written_last(const struct lane_writer *w, uint32_t lane, int64_t *ret_from, uint8_t *ret_doing)
{
	const struct lane_state *l = &w->lanes[lane];
	*ret_from = l->last;
	*ret_doing = l->doing;
	return l->any;
}

int lane_write(struct lane_writer *w, uint32_t lane, struct stay s)
{
	struct lane_state *l = &w->lanes[lane];
	if (w->cut) {
		return 0;
	}
	uint32_t cap = l->fresh_cap;
	if (!VEC_ROOM(l->fresh, l->fresh_count, l->fresh_cap)) {
		return -ENOMEM;
	}
	w->kept_stays += l->fresh_cap - cap;
	if (l->fresh_count == 0) {
		if (!VEC_ROOM(w->touched, w->touched_count, w->touched_cap)) {
			return -ENOMEM;
		}
		w->touched[w->touched_count++] = lane;
	}
	l->last = l->any ? BASE_MAX(s.from, l->last) : s.from;
	l->any = true;
	l->doing = s.doing;
	s.from = l->last;
	l->fresh[l->fresh_count++] = s;
	w->fresh_count++;
	return 0;
}

/* ---- what is forgotten ---------------------------------------------------------------------------- */

static bool is_wait(uint32_t doing)
{
	return doing == OPENETW_DOING_WAITING || doing == OPENETW_DOING_READY;
}

/* The last stays of a part. *ret_all: all of them. */
static uint32_t forget_narrow(const struct store_lane_part *p, uint8_t *part)
{
	uint64_t *stays = (uint64_t *)(void *)(part + (uint64_t)lane_blocks(p) * sizeof(struct store_stay_block));
	struct store_stay_block *blocks = (struct store_stay_block *)(void *)part;
	uint32_t i = p->count;
	for (; i > 0 && is_wait(lane_narrow_doing(stays[i - 1])); i--) {
		stays[i - 1] = (uint32_t)stays[i - 1];
	}
	for (uint32_t b = i / STORE_BLOCK_STAYS; b < lane_blocks(p); b++) {
		lane_block_put(stays + (size_t)b * STORE_BLOCK_STAYS, &blocks[b]);
	}
	return p->count - i;
}

static uint32_t forget_wide(const struct store_lane_part *p, uint8_t *part)
{
	struct store_stay_wide *stays = (struct store_stay_wide *)(void *)part;
	uint32_t i = p->count;
	for (; i > 0 && is_wait(stays[i - 1].doing); i--) {
		stays[i - 1] = (struct store_stay_wide){.from = stays[i - 1].from};
	}
	return p->count - i;
}

static int forget_written(struct lane_writer *w, uint64_t part)
{
	const struct written *all = w->parts.p;
	while (part > 0) {
		const struct written *at = &all[part - 1];
		uint64_t bytes = lane_part_bytes(&at->p), place = w->stays_at + at->p.at;
		uint8_t *p = malloc(bytes);
		int err = p ? base_pread_all(w->fd, p, bytes, place) : -ENOMEM;
		uint32_t forgot = err < 0 ? 0 : at->p.wide ? forget_wide(&at->p, p) : forget_narrow(&at->p, p);
		if (forgot) {
			err = store_write_again(w->store, p, bytes, place);
		}
		free(p);
		if (err < 0 || forgot < at->p.count) {
			return err;
		}
		part = at->before;
	}
	return 0;
}

int lane_write_unknown(struct lane_writer *w, uint32_t lane)
{
	struct lane_state *l = &w->lanes[lane];
	if (w->cut || !l->any || !is_wait(l->doing)) {
		return 0;
	}
	l->doing = OPENETW_DOING_UNKNOWN;
	for (uint32_t i = l->fresh_count; i > 0; i--) {
		struct stay *f = &l->fresh[i - 1];
		if (!is_wait(f->doing)) {
			return 0;
		}
		*f = (struct stay){.from = f->from};
	}
	return forget_written(w, l->part);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static uint8_t *room(struct lane_writer *w, uint64_t bytes)
{
	if (w->block_cap - w->block_bytes < bytes) {
		size_t cap = BASE_MAX(2 * w->block_cap, w->block_bytes + bytes + (1u << 20));
		uint8_t *p = realloc(w->block, cap);
		if (!p) {
			return NULL;
		}
		w->block = p;
		w->block_cap = cap;
	}
	return w->block + w->block_bytes;
}

static void put_narrow(const struct lane_state *l, const struct store_lane_part *p, bool of_cpu, uint8_t *to)
{
	uint64_t *stays = (uint64_t *)(void *)(to + (uint64_t)lane_blocks(p) * sizeof(struct store_stay_block));
	struct store_stay_block *blocks = (struct store_stay_block *)(void *)to;
	for (uint32_t i = 0; i < p->count; i++) {
		stays[i] = lane_narrow_put(&l->fresh[i], p->from, of_cpu);
	}
	for (uint32_t b = 0; b < lane_blocks(p); b++) {
		lane_block_put(stays + (size_t)b * STORE_BLOCK_STAYS, &blocks[b]);
	}
}

static void put_wide(const struct lane_state *l, const struct store_lane_part *p, uint8_t *to)
{
	struct store_stay_wide *stays = (struct store_stay_wide *)(void *)to;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct stay *f = &l->fresh[i];
		stays[i] = (struct store_stay_wide){f->from, f->who, f->cpu, f->doing, f->detail};
	}
}

static int put_part(struct lane_writer *w, uint32_t lane)
{
	struct lane_state *l = &w->lanes[lane];
	struct store_lane_part p = {.at = w->bytes + w->block_bytes, .count = l->fresh_count};
	p.from = l->fresh[0].from;
	p.wide = (uint64_t)l->last - (uint64_t)p.from > UINT32_MAX || w->threads > STORE_STAY_THREADS;
	uint64_t bytes = lane_part_bytes(&p), have = (w->part_count + 1) * sizeof(struct written);
	uint8_t *to = room(w, bytes);
	int err = to ? 0 : -ENOMEM;
	if (err == 0 && have > w->parts.bytes) {
		err = build_space_grow(&w->parts, w->directory, BASE_MAX(2 * w->parts.bytes, (size_t)1 << 14));
	}
	if (err < 0) {
		return err;
	}
	if (p.wide) {
		put_wide(l, &p, to);
	} else {
		put_narrow(l, &p, lane >= w->threads, to);
	}
	w->block_bytes += bytes;
	w->stays += p.count;
	((struct written *)w->parts.p)[w->part_count++] = (struct written){p, l->part, lane, 0};
	l->part = w->part_count;
	return 0;
}

/* The earliest of the stays that came since the last flush. */
static int64_t fresh_from(const struct lane_writer *w)
{
	int64_t from = INT64_MAX;
	for (uint32_t i = 0; i < w->touched_count; i++) {
		from = BASE_MIN(from, w->lanes[w->touched[i]].fresh[0].from);
	}
	return from;
}

int lane_write_flush(struct lane_writer *w)
{
	int err = 0;
	bool crowded = w->kept_stays > KEPT_STAYS_MOST;
	if (!w->cut && w->bytes + w->fresh_count * sizeof(struct store_stay_wide) > w->bytes_most) {
		w->cut = true;
		w->cut_at = fresh_from(w);
	}
	w->block_bytes = 0;
	for (uint32_t i = 0; i < w->touched_count && err == 0; i++) {
		struct lane_state *l = &w->lanes[w->touched[i]];
		err = w->cut ? 0 : put_part(w, w->touched[i]);
		l->fresh_count = 0;
		if (crowded) {
			w->kept_stays -= l->fresh_cap;
			free(l->fresh);
			l->fresh = NULL;
			l->fresh_cap = 0;
		}
	}
	uint64_t at = store_writer_bytes(w->store);
	err = err < 0 ? err : store_write_more(w->store, w->block, w->block_bytes);
	/* The disk writes while more is made, so that whoever gives the file its name need not wait for all of it. */
	(void)sync_file_range(w->fd, (off_t)at, (off_t)w->block_bytes, SYNC_FILE_RANGE_WRITE);
	w->bytes += w->block_bytes;
	w->fresh_count = w->touched_count = 0;
	return err;
}

/* ---- the end -------------------------------------------------------------------------------------- */

/* How many parts each lane has, then where they begin. */
static uint64_t *firsts_of(const struct lane_writer *w)
{
	const struct written *all = w->parts.p;
	uint64_t *first = calloc(w->lane_count + 2ull, sizeof *first);
	for (uint64_t i = 0; first && i < w->part_count; i++) {
		first[all[i].lane + 1]++;
	}
	for (uint32_t i = 0; first && i < w->lane_count; i++) {
		first[i + 1] += first[i];
	}
	return first;
}

static int write_parts(struct lane_writer *w, const uint64_t *first)
{
	struct build_space sorted = {.fd = -1};
	uint64_t *next = malloc((w->lane_count + 1ull) * sizeof *next);
	int err = next ? build_space_grow(&sorted, w->directory, (w->part_count + 1) * sizeof(struct store_lane_part))
		       : -ENOMEM;
	struct store_lane_part *to = sorted.p;
	const struct written *all = w->parts.p;
	if (err == 0) {
		memcpy(next, first, (w->lane_count + 1ull) * sizeof *next);
		for (uint64_t i = 0; i < w->part_count; i++) {
			to[next[all[i].lane]++] = all[i].p;
		}
		err = store_write_section(w->store, STORE_LANE_PARTS, 0, to, w->part_count * sizeof *to, w->part_count);
	}
	build_space_free(&sorted);
	free(next);
	return err;
}

int lane_write_end(struct lane_writer *w)
{
	const struct store *s = w->index;
	int err = lane_write_flush(w);
	err = err < 0 ? err : store_write_end(w->store, w->bytes);
	const struct store_lanes h = {.rows = s->about->rows,
				      .groups = s->group_count,
				      .types = s->type_count,
				      .index_check = s->check,
				      .rules = STORE_LANE_RULES,
				      .threads = w->threads,
				      .cpus = w->lane_count - w->threads,
				      .end = w->cut ? w->cut_at : s->about->last,
				      .cut = w->cut,
				      .stays = w->stays};
	uint64_t *first = err < 0 ? NULL : firsts_of(w);
	if (err == 0 && !first) {
		err = -ENOMEM;
	}
	err = err < 0 ? err : write_parts(w, first);
	err = err < 0 ? err
		      : store_write_section(w->store, STORE_LANE_FIRST, 0, first,
					    (w->lane_count + 1ull) * sizeof *first, w->lane_count + 1ull);
	free(first);
	err = err < 0 ? err : store_write_section(w->store, STORE_LANES, 0, &h, sizeof h, 1);
	return err < 0 ? err : store_writer_commit_fields(w->store);
}
