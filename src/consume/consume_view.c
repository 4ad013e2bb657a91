/* SPDX-License-Identifier: MIT
 *
 * A record as an EVENT_RECORD. Nothing is copied but the fixed headers; pointers lead into the
 * buffer.
 */
#include "consume/consume_view.h"
#include "base/vec.h"
#include "format/etl_item.h"

#include <stdlib.h>

#define ALIGNMENT_BYTES 8 /* what older systems put beside the processor number */

static int item_add(struct consume_view *v, uint32_t *count, uint16_t type, const void *data, uint32_t bytes)
{
	if (!VEC_ROOM(v->items, *count, v->items_cap)) {
		return -ENOMEM;
	}
	v->items[(*count)++] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
		.ExtType = type,
		.Linkage = 1,
		.DataSize = (USHORT)bytes,
		.DataPtr = (ULONGLONG)(uintptr_t)data,
	};
	return 0;
}

static int items_build(struct consume_view *v, const struct etl_record *r, uint32_t *ret_count)
{
	uint32_t count = 0;
	int err = 0;
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (r->items && err == 0 && etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		err = item_add(v, &count, type, data, bytes);
	}
	if (err == 0 && (r->type == ETL_RT_INSTANCE32 || r->type == ETL_RT_INSTANCE64)) {
		v->instance.InstanceId = r->instance_id;
		v->instance.ParentInstanceId = r->parent_instance_id;
		memcpy(&v->instance.ParentGuid, &r->parent_guid, sizeof v->instance.ParentGuid);
		err = item_add(v, &count, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, &v->instance, sizeof v->instance);
	}
	if (err == 0 && r->counters) {
		const uint8_t *p = r->counters;
		uint32_t left = r->counters_count;
		if (r->counters_pebs) {
			err = item_add(v, &count, EVENT_HEADER_EXT_TYPE_PEBS_INDEX, p, 8);
			p += 8;
			left--;
		}
		if (err == 0 && left) {
			err = item_add(v, &count, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, p, 8 * left);
		}
	}
	if (count) {
		v->items[count - 1].Linkage = 0;
	}
	*ret_count = count;
	return err;
}

ETW_BUFFER_CONTEXT consume_context_of(const struct etl_record *r)
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

int consume_view_fill(struct consume_view *v, const struct etl_record *r, uint64_t time, void *user_context,
		      EVENT_RECORD *ret)
{
	uint32_t items = 0;
	int err = items_build(v, r, &items);
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
	h->TimeStamp.QuadPart = (int64_t)time;
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
	ret->BufferContext = consume_context_of(r);
	ret->ExtendedDataCount = (USHORT)items;
	ret->ExtendedData = items ? v->items : NULL;
	ret->UserDataLength = (USHORT)r->payload_bytes;
	ret->UserData = r->payload_bytes ? (PVOID)(uintptr_t)r->payload : NULL;
	ret->UserContext = user_context;
	return 0;
}

void consume_view_free(struct consume_view *v)
{
	free(v->items);
}
