/* SPDX-License-Identifier: MIT
 *
 * A record as an EVENT_RECORD.
 */
#ifndef CONSUME_CONSUME_VIEW_H
#define CONSUME_CONSUME_VIEW_H

#include "base/base.h"
#include "etl/etl_reader.h"

#include "evntcons.h"

/* Room for what an EVENT_RECORD points to besides the record itself. Starts zeroed. */
struct consume_view {
	EVENT_HEADER_EXTENDED_DATA_ITEM *items;
	uint32_t items_cap;
	EVENT_EXTENDED_ITEM_INSTANCE instance;
};

/* Valid until the record's buffer goes or the view is filled again. `time` becomes TimeStamp.
 * -ENOMEM. */
BASE_SHARED int consume_view_fill(struct consume_view *v, const struct etl_record *r, uint64_t time, void *user_context,
				  EVENT_RECORD *ret);
BASE_SHARED void consume_view_free(struct consume_view *v);
ETW_BUFFER_CONTEXT consume_context_of(const struct etl_record *r);

#endif
