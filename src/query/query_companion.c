/* SPDX-License-Identifier: MIT */
#include "query/query_companion.h"

#include "query/query_kept.h"
#include "query/query_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL_ROWS 1000000u /* what is made of so few fits into memory */

enum { NAMES = 2 };
/* Where it may have a name: beside the index, or in the user's cache directory. */
static int named(const struct index_file *f, const struct companion *c, int which, struct place *ret)
{
	struct place cache;
	ret->directory = -1;
	if (which == 0) {
		return place_of(c->path, ret);
	}
	int err = place_open(f->path, PLACE_CACHE, NULL, &cache, NULL);
	if (err < 0) {
		return err;
	}
	char *path = place_companion(&cache, c->what);
	place_close(&cache);
	err = path ? place_of(path, ret) : -ENOMEM;
	free(path);
	return err;
}

/* The one that is there. */
static int find(const struct index_file *f, const struct companion *c, void *ret)
{
	int err = -ENOENT;
	for (int i = 0; i < NAMES && c->path && err < 0; i++) {
		struct place p;
		err = named(f, c, i, &p);
		int fd = err < 0 ? err : place_find(&p);
		place_close(&p);
		err = fd < 0 ? fd : c->take(c->context, fd, ret);
	}
	return err;
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

void companion_begun_end(struct companion_begun *b)
{
	if (b->is) {
		base_close(&b->fd);
		b->is = false;
	}
}

/* A file for it, in a folder or in memory. */
static int begin(const struct index_file *f, const struct companion *c, bool in_memory, uint64_t bytes_most)
{
	struct companion_begun *b = c->begun;
	struct place p = {.directory = -1};
	b->fd = in_memory ? memfd_create("openetw-intervals", MFD_CLOEXEC) : file_on_disk(f, c, &p);
	if (b->fd < 0) {
		return in_memory ? -errno : -ENOSPC;
	}
	b->is = true;
	b->in_memory = in_memory;
	b->bytes_most = bytes_most;
	snprintf(b->folder, sizeof b->folder, "%s", in_memory ? "" : p.folder);
	place_close(&p);
	return 0;
}

/* Its name. Without one it is as good, this time. */
static void keep(const struct index_file *f, const struct companion *c)
{
	int err = -ENOENT;
	for (int i = 0; i < NAMES && c->path && err < 0; i++) {
		struct place p;
		err = named(f, c, i, &p);
		err = err < 0 ? err : place_keep(&p, c->begun->fd);
		place_close(&p);
	}
}

static int go_on(const struct index_file *f, const struct companion *c, uint64_t *inout_bytes, void *ret)
{
	struct companion_begun *b = c->begun;
	struct stat st;
	int err = c->make(c->context, b->fd, b->in_memory ? NULL : b->folder, b->bytes_most);
	if (err == -ECANCELED) {
		return err;
	}
	if (err < 0) {
		companion_begun_end(b);
		return err;
	}
	if (!b->in_memory) {
		keep(f, c);
	} else if (fstat(b->fd, &st) == 0) {
		*inout_bytes = BASE_MIN(*inout_bytes + (uint64_t)st.st_size, KEPT_BYTES_MAX);
	}
	b->is = false;
	return c->take(c->context, b->fd, ret);
}

int companion_of(const struct index_file *f, const struct companion *c, uint64_t *inout_bytes, void *ret)
{
	int err = -ENOSPC;
	if (!c->begun->is) {
		if (find(f, c, ret) == 0) {
			return 0;
		}
		err = !c->path && is_small(f) ? -ENOSPC : begin(f, c, false, UINT64_MAX);
	}
	if (c->begun->is) {
		err = go_on(f, c, inout_bytes, ret);
	}
	if (is_of_disk(err)) {
		err = begin(f, c, true, KEPT_BYTES_MAX - BASE_MIN(*inout_bytes, KEPT_BYTES_MAX));
		err = err < 0 ? err : go_on(f, c, inout_bytes, ret);
	}
	return err;
}
