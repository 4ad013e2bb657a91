/* SPDX-License-Identifier: MIT
 *
 * Bytes of the resource and where things stand in it.
 */
#include "mc/mc_template.h"

#include <stdlib.h>

uint32_t mc_here(const struct mc_resource *r)
{
	return (uint32_t)r->out->len;
}

void mc_put8(struct mc_resource *r, uint8_t v)
{
	strbuf_add(r->out, &v, 1);
}
void mc_put16(struct mc_resource *r, uint16_t v)
{
	strbuf_add(r->out, &v, 2);
}
void mc_put32(struct mc_resource *r, uint32_t v)
{
	strbuf_add(r->out, &v, 4);
}
void mc_put64(struct mc_resource *r, uint64_t v)
{
	strbuf_add(r->out, &v, 8);
}
void mc_put_guid(struct mc_resource *r, const struct guid *g)
{
	strbuf_add(r->out, g->b, 16);
}

void mc_fix32(struct mc_resource *r, uint32_t at, uint32_t v)
{
	if (!r->out->failed) {
		le32_put(r->out->s + at, v);
	}
}

void mc_align(struct mc_resource *r, uint32_t from, uint32_t to)
{
	while ((mc_here(r) - from) % to && !r->out->failed) {
		mc_put8(r, 0);
	}
}

uint32_t mc_put_wide(struct mc_resource *r, const char *s)
{
	size_t n = strlen(s);
	long units = utf8_to_utf16(s, n, NULL, 0);
	uint16_t *wide = units < 0 ? NULL : malloc(((size_t)units + 1) * sizeof *wide);
	if (!wide) {
		r->out->failed = true;
		return 0;
	}
	utf8_to_utf16(s, n, wide, (size_t)units + 1);
	strbuf_add(r->out, wide, (size_t)units * 2);
	free(wide);
	return (uint32_t)units;
}

void mc_put_name(struct mc_resource *r, const char *s)
{
	uint32_t at = mc_here(r);
	mc_put32(r, 0);
	mc_put_wide(r, s);
	mc_put16(r, 0);
	mc_align(r, at, 4);
	mc_fix32(r, at, mc_here(r) - at);
}

void mc_put_string(struct mc_resource *r, const char *s)
{
	mc_put_wide(r, s);
	mc_put16(r, 0);
}

/* ---- places ----------------------------------------------------------------------------------- */

void mc_note(struct mc_resource *r, const void *thing)
{
	size_t at = map_find(&r->places, (uintptr_t)thing);
	if (at != MAP_NONE) {
		map_set(&r->places, at, mc_here(r));
	} else if (map_add(&r->places, (uintptr_t)thing, mc_here(r)) < 0) {
		r->out->failed = true;
	}
}

uint32_t mc_find(const struct mc_resource *r, const void *thing)
{
	size_t at = map_find(&r->places, (uintptr_t)thing);
	return at != MAP_NONE ? (uint32_t)map_value(&r->places, at) : 0;
}
