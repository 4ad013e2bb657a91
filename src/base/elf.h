/* SPDX-License-Identifier: MIT
 *
 * ELF, as far as anybody here reads it: header, program headers, sections, symbols and notes, of 32 and 64 bits, in
 * little-endian order. A file, or memory that looks like one. All numbers in it are foreign: each is checked against
 * the bytes there are. Files are read, never mapped: one that shrinks meanwhile gives a short read, not a signal.
 *
 *	struct elf e;
 *	struct elf_sections s;
 *	if (elf_file_begin(&e, fd, NULL, bytes) == 0 && elf_sections_read(&e, 4096, 1 << 20, &s) == 0) {
 *		const struct elf_section *text = elf_section_find(&s, ".text");
 *		…
 *		elf_sections_finish(&s);
 *	}
 *
 * This is the only file that knows where the fields stand. Its names are none of libelf's, which the command is linked
 * with, too.
 */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include "base/base.h"

struct elf {
	int fd; /* -1: memory; not closed here */
	const uint8_t *mem;
	uint64_t bytes;
	bool wide; /* 64 bits */
	uint16_t machine;
	uint64_t segments_at, sections_at;
	uint32_t segment_bytes, segments, section_bytes, sections, names; /* as the header has them */
};
/* fd -1: `mem`. -EBADMSG: no ELF file that we read. */
int elf_file_begin(struct elf *ret, int fd, const void *mem, uint64_t bytes);
/* -EBADMSG: not all of it is there. */
int elf_file_read(const struct elf *e, uint64_t at, void *p, size_t n);
/* A piece in memory of its own (free()), with a zero byte behind it; -EBADMSG when it is longer than `most`, too. */
int elf_file_take(const struct elf *e, uint64_t at, uint64_t n, uint64_t most, uint8_t **ret);

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, file_bytes, address, bytes;
};
/* i < e->segments */
int elf_segment_read(const struct elf *e, uint32_t i, struct elf_segment *ret);

struct elf_section {
	uint32_t name, type, link;
	uint64_t address, offset, bytes, entry;
};
struct elf_sections {
	struct elf_section *list;
	uint32_t count; /* 0: stripped of all of them */
	char *names;    /* NULL: `names_err` says why; 0: there are none */
	uint64_t names_bytes;
	int names_err;
};
/* -EBADMSG: more than `most`, or not in the file. Names may be missing for all that. */
int elf_sections_read(const struct elf *e, uint32_t most, uint64_t names_most, struct elf_sections *ret);
void elf_sections_finish(struct elf_sections *s);
/* NULL: none. */
const struct elf_section *elf_section_find(const struct elf_sections *s, const char *name);

struct elf_symbol {
	uint32_t name;
	uint8_t info;
	uint16_t section;
	uint64_t value, bytes;
};
uint32_t elf_symbol_bytes(bool wide);
void elf_symbol_parse(bool wide, const uint8_t *p, struct elf_symbol *ret);

struct elf_note {
	uint32_t type, owner_bytes, bytes;
	const uint8_t *owner, *p;
};
/* The next note of a segment or section of notes, which is aligned so; false: there is none, or it is damaged. */
bool elf_note_next(struct bytes *b, uint64_t align, struct elf_note *ret);
/* The id of a build in notes: how many bytes, 0 none. */
uint32_t elf_notes_build_id(const uint8_t *p, size_t n, uint64_t align, const uint8_t **ret);

/* One section of a 64-bit file by its name, in malloc'd bytes. -ENOENT: no such section, -ENOEXEC: no ELF file of this
 * kind, -EFBIG: longer than `max`, -EBADMSG: headers that contradict the file, -ENOMEM, or what reading says. */
int elf_section_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *ret_n);

#endif
