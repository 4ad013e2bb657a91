/* SPDX-License-Identifier: MIT
 *
 * What /etc/passwd and /etc/group say of a user. Only the files: libc's getpwuid() loads modules and asks
 * other programs, which a library in somebody else's process must not do. A user whom only a directory
 * service knows is not found.
 *
 * Not async-signal-safe.
 */
#ifndef BASE_ACCOUNT_H
#define BASE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The home directory, an absolute path. False: not known, or longer than cap. */
bool account_home(uid_t uid, char *ret, size_t cap);
/* Is this the user's first group, or is the user a member of it? */
bool account_has_group(uid_t uid, gid_t gid);

/* The same for other files, for tests. */
bool account_home_in(const char *passwd, uid_t uid, char *ret, size_t cap);
bool account_has_group_in(const char *passwd, const char *group, uid_t uid, gid_t gid);

#endif
