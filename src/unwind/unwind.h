/* SPDX-License-Identifier: MIT
 *
 * unwind: call stacks of programs without frame pointers. Front door.
 *
 *   table   one file's .eh_frame (or .debug_frame): which rule finds the caller at which address
 *   space   which file lies where in a process, kept up to date by forks, execs and mappings
 *   walk    from the registers and a copy of the top of a stack to the addresses of all callers
 *
 * Files are read once, whatever number of processes map them; rules that were worked out are kept
 * for the next stack that comes by. Code without tables (made at run time) is walked by its frame
 * pointers. Tables, stacks and registers are untrusted. One thread.
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
void unwind_map(struct unwind *u, uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset,
		const char *path);
void unwind_fork(struct unwind *u, uint32_t pid, uint32_t parent);
void unwind_exec(struct unwind *u, uint32_t pid);
void unwind_exit(struct unwind *u, uint32_t pid);

/* The addresses of a stack, innermost first; at least the program counter. `stack` is a copy of the
 * memory at the stack pointer. */
uint32_t unwind_walk(struct unwind *u, uint32_t pid, const struct unwind_regs *regs,
		     const uint8_t *stack, uint32_t stack_bytes, uint64_t *frames, uint32_t max);

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

/* Such a file, by number; NULL when it cannot be read. */
struct symbol_elf;
struct symbol_elf *unwind_file_elf(struct unwind *u, uint32_t file, const char **ret_path);

struct unwind_stats {
	uint64_t stacks, frames;
	uint64_t whole; /* stacks whose outermost frame was reached */
	uint64_t known; /* frames whose rule was at hand */
	uint32_t files;
	uint64_t table_bytes;
};
void unwind_stats(const struct unwind *u, struct unwind_stats *ret);

#endif
