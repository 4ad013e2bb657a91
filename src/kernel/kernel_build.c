/* SPDX-License-Identifier: MIT
 * Build ids: which build of a program a file is. They stand in a note of the ELF file.
 */
#include "kernel/kernel_process.h"

#include "base/elf.h"

struct kernel_build kernel_build_of_notes(const uint8_t *p, size_t n)
{
	struct kernel_build b = {.n = 0};
	const uint8_t *id;
	uint32_t bytes = elf_notes_build_id(p, n, 4, &id);
	if (bytes > 0) {
		b.n = (uint8_t)BASE_MIN(bytes, KERNEL_BUILD_ID);
		memcpy(b.id, id, b.n);
	}
	return b;
}
