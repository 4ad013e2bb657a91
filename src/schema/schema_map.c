/* SPDX-License-Identifier: MIT
 *
 * EVENT_MAP_INFO blocks: u32 name, flag, entry count, value type | format string; then entries of
 * u32 text offset, u32 value | input offset; of the catalogue, then groups of u32 text offset, value, mask.
 */
#include "schema/schema.h"
#include "schema/schema_out.h"

enum map_flag {
	MAP_VALUEMAP = 0x1,
	MAP_BITMAP = 0x2,
	MAP_PATTERN = 0x4,
	MAP_WBEM_BITMAP = 0x10,
	MAP_WBEM_FLAG = 0x20,
};
#define MAP_HEAD      16u
#define MAP_ENTRY     8u
#define MAP_GROUP     12u
#define MAP_BYTES_MAX (4u << 20)

static const uint8_t *entry_at(const struct schema_map *m, uint32_t i)
{
	return m->block + MAP_HEAD + (size_t)i * MAP_ENTRY;
}

static const uint8_t *text_at(const struct schema_map *m, uint32_t at, size_t *ret_units)
{
	struct bytes in = bytes_of(m->block + at, m->block_bytes - at);
	return bytes_wsz(&in, ret_units);
}

static bool text_ends_inside(const uint8_t *p, size_t n, uint32_t at)
{
	struct bytes in = bytes_at(p, n, at);
	return bytes_wsz(&in, NULL) != NULL;
}

int schema_map_parse(const void *block, size_t n, struct schema_map *ret, struct diag *d)
{
	const uint8_t *p = block;
	if (n < MAP_HEAD || n > MAP_BYTES_MAX) {
		diag_at(d, 0, "%zu bytes are no value map", n);
		return -EBADMSG;
	}
	struct schema_map m = {p, (uint32_t)n, le32_get(p + 4), le32_get(p + 8), 0};
	uint32_t name = le32_get(p);
	if (m.entry_count > (n - MAP_HEAD) / MAP_ENTRY || name >= n) {
		diag_at(d, 8, "%u map entries do not fit", m.entry_count);
		return -EBADMSG;
	}
	/* The words that are offsets in a map of patterns are values in the others. */
	bool pattern = m.flag & MAP_PATTERN;
	bool good = text_ends_inside(p, n, name) && (!pattern || text_ends_inside(p, n, le32_get(p + 12)));
	for (uint32_t i = 0; i < m.entry_count && good; i++) {
		const uint8_t *entry = entry_at(&m, i);
		good = text_ends_inside(p, n, le32_get(entry)) &&
		       (!pattern || text_ends_inside(p, n, le32_get(entry + 4)));
	}
	if (!good) {
		diag_at(d, 0, "a map text lies outside the block");
		return -EBADMSG;
	}
	*ret = m;
	return 0;
}

static void add_text(const struct schema_map *m, uint32_t at, struct openetw_text *o)
{
	size_t units = 0;
	const uint8_t *s = text_at(m, at, &units);
	if (!s) {
		return;
	}
	while (units > 0 && le16_get(s + 2 * (units - 1)) == ' ') {
		units--;
	}
	out_utf16(o, s, units, false);
}

/* One more name, behind those that began at `start`. */
static void add_name(const struct schema_map *m, uint32_t at, size_t start, struct openetw_text *o)
{
	if (o->length != start) {
		out_char(o, '|');
	}
	add_text(m, at, o);
}

/* Returns the bits that a group names. */
static uint32_t add_groups(const struct schema_map *m, uint32_t value, size_t start, struct openetw_text *o)
{
	uint32_t named = 0;
	for (uint32_t i = 0; i < m->group_count; i++) {
		const uint8_t *g = entry_at(m, m->entry_count) + (size_t)i * MAP_GROUP;
		uint32_t mask = le32_get(g + 8);
		if ((value & mask) == le32_get(g + 4)) {
			add_name(m, le32_get(g), start, o);
			named |= mask;
		}
	}
	return named;
}

bool schema_map_text(const struct schema_map *m, uint32_t value, struct openetw_text *o, uint32_t *ret_rest)
{
	uint32_t unused;
	uint32_t *left = ret_rest ? ret_rest : &unused;
	*left = value;
	if (m->flag & MAP_PATTERN) {
		return false;
	}
	bool bits = m->flag & (MAP_BITMAP | MAP_WBEM_BITMAP | MAP_WBEM_FLAG);
	size_t start = o->length;
	uint32_t rest = value;
	for (uint32_t i = 0; i < m->entry_count; i++) {
		const uint8_t *entry = entry_at(m, i);
		uint32_t v = le32_get(entry + 4);
		if (!bits) {
			if (v == value) {
				add_text(m, le32_get(entry), o);
				*left = 0;
				return true;
			}
			continue;
		}
		uint32_t mask = m->flag & MAP_WBEM_BITMAP ? (v < 32 ? 1u << v : 0) : v;
		if (mask == 0 ? value == 0 && !(m->flag & MAP_WBEM_BITMAP) : (value & mask) == mask) {
			add_name(m, le32_get(entry), start, o);
			rest &= ~mask;
		}
	}
	rest &= ~add_groups(m, value, start, o);
	*left = rest;
	if (!bits || (o->length == start && value != 0)) {
		return false;
	}
	if (rest != 0) {
		out_char(o, '|');
		out_hex(o, rest, false);
	} else if (o->length == start) {
		out_char(o, '0');
	}
	return true;
}
