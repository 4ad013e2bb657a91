/* SPDX-License-Identifier: MIT
 *
 * Which sessions want an event of the pool, and the way of its record (pool/pool_record.h) into their buffers.
 */
#include "inproc/inproc_private.h"
#include "base/match.h"

#include "etw/values/enable_properties.h"
#include "etw/values/session_modes.h"
#include "format/etl_item.h"

uint64_t inproc_session_time(const struct inproc_session *s, uint64_t ts)
{
	if (s->options.props.clock != 2) {
		return ts;
	}
	uint64_t freq = clock_frequency();
	return ts >= s->start_raw ? s->start_filetime + clock_muldiv(ts - s->start_raw, 10000000, freq)
				  : s->start_filetime - clock_muldiv(s->start_raw - ts, 10000000, freq);
}

/* Filled from `bytes` on to the next multiple of 8 with zeros. */
static uint8_t *reserve(struct inproc_session *s, const struct pool_rec *rec, uint64_t time, uint32_t bytes)
{
	if (bytes > ETL_RECORD_MAX) {
		sink_add_lost(s->sink, 1);
		return NULL;
	}
	uint32_t aligned = BASE_ALIGN8(bytes);
	uint8_t *p = sink_reserve(s->sink, rec->cpu, time, aligned);
	if (p) {
		memset(p + bytes, 0, aligned - bytes);
	}
	return p;
}

static bool has_stack(const struct pool_items *items)
{
	for (uint32_t i = 0; i < items->count; i++) {
		if (etl_item_is_stack(items->item[i].type)) {
			return true;
		}
	}
	return false;
}

/* What the addresses mean stands before the first of them; of a ring, when it is copied. */
static void explain_stacks(struct inproc_session *s, uint64_t time)
{
	inproc.images = inproc.images ? inproc.images : inproc_images_changes();
	if (s->images != inproc.images) {
		bool ring = (s->options.props.mode & EVENT_TRACE_BUFFERING_MODE) != 0;
		s->images = ring ? inproc.images : inproc_images_say(s, time, false);
	}
}

/* The record into the session's buffer. items: NULL: none. */
static void deliver(struct inproc_session *s, const struct pool_event *ev, const struct etl_event_head *head,
		    const struct pool_items *items)
{
	const struct pool_rec *rec = ev->rec;
	const struct pool_record_args a = {
		.head = head,
		.items = items,
		.tid = rec->tid,
		.time = inproc_session_time(s, rec->ts),
		.sequence = &s->message_sequence,
		.claims = POOL_CLAIMS_KEPT,
	};
	uint32_t bytes = pool_record_bytes(ev, items);
	if (bytes == 0) {
		sink_add_lost(s->sink, 1);
		return;
	}
	uint8_t *out = reserve(s, rec, a.time, bytes);
	if (out) {
		pool_record_put(out, bytes, ev, &a);
	}
}

static void deliver_event(struct inproc_session *s, const struct pool_event *ev, const struct etl_event_head *head,
			  const struct pool_items *items, uint32_t wants)
{
	struct pool_items mine;
	pool_items_for(&mine, items, wants, &inproc.identity, &inproc.event_key);
	if (BASE_UNLIKELY(wants & EVENT_ENABLE_PROPERTY_STACK_TRACE) && has_stack(&mine)) {
		explain_stacks(s, inproc_session_time(s, ev->rec->ts));
	}
	deliver(s, ev, head, &mine);
}

static struct filter_facts facts_of(const struct pool_event *ev, const struct pool_items *items)
{
	const struct pool_rec *rec = ev->rec;
	return (struct filter_facts){
		.id = rec->id,
		.version = rec->version,
		.level = rec->level,
		.string_only = rec->flags & POOL_REC_STRING_ONLY,
		.keyword = rec->keyword,
		.schema = items->schema,
		.schema_bytes = items->schema_bytes,
		.payload = ev->payload,
		.payload_bytes = ev->payload_bytes,
	};
}

/* Does the session want it still? The writer's mask only pre-selects: it may have been decided
 * under a table that has changed since. The enable that wants it, or NULL. */
static const struct inproc_enable *wanted(const struct inproc_session *s, const struct guid *provider,
					  const struct pool_event *ev, const struct pool_items *items)
{
	const struct pool_rec *rec = ev->rec;
	for (uint32_t i = 0; i < s->enable_count; i++) {
		const struct filter_row *row = &s->enable[i].row;
		if (!guid_equal(&s->enable[i].provider, provider)) {
			continue;
		}
		if ((rec->flags & POOL_REC_INPRIVATE) && (row->props & FILTER_ROW_EXCLUDE_INPRIVATE)) {
			return NULL;
		}
		/* Classic events and messages carry neither level nor keyword to go by. */
		if (rec->kind != POOL_REC_EVENT) {
			return &s->enable[i];
		}
		if (!match_level(match_limit(row->level), rec->level) ||
		    !match_keywords(row->any, row->all, !(row->props & FILTER_ROW_IGNORE_KEYWORD_0), rec->keyword)) {
			return NULL;
		}
		const struct inproc_chosen *c = s->enable[i].chosen;
		if (c && c->select.filtered) {
			struct filter_facts f = facts_of(ev, items);
			return filter_select_event(&c->select, &f) ? &s->enable[i] : NULL;
		}
		return &s->enable[i];
	}
	return NULL;
}

static bool wants_stack(const struct inproc_enable *e, const struct pool_event *ev, const struct pool_items *items)
{
	if (!(e->properties & EVENT_ENABLE_PROPERTY_STACK_TRACE)) {
		return false;
	}
	if (!e->chosen || !e->chosen->select.stack_filtered) {
		return true;
	}
	struct filter_facts f = facts_of(ev, items);
	return filter_select_stack(&e->chosen->select, &f);
}

void inproc_record(void *ctx, const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	if (rec->prov >= INPROC_REGISTRATIONS || !inproc.registration[rec->prov].used) {
		return;
	}
	const struct inproc_registration *reg = &inproc.registration[rec->prov];
	const struct etl_event_head head = etl_event_head_of(inproc.pid, reg->provider.b, ETL_EF_PRIVATE_SESSION);
	struct pool_items items;
	pool_items_read(&items, ev, POOL_CLAIMS_KEPT, reg->traits, reg->traits_bytes);
	inproc.event_key++; /* the same in every session that gets it */
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		if (!(rec->mask >> i & 1) || !s->sink) {
			continue;
		}
		const struct inproc_enable *e = wanted(s, &reg->provider, ev, &items);
		if (!e) {
			continue;
		}
		if (rec->kind == POOL_REC_EVENT) {
			uint32_t wants = e->properties & ~(uint32_t)EVENT_ENABLE_PROPERTY_STACK_TRACE;
			wants |= wants_stack(e, ev, &items) ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0;
			deliver_event(s, ev, &head, &items, wants);
		} else {
			deliver(s, ev, &head, NULL);
		}
	}
}
