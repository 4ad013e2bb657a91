/* SPDX-License-Identifier: MIT
 * Private to state: functions of ELF modules, from the files of this machine that are of the same
 * build.
 */
#ifndef MACHINE_MACHINE_SYMBOL_H
#define MACHINE_MACHINE_SYMBOL_H

#include "machine/machine.h"
#include "machine/machine_table.h"

#define MACHINE_FOLDERS_MAX 16u

struct machine_symbols {
	struct machine_table files, names;
	const char *folders[MACHINE_FOLDERS_MAX]; /* that files are looked for in, too */
	uint32_t folder_count;
	uint64_t open_bytes;
	uint64_t readable_units; /* that names have taken */
};
/* NULL when unknown. *ret_start counts from the module's base. */
const char *machine_symbols_at(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
			       const struct machine_debug_id *d, uint64_t offset, uint64_t *ret_start);
/* Looks into this folder, too; what was not found before is looked for again. False: there are too many. */
bool machine_symbols_folder(struct machine_symbols *x, struct machine_memory *m, const char *folder);
/* The file that the names of a module come from. NULL: none, and *ret_why is a sentence; static. */
const char *machine_symbols_file(struct machine_symbols *x, struct machine_memory *m, const struct machine_image *i,
				 const struct machine_debug_id *d, const char **ret_why);
/* A mangled name, which must stay where it is, as people write it; others as they are. */
const char *machine_symbols_readable(struct machine_symbols *x, struct machine_memory *m, const char *raw);
void machine_symbols_free(struct machine_symbols *x);

#endif
