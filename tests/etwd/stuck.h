/* SPDX-License-Identifier: MIT
 *
 * Descriptors whose close takes as long as their maker likes.
 */
#ifndef TESTS_ETWD_STUCK_H
#define TESTS_ETWD_STUCK_H

#include <stdbool.h>
#include <sys/types.h>

/* A message with a TCP socket that waits for its peer when its last reference is closed. Returns the
 * peer, which does not read; when that is closed, nothing waits any more. */
int lingering_send(int sock, const void *p, size_t n);

/* A file system of one process: all files exist, and the close of one waits until stuck_release(). */
struct stuck_mount {
	int fuse;
	char dir[64];
	pid_t pid; /* of its server */
	int go;    /* a byte here: answer them */
};
bool stuck_mount(struct stuck_mount *m); /* false: needs root and /dev/fuse */
void stuck_release(struct stuck_mount *m);
void stuck_unmount(struct stuck_mount *m);

/* One message with descriptors, as it is. 0 or -errno. */
int send_with(int sock, const void *p, size_t n, const int *fds, int count);

#endif
