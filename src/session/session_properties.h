/* SPDX-License-Identifier: MIT
 *
 * What a caller chooses of a trace session: the numbers of EVENT_TRACE_PROPERTIES. A start carries them through
 * all layers in this one form: the library checks them, the protocol brings them to etwd, etwd adjusts and keeps
 * them, and the buffers (src/sink) work by them. Session files and the tools' options say them, too.
 */
#ifndef SESSION_SESSION_PROPERTIES_H
#define SESSION_SESSION_PROPERTIES_H

#include "base/base.h"

/* What a buffer may have; Windows' limits. Less or more is adjusted at the start, as Windows does. */
#define SESSION_BUFFER_KB_MIN     4u
#define SESSION_BUFFER_KB_MAX     16384u
#define SESSION_BUFFER_KB_DEFAULT 64u
#define SESSION_BUFFERS_MAX       (1u << 20)

struct session_properties {
	struct guid guid; /* zero: chosen at the start */
	uint32_t clock;   /* 1 raw, 2 system time, 3 cycles; 0: the default, 1 */
	uint32_t mode;    /* EVENT_TRACE_*_MODE */
	uint32_t buffer_kb, minimum_buffers, maximum_buffers;
	uint32_t maximum_file_size; /* MB, or KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE; 0: no limit */
	uint32_t flush_timer;       /* seconds, or ms with EVENT_TRACE_USE_MS_FLUSH_TIMER; 0: none */
	uint32_t flush_threshold;   /* kept for whoever asks */
	uint32_t enable_flags;      /* EVENT_TRACE_FLAG_* of a session with kernel events */
};

/* Windows' adjustments of sizes and counts, in place: BufferSize within its limits and large enough for the header
 * of the file, minimum 2 per processor or 2 with NO_PER_PROCESSOR_BUFFERING, maximum >= minimum, FlushTimer 1 for
 * real-time sessions, a clock. -EINVAL: more buffers than there can be, or no such clock. */
int session_properties_adjust(struct session_properties *p, uint32_t processors, uint32_t header_bytes);

#endif
