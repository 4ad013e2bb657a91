/* SPDX-License-Identifier: MIT
 * Many records at once: what a stretch of records has in common is looked up and checked once, and
 * what is left for each event is a comparison of two words, the filter, and the stores.
 *
 * Only for what programs mostly write, events without extended items and those of TraceLogging, for
 * sessions that want nothing beyond level and keywords. Everything else goes one by one through
 * etwd_route.c.
 */
#include "etwd/etwd.h"
#include "etwd/etwd_fair.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "format/etl_item.h"
#include "pool/pool_record.h"
#include "proto/proto.h"
#include "sink/sink.h"

/* The first word of a pool_rec without its size: kind, flags, registration, processor. */
#define KEY_MASK (~0xFFFFull)
_Static_assert(offsetof(struct pool_rec, kind) == 2 && offsetof(struct pool_rec, cpu) == 6, "key");
_Static_assert(offsetof(struct pool_rec, tid) == 8 && offsetof(struct pool_rec, cfg_gen) == 14, "second word");

/* Payloads up to this are copied in fixed steps that may write, and read, a little too far. */
#define PAYLOAD_SMALL 64u
#define ROOM_SMALL    (ETL_EVENT_HEADER_SIZE + PAYLOAD_SMALL)

/* The items of one event site: as they come, and as they are written, with the provider's traits. A
 * program writes few different ones, again and again. */
#define SITE_SLOTS 8u
#define SITE_ITEMS 480u
struct site {
	const uint8_t *in; /* in memory that stays while the stretch is routed; NULL: slot unused */
	uint32_t in_bytes;
	uint32_t out_bytes;
	uint8_t out[SITE_ITEMS + 16]; /* copied in steps of 16 */
};

struct kind {
	uint64_t key;
	uint64_t gen;
	bool activity;
	bool items; /* there are some: in the records, or traits */
	uint16_t cpu;
	const struct traits *traits;
	struct site *site; /* SITE_SLOTS */
};

/* What the inner loop needs of a row: the filter, and the common part of the headers in the words
 * they are stored with. */
struct filling {
	uint64_t any, all, bit;
	uint64_t retired_ts;
	struct etl_event_head head;
	uint8_t level;  /* the highest */
	bool keyword_0; /* events without keywords pass */
	/* Where it stands: */
	uint8_t *out, *limit; /* from `limit` on there is no ROOM_SMALL left */
	uint8_t *end;         /* of the room */
	uint64_t last;
	uint32_t events;
};

static inline void copy16(uint8_t *to, const uint8_t *from)
{
	memcpy(to, from, 16);
}

static inline bool wanted(const struct filling *f, uint8_t level, uint64_t keyword)
{
	if (!match_level(f->level, level)) {
		return false;
	}
	return match_keywords(f->any, f->all, f->keyword_0, keyword);
}

static inline void put_header(uint8_t *out, const struct filling *f, const uint8_t *rec, uint32_t bytes, uint64_t time,
			      bool activity)
{
	etl_event_head_put(out, &f->head, 0, bytes, le32_get(rec + offsetof(struct pool_rec, tid)), time,
			   rec + offsetof(struct pool_rec, id), activity ? rec + sizeof(struct pool_rec) : NULL);
}

/* Up to PAYLOAD_SMALL bytes, writing as much; what lies behind is written later. */
static inline void put_small(uint8_t *to, const uint8_t *from, uint32_t payload)
{
	copy16(to, from);
	if (payload > 16) {
		copy16(to + 16, from + 16);
		if (payload > 32) {
			copy16(to + 32, from + 32);
			copy16(to + 48, from + 48);
		}
	}
	if (payload % 8 != 0) { /* a pad may hold what the process left there */
		uint8_t *tail = to + payload / 8 * 8;
		le64_put(tail, le64_get(from + payload / 8 * 8) & (UINT64_MAX >> (64 - 8 * (payload % 8))));
	}
}

/* The common case, with as little as can be: stops at the first record that is anything else. */
static inline __attribute__((always_inline)) const uint8_t *fill(struct filling *fp, const struct kind *k,
								 const uint8_t *at, const uint8_t *end,
								 const bool activity, uint64_t *records)
{
	const uint64_t key = k->key, gen = k->gen;
	const uint32_t payload_at = (uint32_t)sizeof(struct pool_rec) + (activity ? 16 : 0);
	struct filling f = *fp;
	uint64_t n = 0;
	while (at < end) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		uint64_t size8 = le64_get(at) ^ key, w1 = le64_get(at + 8), ts = rec->ts;
		uint32_t payload = w1 >> 32 & 0xFFFF;
		if (BASE_UNLIKELY(size8 > 0xFFFF || w1 >> 48 != gen || ts > f.retired_ts)) {
			break;
		}
		if (BASE_UNLIKELY(!(rec->mask & f.bit) || !wanted(&f, rec->level, rec->keyword))) {
			at += size8 * 8;
			n++;
			continue;
		}
		if (BASE_UNLIKELY(payload > PAYLOAD_SMALL || ts < f.last || f.out >= f.limit)) {
			break;
		}
		f.last = ts;
		put_header(f.out, &f, at, ETL_EVENT_HEADER_SIZE + payload, ts, activity);
		uint8_t *to = f.out + ETL_EVENT_HEADER_SIZE;
		put_small(to, at + payload_at, payload);
		f.out = to + BASE_ALIGN8(payload);
		f.events++;
		at += size8 * 8;
		n++;
	}
	*fp = f;
	*records += n;
	return at;
}

/* ---- events with items ----------------------------------------------------------------------------- */

static inline uint32_t payload_offset(const struct kind *k)
{
	return (uint32_t)sizeof(struct pool_rec) + (k->activity ? 16 : 0);
}

static inline uint32_t items_bytes(const struct kind *k, const struct pool_rec *rec)
{
	return rec->size8 * 8u - payload_offset(k) - BASE_ALIGN8((uint32_t)rec->user_len);
}

/* What is written for these items; false: anything else than one TraceLogging schema, or none. */
static bool site_make(const struct kind *k, const uint8_t *in, uint32_t bytes, struct site *ret)
{
	uint32_t schema = bytes ? le16_get(in + 6) : 0, n = 0;
	const struct traits *t = k->traits;
	if (bytes != 0 && (le16_get(in) != bytes || le16_get(in + 2) != ETL_ITEM_EVENT_SCHEMA_TL)) {
		return false;
	}
	if (bytes + (t ? etl_item_total((uint16_t)t->bytes) : 0) > SITE_ITEMS) {
		return false;
	}
	bool schema_first = etl_item_rank(ETL_ITEM_EVENT_SCHEMA_TL) < etl_item_rank(ETL_ITEM_PROV_TRAITS);
	for (int turn = 0; turn < 2; turn++) {
		if (bytes != 0 && (turn == 0) == schema_first) {
			n += etl_put_item(ret->out + n, ETL_ITEM_EVENT_SCHEMA_TL, in + ETL_ITEM_HEADER_SIZE,
					  (uint16_t)schema, turn == 0 && t);
		} else if (t && (turn == 0) != schema_first) {
			n += etl_put_item(ret->out + n, ETL_ITEM_PROV_TRAITS, t->data, (uint16_t)t->bytes,
					  turn == 0 && bytes != 0);
		}
	}
	memset(ret->out + n, 0, 16);
	ret->in = in;
	ret->in_bytes = bytes;
	ret->out_bytes = n;
	return true;
}

/* NULL: not of the simple kind. */
static inline const struct site *site_of(const struct kind *k, const uint8_t *in, uint32_t bytes)
{
	/* A name's first letters, and the length, tell most sites apart. */
	uint64_t h = bytes < 24 ? bytes : le64_get(in + 8) ^ le64_get(in + 16) * 3 ^ bytes;
	struct site *site = &k->site[(h * 0x9E3779B97F4A7C15ull) >> 61];
	if (BASE_LIKELY(site->in && site->in_bytes == bytes && memcmp(site->in, in, bytes) == 0)) {
		return site;
	}
	return site_make(k, in, bytes, site) ? site : NULL;
}
_Static_assert(SITE_SLOTS == 8, "the hash gives three bits");

static const uint8_t *fill_items(struct filling *fp, const struct kind *k, const uint8_t *at, const uint8_t *end,
				 uint64_t *records)
{
	const uint32_t fixed = payload_offset(k);
	struct filling f = *fp;
	uint64_t n = 0;
	while (at < end) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		uint64_t size8 = le64_get(at) ^ k->key, w1 = le64_get(at + 8), ts = rec->ts;
		uint32_t payload = w1 >> 32 & 0xFFFF;
		if (BASE_UNLIKELY(size8 > 0xFFFF || w1 >> 48 != k->gen || ts > f.retired_ts)) {
			break;
		}
		const uint8_t *items = at + fixed;
		uint32_t bytes = items_bytes(k, rec);
		const struct site *site = site_of(k, items, bytes);
		if (BASE_UNLIKELY(!site)) {
			break;
		}
		if (BASE_UNLIKELY(!(rec->mask & f.bit) || !wanted(&f, rec->level, rec->keyword))) {
			at += size8 * 8;
			n++;
			continue;
		}
		if (BASE_UNLIKELY(payload > PAYLOAD_SMALL || ts < f.last || f.out >= f.limit ||
				  f.end - f.out < (ptrdiff_t)(ROOM_SMALL + site->out_bytes + 16))) {
			break;
		}
		f.last = ts;
		put_header(f.out, &f, at, ETL_EVENT_HEADER_SIZE + site->out_bytes + payload, ts, k->activity);
		uint8_t *to = f.out + ETL_EVENT_HEADER_SIZE;
		for (uint32_t i = 0; i < site->out_bytes; i += 16) {
			copy16(to + i, site->out + i);
		}
		to += site->out_bytes;
		put_small(to, items + bytes, payload);
		f.out = to + BASE_ALIGN8(payload);
		f.events++;
		at += size8 * 8;
		n++;
	}
	*fp = f;
	*records += n;
	return at;
}

static void room_open(struct filling *f, struct sink *s, uint16_t cpu, struct sink_room *room)
{
	sink_room_open(s, cpu, room);
	f->out = room->at;
	f->end = room->at + room->left;
	f->limit = room->left >= ROOM_SMALL ? room->at + (room->left - ROOM_SMALL) + 1 : NULL;
	f->last = room->least_time;
	f->events = 0;
}

/* Any record of this kind: a late one, a long one, one that does not fit here any more. */
static __attribute__((noinline)) void put_one(const struct etwd *d, struct session *s, const struct filling *f,
					      const struct kind *k, const uint8_t *at)
{
	const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
	const uint8_t *items = at + payload_offset(k);
	uint32_t in_bytes = k->items ? items_bytes(k, rec) : 0;
	const struct site *site = k->items ? site_of(k, items, in_bytes) : NULL;
	uint32_t out_bytes = site ? site->out_bytes : 0;
	uint32_t bytes = ETL_EVENT_HEADER_SIZE + out_bytes + rec->user_len;
	uint32_t room = BASE_ALIGN8(bytes);
	uint64_t time = etwd_session_time(d, s, rec->ts);
	if (bytes > ETL_RECORD_MAX) {
		s->loss[PROTO_LOSS_TOO_BIG]++;
		sink_add_lost(s->sink, 1);
		return;
	}
	uint8_t *out = sink_reserve(s->sink, k->cpu, time, room);
	if (out) {
		memset(out + room - 8, 0, 8);
		put_header(out, f, at, bytes, time, k->activity);
		if (site) {
			memcpy(out + ETL_EVENT_HEADER_SIZE, site->out, out_bytes);
		}
		memcpy(out + ETL_EVENT_HEADER_SIZE + out_bytes, items + in_bytes, rec->user_len);
	}
}

static inline bool kind_ends(const struct config *c, const struct kind *k, const uint8_t *at, const uint8_t *end)
{
	const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
	return at >= end || (le64_get(at) & KEY_MASK) != k->key || rec->cfg_gen != k->gen || rec->ts > c->retired_ts ||
	       (k->items && !site_of(k, at + payload_offset(k), items_bytes(k, rec)));
}

/* What row_run() would write is counted as lost. */
static __attribute__((noinline, cold)) const uint8_t *refuse_run(const struct config *c, struct session *s,
								 struct fair *share, const struct filling *f,
								 const struct kind *k, const uint8_t *at,
								 const uint8_t *end, uint64_t *records)
{
	uint64_t lost = 0;
	while (!kind_ends(c, k, at, end)) {
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		if ((rec->mask & f->bit) && wanted(f, rec->level, rec->keyword)) {
			lost++;
			etwd_fair_add(s, share, ETL_EVENT_HEADER_SIZE + BASE_ALIGN8((uint32_t)rec->user_len));
		}
		at += rec->size8 * 8u;
		(*records)++;
	}
	sink_refuse(s->sink, lost);
	return at;
}

/* Records of the same kind from `at` on, to one session. Returns where the kind ends, which is the
 * same place for every row. */
static const uint8_t *row_run(const struct etwd *d, struct process *p, const struct config *c,
			      const struct route_row *row, const struct kind *k, const uint8_t *at, const uint8_t *end,
			      uint64_t *ret_records)
{
	struct session *s = row->session;
	const struct pool_rec *model = (const struct pool_rec *)(const void *)at;
	struct filling f = {
		.any = row->any,
		.all = row->all,
		.bit = 1ull << row->bit,
		.retired_ts = c->retired_ts,
		.head = c->head,
		.level = match_limit(row->level),
		.keyword_0 = !(row->flags & ROUTE_IGNORE_KEYWORD_0),
	};
	f.head.first |= (uint64_t)pool_head_flags(model, k->items) << 8 * ETL_EH_FLAGS;
	struct sink_room room;
	uint64_t records = 0;
	struct fair *share = etwd_fair_begin(s, p, row->bit);
	for (;;) {
		bool over = etwd_fair_over(s, share);
		if (BASE_UNLIKELY(sink_scarce(s->sink)) &&
		    etwd_fair_refuses(s, share, over, sink_is_in_reserve(s->sink, k->cpu))) {
			at = refuse_run(c, s, share, &f, k, at, end, &records);
			break;
		}
		sink_may_reserve(s->sink, etwd_fair_may_reserve(s, share, over));
		/* Times that have to be converted are not for the fast way. */
		room_open(&f, s->sink, k->cpu, &room);
		f.limit = BASE_LIKELY(etwd_session_raw(s)) ? f.limit : NULL;
		at = k->items      ? fill_items(&f, k, at, end, &records)
		     : k->activity ? fill(&f, k, at, end, true, &records)
				   : fill(&f, k, at, end, false, &records);
		sink_room_used(s->sink, k->cpu, (uint32_t)(f.out - room.at), f.events, f.last);
		etwd_fair_add(s, share, (uint32_t)(f.out - room.at));
		const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
		if (kind_ends(c, k, at, end)) {
			break;
		}
		put_one(d, s, &f, k, at);
		etwd_fair_add(s, share, ETL_EVENT_HEADER_SIZE + BASE_ALIGN8((uint32_t)rec->user_len));
		at += rec->size8 * 8u;
		records++;
	}
	*ret_records = records;
	return at;
}

/* The records from `at` on that are alike, to all their sessions. NULL: not of the simple kind. */
static const uint8_t *run(const struct etwd *d, struct process *p, const uint8_t *at, const uint8_t *end,
			  uint64_t *ret_records)
{
	const struct pool_rec *rec = (const struct pool_rec *)(const void *)at;
	const struct registration *r = rec->prov < p->reg_cap ? p->reg[rec->prov] : NULL;
	const struct config *c = r ? etwd_config_find(r, rec->cfg_gen) : NULL;
	if (!c || !c->fast || rec->kind != POOL_REC_EVENT || rec->ts > c->retired_ts) {
		return NULL;
	}
	struct site sites[SITE_SLOTS];
	struct kind k = {
		.key = le64_get(at) & KEY_MASK,
		.gen = rec->cfg_gen,
		.activity = (rec->flags & POOL_REC_ACTIVITY) != 0,
		.items = (rec->flags & POOL_REC_ITEMS) || c->traits,
		.cpu = rec->cpu < d->cpus ? rec->cpu : 0,
		.traits = c->traits,
		.site = sites,
	};
	if (k.items) {
		for (uint32_t i = 0; i < SITE_SLOTS; i++) {
			sites[i].in = NULL;
		}
		if (!site_of(&k, at + payload_offset(&k), items_bytes(&k, rec))) {
			return NULL;
		}
	}
	const uint8_t *next = NULL;
	for (uint32_t i = 0; i < c->rows; i++) {
		if (c->row[i].session->sink) {
			next = row_run(d, p, c, &c->row[i], &k, at, end, ret_records);
		}
	}
	return next;
}

uint64_t etwd_route_run(void *ctx, void *cookie, const uint8_t *at, const uint8_t *end)
{
	struct etwd *d = ctx;
	struct pool_event ev = {.cookie = cookie};
	uint64_t total = 0;
	while (at < end) {
		uint64_t records = 1;
		const uint8_t *next = run(d, cookie, at, end, &records);
		if (!next) {
			next = pool_event_read(at, &ev);
			etwd_route(d, &ev);
			records = 1;
		}
		at = next;
		total += records;
	}
	return total;
}
