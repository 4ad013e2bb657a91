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
	t->items[(*count)++] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
		.ExtType = type,
		.Linkage = 1,
		.DataSize = (USHORT)bytes,
		.DataPtr = (ULONGLONG)(uintptr_t)data,
	};
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

static int record_build(struct trace *t, const struct etl_record *r, EVENT_RECORD *ret)
{
	uint32_t items = 0;
	int err = items_build(t, r, &items);
	if (err < 0) {
		return err;
	}
	/* In place: this runs for every event. */
	EVENT_HEADER *h = &ret->EventHeader;
	h->Size = (USHORT)r->raw_bytes;
	h->HeaderType = r->type;
	h->Flags = r->event_flags | (items ? EVENT_HEADER_FLAG_EXTENDED_INFO : 0);
	h->EventProperty = r->event_property;
	h->ThreadId = r->tid;
	h->ProcessId = r->pid;
	h->TimeStamp.QuadPart = time_of(t, r);
	memcpy(&h->ProviderId, &r->provider, sizeof r->provider);
	h->EventDescriptor.Id = r->id;
	h->EventDescriptor.Version = r->version;
	h->EventDescriptor.Channel = r->channel;
	h->EventDescriptor.Level = r->level;
	h->EventDescriptor.Opcode = r->opcode;
	h->EventDescriptor.Task = r->task;
	h->EventDescriptor.Keyword = r->keyword;
	h->KernelTime = r->kernel_time;
	h->UserTime = r->user_time;
	memcpy(&h->ActivityId, &r->activity, sizeof r->activity);
	ret->BufferContext = context_of(r);
	ret->ExtendedDataCount = (USHORT)items;
	ret->ExtendedData = items ? t->items : NULL;
	ret->UserDataLength = (USHORT)r->payload_bytes;
	ret->UserData = r->payload_bytes ? (PVOID)(uintptr_t)r->payload : NULL;
	ret->UserContext = t->log.w.Context;
	return 0;
}

static int deliver_record(struct trace *t, const struct etl_record *r)
{
	EVENT_RECORD e;
	int err = record_build(t, r, &e);
	if (err < 0) {
		return err;
	}
	t->log.w.EventRecordCallback(&e);
	return 0;
}

static consume_learn_fn *learner;

void consume_set_learner(consume_learn_fn *fn)
{
	learner = fn;
}

#define MANIFEST_ID	0xFFFEu /* EventSource: a piece of its manifest */
#define METADATA_EVENT	32u	/* TRACE_EVENT_INFO */
#define METADATA_MAP	33u	/* EVENT_MAP_INFO */

/* {bbccf6c1-6cd1-48c4-80ff-839482e37671} EventMetadata [obs] */
static const struct guid metadata_class = {{0xc1, 0xf6, 0xcc, 0xbb, 0xd1, 0x6c, 0xc4, 0x48, 0x80,
					    0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};

static bool carries_schema(const struct etl_record *r)
{
	if (!(r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)) {
		return r->id == MANIFEST_ID;
	}
	return (r->opcode == METADATA_EVENT || r->opcode == METADATA_MAP) &&
	       guid_equal(&r->provider, &metadata_class);
}

void trace_learn(struct trace *t, const struct etl_record *r)
{
	EVENT_RECORD e;
	if (BASE_UNLIKELY(carries_schema(r)) && learner && record_build(t, r, &e) == 0) {
		learner(&e);
	}
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
