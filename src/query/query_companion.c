/* SPDX-License-Identifier: MIT */
#include "query/query_companion.h"

#include "query/query_kept.h"
#include "query/query_place.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL_ROWS 1000000u /* what is made of so few fits into memory */

/* The one that is there. */
static int find(const struct companion *c, void *ret)
{
	struct place p;
	if (!c->path) {
		return -ENOENT;
	}
	int err = place_of(c->path, &p);
	int fd = err < 0 ? err : place_find(&p);
	place_close(&p);
	return fd < 0 ? fd : c->take(c->context, fd, ret);
}

/* A new file on a disk: *ret says where. */
static int file_on_disk(const struct index_file *f, const struct companion *c, struct place *ret)
{
	struct stat st;
	int err = c->path ? place_of(c->path, ret) : -ENOENT;
	int fd = err < 0 ? err : fstat(f->store.fd, &st) < 0 ? -errno : place_new(ret, st.st_mode);
	if (fd < 0) {
		place_close(ret);
	}
	for (int i = 0; i < PLACE_COUNT && fd < 0; i++) {
		if (place_open(f->path, i, NULL, ret, NULL) == 0) {
			fd = place_new(ret, 0);
			if (fd < 0) {
				place_close(ret);
			}
		}
	}
	return fd;
}

static bool is_small(const struct index_file *f)
{
	return f->store.about->rows < SMALL_ROWS || f->store.ring;
}

bool companion_folder(const struct index_file *f, char *ret, size_t bytes)
{
	bool found = false;
	for (int i = 0; i < PLACE_COUNT && !found && !is_small(f); i++) {
		struct place p;
		if (place_open(f->path, i, NULL, &p, NULL) == 0) {
			int fd = place_new(&p, 0);
			found = fd >= 0 && strlen(p.folder) < bytes;
			if (found) {
				memcpy(ret, p.folder, strlen(p.folder) + 1);
			}
			base_close(&fd);
			place_close(&p);
		}
	}
	return found;
}

/* Is this what happens when a disk is full, or has no room for this user? */
static bool is_of_disk(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG || err == -EIO || err == -EROFS;
}

static int make_on_disk(const struct index_file *f, const struct companion *c, void *ret)
{
	struct place p = {.directory = -1};
	int fd = file_on_disk(f, c, &p);
	int err = fd < 0 ? -ENOSPC : c->make(c->context, fd, p.folder, UINT64_MAX);
	if (err == 0 && c->path) {
		struct place named;
		err = place_of(c->path, &named);
		/* Without a name it is as good, this time. */
		if (err == 0 && named.directory >= 0) {
			(void)place_keep(&named, fd);
		}
		place_close(&named);
		err = 0;
	}
	place_close(&p);
	if (err < 0) {
		base_close(&fd);
		return err;
	}
	return c->take(c->context, fd, ret);
}

static int make_in_memory(const struct companion *c, uint64_t *inout_bytes, void *ret)
{
	struct stat st;
	uint64_t room = KEPT_BYTES_MAX - BASE_MIN(*inout_bytes, KEPT_BYTES_MAX);
	int fd = memfd_create("openetw-intervals", MFD_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	int err = c->make(c->context, fd, NULL, room);
	if (err == 0 && fstat(fd, &st) == 0) {
		*inout_bytes = BASE_MIN(*inout_bytes + (uint64_t)st.st_size, KEPT_BYTES_MAX);
	}
	if (err < 0) {
		base_close(&fd);
		return err;
	}
	return c->take(c->context, fd, ret);
}

int companion_of(const struct index_file *f, const struct companion *c, uint64_t *inout_bytes, void *ret)
{
	if (find(c, ret) == 0) {
		return 0;
	}
	int err = !c->path && is_small(f) ? -ENOSPC : make_on_disk(f, c, ret);
	return is_of_disk(err) ? make_in_memory(c, inout_bytes, ret) : err;
}
