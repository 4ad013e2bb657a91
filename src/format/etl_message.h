/* SPDX-License-Identifier: MIT
 *
 * The fields behind the header of a WPP message. Its flags (TRACE_MESSAGE_*) say which it has, in this order:
 * sequence u32, GUID of the source or else component u32, time u64, thread u32 and process u32.
 */
#ifndef FORMAT_ETL_MESSAGE_H
#define FORMAT_ETL_MESSAGE_H

#include "etw/values/message_flags.h"

#include <stdint.h>

/* Offsets behind the header; of a field that is not there, that of the next. */
struct etl_message_fields {
	uint32_t sequence, source, time, system_info;
	uint32_t end; /* the arguments */
};

static inline struct etl_message_fields etl_message_fields(uint16_t flags)
{
	struct etl_message_fields f;
	f.sequence = 0;
	f.source = f.sequence + (flags & TRACE_MESSAGE_SEQUENCE ? 4 : 0);
	f.time = f.source + (flags & TRACE_MESSAGE_GUID ? 16 : flags & TRACE_MESSAGE_COMPONENTID ? 4 : 0);
	f.system_info = f.time + (flags & TRACE_MESSAGE_TIMESTAMP ? 8 : 0);
	f.end = f.system_info + (flags & TRACE_MESSAGE_SYSTEMINFO ? 8 : 0);
	return f;
}

#endif
