/* SPDX-License-Identifier: MIT
 *
 * Where a field of a kernel event (or of one of .NET or JScript) stands, and how to read it. The places come from the catalogue (data/catalogue):
 * scripts/kernel-payload makes kernel_payload.h of it when the project is built, with a name for each field of each
 * version, KP_<class>_<event>_V<version>_<field>. Nobody else writes offsets of these payloads down, but for those who
 * write such events (src/kernel, etl/etl_image.c).
 *
 *	struct kernel_payload p = {e->UserData, e->UserDataLength, 8};
 *	uint32_t tid = (uint32_t)kernel_payload_get(p, KP_THREAD_CSWITCH_SINCE_V1_NEW_THREAD_ID);
 *
 * Payloads are foreign bytes: each read looks whether the field is there.
 */
#ifndef FORMAT_KERNEL_FIELD_H
#define FORMAT_KERNEL_FIELD_H

#include "base/base.h"

/* Behind so many bytes and pointers; so many bytes wide. 0 bytes: no number, but a text, an array, or what else
 * begins there. */
#define KERNEL_FIELD(at, pointers, bytes) ((uint32_t)(at) | (uint32_t)(pointers) << 16 | (uint32_t)(bytes) << 24)
#define KERNEL_FIELD_POINTER              0xFFu

/* A hook: the group of the class (format/kernel_class.h), and the event. */
#define KERNEL_HOOK(group, event) ((uint16_t)((group) << 8 | (event)))

struct kernel_payload {
	const uint8_t *p; /* may be NULL when there are no bytes */
	uint32_t bytes;
	uint32_t pointer; /* 4 or 8 bytes */
};

static inline uint32_t kernel_field_at(uint32_t field, uint32_t pointer)
{
	return (field & 0xFFFF) + (field >> 16 & 0xFF) * pointer;
}
static inline uint32_t kernel_field_bytes(uint32_t field, uint32_t pointer)
{
	return field >> 24 == KERNEL_FIELD_POINTER ? pointer : field >> 24;
}
/* Is all of it there? Of what has no width: its beginning, and be it behind the last byte. */
static inline bool kernel_payload_has(struct kernel_payload k, uint32_t field)
{
	return kernel_field_at(field, k.pointer) + kernel_field_bytes(field, k.pointer) <= k.bytes;
}
/* A number; 0: it is not there. */
static inline uint64_t kernel_payload_get(struct kernel_payload k, uint32_t field)
{
	if (!kernel_payload_has(k, field)) {
		return 0;
	}
	const uint8_t *p = k.p + kernel_field_at(field, k.pointer);
	switch (kernel_field_bytes(field, k.pointer)) {
	case 1: return *p;
	case 2: return le16_get(p);
	case 4: return le32_get(p);
	case 8: return le64_get(p);
	default: return 0;
	}
}
static inline uint32_t kernel_payload_get32(struct kernel_payload k, uint32_t field)
{
	return (uint32_t)kernel_payload_get(k, field);
}
/* The bytes of a field that is no number (an address, a GUID); NULL: they are not there. */
static inline const uint8_t *kernel_payload_bytes(struct kernel_payload k, uint32_t field)
{
	return kernel_payload_has(k, field) ? k.p + kernel_field_at(field, k.pointer) : NULL;
}
/* From the field to the end; bad when it begins behind that. */
static inline struct bytes kernel_payload_from(struct kernel_payload k, uint32_t field)
{
	struct bytes b = bytes_of(k.p, k.bytes);
	bytes_take(&b, kernel_field_at(field, k.pointer));
	return b;
}

#endif
