/* SPDX-License-Identifier: MIT */
#include "query/query_place.h"

#include "base/open_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_HASH_BYTES 65536u

int place_key(int trace, struct store_key *ret)
{
	struct stat st;
	memset(ret, 0, sizeof *ret);
	if (fstat(trace, &st) < 0) {
		return -errno;
	}
	ret->trace_bytes = (uint64_t)st.st_size;
	ret->trace_mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	uint8_t *head = malloc(KEY_HASH_BYTES);
	if (!head) {
		return -ENOMEM;
	}
	ssize_t n = pread(trace, head, KEY_HASH_BYTES, 0);
	int err = n < 0 ? -errno : 0;
	if (n >= 0) {
		sha1(head, (size_t)n, ret->trace_hash);
	}
	free(head);
	return err;
}

/* ~/.cache/openetw, made when it is missing. */
static int cache_directory(const char *given, char *ret, size_t bytes)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;
	if (given) {
		n = snprintf(ret, bytes, "%s", given);
	} else if (xdg && xdg[0] == '/') {
		n = snprintf(ret, bytes, "%s/openetw", xdg);
	} else if (home && home[0] == '/') {
		n = snprintf(ret, bytes, "%s/.cache/openetw", home);
	} else {
		return -ENOENT;
	}
	if (n < 0 || (size_t)n >= bytes) {
		return -ENAMETOOLONG;
	}
	for (char *p = ret + 1; *p; p++) {
		if (*p == '/') {
			*p = 0;
			(void)mkdir(ret, 0700); /* what stays wrong is said when the last one is opened */
			*p = '/';
		}
	}
	return mkdir(ret, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Another trace of the same name has another place. */
static int cache_name(const char *trace, char *ret, size_t bytes)
{
	char *whole = realpath(trace, NULL);
	uint8_t h[20];
	if (!whole) {
		return -errno;
	}
	const char *name = strrchr(whole, '/');
	sha1(whole, strlen(whole), h);
	snprintf(ret, bytes, "%.200s-%08x%08x.idx", name ? name + 1 : whole, le32_get(h), le32_get(h + 4));
	free(whole);
	return 0;
}

/* The parts of its path. */
static int place_take(struct place *ret, struct diag *d)
{
	const char *last = strrchr(ret->path, '/');
	size_t bytes = last ? (size_t)(last - ret->path) : 0;
	snprintf(ret->folder, sizeof ret->folder, "%.*s", (int)bytes, ret->path);
	if (bytes == 0) {
		snprintf(ret->folder, sizeof ret->folder, "%s", last ? "/" : ".");
	}
	ret->directory = open_output_dir(ret->path, ret->name, d);
	return ret->directory < 0 ? ret->directory : 0;
}

/* A trace may be named by a descriptor of this process. Its index lies beside the file all the same, where that has a name. */
static const char *place_beside(const char *trace, char buf[PATH_MAX])
{
	struct stat file, named;
	bool link = strncmp(trace, "/proc/self/fd/", 14) == 0;
	ssize_t n = link ? readlink(trace, buf, PATH_MAX - 1) : -1;
	if (n <= 0) {
		return trace;
	}
	buf[n] = 0;
	return stat(trace, &file) == 0 && lstat(buf, &named) == 0 && file.st_dev == named.st_dev &&
			       file.st_ino == named.st_ino
		       ? buf
		       : trace;
}

int place_open(const char *trace, int which, const char *cache, struct place *ret, struct diag *d)
{
	char folder[PATH_MAX - NAME_MAX - 2], name[NAME_MAX + 1], whole[PATH_MAX];
	int n, err = 0;
	ret->directory = -1;
	if (which == PLACE_BESIDE) {
		n = snprintf(ret->path, sizeof ret->path, "%s.idx", place_beside(trace, whole));
	} else {
		err = cache_directory(cache, folder, sizeof folder);
		err = err ? err : cache_name(trace, name, sizeof name);
		if (err < 0) {
			return err;
		}
		n = snprintf(ret->path, sizeof ret->path, "%s/%s", folder, name);
	}
	if (n < 0 || (size_t)n >= sizeof ret->path) {
		return -ENAMETOOLONG;
	}
	return place_take(ret, d);
}

int place_of(const char *path, struct place *ret)
{
	ret->directory = -1;
	int n = snprintf(ret->path, sizeof ret->path, "%s", path);
	return (size_t)n < sizeof ret->path ? place_take(ret, NULL) : -ENAMETOOLONG;
}

char *place_companion(const struct place *p, const char *what)
{
	char *folder = realpath(p->folder, NULL), *ret = NULL;
	if (folder && asprintf(&ret, "%s/%s.%s", folder, p->name, what) < 0) {
		ret = NULL;
	}
	free(folder);
	return ret;
}

void place_close(struct place *p)
{
	base_close(&p->directory);
}

int place_find(const struct place *p)
{
	int fd = openat(p->directory, p->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int place_new(const struct place *p, mode_t trace)
{
	int fd = openat(p->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, trace & S_IROTH ? 0644 : 0600);
	return fd < 0 ? -errno : fd;
}

int place_keep(const struct place *p, int fd)
{
	char from[32], temporary[NAME_MAX + 1];
	int err = open_output_check(p->directory, p->name, p->path, NULL);
	if (err < 0) {
		return err;
	}
	/* What is named is whole, also after the power failed. */
	if (fdatasync(fd) < 0) {
		return -errno;
	}
	snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, from, p->directory, p->name, AT_SYMLINK_FOLLOW) == 0) {
		return 0;
	}
	if (errno != EEXIST) {
		return -errno;
	}
	/* Another thread may do the same. */
	snprintf(temporary, sizeof temporary, ".%.200s.%d", p->name, (int)gettid());
	(void)unlinkat(p->directory, temporary, 0); /* of a thread that had this number and died here */
	if (linkat(AT_FDCWD, from, p->directory, temporary, AT_SYMLINK_FOLLOW) < 0) {
		return -errno;
	}
	err = renameat(p->directory, temporary, p->directory, p->name) < 0 ? -errno : 0;
	if (err < 0) {
		unlinkat(p->directory, temporary, 0);
	}
	return err;
}
