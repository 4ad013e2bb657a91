/* SPDX-License-Identifier: MIT
 *
 * What <filesystem> of 16 bits (include/etw/win/crt) asks of the system. Paths are Windows' or this
 * system's; functions return 0 or an errno; strings that they give are malloc'ed.
 */
#include "winrt/win.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef uint16_t wc;
#define FN(ret, name, args)               \
	WIN_EXPORT ret etw16_##name args; \
	ret etw16_##name args

/* The layout is that of etw_fs_native.h. */
struct fs_stat {
	uint32_t mode;
	uint32_t unused;
	uint64_t size, links, device, inode;
	int64_t seconds, nanoseconds;
};

/* The path as open() wants it; NULL and errno. */
static char *native(const wc *path)
{
	char *text = win_utf8(path), *p = text ? win_path(text) : NULL;
	free(text);
	if (!p) {
		errno = ENOMEM;
	}
	return p;
}
FN(char *, fs_native, (const wc *path))
{
	return native(path);
}

/* Ends a function on one path. */
static int done(char *path, int result)
{
	int err = result < 0 ? errno : 0;
	free(path);
	return err;
}

FN(int, fs_stat, (const wc *path, int follow, struct fs_stat *ret))
{
	struct stat st;
	char *p = native(path);
	int r = !p ? -1 : follow ? stat(p, &st) : lstat(p, &st);
	if (r == 0) {
		*ret = (struct fs_stat){st.st_mode, 0,         (uint64_t)st.st_size, st.st_nlink,
					st.st_dev,  st.st_ino, st.st_mtim.tv_sec,    st.st_mtim.tv_nsec};
	}
	return done(p, r);
}
FN(int, fs_mkdir, (const wc *path, unsigned mode))
{
	char *p = native(path);
	return done(p, p ? mkdir(p, mode) : -1);
}
FN(int, fs_remove, (const wc *path))
{
	char *p = native(path);
	return done(p, p ? remove(p) : -1);
}
FN(int, fs_chmod, (const wc *path, unsigned mode, int follow))
{
	char *p = native(path);
	return done(p, p ? fchmodat(AT_FDCWD, p, mode, follow ? 0 : AT_SYMLINK_NOFOLLOW) : -1);
}
FN(int, fs_truncate, (const wc *path, uint64_t size))
{
	char *p = native(path);
	return done(p, p ? truncate(p, (off_t)size) : -1);
}
FN(int, fs_utime, (const wc *path, int64_t seconds, int64_t nanoseconds))
{
	struct timespec t[2] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
	char *p = native(path);
	return done(p, p ? utimensat(AT_FDCWD, p, t, 0) : -1);
}
FN(int, fs_chdir, (const wc *path))
{
	char *p = native(path);
	return done(p, p ? chdir(p) : -1);
}
FN(int, fs_space, (const wc *path, uint64_t ret[3]))
{
	struct statvfs v;
	char *p = native(path);
	int r = p ? statvfs(p, &v) : -1;
	if (r == 0) {
		ret[0] = v.f_blocks * v.f_frsize;
		ret[1] = v.f_bfree * v.f_frsize;
		ret[2] = v.f_bavail * v.f_frsize;
	}
	return done(p, r);
}

static int on_two(const wc *a, const wc *b, int (*call)(const char *, const char *))
{
	char *p = native(a), *q = native(b);
	int err = done(p, p && q ? call(p, q) : -1);
	free(q);
	return err;
}
FN(int, fs_rename, (const wc *from, const wc *to))
{
	return on_two(from, to, rename);
}
FN(int, fs_link, (const wc *target, const wc *link_path))
{
	return on_two(target, link_path, link);
}
FN(int, fs_symlink, (const wc *target, const wc *link_path))
{
	return on_two(target, link_path, symlink);
}

static int give(char *text, wc **ret)
{
	*ret = text ? win_utf16(text) : NULL;
	int err = !text ? errno : *ret ? 0 : ENOMEM;
	free(text);
	return err;
}
FN(int, fs_readlink, (const wc *path, wc **ret))
{
	char *p = native(path), *text = p ? malloc(PATH_MAX + 1) : NULL;
	ssize_t n = text ? readlink(p, text, PATH_MAX) : -1;
	if (n < 0) {
		free(text);
		text = NULL;
	} else {
		text[n] = 0;
	}
	free(p);
	return give(text, ret);
}
FN(int, fs_realpath, (const wc *path, wc **ret))
{
	char *p = native(path), *text = p ? realpath(p, NULL) : NULL;
	free(p);
	return give(text, ret);
}
FN(int, fs_getcwd, (wc * *ret))
{
	return give(getcwd(NULL, 0), ret);
}
FN(int, fs_temp, (wc * *ret))
{
	static const char *const names[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
	const char *found = NULL;
	for (size_t i = 0; i < BASE_ARRAY_LEN(names) && !found; i++) {
		found = getenv(names[i]);
	}
	return give(strdup(found ? found : "/tmp"), ret);
}

/* The bytes and the rights of a regular file. */
FN(int, fs_copy, (const wc *from, const wc *to, int replace))
{
	char *p = native(from), *q = native(to);
	int in = p ? open(p, O_RDONLY | O_CLOEXEC) : -1, out = -1, err = 0;
	struct stat st;
	if (in < 0 || !q || fstat(in, &st) < 0) {
		err = errno;
	} else {
		out = open(q, O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), st.st_mode & 07777);
		err = out < 0 ? errno : 0;
	}
	for (char block[65536]; err == 0;) {
		ssize_t n = read(in, block, sizeof block), written = 0;
		while (n > 0 && written < n) {
			ssize_t k = write(out, block + written, (size_t)(n - written));
			if (k < 0 && errno != EINTR) {
				break;
			}
			written += k > 0 ? k : 0;
		}
		if (n == 0) {
			break;
		}
		err = n < 0 && errno == EINTR ? 0 : n < 0 || written < n ? errno : 0;
	}
	if (err == 0 && fchmod(out, st.st_mode & 07777) < 0) {
		err = errno;
	}
	if (out >= 0 && close(out) < 0 && err == 0) {
		err = errno;
	}
	if (in >= 0) {
		close(in);
	}
	free(p);
	free(q);
	return err;
}

FN(void *, fs_opendir, (const wc *path, int *ret_err))
{
	char *p = native(path);
	DIR *d = p ? opendir(p) : NULL;
	*ret_err = d ? 0 : errno;
	free(p);
	return d;
}
/* 1 and a name other than "." and "..", 0 at the end; below 0: -errno. */
FN(int, fs_readdir, (void *dir, wc **ret_name))
{
	struct dirent *e;
	do {
		errno = 0;
		e = readdir(dir);
	} while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
	if (!e) {
		return -errno;
	}
	*ret_name = win_utf16(e->d_name);
	return *ret_name ? 1 : -ENOMEM;
}
FN(void, fs_closedir, (void *dir))
{
	closedir(dir);
}
FN(void, fs_free, (void *p))
{
	free(p);
}

/* ---- <sys/stat.h> ----------------------------------------------------------------------------- */

/* The layout is that of crt/sys/stat.h. */
struct crt_stat {
	dev_t dev;
	ino_t ino;
	mode_t mode;
	nlink_t nlink;
	uid_t uid;
	gid_t gid;
	dev_t rdev;
	off_t size;
	struct timespec atim, mtim, ctim;
};

static int give_stat(int r, const struct stat *s, struct crt_stat *ret)
{
	if (r == 0) {
		*ret = (struct crt_stat){s->st_dev,  s->st_ino,  s->st_mode, s->st_nlink, s->st_uid, s->st_gid,
					 s->st_rdev, s->st_size, s->st_atim, s->st_mtim,  s->st_ctim};
	}
	return r;
}
FN(int, _stat, (const char *path, struct crt_stat *ret))
{
	struct stat s;
	char *p = win_path(path);
	int r = give_stat(p ? stat(p, &s) : -1, &s, ret), err = errno;
	free(p);
	errno = err;
	return r;
}
FN(int, _wstat, (const wc *path, struct crt_stat *ret))
{
	struct stat s;
	char *p = native(path);
	int r = give_stat(p ? stat(p, &s) : -1, &s, ret), err = errno;
	free(p);
	errno = err;
	return r;
}
FN(int, _fstat, (int fd, struct crt_stat *ret))
{
	struct stat s;
	return give_stat(fstat(fd, &s), &s, ret);
}
