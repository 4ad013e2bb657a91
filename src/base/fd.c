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
