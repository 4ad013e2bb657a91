/* SPDX-License-Identifier: MIT
 *
 * A pool event becomes the record each session wants of it, built in the session's buffer. Layouts:
 * docs/etl.md, and for classic kinds pool_abi.h says what their payload begins with.
 */
#include "inproc/inproc_private.h"
#include "base/file.h"

#include "etl/etl_reader.h"
#include "etw/values/enable_properties.h"
#include "etw/values/session_modes.h"

#include <fcntl.h>
#include <stdlib.h>

#define CLASSIC_PREFIX_BYTES  16u /* class GUID */
#define INSTANCE_PREFIX_BYTES 40u /* class GUID, id, parent id, parent class GUID */
#define MESSAGE_SEQUENCE      0x0001u
#define MESSAGE_GUID          0x0002u
#define MESSAGE_COMPONENT     0x0004u
#define MESSAGE_TIMESTAMP     0x0008u

uint64_t inproc_session_time(const struct inproc_session *s, uint64_t ts)
{
	if (s->options.props.clock != 2) {
		return ts;
	}
	uint64_t freq = clock_frequency();
	return ts >= s->start_raw ? s->start_filetime + clock_muldiv(ts - s->start_raw, 10000000, freq)
				  : s->start_filetime - clock_muldiv(s->start_raw - ts, 10000000, freq);
}

/* Filled from `bytes` on to the next multiple of 8 with zeros. */
static uint8_t *reserve(struct inproc_session *s, const struct pool_rec *rec, uint64_t time, uint32_t bytes)
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

static void put_start(uint8_t *p, uint32_t bytes, uint8_t type, const struct pool_rec *rec, uint64_t time)
{
	le16_put(p, (uint16_t)bytes);
	p[2] = type;
	p[3] = 0xC0;
	le32_put(p + ETL_EH_TID, rec->tid);
	le32_put(p + ETL_EH_PID, inproc.pid);
	le64_put(p + ETL_EH_TIME, time);
}

/* ---- extended items ----------------------------------------------------------------------------
 */

#define ITEMS_MAX 24u

struct item {
	const uint8_t *data;
	uint16_t type, bytes;
	uint8_t rank;
};
struct items {
	struct item item[ITEMS_MAX];
	uint32_t count;
	uint32_t bytes; /* on disk */
};

static void item_add(struct items *to, uint16_t type, const void *data, uint32_t bytes)
{
	if (to->count == ITEMS_MAX || bytes > UINT16_MAX - 16) {
		return;
	}
	uint8_t rank = etl_item_rank(type);
	uint32_t at = to->count++;
	while (at > 0 && to->item[at - 1].rank > rank) {
		to->item[at] = to->item[at - 1];
		at--;
	}
	to->item[at] = (struct item){data, type, (uint16_t)bytes, rank};
	to->bytes += etl_item_total((uint16_t)bytes);
}

/* Those of the record, the registration's traits, and what the session asked for. */
static void items_of(struct items *to, const struct pool_event *ev, const struct inproc_registration *reg,
		     uint32_t wants)
{
	bool has_traits = false;
	uint32_t next = 0;
	uint16_t type, size;
	const uint8_t *data;
	to->count = to->bytes = 0;
	while (etl_item_next(ev->items, ev->items_bytes, &next, &type, &data, &size)) {
		has_traits |= type == ETL_ITEM_PROV_TRAITS;
		if (!etl_item_is_stack(type) || (wants & EVENT_ENABLE_PROPERTY_STACK_TRACE)) {
			item_add(to, type, data, size);
		}
	}
	if (reg->traits && !has_traits) {
		item_add(to, ETL_ITEM_PROV_TRAITS, reg->traits, reg->traits_bytes);
	}
	if (wants & EVENT_ENABLE_PROPERTY_SID) {
		item_add(to, ETL_ITEM_SID, inproc.sid, sizeof inproc.sid);
	}
	if (wants & EVENT_ENABLE_PROPERTY_TS_ID) {
		item_add(to, ETL_ITEM_TS_ID, &inproc.terminal_session, 4);
	}
	if (wants & EVENT_ENABLE_PROPERTY_EVENT_KEY) {
		item_add(to, ETL_ITEM_EVENT_KEY, &inproc.event_key, 8);
	}
	if (wants & EVENT_ENABLE_PROPERTY_PROCESS_START_KEY) {
		item_add(to, ETL_ITEM_PROCESS_START_KEY, &inproc.start_key, 8);
	}
}

static uint8_t *put_items(uint8_t *out, const struct items *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct item *it = &from->item[i];
		out += etl_put_item(out, it->type, it->data, it->bytes, i + 1 < from->count);
	}
	return out;
}

/* The same values as etwd's, which are explained there (etwd_process.c, etwd_route.c). */
void inproc_learn_identity(void)
{
	static const uint8_t unix_user[12] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0};
	char buf[1024];
	memcpy(inproc.sid, unix_user, sizeof unix_user);
	le32_put(inproc.sid + 12, (uint32_t)getuid());
	uint64_t ticks = 0;
	if (file_read_start("/proc/self/stat", buf, sizeof buf) > 0) {
		char *p = strrchr(buf, ')');
		for (int field = 2; p && field < 22; field++) {
			p = strchr(p + 1, ' ');
		}
		ticks = p ? strtoull(p + 1, NULL, 10) : 0;
	}
	inproc.start_key = ticks << 22 | (inproc.pid & 0x3FFFFF);
	inproc.terminal_session = 0;
	if (file_read_start("/proc/self/sessionid", buf, sizeof buf) > 0) {
		uint32_t id = (uint32_t)strtoul(buf, NULL, 10);
		inproc.terminal_session = id == UINT32_MAX ? 0 : id;
	}
}

/* ---- records -----------------------------------------------------------------------------------
 */

static bool has_stack(const struct items *items)
{
	for (uint32_t i = 0; i < items->count; i++) {
		if (etl_item_is_stack(items->item[i].type)) {
			return true;
		}
	}
	return false;
}

static void record_event(struct inproc_session *s, const struct pool_event *ev, const struct inproc_registration *reg,
			 uint32_t wants)
{
	const struct pool_rec *rec = ev->rec;
	uint64_t time = inproc_session_time(s, rec->ts);
	struct items items;
	items_of(&items, ev, reg, wants);
	if (BASE_UNLIKELY(wants & EVENT_ENABLE_PROPERTY_STACK_TRACE) && has_stack(&items)) {
		inproc.images = inproc.images ? inproc.images : inproc_images_changes();
		if (s->images != inproc.images) {
			bool ring = (s->options.props.mode & EVENT_TRACE_BUFFERING_MODE) !=
				    0; /* explained when it is copied */
			s->images = ring ? inproc.images : inproc_images_say(s, time, false);
		}
	}
	uint32_t bytes = ETL_EVENT_HEADER_SIZE + items.bytes + ev->payload_bytes;
	uint8_t *p = reserve(s, rec, time, bytes);
	if (!p) {
		return;
	}
	put_start(p, bytes, ETL_RT_EVENT64, rec, time);
	le16_put(p + ETL_EH_FLAGS, (uint16_t)(ETL_EF_PRIVATE_SESSION | (items.count ? ETL_EF_EXTENDED_INFO : 0) |
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
	uint8_t *at = put_items(p + ETL_EVENT_HEADER_SIZE, &items);
	memcpy(at, ev->payload, ev->payload_bytes);
}
_Static_assert(sizeof(struct pool_rec) - offsetof(struct pool_rec, id) == 16, "the descriptor can be copied as it is");

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
	uint64_t time = inproc_session_time(s, rec->ts);
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
	uint64_t time = inproc_session_time(s, rec->ts);
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

static struct filter_facts facts_of(const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	struct filter_facts f = {
		.id = rec->id,
		.version = rec->version,
		.level = rec->level,
		.string_only = rec->flags & POOL_REC_STRING_ONLY,
		.keyword = rec->keyword,
		.payload = ev->payload,
		.payload_bytes = ev->payload_bytes,
	};
	uint32_t next = 0;
	uint16_t type, size;
	const uint8_t *data;
	while (!f.schema && etl_item_next(ev->items, ev->items_bytes, &next, &type, &data, &size)) {
		if (type == ETL_ITEM_EVENT_SCHEMA_TL) {
			f.schema = data;
			f.schema_bytes = size;
		}
	}
	return f;
}

/* Does the session want it still? The writer's mask only pre-selects: it may have been decided
 * under a table that has changed since. The enable that wants it, or NULL. */
static const struct inproc_enable *wanted(const struct inproc_session *s, const struct guid *provider,
					  const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	for (uint32_t i = 0; i < s->enable_count; i++) {
		const struct filter_row *row = &s->enable[i].row;
		if (!guid_equal(&s->enable[i].provider, provider)) {
			continue;
		}
		if ((rec->flags & POOL_REC_INPRIVATE) && (row->props & FILTER_ROW_EXCLUDE_INPRIVATE)) {
			return NULL;
		}
		/* Classic events and messages carry neither level nor keyword to go by. */
		if (rec->kind != POOL_REC_EVENT) {
			return &s->enable[i];
		}
		if (!row_matches(row, rec->level, rec->keyword)) {
			return NULL;
		}
		const struct inproc_chosen *c = s->enable[i].chosen;
		if (c && c->select.filtered) {
			struct filter_facts f = facts_of(ev);
			return filter_select_event(&c->select, &f) ? &s->enable[i] : NULL;
		}
		return &s->enable[i];
	}
	return NULL;
}

void inproc_record(void *ctx, const struct pool_event *ev)
{
	const struct pool_rec *rec = ev->rec;
	if (rec->prov >= INPROC_REGISTRATIONS || !inproc.registration[rec->prov].used) {
		return;
	}
	const struct inproc_registration *reg = &inproc.registration[rec->prov];
	inproc.event_key++; /* the same in every session that gets it */
	for (uint32_t i = 0; i < INPROC_SESSIONS; i++) {
		struct inproc_session *s = &inproc.session[i];
		const struct inproc_enable *e = (rec->mask >> i & 1) && s->sink ? wanted(s, &reg->provider, ev) : NULL;
		if (!e) {
			continue;
		}
		switch (rec->kind) {
		case POOL_REC_EVENT: {
			uint32_t wants = e->properties;
			if (e->chosen && e->chosen->select.stack_filtered &&
			    (wants & EVENT_ENABLE_PROPERTY_STACK_TRACE)) {
				struct filter_facts f = facts_of(ev);
				bool stack = filter_select_stack(&e->chosen->select, &f);
				wants &= stack ? UINT32_MAX : ~(uint32_t)EVENT_ENABLE_PROPERTY_STACK_TRACE;
			}
			record_event(s, ev, reg, wants);
			break;
		}
		case POOL_REC_CLASSIC:
		case POOL_REC_INSTANCE: record_classic(s, ev); break;
		case POOL_REC_MESSAGE: record_message(s, ev); break;
		default: break;
		}
	}
}
