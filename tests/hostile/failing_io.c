/* SPDX-License-Identifier: MIT
 * LD_PRELOAD for etwd: disks that fail. The file named by FAILING_IO holds what happens to writes into
 * .etl files at this moment: "eio", "enospc", "edquot", "short" (a few bytes only) or "slow MS"; nothing
 * or no file: they work.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char said[400]; /* etwd clears its environment when it starts */
__attribute__((constructor)) static void remember(void)
{
	const char *file = getenv("FAILING_IO");
	snprintf(said, sizeof said, "%s", file ? file : "");
}

/* 0: go on. 1: go on, but short. -1: errno is set. */
static int verdict(int fd)
{
	char link[64], path[512], word[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (!said[0] || n < 4) {
		return 0;
	}
	path[n] = 0;
	if (strcmp(path + n - 4, ".etl") != 0) {
		return 0;
	}
	int mode = open(said, O_RDONLY | O_CLOEXEC);
	n = mode < 0 ? 0 : read(mode, word, sizeof word - 1);
	if (mode >= 0) {
		close(mode);
	}
	word[n > 0 ? n : 0] = 0;
	if (strncmp(word, "slow", 4) == 0) {
		usleep((useconds_t)atoi(word + 4) * 1000);
		return 0;
	}
	errno = strncmp(word, "eio", 3) == 0      ? EIO
		: strncmp(word, "enospc", 6) == 0 ? ENOSPC
		: strncmp(word, "edquot", 6) == 0 ? EDQUOT
						  : 0;
	return errno ? -1 : strncmp(word, "short", 5) == 0;
}

#pragma GCC visibility push(default)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	int v = verdict(fd);
	return v < 0 ? -1 : NEXT(pwrite)(fd, p, v && n > 100 ? 100 : n, at);
}
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return pwrite(fd, p, n, at);
}
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	int r = verdict(fd);
	if (r > 0) {
		return NEXT(pwrite)(fd, v[0].iov_base, v[0].iov_len > 100 ? 100 : v[0].iov_len, at);
	}
	return r < 0 ? -1 : NEXT(pwritev)(fd, v, n, at);
}
ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
	return pwritev(fd, v, n, at);
}
ssize_t write(int fd, const void *p, size_t n)
{
	int v = verdict(fd);
	return v < 0 ? -1 : NEXT(write)(fd, p, v && n > 100 ? 100 : n);
}
int fallocate(int fd, int mode, off_t at, off_t n)
{
	return verdict(fd) < 0 ? -1 : NEXT(fallocate)(fd, mode, at, n);
}
int fallocate64(int fd, int mode, off64_t at, off64_t n)
{
	return fallocate(fd, mode, at, n);
}
int fdatasync(int fd)
{
	return verdict(fd) < 0 ? -1 : NEXT(fdatasync)(fd);
}
