/* SPDX-License-Identifier: MIT
 *
 * Where the values of an event lie in its payload: for those who change them in their place.
 */
#ifndef SCHEMA_SCHEMA_LEAF_H
#define SCHEMA_SCHEMA_LEAF_H

#include "base/base.h"
#include "openetw/decode.h"

struct schema_leaf {
	const char *name; /* of the field; of a structure's member its own; UTF-8, not terminated */
	uint32_t name_bytes;
	uint16_t in_type, out_type;
	uint32_t at, bytes;   /* the value, without a length in front and a terminator behind */
	uint32_t from, taken; /* all that it takes of the payload */
	bool hidden;          /* a count or length that is not shown */
};
typedef void schema_leaf_fn(void *ctx, const struct schema_leaf *leaf);

/* Every value, also those that are not shown. 0: *ret_bytes of the payload were explained. -EBADMSG: the payload does
 * not fit its schema, and this much of it was. -ENOENT: there is no schema. -ENOMEM. */
BASE_SHARED int schema_decode_leaves(struct openetw_decoder *d, const openetw_event_record *r, schema_leaf_fn *fn,
				     void *ctx, uint32_t *ret_bytes);

/* Does its payload describe events: a part of an EventSource's manifest, or an EventMetadata record that can be read as
 * such? What only has the record's class or number does not. */
BASE_SHARED bool schema_describes_events(const openetw_event_record *r);

#endif
