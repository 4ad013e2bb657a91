/* SPDX-License-Identifier: MIT
 *
 * Windows' adjustments of buffer sizes and counts.
 */
#include "session/session_properties.h"

#include "etw/values/session_modes.h"

#define MAXIMUM_EXTRA 20u /* what Windows adds to the minimum when no maximum is asked for */
/* … but at least this much: the memory is only touched when a burst needs it, so it is cheaper to
 * have than to lose events. */
#define DEFAULT_ROOM_KB (8u * 1024)

int session_properties_adjust(struct session_properties *p, uint32_t processors, uint32_t header_bytes)
{
	uint32_t kb = p->buffer_kb ? p->buffer_kb : SESSION_BUFFER_KB_DEFAULT;
	kb = BASE_MIN(BASE_MAX(kb, SESSION_BUFFER_KB_MIN), SESSION_BUFFER_KB_MAX);
	/* Whole pages, so that buffers never share one and direct I/O stays possible. */
	kb = (kb + 3) & ~3u;
	while (header_bytes > kb * 1024) {
		kb += 4;
	}
	p->buffer_kb = kb;

	uint32_t least = p->mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING ? 2 : 2u * processors;
	p->minimum_buffers = BASE_MAX(p->minimum_buffers, least);
	if (p->mode & EVENT_TRACE_BUFFERING_MODE) {
		p->maximum_buffers = p->minimum_buffers;
	} else if (p->maximum_buffers == 0) {
		p->maximum_buffers = BASE_MAX(p->minimum_buffers + MAXIMUM_EXTRA, DEFAULT_ROOM_KB / kb);
	}
	p->maximum_buffers = BASE_MAX(p->maximum_buffers, p->minimum_buffers);
	if (p->maximum_buffers > SESSION_BUFFERS_MAX) {
		return -EINVAL;
	}
	if ((p->mode & EVENT_TRACE_REAL_TIME_MODE) && p->flush_timer == 0) {
		p->flush_timer = 1;
	}
	if (p->clock == 0) {
		p->clock = 1;
	}
	return p->clock <= 3 ? 0 : -EINVAL;
}
