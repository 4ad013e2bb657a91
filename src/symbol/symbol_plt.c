/* SPDX-License-Identifier: MIT
 *
 * Stubs of the procedure linkage table. Each one jumps through a word of the global offset table, and a relocation says
 * whose address the dynamic linker puts there. So the instructions of a stub give the word, and the word gives the
 * name; this holds for all the shapes that linkers give stubs (.plt, .plt.sec of programs with IBT, .plt.got, .iplt of
 * static programs). The bytes may be anything: they are read within bounds, and what fits nothing has no name.
 */
#include "symbol/symbol_more.h"

#include "base/elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY 16u /* bytes of a stub of x86-64; half of it where there is nothing but the jump */

struct word {
	uint64_t at; /* of the offset table, as linked */
	uint64_t addend;
	uint32_t symbol;
	bool resolver; /* the addend is a function that chooses the function */
};
struct words {
	struct word *list;
	size_t count;
	size_t lazy; /* so many of them, from the first, are of .rela.plt, in its order */
	uint8_t *symbols, *names;
	size_t symbols_bytes, names_bytes;
};

/* ---- relocations -------------------------------------------------------------------------------- */

static bool fills_word(uint16_t machine, uint32_t type, bool *ret_resolver)
{
	bool x86 = machine == EM_X86_64;
	*ret_resolver = type == (x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE);
	return *ret_resolver || type == (x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT) ||
	       type == (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT);
}

static void words_read(struct words *w, const struct symbol_elf *f, const char *section, uint16_t machine,
		       uint64_t most)
{
	uint8_t *p = NULL;
	size_t n = 0;
	uint64_t at;
	if (symbol_elf_section(f, section, (size_t)most, &p, &n, &at) < 0) {
		return;
	}
	size_t room = n / sizeof(Elf64_Rela);
	struct word *list = room ? realloc(w->list, (w->count + room) * sizeof *list) : NULL;
	w->list = list ? list : w->list;
	for (size_t i = 0; list && i < room; i++) {
		const uint8_t *r = p + i * sizeof(Elf64_Rela);
		uint64_t info = le64_get(r + 8);
		struct word one = {.at = le64_get(r), .symbol = (uint32_t)(info >> 32), .addend = le64_get(r + 16)};
		if (fills_word(machine, (uint32_t)info, &one.resolver)) {
			list[w->count++] = one;
		}
	}
	free(p);
}

static int by_place(const void *pa, const void *pb)
{
	const struct word *a = pa, *b = pb;
	return a->at < b->at ? -1 : a->at > b->at;
}

static const struct word *word_at(const struct words *sorted, uint64_t at)
{
	struct word key = {.at = at};
	return sorted->count ? bsearch(&key, sorted->list, sorted->count, sizeof key, by_place) : NULL;
}

/* ---- names -------------------------------------------------------------------------------------- */

static void add_stub(struct symbol_more *m, struct symbol_elf *f, const struct words *w, const struct word *of,
		     uint64_t linked, uint64_t bytes)
{
	char absolute[40];
	const char *name = NULL;
	uint64_t start, first = symbol_elf_first(f);
	if (of->resolver) {
		/* As objdump calls it when the resolver has no name. */
		snprintf(absolute, sizeof absolute, "*ABS*+0x%llx", (unsigned long long)of->addend);
		name = of->addend >= first ? symbol_elf_find(f, of->addend - first, &start) : NULL;
		name = name && start == of->addend - first ? name : absolute;
	} else if (of->symbol < w->symbols_bytes / elf_symbol_bytes(true)) {
		struct elf_symbol s;
		elf_symbol_parse(true, w->symbols + (size_t)of->symbol * elf_symbol_bytes(true), &s);
		name = s.name < w->names_bytes ? (const char *)w->names + s.name
					       : NULL; /* terminated by elf_file_take() */
	}
	if (name && name[0]) {
		symbol_more_add(m, linked, bytes, name, "@plt");
	}
}

/* ---- x86-64 ------------------------------------------------------------------------------------- */

/* jmp *x(%rip), somewhere in the stub. */
static const struct word *x86_jump(const struct words *w, const uint8_t *p, size_t n, uint64_t linked)
{
	for (size_t i = 0; i + 6 <= n; i++) {
		if (p[i] == 0xff && p[i + 1] == 0x25) {
			uint64_t to = linked + i + 6 + (uint64_t)(int64_t)(int32_t)le32_get(p + i + 2);
			const struct word *found = word_at(w, to);
			if (found) {
				return found;
			}
		}
	}
	return NULL;
}

/* endbr64; push $number; jmp: what the dynamic linker is first called through, of a program with IBT. */
static bool x86_push(const uint8_t *p, size_t n, uint32_t *ret_number)
{
	static const uint8_t begin[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68};
	if (n < sizeof begin + 4 || memcmp(p, begin, sizeof begin) != 0) {
		return false;
	}
	*ret_number = le32_get(p + sizeof begin);
	return true;
}

static void x86_stubs(struct symbol_more *m, struct symbol_elf *f, const struct words *sorted,
		      const struct words *in_order, const uint8_t *p, size_t n, uint64_t linked)
{
	static const uint8_t half[] = {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90}; /* jmp *x(%rip); xchg %ax,%ax */
	bool halves = n >= sizeof half && memcmp(p, half, 2) == 0 && memcmp(p + 6, half + 6, 2) == 0;
	size_t entry = halves ? ENTRY / 2 : ENTRY;
	for (size_t i = 0; i < n; i += entry) {
		size_t left = BASE_MIN(n - i, entry);
		const struct word *of = x86_jump(sorted, p + i, left, linked + i);
		uint32_t number;
		if (!of && x86_push(p + i, left, &number) && number < in_order->lazy) {
			of = &in_order->list[number];
		}
		if (of) {
			add_stub(m, f, sorted, of, linked + i, left);
		}
	}
}

/* ---- arm64 -------------------------------------------------------------------------------------- */

#define ADRP_X16    0x90000010u
#define ADRP_MASK   0x9f00001fu
#define LDR_X17_X16 0xf9400211u
#define LDR_MASK    0xffc003ffu
#define BR_X17      0xd61f0220u
#define BTI_C       0xd503245fu
#define STUB_WORDS  6u

static void arm64_stubs(struct symbol_more *m, struct symbol_elf *f, const struct words *sorted, const uint8_t *p,
			size_t n, uint64_t linked)
{
	for (size_t i = 0; i + 8 <= n; i += 4) {
		uint32_t adrp = le32_get(p + i), ldr = le32_get(p + i + 4);
		if ((adrp & ADRP_MASK) != ADRP_X16 || (ldr & LDR_MASK) != LDR_X17_X16) {
			continue;
		}
		uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		int64_t away = (int64_t)(int32_t)(pages << 11) >> 11; /* 21 bits and a sign */
		uint64_t to = ((linked + i) & ~0xfffull) + (uint64_t)away * 4096 + (uint64_t)(ldr >> 10 & 0xfff) * 8;
		size_t start = i >= 4 && le32_get(p + i - 4) == BTI_C ? i - 4 : i, end = i + 8;
		while (end + 4 <= n && end - start < STUB_WORDS * 4 && le32_get(p + end - 4) != BR_X17) {
			end += 4;
		}
		const struct word *of = word_at(sorted, to);
		if (of) {
			add_stub(m, f, sorted, of, linked + start, end - start);
		}
	}
}

/* ---- all sections ------------------------------------------------------------------------------- */

void symbol_plt_find(struct symbol_elf *f, uint16_t machine, uint64_t most, struct symbol_more *m)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.bnd", ".plt.got", ".iplt"};
	struct words in_order = {.count = 0}, sorted;
	uint64_t at;
	if (machine != EM_X86_64 && machine != EM_AARCH64) {
		return;
	}
	words_read(&in_order, f, ".rela.plt", machine, most);
	in_order.lazy = in_order.count;
	words_read(&in_order, f, ".rela.dyn", machine, most);
	if (symbol_elf_section(f, ".dynsym", (size_t)most, &in_order.symbols, &in_order.symbols_bytes, &at) < 0 ||
	    symbol_elf_section(f, ".dynstr", (size_t)most, &in_order.names, &in_order.names_bytes, &at) < 0) {
		in_order.symbols_bytes = in_order.names_bytes = 0; /* a static program */
	}
	sorted = in_order;
	sorted.list = in_order.count ? malloc(in_order.count * sizeof *sorted.list) : NULL;
	if (sorted.list) {
		memcpy(sorted.list, in_order.list, in_order.count * sizeof *sorted.list);
		qsort(sorted.list, sorted.count, sizeof *sorted.list, by_place);
	}
	for (size_t i = 0; sorted.list && i < BASE_ARRAY_LEN(sections); i++) {
		uint8_t *p;
		size_t n;
		if (symbol_elf_section(f, sections[i], (size_t)most, &p, &n, &at) < 0) {
			continue;
		}
		if (machine == EM_X86_64) {
			x86_stubs(m, f, &sorted, &in_order, p, n, at);
		} else {
			arm64_stubs(m, f, &sorted, p, n, at);
		}
		free(p);
	}
	free(sorted.list);
	free(in_order.list);
	free(in_order.symbols);
	free(in_order.names);
}
