/* SPDX-License-Identifier: MIT
 *
 * A record becomes what callbacks want: EVENT_RECORD or the older EVENT_TRACE. Nothing is copied
 * but the fixed headers; pointers lead into the buffer.
 */
#include "consume/consume_trace.h"

#include <stdlib.h>

#define ALIGNMENT_BYTES 8 /* what older systems put beside the processor number */

static int item_add(struct trace *t, uint32_t *count, uint16_t type, const void *data,
		    uint32_t bytes)
{
	if (*count == t->items_cap) {
		uint32_t cap = t->items_cap ? 2 * t->items_cap : 16;
		void *items = realloc(t->items, cap * sizeof *t->items);
		if (!items) {
			return -ENOMEM;
		}
		t->items = items;
		t->items_cap = cap;
	}
	EVENT_HEADER_EXTENDED_DATA_ITEM *e = &t->items[(*count)++];
	memset(e, 0, sizeof *e);
	e->ExtType = type;
	e->DataSize = (USHORT)bytes;
	e->DataPtr = (ULONGLONG)(uintptr_t)data;
	e->Linkage = 1;
	return 0;
}

static int items_build(struct trace *t, const struct etl_record *r, uint32_t *ret_count)
{
	uint32_t count = 0;
	int err = 0;
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (r->items && err == 0 &&
	       etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		err = item_add(t, &count, type, data, bytes);
	}
	if (err == 0 && (r->type == ETL_RT_INSTANCE32 || r->type == ETL_RT_INSTANCE64)) {
		t->instance.InstanceId = r->instance_id;
		t->instance.ParentInstanceId = r->parent_instance_id;
		memcpy(&t->instance.ParentGuid, &r->parent_guid, sizeof t->instance.ParentGuid);
		err = item_add(t, &count, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, &t->instance,
			       sizeof t->instance);
	}
	if (err == 0 && r->counters) {
		const uint8_t *p = r->counters;
		uint32_t left = r->counters_count;
		if (r->counters_pebs) {
			err = item_add(t, &count, EVENT_HEADER_EXT_TYPE_PEBS_INDEX, p, 8);
			p += 8;
			left--;
		}
		if (err == 0 && left) {
			err = item_add(t, &count, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, p, 8 * left);
		}
	}
	if (count) {
		t->items[count - 1].Linkage = 0;
	}
	*ret_count = count;
	return err;
}

static ETW_BUFFER_CONTEXT context_of(const struct etl_record *r)
{
	ETW_BUFFER_CONTEXT c;
	memset(&c, 0, sizeof c);
	if (r->event_flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) {
		c.ProcessorIndex = r->cpu;
	} else {
		c.ProcessorNumber = (UCHAR)r->cpu;
		c.Alignment = ALIGNMENT_BYTES;
	}
	c.LoggerId = r->logger_id;
	return c;
}

static int64_t time_of(const struct trace *t, const struct etl_record *r)
{
	return (int64_t)(t->raw_time ? r->time_raw : r->time_filetime);
}

static int deliver_record(struct trace *t, const struct etl_record *r)
{
	uint32_t items = 0;
	int err = items_build(t, r, &items);
	if (err < 0) {
		return err;
	}
	EVENT_RECORD e;
	memset(&e, 0, sizeof e);
	e.EventHeader.Size = (USHORT)r->raw_bytes;
	e.EventHeader.HeaderType = r->type;
	e.EventHeader.Flags = r->event_flags;
	if (items) {
		e.EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
	}
	e.EventHeader.EventProperty = r->event_property;
	e.EventHeader.ThreadId = r->tid;
	e.EventHeader.ProcessId = r->pid;
	e.EventHeader.TimeStamp.QuadPart = time_of(t, r);
	memcpy(&e.EventHeader.ProviderId, &r->provider, sizeof r->provider);
	e.EventHeader.EventDescriptor.Id = r->id;
	e.EventHeader.EventDescriptor.Version = r->version;
	e.EventHeader.EventDescriptor.Channel = r->channel;
	e.EventHeader.EventDescriptor.Level = r->level;
	e.EventHeader.EventDescriptor.Opcode = r->opcode;
	e.EventHeader.EventDescriptor.Task = r->task;
	e.EventHeader.EventDescriptor.Keyword = r->keyword;
	e.EventHeader.KernelTime = r->kernel_time;
	e.EventHeader.UserTime = r->user_time;
	memcpy(&e.EventHeader.ActivityId, &r->activity, sizeof r->activity);
	e.BufferContext = context_of(r);
	e.ExtendedDataCount = (USHORT)items;
	e.ExtendedData = items ? t->items : NULL;
	e.UserDataLength = (USHORT)r->payload_bytes;
	e.UserData = r->payload_bytes ? (PVOID)(uintptr_t)r->payload : NULL;
	e.UserContext = t->log.w.Context;
	t->log.w.EventRecordCallback(&e);
	return 0;
}

static void deliver_classic(struct trace *t, const struct etl_record *r, PEVENT_CALLBACK callback)
{
	EVENT_TRACE e;
	memset(&e, 0, sizeof e);
	e.Header.Size = (USHORT)r->raw_bytes;
	e.Header.HeaderType = r->type;
	e.Header.Class.Type = r->opcode;
	e.Header.Class.Level = r->level;
	e.Header.Class.Version = r->version;
	e.Header.ThreadId = r->tid;
	e.Header.ProcessId = r->pid;
	e.Header.TimeStamp.QuadPart = time_of(t, r);
	memcpy(&e.Header.Guid, &r->provider, sizeof r->provider);
	e.Header.KernelTime = r->kernel_time;
	e.Header.UserTime = r->user_time;
	e.InstanceId = r->instance_id;
	e.ParentInstanceId = r->parent_instance_id;
	memcpy(&e.ParentGuid, &r->parent_guid, sizeof r->parent_guid);
	e.MofData = r->payload_bytes ? (PVOID)(uintptr_t)r->payload : NULL;
	e.MofLength = r->payload_bytes;
	e.BufferContext = context_of(r);
	callback(&e);
}

int trace_deliver(struct trace *t, const struct etl_record *r)
{
	PEVENT_CALLBACK callback;
	if ((r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) &&
	    trace_class_callback(&r->provider, &callback)) {
		deliver_classic(t, r, callback);
	}
	if (t->event_record) {
		return t->log.w.EventRecordCallback ? deliver_record(t, r) : 0;
	}
	if (t->log.w.EventCallback) {
		deliver_classic(t, r, t->log.w.EventCallback);
	}
	return 0;
}
