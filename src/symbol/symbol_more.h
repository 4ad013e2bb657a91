/* SPDX-License-Identifier: MIT
 * Functions that no symbol table has: stubs of the procedure linkage table, and what only the tables for unwinding
 * know. They are gathered here, and symbol_elf.c puts them beside the others.
 */
#ifndef SYMBOL_SYMBOL_MORE_H
#define SYMBOL_SYMBOL_MORE_H

#include "symbol/symbol.h"

struct symbol_more_one {
	uint64_t linked, bytes; /* 0 bytes: to the next function */
	uint32_t name;          /* in the text */
};
struct symbol_more {
	struct symbol_more_one *list;
	size_t count, cap;
	struct strbuf text; /* names with a zero byte behind each */
	bool full;          /* no memory, or too many */
};
void symbol_more_add(struct symbol_more *m, uint64_t linked, uint64_t bytes, const char *name, const char *suffix);
void symbol_more_free(struct symbol_more *m);

/* Stubs, each called as what it jumps to, with "@plt". Only for x86-64 (EM_X86_64) and arm64 (EM_AARCH64). When this
 * is called, `f` has the functions of its tables: what a resolver is called (IRELATIVE) is looked up there. */
void symbol_plt_find(struct symbol_elf *f, uint16_t machine, uint64_t most, struct symbol_more *m);
/* Code that .eh_frame describes, called by its address as linked ("0x4a2b10"). `known` says whether a function
 * covers this address already. */
void symbol_frames_find(struct symbol_elf *f, uint64_t most, bool (*known)(const struct symbol_elf *f, uint64_t linked),
			struct symbol_more *m);

#endif
