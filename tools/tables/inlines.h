/* SPDX-License-Identifier: MIT
 * Functions that the compiler put into others, from DWARF: of files of this machine that are of the build
 * the trace names, where openetw-symbols is installed (it is built with libdw).
 */
#ifndef TOOLS_TABLES_INLINES_H
#define TOOLS_TABLES_INLINES_H

#include <openetw/state.h>

#include <stddef.h>
#include <stdint.h>

struct inlines;
struct inlines *inlines_create(void); /* NULL: no memory */
void inlines_destroy(struct inlines *x);
/* What was put into the function at that address of a module, the outermost first, divided by ';'. NULL:
 * nothing, or nobody knows. Valid as long as x. */
const char *inlines_at(struct inlines *x, const struct openetw_module *m, uint64_t address);

#endif
