/* SPDX-License-Identifier: MIT
 * Descriptors of the listener. Applications close "all" descriptors, close twice, or hit their
 * limit; a thread with a table of its own notices nothing of it.
 */
#include "provider/provider_dest.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif
/* Where to park a descriptor in a table shared with the application: out of the way, below the
 * usual limit of 1,024. */
#define PARK_SHARED  900
#define PARK_PRIVATE 3

bool provider_fds_unshare(int keep)
{
	unsigned first = keep < 0 ? 0u : (unsigned)keep + 1;
	if (BASE_THREAD_SANITIZER || syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_UNSHARE) != 0) {
		return false;
	}
	if (keep > 0) {
		syscall(SYS_close_range, 0u, (unsigned)keep - 1, 0u);
	}
	return true;
}

int provider_fd_park(int fd, bool private_table)
{
	for (int at = private_table ? PARK_PRIVATE : PARK_SHARED; at >= PARK_PRIVATE; at /= 2) {
		if (fd >= at) {
			return fd;
		}
		int moved = fcntl(fd, F_DUPFD_CLOEXEC, at);
		if (moved >= 0) {
			close(fd);
			return moved;
		}
	}
	return fd;
}

uint64_t provider_fd_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;
	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) != 0) {
		return 0;
	}
	return cookie;
}
