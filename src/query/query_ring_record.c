/* SPDX-License-Identifier: MIT
 *
 * Records of a ring: how an event becomes one, and how one is found again.
 */
#include "query/query_ring_state.h"

#include "etl/etl_record.h"
#include "format/etl_head.h"
#include "format/etl_item.h"

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
	uint32_t head = classic ? ETL_FULL_HEADER_SIZE : ETL_EVENT_HEADER_SIZE, items = 0;
	if ((e->ExtendedDataCount && !e->ExtendedData) || (e->UserDataLength && !e->UserData)) {
		return -EINVAL;
	}
	/* A record of a class has no items. */
	int err = classic ? 0 : put_items(e, out + head, ETL_RECORD_MAX - head, &items);
	if (err < 0) {
		return err;
	}
	uint32_t bytes = head + items + e->UserDataLength;
	if (bytes > ETL_RECORD_MAX) {
		return -EMSGSIZE;
	}
	uint16_t flags = (uint16_t)((items ? ETL_EF_EXTENDED_INFO : 0) |
				    (e->EventHeader.Flags & (ETL_EF_PRIVATE_SESSION | ETL_EF_STRING_ONLY)));
	put_head(e, flags, bytes, out);
	if (e->UserDataLength) {
		memcpy(out + head + items, e->UserData, e->UserDataLength);
	}
	uint16_t cpu = e->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX ? e->BufferContext.ProcessorIndex
										: e->BufferContext.ProcessorNumber;
	err = ring_record_split(scratch, bytes, cpu, clock, ret);
	ret->logger_id = e->BufferContext.LoggerId;
	return err;
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
	if (p.bytes > used - at - sizeof p || p.bytes > 65536) {
		return -ENOENT;
	}
	memcpy(scratch + ETL_BUFFER_HEADER_SIZE, raw + at + sizeof p, p.bytes);
	int err = ring_record_split(scratch, p.bytes, p.cpu, &v->ring->b.clock, ret);
	if (err < 0) {
		return -ENOENT;
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
