/* SPDX-License-Identifier: MIT
 * ELF files from anywhere: a daemon looks into whatever its user runs.
 */
#include "base/base.h"
#include "base/elf_section.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const names[] = {".openetw.schema", "", ".shstrtab"};
	int fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
		base_close(&fd);
		return 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		uint8_t *p;
		size_t bytes = 0;
		if (elf_section_read(fd, names[i], 1 << 20, &p, &bytes) == 0) {
			volatile uint8_t sum = 0;
			for (size_t k = 0; k < bytes; k++) {
				sum = (uint8_t)(sum + p[k]);
			}
			free(p);
		}
	}
	close(fd);
	return 0;
}
