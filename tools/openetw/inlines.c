/* SPDX-License-Identifier: MIT */
#include "tools/openetw/inlines.h"
#include "base/vec.h"

#ifdef OPENETW_LIBDW

#include "base/open_foreign.h"
#include "tools/openetw/tally.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE       4096u
#define GUID_BYTES 16
#define DEEP_MAX   64
#define FILES_MAX  4096u

struct file {
	char *path;
	uint8_t build[GUID_BYTES];
	int fd[2]; /* the file, and its separate debug information */
	Elf *elf;
	Dwarf *dwarf; /* NULL: none of that build */
	uint64_t first;
};
struct inlines {
	struct file *files;
	uint32_t count, cap;
	struct tally known; /* of an address: v[0] is the place in texts, 0: none */
	char **texts;
	size_t text_count, text_cap;
};

struct inlines *inlines_create(void)
{
	elf_version(EV_CURRENT);
	struct inlines *x = calloc(1, sizeof *x);
	return x;
}

void inlines_destroy(struct inlines *x)
{
	for (uint32_t i = 0; x && i < x->count; i++) {
		dwarf_end(x->files[i].dwarf);
		elf_end(x->files[i].elf);
		base_close(&x->files[i].fd[0]);
		base_close(&x->files[i].fd[1]);
		free(x->files[i].path);
	}
	for (size_t i = 0; x && i < x->text_count; i++) {
		free(x->texts[i]);
	}
	if (x) {
		tally_free(&x->known);
		free(x->texts);
		free(x->files);
	}
	free(x);
}

/* A separate debug file of a stranger is not believed, whoever's program it is about. */
static int open_debug_file(const char *path, int program)
{
	struct stat st, of;
	int fd = fstat(program, &of) == 0 ? open_foreign(-1, path, 0, &st) : -1;
	if (fd >= 0 && !open_foreign_believed(&st, of.st_uid, geteuid())) {
		base_close(&fd);
	}
	return fd;
}

static void open_dwarf(struct file *f)
{
	const void *id;
	f->fd[0] = open_foreign(-1, f->path, 0, NULL); /* the path comes from a trace */
	f->elf = f->fd[0] >= 0 ? elf_begin(f->fd[0], ELF_C_READ, NULL) : NULL;
	ssize_t n = f->elf ? dwelf_elf_gnu_build_id(f->elf, &id) : 0;
	if (n < GUID_BYTES || memcmp(id, f->build, GUID_BYTES) != 0) {
		return;
	}
	size_t segments = 0;
	f->first = UINT64_MAX;
	elf_getphdrnum(f->elf, &segments);
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr h;
		if (gelf_getphdr(f->elf, (int)i, &h) && h.p_type == PT_LOAD) {
			f->first = BASE_MIN(f->first, h.p_vaddr & ~(uint64_t)(PAGE - 1));
		}
	}
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (f->dwarf) {
		return;
	}
	char path[128] = "/usr/lib/debug/.build-id/";
	size_t at = strlen(path);
	for (ssize_t i = 0; i < n && at + 4 < sizeof path - 8; i++) {
		at += (size_t)snprintf(path + at, sizeof path - at, i == 0 ? "%02x/" : "%02x",
				       ((const uint8_t *)id)[i]);
	}
	snprintf(path + at, sizeof path - at, ".debug");
	f->fd[1] = open_debug_file(path, f->fd[0]);
	f->dwarf = f->fd[1] >= 0 ? dwarf_begin(f->fd[1], DWARF_C_READ) : NULL;
}

static struct file *file_of(struct inlines *x, const struct openetw_module *m, uint32_t *ret_number)
{
	for (uint32_t i = 0; i < x->count; i++) {
		if (strcmp(x->files[i].path, m->path) == 0 &&
		    memcmp(x->files[i].build, m->build_guid, GUID_BYTES) == 0) {
			*ret_number = i;
			return &x->files[i];
		}
	}
	if (!VEC_ROOM_UP_TO(x->files, x->count, x->cap, FILES_MAX)) {
		return NULL;
	}
	struct file *f = &x->files[x->count];
	*f = (struct file){.path = strdup(m->path), .fd = {-1, -1}};
	if (!f->path) {
		return NULL;
	}
	memcpy(f->build, m->build_guid, GUID_BYTES);
	open_dwarf(f);
	*ret_number = x->count++;
	return f;
}

static void look(const struct file *f, uint64_t at, struct strbuf *out)
{
	Dwarf_Die unit, *found = NULL, *scopes = NULL;
	if (!dwarf_addrdie(f->dwarf, at, &unit) || dwarf_getscopes(&unit, at, &found) <= 0) {
		free(found);
		return;
	}
	/* That list leaves the program for the source at the first inlined one; its place in the program is
	 * what holds it. */
	int n = dwarf_getscopes_die(&found[0], &scopes);
	free(found);
	const char *names[DEEP_MAX];
	int count = 0;
	/* From the innermost out, as far as the function that holds them. */
	for (int i = 0; i < n && dwarf_tag(&scopes[i]) != DW_TAG_subprogram && count < DEEP_MAX; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			const char *name = dwarf_diename(&scopes[i]);
			names[count++] = name ? name : "?";
		}
	}
	while (count-- > 0) {
		strbuf_addf(out, "%s%s", out->len ? ";" : "", names[count]);
	}
	free(scopes);
}

const char *inlines_at(struct inlines *x, const struct openetw_module *m, uint64_t address)
{
	uint32_t number;
	struct file *f = x && m->build_guid && m->path[0] == '/' ? file_of(x, m, &number) : NULL;
	if (!f || !f->dwarf) {
		return NULL;
	}
	uint64_t at = address - m->base + f->first;
	struct tally_row *row = tally_rowf(&x->known, "%u:%llx", number, (unsigned long long)at);
	if (!row) {
		return NULL;
	}
	if (!row->seen) {
		struct strbuf text = {0};
		row->seen = 1;
		look(f, at, &text);
		if (text.len && VEC_ROOM(x->texts, x->text_count, x->text_cap)) {
			x->texts[x->text_count++] = text.s;
			row->v[0] = x->text_count;
		} else {
			strbuf_finish(&text);
		}
	}
	return row->v[0] ? x->texts[row->v[0] - 1] : NULL;
}

#else

struct inlines *inlines_create(void)
{
	return NULL;
}

void inlines_destroy(struct inlines *x)
{
	(void)x;
}

const char *inlines_at(struct inlines *x, const struct openetw_module *m, uint64_t address)
{
	(void)x;
	(void)m;
	(void)address;
	return NULL;
}

#endif
