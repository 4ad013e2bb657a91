/* SPDX-License-Identifier: MIT */
#include "tools/symbols/symbols_dwarf.h"
#include "base/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>

#define PAGE       4096u
#define DEEP_MAX   64
#define RANGES_MAX (1u << 20)

struct part {
	int fd; /* libelf may read it at any time */
	Elf *elf;
	Dwarf *dwarf;
};
/* Addresses of one unit, whose entry stands there. */
struct range {
	uint64_t from, to;
	Dwarf_Off unit;
};
struct file {
	bool used;
	bool listed; /* `range` has been filled */
	struct range *range;
	size_t ranges, ranges_cap;
	struct part part[3]; /* by enum symbols_part */
	Dwarf *dwarf;        /* the one that is asked; NULL: none */
	uint64_t first;
};

static struct file files[SYMBOLS_FILES_MAX];

static void part_open(struct part *p, int *inout_fd)
{
	p->fd = *inout_fd;
	*inout_fd = -1;
	/* A file that is mapped takes none of the memory that is allowed. */
	p->elf = p->fd >= 0 ? elf_begin(p->fd, ELF_C_READ_MMAP, NULL) : NULL;
}

static void find_first(struct file *f, Elf *elf)
{
	size_t segments = 0;
	f->first = UINT64_MAX;
	elf_getphdrnum(elf, &segments);
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr h;
		if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_LOAD) {
			f->first = BASE_MIN(f->first, h.p_vaddr & ~(uint64_t)(PAGE - 1));
		}
	}
}

/* What has to be opened next, or that nothing has. */
static void want(struct symbols_opened *ret, struct strbuf *more, uint32_t state, const void *id, ssize_t id_bytes,
		 const char *name)
{
	size_t n = name ? strnlen(name, SYMBOLS_NAME_MAX + 1) : 0;
	if (id_bytes <= 0 || id_bytes > (ssize_t)SYMBOLS_ID_MAX) {
		return;
	}
	ret->state = state;
	ret->id_bytes = (uint32_t)id_bytes;
	strbuf_add(more, id, (size_t)id_bytes);
	if (n <= SYMBOLS_NAME_MAX) {
		ret->name_bytes = (uint32_t)n;
		strbuf_add(more, name ? name : "", n);
	}
}

static void use(struct file *f, Dwarf *dwarf, struct symbols_opened *ret, struct strbuf *more)
{
	const char *name = NULL;
	const void *id = NULL;
	f->dwarf = dwarf;
	ret->state = SYMBOLS_READY;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	want(ret, more, SYMBOLS_WANTS_SHARED, id, n, name);
}

static void open_program(struct file *f, const struct symbols_open *o, int *inout_fd, struct symbols_opened *ret,
			 struct strbuf *more)
{
	const void *id = NULL;
	struct part *p = &f->part[SYMBOLS_PROGRAM];
	if (f->used) {
		return;
	}
	f->used = true;
	part_open(p, inout_fd);
	ssize_t n = p->elf ? dwelf_elf_gnu_build_id(p->elf, &id) : 0;
	if (n < (ssize_t)SYMBOLS_GUID_BYTES || memcmp(id, o->build, SYMBOLS_GUID_BYTES) != 0) {
		return;
	}
	find_first(f, p->elf);
	p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL);
	if (p->dwarf) {
		use(f, p->dwarf, ret, more);
	} else {
		want(ret, more, SYMBOLS_WANTS_DEBUG, id, n, NULL);
	}
}

static void open_debug(struct file *f, int *inout_fd, struct symbols_opened *ret, struct strbuf *more)
{
	struct part *p = &f->part[SYMBOLS_DEBUG];
	if (!f->used || f->dwarf || p->elf) {
		return;
	}
	part_open(p, inout_fd);
	p->dwarf = p->elf ? dwarf_begin_elf(p->elf, DWARF_C_READ, NULL) : NULL;
	if (p->dwarf) {
		use(f, p->dwarf, ret, more);
	}
}

static void open_shared(struct file *f, int *inout_fd, struct symbols_opened *ret)
{
	const char *name;
	const void *wanted = NULL, *id = NULL;
	struct part *p = &f->part[SYMBOLS_SHARED];
	if (!f->dwarf || p->elf) {
		return;
	}
	ret->state = SYMBOLS_READY; /* without it, too */
	part_open(p, inout_fd);
	ssize_t n = p->elf ? dwelf_elf_gnu_build_id(p->elf, &id) : 0;
	if (n > 0 && dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &wanted) == n &&
	    memcmp(id, wanted, (size_t)n) == 0) {
		p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL);
		dwarf_setalt(f->dwarf, p->dwarf);
	}
}

void symbols_dwarf_open(const struct symbols_open *o, int *inout_fd, struct symbols_opened *ret, struct strbuf *more)
{
	static bool ready;
	if (!ready) {
		ready = elf_version(EV_CURRENT) != EV_NONE;
	}
	struct file *f = o->number < SYMBOLS_FILES_MAX ? &files[o->number] : NULL;
	if (f && o->part == SYMBOLS_PROGRAM) {
		open_program(f, o, inout_fd, ret, more);
	} else if (f && o->part == SYMBOLS_DEBUG) {
		open_debug(f, inout_fd, ret, more);
	} else if (f && o->part == SYMBOLS_SHARED) {
		open_shared(f, inout_fd, ret);
	}
	ret->first = f ? f->first : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Of all units, asked one by one: clang makes no table of them (.debug_aranges) unless it is told to. */
static void list_units(struct file *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	f->listed = true;
	while (dwarf_get_units(f->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		Dwarf_Addr base = 0, from, to;
		ptrdiff_t at = 0;
		while (f->ranges < RANGES_MAX && (at = dwarf_ranges(&unit, at, &base, &from, &to)) > 0) {
			if (!VEC_ROOM(f->range, f->ranges, f->ranges_cap)) {
				break;
			}
			f->range[f->ranges++] = (struct range){from, to, dwarf_dieoffset(&unit)};
		}
	}
	if (f->ranges) {
		qsort(f->range, f->ranges, sizeof *f->range, by_address);
	}
}

static bool unit_of(struct file *f, uint64_t at, Dwarf_Die *ret)
{
	if (dwarf_addrdie(f->dwarf, at, ret)) {
		return true;
	}
	if (!f->listed) {
		list_units(f);
	}
	size_t low = 0, high = f->ranges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (f->range[middle].from <= at) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > 0 && at < f->range[low - 1].to && dwarf_offdie(f->dwarf, f->range[low - 1].unit, ret);
}

void symbols_dwarf_look(uint32_t number, uint64_t at, struct strbuf *out)
{
	struct file *f = number < SYMBOLS_FILES_MAX ? &files[number] : NULL;
	Dwarf_Die unit, *found = NULL, *scopes = NULL;
	if (!f || !f->dwarf || !unit_of(f, at, &unit) || dwarf_getscopes(&unit, at, &found) <= 0) {
		free(found);
		return;
	}
	/* That list leaves the program for the source at the first inlined one; its place in the program is
	 * what holds it. */
	int n = dwarf_getscopes_die(&found[0], &scopes);
	free(found);
	const char *names[DEEP_MAX];
	size_t count = 0;
	/* From the innermost out, as far as the function that holds them. */
	for (int i = 0; i < n && dwarf_tag(&scopes[i]) != DW_TAG_subprogram && count < DEEP_MAX; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			const char *name = dwarf_diename(&scopes[i]);
			names[count++] = name ? name : "?";
		}
	}
	while (count-- > 0) {
		if (out->len + strnlen(names[count], SYMBOLS_TEXT_MAX) + 1 < SYMBOLS_TEXT_MAX) {
			strbuf_addf(out, "%s%s", out->len > 0 ? ";" : "", names[count]);
		}
	}
	free(scopes);
}
