/* SPDX-License-Identifier: MIT
 *
 * Windows' adjustments of buffer sizes and counts.
 */
#include "sink/sink_private.h"

#include "etw/values/session_modes.h"

#define BUFFER_KB_MIN     4u
#define BUFFER_KB_MAX     16384u
#define BUFFER_KB_DEFAULT 64u
#define MAXIMUM_EXTRA     20u /* what Windows adds to the minimum when no maximum is asked for */
/* … but at least this much: the memory is only touched when a burst needs it, so it is cheaper to
 * have than to lose events. */
#define DEFAULT_ROOM_KB (8u * 1024)
#define BUFFERS_MAX     (1u << 20)

int sink_adjust(struct sink_options *o)
{
	if (o->cpus == 0) {
		return -EINVAL;
	}
	uint32_t kb = o->buffer_size_kb ? o->buffer_size_kb : BUFFER_KB_DEFAULT;
	kb = BASE_MIN(BASE_MAX(kb, BUFFER_KB_MIN), BUFFER_KB_MAX);
	/* Whole pages, so that buffers never share one and direct I/O stays possible. */
	kb = (kb + 3) & ~3u;
	/* The header record with both names has to fit in buffer 0. */
	size_t name = o->name ? utf16_len(o->name) : 0;
	size_t file = o->log_file ? utf16_len(o->log_file) : 0;
	if (name > 4096 || file > 8192) {
		return -EINVAL;
	}
	/* 10 more digits when %d is replaced by the counter of NEWFILE. */
	uint32_t header = etl_header_used((uint32_t)name, (uint32_t)file + 10);
	while (header > kb * 1024) {
		kb += 4;
	}
	o->buffer_size_kb = kb;

	uint32_t least = o->log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING ? 2 : 2u * o->cpus;
	o->minimum_buffers = BASE_MAX(o->minimum_buffers, least);
	if (o->log_file_mode & EVENT_TRACE_BUFFERING_MODE) {
		o->maximum_buffers = o->minimum_buffers;
	} else if (o->maximum_buffers == 0) {
		o->maximum_buffers = BASE_MAX(o->minimum_buffers + MAXIMUM_EXTRA, DEFAULT_ROOM_KB / kb);
	}
	o->maximum_buffers = BASE_MAX(o->maximum_buffers, o->minimum_buffers);
	if (o->maximum_buffers > BUFFERS_MAX) {
		return -EINVAL;
	}
	if ((o->log_file_mode & EVENT_TRACE_REAL_TIME_MODE) && o->flush_timer == 0) {
		o->flush_timer = 1;
	}
	if (o->clock == 0) {
		o->clock = 1;
	}
	return o->clock <= 3 ? 0 : -EINVAL;
}
