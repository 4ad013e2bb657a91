/* SPDX-License-Identifier: MIT
 *
 * Descriptions that programs carry in themselves (format/schema_section.h).
 */
#ifndef MANIFEST_MANIFEST_SECTION_H
#define MANIFEST_MANIFEST_SECTION_H

#include "manifest/manifest.h"

/* Hands each manifest and each row of WPP formats in the section to `take`. A part that cannot be read
 * does not hinder the others: the first reason is returned at the end, with diag, when nothing could be
 * read. `key` is passed on. 0, -EBADMSG, -ENOMEM, -ENOENT when there is nothing in it. */
int manifest_read_section(const void *p, size_t n, manifest_take_fn take, void *ctx, const char *key, struct diag *d);
/* The next record from *inout_at on; false at the end, and at bytes that are none. */
struct manifest_section_record {
	uint16_t kind, language;
	uint64_t set;
	const uint8_t *data;
	size_t bytes;
};
bool manifest_section_next(const void *p, size_t n, size_t *inout_at, struct manifest_section_record *ret);

#endif
