/* SPDX-License-Identifier: MIT
 *
 * Input: a block of event information (TRACE_EVENT_INFO), or, when the first byte is odd, of a value map; behind that
 * byte. A block that is taken may be handed to callers of TDH, so every offset in it must lead to a text that ends.
 */
#include "schema/schema_tdh.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const uint8_t *p, size_t n, uint32_t offset, bool list)
{
	struct bytes in = bytes_at(p, n, offset);
	size_t units = 1;
	do {
		if (!bytes_wsz(&in, &units)) {
			abort();
		}
	} while (list && units > 0);
}

static void check_event(const struct schema_event *e)
{
	const uint8_t *p = e->tei;
	for (uint32_t at = offsetof(TRACE_EVENT_INFO, ProviderNameOffset);
	     at <= offsetof(TRACE_EVENT_INFO, EventAttributesOffset); at += 4) {
		bool xml = at == offsetof(TRACE_EVENT_INFO, BinaryXMLOffset) ||
			   at == offsetof(TRACE_EVENT_INFO, BinaryXMLSize);
		if (!xml && le32_get(p + at)) {
			check_text(p, e->tei_bytes, le32_get(p + at),
				   at == offsetof(TRACE_EVENT_INFO, KeywordsNameOffset));
		}
	}
	uint32_t xml = le32_get(p + offsetof(TRACE_EVENT_INFO, BinaryXMLOffset));
	if (xml > e->tei_bytes || le32_get(p + offsetof(TRACE_EVENT_INFO, BinaryXMLSize)) > e->tei_bytes - xml) {
		abort();
	}
	for (uint32_t i = 0; i < e->field_count; i++) {
		const uint8_t *q =
			p + offsetof(TRACE_EVENT_INFO, EventPropertyInfoArray) + i * sizeof(EVENT_PROPERTY_INFO);
		uint32_t name = le32_get(q + offsetof(EVENT_PROPERTY_INFO, NameOffset));
		uint32_t map = le32_get(q + offsetof(EVENT_PROPERTY_INFO, nonStructType.MapNameOffset));
		uint32_t flags = le32_get(q);
		if (name) {
			check_text(p, e->tei_bytes, name, false);
		}
		if ((flags & PropertyHasCustomSchema) && map) {
			struct bytes in = bytes_at(p, e->tei_bytes, map);
			bytes_u16(&in);
			if (!bytes_take(&in, bytes_u16(&in)) && in.bad) {
				abort();
			}
		} else if (!(flags & (PropertyStruct | PropertyHasCustomSchema)) && map) {
			check_text(p, e->tei_bytes, map, false);
		}
	}
}

static void check_map(const struct schema_map *m)
{
	bool pattern = m->flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP;
	struct openetw_text text = {0};
	check_text(m->block, m->block_bytes, le32_get(m->block), false);
	if (pattern) {
		check_text(m->block, m->block_bytes, le32_get(m->block + 12), false);
	}
	for (uint32_t i = 0; i < m->entry_count; i++) {
		check_text(m->block, m->block_bytes, le32_get(m->block + 16 + 8 * i), false);
		if (pattern) {
			check_text(m->block, m->block_bytes, le32_get(m->block + 20 + 8 * i), false);
		}
	}
	schema_map_text(m, 1, &text, NULL);
	openetw_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schema_event *e;
	struct schema_map m;
	if (size == 0) {
		return 0;
	}
	uint8_t *block = malloc(size); /* of its own, so that a step over the end is seen */
	if (!block) {
		return 0;
	}
	memcpy(block, data + 1, size - 1);
	if (data[0] & 1) {
		if (schema_map_parse(block, size - 1, &m, NULL) == 0) {
			check_map(&m);
		}
	} else if (schema_load_tei(block, size - 1, &e, NULL) == 0) {
		check_event(e);
		schema_event_destroy(e);
	}
	free(block);
	return 0;
}
