/* SPDX-License-Identifier: MIT
 * Build ids: which build of a program a file is. They stand in a note of the ELF file.
 */
#include "kernel/kernel_process.h"

#include <elf.h>

struct kernel_build kernel_build_of_notes(const uint8_t *p, size_t n)
{
	struct kernel_build b = {.n = 0};
	struct bytes c = bytes_of(p, n);
	while (bytes_left(&c) >= 12) {
		uint32_t name_bytes = bytes_u32(&c), id_bytes = bytes_u32(&c), type = bytes_u32(&c);
		if (name_bytes > n || id_bytes > n) {
			break;
		}
		const uint8_t *name = bytes_take(&c, (name_bytes + 3) & ~3u);
		const uint8_t *id = bytes_take(&c, (id_bytes + 3) & ~3u);
		if (!name || !id) {
			break;
		}
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0) {
			b.n = (uint8_t)BASE_MIN(id_bytes, KERNEL_BUILD_ID);
			memcpy(b.id, id, b.n);
			break;
		}
	}
	return b;
}
