/* SPDX-License-Identifier: MIT */
#include "pool/pool_record.h"

#include "base/process.h"
#include "etw/values/enable_properties.h"
#include "format/etl_item.h"
#include "format/etl_message.h"

void pool_identity_learn(struct pool_identity *ret, uint32_t pid, uint32_t uid)
{
	unix_sid_put(ret->sid, uid);
	ret->terminal_session = process_login_session(pid);
	ret->start_key = process_start_key(pid);
}

/* ---- items ---------------------------------------------------------------------------------- */

/* There is room: of the writer's items pool_items_read() takes only so many that the host's have it. */
static void item_add(struct pool_items *to, uint16_t type, const void *data, uint32_t bytes)
{
	if (bytes > UINT16_MAX - 16) {
		return;
	}
	uint8_t rank = etl_item_rank(type);
	uint32_t at = to->count++;
	while (at > 0 && to->item[at - 1].rank > rank) {
		to->item[at] = to->item[at - 1];
		at--;
	}
	to->item[at] = (struct pool_item){data, (uint16_t)bytes, type, rank};
	to->bytes += etl_item_total((uint16_t)bytes);
}

static bool is_the_hosts_to_say(uint16_t type)
{
	return type == ETL_ITEM_SID || type == ETL_ITEM_TS_ID || type == ETL_ITEM_EVENT_KEY ||
	       type == ETL_ITEM_PROCESS_START_KEY;
}

void pool_items_read(struct pool_items *to, const struct pool_event *ev, enum pool_claims claims, const void *traits,
		     uint32_t traits_bytes)
{
	bool has_traits = false;
	uint32_t next = 0;
	uint16_t type, size;
	const uint8_t *data;
	to->count = to->bytes = to->schema_bytes = 0;
	to->schema = NULL;
	while (to->count < POOL_WRITER_ITEMS_MAX &&
	       etl_item_next(ev->items, ev->items_bytes, &next, &type, &data, &size)) {
		if (claims == POOL_CLAIMS_DROPPED && is_the_hosts_to_say(type)) {
			continue;
		}
		has_traits |= type == ETL_ITEM_PROV_TRAITS;
		if (type == ETL_ITEM_EVENT_SCHEMA_TL) {
			to->schema = data;
			to->schema_bytes = size;
		}
		item_add(to, type, data, size);
	}
	if (traits && !has_traits) {
		item_add(to, ETL_ITEM_PROV_TRAITS, traits, traits_bytes);
	}
}

void pool_items_for(struct pool_items *to, const struct pool_items *from, uint32_t properties,
		    const struct pool_identity *who, const uint64_t *event_key)
{
	bool stack = properties & EVENT_ENABLE_PROPERTY_STACK_TRACE;
	to->count = to->bytes = 0;
	to->schema = from->schema;
	to->schema_bytes = from->schema_bytes;
	for (uint32_t i = 0; i < from->count; i++) {
		if (stack || !etl_item_is_stack(from->item[i].type)) {
			to->item[to->count++] = from->item[i];
			to->bytes += etl_item_total(from->item[i].bytes);
		}
	}
	if (properties & EVENT_ENABLE_PROPERTY_SID) {
		item_add(to, ETL_ITEM_SID, who->sid, sizeof who->sid);
	}
	if (properties & EVENT_ENABLE_PROPERTY_TS_ID) {
		item_add(to, ETL_ITEM_TS_ID, &who->terminal_session, 4);
	}
	if (properties & EVENT_ENABLE_PROPERTY_EVENT_KEY) {
		item_add(to, ETL_ITEM_EVENT_KEY, event_key, 8);
	}
	if (properties & EVENT_ENABLE_PROPERTY_PROCESS_START_KEY) {
		item_add(to, ETL_ITEM_PROCESS_START_KEY, &who->start_key, 8);
	}
}

/* ---- events --------------------------------------------------------------------------------- */

static void put_event(uint8_t *out, uint32_t bytes, const struct pool_event *ev, const struct pool_record_args *a)
{
	const struct pool_rec *rec = ev->rec;
	uint32_t count = a->items ? a->items->count : 0;
	etl_event_head_put(out, a->head, pool_head_flags(rec, count > 0), bytes, a->tid, a->time, &rec->id,
			   ev->activity);
	uint8_t *at = out + ETL_EVENT_HEADER_SIZE;
	for (uint32_t i = 0; i < count; i++) {
		const struct pool_item *it = &a->items->item[i];
		at += etl_put_item(at, it->type, it->data, it->bytes, i + 1 < count);
	}
	memcpy(at, ev->payload, ev->payload_bytes);
}

/* ---- classic records ------------------------------------------------------------------------ */

/* What payloads begin with, see enum pool_rec_kind. */
#define CLASSIC_PREFIX_BYTES  16u /* class */
#define INSTANCE_PREFIX_BYTES 40u /* class, id, parent's id, parent's class */

/* TraceEvent and TraceEventInstance. */
static void put_classic(uint8_t *out, uint32_t bytes, const struct pool_event *ev, const struct pool_record_args *a)
{
	const struct pool_rec *rec = ev->rec;
	bool instance = rec->kind == POOL_REC_INSTANCE;
	uint32_t prefix = instance ? INSTANCE_PREFIX_BYTES : CLASSIC_PREFIX_BYTES;
	const struct etl_full_head head = {
		.type = instance ? ETL_RT_INSTANCE64 : ETL_RT_FULL64,
		.opcode = rec->opcode,
		.level = rec->level,
		.version = rec->version,
		.pid = (uint32_t)(a->head->ids >> 32),
		.tid = a->tid,
		.time = a->time,
		.class = ev->payload,
	};
	etl_full_head_put(out, bytes, &head);
	uint32_t header = ETL_FULL_HEADER_SIZE;
	if (instance) {
		memcpy(out + ETL_FH_INSTANCE, ev->payload + 16, 24);
		header = ETL_INSTANCE_HEADER_SIZE;
	}
	memcpy(out + header, ev->payload + prefix, ev->payload_bytes - prefix);
}

/* TraceMessage. The payload is what stands from offset 8 on; the fields that only the host knows are filled in. */
static void put_message(uint8_t *out, uint32_t bytes, const struct pool_event *ev, const struct pool_record_args *a)
{
	const struct pool_rec *rec = ev->rec;
	uint16_t flags = rec->task;
	struct etl_message_fields f = etl_message_fields(flags);
	uint8_t *body = out + ETL_MESSAGE_HEADER_SIZE;
	le16_put(out, (uint16_t)bytes);
	out[2] = 0;
	out[3] = ETL_MARK_MESSAGE;
	le16_put(out + 4, rec->id);
	le16_put(out + 6, flags);
	memcpy(body, ev->payload, ev->payload_bytes);
	if (flags & TRACE_MESSAGE_SEQUENCE) {
		le32_put(body + f.sequence, a->sequence ? ++*a->sequence : 0);
	}
	if (flags & TRACE_MESSAGE_TIMESTAMP) {
		le64_put(body + f.time, a->time);
	}
	if ((flags & TRACE_MESSAGE_SYSTEMINFO) && a->claims == POOL_CLAIMS_DROPPED) { /* thread, process */
		le64_put(body + f.system_info, a->head->ids | a->tid);
	}
}

/* ---- any of them ---------------------------------------------------------------------------- */

uint32_t pool_record_bytes(const struct pool_event *ev, const struct pool_items *items)
{
	uint32_t payload = ev->payload_bytes;
	switch (ev->rec->kind) {
	case POOL_REC_EVENT: return ETL_EVENT_HEADER_SIZE + (items ? items->bytes : 0) + payload;
	case POOL_REC_CLASSIC:
		return payload < CLASSIC_PREFIX_BYTES ? 0 : ETL_FULL_HEADER_SIZE + payload - CLASSIC_PREFIX_BYTES;
	case POOL_REC_INSTANCE:
		return payload < INSTANCE_PREFIX_BYTES ? 0 : ETL_INSTANCE_HEADER_SIZE + payload - INSTANCE_PREFIX_BYTES;
	case POOL_REC_MESSAGE:
		return payload < etl_message_fields(ev->rec->task).end ? 0 : ETL_MESSAGE_HEADER_SIZE + payload;
	default: return 0;
	}
}

void pool_record_put(uint8_t *out, uint32_t bytes, const struct pool_event *ev, const struct pool_record_args *a)
{
	switch (ev->rec->kind) {
	case POOL_REC_EVENT: put_event(out, bytes, ev, a); break;
	case POOL_REC_CLASSIC:
	case POOL_REC_INSTANCE: put_classic(out, bytes, ev, a); break;
	case POOL_REC_MESSAGE: put_message(out, bytes, ev, a); break;
	default: break;
	}
}
