/* SPDX-License-Identifier: MIT */
#include "etl/etl_record.h"

#include "etw/values/event_header.h"
#include "etw/values/message_flags.h"

#include "format/etl_item.h"
#include "format/kernel_class.h"
#include "etw/values/guids.h"

enum family {
	FAMILY_NONE,
	FAMILY_KERNEL, /* system, compact, perfinfo */
	FAMILY_CLASSIC,
	FAMILY_EVENT,
	FAMILY_SKIP, /* well-formed, no event */
};

/* What the marker tells. Index: enum etl_record_type. */
static const struct kind {
	uint8_t header_bytes, size_at, time_at, family, pointer_size;
} kinds[] = {
	[ETL_RT_SYSTEM32] = {ETL_SYSTEM_HEADER_SIZE, 4, 0x10, FAMILY_KERNEL, 4},
	[ETL_RT_SYSTEM64] = {ETL_SYSTEM_HEADER_SIZE, 4, 0x10, FAMILY_KERNEL, 8},
	[ETL_RT_COMPACT32] = {ETL_COMPACT_HEADER_SIZE, 4, 0x10, FAMILY_KERNEL, 4},
	[ETL_RT_COMPACT64] = {ETL_COMPACT_HEADER_SIZE, 4, 0x10, FAMILY_KERNEL, 8},
	[ETL_RT_FULL32] = {ETL_FULL_HEADER_SIZE, 0, 0x10, FAMILY_CLASSIC, 4},
	[ETL_RT_FULL64] = {ETL_FULL_HEADER_SIZE, 0, 0x10, FAMILY_CLASSIC, 8},
	[ETL_RT_INSTANCE32] = {ETL_INSTANCE_HEADER_SIZE, 0, 0x10, FAMILY_CLASSIC, 4},
	[ETL_RT_INSTANCE64] = {ETL_INSTANCE_HEADER_SIZE, 0, 0x10, FAMILY_CLASSIC, 8},
	/* An event that was reserved but whose data could not be copied. */
	[ETL_RT_ERROR] = {8, 0, 0, FAMILY_SKIP, 8},
	[ETL_RT_PERFINFO32] = {ETL_PERFINFO_HEADER_SIZE, 4, 0x08, FAMILY_KERNEL, 4},
	[ETL_RT_PERFINFO64] = {ETL_PERFINFO_HEADER_SIZE, 4, 0x08, FAMILY_KERNEL, 8},
	[ETL_RT_EVENT32] = {ETL_EVENT_HEADER_SIZE, 0, 0x10, FAMILY_EVENT, 4},
	[ETL_RT_EVENT64] = {ETL_EVENT_HEADER_SIZE, 0, 0x10, FAMILY_EVENT, 8},
};

/* High byte of a kernel record's version [doc] */
#define VERSION_PEBS    0x8000u
#define VERSION_PMC(v)  (((v)&0x0700u) >> 8)
#define COUNTER_BYTES   8u
#define SMALLEST_RECORD 8u
#define PROCESSOR_MASK  0x07FFu

uint16_t etl_buffer_cpu(const uint8_t *buf)
{
	uint16_t v = le16_get(buf + ETL_BH_PROCESSOR);
	return le16_get(buf + ETL_BH_FLAG) & ETL_BF_PROC_INDEX ? v & PROCESSOR_MASK : v & 0xFF;
}

uint32_t etl_buffer_end(const uint8_t *buf, size_t n)
{
	uint32_t end = le32_get(buf + ETL_BH_OFFSET);
	return end < n ? end : (uint32_t)n;
}

/* Fixed and optional fields of a message; the cursor ends at the arguments. */
struct message {
	uint16_t number, flags;
	uint32_t sequence, component, tid, pid;
	uint64_t time_raw;
	const uint8_t *guid;
	struct bytes rest;
};

static bool message_parse(const uint8_t *p, uint32_t n, struct message *m)
{
	struct bytes b = bytes_of(p, n);
	memset(m, 0, sizeof *m);
	m->tid = m->pid = UINT32_MAX;
	bytes_u32(&b);
	m->number = bytes_u16(&b);
	m->flags = bytes_u16(&b);
	if (m->flags & TRACE_MESSAGE_SEQUENCE) {
		m->sequence = bytes_u32(&b);
	}
	if (m->flags & TRACE_MESSAGE_GUID) {
		m->guid = bytes_take(&b, 16);
	} else if (m->flags & TRACE_MESSAGE_COMPONENTID) {
		m->component = bytes_u32(&b);
	}
	if (m->flags & TRACE_MESSAGE_TIMESTAMP) {
		m->time_raw = bytes_u64(&b);
	}
	if (m->flags & TRACE_MESSAGE_SYSTEMINFO) {
		m->tid = bytes_u32(&b);
		m->pid = bytes_u32(&b);
	}
	m->rest = b;
	return !b.bad;
}

int etl_record_peek(const uint8_t *buf, uint32_t end, uint32_t at, struct etl_record_head *ret, struct diag *d)
{
	/* An end that is no multiple of 8 leaves a few pad bytes. */
	while (at < end && end - at >= SMALLEST_RECORD) {
		const uint8_t *p = buf + at;
		uint32_t marker = le32_get(p);
		uint32_t left = end - at;
		if (BASE_LIKELY(marker >> 30 == 3 && marker != ETL_FILLER)) {
			uint8_t type = (uint8_t)(marker >> 16);
			const struct kind *k = type < BASE_ARRAY_LEN(kinds) ? &kinds[type] : &kinds[0];
			if (BASE_UNLIKELY(k->family == FAMILY_NONE)) {
				diag_at(d, at, "record of unknown type 0x%02x", type);
				return -EBADMSG;
			}
			uint32_t n = le16_get(p + k->size_at);
			if (BASE_UNLIKELY(n < k->header_bytes || n > left)) {
				diag_at(d, at, "record of type 0x%02x claims %u bytes, %u are left", type, n, left);
				return -EBADMSG;
			}
			if (BASE_UNLIKELY(k->family == FAMILY_SKIP)) {
				at += BASE_ALIGN8(n);
				continue;
			}
			ret->at = at;
			ret->bytes = n;
			ret->type = type;
			ret->timed = true;
			ret->time_raw = le64_get(p + k->time_at);
			return 1;
		}
		if (marker == ETL_FILLER) {
			return 0;
		}
		uint32_t n = marker & 0xFFFF;
		uint8_t top = (uint8_t)(marker >> 24);
		if (top != ETL_MARK_MESSAGE && top != ETL_MARK_TIMED_32) {
			diag_at(d, at, "no record here: 0x%08x", marker);
			return -EBADMSG;
		}
		if (n < SMALLEST_RECORD || n > left) {
			diag_at(d, at, "message claims %u bytes, %u are left", n, left);
			return -EBADMSG;
		}
		if (top == ETL_MARK_TIMED_32) {
			at += BASE_ALIGN8(n);
			continue;
		}
		struct message m;
		if (!message_parse(p, n, &m)) {
			diag_at(d, at, "message of %u bytes is too short for its fields (flags 0x%04x)", n, m.flags);
			return -EBADMSG;
		}
		ret->at = at;
		ret->bytes = n;
		ret->type = ETL_RT_MESSAGE;
		ret->timed = (m.flags & TRACE_MESSAGE_TIMESTAMP) != 0;
		ret->time_raw = m.time_raw;
		return 1;
	}
	return 0;
}

bool etl_record_first_time(const uint8_t *records, size_t n, uint64_t *ret)
{
	for (size_t at = 0; n - at >= SMALLEST_RECORD;) {
		const uint8_t *p = records + at;
		size_t left = n - at;
		uint32_t marker = le32_get(p);
		uint32_t bytes = marker & 0xFFFF;
		if (marker >> 30 == 3 && marker != ETL_FILLER) {
			uint8_t type = (uint8_t)(marker >> 16);
			if (type >= BASE_ARRAY_LEN(kinds) || kinds[type].family == FAMILY_NONE) {
				return false;
			}
			const struct kind *k = &kinds[type];
			if (k->family != FAMILY_SKIP) {
				if (left < k->time_at + 8u) {
					return false;
				}
				*ret = le64_get(p + k->time_at);
				return true;
			}
			bytes = le16_get(p + k->size_at);
		} else {
			/* The fields of a message stand first, so a message cut short will do. */
			struct message m;
			if (marker >> 24 == ETL_MARK_MESSAGE && bytes >= SMALLEST_RECORD &&
			    message_parse(p, (uint32_t)BASE_MIN(left, bytes), &m) &&
			    (m.flags & TRACE_MESSAGE_TIMESTAMP)) {
				*ret = m.time_raw;
				return true;
			}
			if (marker >> 24 != ETL_MARK_MESSAGE && marker >> 24 != ETL_MARK_TIMED_32) {
				return false;
			}
		}
		if (bytes < SMALLEST_RECORD || BASE_ALIGN8((size_t)bytes) >= left) {
			return false;
		}
		at += BASE_ALIGN8((size_t)bytes);
	}
	return false;
}

static void split_message(const uint8_t *p, uint32_t n, struct etl_record *r)
{
	struct message m;
	message_parse(p, n, &m);
	r->pointer_size = m.flags & TRACE_MESSAGE_POINTER32 ? 4 : 8;
	r->event_flags |= EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_CLASSIC_HEADER |
			  (r->pointer_size == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER);
	r->id = m.number;
	r->message_flags = m.flags;
	r->sequence = m.sequence;
	r->tid = m.tid;
	r->pid = m.pid;
	if (m.guid) {
		memcpy(&r->provider, m.guid, sizeof r->provider);
	} else {
		le32_put(r->provider.b, m.component);
	}
	r->payload = m.rest.p;
	r->payload_bytes = (uint32_t)bytes_left(&m.rest);
}

static void split_kernel(const uint8_t *p, uint32_t n, const struct kind *k, struct etl_record *r)
{
	uint16_t version = le16_get(p + ETL_HH_VERSION);
	uint32_t attached = VERSION_PMC(version) + (version & VERSION_PEBS ? 1 : 0);
	uint32_t at = k->header_bytes;
	r->version = (uint8_t)version;
	r->opcode = p[ETL_HH_HOOK];
	r->hook = le16_get(p + ETL_HH_HOOK);
	r->provider = *kernel_class_guid(r->hook);
	r->event_flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	if (k->header_bytes == ETL_PERFINFO_HEADER_SIZE) {
		r->tid = r->pid = UINT32_MAX;
		r->event_flags |= EVENT_HEADER_FLAG_NO_CPUTIME;
	} else {
		r->tid = le32_get(p + ETL_HH_TID);
		r->pid = le32_get(p + ETL_HH_PID);
		if (k->header_bytes == ETL_SYSTEM_HEADER_SIZE) {
			r->kernel_time = le32_get(p + ETL_HH_KERNEL_TIME);
			r->user_time = le32_get(p + ETL_HH_USER_TIME);
		} else {
			r->event_flags |= EVENT_HEADER_FLAG_NO_CPUTIME;
		}
	}
	if (BASE_UNLIKELY(attached != 0) && attached * COUNTER_BYTES <= n - at) {
		r->counters = p + at;
		r->counters_count = (uint8_t)attached;
		r->counters_pebs = (version & VERSION_PEBS) != 0;
		at += attached * COUNTER_BYTES;
	}
	r->payload = p + at;
	r->payload_bytes = n - at;
}

static void split_classic(const uint8_t *p, uint32_t n, const struct kind *k, struct etl_record *r)
{
	r->opcode = p[ETL_FH_OPCODE];
	r->level = p[ETL_FH_LEVEL];
	/* Consumers see a byte: EVENT_DESCRIPTOR.Version. */
	r->version = p[ETL_FH_VERSION];
	r->tid = le32_get(p + ETL_FH_TID);
	r->pid = le32_get(p + ETL_FH_PID);
	memcpy(&r->provider, p + ETL_FH_CLASS, 16);
	r->kernel_time = le32_get(p + ETL_FH_KERNEL_TIME);
	r->user_time = le32_get(p + ETL_FH_USER_TIME);
	r->event_flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	if (k->header_bytes == ETL_INSTANCE_HEADER_SIZE) {
		r->instance_id = le32_get(p + ETL_FH_INSTANCE);
		r->parent_instance_id = le32_get(p + ETL_FH_INSTANCE + 4);
		memcpy(&r->parent_guid, p + ETL_FH_INSTANCE + 8, 16);
	}
	r->payload = p + k->header_bytes;
	r->payload_bytes = n - k->header_bytes;
}

/* Bytes of the extended items, which end where Linkage does; 0 when the chain is broken. */
static uint32_t split_items(const uint8_t *items, uint32_t n)
{
	uint32_t at = 0, linked = 1;
	while (linked) {
		uint32_t here = at;
		uint16_t type, bytes;
		const uint8_t *data;
		if (!etl_item_next(items, n, &at, &type, &data, &bytes)) {
			return 0;
		}
		linked = le16_get(items + here + 4) & 1;
	}
	return at;
}

static void split_event(const uint8_t *p, uint32_t n, struct etl_record *r, struct diag *d)
{
	uint16_t flags = le16_get(p + ETL_EH_FLAGS);
	r->event_flags |= flags;
	r->event_property = le16_get(p + ETL_EH_PROPERTY);
	r->tid = le32_get(p + ETL_EH_TID);
	r->pid = le32_get(p + ETL_EH_PID);
	memcpy(&r->provider, p + ETL_EH_PROVIDER, 16);
	const uint8_t *e = p + ETL_EH_DESCRIPTOR;
	r->id = le16_get(e);
	r->version = e[2];
	r->channel = e[3];
	r->level = e[4];
	r->opcode = e[5];
	r->task = le16_get(e + 6);
	r->keyword = le64_get(e + 8);
	r->kernel_time = le32_get(p + ETL_EH_KERNEL_TIME);
	r->user_time = le32_get(p + ETL_EH_USER_TIME);
	memcpy(&r->activity, p + ETL_EH_ACTIVITY, 16);
	uint32_t at = ETL_EH_END;
	if (flags & ETL_EF_EXTENDED_INFO) {
		uint32_t good = split_items(p + at, n - at);
		r->items = good ? p + at : NULL;
		r->items_bytes = good;
		at += good;
		if (good == 0) {
			/* Nobody knows where the user data starts. */
			diag_at(d, r->buffer_offset, "extended items of the event are damaged");
			at = n;
		}
	}
	r->payload = p + at;
	r->payload_bytes = n - at;
}

void etl_record_split(const uint8_t *buf, const struct etl_record_head *h, const struct etl_clock *clock,
		      struct etl_record *ret, struct diag *d)
{
	const uint8_t *p = buf + h->at;
	*ret = (struct etl_record){
		.raw = p,
		.raw_bytes = h->bytes,
		.type = h->type,
		.logger_id = le16_get(buf + ETL_BH_LOGGER_ID),
		.time_raw = h->time_raw,
		.time_filetime = etl_clock_to_filetime(clock, h->time_raw),
		.buffer_offset = h->at,
	};
	uint16_t cpu = le16_get(buf + ETL_BH_PROCESSOR);
	if (le16_get(buf + ETL_BH_FLAG) & ETL_BF_PROC_INDEX) {
		ret->cpu = cpu & PROCESSOR_MASK;
		ret->event_flags = EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	} else {
		ret->cpu = cpu & 0xFF;
	}
	if (h->type == ETL_RT_MESSAGE) {
		split_message(p, h->bytes, ret);
		return;
	}
	const struct kind *k = &kinds[h->type];
	ret->pointer_size = k->pointer_size;
	ret->event_flags |= k->pointer_size == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER;
	switch (k->family) {
	case FAMILY_EVENT: split_event(p, h->bytes, ret, d); break;
	case FAMILY_CLASSIC: split_classic(p, h->bytes, k, ret); break;
	default: split_kernel(p, h->bytes, k, ret); break;
	}
}

void etl_record_loss(enum etl_loss what, uint64_t time_raw, const struct etl_clock *clock, struct etl_record *ret)
{
	static const struct guid lost_class = GUID_INIT(ETW_GUID_CLASS_LOST_EVENT);
	*ret = (struct etl_record){
		.type = ETL_RT_FULL64,
		.pointer_size = 8,
		.time_raw = time_raw,
		.time_filetime = etl_clock_to_filetime(clock, time_raw),
		.event_flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER,
		.provider = lost_class,
		.opcode = (uint8_t)what,
	};
}

int etl_buffer_next(const uint8_t *buf, size_t n, uint32_t *at, const struct etl_clock *clock, struct etl_record *ret,
		    struct diag *d)
{
	if (n < ETL_BUFFER_HEADER_SIZE) {
		diag_at(d, 0, "buffer of %zu bytes is shorter than its header", n);
		return -EBADMSG;
	}
	struct etl_record_head h;
	uint32_t from = *at < ETL_BUFFER_HEADER_SIZE ? ETL_BUFFER_HEADER_SIZE : *at;
	int r = etl_record_peek(buf, etl_buffer_end(buf, n), from, &h, d);
	if (r <= 0) {
		return r;
	}
	etl_record_split(buf, &h, clock, ret, NULL);
	*at = etl_record_after(&h);
	return 1;
}
