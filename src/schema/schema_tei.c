/* SPDX-License-Identifier: MIT
 *
 * TRACE_EVENT_INFO blocks: read (merged files carry them as EventMetadata records) and written (for
 * TdhGetEventInformation). Offsets [doc], checked against blocks in real merged files.
 *
 *   0x00 provider guid   0x34 provider name   0x48 opcode name         0x5C event name
 *   0x10 event guid      0x38 level name      0x4C event message       0x60 attributes
 *   0x20 descriptor      0x3C channel name    0x50 provider message    0x64 property count
 *   0x30 decoding source 0x40 keywords        0x54 binary xml offset   0x68 top-level count
 *                        0x44 task name       0x58 binary xml size     0x6C flags
 *   0x70 properties, 24 bytes each:
 *        0 flags  4 name  8 in type | first member  10 out type | member count
 *        12 map name | custom schema  16 count  18 length  20 tags
 */
#include "schema/schema_build.h"

#include <stdlib.h>

enum tei {
	TEI_PROVIDER = 0x00,
	TEI_EVENT_GUID = 0x10,
	TEI_DESCRIPTOR = 0x20,
	TEI_SOURCE = 0x30,
	TEI_PROVIDER_NAME = 0x34,
	TEI_LEVEL_NAME = 0x38,
	TEI_CHANNEL_NAME = 0x3C,
	TEI_KEYWORDS = 0x40,
	TEI_TASK_NAME = 0x44,
	TEI_OPCODE_NAME = 0x48,
	TEI_MESSAGE = 0x4C,
	TEI_PROVIDER_MESSAGE = 0x50,
	TEI_BINARY_XML = 0x54,
	TEI_BINARY_XML_BYTES = 0x58,
	TEI_EVENT_NAME = 0x5C,
	TEI_ATTRIBUTES = 0x60,
	TEI_PROPERTY_COUNT = 0x64,
	TEI_TOP_COUNT = 0x68,
	TEI_FLAGS = 0x6C,
	TEI_PROPERTIES = 0x70,
	TEI_PROPERTY_BYTES = 24,
	TEI_LEAST_BYTES = 136, /* sizeof(TRACE_EVENT_INFO): has one property */
};

/* ---- reading
 * -------------------------------------------------------------------------------------- */

struct block {
	const uint8_t *p;
	size_t n;
	struct schema_build *b;
	bool bad;
};

static struct schema_str block_text(struct block *k, uint32_t offset)
{
	if (offset == 0) {
		return (struct schema_str){0, 0};
	}
	size_t units = 0;
	if (offset >= k->n) {
		k->bad = true;
		return (struct schema_str){0, 0};
	}
	struct bytes in = bytes_of(k->p + offset, k->n - offset);
	const uint8_t *s = bytes_wsz(&in, &units);
	if (!s) {
		k->bad = true;
		return (struct schema_str){0, 0};
	}
	while (units > 0 && le16_get(s + 2 * (units - 1)) == ' ') {
		units--; /* the message compiler ends names with a space */
	}
	return schema_build_utf16(k->b, s, units);
}

/* A count or length may only come from an integer that is read before. */
static bool refer(struct schema_build *b, uint32_t self, uint16_t to)
{
	if (to >= self) {
		return false;
	}
	b->fields[to].captured = true;
	return true;
}

/* Does a text begin there and end inside the block? A list of texts ends with an empty one. */
static bool text_ends_inside(const uint8_t *p, size_t n, uint32_t offset, bool list)
{
	struct bytes in = bytes_at(p, n, offset);
	size_t units = 0;
	const uint8_t *s = bytes_wsz(&in, &units);
	while (s && list && units > 0) {
		s = bytes_wsz(&in, &units);
	}
	return s != NULL;
}

/* Callers of TDH get the block as it is and follow every offset in it. This loader refuses a block whose
 * offsets it reads itself and cannot follow. It clears those that it does not read. */
static void clear_bad_offsets(uint8_t *p, size_t n)
{
	static const struct {
		uint8_t at;
		bool list, classic_only;
	} unread[] = {{TEI_KEYWORDS, true, false},
		      {TEI_PROVIDER_MESSAGE, false, false},
		      {TEI_EVENT_NAME, false, true}, /* names the property with the activity there */
		      {TEI_ATTRIBUTES, false, false}};
	bool classic = (le32_get(p + TEI_SOURCE) & 3) == SCHEMA_SOURCE_WBEM;
	for (size_t i = 0; i < BASE_ARRAY_LEN(unread); i++) {
		uint32_t offset = le32_get(p + unread[i].at);
		if ((classic || !unread[i].classic_only) && offset != 0 &&
		    !text_ends_inside(p, n, offset, unread[i].list)) {
			le32_put(p + unread[i].at, 0);
		}
	}
	uint32_t xml = le32_get(p + TEI_BINARY_XML);
	if (xml > n || le32_get(p + TEI_BINARY_XML_BYTES) > n - xml) {
		le32_put(p + TEI_BINARY_XML, 0);
		le32_put(p + TEI_BINARY_XML_BYTES, 0);
	}
}

/* Names one behind the other, an empty one at the end. */
static struct schema_str block_names(struct block *k, uint32_t offset)
{
	struct openetw_text t = {0};
	struct schema_str all = {0, 0};
	if (offset == 0) {
		return all;
	}
	struct bytes in = bytes_of(k->p + offset, k->n - offset);
	size_t units = 0;
	const uint8_t *s;
	while ((s = bytes_wsz(&in, &units)) != NULL && units > 0) {
		while (units > 0 && le16_get(s + 2 * (units - 1)) == ' ') {
			units--;
		}
		out_utf16(&t, s, units, false);
		out_add(&t, "", 1);
	}
	if (t.failed) {
		k->b->failed = true;
	} else if (t.length) {
		all = schema_build_bytes(k->b, t.data, t.length);
	}
	openetw_text_free(&t);
	return all;
}

static bool read_custom(struct block *k, struct schema_field *f, uint32_t offset)
{
	if (offset == 0) {
		return true;
	}
	if (offset > k->n || k->n - offset < 4) {
		return false;
	}
	uint16_t bytes = le16_get(k->p + offset + 2);
	if (k->n - offset - 4 < bytes) {
		return false;
	}
	f->custom_protocol = le16_get(k->p + offset);
	f->custom = schema_build_bytes(k->b, k->p + offset + 4, bytes);
	return true;
}

static bool read_property(struct block *k, uint32_t index, uint32_t total)
{
	const uint8_t *q = k->p + TEI_PROPERTIES + (size_t)index * TEI_PROPERTY_BYTES;
	struct schema_field *f = schema_build_field(k->b);
	if (!f) {
		return false;
	}
	f->flags = le32_get(q);
	f->count = le16_get(q + 16);
	f->length = le16_get(q + 18);
	f->tags = le32_get(q + 20) & 0x0FFFFFFF;
	if ((f->flags & PropertyStruct) && (f->flags & PropertyHasCustomSchema)) {
		return false; /* the same bytes would mean two things */
	}
	if (f->flags & PropertyStruct) {
		f->first_member = le16_get(q + 8);
		f->member_count = le16_get(q + 10);
		/* after itself: no cycle can be built */
		if (f->first_member <= index || (uint32_t)f->first_member + f->member_count > total) {
			return false;
		}
		f->length = 0;
		f->flags &= ~(uint32_t)PropertyParamLength;
	} else {
		f->in_type = le16_get(q + 8);
		f->out_type = le16_get(q + 10);
		if (f->flags & PropertyHasCustomSchema) {
			if (!read_custom(k, f, le32_get(q + 12))) {
				return false;
			}
		} else {
			f->map = block_text(k, le32_get(q + 12));
		}
	}
	if ((f->flags & PropertyParamCount) && !refer(k->b, index, f->count)) {
		return false;
	}
	if ((f->flags & PropertyParamLength) && !refer(k->b, index, f->length)) {
		return false;
	}
	if (f->in_type != TDH_INTYPE_UNICODESTRING && f->in_type != TDH_INTYPE_ANSISTRING &&
	    f->in_type != TDH_INTYPE_BINARY && !(f->flags & PropertyParamLength)) {
		f->length = 0; /* only says what the type says */
	}
	schema_build_name(k->b, f, block_text(k, le32_get(q + 4)), NULL);
	return !k->bad && !k->b->failed;
}

static int read_block(struct block *k, struct schema_build *b, struct diag *d)
{
	struct schema_event *e = &b->head;
	uint32_t total = le32_get(k->p + TEI_PROPERTY_COUNT);
	uint32_t top = le32_get(k->p + TEI_TOP_COUNT);
	if (total > SCHEMA_FIELDS_MAX || top > total || (k->n - TEI_PROPERTIES) / TEI_PROPERTY_BYTES < total) {
		diag_at(d, TEI_PROPERTY_COUNT, "%u properties do not fit", total);
		return -EBADMSG;
	}
	memcpy(e->provider.b, k->p + TEI_PROVIDER, 16);
	memcpy(e->event_guid.b, k->p + TEI_EVENT_GUID, 16);
	memcpy(e->descriptor, k->p + TEI_DESCRIPTOR, 16);
	e->source = (enum schema_source)(le32_get(k->p + TEI_SOURCE) & 3);
	e->flags = le32_get(k->p + TEI_FLAGS);
	e->top_count = top;
	e->provider_name = block_text(k, le32_get(k->p + TEI_PROVIDER_NAME));
	e->task_name = block_text(k, le32_get(k->p + TEI_TASK_NAME));
	e->opcode_name = block_text(k, le32_get(k->p + TEI_OPCODE_NAME));
	e->message = block_text(k, le32_get(k->p + TEI_MESSAGE));
	e->level_name = block_text(k, le32_get(k->p + TEI_LEVEL_NAME));
	e->channel_name = block_text(k, le32_get(k->p + TEI_CHANNEL_NAME));
	e->keywords = block_names(k, le32_get(k->p + TEI_KEYWORDS));
	if (e->source != SCHEMA_SOURCE_WBEM) { /* there the slot names an activity property */
		e->event_name = block_text(k, le32_get(k->p + TEI_EVENT_NAME));
	}
	for (uint32_t i = 0; i < total && !k->bad; i++) {
		if (!read_property(k, i, total)) {
			if (b->failed) {
				return -ENOMEM;
			}
			diag_at(d, TEI_PROPERTIES + (uint64_t)i * TEI_PROPERTY_BYTES, "property %u is malformed", i);
			return -EBADMSG;
		}
	}
	if (k->bad) {
		diag_at(d, 0, "a string lies outside the block");
		return -EBADMSG;
	}
	return 0;
}

int schema_load_tei(const void *p, size_t n, struct schema_event **ret, struct diag *d)
{
	if (n < TEI_PROPERTIES || n > UINT16_MAX) {
		diag_at(d, 0, "%zu bytes are no event information", n);
		return -EBADMSG;
	}
	uint8_t *copy = malloc(n);
	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, p, n);
	clear_bad_offsets(copy, n);
	struct schema_build b;
	schema_build_init(&b);
	struct block k = {copy, n, &b, false};
	int err = read_block(&k, &b, d);
	if (err == 0) {
		err = schema_build_seal(&b, copy, n, ret);
	}
	schema_build_finish(&b);
	free(copy);
	return err;
}

/* ---- writing
 * -------------------------------------------------------------------------------------- */

struct writer {
	struct openetw_text *o;
	size_t start;
};

static uint32_t writer_here(const struct writer *w)
{
	return (uint32_t)(w->o->length - w->start);
}

static void writer_u16(struct writer *w, size_t at, uint16_t v)
{
	if (!w->o->failed) {
		le16_put(w->o->data + w->start + at, v);
	}
}

static void writer_u32(struct writer *w, size_t at, uint32_t v)
{
	if (!w->o->failed) {
		le32_put(w->o->data + w->start + at, v);
	}
}

/* UTF-8 in (already valid), UTF-16 with NUL out; 0 for the absent string. */
static uint32_t writer_text(struct writer *w, const char *s, size_t n)
{
	if (n == 0) {
		return 0;
	}
	uint32_t at = writer_here(w);
	char *to = out_room(w->o, 2 * n + 2);
	if (!to) {
		return 0;
	}
	size_t used = 0;
	for (size_t i = 0; i < n;) { /* the pool is valid UTF-8; names from traits were made so */
		uint8_t c = (uint8_t)s[i];
		size_t len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
		uint16_t unit[3];
		long units = utf8_to_utf16(s + i, BASE_MIN(len, n - i), unit, 3);
		if (units < 0) {
			unit[0] = 0xFFFD;
			units = 1;
			len = 1;
		}
		memcpy(to + used, unit, 2 * (size_t)units);
		used += 2 * (size_t)units;
		i += len;
	}
	to[used] = to[used + 1] = 0;
	out_used(w->o, used + 2);
	return at;
}

/* Even if a name is empty its offset must lead to a string. */
static uint32_t writer_name(struct writer *w, const char *s, size_t n)
{
	uint32_t at = writer_text(w, s, n);
	if (at == 0) {
		at = writer_here(w);
		out_add(w->o, "\0", 2);
	}
	return at;
}

static void write_property(struct writer *w, const struct schema_event *e, uint32_t i, uint16_t to_end)
{
	const struct schema_field *f = &e->fields[i];
	size_t q = TEI_PROPERTIES + (size_t)i * TEI_PROPERTY_BYTES;
	writer_u32(w, q, f->flags);
	writer_u32(w, q + 4, writer_name(w, schema_text(e, f->name), f->name.bytes));
	writer_u16(w, q + 16, f->to_end ? to_end : f->count);
	if (f->to_end) { /* this event's payload says how many: for it the count is fixed */
		writer_u32(w, q, f->flags | PropertyParamFixedCount);
	}
	writer_u16(w, q + 18, f->length);
	writer_u32(w, q + 20, f->tags);
	if (f->flags & PropertyStruct) {
		writer_u16(w, q + 8, f->first_member);
		writer_u16(w, q + 10, f->member_count);
		return;
	}
	writer_u16(w, q + 8, f->in_type);
	writer_u16(w, q + 10, f->out_type);
	if (f->flags & PropertyHasCustomSchema) {
		writer_u32(w, q + 12, writer_here(w));
		uint16_t head[2] = {f->custom_protocol, (uint16_t)f->custom.bytes};
		out_add(w->o, head, 4);
		out_add(w->o, schema_text(e, f->custom), f->custom.bytes);
		if (f->custom.bytes & 1) {
			out_add(w->o, "", 1); /* strings behind stay aligned */
		}
	} else {
		writer_u32(w, q + 12, writer_text(w, schema_text(e, f->map), f->map.bytes));
	}
}

/* Names that are separated by NULs, each to UTF-16, and an empty one at the end. */
static uint32_t writer_names(struct writer *w, const char *s, size_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < n;) {
		size_t k = strlen(s + i);
		uint32_t here = writer_text(w, s + i, k);
		at = at ? at : here;
		i += k + 1;
	}
	if (at) {
		out_add(w->o, "\0", 2);
	}
	return at;
}

static void write_names(struct writer *w, const struct schema_event *e)
{
	const struct {
		size_t at;
		struct schema_str s;
	} texts[] = {
		{TEI_LEVEL_NAME, e->level_name}, {TEI_CHANNEL_NAME, e->channel_name},
		{TEI_MESSAGE, e->message},       {TEI_PROVIDER_MESSAGE, e->provider_message},
		{TEI_ATTRIBUTES, e->attributes},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(texts); i++) {
		writer_u32(w, texts[i].at, writer_text(w, schema_text(e, texts[i].s), texts[i].s.bytes));
	}
	writer_u32(w, TEI_KEYWORDS, writer_names(w, schema_text(e, e->keywords), e->keywords.bytes));
}

int schema_build_tei(const struct schema_event *e, const struct schema_tei_names *names, struct openetw_text *o)
{
	uint32_t field_count = e->field_count, top_count = e->top_count;
	uint16_t to_end = 0;
	if (names->payload) {
		uint32_t present = schema_walk_present(names->payload, &to_end);
		if (field_count == top_count) { /* else indices would have to move */
			field_count = top_count = present;
		}
	}
	struct writer w = {o, o->length};
	if (e->tei) {
		out_add(o, e->tei, e->tei_bytes);
		return o->failed ? -ENOMEM : 0;
	}
	size_t fixed = BASE_MAX(TEI_PROPERTIES + (size_t)field_count * TEI_PROPERTY_BYTES, (size_t)TEI_LEAST_BYTES);
	char *head = out_room(o, fixed);
	if (!head) {
		return -ENOMEM;
	}
	memset(head, 0, fixed);
	memcpy(head + TEI_PROVIDER, names->provider.b, 16);
	memcpy(head + TEI_EVENT_GUID, e->event_guid.b, 16);
	memcpy(head + TEI_DESCRIPTOR, names->descriptor ? names->descriptor : e->descriptor, 16);
	out_used(o, fixed);
	writer_u32(&w, TEI_SOURCE, (uint32_t)e->source);
	writer_u32(&w, TEI_PROPERTY_COUNT, field_count);
	writer_u32(&w, TEI_TOP_COUNT, top_count);
	writer_u32(&w, TEI_FLAGS, e->flags);
	bool own = !names->provider_name;
	writer_u32(&w, TEI_PROVIDER_NAME,
		   writer_text(&w, own ? schema_text(e, e->provider_name) : names->provider_name,
			       own ? e->provider_name.bytes : names->provider_name_bytes));
	uint32_t task = writer_text(&w, schema_text(e, e->task_name), e->task_name.bytes);
	writer_u32(&w, TEI_TASK_NAME, task);
	bool same = e->event_name.at == e->task_name.at;
	writer_u32(&w, TEI_EVENT_NAME,
		   same ? task : writer_text(&w, schema_text(e, e->event_name), e->event_name.bytes));
	writer_u32(&w, TEI_OPCODE_NAME, writer_text(&w, schema_text(e, e->opcode_name), e->opcode_name.bytes));
	write_names(&w, e);
	for (uint32_t i = 0; i < field_count; i++) {
		write_property(&w, e, i, to_end);
	}
	return o->failed ? -ENOMEM : 0;
}
