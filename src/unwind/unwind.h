/* SPDX-License-Identifier: MIT
 *
 * unwind: call stacks of programs without frame pointers. Front door.
 *
 *   table   one file's .eh_frame (or .debug_frame): which rule finds the caller at which address
 *   space   which file lies where in a process, kept up to date by forks, execs and mappings
 *   walk    from the registers and a copy of the top of a stack to the addresses of all callers
 *
 * Files are read once, whatever number of processes map them, under whatever number of names; rules that were worked out are kept
 * for the next stack that comes by. Code without tables (made at run time) is walked by its frame
 * pointers. Tables, stacks and registers are untrusted; whose processes they are of has a share of what is kept
 * (unwind_share.h). One thread.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "base/base.h"

/* Registers by their DWARF numbers; the last one is the program counter. */
#if defined(__x86_64__)
#define UNWIND_REGS 17u
#define UNWIND_FP   6u
#define UNWIND_SP   7u
#define UNWIND_PC   16u
#elif defined(__aarch64__)
#define UNWIND_REGS 33u
#define UNWIND_FP   29u
#define UNWIND_SP   31u
#define UNWIND_PC   32u
#endif

struct unwind_regs {
	uint64_t r[UNWIND_REGS];
};

struct unwind;
struct unwind *unwind_create(void); /* NULL: no memory */
void unwind_destroy(struct unwind *u);

/* What becomes of address spaces. A process nobody told of is read from /proc when it is needed. */
void unwind_map(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const char *path);
/* The same, with the file that the kernel says it is; zeros: it does not say. A file that was looked at a moment ago,
 * and was that one, is not looked at again. */
struct unwind_identity {
	uint64_t device, inode;
};
void unwind_map_identified(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset,
			   const char *path, const struct unwind_identity *id);
void unwind_fork(struct unwind *u, uint32_t pid, uint32_t parent);
void unwind_exec(struct unwind *u, uint32_t pid);
void unwind_exit(struct unwind *u, uint32_t pid);

/* The addresses of a stack, innermost first; at least the program counter. `stack` is a copy of the
 * memory at the stack pointer. */
uint32_t unwind_walk(struct unwind *u, uint32_t pid, const struct unwind_regs *regs, const uint8_t *stack,
		     uint32_t stack_bytes, uint64_t *frames, uint32_t max);

/* Which file an address of a process lies in. Strings and the build id live as long as `u`. */
struct unwind_module {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	uint64_t base; /* address of the page of its first loaded segment */
	uint64_t span; /* from there to its end in memory */
	uint32_t file; /* a number, the same for all processes */
};
/* False: in none, or in one that cannot be read. */
bool unwind_module_at(struct unwind *u, uint32_t pid, uint64_t address, struct unwind_module *ret);

/* That file is in the trace: its number stays what it is, and the file is remembered until the end. */
void unwind_file_keep(struct unwind *u, uint32_t file);
/* Where such a file is, for another thread to open. */
struct unwind_source {
	char *path;           /* free() */
	int fd;               /* when it is open: another descriptor, the caller's; -1 */
	uint32_t uid;         /* of the first process that had it; UINT32_MAX: not known */
	uint32_t pid;         /* of the last one */
	uint64_t identity[4]; /* device, inode, size, last change */
};
int unwind_file_source(struct unwind *u, uint32_t file, struct unwind_source *ret);
/* From any thread: opens it, if it still is the file that was mapped; -errno. *ret_root is where separate debug
 * files are looked for, the caller's, -1: in this process's own root; *ret_root_uid owns it. */
int unwind_source_open(const struct unwind_source *s, int *ret_root, uint32_t *ret_root_uid);
void unwind_source_finish(struct unwind_source *s);

struct unwind_stats {
	uint64_t stacks, frames;
	uint64_t whole; /* stacks whose outermost frame was reached */
	uint64_t known; /* frames whose rule was at hand */
	uint32_t files;
	uint64_t table_bytes;
	/* What was not kept or not read, for all users have a share (unwind_share.h). */
	uint64_t closed;   /* descriptors and tables that made room for others */
	uint64_t unread;   /* mappings of files that could not be read, or of which the user had too many */
	uint64_t unmapped; /* mappings that were not remembered */
	uint64_t cut;      /* files whose tables were too big, or took too long; stacks that did */
	uint32_t open;     /* descriptors held now */
};
/* Processor time of this thread, now. */
uint64_t unwind_work_ns(void);
/* Whose a process is: its real user; of one in a user name space of its own, whoever made that. UINT32_MAX:
 * nobody can say any more. */
uint32_t unwind_owner_of(uint32_t pid);
void unwind_stats(const struct unwind *u, struct unwind_stats *ret);

#endif
