/* SPDX-License-Identifier: MIT
 * The input as an ELF file; functions are looked for all over it.
 */
#include "symbol/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_elf *f;
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	if (symbol_elf_open_memory(data, size, &f) < 0) {
		return 0;
	}
	sum += symbol_elf_build_id(f, id);
	uint64_t step = symbol_elf_span(f) / 64 + 1, start;
	for (uint64_t i = 0; i < 65; i++) {
		const char *name = symbol_elf_find(f, i * step, &start);
		sum += name ? strlen(name) + start : 0;
	}
	symbol_elf_close(f);
	return 0;
}
