/* SPDX-License-Identifier: MIT
 * Descriptions that programs carry: an ELF file with the section, or the section itself.
 */
#include "base/elf.h"
#include "format/schema_section.h"
#include "manifest/manifest_section.h"
#include "schema/schema_manifest.h"

#include <stdlib.h>

static int take(void *ctx, struct manifest *m, enum schema_source source, const char *key)
{
	for (const struct manifest_provider *p = m->providers; p; p = p->next) {
		for (const struct manifest_event *e = p->events; e; e = e->next) {
			struct schema_event *made;
			if (schema_manifest_event(p, e, source, &made) == 0) {
				schema_event_destroy(made);
			}
		}
	}
	manifest_finish(m);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct diag d;
	diag_clear(&d);
	manifest_read_section(data, n, take, NULL, "", &d);
	int fd = n >= 4 && memcmp(data, "\177ELF", 4) == 0 ? base_memfd("fuzz", 0) : -1;
	if (fd >= 0 && write(fd, data, n) == (ssize_t)n) {
		uint8_t *p;
		size_t bytes;
		if (elf_section_read(fd, SCHEMA_SECTION_NAME, 1u << 20, &p, &bytes) == 0) {
			manifest_read_section(p, bytes, take, NULL, "", &d);
			free(p);
		}
	}
	base_close(&fd);
	return 0;
}
