/* SPDX-License-Identifier: MIT
 * One record to the sessions that want it, built in place in their buffers.
 *
 * The record's mask is only a claim of which rows of its generation matched. What each row meant is
 * looked up in our own history, and every filter is evaluated again with full authority.
 */
#include "etwd/etwd.h"
#include "base/vec.h"

#include "etwd/etwd_fair.h"
#include "format/etl_layout.h"

#include <stdlib.h>

struct item {
	const uint8_t *data;
	uint16_t bytes;
	uint16_t type;
	uint8_t rank;
};
/* What all sessions share about one event; items are looked at once, and only if somebody needs to.
 */
struct event {
	struct etwd *d;
	struct process *process;
	const struct config *config;
	const struct pool_event *ev;
	bool parsed;
	uint32_t item_count;
	const uint8_t *schema;
	uint32_t schema_bytes;
	uint64_t key; /* event key, 0 = none yet */
	uint32_t tid;
	struct item item[ETWD_ITEMS_MAX];
};

static void item_add(struct event *e, uint16_t type, const void *data, uint32_t bytes)
{
	if (e->item_count == ETWD_ITEMS_MAX || bytes > UINT16_MAX - 16) {
		return;
	}
	uint8_t rank = etl_item_rank(type);
	uint32_t at = e->item_count++;
	while (at > 0 && e->item[at - 1].rank > rank) {
		e->item[at] = e->item[at - 1];
		at--;
	}
	e->item[at] = (struct item){data, (uint16_t)bytes, type, rank};
}

static bool attested_type(uint16_t type)
{
	return type == ETL_ITEM_SID || type == ETL_ITEM_TS_ID || type == ETL_ITEM_EVENT_KEY ||
	       type == ETL_ITEM_PROCESS_START_KEY;
}

/* Items of the record itself. Those only we may say are dropped: a process does not tell who it is.
 */
static void parse_items(struct event *e)
{
	struct bytes b = bytes_of(e->ev->items, e->ev->items_bytes);
	bool has_traits = false;
	e->parsed = true;
	while (bytes_left(&b) >= ETL_ITEM_HEADER_SIZE) {
		uint16_t total = bytes_u16(&b);
		uint16_t type = bytes_u16(&b);
		bytes_u16(&b);
		uint16_t size = bytes_u16(&b);
		if (total < ETL_ITEM_HEADER_SIZE || size > total - ETL_ITEM_HEADER_SIZE) {
			break;
		}
		const uint8_t *data = bytes_take(&b, total - ETL_ITEM_HEADER_SIZE);
		if (!data) {
			break;
		}
		if (attested_type(type)) {
			continue;
		}
		has_traits |= type == ETL_ITEM_PROV_TRAITS;
		if (type == ETL_ITEM_EVENT_SCHEMA_TL) {
			e->schema = data;
			e->schema_bytes = size;
		}
		item_add(e, type, data, size);
	}
	const struct traits *t = e->config->traits;
	if (t && !has_traits) {
		item_add(e, ETL_ITEM_PROV_TRAITS, t->data, t->bytes);
	}
}

/* Space for a record of `bytes`, or NULL with the loss counted. */
static uint8_t *reserve(struct event *e, const struct route_row *row, uint32_t bytes)
{
	struct session *s = row->session;
	const struct pool_rec *rec = e->ev->rec;
	if (BASE_UNLIKELY(bytes > ETL_RECORD_MAX)) {
		s->loss[PROTO_LOSS_TOO_BIG]++;
		sink_add_lost(s->sink, 1);
		return NULL;
	}
	uint16_t cpu = rec->cpu < e->d->cpus ? rec->cpu : 0;
	uint32_t room = BASE_ALIGN8(bytes);
	struct fair *f = etwd_fair_begin(s, e->process, row->bit);
	bool over = etwd_fair_over(s, f);
	etwd_fair_add(s, f, room);
	if (over && sink_scarce(s->sink)) {
		sink_refuse(s->sink, 1);
		return NULL;
	}
	sink_may_reserve(s->sink, !over && !etwd_fair_alone(s));
	uint8_t *out = sink_reserve(s->sink, cpu, etwd_session_time(e->d, s, rec->ts), room);
	if (out) {
		memset(out + room - 8, 0, 8); /* pads; the record's own bytes come over it */
	}
	return out;
}

static void put_event_header(struct event *e, const struct session *s, uint8_t *out, uint32_t bytes, uint16_t flags)
{
	const struct pool_rec *rec = e->ev->rec;
	memcpy(out, e->config->head, ETL_EH_END);
	le16_put(out + ETL_EH_SIZE, (uint16_t)bytes);
	le16_put(out + ETL_EH_FLAGS, flags | (rec->flags & POOL_REC_STRING_ONLY ? ETL_EF_STRING_ONLY : 0));
	le32_put(out + ETL_EH_TID, e->tid);
	le64_put(out + ETL_EH_TIME, etwd_session_time(e->d, s, rec->ts));
	memcpy(out + ETL_EH_DESCRIPTOR, &rec->id, 16);
	if (e->ev->activity) {
		memcpy(out + ETL_EH_ACTIVITY, e->ev->activity, 16);
	}
}

/* Items for one session: those of the event it may see, and what its enable property asks for. */
static uint32_t items_for(struct event *e, const struct route_row *row, struct event *out)
{
	struct process *p = e->process;
	bool stack = row->flags & ROUTE_STACK;
	if (stack && (row->flags & ROUTE_STACK_FILTERED)) {
		stack = etwd_filter_stack(row->args, e->ev->rec, e->schema, e->schema_bytes);
	}
	out->item_count = 0;
	for (uint32_t i = 0; i < e->item_count; i++) {
		if (stack || !etl_item_is_stack(e->item[i].type)) {
			out->item[out->item_count++] = e->item[i];
		}
	}
	uint32_t want = row->properties;
	static const uint8_t unix_user[] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0};
	static __thread uint8_t sid[16];
	if (want & EVENT_ENABLE_PROPERTY_SID) {
		/* S-1-22-1-<uid>: the usual name of a Unix user in that world. */
		memcpy(sid, unix_user, sizeof unix_user);
		le32_put(sid + 12, p->uid);
		item_add(out, ETL_ITEM_SID, sid, sizeof sid);
	}
	if (want & EVENT_ENABLE_PROPERTY_TS_ID) {
		item_add(out, ETL_ITEM_TS_ID, &p->terminal_session, 4);
	}
	if (want & EVENT_ENABLE_PROPERTY_EVENT_KEY) {
		e->key = e->key ? e->key : ++e->d->event_key;
		item_add(out, ETL_ITEM_EVENT_KEY, &e->key, 8);
	}
	if (want & EVENT_ENABLE_PROPERTY_PROCESS_START_KEY) {
		item_add(out, ETL_ITEM_PROCESS_START_KEY, &p->start_key, 8);
	}
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < out->item_count; i++) {
		bytes += etl_item_total(out->item[i].bytes);
	}
	return bytes;
}

/* What the addresses mean stands before the first of them. */
static void explain_stacks(struct event *e, const struct route_row *row, const struct event *mine)
{
	const struct pool_rec *rec = e->ev->rec;
	for (uint32_t i = 0; i < mine->item_count; i++) {
		if (BASE_UNLIKELY(mine->item[i].type == ETL_ITEM_STACK_TRACE64)) {
			etwd_images_stack(e->d, e->process, row->session, rec->cpu < e->d->cpus ? rec->cpu : 0, rec->ts,
					  mine->item[i].data, mine->item[i].bytes);
		}
	}
}

static void deliver_with_items(struct event *e, const struct route_row *row)
{
	struct event mine;
	uint32_t payload = e->ev->payload_bytes;
	uint32_t items = items_for(e, row, &mine);
	uint32_t bytes = ETL_EVENT_HEADER_SIZE + items + payload;
	explain_stacks(e, row, &mine);
	uint8_t *out = reserve(e, row, bytes);
	if (!out) {
		return;
	}
	put_event_header(e, row->session, out, bytes, items ? ETL_EF_EXTENDED_INFO : 0);
	uint8_t *at = out + ETL_EVENT_HEADER_SIZE;
	for (uint32_t i = 0; i < mine.item_count; i++) {
		const struct item *it = &mine.item[i];
		at += etl_put_item(at, it->type, it->data, it->bytes, i + 1 < mine.item_count);
	}
	memcpy(at, e->ev->payload, payload);
}

static void deliver_plain(struct event *e, const struct route_row *row)
{
	uint32_t payload = e->ev->payload_bytes;
	uint32_t bytes = ETL_EVENT_HEADER_SIZE + payload;
	uint8_t *out = reserve(e, row, bytes);
	if (out) {
		put_event_header(e, row->session, out, bytes, 0);
		memcpy(out + ETL_EVENT_HEADER_SIZE, e->ev->payload, payload);
	}
}

static __attribute__((noinline)) void route_event(struct event *e, const struct route_row *row)
{
	const struct pool_rec *rec = e->ev->rec;
	if (!etwd_row_matches(row, rec) ||
	    ((row->flags & ROUTE_EXCLUDE_INPRIVATE) && (rec->flags & POOL_REC_INPRIVATE))) {
		return;
	}
	bool plain = !e->ev->items && !e->config->traits;
	if (BASE_LIKELY(plain && !(row->flags & (ROUTE_FILTERED | ROUTE_EXTRA_ITEMS)))) {
		deliver_plain(e, row);
		return;
	}
	if (!e->parsed) {
		parse_items(e);
	}
	if (!(row->flags & ROUTE_FILTERED) || etwd_filter_event(row->args, e->ev, e->schema, e->schema_bytes)) {
		deliver_with_items(e, row);
	}
}

/* ---- classic records
 * ------------------------------------------------------------------------------ */

/* payload: class GUID | user data. INSTANCE: class GUID | id | parent id | parent GUID | user data
 */
static void route_classic(struct event *e, const struct route_row *row)
{
	const struct pool_rec *rec = e->ev->rec;
	bool instance = rec->kind == POOL_REC_INSTANCE;
	uint32_t fixed = instance ? 40 : 16;
	uint32_t head = instance ? ETL_INSTANCE_HEADER_SIZE : ETL_FULL_HEADER_SIZE;
	if (e->ev->payload_bytes < fixed) {
		row->session->loss[PROTO_LOSS_REJECTED]++;
		return;
	}
	const uint8_t *from = e->ev->payload;
	uint32_t user = e->ev->payload_bytes - fixed;
	uint8_t *out = reserve(e, row, head + user);
	if (!out) {
		return;
	}
	le16_put(out, (uint16_t)(head + user));
	out[2] = instance ? ETL_RT_INSTANCE64 : ETL_RT_FULL64;
	out[3] = 0xC0;
	out[4] = rec->opcode;
	out[5] = rec->level;
	le16_put(out + 6, rec->version);
	le32_put(out + 8, e->tid);
	le32_put(out + 0xC, (uint32_t)e->process->pid);
	le64_put(out + 0x10, etwd_session_time(e->d, row->session, rec->ts));
	memcpy(out + 0x18, from, 16);
	le64_put(out + 0x28, 0);
	if (instance) {
		memcpy(out + 0x30, from + 16, 24);
	}
	memcpy(out + head, from + fixed, user);
}

/* payload: what stands from offset 8 on; the fields only we can know are filled in. */
static void route_message(struct event *e, const struct route_row *row)
{
	const struct pool_rec *rec = e->ev->rec;
	struct session *s = row->session;
	uint16_t flags = rec->task;
	uint32_t at = 0, sequence_at, time_at, system_at;
	sequence_at = at;
	at += flags & 0x01 ? 4 : 0;
	at += flags & 0x02 ? 16 : flags & 0x04 ? 4 : 0;
	time_at = at;
	at += flags & 0x08 ? 8 : 0;
	system_at = at;
	at += flags & 0x20 ? 8 : 0;
	if (at > e->ev->payload_bytes) {
		s->loss[PROTO_LOSS_REJECTED]++;
		return;
	}
	uint32_t bytes = ETL_MESSAGE_HEADER_SIZE + e->ev->payload_bytes;
	uint8_t *out = reserve(e, row, bytes);
	if (!out) {
		return;
	}
	le16_put(out, (uint16_t)bytes);
	out[2] = 0;
	out[3] = 0x90;
	le16_put(out + 4, rec->id);
	le16_put(out + 6, flags);
	uint8_t *body = out + ETL_MESSAGE_HEADER_SIZE;
	memcpy(body, e->ev->payload, e->ev->payload_bytes);
	if (flags & 0x01) {
		uint32_t n = s->mode & EVENT_TRACE_USE_GLOBAL_SEQUENCE  ? ++e->d->sequence
			     : s->mode & EVENT_TRACE_USE_LOCAL_SEQUENCE ? ++s->sequence
									: 0;
		le32_put(body + sequence_at, n);
	}
	if (flags & 0x08) {
		le64_put(body + time_at, etwd_session_time(e->d, s, rec->ts));
	}
	if (flags & 0x20) {
		le32_put(body + system_at, e->tid);
		le32_put(body + system_at + 4, (uint32_t)e->process->pid);
	}
}

/* ---- the way in
 * ----------------------------------------------------------------------------------- */

const struct config *etwd_config_find(const struct registration *r, uint16_t gen)
{
	const struct config *c = r->config;
	while (c && (uint16_t)c->gen != gen) {
		c = c->older;
	}
	return c;
}

/* A record written after its generation was replaced: an honest writer was interrupted between
 * looking and writing, a liar uses rights it had once. Sessions that still listen get it. */
static bool still_listens(const struct registration *r, const struct session *s)
{
	for (uint32_t i = 0; r->config && i < r->config->rows; i++) {
		if (r->config->row[i].session == s) {
			return true;
		}
	}
	return false;
}

static void nobody_knows(struct etwd *d, struct process *p, uint64_t mask)
{
	d->late_events++;
	for (uint32_t i = 0; i < POOL_SESSION_BITS; i++) {
		if ((mask >> i & 1) && p->bit_owner[i]) {
			p->bit_owner[i]->loss[PROTO_LOSS_REJECTED]++;
		}
	}
}

static void event_init(struct event *e, struct etwd *d, struct process *p, const struct config *c,
		       const struct pool_event *ev)
{
	e->d = d;
	e->process = p;
	e->config = c;
	e->ev = ev;
	e->parsed = false;
	e->item_count = 0;
	e->schema = NULL;
	e->schema_bytes = 0;
	e->key = 0;
	e->tid = BASE_UNLIKELY(p->foreign_pids) ? etwd_thread_id(d, p, ev->rec->tid) : ev->rec->tid;
}

static void route_row(struct event *e, const struct route_row *row)
{
	switch (e->ev->rec->kind) {
	case POOL_REC_EVENT: route_event(e, row); break;
	case POOL_REC_CLASSIC:
	case POOL_REC_INSTANCE: route_classic(e, row); break;
	case POOL_REC_MESSAGE: route_message(e, row); break;
	default: break;
	}
}

/* ---- one stream for all processors
 * ----------------------------------------------------------------- */

/* The emission is in order of time on each processor, one after the other. What a session without
 * per-processor buffers gets waits until all have been seen. Records stay where they are in the
 * pass's private memory until the next pass begins. */
struct deferred {
	uint64_t ts;
	uint32_t order;
	uint32_t row;
	struct process *process;
	const struct config *config;
	uint64_t key;
	struct pool_event ev;
};

static bool defer(struct etwd *d, struct event *e, uint32_t row)
{
	if (!VEC_ROOM(d->deferred, d->deferred_count, d->deferred_cap)) {
		return false;
	}
	if ((e->config->row[row].properties & EVENT_ENABLE_PROPERTY_EVENT_KEY) && e->key == 0) {
		e->key = ++d->event_key;
	}
	d->deferred[d->deferred_count] = (struct deferred){
		.ts = e->ev->rec->ts,
		.order = d->deferred_count,
		.row = row,
		.process = e->process,
		.config = e->config,
		.key = e->key,
		.ev = *e->ev,
	};
	d->deferred_count++;
	return true;
}

static int compare_deferred(const void *a, const void *b)
{
	const struct deferred *x = a, *y = b;
	if (x->ts != y->ts) {
		return x->ts < y->ts ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

void etwd_route_deferred(struct etwd *d)
{
	bool sorted = true;
	for (uint32_t i = 1; i < d->deferred_count && sorted; i++) {
		sorted = d->deferred[i - 1].ts <= d->deferred[i].ts;
	}
	if (!sorted) {
		qsort(d->deferred, d->deferred_count, sizeof *d->deferred, compare_deferred);
	}
	for (uint32_t i = 0; i < d->deferred_count; i++) {
		const struct deferred *f = &d->deferred[i];
		struct event e;
		event_init(&e, d, f->process, f->config, &f->ev);
		e.key = f->key;
		route_row(&e, &f->config->row[f->row]);
	}
	d->deferred_count = 0;
	if (d->deferred_cap > 65536) {
		free(d->deferred); /* a burst should not be kept for ever */
		d->deferred = NULL;
		d->deferred_cap = 0;
	}
}

/* A record of a pool that an earlier etwd left behind: generations mean nothing here, the bits have
 * been given to the sessions of those names. See etwd_adopt.c. */
static __attribute__((noinline, cold)) void route_adopted(struct etwd *d, struct process *g,
							  const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	struct process *p = g->heir;
	const struct registration *r = rec->prov < p->reg_cap ? p->reg[rec->prov] : NULL;
	const struct config *c = r ? r->config : NULL;
	bool taken = false;
	for (uint32_t i = 0; c && i < c->rows; i++) {
		const struct route_row *row = &c->row[i];
		bool wanted = rec->ts >= row->args->since_ts;
		for (uint32_t bit = 0; bit < POOL_SESSION_BITS && !wanted; bit++) {
			wanted = (rec->mask >> bit & 1) && g->bit_owner[bit] == row->session;
		}
		if (!wanted || !row->session->sink || (rec->kind == POOL_REC_EVENT && !etwd_row_matches(row, rec))) {
			continue;
		}
		struct event e;
		event_init(&e, d, p, c, ev);
		taken = true;
		if (!(row->session->mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) || !defer(d, &e, i)) {
			route_row(&e, row);
		}
	}
	g->adopted_events += taken;
	g->adopted_unclaimed += !taken;
}

void etwd_route(struct etwd *d, const struct pool_event *ev)
{
	struct process *p = ev->cookie;
	const struct pool_rec *rec = ev->rec;
	struct registration *r = rec->prov < p->reg_cap ? p->reg[rec->prov] : NULL;
	const struct config *c = r ? etwd_config_find(r, rec->cfg_gen) : NULL;
	if (BASE_UNLIKELY(!c)) {
		if (p->heir) {
			route_adopted(d, p, ev);
			return;
		}
		nobody_knows(d, p, rec->mask);
		return;
	}
	struct event e;
	event_init(&e, d, p, c, ev);
	bool late = rec->ts > c->retired_ts;
	for (uint32_t i = 0; i < c->rows; i++) {
		const struct route_row *row = &c->row[i];
		if (!(rec->mask >> row->bit & 1) || !row->session->sink) {
			continue;
		}
		if (BASE_UNLIKELY(late) && !still_listens(r, row->session)) {
			continue;
		}
		if (BASE_UNLIKELY(row->session->mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) && defer(d, &e, i)) {
			continue;
		}
		route_row(&e, row);
	}
}
