/* SPDX-License-Identifier: MIT
 * Shared by kernel_walk.c, kernel_seen.c and kernel_names.c: addresses that stacks in the trace have.
 */
#ifndef KERNEL_KERNEL_SEEN_H
#define KERNEL_KERNEL_SEEN_H

#include "base/map.h"
#include "kernel/kernel_walk.h"

#define KERNEL_SPACE       0xFFFF000000000000ull
#define SEEN_IN_FILE       1u
#define SEEN_IN_KERNEL     2u
#define SEEN_IN_NO_FILE    3u /* made at run time */
#define SEEN_RECENT_STACKS 16384u

struct kernel_seen {
	uint32_t where; /* SEEN_* */
	uint32_t of;    /* the file's number, or the process */
	uint64_t at;    /* from the file's base, or the address */
};
struct kernel_jit_map {       /* of a process that makes code: perf-PID.map */
	uint32_t pid, uid;    /* uid: the process's user */
	int fd;               /* -1: to be looked for */
	uint64_t identity[2]; /* device, inode; zeros: not known */
};
struct kernel_jit {
	struct kernel_jit_map map;
	uint32_t tries;
};
struct kernel_walk {
	struct unwind *unwind;
	struct kernel_seen *seen;
	uint32_t seen_count, seen_cap;
	struct map places; /* of what was seen */
	bool full;
	struct kernel_jit *jit;
	uint32_t jit_count, jit_cap;
	uint64_t jits_refused;
	uint64_t recent[SEEN_RECENT_STACKS]; /* hashes of stacks whose addresses are in there */
};

/* What was seen, by where, of, at; free(). NULL: nothing, or no memory. */
struct kernel_seen *kernel_seen_list(const struct kernel_walk *w, uint32_t *ret_count);

/* Keeps its map open: it may be in a root that goes away with the process. */
void kernel_jit_seen(struct kernel_walk *w, uint32_t pid);
/* A copy, with a descriptor of its own. */
void kernel_jit_map_of(const struct kernel_walk *w, uint32_t pid, struct kernel_jit_map *ret);
void kernel_jit_free(struct kernel_walk *w);

#endif
