/* SPDX-License-Identifier: MIT
 *
 * Where functions are that have no name: .eh_frame_hdr has a sorted table with the start of each that can be unwound,
 * also in programs that are stripped. The bytes may be anything.
 */
#include "symbol/symbol_more.h"

#include <stdio.h>
#include <stdlib.h>

#define VERSION   1u
#define COUNT_U4  0x03u
#define TABLE_S4  0x3bu /* 4 bytes with a sign, from the start of this section: what all linkers write */
#define ENTRY     8u
#define NO_LENGTH 0xffffffffu /* the 64-bit form */

struct frames {
	uint8_t *p;
	size_t n;
	uint64_t linked;
};

/* Bytes of a function by its entry in .eh_frame, where that is of the usual form; 0: unknown. */
static uint64_t length_of(const struct frames *all, uint64_t at, uint64_t start)
{
	if (at < all->linked || at - all->linked > all->n || all->n - (at - all->linked) < 16) {
		return 0;
	}
	const uint8_t *p = all->p + (at - all->linked);
	uint64_t says = at + 8 + (uint64_t)(int64_t)(int32_t)le32_get(p + 8);
	return le32_get(p) != NO_LENGTH && says == start ? le32_get(p + 12) : 0;
}

/* Bytes of the table behind the pointer to .eh_frame, whose encoding says how long that is. */
static size_t pointer_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x02:
	case 0x0a: return 2;
	case 0x03:
	case 0x0b: return 4;
	case 0x00:
	case 0x04:
	case 0x0c: return 8;
	default: return 0;
	}
}

void symbol_frames_find(struct symbol_elf *f, uint64_t most, bool (*known)(const struct symbol_elf *f, uint64_t linked),
			struct symbol_more *m)
{
	struct frames head = {.n = 0}, all = {.n = 0};
	if (symbol_elf_section(f, ".eh_frame_hdr", (size_t)most, &head.p, &head.n, &head.linked) < 0) {
		return;
	}
	if (symbol_elf_section(f, ".eh_frame", (size_t)most, &all.p, &all.n, &all.linked) < 0) {
		all.n = 0;
	}
	size_t skip = head.n >= 4 && head.p[0] == VERSION && head.p[2] == COUNT_U4 && head.p[3] == TABLE_S4
			      ? pointer_bytes(head.p[1])
			      : 0;
	size_t table = 4 + skip + 4;
	size_t count = skip && head.n >= table ? BASE_MIN(le32_get(head.p + table - 4), (head.n - table) / ENTRY) : 0;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *e = head.p + table + i * ENTRY;
		uint64_t start = head.linked + (uint64_t)(int64_t)(int32_t)le32_get(e);
		uint64_t entry = head.linked + (uint64_t)(int64_t)(int32_t)le32_get(e + 4);
		char name[32];
		if (!known(f, start)) {
			snprintf(name, sizeof name, "0x%llx", (unsigned long long)start);
			symbol_more_add(m, start, length_of(&all, entry, start), name, "");
		}
	}
	free(head.p);
	free(all.p);
}
