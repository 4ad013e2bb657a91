/* SPDX-License-Identifier: MIT
 *
 * symbol: names of addresses in ELF files of this machine. Front door.
 *
 * An ELF file is opened by path or from memory and checked against the build a trace names;
 * functions come from .symtab, or from the separate debug information (by build id, or
 * .gnu_debuglink), or from .gnu_debugdata together with .dynsym, or at least from .dynsym. Stubs of the procedure
 * linkage table are called "name@plt" (symbol_plt.c); code that has no symbol, but can be unwound, is called by the
 * address of its function as linked, "0x4a2b10" (symbol_frames.c). All bytes are untrusted: whatever does not fit is
 * left out. One thread.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "base/base.h"

#define SYMBOL_BUILD_ID_MAX 64u

struct symbol_elf;

/* -errno; -EBADMSG: no ELF file that we read (little-endian, 32 or 64 bit). Of separate debug files those are
 * believed that root owns, the caller, or the owner of this file. */
int symbol_elf_open(const char *path, struct symbol_elf **ret);
/* Where a file was found that a process has, and whose process that is. */
struct symbol_origin {
	int root; /* in which separate debug files are looked for, as the process sees them; -1: this process's own.
		   * Not taken over: it must stay open until the names are loaded, or the file is closed */
	uint32_t uid, root_uid; /* the user of the process, the owner of that root: they, and root, are believed */
	uint64_t most;          /* bytes of a table that is read; 0: as many as anybody has */
};
/* The same of a file that is open (base/open_foreign.h), by the path that the process knows it under. Takes the
 * descriptor in any case. */
int symbol_elf_open_fd(int fd, const char *path, const struct symbol_origin *o, struct symbol_elf **ret);
/* The same over memory that stays valid until close. It is looked for in no other file. */
int symbol_elf_open_memory(const void *p, size_t n, struct symbol_elf **ret);
void symbol_elf_close(struct symbol_elf *f);

/* Bytes of the build id; 0 when the file has none. */
uint32_t symbol_elf_build_id(const struct symbol_elf *f, uint8_t out[SYMBOL_BUILD_ID_MAX]);
/* Bytes from the page of its first loaded segment to the end of the last. */
uint64_t symbol_elf_span(const struct symbol_elf *f);

/* As linked: the address that the span counts from. */
uint64_t symbol_elf_first(const struct symbol_elf *f);
/* What is loaded of it: how many pieces there are, and as many of them as fit. */
struct symbol_segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t address;       /* as linked */
	bool code;
};
uint32_t symbol_elf_segments(const struct symbol_elf *f, struct symbol_segment *ret, uint32_t cap);
/* Where in memory, as linked, the byte at this offset of the file lies, as code rather than as data;
 * false: nowhere. */
bool symbol_segments_linked(const struct symbol_segment *list, uint32_t count, uint64_t offset, uint64_t *ret);
/* Another descriptor of the file, as long as its names are not loaded; -errno. */
int symbol_elf_dup(const struct symbol_elf *f);
/* A copy of a section (free()) of at most so many bytes, and its address as linked; before
 * symbol_elf_load. -ENOENT, -EFBIG. */
int symbol_elf_section(const struct symbol_elf *f, const char *name, size_t most, uint8_t **ret, size_t *ret_n,
		       uint64_t *ret_linked);

/* Looks for the names now, and lets go of the file; returns the bytes of memory they take. Else the
 * first question does. */
size_t symbol_elf_load(struct symbol_elf *f);
/* The function that holds the address, which counts from the page of the first loaded segment. NULL
 * when none does. As it stands in the file, not demangled; valid until close. */
const char *symbol_elf_find(struct symbol_elf *f, uint64_t at, uint64_t *ret_start);
/* The same, with where it ends. */
const char *symbol_elf_function(struct symbol_elf *f, uint64_t at, uint64_t *ret_start, uint64_t *ret_end);
/* Where the names come from: "" (the file itself), or another file's path. */
const char *symbol_elf_source(const struct symbol_elf *f);

/* The name for people when it is one of C++ or Rust; else the name. Names may come from anywhere: time and
 * memory are bounded (symbol_cxx.h), and a name that would take more stays as it is. free(); NULL: no
 * memory. */
char *symbol_demangle(const char *name);
/* The same out of a budget, of which each name takes a unit for a step and four for a byte of text. When nothing is
 * left, names stay as they are. */
char *symbol_demangle_within(const char *name, uint64_t *inout_left);

#endif
