/* SPDX-License-Identifier: MIT
 *
 * The dynamic linker's list. It keeps a library mapped while we look at it, and the lock it takes for that is not the
 * one that constructors run under.
 */
#include "base/loaded_images.h"

#include "base/elf.h"

#include <elf.h>
#include <link.h>

#define PAGE      4096u
#define NOTES_MAX (1u << 20)

struct look {
	loaded_image_fn fn;
	void *ctx;
	uint64_t changes;
};

static uint64_t changes_of(const struct dl_phdr_info *info, size_t size)
{
	bool known = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
	return known ? (info->dlpi_adds << 32 | (info->dlpi_subs & UINT32_MAX)) + 1 : 0;
}

/* A segment of notes that lies inside one that is loaded and can be read. */
static bool readable(const struct dl_phdr_info *info, const ElfW(Phdr) * note)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type == PT_LOAD && (h->p_flags & PF_R) && note->p_vaddr >= h->p_vaddr &&
		    note->p_vaddr - h->p_vaddr <= h->p_filesz &&
		    note->p_memsz <= h->p_filesz - (note->p_vaddr - h->p_vaddr)) {
			return true;
		}
	}
	return false;
}

static void find_build_id(const uint8_t *p, size_t n, size_t align, struct loaded_image *ret)
{
	const uint8_t *id;
	uint32_t bytes = elf_notes_build_id(p, n, align, &id);
	if (bytes > 0) {
		ret->build_id_bytes = BASE_MIN(bytes, LOADED_IMAGE_BUILD_ID_MAX);
		memcpy(ret->build_id, id, ret->build_id_bytes);
	}
}

/* context: the dynamic linker's lock is held. */
static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct look *l = ctx;
	uint64_t low = UINT64_MAX, high = 0;
	struct loaded_image i = {.path = info->dlpi_name ? info->dlpi_name : ""};
	l->changes = changes_of(info, size);
	if (!l->fn) {
		return 1;
	}
	for (unsigned k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[k];
		if (h->p_type == PT_LOAD && h->p_memsz != 0) {
			low = BASE_MIN(low, (uint64_t)h->p_vaddr & ~(uint64_t)(PAGE - 1));
			high = BASE_MAX(high, (uint64_t)h->p_vaddr + h->p_memsz);
		} else if (h->p_type == PT_NOTE && i.build_id_bytes == 0 && h->p_memsz <= NOTES_MAX &&
			   readable(info, h)) {
			find_build_id((const uint8_t *)(info->dlpi_addr + h->p_vaddr), h->p_memsz, h->p_align, &i);
		}
	}
	if (low >= high) {
		return 0;
	}
	i.base = info->dlpi_addr + low;
	i.bytes = (high - low + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return l->fn(l->ctx, &i);
}

uint64_t loaded_images_changes(void)
{
	struct look l = {.fn = NULL};
	dl_iterate_phdr(look_at, &l);
	return l.changes;
}

uint64_t loaded_images_each(loaded_image_fn fn, void *ctx)
{
	struct look l = {.fn = fn, .ctx = ctx};
	dl_iterate_phdr(look_at, &l);
	return l.changes;
}
