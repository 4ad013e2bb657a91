/* SPDX-License-Identifier: MIT
 *
 * Payload filters of TraceLogging events. They name event and fields, for what a field is and where it
 * stands only each event itself says, in the metadata that travels with it. Ours: Windows' payload
 * filters know events by number.
 *
 *   blob       as in filter_payload.h, with another magic: u32 magic | u16 format | u16 filters | u32 bytes,
 *              all of it | u32 zero | GUID provider
 *   filter     u16 bytes, all of it | u8 flags (FILTER_ANY) | u8 predicates | event name NUL
 *   predicate  u8 operator | u8 numbers | u16 text bytes | u64 low | u64 high | field NUL | text
 *
 * A value stands as text and, when it is a whole number, as that, too; the field's type decides which is
 * compared. Fields at top level that are no arrays can be tested. Whatever cannot be compared, or is
 * not there, does not hold. An event that no filter names passes; one that several name passes when
 * one of them does.
 *
 * Everything here takes hostile blobs, metadata and payloads. No allocation, no state; any thread.
 */
#ifndef FILTER_FILTER_NAMED_H
#define FILTER_FILTER_NAMED_H

#include "filter/filter_payload.h"

#define FILTER_NAMED_MAGIC    0x464E454Fu /* "OENF" */
#define FILTER_NAMED_TEXT_MAX 256u        /* bytes of a value or a name */

struct filter_named_condition {
	const char *field, *value; /* UTF-8; an interval is "low,high" */
	uint8_t op;                /* enum filter_operator */
	uint32_t column;           /* where the value stands, for reports; 0: nowhere */
	uint32_t name_column;      /* where the test begins, likewise */
};

/* Appends one filter to a blob that begins with *inout_bytes 0. -EINVAL with the reason and the condition's column,
 * -ENOSPC. */
int filter_named_add(uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, const struct guid *provider, const char *event,
		     bool any, const struct filter_named_condition *c, size_t count, struct diag *d);
/* Is it one of these, whether sound or not? */
static inline bool filter_is_named(const void *blob, size_t n)
{
	return n >= 4 && le32_get(blob) == FILTER_NAMED_MAGIC;
}
/* As filter_check(). */
int filter_named_check(const void *blob, size_t n, struct guid *ret_provider, struct diag *d);
/* `schema`: the metadata of EVENT_SCHEMA_TL. */
bool filter_named_passes(const uint8_t *blob, const uint8_t *schema, size_t schema_bytes, const uint8_t *payload,
			 size_t bytes);

#endif
