/* SPDX-License-Identifier: MIT
 *
 * Private to kernel: names for the addresses that stacks in a trace have. A thread of its own looks them up when a
 * session ends. Files, and maps of code that was made at run time, belong to whoever runs on this machine:
 * they may be big, slow, or many. Meanwhile the engine goes on with other sessions, and answers.
 *
 *   the engine  lists what is to be named, starts the thread, and puts out what it finds (kernel_naming_poll)
 *   the thread  opens, reads, and hands over records; it touches nothing of the engine's
 *
 * Each user's files may take so much processor time, and all of it may take so long; what is left then stays
 * without names, which is counted.
 */
#ifndef KERNEL_KERNEL_NAMING_H
#define KERNEL_KERNEL_NAMING_H

#include "kernel/kernel_seen.h"

struct kernel_naming;
/* What sessions have seen so far. NULL: nothing to be named, or no memory. */
struct kernel_naming *kernel_naming_start(struct kernel *k, uint64_t sessions);
/* Puts out what there is by now; false: that was all. */
bool kernel_naming_poll(struct kernel_naming *n, struct kernel *k);
/* Ends it, also before it has found everything. *ret_unnamed: addresses without a name, because there was no time
 * left for them, or their file was gone, could not be believed, or could not be read; and at least one for each
 * record that there was no memory for. */
void kernel_naming_end(struct kernel_naming *n, uint64_t *ret_unnamed);

/* ---- for the thread ----------------------------------------------------------------------------- */

/* A record of a manifest provider. Waits while the engine is behind; false: it wants no more. */
bool kernel_naming_event(struct kernel_naming *n, const struct guid *provider, const uint8_t descriptor[16],
			 uint32_t pid, const uint8_t *payload, uint32_t bytes);
/* An image that the trace has not told of yet. */
bool kernel_naming_image(struct kernel_naming *n, uint64_t base, uint64_t bytes, const char *path);
/* May this user's files take longer? */
bool kernel_naming_may(struct kernel_naming *n, uint32_t uid);
/* These got no names. */
void kernel_naming_missed(struct kernel_naming *n, uint32_t addresses);

/* Functions of a file, of the kernel; of code that was made at run time. */
void kernel_name_file(struct kernel_naming *n, const struct unwind_source *file, const struct kernel_seen *seen,
		      uint32_t count);
void kernel_name_kernel(struct kernel_naming *n, const struct kernel_seen *seen, uint32_t count);

/* ---- code that was made at run time (kernel_jit.c) ----------------------------------------------- */

/* The map that a process has, opened if it is to be believed; -errno. From any thread. */
int kernel_jit_open(uint32_t pid, uint32_t uid, uint64_t ret_identity[2]);
struct kernel_jit_names;                                       /* one map, read */
struct kernel_jit_names *kernel_jit_read(int fd, size_t most); /* takes the descriptor */
void kernel_jit_names_free(struct kernel_jit_names *j);
void kernel_name_jit(struct kernel_naming *n, const struct kernel_jit_names *j, const struct kernel_seen *seen,
		     uint32_t count);

#endif
