/* SPDX-License-Identifier: MIT
 * Private to kernel: stacks made whole, and names for what was seen in them.
 */
#ifndef KERNEL_KERNEL_WALK_H
#define KERNEL_KERNEL_WALK_H

#include "kernel/kernel_process.h"

/* OpenETW.Symbols. Its event 1, Functions, names functions of
 * one image: the TimeDateStamp, ImageChecksum and FileName of the Image events it is about, how many
 * functions follow, and of each the offset from the image's base (u64), the size (u32) and the name
 * (8-bit, terminated). */
#define KERNEL_SYMBOLS_GUID GUID_INIT(KP_OPEN_ETW_SYMBOLS_GUID)

struct kernel_walk;
struct kernel_walk *kernel_walk_create(void); /* NULL: no memory */
void kernel_walk_destroy(struct kernel_walk *w);
struct unwind *kernel_walk_unwind(struct kernel_walk *w);

/* Puts the user frames of a sample behind its kernel frames. */
void kernel_walk_finish(struct kernel_walk *w, struct kernel_perf_record *p);
/* These addresses are in the trace: they want names at its end. */
void kernel_walk_seen(struct kernel_walk *w, uint32_t pid, const uint64_t *frames, uint32_t count);
/* Where the file that holds `code` begins, how big it is in memory, and which build it is; untouched
 * when it cannot be read. */
void kernel_walk_identify(struct kernel_walk *w, uint32_t pid, uint64_t code, const char *path, uint64_t *inout_base,
			  uint64_t *inout_bytes, struct kernel_build *inout_build);
/* Nobody records any more: lets go of files and addresses. */
void kernel_walk_forget(struct kernel_walk *w);

#endif
