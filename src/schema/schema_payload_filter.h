/* SPDX-License-Identifier: MIT
 *
 * A schema and conditions over its fields -> a payload filter (filter/filter_payload.h). Inside this
 * folder.
 */
#ifndef SCHEMA_SCHEMA_PAYLOAD_FILTER_H
#define SCHEMA_SCHEMA_PAYLOAD_FILTER_H

#include "filter/filter_payload.h"
#include "schema/schema.h"

/* A condition as the caller wrote it. */
struct schema_condition {
	const char *field; /* UTF-8; members of structs as "struct.member" */
	const char *value;
	uint16_t op; /* enum filter_operator */
};

/* -ENOENT: no such field; -EINVAL: the condition makes no sense for it; -ENOSPC: the filter would
 * be too large. d says which condition and why. */
int schema_filter_make(const struct schema_event *e, const struct guid *provider, uint16_t id, uint8_t version,
		       bool any, const struct schema_condition *conditions, size_t count, uint8_t out[FILTER_BYTES_MAX],
		       size_t *ret_bytes, struct diag *d);

#endif
