/* SPDX-License-Identifier: MIT
 *
 * Files by descriptor.
 */
#include "base/base.h"

#include <sys/mman.h>

int base_memfd(const char *name, uint64_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		return -errno;
	}
	if (ftruncate(fd, (off_t)size) < 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int base_pread_all(int fd, void *p, size_t n, uint64_t at)
{
	uint8_t *to = p;
	while (n > 0) {
		ssize_t got = pread(fd, to, n, (off_t)at);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return got < 0 ? -errno : -EIO;
		}
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int base_pwrite_all(int fd, const void *p, size_t n, uint64_t at)
{
	const uint8_t *from = p;
	while (n > 0) {
		ssize_t put = pwrite(fd, from, n, (off_t)at);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put <= 0) {
			return put < 0 ? -errno : -EIO;
		}
		from += put;
		at += (uint64_t)put;
		n -= (size_t)put;
	}
	return 0;
}
