/* SPDX-License-Identifier: MIT
 *
 * One event, and its record with the changes. A record keeps its kind as long as that kind can say
 * what was set: a kernel record names its class by a hook, so one that gets another provider or
 * opcode becomes a record with the class spelled out.
 */
#include "relog/relog.h"
#include "format/etl_head.h"
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

/* Each writes the header of a record of `bytes`. */
static void put_full(const struct etl_record *r, uint32_t bytes, uint8_t *out)
{
	const struct etl_full_head h = {
		.type = r->type,
		.opcode = r->opcode,
		.level = r->level,
		.version = r->version,
		.pid = r->pid,
		.tid = r->tid,
		.time = r->time_raw,
		.class = r->provider.b,
		.kernel_time = r->kernel_time,
		.user_time = r->user_time,
	};
	etl_full_head_put(out, bytes, &h);
}

static void put_event(const struct etl_record *r, uint32_t bytes, uint8_t *out)
{
	const struct etl_event_head h = etl_event_head_of(r->pid, r->provider.b, 0);
	uint16_t flags = (uint16_t)((r->items ? ETL_EF_EXTENDED_INFO : 0) |
				    (r->event_flags & (ETL_EF_PRIVATE_SESSION | ETL_EF_STRING_ONLY)));
	uint8_t d[16] = {[2] = r->version, r->channel, r->level, r->opcode};
	le16_put(d, r->id);
	le16_put(d + 6, r->task);
	le64_put(d + 8, r->keyword);
	etl_event_head_put(out, &h, flags, bytes, r->tid, r->time_raw, d, r->activity.b);
	out[ETL_EH_TYPE] = r->type;
	le16_put(out + ETL_EH_PROPERTY, r->event_property);
	le32_put(out + ETL_EH_KERNEL_TIME, r->kernel_time);
	le32_put(out + ETL_EH_USER_TIME, r->user_time);
}

/* A short header stays one unless it is to say more. The counters of the processor stay with their record. */
static void put_hook(const struct etl_record *r, bool perfinfo, uint32_t counters, uint32_t bytes, uint8_t *out)
{
	bool wide = r->pointer_size != 4;
	const struct etl_hook_head h = {
		.type = perfinfo ? r->type
			: wide   ? ETL_RT_SYSTEM64
				 : ETL_RT_SYSTEM32,
		.version = counters ? le16_get(r->raw + ETL_HH_VERSION) : r->version,
		.hook = r->hook,
		.pid = r->pid,
		.tid = r->tid,
		.time = r->time_raw,
		.kernel_time = r->kernel_time,
		.user_time = r->user_time,
	};
	uint32_t own = etl_hook_head_put(out, bytes, &h);
	if (counters) {
		memcpy(out + own, r->counters, counters);
	}
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
	bool event = r.type == ETL_RT_EVENT32 || r.type == ETL_RT_EVENT64;
	bool instance = r.type == ETL_RT_INSTANCE32 || r.type == ETL_RT_INSTANCE64;
	bool full = instance || r.type == ETL_RT_FULL32 || r.type == ETL_RT_FULL64;
	perfinfo = perfinfo && !(e->changed & (RELOG_PID | RELOG_TID | RELOG_TIMES));
	uint32_t counters = hooked && r.counters ? 8u * r.counters_count : 0;
	uint32_t items = event && r.items ? r.items_bytes : 0;
	uint32_t header;
	if (hooked) {
		header = (perfinfo ? ETL_PERFINFO_HEADER_SIZE : ETL_SYSTEM_HEADER_SIZE) + counters;
	} else if (full) {
		header = instance ? ETL_INSTANCE_HEADER_SIZE : ETL_FULL_HEADER_SIZE;
	} else if (event) {
		header = ETL_EVENT_HEADER_SIZE;
	} else if (r.type != ETL_RT_MESSAGE || !r.raw || !put_message(&r, e->changed, out, &header)) {
		return -EOPNOTSUPP;
	}
	uint64_t total = (uint64_t)header + items + r.payload_bytes;
	if (total > ETL_RECORD_MAX) {
		return -EMSGSIZE;
	}
	if (hooked) {
		put_hook(&r, perfinfo, counters, (uint32_t)total, out);
	} else if (full) {
		if (instance) { /* it and its parent stay */
			memcpy(out + ETL_FH_INSTANCE, r.raw + ETL_FH_INSTANCE, header - ETL_FH_INSTANCE);
		}
		put_full(&r, (uint32_t)total, out);
	} else if (event) {
		put_event(&r, (uint32_t)total, out);
	} else {
		le16_put(out, (uint16_t)total);
	}
	if (items) {
		memcpy(out + header, r.items, items);
	}
	if (r.payload_bytes) {
		memcpy(out + header + items, r.payload, r.payload_bytes);
	}
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
