/* SPDX-License-Identifier: MIT
 *
 * Between the files that make the WEVT_TEMPLATE resource.
 *
 *   CRIM  header, then GUID and offset of each provider
 *   WEVT  a provider: kinds and offsets of its lists
 *     CHAN MAPS QTAB TTBL PRVA OPCO LEVL TASK KEYW EVNT EVTA FLTR, in this order
 *
 * All offsets count from the start of the resource. A list has its tag, its size in bytes and its
 * count, then rows of one size, then the names they refer to: size in bytes with itself, UTF-16
 * with terminator, filled up to four bytes. Things that others refer to note where they were put.
 */
#ifndef MC_MC_TEMPLATE_H
#define MC_MC_TEMPLATE_H

#include "base/map.h"
#include "mc/mc_private.h"

struct mc_resource {
	const struct mc *mc;
	struct strbuf *out;
	struct map places; /* by the thing's address */
	struct diag *diag;
	int err;
};

uint32_t mc_here(const struct mc_resource *r);
void mc_put8(struct mc_resource *r, uint8_t v);
void mc_put16(struct mc_resource *r, uint16_t v);
void mc_put32(struct mc_resource *r, uint32_t v);
void mc_put64(struct mc_resource *r, uint64_t v);
void mc_put_guid(struct mc_resource *r, const struct guid *g);
/* Rewrites what was put earlier. */
void mc_fix32(struct mc_resource *r, uint32_t at, uint32_t v);
void mc_align(struct mc_resource *r, uint32_t from, uint32_t to);
/* UTF-16 units of a text; how many. */
uint32_t mc_put_wide(struct mc_resource *r, const char *s);
void mc_put_name(struct mc_resource *r, const char *s);   /* with its size */
void mc_put_string(struct mc_resource *r, const char *s); /* only terminated */

void mc_note(struct mc_resource *r, const void *thing);
/* Where it was put; 0 for NULL. */
uint32_t mc_find(const struct mc_resource *r, const void *thing);

/* Keywords of an event, by name: the next of `*at`; NULL at the end. */
const struct manifest_name *mc_next_keyword(const struct manifest_provider *p, const char **at);
void mc_put_list(struct mc_resource *r, const struct manifest_provider *p, enum manifest_kind kind);
void mc_put_maps(struct mc_resource *r, const struct manifest_provider *p);
void mc_put_pattern_maps(struct mc_resource *r, const struct manifest_provider *p);
void mc_put_provider_attributes(struct mc_resource *r, const struct manifest_provider *p);
bool mc_has_event_attributes(const struct manifest_provider *p);
void mc_put_event_attributes(struct mc_resource *r, const struct manifest_provider *p);
void mc_put_templates(struct mc_resource *r, const struct manifest_provider *p);
void mc_sha256(const void *data, size_t n, uint8_t ret[32]);

#endif
