/* SPDX-License-Identifier: MIT
 *
 * Marks: texts that somebody puts into whatever is recorded at the moment. Each engine listens on
 * an abstract socket whose name begins like this; its user and root may write.
 */
#ifndef KERNEL_KERNEL_MARK_H
#define KERNEL_KERNEL_MARK_H

#define KERNEL_MARK_SOCKET "openetw-mark-"
#define KERNEL_MARK_BYTES  1024u
/* A datagram: u64 time (CLOCK_MONOTONIC, ns), u32 process, u32 thread, then the text without a NUL.
 */
#define KERNEL_MARK_HEAD 16u

/* To every engine that listens and may be told: how many there were. */
int kernel_mark_send(const char *text);

#endif
