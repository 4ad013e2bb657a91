/* SPDX-License-Identifier: MIT
 *
 * A module of a Linux trace names a file by its path. The file of today may be another build: then
 * its names would be wrong ones, so it has to prove itself. Image records have the build id's first
 * bytes where Windows has time stamp and checksum, debug ids have 16 of them; a trace with neither
 * leaves the size.
 */
#include "machine/machine_symbol.h"

#include "symbol/symbol.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE           4096u
#define FILE_BYTES_MAX (256ull << 20) /* of all symbol tables together */
#define GUID_BYTES     16u
/* Of all names together: half a million ordinary ones, 128 MB of text, seconds. */
#define READABLE_UNITS (512ull << 20)

struct file_node {
	struct machine_node n; /* by path and build */
	const char *path;
	uint64_t build;         /* what else tells builds apart */
	struct symbol_elf *elf; /* NULL: none, or another build */
	const char *found;      /* the file's path */
	const char *why;        /* there is none; static */
	uint32_t looked;        /* how many folders were known then */
};
struct name_node {
	struct machine_node n; /* by the place of the raw name */
	const char *text;
};

static bool is_build(const struct symbol_elf *f, const struct machine_image *i, const struct machine_debug_id *d)
{
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	uint32_t n = symbol_elf_build_id(f, id);
	if (d) {
		return n >= GUID_BYTES && memcmp(id, d->guid, GUID_BYTES) == 0;
	}
	if (i->time_date_stamp || i->checksum) {
		return n >= 8 && le32_get(id) == i->time_date_stamp && le32_get(id + 4) == i->checksum;
	}
	uint64_t mask = ~(uint64_t)(PAGE - 1);
	return ((symbol_elf_span(f) + PAGE - 1) & mask) == ((i->size + PAGE - 1) & mask);
}

static uint64_t hash(const char *path, uint64_t h)
{
	for (; *path; path++) {
		h = (h ^ (uint8_t)*path) * 1099511628211ull;
	}
	return h;
}

/* True: the file is of the build, and its names are loaded. */
static bool try(struct machine_symbols *x, struct machine_memory *m, struct file_node *n, const char *path,
		const struct machine_image *i, const struct machine_debug_id *d)
{
	if (symbol_elf_open(path, &n->elf) != 0) {
		n->elf = NULL;
		return false;
	}
	if (!is_build(n->elf, i, d)) {
		symbol_elf_close(n->elf);
		n->elf = NULL;
		n->why = "the file that was found is of another build";
		return false;
	}
	x->open_bytes += symbol_elf_load(n->elf);
	const char *source = symbol_elf_source(n->elf);
	n->found = machine_text(m, source[0] ? source : path);
	return true;
}

/* .build-id/ab/cdef… of a folder: the trace has the first 16 bytes of it. */
static bool try_build_id(struct machine_symbols *x, struct machine_memory *m, struct file_node *n, const char *folder,
			 const struct machine_image *i, const struct machine_debug_id *d)
{
	char path[PATH_MAX], hex[2 * GUID_BYTES + 1];
	for (unsigned k = 0; k < GUID_BYTES; k++) {
		snprintf(hex + 2 * k, 3, "%02x", d->guid[k]);
	}
	snprintf(path, sizeof path, "%.2000s/.build-id/%.2s", folder, hex);
	DIR *list = opendir(path);
	struct dirent *e;
	bool found = false;
	while (list && !found && (e = readdir(list)) != NULL) {
		if (strncmp(e->d_name, hex + 2, sizeof hex - 3) == 0) {
			snprintf(path, sizeof path, "%.2000s/.build-id/%.2s/%.255s", folder, hex, e->d_name);
			found = try(x, m, n, path, i, d);
		}
	}
	if (list) {
		closedir(list);
	}
	return found;
}

static bool try_folder(struct machine_symbols *x, struct machine_memory *m, struct file_node *n, const char *folder,
		       const struct machine_image *i, const struct machine_debug_id *d)
{
	const char *slash = strrchr(i->path, '/'), *name = slash ? slash + 1 : i->path;
	char path[PATH_MAX];
	if (strstr(i->path, "/../") || strcmp(name, "..") == 0 || !name[0]) {
		return false; /* it would lead out of the folder */
	}
	if (d && try_build_id(x, m, n, folder, i, d)) {
		return true;
	}
	for (size_t k = 0; k < 4; k++) {
		int length = k == 0   ? snprintf(path, sizeof path, "%.2000s%s", folder, i->path)
			     : k == 1 ? snprintf(path, sizeof path, "%.2000s%s.debug", folder, i->path)
			     : k == 2 ? snprintf(path, sizeof path, "%.2000s/%s", folder, name)
				      : snprintf(path, sizeof path, "%.2000s/%s.debug", folder, name);
		if (length > 0 && (size_t)length < sizeof path && try(x, m, n, path, i, d)) {
			return true;
		}
	}
	return false;
}

static void look(struct machine_symbols *x, struct machine_memory *m, struct file_node *n,
		 const struct machine_image *i, const struct machine_debug_id *d)
{
	n->looked = x->folder_count;
	n->why = "no file of this module is on this machine";
	if (x->open_bytes >= FILE_BYTES_MAX) {
		n->why = "names of other modules have taken all the memory that there is for them";
		return;
	}
	bool found = try(x, m, n, i->path, i, d);
	for (uint32_t k = 0; k < x->folder_count && !found; k++) {
		found = try_folder(x, m, n, x->folders[k], i, d);
	}
}

static struct file_node *file_of(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
				 const struct machine_debug_id *d)
{
	uint64_t build = d ? le64_get(d->guid) : ((uint64_t)i->time_date_stamp << 32 | i->checksum) ^ i->size;
	uint64_t id = hash(i->path, 14695981039346656037ull ^ build);
	struct file_node *n = (struct file_node *)machine_table_find(&x->files, id);
	for (; n; n = (struct file_node *)n->n.older) {
		if (n->build == build && strcmp(n->path, i->path) == 0) {
			if (!n->elf && n->looked != x->folder_count) {
				look(x, m, n, i, d);
			}
			return n;
		}
	}
	n = machine_alloc(m, sizeof *n);
	if (!n) {
		return NULL;
	}
	n->n.id = id;
	n->path = i->path;
	n->build = build;
	look(x, m, n, i, d);
	if (!machine_table_add(&x->files, &n->n)) {
		symbol_elf_close(n->elf);
		return NULL;
	}
	return n;
}

bool machine_symbols_folder(struct machine_symbols *x, struct machine_memory *m, const char *folder)
{
	for (uint32_t i = 0; i < x->folder_count; i++) {
		if (strcmp(x->folders[i], folder) == 0) {
			return true;
		}
	}
	if (x->folder_count == MACHINE_FOLDERS_MAX) {
		return false;
	}
	x->folders[x->folder_count++] = machine_text(m, folder);
	return true;
}

const char *machine_symbols_file(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
				 const struct machine_debug_id *d, const char **ret_why)
{
	if (i->path[0] != '/') {
		*ret_why = "it is a module of Windows, whose names are in a PDB file: OpenETW reads none";
		return NULL;
	}
	const struct file_node *n = file_of(x, m, i, d);
	*ret_why = n ? n->why : "no memory";
	return n && n->elf ? n->found : NULL;
}

const char *machine_symbols_at(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
			       const struct machine_debug_id *d, uint64_t offset, uint64_t *ret_start)
{
	if (i->path[0] != '/') {
		return NULL; /* of Windows */
	}
	struct file_node *n = file_of(x, m, i, d);
	struct symbol_elf *f = n ? n->elf : NULL;
	const char *raw = f ? symbol_elf_find(f, offset, ret_start) : NULL;
	return raw ? machine_symbols_readable(x, m, raw) : NULL;
}

const char *machine_symbols_readable(struct machine_symbols *x, struct machine_memory *m, const char *raw)
{
	if (raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R')) {
		return raw;
	}
	uint64_t id = (uint64_t)(uintptr_t)raw;
	struct name_node *n = (struct name_node *)machine_table_find(&x->names, id);
	uint64_t left = READABLE_UNITS - x->readable_units;
	if (!n && left) {
		char *text = symbol_demangle_within(raw, &left);
		x->readable_units = READABLE_UNITS - left;
		n = text ? machine_alloc(m, sizeof *n) : NULL;
		if (n) {
			n->n.id = id;
			n->text = machine_text(m, text);
			n->text = n->text[0] ? n->text : raw; /* there was no room */
			n = machine_table_add(&x->names, &n->n) ? n : NULL;
		}
		free(text);
		if (!n) { /* no room for it, and none for others */
			x->readable_units = READABLE_UNITS;
		}
	}
	return n ? n->text : raw;
}

void machine_symbols_free(struct machine_symbols *x)
{
	for (struct machine_node *n = NULL; (n = machine_table_next(&x->files, n)) != NULL;) {
		for (struct machine_node *o = n; o; o = o->older) {
			symbol_elf_close(((struct file_node *)o)->elf);
		}
	}
	machine_table_free(&x->files);
	machine_table_free(&x->names);
}
