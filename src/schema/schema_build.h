/* SPDX-License-Identifier: MIT
 *
 * How loaders put a schema_event together: fields and pool grow separately and are sealed into one
 * allocation. Inside this folder only.
 */
#ifndef SCHEMA_SCHEMA_BUILD_H
#define SCHEMA_SCHEMA_BUILD_H

#include "schema/schema.h"
#include "schema/schema_out.h"

struct schema_build {
	struct schema_event head; /* fields, pool, counts are filled in by seal */
	struct schema_field *fields;
	uint32_t field_count;
	uint32_t field_cap;
	struct openetw_text pool;
	bool failed; /* out of memory or too many fields */
};

void schema_build_init(struct schema_build *b);
void schema_build_finish(struct schema_build *b); /* frees what was not sealed */
/* The new, zeroed field (count 1), or NULL. Earlier pointers become invalid. */
struct schema_field *schema_build_field(struct schema_build *b);
/* Untrusted text into the pool. */
struct schema_str schema_build_utf8(struct schema_build *b, const void *s, size_t n);
struct schema_str schema_build_utf16(struct schema_build *b, const void *s, size_t units);
struct schema_str schema_build_bytes(struct schema_build *b, const void *p, size_t n);
/* Name plus suffix (or NULL), and the JSON key for it. */
void schema_build_name(struct schema_build *b, struct schema_field *f, struct schema_str name, const char *suffix);
/* One allocation out of everything; `tei` bytes are copied behind. -ENOMEM. */
int schema_build_seal(struct schema_build *b, const void *tei, size_t tei_bytes, struct schema_event **ret);

#endif
