/* SPDX-License-Identifier: MIT
 * Private to openetw-symbols: files that are open, and what was put into functions of them. With libdw.
 */
#ifndef TOOLS_SYMBOLS_SYMBOLS_DWARF_H
#define TOOLS_SYMBOLS_SYMBOLS_DWARF_H

#include "base/base.h"
#include "tools/symbols/symbols_wire.h"

/* Takes *inout_fd when it keeps it. The answer's head is written; what is behind it goes to `more`. */
void symbols_dwarf_open(const struct symbols_open *o, int *inout_fd, struct symbols_opened *ret, struct strbuf *more);
/* The text of an address as linked; `out` is empty. */
void symbols_dwarf_look(uint32_t number, uint64_t at, struct strbuf *out);

#endif
