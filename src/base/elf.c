/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECTIONS_MAX 4096u /* of which elf_section_read() looks at the names */
#define NAMES_MAX    (1u << 20)

int elf_file_read(const struct elf *e, uint64_t at, void *p, size_t n)
{
	if (at > e->bytes || n > e->bytes - at) {
		return -EBADMSG;
	}
	if (e->fd < 0) {
		memcpy(p, e->mem + at, n);
		return 0;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(e->fd, (char *)p + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return got < 0 ? -errno : -EBADMSG; /* the file became shorter */
		}
		done += (size_t)got;
	}
	return 0;
}

int elf_file_take(const struct elf *e, uint64_t at, uint64_t n, uint64_t most, uint8_t **ret)
{
	if (n > most || at > e->bytes || n > e->bytes - at) {
		return -EBADMSG;
	}
	uint8_t *p = malloc((size_t)n + 1);
	if (!p) {
		return -ENOMEM;
	}
	int err = elf_file_read(e, at, p, (size_t)n);
	if (err < 0) {
		free(p);
		return err;
	}
	p[n] = 0;
	*ret = p;
	return 0;
}

/* A struct is never laid over input: fields by their documented offsets, of both widths. */
static uint64_t word(bool wide, const uint8_t *p)
{
	return wide ? le64_get(p) : le32_get(p);
}

int elf_file_begin(struct elf *ret, int fd, const void *mem, uint64_t bytes)
{
	uint8_t h[sizeof(Elf64_Ehdr)] = {0};
	struct elf e = {.fd = fd, .mem = mem, .bytes = bytes};
	int err = elf_file_read(&e, 0, h, sizeof(Elf32_Ehdr));
	if (err < 0) {
		return err;
	}
	e.wide = h[EI_CLASS] == ELFCLASS64;
	if (memcmp(h, ELFMAG, SELFMAG) != 0 || h[EI_DATA] != ELFDATA2LSB || (!e.wide && h[EI_CLASS] != ELFCLASS32)) {
		return -EBADMSG;
	}
	err = e.wide ? elf_file_read(&e, 0, h, sizeof h) : 0;
	if (err < 0) {
		return err;
	}
	/* Both headers end alike: sizes and counts of 16 bits. */
	const uint8_t *tail = h + (e.wide ? 52 : 40);
	e.machine = le16_get(h + 18);
	e.segments_at = word(e.wide, h + (e.wide ? 32 : 28));
	e.sections_at = word(e.wide, h + (e.wide ? 40 : 32));
	e.segment_bytes = le16_get(tail + 2);
	e.segments = le16_get(tail + 4);
	e.section_bytes = le16_get(tail + 6);
	e.sections = le16_get(tail + 8);
	e.names = le16_get(tail + 10);
	*ret = e;
	return 0;
}

/* ---- segments --------------------------------------------------------------------------------- */

int elf_segment_read(const struct elf *e, uint32_t i, struct elf_segment *ret)
{
	uint8_t h[sizeof(Elf64_Phdr)];
	bool wide = e->wide;
	uint32_t need = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	int err = e->segment_bytes < need ? -EBADMSG
					  : elf_file_read(e, e->segments_at + (uint64_t)i * e->segment_bytes, h, need);
	if (err < 0) {
		return err;
	}
	*ret = (struct elf_segment){
		.type = le32_get(h),
		.flags = le32_get(h + (wide ? 4 : 24)),
		.offset = word(wide, h + (wide ? 8 : 4)),
		.address = word(wide, h + (wide ? 16 : 8)),
		.file_bytes = word(wide, h + (wide ? 32 : 16)),
		.bytes = word(wide, h + (wide ? 40 : 20)),
	};
	return 0;
}

/* ---- sections --------------------------------------------------------------------------------- */

static uint32_t section_bytes(const struct elf *e)
{
	return e->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static void section_parse(bool wide, const uint8_t *h, struct elf_section *ret)
{
	*ret = (struct elf_section){
		.name = le32_get(h),
		.type = le32_get(h + 4),
		.address = word(wide, h + (wide ? 16 : 12)),
		.offset = word(wide, h + (wide ? 24 : 16)),
		.bytes = word(wide, h + (wide ? 32 : 20)),
		.link = le32_get(h + (wide ? 40 : 24)),
		.entry = word(wide, h + (wide ? 56 : 36)),
	};
}

static int section_read(const struct elf *e, uint32_t i, struct elf_section *ret)
{
	uint8_t h[sizeof(Elf64_Shdr)];
	int err = elf_file_read(e, e->sections_at + (uint64_t)i * e->section_bytes, h, section_bytes(e));
	if (err == 0) {
		section_parse(e->wide, h, ret);
	}
	return err;
}

static int list_read(const struct elf *e, struct elf_sections *s)
{
	uint32_t need = section_bytes(e);
	uint8_t *heads;
	int err;
	if (e->section_bytes != need) { /* nobody writes such files, but they may */
		err = 0;
		for (uint32_t i = 0; i < s->count && err == 0; i++) {
			err = section_read(e, i, &s->list[i]);
		}
		return err;
	}
	err = elf_file_take(e, e->sections_at, (uint64_t)s->count * need, UINT64_MAX, &heads);
	if (err < 0) {
		return err;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		section_parse(e->wide, heads + (size_t)i * need, &s->list[i]);
	}
	free(heads);
	return 0;
}

int elf_sections_read(const struct elf *e, uint32_t most, uint64_t names_most, struct elf_sections *ret)
{
	struct elf_section first;
	struct elf_sections s = {.count = 0};
	if (e->sections_at == 0) {
		*ret = s;
		return 0;
	}
	int err = e->section_bytes < section_bytes(e) ? -EBADMSG : section_read(e, 0, &first);
	if (err < 0) {
		return err;
	}
	/* More than fit their fields: the first section has the numbers. */
	s.count = e->sections == 0 ? (uint32_t)BASE_MIN(first.bytes, UINT32_MAX) : e->sections;
	uint32_t names = e->names == SHN_XINDEX ? first.link : e->names;
	if (s.count > most) {
		return -EBADMSG;
	}
	s.list = calloc(s.count ? s.count : 1, sizeof *s.list);
	err = s.list ? list_read(e, &s) : -ENOMEM;
	if (err == 0 && names < s.count) {
		uint8_t *text = NULL;
		s.names_bytes = s.list[names].bytes;
		s.names_err = elf_file_take(e, s.list[names].offset, s.names_bytes, names_most, &text);
		s.names = (char *)text;
		s.names_bytes = text ? s.names_bytes : 0;
		err = s.names_err == -ENOMEM ? -ENOMEM : 0;
	}
	if (err < 0) {
		elf_sections_finish(&s);
		return err;
	}
	*ret = s;
	return 0;
}

void elf_sections_finish(struct elf_sections *s)
{
	free(s->list);
	free(s->names);
	*s = (struct elf_sections){.count = 0};
}

const struct elf_section *elf_section_find(const struct elf_sections *s, const char *name)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->list[i].name < s->names_bytes && strcmp(s->names + s->list[i].name, name) == 0) {
			return &s->list[i];
		}
	}
	return NULL;
}

/* ---- symbols ---------------------------------------------------------------------------------- */

uint32_t elf_symbol_bytes(bool wide)
{
	return wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

void elf_symbol_parse(bool wide, const uint8_t *p, struct elf_symbol *ret)
{
	*ret = (struct elf_symbol){
		.name = le32_get(p),
		.info = p[wide ? 4 : 12],
		.section = le16_get(p + (wide ? 6 : 14)),
		.value = word(wide, p + (wide ? 8 : 4)),
		.bytes = word(wide, p + (wide ? 16 : 8)),
	};
}

/* ---- notes ------------------------------------------------------------------------------------ */

bool elf_note_next(struct bytes *b, uint64_t align, struct elf_note *ret)
{
	size_t left = bytes_left(b), pad = align == 8 ? 7 : 3;
	if (left < 12) {
		return false;
	}
	struct elf_note n = {.owner_bytes = bytes_u32(b)};
	n.bytes = bytes_u32(b);
	n.type = bytes_u32(b);
	if (n.owner_bytes > left || n.bytes > left) {
		return false;
	}
	n.owner = bytes_take(b, (n.owner_bytes + pad) & ~pad);
	size_t padded = (n.bytes + pad) & ~pad;
	left = bytes_left(b);
	if (!n.owner || n.bytes > left) {
		return false;
	}
	n.p = bytes_take(b, BASE_MIN(padded, left)); /* the last one may end without padding */
	*ret = n;
	return true;
}

uint32_t elf_notes_build_id(const uint8_t *p, size_t n, uint64_t align, const uint8_t **ret)
{
	struct bytes b = bytes_of(p, n);
	struct elf_note note;
	while (elf_note_next(&b, align, &note)) {
		if (note.type == NT_GNU_BUILD_ID && note.owner_bytes == 4 && memcmp(note.owner, "GNU", 4) == 0) {
			*ret = note.p;
			return note.bytes;
		}
	}
	return 0;
}

/* ---- one section ------------------------------------------------------------------------------ */

int elf_section_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *ret_n)
{
	struct stat st;
	struct elf e;
	struct elf_sections s;
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	int err = S_ISREG(st.st_mode) ? elf_file_begin(&e, fd, NULL, (uint64_t)st.st_size) : -ENOEXEC;
	if (err < 0 || !e.wide) {
		return err == 0 || err == -EBADMSG ? -ENOEXEC : err;
	}
	err = elf_sections_read(&e, SECTIONS_MAX, NAMES_MAX, &s);
	if (err < 0) {
		return err;
	}
	const struct elf_section *found = elf_section_find(&s, name);
	if (!found) {
		err = s.names_err < 0 ? s.names_err : -ENOENT;
	} else if (found->type == SHT_NOBITS) {
		err = -EBADMSG;
	} else if (found->bytes > max) {
		err = -EFBIG;
	} else {
		err = elf_file_take(&e, found->offset, found->bytes, max, ret);
		*ret_n = err < 0 ? *ret_n : (size_t)found->bytes;
	}
	elf_sections_finish(&s);
	return err;
}
