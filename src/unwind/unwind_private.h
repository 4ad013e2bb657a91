/* SPDX-License-Identifier: MIT
 * Shared by the files of unwind.
 */
#ifndef UNWIND_UNWIND_PRIVATE_H
#define UNWIND_UNWIND_PRIVATE_H

#include "symbol/symbol.h"
#include "unwind/unwind_table.h"

#include <sys/types.h>

#define UNWIND_BUCKETS 1024u
#define UNWIND_ROWS    8192u /* rules kept, a power of two */
#define UNWIND_BYTES_MAX (768u << 20) /* of all tables */
#define UNWIND_FILE_MAX	 (192u << 20) /* of one */

struct unwind_file {
	char *path;
	uint32_t number;
	dev_t device;
	ino_t inode;
	uint64_t size, changed;
	uint64_t first, span;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	uint32_t build_id_bytes;
	struct symbol_elf *elf; /* NULL: no such file */
	bool looked;
	struct unwind_table *table[2]; /* .eh_frame, .debug_frame */
};
struct unwind_mapping {
	uint64_t start, end, offset;
	struct unwind_file *file; /* NULL: code of no file */
	uint64_t bias;		  /* from addresses as linked to addresses; with placed */
	bool placed;
};
struct unwind_space {
	struct unwind_space *next;
	uint32_t pid;
	uint32_t count, cap;
	struct unwind_mapping *maps; /* of code, by address */
};
struct unwind_kept { /* a row that was worked out */
	const struct unwind_table *table; /* NULL: free */
	uint64_t pc;
	struct unwind_row row;
};
struct unwind {
	struct unwind_space *spaces[UNWIND_BUCKETS];
	struct unwind_file **files;
	uint32_t file_count, file_cap;
	size_t table_bytes; /* of all files, at most UNWIND_BYTES_MAX */
	struct unwind_kept *kept;
	struct unwind_stats stats;
};

struct unwind_space *unwind_space_of(struct unwind *u, uint32_t pid);
struct unwind_mapping *unwind_mapping_at(const struct unwind_space *s, uint64_t address);
void unwind_file_tables(struct unwind *u, struct unwind_file *f);
void unwind_files_free(struct unwind *u);
void unwind_spaces_free(struct unwind *u);

#endif
