/* SPDX-License-Identifier: MIT
 *
 * A pool event becomes the record each session wants of it, built in the session's buffer. Layouts:
 * docs/etl.md, and for classic kinds pool_abi.h says what their payload begins with.
 */
#include "inproc/inproc_private.h"

#define CLASSIC_PREFIX_BYTES  16u /* class GUID */
#define INSTANCE_PREFIX_BYTES 40u /* class GUID, id, parent id, parent class GUID */
#define MESSAGE_SEQUENCE      0x0001u
#define MESSAGE_GUID	      0x0002u
#define MESSAGE_COMPONENT     0x0004u
#define MESSAGE_TIMESTAMP     0x0008u

static uint64_t session_time(const struct inproc_session *s, uint64_t ts)
{
	if (s->options.clock != 2) {
		return ts;
	}
	uint64_t freq = clock_frequency();
	return ts >= s->start_raw
		       ? s->start_filetime + clock_muldiv(ts - s->start_raw, 10000000, freq)
		       : s->start_filetime - clock_muldiv(s->start_raw - ts, 10000000, freq);
}

/* Filled from `bytes` on to the next multiple of 8 with zeros. */
static uint8_t *reserve(struct inproc_session *s, const struct pool_rec *rec, uint64_t time,
			uint32_t bytes)
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

static void put_start(uint8_t *p, uint32_t bytes, uint8_t type, const struct pool_rec *rec,
		      uint64_t time)
{
	le16_put(p, (uint16_t)bytes);
	p[2] = type;
	p[3] = 0xC0;
	le32_put(p + ETL_EH_TID, rec->tid);
	le32_put(p + ETL_EH_PID, inproc.pid);
	le64_put(p + ETL_EH_TIME, time);
}

/* The items of the record with the registration's traits in their place: before the TraceLogging
 * schema, after everything else. */
static uint8_t *put_items(uint8_t *out, const struct pool_event *ev,
			  const struct inproc_registration *reg, bool add_traits)
{
	uint8_t *last = NULL;
	uint32_t at = 0;
	bool traits_done = !add_traits;
	while (at + ETL_ITEM_HEADER_SIZE <= ev->items_bytes || !traits_done) {
		const uint8_t *item = ev->items + at;
		bool have = at + ETL_ITEM_HEADER_SIZE <= ev->items_bytes;
		uint32_t total = have ? le16_get(item) : 0;
		if (!traits_done && (!have || le16_get(item + 2) == ETL_ITEM_EVENT_SCHEMA_TL)) {
			last = out;
			out += etl_put_item(out, ETL_ITEM_PROV_TRAITS, reg->traits,
					    (uint16_t)reg->traits_bytes, true);
			traits_done = true;
			continue;
		}
		if (total < ETL_ITEM_HEADER_SIZE || total > ev->items_bytes - at) {
			break; /* the drain refuses such records; do not loop if it ever does not */
		}
		memcpy(out, item, total);
		le16_put(out + 4, 1);
		last = out;
		out += total;
		at += total;
	}
	if (last) {
		le16_put(last + 4, 0);
	}
	return out;
}

/* A writer carries its traits along until the daemons know them. */
static bool has_traits(const struct pool_event *ev)
{
	struct bytes b = bytes_of(ev->items, ev->items_bytes);
	while (bytes_left(&b) >= ETL_ITEM_HEADER_SIZE) {
		uint16_t total = bytes_u16(&b);
		uint16_t type = bytes_u16(&b);
		if (type == ETL_ITEM_PROV_TRAITS) {
			return true;
		}
		if (total < ETL_ITEM_HEADER_SIZE || !bytes_take(&b, total - 4u)) {
			break;
		}
	}
	return false;
}

static void record_event(struct inproc_session *s, const struct pool_event *ev,
			 const struct inproc_registration *reg)
{
	const struct pool_rec *rec = ev->rec;
	uint64_t time = session_time(s, rec->ts);
	bool add_traits = reg->traits && !has_traits(ev);
	uint32_t traits = add_traits ? etl_item_total((uint16_t)reg->traits_bytes) : 0;
	uint32_t items = ev->items_bytes + traits;
	uint32_t bytes = ETL_EVENT_HEADER_SIZE + items + ev->payload_bytes;
	uint8_t *p = reserve(s, rec, time, bytes);
	if (!p) {
		return;
	}
	put_start(p, bytes, ETL_RT_EVENT64, rec, time);
	le16_put(p + ETL_EH_FLAGS,
		 (uint16_t)(ETL_EF_PRIVATE_SESSION | (items ? ETL_EF_EXTENDED_INFO : 0) |
			    (rec->flags & POOL_REC_STRING_ONLY ? ETL_EF_STRING_ONLY : 0)));
	le16_put(p + ETL_EH_PROPERTY, 0);
	memcpy(p + ETL_EH_PROVIDER, reg->provider.b, 16);
	memcpy(p + ETL_EH_DESCRIPTOR, &rec->id, 16);
	le64_put(p + ETL_EH_KERNEL_TIME, 0); /* ProcessorTime */
	if (ev->activity) {
		memcpy(p + ETL_EH_ACTIVITY, ev->activity, 16);
	} else {
		memset(p + ETL_EH_ACTIVITY, 0, 16);
	}
	uint8_t *at = put_items(p + ETL_EVENT_HEADER_SIZE, ev, reg, add_traits);
	memcpy(at, ev->payload, ev->payload_bytes);
}
_Static_assert(sizeof(struct pool_rec) - offsetof(struct pool_rec, id) == 16,
	       "the descriptor can be copied as it is");

/* TraceEvent and TraceEventInstance. */
static void record_classic(struct inproc_session *s, const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	bool instance = rec->kind == POOL_REC_INSTANCE;
	uint32_t prefix = instance ? INSTANCE_PREFIX_BYTES : CLASSIC_PREFIX_BYTES;
	uint32_t header = instance ? ETL_INSTANCE_HEADER_SIZE : ETL_FULL_HEADER_SIZE;
	if (ev->payload_bytes < prefix) {
		sink_add_lost(s->sink, 1);
		return;
	}
	uint64_t time = session_time(s, rec->ts);
	uint32_t data = ev->payload_bytes - prefix;
	uint8_t *p = reserve(s, rec, time, header + data);
	if (!p) {
		return;
	}
	put_start(p, header + data, instance ? ETL_RT_INSTANCE64 : ETL_RT_FULL64, rec, time);
	p[4] = rec->opcode;
	p[5] = rec->level;
	le16_put(p + 6, rec->version);
	memcpy(p + 0x18, ev->payload, 16);
	le64_put(p + 0x28, 0); /* ProcessorTime */
	if (instance) {
		memcpy(p + 0x30, ev->payload + 16, 24); /* id, parent id, parent class */
	}
	memcpy(p + header, ev->payload + prefix, data);
}

static void record_message(struct inproc_session *s, const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	uint64_t time = session_time(s, rec->ts);
	uint32_t bytes = ETL_MESSAGE_HEADER_SIZE + ev->payload_bytes;
	uint8_t *p = reserve(s, rec, time, bytes);
	if (!p) {
		return;
	}
	uint16_t flags = rec->task;
	le16_put(p, (uint16_t)bytes);
	p[2] = 0;
	p[3] = 0x90;
	le16_put(p + 4, rec->id);
	le16_put(p + 6, flags);
	uint8_t *body = p + ETL_MESSAGE_HEADER_SIZE;
	memcpy(body, ev->payload, ev->payload_bytes);
	uint32_t at = 0;
	if ((flags & MESSAGE_SEQUENCE) && at + 4 <= ev->payload_bytes) {
		le32_put(body + at, ++s->message_sequence);
		at += 4;
	}
	at += flags & MESSAGE_GUID ? 16 : flags & MESSAGE_COMPONENT ? 4 : 0;
	if ((flags & MESSAGE_TIMESTAMP) && at + 8 <= ev->payload_bytes) {
		le64_put(body + at, time);
	}
}

/* The rule per session [doc]: level 0 on either side and keyword 0 pass, unless said otherwise. */
static bool row_matches(const struct filter_row *r, uint8_t level, uint64_t keyword)
{
	if (level != 0 && r->level != 0 && level > r->level) {
		return false;
	}
	if (keyword == 0) {
		return !(r->props & FILTER_ROW_IGNORE_KEYWORD_0);
	}
	return (keyword & r->any) != 0 && (keyword & r->all) == r->all;
}

/* Does the session want it still? The writer's mask only pre-selects: it may have been decided under
 * a table that has changed since. */
static bool wanted(const struct inproc_session *s, const struct guid *provider,
		   const struct pool_rec *rec)
{
	for (uint32_t i = 0; i < s->enable_count; i++) {
		const struct filter_row *row = &s->enable[i].row;
		if (!guid_equal(&s->enable[i].provider, provider)) {
			continue;
		}
		if ((rec->flags & POOL_REC_INPRIVATE) &&
		    (row->props & FILTER_ROW_EXCLUDE_INPRIVATE)) {
			return false;
		}
		/* Classic events and messages carry neither level nor keyword to go by. */
		return rec->kind != POOL_REC_EVENT || row_matches(row, rec->level, rec->keyword);
	}
	return false;
}

void inproc_record(void *ctx, const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	if (rec->prov >= INPROC_REGISTRATIONS || !inproc.registration[rec->prov].used) {
		return;
	}
	const struct inproc_registration *reg = &inproc.registration[rec->prov];
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		if (!(rec->mask >> i & 1) || !s->sink || !wanted(s, &reg->provider, rec)) {
			continue;
		}
		switch (rec->kind) {
		case POOL_REC_EVENT:
			record_event(s, ev, reg);
			break;
		case POOL_REC_CLASSIC:
		case POOL_REC_INSTANCE:
			record_classic(s, ev);
			break;
		case POOL_REC_MESSAGE:
			record_message(s, ev);
			break;
		default:
			break;
		}
	}
}
