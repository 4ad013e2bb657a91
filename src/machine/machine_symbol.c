/* SPDX-License-Identifier: MIT
 *
 * A module of a Linux trace names a file by its path. The file of today may be another build: then
 * its names would be wrong ones, so it has to prove itself. Image records have the build id's first
 * bytes where Windows has time stamp and checksum, debug ids have 16 of them; a trace with neither
 * leaves the size.
 */
#include "machine/machine_symbol.h"

#include "symbol/symbol.h"

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

static struct symbol_elf *file_of(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
				  const struct machine_debug_id *d)
{
	uint64_t build = d ? le64_get(d->guid) : ((uint64_t)i->time_date_stamp << 32 | i->checksum) ^ i->size;
	uint64_t id = hash(i->path, 14695981039346656037ull ^ build);
	struct file_node *n = (struct file_node *)machine_table_find(&x->files, id);
	for (; n; n = (struct file_node *)n->n.older) {
		if (n->build == build && strcmp(n->path, i->path) == 0) {
			return n->elf;
		}
	}
	n = machine_alloc(m, sizeof *n);
	if (!n) {
		return NULL;
	}
	n->n.id = id;
	n->path = i->path;
	n->build = build;
	if (x->open_bytes < FILE_BYTES_MAX && symbol_elf_open(i->path, &n->elf) == 0) {
		if (is_build(n->elf, i, d)) {
			x->open_bytes += symbol_elf_load(n->elf);
		} else {
			symbol_elf_close(n->elf);
			n->elf = NULL;
		}
	}
	if (!machine_table_add(&x->files, &n->n)) {
		symbol_elf_close(n->elf);
		return NULL;
	}
	return n->elf;
}

const char *machine_symbols_at(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
			       const struct machine_debug_id *d, uint64_t offset, uint64_t *ret_start)
{
	if (i->path[0] != '/') {
		return NULL; /* of Windows */
	}
	struct symbol_elf *f = file_of(x, m, i, d);
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
