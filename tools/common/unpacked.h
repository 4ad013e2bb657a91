/* SPDX-License-Identifier: MIT
 *
 * Trace files in archives, for every verb that reads traces: libetw opens the path that
 * cli_unpacked() returns instead of the one on the command line. Messages go on naming the latter.
 */
#ifndef TOOLS_COMMON_UNPACKED_H
#define TOOLS_COMMON_UNPACKED_H

#include "tools/common/cli.h"

/* `path` itself, unless an archive begins there; then a path to its unpacked trace, which this process
 * alone can open. An archive is unpacked once, with progress; the trace goes when the process ends.
 * NULL: there is no reading it, and stderr says why. What is damaged is told on stderr, once. */
const char *cli_unpacked(const struct cli_args *a, const char *path);
/* Did cli_unpacked() find that a part of this archive cannot be read? */
bool cli_unpacked_damaged(const char *path);
/* Until it is released, cli_unpacked() of that name opens the file of this descriptor, which is taken over (O_PATH will
 * do), whatever the name leads to by then. An unpacked archive goes when the last hold of it is released. NULL: no memory. */
struct cli_unpacked_hold *cli_unpacked_hold(const char *name, int fd);
void cli_unpacked_release(struct cli_unpacked_hold *h); /* NULL is fine */
/* A program that starts this one hands it open files: the environment variable CLI_HELD has the numbers of descriptors
 * ("7,8"), those of the last words of the command line. They are held under these names; the variable is taken away.
 * False: it has anything else, and that was said. */
#define CLI_HELD "OPENETW_HELD"
bool cli_unpacked_take_held(const struct cli_args *a);
/* What the library says about an unpacked or held trace ("PATH: why"), with the name that the user gave, in `buf`; all else
 * as it is. `why` may be NULL. */
const char *cli_unpacked_error(const char *why, char *buf, size_t cap);

#endif
