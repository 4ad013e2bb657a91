/* SPDX-License-Identifier: MIT
 *
 * Where descriptions of providers are kept between runs: of one user below $XDG_DATA_HOME/openetw or
 * ~/.local/share/openetw, of the machine below /var/lib/openetw. In each there is
 *
 *   manifests/   what "openetw wevtutil im" installed
 *   binaries/    what etwd took out of programs that carry their own description
 *                (format/schema_section.h), one file for each content
 */
#ifndef BASE_DATADIR_H
#define BASE_DATADIR_H

#include <stdbool.h>
#include <stddef.h>

#define DATADIR_MACHINE   "/var/lib/openetw" /* below datadir_root() */
#define DATADIR_MANIFESTS "manifests"
#define DATADIR_BINARIES  "binaries"

/* In front of all directories of the machine (/var/lib, /etc, /run) and of a user's below HOME, though not of
 * those that an XDG variable names: OPENETW_ROOT, so that tests are not
 * about what happens to be on this machine. "" when that is not set, is no absolute path, or a
 * set-user-id program asks. */
const char *datadir_root(void);

/* The directory `part` of the machine's or the user's place; need not exist. False when the user
 * has no home, or a set-user-id program asks: it does not believe its caller's environment. */
bool datadir_path(bool machine, const char *part, char *ret, size_t cap);
/* Makes a directory and those above it, for its owner alone where it is a user's. 0 or -errno. */
int datadir_make(const char *path, bool machine);

#endif
