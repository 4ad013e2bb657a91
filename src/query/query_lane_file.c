/* SPDX-License-Identifier: MIT */
#include "query/query_lane_file.h"

#include "openetw/query.h"

_Static_assert(OPENETW_DOING_IDLE == STORE_BLOCK_DOINGS, "a sum for each doing but UNKNOWN");

#define WHO_BITS 26u

static int refuse(struct diag *d, const char *what)
{
	diag_at(d, UINT64_MAX, "the file of lanes is damaged: %s", what);
	return -EBADMSG;
}

static int check_parts(const struct stays *s, uint64_t lanes, uint64_t parts, uint64_t bytes, struct diag *d)
{
	if (s->first[0] != 0 || s->first[lanes] != parts) {
		return refuse(d, "parts belong to no lane");
	}
	for (uint64_t i = 0; i < lanes; i++) {
		if (s->first[i + 1] < s->first[i] || s->first[i + 1] > parts ||
		    s->first[i + 1] - s->first[i] >= UINT32_MAX) {
			return refuse(d, "a lane has parts of others");
		}
	}
	for (uint64_t i = 0; i < parts; i++) {
		const struct store_lane_part *p = &s->parts[i];
		if (p->count == 0 || p->wide > 1 || p->at % 8 || p->at > bytes || lane_part_bytes(p) > bytes - p->at) {
			return refuse(d, "a part lies outside the file");
		}
	}
	return 0;
}

static int take(struct stays *s, const struct store *index, struct diag *d)
{
	uint64_t bytes, count, lanes, parts;
	const struct store_lanes *h = store_section(&s->store, STORE_LANES, 0, &bytes, &count);
	if (!h || count == 0) {
		return refuse(d, "it does not say what it is of");
	}
	if (h->rules != STORE_LANE_RULES || h->rows != index->about->rows || h->groups != index->group_count ||
	    h->types != index->type_count || h->index_check != index->check || h->threads != index->thread_count) {
		return -ESTALE;
	}
	s->first = store_section(&s->store, STORE_LANE_FIRST, 0, &bytes, &lanes);
	s->parts = store_section(&s->store, STORE_LANE_PARTS, 0, &bytes, &parts);
	s->bytes = store_section(&s->store, STORE_LANE_STAYS, 0, &bytes, &count);
	s->thread_count = h->threads;
	s->cpu_count = h->cpus;
	s->end = h->end;
	s->cut = h->cut != 0;
	if (!s->first || !s->parts || !s->bytes || h->cpus > UINT16_MAX + 1u ||
	    lanes != (uint64_t)h->threads + h->cpus + 1) {
		return refuse(d, "it has another number of lanes than it says");
	}
	return check_parts(s, lanes - 1, parts, bytes, d);
}

int lane_file_open(int fd, const struct store *index, struct stays *ret, struct diag *d)
{
	*ret = (struct stays){0};
	const struct store_header *h = (const struct store_header *)(const void *)index->map;
	int err = store_open_fields(fd, index->check ? &h->key : NULL, &ret->store, d);
	if (err < 0) {
		return err;
	}
	err = take(ret, index, d);
	if (err < 0) {
		store_close(&ret->store);
	}
	return err;
}

void lane_file_close(struct stays *s)
{
	store_close(&s->store);
}

/* ---- one lane ------------------------------------------------------------------------------------- */

static struct stay_lane lane_of(const struct stays *s, uint64_t lane)
{
	return (struct stay_lane){.s = s,
				  .parts = s->parts + s->first[lane],
				  .part_count = (uint32_t)(s->first[lane + 1] - s->first[lane])};
}

struct stay_lane lane_of_thread(const struct stays *s, uint32_t thread)
{
	return lane_of(s, thread);
}

struct stay_lane lane_of_cpu(const struct stays *s, uint32_t cpu)
{
	struct stay_lane l = lane_of(s, (uint64_t)s->thread_count + cpu);
	l.of_cpu = true;
	l.cpu = (uint16_t)cpu;
	return l;
}

static struct stay known(const struct stay_lane *l, struct stay s)
{
	s.who = s.who < l->s->thread_count ? s.who : 0;
	s.doing = s.doing <= OPENETW_DOING_IDLE ? s.doing : OPENETW_DOING_UNKNOWN;
	return s;
}

static struct stay narrow(const struct stay_lane *l, const struct store_lane_part *p, uint64_t v)
{
	uint32_t more = (uint32_t)(v >> 35);
	struct stay s = {.from = lane_narrow_from(p, v), .doing = (uint8_t)lane_narrow_doing(v)};
	switch (s.doing) {
	case OPENETW_DOING_RUNNING:
	case OPENETW_DOING_IDLE:
		s.cpu = l->of_cpu ? l->cpu : (uint16_t)more;
		s.who = l->of_cpu ? more : 0;
		break;
	case OPENETW_DOING_WAITING: s.detail = (uint8_t)more; break;
	case OPENETW_DOING_READY:
		s.detail = (uint8_t)(more >> WHO_BITS);
		s.who = more & (STORE_STAY_THREADS - 1);
		break;
	default: break;
	}
	return known(l, s);
}

static struct stay stay_of(const struct stay_lane *l, const struct store_lane_part *p, uint32_t i)
{
	const uint8_t *part = l->s->bytes + p->at;
	if (!p->wide) {
		return narrow(l, p, lane_narrow(p, part)[i]);
	}
	const struct store_stay_wide *w = (const struct store_stay_wide *)(const void *)part + i;
	return known(l, (struct stay){w->from, w->who, w->cpu, w->doing, w->detail});
}

static int64_t from_of(const struct stay_lane *l, const struct store_lane_part *p, uint32_t i)
{
	const uint8_t *part = l->s->bytes + p->at;
	return p->wide ? ((const struct store_stay_wide *)(const void *)part + i)->from
		       : lane_narrow_from(p, lane_narrow(p, part)[i]);
}

struct stay lane_stay(const struct stay_lane *l, uint64_t at)
{
	return stay_of(l, &l->parts[at >> 32], (uint32_t)at);
}

uint64_t lane_before(const struct stay_lane *l, uint64_t at)
{
	uint64_t part = at >> 32;
	return (uint32_t)at ? at - 1 : part ? (part - 1) << 32 | (l->parts[part - 1].count - 1) : STAY_NOWHERE;
}

uint64_t lane_behind(const struct stay_lane *l, uint64_t at)
{
	uint64_t part = at >> 32;
	return (uint32_t)at + 1 < l->parts[part].count ? at + 1
	       : part + 1 < l->part_count              ? (part + 1) << 32
						       : STAY_NOWHERE;
}

uint64_t lane_at(const struct stay_lane *l, int64_t time)
{
	uint32_t low = 0, high = l->part_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (l->parts[middle].from <= time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == 0) {
		return STAY_NOWHERE;
	}
	const struct store_lane_part *p = &l->parts[low - 1];
	uint64_t part = low - 1;
	low = 0;
	high = p->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (from_of(l, p, middle) <= time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return part << 32 | (low ? low - 1 : 0);
}

int64_t lane_stay_end(const struct stay_lane *l, uint64_t at)
{
	uint64_t next = lane_behind(l, at);
	if (next == STAY_NOWHERE) {
		return BASE_MAX(l->s->end, from_of(l, &l->parts[at >> 32], (uint32_t)at));
	}
	return from_of(l, &l->parts[next >> 32], (uint32_t)next);
}

/* ---- writing -------------------------------------------------------------------------------------- */

uint64_t lane_narrow_put(const struct stay *s, int64_t part_from, bool of_cpu)
{
	uint32_t more = 0;
	switch (s->doing) {
	case OPENETW_DOING_RUNNING:
	case OPENETW_DOING_IDLE: more = of_cpu ? s->who : s->cpu; break;
	case OPENETW_DOING_WAITING: more = s->detail; break;
	case OPENETW_DOING_READY: more = (uint32_t)s->detail << WHO_BITS | s->who; break;
	default: break;
	}
	return (uint64_t)more << 35 | (uint64_t)s->doing << 32 | (uint32_t)((uint64_t)s->from - (uint64_t)part_from);
}

void lane_block_put(const uint64_t *stays, struct store_stay_block *ret)
{
	uint32_t longest[STORE_BLOCK_DOINGS] = {0};
	memset(ret, 0, sizeof *ret);
	for (uint32_t i = 0; i + 1 < STORE_BLOCK_STAYS; i++) {
		uint32_t doing = lane_narrow_doing(stays[i]);
		uint32_t ns = (uint32_t)stays[i + 1] - (uint32_t)stays[i];
		if (doing == OPENETW_DOING_UNKNOWN || ns == 0) {
			continue;
		}
		struct store_stay_sum *s = &ret->of[doing - 1];
		s->first = s->stays++ ? s->first : (uint8_t)i;
		s->last = (uint8_t)i;
		s->ns += ns;
		if (ns > longest[doing - 1]) {
			longest[doing - 1] = ns;
			s->longest = (uint8_t)i;
		}
	}
}
