/* SPDX-License-Identifier: MIT
 *
 * LogFileMode of EVENT_TRACE_PROPERTIES: the modes of a trace session.
 */
#ifndef ETW_VALUES_SESSION_MODES_H
#define ETW_VALUES_SESSION_MODES_H

#define EVENT_TRACE_FILE_MODE_NONE       0x0
#define EVENT_TRACE_FILE_MODE_SEQUENTIAL 0x1
#define EVENT_TRACE_FILE_MODE_CIRCULAR   0x2
#define EVENT_TRACE_FILE_MODE_APPEND     0x4
#define EVENT_TRACE_REAL_TIME_MODE       0x100
#define EVENT_TRACE_DELAY_OPEN_FILE_MODE 0x200
#define EVENT_TRACE_BUFFERING_MODE       0x400
/* In the provider's processes (Wnode.Guid), a file in each: the caller's own, or through etwd all others. */
#define EVENT_TRACE_PRIVATE_LOGGER_MODE 0x800
#define EVENT_TRACE_ADD_HEADER_MODE     0x1000
#define EVENT_TRACE_USE_GLOBAL_SEQUENCE 0x4000
#define EVENT_TRACE_USE_LOCAL_SEQUENCE  0x8000
#define EVENT_TRACE_RELOG_MODE          0x10000
#define EVENT_TRACE_USE_PAGED_MEMORY    0x1000000
#define EVENT_TRACE_FILE_MODE_NEWFILE   0x8
/* FlushTimer is in milliseconds. Real-time consumers get events at least that often; 1 is the mode
 * for low latency. Log files are flushed once a second at most. */
#define EVENT_TRACE_USE_MS_FLUSH_TIMER         0x10
#define EVENT_TRACE_FILE_MODE_PREALLOCATE      0x20
#define EVENT_TRACE_NONSTOPPABLE_MODE          0x40
#define EVENT_TRACE_SECURE_MODE                0x80
#define EVENT_TRACE_USE_KBYTES_FOR_SIZE        0x2000
#define EVENT_TRACE_PRIVATE_IN_PROC            0x20000
#define EVENT_TRACE_MODE_RESERVED              0x100000
#define EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING 0x10000000
#define EVENT_TRACE_SYSTEM_LOGGER_MODE         0x2000000
#define EVENT_TRACE_ADDTO_TRIAGE_DUMP          0x80000000u
#define EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN    0x400000
#define EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN 0x800000
#define EVENT_TRACE_INDEPENDENT_SESSION_MODE   0x8000000
#define EVENT_TRACE_COMPRESSED_MODE            0x4000000

/* A bit of LogFileMode of ours, beside EVENT_TRACE_COMPRESSED_MODE: the file's buffers are Zstandard
 * frames. Smaller and faster than what Windows has, and read by our own readers only. */
#define OPENETW_TRACE_ZSTD_MODE 0x40000000u

#endif
