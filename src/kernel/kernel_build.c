/* SPDX-License-Identifier: MIT
 *
 * Build ids: which build of a program or library a file is. They stand in a note of the ELF file, whose
 * bytes are anybody's.
 */
#include "kernel/kernel_process.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES	      2048u /* a power of two */
#define HEADERS_BYTES 4096u
#define NOTES_BYTES   4096u

struct seen {
	uint64_t device, inode, changed;
	struct kernel_build build;
	bool used;
};
struct kernel_builds {
	struct seen file[FILES];
};

struct kernel_builds *kernel_builds_create(void)
{
	return calloc(1, sizeof(struct kernel_builds));
}

void kernel_builds_destroy(struct kernel_builds *b)
{
	free(b);
}

struct kernel_build kernel_build_of_notes(const uint8_t *p, size_t n)
{
	struct kernel_build b = {.n = 0};
	struct bytes c = bytes_of(p, n);
	while (bytes_left(&c) >= 12) {
		uint32_t name_bytes = bytes_u32(&c), id_bytes = bytes_u32(&c), type = bytes_u32(&c);
		if (name_bytes > n || id_bytes > n) {
			break;
		}
		const uint8_t *name = bytes_take(&c, (name_bytes + 3) & ~3u);
		const uint8_t *id = bytes_take(&c, (id_bytes + 3) & ~3u);
		if (!name || !id) {
			break;
		}
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0) {
			b.n = (uint8_t)BASE_MIN(id_bytes, KERNEL_BUILD_ID);
			memcpy(b.id, id, b.n);
			break;
		}
	}
	return b;
}

static struct kernel_build read_build(int fd)
{
	struct kernel_build none = {.n = 0};
	uint8_t head[HEADERS_BYTES], notes[NOTES_BYTES];
	ssize_t n = pread(fd, head, sizeof head, 0);
	Elf64_Ehdr e;
	if (n < (ssize_t)sizeof e || memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_CLASS] != ELFCLASS64 ||
	    head[EI_DATA] != ELFDATA2LSB) {
		return none;
	}
	memcpy(&e, head, sizeof e);
	for (uint32_t i = 0; i < e.e_phnum && e.e_phentsize == sizeof(Elf64_Phdr); i++) {
		Elf64_Phdr h;
		uint64_t at = e.e_phoff + (uint64_t)i * sizeof h;
		if (at < e.e_phoff || at > (uint64_t)n || (uint64_t)n - at < sizeof h) {
			break;
		}
		memcpy(&h, head + at, sizeof h);
		if (h.p_type != PT_NOTE || h.p_offset > INT64_MAX) {
			continue;
		}
		ssize_t got = pread(fd, notes, BASE_MIN(h.p_filesz, sizeof notes), (off_t)h.p_offset);
		struct kernel_build b = kernel_build_of_notes(notes, got > 0 ? (size_t)got : 0);
		if (b.n) {
			return b;
		}
	}
	return none;
}

struct kernel_build kernel_build_of_file(struct kernel_builds *b, const char *path)
{
	struct kernel_build none = {.n = 0};
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		return none;
	}
	struct seen *s = NULL;
	uint64_t hash = ((uint64_t)st.st_ino * 0x9E3779B97F4A7C15ull ^ (uint64_t)st.st_dev) >> 20;
	for (uint32_t i = 0; b && i < 8; i++) {
		struct seen *x = &b->file[(hash + i) & (FILES - 1)];
		if (x->used && x->inode == (uint64_t)st.st_ino && x->device == (uint64_t)st.st_dev &&
		    x->changed == (uint64_t)st.st_mtime) {
			return x->build;
		}
		if (!s && (!x->used || i == 7)) {
			s = x;
		}
	}
	/* Opening a pipe or a device would wait or do something; a regular file does not. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct kernel_build build = fd >= 0 ? read_build(fd) : none;
	base_close(&fd);
	if (s) {
		*s = (struct seen){.device = (uint64_t)st.st_dev,
				   .inode = (uint64_t)st.st_ino,
				   .changed = (uint64_t)st.st_mtime,
				   .build = build,
				   .used = true};
	}
	return build;
}
