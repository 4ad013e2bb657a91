/* SPDX-License-Identifier: MIT
 *
 * What the api_tdh_*.c files share. Inside this folder only.
 */
#ifndef SCHEMA_SCHEMA_TDH_H
#define SCHEMA_SCHEMA_TDH_H

#include "schema/schema_out.h"
#include "schema/schema_record.h"
#include "tdh.h"

/* The event's schema. `owned` is to be destroyed with schema_event_destroy() (NULL is fine). */
struct schema_tdh_event {
	struct schema_record record;
	const struct schema_event *event;
	struct schema_event *owned;
	unsigned pointer_size;
};
/* A Win32 code: ERROR_NOT_FOUND when there is no schema. */
ULONG schema_tdh_find(const EVENT_RECORD *r, ULONG context_count, const TDH_CONTEXT *contexts,
		      struct schema_tdh_event *ret);

/* A WPP message of the formats the contexts name, else of the process's. NULL: none is known. */
const struct schema_event *schema_tdh_find_message(const struct schema_record *s, ULONG context_count,
						   const TDH_CONTEXT *contexts);
/* What every message has besides its arguments: "FormattedString", "LevelName" and so on. size is in
 * and out; ERROR_NOT_FOUND: no such name. */
ULONG schema_tdh_message_property(const char *name, const EVENT_RECORD *r, const struct schema_payload *p, void *buffer,
				  ULONG *size);

/* The in/out size protocol of every function with a buffer: checks arguments. */
static inline ULONG schema_tdh_check_buffer(const void *buffer, const ULONG *size)
{
	return !size || (!buffer && *size != 0) ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}
/* Copies n bytes if they fit; says how many there are in any case. */
static inline ULONG schema_tdh_give(const void *data, size_t n, void *buffer, ULONG *size)
{
	bool fits = buffer && *size >= n;
	if (fits && n) {
		memcpy(buffer, data, n);
	}
	*size = (ULONG)n;
	return fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER;
}

/* UTF-16 from a caller, possibly unaligned, as UTF-8. */
static inline void schema_tdh_utf8(const void *wide, struct openetw_text *o)
{
	size_t units = 0;
	while (le16_get((const uint8_t *)wide + 2 * units)) {
		units++;
	}
	out_utf16(o, wide, units, false);
}

#endif
