/* SPDX-License-Identifier: MIT
 *
 * Bits of LogFileMode, with the values of the Windows headers: the daemon does not include those.
 */
#ifndef ETWD_ETWD_MODES_H
#define ETWD_ETWD_MODES_H

#define MODE_SEQUENTIAL	      0x00000001u
#define MODE_CIRCULAR	      0x00000002u
#define MODE_APPEND	      0x00000004u
#define MODE_NEWFILE	      0x00000008u
#define MODE_MS_FLUSH_TIMER   0x00000010u
#define MODE_PREALLOCATE      0x00000020u
#define MODE_NONSTOPPABLE     0x00000040u
#define MODE_SECURE	      0x00000080u
#define MODE_REAL_TIME	      0x00000100u
#define MODE_BUFFERING	      0x00000400u
#define MODE_PRIVATE_LOGGER   0x00000800u
#define MODE_USE_KBYTES	      0x00002000u
#define MODE_GLOBAL_SEQUENCE  0x00004000u
#define MODE_LOCAL_SEQUENCE   0x00008000u
#define MODE_RELOG	      0x00010000u
#define MODE_PRIVATE_IN_PROC  0x00020000u
#define MODE_RESERVED	      0x00100000u
#define MODE_SYSTEM_LOGGER    0x02000000u
#define MODE_NO_PER_PROCESSOR 0x10000000u
#define MODE_COMPRESSED	      0x04000000u
#define MODE_ZSTD	      0x40000000u /* ours */
#define MODE_UNKNOWN	      0x202C0000u /* without a documented meaning */

#endif
