/* SPDX-License-Identifier: MIT
 *
 * Files for output, opened so that nobody else chooses what is written.
 *
 * The directory may belong to another user, or be one where everybody makes files, such as /tmp. Who can
 * make names there could put a symbolic link, a hard link or a FIFO where the output is going to be, and
 * have the caller, perhaps root, write what they themselves may not. So:
 *
 *   - no symbolic link is followed at the end of a path;
 *   - on the way, a link is followed only in a directory where nobody but the caller and root can have
 *     put it, or when the caller or root made it in a sticky directory;
 *   - a file that is there is written only when it is a regular file of the caller's own. With other
 *     names (hard links) only in a directory that nobody else can write;
 *   - a new file is made with O_EXCL.
 *
 * What is refused is named in *d, with its owner. These functions neither truncate nor lock.
 */
#ifndef BASE_OPEN_OUTPUT_H
#define BASE_OPEN_OUTPUT_H

#include "base/base.h"

#include <limits.h>
#include <sys/stat.h>

enum {
	OPEN_OUTPUT_REUSE = 1 << 0,  /* open what is there, with its contents; else -EEXIST */
	OPEN_OUTPUT_STREAM = 1 << 1, /* devices and FIFOs of the caller or root too; /dev/stdout, /dev/fd/N */
};

/* A descriptor for reading and writing (a stream: for writing), or -errno: -ELOOP for a link, -EPERM for
 * what belongs to others, -EINVAL for what is no regular file. `d` may be NULL. */
int open_output(const char *path, unsigned flags, mode_t mode, struct diag *d);

/* The directory of `path` by the rules above, as an O_PATH descriptor, and the last name in it. */
int open_output_dir(const char *path, char name[NAME_MAX + 1], struct diag *d);
/* The same as open_output() for a name in such a directory; `path` is for texts. */
int open_output_at(int dir, const char *name, const char *path, unsigned flags, mode_t mode, struct diag *d);
/* May what is called so be replaced by the caller? 1: yes, a regular file of theirs. 0: nothing has that
 * name. -errno with a text in *d as open_output_at(). */
int open_output_check(int dir, const char *name, const char *path, struct diag *d);
/* Removes a file that open_output_check() allows to replace; 0 also when it is gone already. */
int open_output_remove(const char *path);

/* "alice", or "user 1000" when /etc/passwd does not know them. Asks no server. */
const char *open_output_user(uid_t uid, char out[64]);

#endif
