/* SPDX-License-Identifier: MIT
 *
 * Whole files and chains of directories.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/base.h"

#include <sys/types.h>

/* Appends the rest of a descriptor, to its end: short reads and signals do not cut it, and the size that
 * fstat() says is not believed. 0; -errno; -EFBIG: more than max bytes; -ENOMEM. On failure the buffer is as
 * long as before. */
int file_read_fd(int fd, size_t max, struct strbuf *inout);
/* The same of a regular file; a FIFO or device does not hold the caller up. Also -EISDIR, and -EINVAL for what
 * is no regular file. */
int file_read(const char *path, size_t max, struct strbuf *inout);
/* At most cap - 1 bytes from the beginning of a file, with a NUL behind: for the small files of /proc. Their
 * number, or -errno; then out is "". context: async-signal-safe */
long file_read_start(const char *path, char *out, size_t cap);

/* Makes a directory and those above it that are missing, with exactly these rights whatever the umask. A
 * directory that is there stays as it is. 0 or -errno. */
int file_make_dirs(const char *path, mode_t mode);

#endif
