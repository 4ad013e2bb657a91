/* SPDX-License-Identifier: MIT */
#include "base/open_output.h"

#include "base/printable.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define LINKS_MAX 40
#define TRIES     8 /* a name that comes and goes */

const char *open_output_user(uid_t uid, char out[64])
{
	char line[1024];
	struct passwd p, *found = NULL;
	FILE *f = fopen("/etc/passwd", "re");
	snprintf(out, 64, "user %u", (unsigned)uid);
	while (f && fgetpwent_r(f, &p, line, sizeof line, &found) == 0) {
		if (p.pw_uid == uid) {
			snprintf(out, 64, "%.60s", p.pw_name);
			break;
		}
	}
	if (f) {
		fclose(f);
	}
	return out;
}

/* ---- whom a directory belongs to --------------------------------------------------------------- */

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Nobody but the caller and root can make, rename or remove names in it. */
static bool is_closed(const struct stat *dir)
{
	return is_ours(dir->st_uid) && !(dir->st_mode & (S_IWGRP | S_IWOTH));
}

/* In a sticky directory of ours, what somebody made stays where they put it. */
static bool is_sticky(const struct stat *dir)
{
	return is_ours(dir->st_uid) && (dir->st_mode & S_ISVTX);
}

static const char *kind_of(mode_t mode)
{
	return S_ISLNK(mode)    ? "a symbolic link"
	       : S_ISDIR(mode)  ? "a directory"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISREG(mode)  ? "a file"
				: "a device";
}

/* ---- the directory ----------------------------------------------------------------------------- */

static int open_plain(int at, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	long fd = syscall(SYS_openat2, at, path, &how, sizeof how);
	return fd < 0 ? -errno : (int)fd;
}

/* One component that may be a link: its descriptor, which is open for nothing but that. */
static int open_component(int at, const char *name)
{
	char inside[NAME_MAX + 3];
	snprintf(inside, sizeof inside, "%s/.", name); /* so that file systems on demand are mounted */
	int fd = open_plain(at, inside);
	if (fd < 0) {
		fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

/* Puts where a link leads, when it may be followed, in front of what is left of the path. */
static int take_link(int dir, int link, const struct stat *st, char rest[PATH_MAX], const char *left, const char *path,
		     struct diag *d)
{
	struct stat in;
	char target[PATH_MAX], whole[PATH_MAX], owner[64];
	if (fstat(dir, &in) < 0) {
		return -errno;
	}
	if (!is_closed(&in) && !(is_sticky(&in) && is_ours(st->st_uid))) {
		diag_at(d, UINT64_MAX,
			"%s: it leads through a symbolic link of %s, in a directory where others make names", path,
			open_output_user(st->st_uid, owner));
		return -ELOOP;
	}
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);
	if (n <= 0) {
		return n < 0 ? -errno : -ENOENT;
	}
	target[n] = 0;
	if (snprintf(whole, sizeof whole, "%s/%s", target, left) >= (int)sizeof whole) {
		return -ENAMETOOLONG;
	}
	memcpy(rest, whole, strlen(whole) + 1);
	return 0;
}

/* Opens `name` below `dir` and follows it; *rest becomes what is left to walk from the result. */
static int step(int dir, const char *name, char rest[PATH_MAX], const char **left, int *links, const char *path,
		struct diag *d)
{
	struct stat st;
	int next = open_component(dir, name);
	int err = next < 0 ? next : fstat(next, &st) < 0 ? -errno : 0;
	if (err == 0 && S_ISLNK(st.st_mode)) {
		err = ++*links > LINKS_MAX ? -ELOOP : take_link(dir, next, &st, rest, *left, path, d);
		*left = rest;
		close(next);
		next = err < 0 ? -1 : openat(dir, *rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = err < 0 ? err : next < 0 ? -errno : 0;
	} else if (err == 0 && !S_ISDIR(st.st_mode)) {
		err = -ENOTDIR;
	}
	if (err < 0) {
		base_close(&next);
		return err;
	}
	return next;
}

/* From directory to directory. */
static int walk(char rest[PATH_MAX], const char *path, struct diag *d)
{
	const char *left = rest;
	int links = 0, dir = open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		return -errno;
	}
	for (;;) {
		char name[NAME_MAX + 1];
		left += strspn(left, "/");
		size_t n = strcspn(left, "/");
		if (n == 0) {
			return dir;
		}
		int next = -ENAMETOOLONG;
		if (n <= NAME_MAX) {
			memcpy(name, left, n);
			name[n] = 0;
			left += n;
			next = step(dir, name, rest, &left, &links, path, d);
		}
		close(dir);
		if (next < 0) {
			return next;
		}
		dir = next;
	}
}

int open_output_dir(const char *path, char name[NAME_MAX + 1], struct diag *d)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t n = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(last);
	int err = length > NAME_MAX || n + 1 >= sizeof dir                           ? -ENAMETOOLONG
		  : length == 0 || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 ? -EISDIR
										     : 0;
	if (err == 0) {
		memcpy(name, last, length + 1);
		memcpy(dir, n ? path : ".", n ? n : 1);
		dir[n ? n : 1] = 0;
		err = open_plain(AT_FDCWD, dir); /* nearly always: no link on the way */
		if (err == -ELOOP || err == -ENOSYS || err == -EPERM || err == -EINVAL) {
			err = walk(dir, path, d);
		}
	}
	if (err < 0) {
		diag_at(d, UINT64_MAX, "%s: %s", path, strerror(-err));
	}
	return err;
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* 0: it may be written. */
static int check(int dir, const struct stat *st, const char *name, const char *path, unsigned flags, struct diag *d)
{
	struct stat in;
	char owner[64], target[PATH_MAX];
	if (fstat(dir, &in) < 0) {
		return -errno;
	}
	open_output_user(st->st_uid, owner);
	if (S_ISLNK(st->st_mode)) {
		ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
		target[n > 0 ? n : 0] = 0;
		diag_at(d, UINT64_MAX,
			"%s: it is a symbolic link of %s to %s, which is not followed: name the file itself, or remove "
			"the link",
			path, owner, target);
		return -ELOOP;
	}
	if (S_ISDIR(st->st_mode)) {
		diag_at(d, UINT64_MAX, "%s: it is a directory", path);
		return -EISDIR;
	}
	if (!S_ISREG(st->st_mode)) {
		bool ours = is_ours(st->st_uid) && (is_closed(&in) || is_sticky(&in));
		if (ours && (flags & OPEN_OUTPUT_STREAM) && !S_ISSOCK(st->st_mode)) {
			return 0;
		}
		diag_at(d, UINT64_MAX, "%s: it is %s of %s, no regular file", path, kind_of(st->st_mode), owner);
		return -EINVAL;
	}
	if (st->st_uid != geteuid()) {
		diag_at(d, UINT64_MAX, "%s: it belongs to %s and is left alone: remove it first, or name another file",
			path, owner);
		return -EPERM;
	}
	if (st->st_nlink > 1 && !is_closed(&in)) {
		diag_at(d, UINT64_MAX,
			"%s: it has other names (%u hard links), in a directory where others make names, and is left "
			"alone",
			path, (unsigned)st->st_nlink);
		return -EPERM;
	}
	return 0;
}

int open_output_check(int dir, const char *name, const char *path, struct diag *d)
{
	struct stat st;
	int err = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : check(dir, &st, name, path, 0, d);
	return err == 0 ? 1 : err == -ENOENT ? 0 : err;
}

/* What is there, looked at before it is opened, for opening alone does something to devices, and after. */
static int open_there(int dir, const char *name, const char *path, unsigned flags, struct diag *d)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	int err = check(dir, &st, name, path, flags, d);
	if (err < 0) {
		return err;
	}
	bool stream = !S_ISREG(st.st_mode);
	if (!stream && !(flags & OPEN_OUTPUT_REUSE)) {
		return -EEXIST;
	}
	int fd = openat(dir, name, (stream ? O_WRONLY : O_RDWR | O_NONBLOCK) | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	err = fstat(fd, &st) < 0              ? -errno
	      : stream && S_ISREG(st.st_mode) ? -EAGAIN
					      : check(dir, &st, name, path, flags, d);
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

int open_output_at(int dir, const char *name, const char *path, unsigned flags, mode_t mode, struct diag *d)
{
	int fd = -EAGAIN;
	for (int i = 0; i < TRIES && (fd == -EAGAIN || fd == -ENOENT); i++) {
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
		if (fd >= 0) {
			return fd;
		}
		fd = -errno;
		if (fd == -EEXIST && (flags & (OPEN_OUTPUT_REUSE | OPEN_OUTPUT_STREAM))) {
			fd = open_there(dir, name, path, flags, d);
		}
	}
	if (fd < 0) {
		diag_at(d, UINT64_MAX, "%s: %s", path, strerror(-fd));
	}
	return fd;
}

/* /dev/stdout and its like say which descriptor is meant; the file behind it was opened by the caller. */
static int descriptor_of(const char *path)
{
	static const struct {
		const char *name;
		int fd;
	} names[] = {{"/dev/stdout", 1}, {"/dev/stderr", 2}};
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (strcmp(path, names[i].name) == 0) {
			return names[i].fd;
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(folders); i++) {
		size_t n = strlen(folders[i]);
		if (strncmp(path, folders[i], n) == 0 && path[n] &&
		    strspn(path + n, "0123456789") == strlen(path + n) && strlen(path + n) < 8) {
			return atoi(path + n);
		}
	}
	return -1;
}

int open_output(const char *path, unsigned flags, mode_t mode, struct diag *d)
{
	char name[NAME_MAX + 1];
	int fd = flags & OPEN_OUTPUT_STREAM ? descriptor_of(path) : -1;
	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (fd < 0) {
			fd = -errno;
			diag_at(d, UINT64_MAX, "%s: %s", path, strerror(-fd));
		}
		return fd;
	}
	int dir = open_output_dir(path, name, d);
	if (dir < 0) {
		return dir;
	}
	fd = open_output_at(dir, name, path, flags, mode, d);
	close(dir);
	return fd;
}

int open_output_remove(const char *path)
{
	char name[NAME_MAX + 1];
	int dir = open_output_dir(path, name, NULL);
	if (dir < 0) {
		return dir == -ENOENT ? 0 : dir;
	}
	int err = open_output_check(dir, name, path, NULL);
	if (err > 0) {
		err = unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	}
	close(dir);
	return err;
}
