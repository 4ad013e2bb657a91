/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define PART 65536u

static ssize_t read_some(int fd, void *p, size_t n)
{
	ssize_t got;
	do {
		got = read(fd, p, n);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int file_read_fd(int fd, size_t max, struct strbuf *inout)
{
	struct stat st;
	size_t before = inout->len, expected = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		expected = (uint64_t)st.st_size < max ? (size_t)st.st_size : max;
	}
	int err = strbuf_room(inout, expected + 1) ? 0 : -ENOMEM;
	while (err == 0) {
		size_t have = inout->len - before;
		/* One byte more than is expected or allowed shows whether there is more. */
		size_t want = have <= expected ? expected - have + 1 : BASE_MIN(PART, max - have + 1);
		if (!strbuf_room(inout, want)) {
			err = -ENOMEM;
			break;
		}
		ssize_t got = read_some(fd, inout->s + inout->len, want);
		if (got <= 0) {
			err = (int)got;
			break;
		}
		inout->len += (size_t)got;
		err = inout->len - before > max ? -EFBIG : 0;
	}
	if (inout->s) {
		inout->len = err < 0 ? before : inout->len;
		inout->s[inout->len] = 0;
	}
	return err;
}

int file_read(const char *path, size_t max, struct strbuf *inout)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	int err = fstat(fd, &st) < 0     ? -errno
		  : S_ISDIR(st.st_mode)  ? -EISDIR
		  : !S_ISREG(st.st_mode) ? -EINVAL
					 : file_read_fd(fd, max, inout);
	close(fd);
	return err;
}

long file_read_start(const char *path, char *out, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -errno : 1;
	size_t n = 0;
	while (got > 0 && n < cap - 1) {
		got = read_some(fd, out + n, cap - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	base_close(&fd);
	n = got < 0 ? 0 : n;
	out[n] = 0;
	return got < 0 ? got : (long)n;
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;
	if (mkdir(path, mode) == 0) {
		return chmod(path, mode) < 0 ? -errno : 0;
	}
	int err = -errno; /* EROFS, EACCES … also of a directory that is there */
	if (stat(path, &st) < 0) {
		return err == -EEXIST ? -ENOTDIR : err; /* a link to nowhere */
	}
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int file_make_dirs(const char *path, mode_t mode)
{
	char part[4096];
	size_t n = strlen(path);
	int err = 0;
	if (n == 0 || n >= sizeof part) {
		return n == 0 ? -EINVAL : -ENAMETOOLONG;
	}
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n && err == 0; i++) {
		if (path[i] == '/' || path[i] == 0) {
			part[i] = 0;
			err = make_dir(part, mode);
			part[i] = path[i];
		}
	}
	return err;
}
