/* SPDX-License-Identifier: MIT
 * Where the programs are that openetw starts.
 */
#ifndef TOOLS_COMMON_HELPER_H
#define TOOLS_COMMON_HELPER_H

#include "base/base.h"

/* The path in this variable of the environment (NULL: none), then beside this program (in the build tree), then where
 * it is installed: meson says where, seen from this program, so that a tree of programs may be moved, or from the
 * root. `access` is R_OK or X_OK. False: it is nowhere. */
bool helper_find(const char *name, const char *variable, int access, char *out, size_t cap);

#endif
