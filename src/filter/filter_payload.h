/* SPDX-License-Identifier: MIT
 *
 * Payload filters of manifest events: the blob behind EVENT_FILTER_TYPE_PAYLOAD.
 *
 * A controller knows what an event's payload means, the daemon does not. So the controller's side
 * (TdhCreatePayloadFilter, src/schema) turns names and types into a little program, and the daemon
 * runs it for each event of a session. The blob is ours: nobody but these two reads it. All numbers
 * are little-endian, nothing is aligned.
 *
 *   blob       u32 magic, "OEPF" | u16 format, 1 | u16 number of filters | u32 bytes of the whole blob |
 *              u32 zero | GUID of the provider (16 bytes); then the filters
 *   filter     u16 bytes of the whole filter | u16 event id | u8 event version | u8 flags |
 *              u16 number of fields | u16 number of predicates | u16 zero;
 *              then the fields in the order of the payload, then the predicates in the order of their fields
 *   field      u8 kind | u8 flags | u16 length | u16 count | u16 members
 *              length   bytes of FIXED, characters of sized strings; with LENGTH_OF the index of the field
 *                       that says it
 *              count    elements; with COUNT_OF the index of the field that says it
 *              members  of an ARRAY: how many of the fields behind it are one element, those of inner
 *                       arrays included
 *   predicate  u16 field | u8 operator | u8 type | u16 bytes of the value | u16 zero | the value
 *              integers: one number of 8 bytes, or two for an interval
 *
 * Fields stand up to the last one a predicate looks at. Indices point backwards, to a field with
 * CAPTURE. Structs that are no arrays are gone: their members stand in their place.
 *
 * Meaning. An event that no filter names passes. One that is named passes when every filter with
 * MUST does, and, if there are filters without, one of those. A filter passes when all its
 * predicates hold, or, with ANY, one. A predicate whose field the payload does not have (it ends
 * early) does not hold, whatever its operator: an event that does not fit its description is not
 * what was asked for.
 *
 * Everything here takes hostile blobs and payloads. No allocation, no state; any thread.
 */
#ifndef FILTER_FILTER_PAYLOAD_H
#define FILTER_FILTER_PAYLOAD_H

#include "base/base.h"

#define FILTER_MAGIC          0x4650454Fu /* "OEPF" */
#define FILTER_FORMAT         1u
#define FILTER_BYTES_MAX      4096u /* MAX_EVENT_FILTER_PAYLOAD_SIZE */
#define FILTER_PREDICATES_MAX 8u    /* MAX_PAYLOAD_PREDICATES */
#define FILTER_FIELDS_MAX     500u  /* more do not fit into FILTER_BYTES_MAX */
#define FILTER_DEPTH_MAX      8u    /* arrays of structs in each other */
/* Values visited for one filter and one payload; a payload of 64 KiB has fewer. Comparing text in
 * search of other text counts, too. */
#define FILTER_WORK_MAX (1u << 18)

enum filter_kind {
	FILTER_FIXED = 1, /* length bytes */
	FILTER_POINTER,
	FILTER_TEXT16,     /* UTF-16 to a NUL, or as sized; the payload's end will do */
	FILTER_TEXT8,      /* the same in bytes */
	FILTER_COUNTED,    /* u16 bytes before it */
	FILTER_COUNTED_BE, /* the same, most significant byte first */
	FILTER_COUNTED32,  /* u32 bytes before it */
	FILTER_SID,
	FILTER_TOKEN_SID, /* two pointers before it, or four bytes of zeros and no SID */
	FILTER_REST,      /* the rest of the payload */
	FILTER_ARRAY,     /* of structs: `members` fields */
	FILTER_KIND_COUNT,
};
enum filter_field_flag {
	FILTER_SIZED = 1,     /* strings: length says where they end */
	FILTER_LENGTH_OF = 2, /* length is the index of the field that says so */
	FILTER_COUNT_OF = 4,
	FILTER_CAPTURE = 8, /* a later field refers to this integer */
};
enum filter_flag { FILTER_ANY = 1, FILTER_MUST = 2 };
/* The numbers of PAYLOAD_OPERATOR. */
enum filter_operator {
	FILTER_EQ = 0,
	FILTER_NE = 1,
	FILTER_LE = 2,
	FILTER_GT = 3,
	FILTER_LT = 4,
	FILTER_GE = 5,
	FILTER_BETWEEN = 6,
	FILTER_NOTBETWEEN = 7,
	FILTER_MODULO = 8, /* no remainder */
	FILTER_CONTAINS = 20,
	FILTER_DOESNTCONTAIN = 21,
	FILTER_IS = 30,
	FILTER_ISNOT = 31,
};
enum filter_type {
	FILTER_SIGNED = 1,
	FILTER_UNSIGNED,
	FILTER_NETWORK, /* unsigned, most significant byte first */
	FILTER_WIDE,    /* UTF-16 */
	FILTER_NARROW,  /* bytes of text */
	FILTER_BYTES,   /* a GUID */
	FILTER_TYPE_COUNT,
};

struct filter_field {
	uint8_t kind, flags;
	uint16_t length, count, members;
};
struct filter_predicate {
	uint16_t field;
	uint8_t op, type;
	uint16_t bytes;
	const uint8_t *value;
};
/* What one filter says about one event. */
struct filter_event {
	struct guid provider;
	uint16_t id;
	uint8_t version;
	uint8_t flags; /* enum filter_flag */
	uint16_t field_count, predicate_count;
	const struct filter_field *fields;
	const struct filter_predicate *predicates; /* in any order */
};

/* A blob with one filter. `out` has FILTER_BYTES_MAX bytes. -ENOSPC: does not fit; -EINVAL. */
int filter_write(const struct filter_event *e, uint8_t *out, size_t *ret_bytes);
/* The filters of several blobs of one provider in one; must[i]: those of blob i have to pass (NULL:
 * none has to). -ENOSPC, -EINVAL. */
int filter_join(const uint8_t *const *blobs, const size_t *bytes, const bool *must, size_t count, uint8_t *out,
		size_t *ret_bytes);

/* A blob from elsewhere: 0 or -EINVAL with the reason. What follows may be called only with one
 * that was checked and has not changed since. */
int filter_check(const void *blob, size_t n, struct guid *ret_provider, struct diag *d);
/* The event may go through. */
bool filter_passes(const uint8_t *blob, uint16_t id, uint8_t version, const uint8_t *payload, size_t bytes,
		   unsigned pointer_size);

/* ---- inside this folder ---------------------------------------------------------------------- */

#define FILTER_HEAD_BYTES      32u
#define FILTER_EVENT_BYTES     12u
#define FILTER_FIELD_BYTES     8u
#define FILTER_PREDICATE_BYTES 8u

static inline struct filter_field filter_field_get(const uint8_t *p)
{
	return (struct filter_field){p[0], p[1], le16_get(p + 2), le16_get(p + 4), le16_get(p + 6)};
}
static inline struct filter_predicate filter_predicate_get(const uint8_t *p)
{
	return (struct filter_predicate){le16_get(p), p[2], p[3], le16_get(p + 4), p + FILTER_PREDICATE_BYTES};
}

#endif
