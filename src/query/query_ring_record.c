/* SPDX-License-Identifier: MIT
 *
 * Records of a ring: how an event becomes one, and how one is found again.
 */
#include "query/query_ring_state.h"

#include "etl/etl_record.h"
#include "format/etl_head.h"
#include "format/etl_item.h"
#include "format/kernel_class.h"

int ring_record_split(uint8_t *scratch, uint32_t bytes, uint16_t cpu, const struct etl_clock *clock,
		      struct etl_record *ret)
{
	struct etl_record_head h;
	struct diag d = {0};
	memset(scratch, 0, ETL_BUFFER_HEADER_SIZE);
	int err = etl_record_peek(scratch, ETL_BUFFER_HEADER_SIZE + bytes, ETL_BUFFER_HEADER_SIZE, &h, &d);
	if (err <= 0 || h.at != ETL_BUFFER_HEADER_SIZE) {
		return -EBADMSG;
	}
	etl_record_split(scratch, &h, clock, ret, &d);
	ret->cpu = cpu;
	return 0;
}

/* The items as a record has them; what finds no room in one is an error, not left out. */
static int put_items(const EVENT_RECORD *e, uint8_t *out, uint32_t room, uint32_t *ret)
{
	uint32_t used = 0;
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		if (x->DataSize > UINT16_MAX - 16u || etl_item_total(x->DataSize) > room - used) {
			return -EMSGSIZE;
		}
		if (x->DataSize && !x->DataPtr) {
			return -EINVAL;
		}
		used += etl_put_item(out + used, x->ExtType, (const void *)(uintptr_t)x->DataPtr, x->DataSize,
				     i + 1 < e->ExtendedDataCount);
	}
	*ret = used;
	return 0;
}

/* The hook of an event of the kernel, which consumers see as a class and an opcode. 0: it is none, or has what a record of
 * the kernel has no place for. */
static uint16_t hook_of(const EVENT_HEADER *h)
{
	struct guid class;
	memcpy(class.b, &h->ProviderId, sizeof class.b);
	int group = h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER ? kernel_class_group(&class) : -ENOENT;
	const EVENT_DESCRIPTOR *d = &h->EventDescriptor;
	uint16_t hook = group < 0 ? 0 : (uint16_t)(group << 8 | d->Opcode);
	if (group == KERNEL_GROUP_IMAGE && d->Opcode == (uint8_t)KERNEL_HOOK_IMAGE_LOAD) {
		hook = KERNEL_HOOK_IMAGE_LOAD;
	}
	return hook && d->Level == 0 && guid_equal(kernel_class_guid(hook), &class) ? hook : 0;
}

static void put_kernel_head(const EVENT_HEADER *h, uint16_t hook, uint32_t bytes, uint8_t *out)
{
	const struct etl_hook_head f = {
		.type = h->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? ETL_RT_SYSTEM32 : ETL_RT_SYSTEM64,
		.version = h->EventDescriptor.Version,
		.hook = hook,
		.pid = h->ProcessId,
		.tid = h->ThreadId,
		.time = (uint64_t)h->TimeStamp.QuadPart,
		.kernel_time = h->KernelTime,
		.user_time = h->UserTime,
	};
	etl_hook_head_put(out, bytes, &f);
}

static void put_head(const EVENT_RECORD *e, uint16_t flags, uint32_t bytes, uint8_t *out)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const uint8_t *provider = (const uint8_t *)&h->ProviderId;
	bool narrow = h->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER;
	uint64_t time = (uint64_t)h->TimeStamp.QuadPart;
	if (h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) {
		const struct etl_full_head f = {
			.type = narrow ? ETL_RT_FULL32 : ETL_RT_FULL64,
			.opcode = h->EventDescriptor.Opcode,
			.level = h->EventDescriptor.Level,
			.version = h->EventDescriptor.Version,
			.pid = h->ProcessId,
			.tid = h->ThreadId,
			.time = time,
			.class = provider,
			.kernel_time = h->KernelTime,
			.user_time = h->UserTime,
		};
		etl_full_head_put(out, bytes, &f);
		return;
	}
	const struct etl_event_head f = etl_event_head_of(h->ProcessId, provider, 0);
	etl_event_head_put(out, &f, flags, bytes, h->ThreadId, time, &h->EventDescriptor,
			   (const uint8_t *)&h->ActivityId);
	out[ETL_EH_TYPE] = narrow ? ETL_RT_EVENT32 : ETL_RT_EVENT64;
	le16_put(out + ETL_EH_PROPERTY, h->EventProperty);
	le32_put(out + ETL_EH_KERNEL_TIME, h->KernelTime);
	le32_put(out + ETL_EH_USER_TIME, h->UserTime);
}

int ring_record_of(const openetw_event_record *e, const struct etl_clock *clock, uint8_t *scratch,
		   struct etl_record *ret)
{
	uint8_t *out = scratch + ETL_BUFFER_HEADER_SIZE;
	bool classic = e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
	uint16_t hook = hook_of(&e->EventHeader);
	uint32_t head = hook ? ETL_SYSTEM_HEADER_SIZE : classic ? ETL_FULL_HEADER_SIZE : ETL_EVENT_HEADER_SIZE;
	uint32_t items = 0, besides = 0;
	if ((e->ExtendedDataCount && !e->ExtendedData) || (e->UserDataLength && !e->UserData)) {
		return -EINVAL;
	}
	uint32_t most = classic ? head + e->UserDataLength : ETL_RECORD_MAX;
	if (most > ETL_RECORD_MAX) {
		return -EMSGSIZE;
	}
	/* A record of a class has no items: they stand behind it. */
	uint8_t *behind = out + BASE_ALIGN8(most);
	int err = classic ? put_items(e, behind, RING_ITEMS_MOST, &besides)
			  : put_items(e, out + head, ETL_RECORD_MAX - head, &items);
	if (err < 0) {
		return err;
	}
	uint32_t bytes = head + items + e->UserDataLength;
	if (bytes > ETL_RECORD_MAX) {
		return -EMSGSIZE;
	}
	uint16_t flags = (uint16_t)((items ? ETL_EF_EXTENDED_INFO : 0) |
				    (e->EventHeader.Flags & (ETL_EF_PRIVATE_SESSION | ETL_EF_STRING_ONLY)));
	if (hook) {
		put_kernel_head(&e->EventHeader, hook, bytes, out);
	} else {
		put_head(e, flags, bytes, out);
	}
	if (e->UserDataLength) {
		memcpy(out + head + items, e->UserData, e->UserDataLength);
	}
	uint16_t cpu = e->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX ? e->BufferContext.ProcessorIndex
										: e->BufferContext.ProcessorNumber;
	err = ring_record_split(scratch, bytes, cpu, clock, ret);
	if (err < 0) {
		return err;
	}
	ret->logger_id = e->BufferContext.LoggerId;
	if (besides) {
		ret->items = behind;
		ret->items_bytes = besides;
	}
	return 0;
}

/* ---- finding them ---------------------------------------------------------------------------------- */

int ring_view_record(const struct ring_view *v, uint64_t where, uint8_t *scratch, struct etl_record *ret)
{
	uint32_t number = (uint32_t)(where >> 32), at = (uint32_t)where, used;
	const uint8_t *raw;
	if (number == 0) {
		raw = v->ring->kept;
		used = v->kept_used;
	} else if (v->count && number - v->groups[0]->number < v->count) {
		raw = v->groups[number - v->groups[0]->number]->raw;
		used = v->raw_used[number - v->groups[0]->number];
	} else {
		return -ENOENT;
	}
	struct ring_prefix p;
	if (at > used || used - at < sizeof p) {
		return -ENOENT;
	}
	memcpy(&p, raw + at, sizeof p);
	uint32_t left = used - at - (uint32_t)sizeof p, bytes = p.bytes, items_bytes = 8u * p.items;
	if (BASE_ALIGN8(bytes) > left || items_bytes > BASE_MIN(left - BASE_ALIGN8(bytes), RING_ITEMS_MOST)) {
		return -ENOENT;
	}
	uint8_t *record = scratch + ETL_BUFFER_HEADER_SIZE, *items = record + BASE_ALIGN8(bytes);
	memcpy(record, raw + at + sizeof p, bytes);
	memcpy(items, raw + at + sizeof p + BASE_ALIGN8(bytes), items_bytes);
	int err = ring_record_split(scratch, bytes, p.cpu, &v->ring->b.clock, ret);
	if (err < 0) {
		return -ENOENT;
	}
	if (items_bytes) {
		ret->items = items;
		ret->items_bytes = items_bytes;
	}
	ret->logger_id = p.logger_id;
	ret->time_raw = p.time_raw; /* some records have none of their own */
	ret->time_filetime = etl_clock_to_filetime(&v->ring->b.clock, p.time_raw);
	return 0;
}

uint64_t ring_view_frequency(const struct ring_view *v)
{
	return v->ring->b.info.perf_freq;
}

uint64_t ring_view_bytes(const struct ring_view *v)
{
	return v->bytes;
}

const uint64_t *ring_view_kept(const struct ring_view *v, size_t *ret_count)
{
	*ret_count = v->saying_count;
	return v->sayings;
}

const struct etl_file_info *ring_view_info(const struct ring_view *v)
{
	return &v->ring->b.info;
}
