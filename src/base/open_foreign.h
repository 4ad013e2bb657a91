/* SPDX-License-Identifier: MIT
 *
 * Files whose paths somebody else chose: a process that is being recorded, a trace, a section of a file.
 * Whoever chose the path may have put anything there: a pipe that nobody writes to, a device that does
 * things when it is opened, a link to a file that they may not read. So what is opened is looked at first,
 * without opening it; only regular files are opened, and never so that the caller waits. (A file system
 * whose server does not answer can still make the caller wait; users' own FUSE file systems refuse root.)
 */
#ifndef BASE_OPEN_FOREIGN_H
#define BASE_OPEN_FOREIGN_H

#include "base/base.h"

struct stat;

#define OPEN_FOREIGN_NO_LINK 1u /* the last part of the path must not be a symbolic link */

/* The root directory of a process, to open its paths in; an O_PATH descriptor, or -errno. */
int open_foreign_root(uint32_t pid);

/* The regular file at that path, for reading, or -errno; -EBADMSG: it is something else. With a `root` no
 * link and no ".." leads out of that directory; -1: in the root of this process. Links of /proc that lead
 * to open files, to other processes' roots and so on are not followed. `ret` may be NULL. */
int open_foreign(int root, const char *path, unsigned flags, struct stat *ret);

/* The same in two steps. First only looked at: an O_PATH descriptor of a regular file. Then opened, which takes
 * that descriptor in any case. */
int open_foreign_look(int root, const char *path, unsigned flags, struct stat *ret);
int open_foreign_read(int looked);

/* The file that a process runs, whatever its path leads to by now. */
int open_foreign_program(uint32_t pid, struct stat *ret);

/* Is that file to be believed when it says something about a process of this user? It is when root owns it,
 * the user, or whoever owns the root directory that it was found in (root_uid; 0: the machine's own). */
bool open_foreign_believed(const struct stat *st, uint32_t uid, uint32_t root_uid);

#endif
