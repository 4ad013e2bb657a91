/* SPDX-License-Identifier: MIT
 *
 * The bits of LogFileMode that change what the sink does [doc]. evntrace.h has the Windows names;
 * they are not used here because Windows spellings stay in api_*.c.
 */
#ifndef SINK_SINK_MODES_H
#define SINK_SINK_MODES_H

#define SINK_MODE_SEQUENTIAL	   0x00000001u
#define SINK_MODE_CIRCULAR	   0x00000002u
#define SINK_MODE_APPEND	   0x00000004u
#define SINK_MODE_NEWFILE	   0x00000008u
#define SINK_MODE_PREALLOCATE	   0x00000020u
#define SINK_MODE_REAL_TIME	   0x00000100u
#define SINK_MODE_BUFFERING	   0x00000400u
#define SINK_MODE_PRIVATE	   0x00000800u
#define SINK_MODE_USE_KBYTES	   0x00002000u
#define SINK_MODE_PRIVATE_IN_PROC  0x00020000u
#define SINK_MODE_COMPRESSED	   0x04000000u
#define SINK_MODE_ZSTD		   0x40000000u /* ours, beside COMPRESSED: not XPRESS */
#define SINK_MODE_NO_PER_PROCESSOR 0x10000000u

#endif
