/* SPDX-License-Identifier: MIT
 *
 * One event, and its record with the changes. A record keeps its kind as long as that kind can say
 * what was set: a kernel record names its class by a hook, so one that gets another provider or
 * opcode becomes a record with the class spelled out.
 */
#include "relog/relog.h"
#include "format/etl_item.h"
#include "format/etl_message.h"

#include <stdlib.h>

static void rebase(const uint8_t **p, const uint8_t *from, const uint8_t *to)
{
	if (*p) {
		*p = to + (*p - from);
	}
}

int relog_event_take(struct relog_event *e, const struct etl_record *r)
{
	if (e->raw_cap < r->raw_bytes) {
		uint8_t *raw = realloc(e->raw, r->raw_bytes);
		if (!raw) {
			return -ENOMEM;
		}
		e->raw = raw;
		e->raw_cap = r->raw_bytes;
	}
	if (r->raw_bytes) {
		memcpy(e->raw, r->raw, r->raw_bytes);
	}
	e->r = *r;
	e->r.raw = e->raw;
	rebase(&e->r.items, r->raw, e->raw);
	rebase(&e->r.payload, r->raw, e->raw);
	rebase(&e->r.counters, r->raw, e->raw);
	e->changed = 0;
	return 0;
}

void relog_event_init(struct relog_event *e, uint16_t flags)
{
	bool narrow = flags & EVENT_HEADER_FLAG_32_BIT_HEADER;
	bool classic = flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
	e->r.raw = NULL;
	e->r.raw_bytes = 0;
	e->r.pointer_size = narrow ? 4 : 8;
	e->r.type = classic ? (narrow ? ETL_RT_FULL32 : ETL_RT_FULL64) : (narrow ? ETL_RT_EVENT32 : ETL_RT_EVENT64);
	e->r.event_flags = (uint16_t)((flags & (EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_STRING_ONLY)) |
				      (narrow ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER) |
				      EVENT_HEADER_FLAG_PROCESSOR_INDEX);
}

int relog_event_copy(struct relog_event *to, const struct relog_event *from)
{
	struct etl_record r = from->r;
	unsigned changed = from->changed;
	bool own = changed & RELOG_PAYLOAD;
	if (own) { /* does not lie in raw */
		r.payload = NULL;
	}
	int err = r.raw ? relog_event_take(to, &r) : 0;
	if (err < 0) {
		return err;
	}
	if (!r.raw) {
		to->r = r;
	}
	if (own) {
		err = relog_event_set_payload(to, from->payload, from->r.payload_bytes);
	}
	to->changed = changed;
	return err;
}

int relog_event_set_payload(struct relog_event *e, const void *p, uint32_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);
	if (!copy) {
		return -ENOMEM;
	}
	if (bytes) {
		memcpy(copy, p, bytes);
	}
	free(e->payload);
	e->payload = copy;
	e->r.payload = copy;
	e->r.payload_bytes = bytes;
	e->changed |= RELOG_PAYLOAD;
	return 0;
}

/* Names and fields of a TraceLogging event, name and group of its provider, and its control GUID. */
static bool speaks_for_provider(uint16_t type)
{
	return type == ETL_ITEM_EVENT_SCHEMA_TL || type == ETL_ITEM_PROV_TRAITS || type == ETL_ITEM_CONTROL_GUID;
}

/* The items lie in the event's own copy of the record. */
static void drop_provider_items(struct relog_event *e)
{
	uint8_t *items = e->raw + (e->r.items - e->raw);
	uint32_t at = 0, kept = 0, last = 0, here = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	bool any = false;
	while (etl_item_next(items, e->r.items_bytes, &at, &type, &data, &bytes)) {
		uint32_t whole = at - here;
		if (!speaks_for_provider(type)) {
			last = kept;
			any = true;
			memmove(items + kept, items + here, whole);
			kept += whole;
		}
		here = at;
	}
	if (any) { /* none follows */
		le16_put(items + last + 4, le16_get(items + last + 4) & (uint16_t)~1u);
	}
	e->r.items = any ? items : NULL;
	e->r.items_bytes = kept;
	if (!any) {
		e->r.event_flags &= (uint16_t)~EVENT_HEADER_FLAG_EXTENDED_INFO;
	}
}

void relog_event_set_provider(struct relog_event *e, const struct guid *provider)
{
	if (e->r.items && !guid_equal(&e->r.provider, provider)) {
		drop_provider_items(e);
	}
	e->r.provider = *provider;
	e->changed |= RELOG_PROVIDER;
}

/* 0x30 bytes: EVENT_TRACE_HEADER. */
static void put_full(const struct etl_record *r, uint8_t *out)
{
	out[2] = r->type;
	out[3] = ETL_MARK_HEADER;
	out[4] = r->opcode;
	out[5] = r->level;
	le16_put(out + 6, r->version);
	le32_put(out + 8, r->tid);
	le32_put(out + 12, r->pid);
	le64_put(out + 16, r->time_raw);
	memcpy(out + 0x18, &r->provider, 16);
	le32_put(out + 0x28, r->kernel_time);
	le32_put(out + 0x2C, r->user_time);
}

static void put_event(const struct etl_record *r, uint8_t *out)
{
	out[2] = r->type;
	out[3] = ETL_MARK_HEADER;
	le16_put(out + ETL_EH_FLAGS, (uint16_t)((r->items ? ETL_EF_EXTENDED_INFO : 0) |
						(r->event_flags & (ETL_EF_PRIVATE_SESSION | ETL_EF_STRING_ONLY))));
	le16_put(out + ETL_EH_PROPERTY, r->event_property);
	le32_put(out + ETL_EH_TID, r->tid);
	le32_put(out + ETL_EH_PID, r->pid);
	le64_put(out + ETL_EH_TIME, r->time_raw);
	memcpy(out + ETL_EH_PROVIDER, &r->provider, 16);
	uint8_t *d = out + ETL_EH_DESCRIPTOR;
	le16_put(d, r->id);
	d[2] = r->version;
	d[3] = r->channel;
	d[4] = r->level;
	d[5] = r->opcode;
	le16_put(d + 6, r->task);
	le64_put(d + 8, r->keyword);
	le32_put(out + ETL_EH_KERNEL_TIME, r->kernel_time);
	le32_put(out + ETL_EH_USER_TIME, r->user_time);
	memcpy(out + ETL_EH_ACTIVITY, &r->activity, 16);
}

static void put_system(const struct etl_record *r, uint8_t *out)
{
	bool wide = r->pointer_size != 4;
	le16_put(out, r->version);
	out[2] = wide ? ETL_RT_SYSTEM64 : ETL_RT_SYSTEM32;
	out[3] = ETL_MARK_HEADER;
	le16_put(out + 6, r->hook);
	le32_put(out + 8, r->tid);
	le32_put(out + 12, r->pid);
	le64_put(out + 16, r->time_raw);
	le32_put(out + 0x18, r->kernel_time);
	le32_put(out + 0x1C, r->user_time);
}

/* A WPP message has the fields that its flags name. False when it lacks one that was set. */
static bool put_message(const struct etl_record *r, unsigned changed, uint8_t *out, uint32_t *ret_header)
{
	uint16_t flags = le16_get(r->raw + 6);
	struct etl_message_fields f = etl_message_fields(flags);
	uint32_t header = ETL_MESSAGE_HEADER_SIZE + f.end;
	uint8_t *fields = out + ETL_MESSAGE_HEADER_SIZE;
	if (header > r->raw_bytes || (changed & (RELOG_TIMES | RELOG_ACTIVITY)) ||
	    ((changed & RELOG_PROVIDER) && !(flags & TRACE_MESSAGE_GUID)) ||
	    ((changed & RELOG_TIME) && !(flags & TRACE_MESSAGE_TIMESTAMP)) ||
	    ((changed & (RELOG_PID | RELOG_TID)) && !(flags & TRACE_MESSAGE_SYSTEMINFO))) {
		return false;
	}
	memcpy(out, r->raw, header);
	le16_put(out + 4, r->id);
	if (changed & RELOG_PROVIDER) {
		memcpy(fields + f.source, &r->provider, 16);
	}
	if (flags & TRACE_MESSAGE_TIMESTAMP) {
		le64_put(fields + f.time, r->time_raw);
	}
	if (flags & TRACE_MESSAGE_SYSTEMINFO) {
		le32_put(fields + f.system_info, r->tid);
		le32_put(fields + f.system_info + 4, r->pid);
	}
	*ret_header = header;
	return true;
}

int relog_event_encode(const struct relog_event *e, uint8_t *out)
{
	struct etl_record r = e->r;
	if (!e->changed && r.raw) {
		memcpy(out, r.raw, r.raw_bytes);
		return (int)r.raw_bytes;
	}
	bool hooked = r.type == ETL_RT_SYSTEM32 || r.type == ETL_RT_SYSTEM64 || r.type == ETL_RT_COMPACT32 ||
		      r.type == ETL_RT_COMPACT64 || r.type == ETL_RT_PERFINFO32 || r.type == ETL_RT_PERFINFO64;
	bool perfinfo = r.type == ETL_RT_PERFINFO32 || r.type == ETL_RT_PERFINFO64;
	if (hooked && (e->changed & (RELOG_PROVIDER | RELOG_DESCRIPTOR))) {
		r.type = r.pointer_size == 4 ? ETL_RT_FULL32 : ETL_RT_FULL64;
		hooked = false;
		r.pid = r.pid == UINT32_MAX ? 0 : r.pid;
		r.tid = r.tid == UINT32_MAX ? 0 : r.tid;
	}
	uint32_t header, size_at = 0;
	bool items_follow = false;
	if (hooked && perfinfo && !(e->changed & (RELOG_PID | RELOG_TID | RELOG_TIMES))) {
		header = ETL_PERFINFO_HEADER_SIZE;
		memcpy(out, r.raw, header);
		le64_put(out + 8, r.time_raw);
		size_at = 4;
	} else if (hooked) {
		header = ETL_SYSTEM_HEADER_SIZE;
		put_system(&r, out);
		size_at = 4;
	} else if (r.type == ETL_RT_FULL32 || r.type == ETL_RT_FULL64) {
		header = ETL_FULL_HEADER_SIZE;
		put_full(&r, out);
	} else if (r.type == ETL_RT_INSTANCE32 || r.type == ETL_RT_INSTANCE64) {
		header = ETL_INSTANCE_HEADER_SIZE;
		memcpy(out, r.raw, header); /* instances and their parent stay */
		put_full(&r, out);
	} else if (r.type == ETL_RT_EVENT32 || r.type == ETL_RT_EVENT64) {
		items_follow = true;
		header = ETL_EVENT_HEADER_SIZE;
		put_event(&r, out);
	} else if (r.type == ETL_RT_MESSAGE && r.raw && put_message(&r, e->changed, out, &header)) {
		items_follow = false;
	} else {
		return -EOPNOTSUPP;
	}
	uint32_t items = r.items && items_follow ? r.items_bytes : 0;
	uint64_t total = (uint64_t)header + items + r.payload_bytes;
	if (total > ETL_RECORD_MAX) {
		return -EMSGSIZE;
	}
	if (items) {
		memcpy(out + header, r.items, items);
	}
	if (r.payload_bytes) {
		memcpy(out + header + items, r.payload, r.payload_bytes);
	}
	le16_put(out + size_at, (uint16_t)total);
	return (int)total;
}

int relog_event_view(struct relog_event *e, void *user_context)
{
	return consume_view_fill(&e->view, &e->r, e->r.time_raw, user_context, &e->record);
}

void relog_event_free(struct relog_event *e)
{
	consume_view_free(&e->view);
	free(e->payload);
	free(e->raw);
}
