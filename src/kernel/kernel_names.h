/* SPDX-License-Identifier: MIT
 *
 * What files are called. A file's key is an opaque number made of device, inode and generation with a
 * secret of this collector's, so that it is the same in every event and gives no address away.
 * Names are told to a session before the first event that has the key (FileCreate), and all of them
 * again at its end (FileRundown).
 */
#ifndef KERNEL_KERNEL_NAMES_H
#define KERNEL_KERNEL_NAMES_H

#include "kernel/kernel_bpf.h"

struct kernel_names;
struct kernel_names *kernel_names_create(void);
void kernel_names_destroy(struct kernel_names *n);

/* A number for anything else that must be opaque: open files. 0 stays 0. */
uint64_t kernel_names_opaque(const struct kernel_names *n, uint64_t value);
/* The key of a file; 0 for no file. */
uint64_t kernel_names_key(const struct kernel_names *n, uint64_t inode, uint32_t device, uint32_t generation);
/* Is called this from now on. */
void kernel_names_learn(struct kernel_names *n, uint64_t key, const char *path);
/* The key of what has this path, as far as it is known; of a path nobody opened yet one of its own. */
uint64_t kernel_names_of_path(struct kernel_names *n, const char *path);

/* Tells the record's sessions that do not know it yet. */
void kernel_names_tell(struct kernel_names *n, struct kernel *k, uint64_t key, const struct kbpf_record *of);
/* The same to those sessions, in the words of who uses it. */
void kernel_names_tell_as(struct kernel *k, uint64_t key, const char *path, const struct kbpf_record *of,
			  uint64_t sessions);
/* The file is gone: says so to those that knew it. */
void kernel_names_remove(struct kernel_names *n, struct kernel *k, const char *path, const struct kbpf_record *of);
/* A file, or everything below a directory, has another path. */
void kernel_names_rename(struct kernel_names *n, const char *from, const char *to);
/* Every file these sessions know. */
void kernel_names_rundown(struct kernel_names *n, struct kernel *k, uint64_t sessions);

/* A raw record's text into a path: `user` as the caller wrote it (may be ""), below the directory
 * `base`, names from the last to the first, each terminated. */
void kernel_names_path(const char *user, size_t user_bytes, const char *base, size_t base_bytes, char *out, size_t cap);
/* Where a file system is mounted, by its device number as the kernel writes it; "" unknown. */
const char *kernel_names_mount(struct kernel_names *n, uint32_t device);

#endif
