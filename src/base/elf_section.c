/* SPDX-License-Identifier: MIT */
#include "base/elf_section.h"

#include "base/base.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECTIONS_MAX 4096u /* of which the names are looked at */
#define NAMES_MAX    (1u << 20)

static int read_at(int fd, void *to, size_t n, uint64_t at)
{
	uint8_t *p = to;
	while (n > 0) {
		ssize_t got = pread(fd, p, n, (off_t)at);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return got < 0 ? -errno : -EBADMSG; /* the file became shorter */
		}
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static bool inside(uint64_t at, uint64_t n, uint64_t size)
{
	return at <= size && n <= size - at;
}

static int read_piece(int fd, uint64_t at, uint64_t n, uint64_t size, uint8_t **ret)
{
	if (!inside(at, n, size)) {
		return -EBADMSG;
	}
	uint8_t *p = malloc(n + 1);
	int err = p ? read_at(fd, p, n, at) : -ENOMEM;
	if (err < 0) {
		free(p);
		return err;
	}
	p[n] = 0;
	*ret = p;
	return 0;
}

/* The header fields by their documented offsets: a struct is never laid over input. */
static int find(int fd, const char *name, size_t max, const uint8_t *heads, uint32_t count, uint32_t names_index,
		uint64_t size, uint8_t **ret, size_t *ret_n)
{
	if (names_index >= count) {
		return -ENOENT; /* stripped of names */
	}
	const uint8_t *h = heads + 64 * (size_t)names_index;
	uint64_t names_bytes = le64_get(h + 32);
	uint8_t *names;
	int err = names_bytes > NAMES_MAX ? -EBADMSG : read_piece(fd, le64_get(h + 24), names_bytes, size, &names);
	if (err < 0) {
		return err;
	}
	err = -ENOENT;
	for (uint32_t i = 0; i < count && err == -ENOENT; i++) {
		h = heads + 64 * (size_t)i;
		uint32_t at = le32_get(h), type = le32_get(h + 4);
		if (at >= names_bytes || strcmp((const char *)names + at, name) != 0) {
			continue;
		}
		uint64_t n = le64_get(h + 32);
		err = type == SHT_NOBITS ? -EBADMSG : n > max ? -EFBIG : 0;
		err = err < 0 ? err : read_piece(fd, le64_get(h + 24), n, size, ret);
		*ret_n = err < 0 ? *ret_n : (size_t)n;
	}
	free(names);
	return err;
}

int elf_section_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *ret_n)
{
	uint8_t e[64];
	struct stat st;
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	uint64_t size = (uint64_t)st.st_size;
	if (!S_ISREG(st.st_mode) || size < sizeof e) {
		return -ENOEXEC;
	}
	int err = read_at(fd, e, sizeof e, 0);
	if (err < 0) {
		return err;
	}
	if (memcmp(e, ELFMAG, SELFMAG) != 0 || e[EI_CLASS] != ELFCLASS64 || e[EI_DATA] != ELFDATA2LSB) {
		return -ENOEXEC;
	}
	uint64_t at = le64_get(e + 40);
	uint32_t count = le16_get(e + 60);
	if (at == 0 || count == 0) {
		return -ENOENT;
	}
	uint8_t *heads;
	if (le16_get(e + 58) != 64 || count > SECTIONS_MAX) {
		return -EBADMSG;
	}
	err = read_piece(fd, at, 64 * (uint64_t)count, size, &heads);
	if (err == 0) {
		err = find(fd, name, max, heads, count, le16_get(e + 62), size, ret, ret_n);
		free(heads);
	}
	return err;
}
