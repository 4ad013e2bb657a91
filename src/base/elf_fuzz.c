/* SPDX-License-Identifier: MIT
 * ELF files from anywhere: a daemon looks into whatever its user runs.
 */
#include "base/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint8_t sum;

static void touch(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sum = (uint8_t)(sum + p[i]);
	}
}

static void look_at(const struct elf *e, const struct elf_section *s)
{
	struct bytes b;
	struct elf_note note;
	struct elf_symbol symbol;
	uint8_t *p;
	if (elf_file_take(e, s->offset, s->bytes, 1 << 20, &p) < 0) {
		return;
	}
	b = bytes_of(p, (size_t)s->bytes);
	while (s->type == SHT_NOTE && elf_note_next(&b, 4, &note)) {
		touch(note.owner, note.owner_bytes);
		touch(note.p, note.bytes);
	}
	for (size_t at = 0; s->type == SHT_SYMTAB && at + elf_symbol_bytes(e->wide) <= s->bytes;
	     at += elf_symbol_bytes(e->wide)) {
		elf_symbol_parse(e->wide, p + at, &symbol);
		sum = (uint8_t)(sum + symbol.name + symbol.info);
	}
	free(p);
}

/* The same bytes as memory, of both widths, all of it. */
static void in_memory(const uint8_t *data, size_t n)
{
	struct elf e;
	struct elf_segment g;
	struct elf_sections s;
	if (elf_file_begin(&e, -1, data, n) < 0) {
		return;
	}
	for (uint32_t i = 0; i < e.segments && elf_segment_read(&e, i, &g) == 0; i++) {
		sum = (uint8_t)(sum + g.type);
	}
	if (elf_sections_read(&e, 4096, 1 << 20, &s) == 0) {
		for (uint32_t i = 0; i < BASE_MIN(s.count, 64u); i++) {
			look_at(&e, &s.list[i]);
		}
		elf_sections_finish(&s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const names[] = {".openetw.schema", "", ".shstrtab"};
	in_memory(data, n);
	int fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
		base_close(&fd);
		return 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		uint8_t *p;
		size_t bytes = 0;
		if (elf_section_read(fd, names[i], 1 << 20, &p, &bytes) == 0) {
			touch(p, bytes);
			free(p);
		}
	}
	close(fd);
	return 0;
}
