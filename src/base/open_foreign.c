/* SPDX-License-Identifier: MIT */
#include "base/open_foreign.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define TRIES 16u

/* Before Linux 5.6, and in sandboxes that do not know openat2: step by step, no links at all. */
static int walk(int root, const char *path)
{
	char part[NAME_MAX + 1];
	int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	while (at >= 0) {
		path += strspn(path, "/");
		size_t n = strcspn(path, "/");
		if (n == 0) {
			return at;
		}
		if (n > NAME_MAX || (n == 2 && memcmp(path, "..", 2) == 0)) {
			close(at);
			return -ELOOP;
		}
		memcpy(part, path, n);
		part[n] = 0;
		path += n;
		int next = openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		int err = -errno;
		close(at);
		if (next < 0) {
			return err;
		}
		at = next;
	}
	return -errno;
}

static int look(int root, const char *path, unsigned flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & OPEN_FOREIGN_NO_LINK ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_NO_MAGICLINKS | (root >= 0 ? RESOLVE_IN_ROOT : 0),
	};
	int fd = -1;
	errno = EAGAIN;
	/* Something was renamed meanwhile: by accident that is over soon. */
	for (unsigned i = 0; i < TRIES && fd < 0 && (errno == EAGAIN || errno == EINTR); i++) {
		fd = (int)syscall(SYS_openat2, root >= 0 ? root : AT_FDCWD, path, &how, sizeof how);
	}
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) {
		return fd < 0 ? -errno : fd;
	}
	if (root >= 0) {
		return walk(root, path);
	}
	fd = open(path, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

/* Takes the descriptor; gives it back when it is of a regular file. */
static int regular(int looked, struct stat *ret)
{
	struct stat st;
	int err = fstat(looked, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EBADMSG;
	if (err < 0) {
		close(looked);
		return err;
	}
	if (ret) {
		*ret = st;
	}
	return looked;
}

int open_foreign_read(int looked)
{
	char self[32];
	snprintf(self, sizeof self, "/proc/self/fd/%d", looked);
	int fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int err = -errno;
	close(looked);
	return fd < 0 ? err : fd;
}

int open_foreign_look(int root, const char *path, unsigned flags, struct stat *ret)
{
	int looked = look(root, path, flags);
	return looked < 0 ? looked : regular(looked, ret);
}

int open_foreign_root(uint32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%u/root", pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int open_foreign(int root, const char *path, unsigned flags, struct stat *ret)
{
	int looked = open_foreign_look(root, path, flags, ret);
	return looked < 0 ? looked : open_foreign_read(looked);
}

int open_foreign_program(uint32_t pid, struct stat *ret)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%u/exe", pid);
	int looked = open(path, O_PATH | O_CLOEXEC);
	looked = looked < 0 ? -errno : regular(looked, ret);
	return looked < 0 ? looked : open_foreign_read(looked);
}

bool open_foreign_believed(const struct stat *st, uint32_t uid, uint32_t root_uid)
{
	return st->st_uid == 0 || st->st_uid == uid || st->st_uid == root_uid;
}
