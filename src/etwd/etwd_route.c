/* SPDX-License-Identifier: MIT
 * One record to the sessions that want it, built in place in their buffers.
 *
 * The record's mask is only a claim of which rows of its generation matched. What each row meant is
 * looked up in our own history, and every filter is evaluated again with full authority.
 */
#include "base/vec.h"
#include "etw/values/enable_properties.h"
#include "etw/values/session_modes.h"
#include "etwd/etwd.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_fair.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "pool/pool_record.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdlib.h>

/* What all sessions share about one event; items are looked at once, and only if somebody needs to.
 */
struct event {
	struct etwd *d;
	struct process *process;
	const struct config *config;
	const struct pool_event *ev;
	uint64_t key; /* event key, 0 = none yet */
	uint32_t tid;
	bool parsed;
	struct pool_items items; /* if parsed */
};

/* Space for a record of `bytes` and that time, or NULL with the loss counted. */
static uint8_t *reserve(struct event *e, const struct route_row *row, uint64_t time, uint32_t bytes)
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
	if (BASE_UNLIKELY(sink_scarce(s->sink)) && etwd_fair_refuses(s, f, over, sink_is_in_reserve(s->sink, cpu))) {
		sink_refuse(s->sink, 1);
		return NULL;
	}
	sink_may_reserve(s->sink, etwd_fair_may_reserve(s, f, over));
	uint8_t *out = sink_reserve(s->sink, cpu, time, room);
	if (out) {
		memset(out + room - 8, 0, 8); /* pads; the record's own bytes come over it */
	}
	return out;
}

/* The record into the session's buffer. items: NULL: none. */
static void deliver(struct event *e, const struct route_row *row, const struct pool_items *items)
{
	struct session *s = row->session;
	uint32_t bytes = pool_record_bytes(e->ev, items);
	if (BASE_UNLIKELY(bytes == 0)) {
		s->loss[PROTO_LOSS_REJECTED]++;
		return;
	}
	uint64_t time = etwd_session_time(e->d, s, e->ev->rec->ts);
	uint8_t *out = reserve(e, row, time, bytes);
	if (!out) {
		return;
	}
	const struct pool_record_args a = {
		.head = &e->config->head,
		.items = items,
		.tid = e->tid,
		.time = time,
		.sequence = s->props.mode & EVENT_TRACE_USE_GLOBAL_SEQUENCE  ? &e->d->sequence
			    : s->props.mode & EVENT_TRACE_USE_LOCAL_SEQUENCE ? &s->sequence
									     : NULL,
		.claims = POOL_CLAIMS_DROPPED,
	};
	pool_record_put(out, bytes, e->ev, &a);
}

/* What the addresses mean stands before the first of them. */
static void explain_stacks(struct event *e, const struct route_row *row, const struct pool_items *items)
{
	const struct pool_rec *rec = e->ev->rec;
	for (uint32_t i = 0; i < items->count; i++) {
		if (BASE_UNLIKELY(items->item[i].type == ETL_ITEM_STACK_TRACE64)) {
			etwd_images_stack(e->d, e->process, row->session, rec->cpu < e->d->cpus ? rec->cpu : 0, rec->ts,
					  items->item[i].data, items->item[i].bytes);
		}
	}
}

static void deliver_with_items(struct event *e, const struct route_row *row)
{
	struct pool_items mine;
	uint32_t want = row->properties;
	bool stack = row->flags & ROUTE_STACK;
	if (stack && (row->flags & ROUTE_STACK_FILTERED)) {
		stack = etwd_filter_stack(row->args, e->ev->rec, e->items.schema, e->items.schema_bytes);
	}
	want = stack ? want | EVENT_ENABLE_PROPERTY_STACK_TRACE : want & ~(uint32_t)EVENT_ENABLE_PROPERTY_STACK_TRACE;
	if ((want & EVENT_ENABLE_PROPERTY_EVENT_KEY) && e->key == 0) {
		e->key = ++e->d->event_key;
	}
	pool_items_for(&mine, &e->items, want, &e->process->identity, &e->key);
	explain_stacks(e, row, &mine);
	deliver(e, row, &mine);
}

static __attribute__((noinline)) void route_event(struct event *e, const struct route_row *row)
{
	const struct pool_rec *rec = e->ev->rec;
	const struct traits *t = e->config->traits;
	if (!etwd_row_matches(row, rec) ||
	    ((row->flags & ROUTE_EXCLUDE_INPRIVATE) && (rec->flags & POOL_REC_INPRIVATE))) {
		return;
	}
	if (BASE_LIKELY(!e->ev->items && !t && !(row->flags & (ROUTE_FILTERED | ROUTE_EXTRA_ITEMS)))) {
		deliver(e, row, NULL);
		return;
	}
	if (!e->parsed) {
		e->parsed = true;
		pool_items_read(&e->items, e->ev, POOL_CLAIMS_DROPPED, t ? t->data : NULL, t ? t->bytes : 0);
	}
	if (!(row->flags & ROUTE_FILTERED) ||
	    etwd_filter_event(row->args, e->ev, e->items.schema, e->items.schema_bytes)) {
		deliver_with_items(e, row);
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
	e->key = 0;
	e->tid = BASE_UNLIKELY(p->foreign_pids) ? etwd_thread_id(d, p, ev->rec->tid) : ev->rec->tid;
}

static void route_row(struct event *e, const struct route_row *row)
{
	switch (e->ev->rec->kind) {
	case POOL_REC_EVENT: route_event(e, row); break;
	case POOL_REC_CLASSIC:
	case POOL_REC_INSTANCE:
	case POOL_REC_MESSAGE: deliver(e, row, NULL); break; /* they have neither level nor keyword to go by */
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
		if (!(row->session->props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) || !defer(d, &e, i)) {
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
		if (BASE_UNLIKELY(row->session->props.mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) &&
		    defer(d, &e, i)) {
			continue;
		}
		route_row(&e, row);
	}
}
