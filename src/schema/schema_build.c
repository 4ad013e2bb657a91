/* SPDX-License-Identifier: MIT */
#include "schema/schema_build.h"
#include "base/vec.h"

#include <stdlib.h>

void schema_build_init(struct schema_build *b)
{
	*b = (struct schema_build){0};
	out_add(&b->pool, "", 1); /* offset 0: the empty, absent string */
}

void schema_build_finish(struct schema_build *b)
{
	free(b->fields);
	openetw_text_free(&b->pool);
}

struct schema_field *schema_build_field(struct schema_build *b)
{
	if (!VEC_ROOM_UP_TO(b->fields, b->field_count, b->field_cap, SCHEMA_FIELDS_MAX)) {
		b->failed = true;
		return NULL;
	}
	struct schema_field *f = &b->fields[b->field_count++];
	*f = (struct schema_field){.count = 1};
	return f;
}

static struct schema_str sealed_from(struct schema_build *b, size_t at)
{
	struct schema_str s = {(uint32_t)at, (uint32_t)(b->pool.length - at)};
	out_add(&b->pool, "", 1);
	if (b->pool.failed) {
		b->failed = true;
		return (struct schema_str){0, 0};
	}
	return s;
}

struct schema_str schema_build_utf8(struct schema_build *b, const void *s, size_t n)
{
	if (n == 0) {
		return (struct schema_str){0, 0};
	}
	size_t at = b->pool.length;
	out_utf8(&b->pool, s, n, false);
	return sealed_from(b, at);
}

struct schema_str schema_build_utf16(struct schema_build *b, const void *s, size_t units)
{
	if (units == 0) {
		return (struct schema_str){0, 0};
	}
	size_t at = b->pool.length;
	out_utf16(&b->pool, s, units, false);
	return sealed_from(b, at);
}

struct schema_str schema_build_bytes(struct schema_build *b, const void *p, size_t n)
{
	size_t at = b->pool.length;
	out_add(&b->pool, p, n);
	return sealed_from(b, at);
}

void schema_build_name(struct schema_build *b, struct schema_field *f, struct schema_str name, const char *suffix)
{
	if (suffix && !b->failed) {
		size_t at = b->pool.length;
		size_t tail = strlen(suffix);
		char *to = out_room(&b->pool, name.bytes + tail);
		if (to) { /* out_room may have moved the pool: read the name after it */
			memcpy(to, b->pool.data + name.at, name.bytes);
			memcpy(to + name.bytes, suffix, tail);
			out_used(&b->pool, name.bytes + tail);
		}
		name = sealed_from(b, at);
	}
	f->name = name;
	if (b->failed) {
		return;
	}
	size_t at = b->pool.length;
	if (!out_room(&b->pool, 6 * (size_t)name.bytes + 4)) {
		b->failed = true;
		return;
	}
	out_char(&b->pool, '"');
	out_utf8(&b->pool, b->pool.data + name.at, name.bytes, true);
	out_add(&b->pool, "\":", 2);
	f->key = sealed_from(b, at);
}

int schema_build_seal(struct schema_build *b, const void *tei, size_t tei_bytes, struct schema_event **ret)
{
	if (b->failed || b->pool.failed) {
		return -ENOMEM;
	}
	size_t fields_bytes = b->field_count * sizeof *b->fields;
	size_t total = sizeof **ret + fields_bytes + tei_bytes + b->pool.length;
	struct schema_event *e = malloc(total);
	if (!e) {
		return -ENOMEM;
	}
	*e = b->head;
	struct schema_field *fields = (struct schema_field *)(e + 1);
	uint8_t *block = (uint8_t *)fields + fields_bytes;
	if (fields_bytes) {
		memcpy(fields, b->fields, fields_bytes);
	}
	if (tei_bytes) {
		memcpy(block, tei, tei_bytes);
		e->tei = block;
		e->tei_bytes = (uint32_t)tei_bytes;
	}
	memcpy(block + tei_bytes, b->pool.data, b->pool.length);
	for (uint32_t i = 0; i < b->field_count; i++) {
		uint16_t in = fields[i].in_type;
		e->has_pointers |= in == TDH_INTYPE_POINTER || in == TDH_INTYPE_SIZET || in == TDH_INTYPE_WBEMSID;
	}
	e->fields = fields;
	e->field_count = b->field_count;
	e->pool = (const char *)block + tei_bytes;
	e->memory_bytes = total;
	*ret = e;
	return 0;
}

void schema_event_destroy(struct schema_event *e)
{
	free(e);
}
