/* SPDX-License-Identifier: MIT */
#include "query/build_set.h"

#include "base/map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BITS 12u

int build_space_open(const char *directory)
{
	int fd = directory ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
	if (fd < 0) { /* a file system that has no such files, or no directory */
		fd = memfd_create("openetw-index", MFD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int build_space_grow(struct build_space *s, const char *directory, size_t bytes)
{
	if (bytes <= s->bytes) {
		return 0;
	}
	if (!s->p) {
		int fd = build_space_open(directory);
		if (fd < 0) {
			return fd;
		}
		s->fd = fd;
	}
	/* Allocated, not only promised: a full disk is an error here and no signal later. */
	int err = posix_fallocate(s->fd, (off_t)s->bytes, (off_t)(bytes - s->bytes));
	if (err) {
		return -err;
	}
	void *p = s->p ? mremap(s->p, s->bytes, bytes, MREMAP_MAYMOVE)
		       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (p == MAP_FAILED) {
		return -errno;
	}
	s->p = p;
	s->bytes = bytes;
	return 0;
}

void build_space_free(struct build_space *s)
{
	if (s->p) {
		munmap(s->p, s->bytes);
	}
	base_close(&s->fd);
	*s = (struct build_space){.fd = -1};
}

static size_t home(const struct build_set *s, uint64_t value)
{
	return (size_t)(map_mix(value ^ s->secret, 0x9E3779B97F4A7C15ull) >> (64 - s->bits));
}

/* All numbers stand in `items`, so the table of places is made from them, in place: half of it is not needed while the
 * other half grows. */
static int slots_make(struct build_set *s, uint32_t bits)
{
	int err = build_space_grow(&s->slots, s->directory, sizeof(uint32_t) << bits);
	if (err < 0) {
		return err;
	}
	uint32_t *slots = s->slots.p;
	const uint64_t *items = s->items.p;
	memset(slots, 0, sizeof(uint32_t) << bits);
	s->bits = bits;
	size_t mask = ((size_t)1 << bits) - 1;
	for (uint32_t i = 1; i < s->count; i++) {
		size_t at = home(s, items[i]);
		while (slots[at]) {
			at = (at + 1) & mask;
		}
		slots[at] = i;
	}
	return 0;
}

int build_set_create(struct build_set *s, const char *directory)
{
	*s = (struct build_set){.directory = directory, .items.fd = -1, .slots.fd = -1, .count = 1};
	s->secret = map_secret_of_process();
	int err = build_space_grow(&s->items, directory, sizeof(uint64_t) << FIRST_BITS);
	return err < 0 ? err : slots_make(s, FIRST_BITS);
}

void build_set_free(struct build_set *s)
{
	build_space_free(&s->items);
	build_space_free(&s->slots);
}

int build_set_number(struct build_set *s, uint64_t value, uint32_t *ret)
{
	if (value == 0) {
		*ret = 0;
		return 0;
	}
	uint32_t *slots = s->slots.p;
	uint64_t *items = s->items.p;
	size_t mask = ((size_t)1 << s->bits) - 1, at = home(s, value);
	for (; slots[at]; at = (at + 1) & mask) {
		if (items[slots[at]] == value) {
			*ret = slots[at];
			return 0;
		}
	}
	if (s->count == (s->most ? s->most : BUILD_SET_MOST)) {
		return -ENOSPC;
	}
	if ((s->count + 1ull) * sizeof *items > s->items.bytes) {
		int err = build_space_grow(&s->items, s->directory, 2 * s->items.bytes);
		if (err < 0) {
			return err;
		}
		items = s->items.p;
	}
	items[s->count] = value;
	slots[at] = s->count;
	*ret = s->count++;
	/* At most four fifths full. */
	return s->count > (size_t)4 * (mask + 1) / 5 ? slots_make(s, s->bits + 1) : 0;
}
