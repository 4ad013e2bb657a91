/* SPDX-License-Identifier: MIT
 * Shared by the files of unwind.
 *
 *   space    -> mappings, each of a file
 *   file     a path under which processes have mapped a content; has a number
 *   content  what is in a file of the disk: segments and build id, known as long as it is referred to;
 *            descriptor and tables, let go of when others need the room, and opened again
 */
#ifndef UNWIND_UNWIND_PRIVATE_H
#define UNWIND_UNWIND_PRIVATE_H

#include "symbol/symbol.h"
#include "unwind/unwind_share.h"
#include "unwind/unwind_table.h"

#include <sys/types.h>

#define UNWIND_ROWS         8192u       /* rules kept, a power of two */
#define UNWIND_FILE_MAX     (64u << 20) /* bytes of one table */
#define UNWIND_SEGMENTS_MAX 64u
#define UNWIND_STEPS_MAX    32768u /* instructions of tables for one stack */

struct unwind_content {
	TAILQ_ENTRY(unwind_content) open_link, idle_link;
	struct unwind_user *user; /* whose share it is part of */
	dev_t device;
	ino_t inode;
	uint64_t size, changed;
	uint32_t files, refs;     /* paths; mappings under all of them, and whether names are wanted */
	struct unwind_file *last; /* the one path that may be there without being referred to; NULL: none is */
	bool is_open, is_idle;    /* in which of the lists it is */
	bool fixed;               /* never let go of */
	uint64_t first, span;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	uint32_t build_id_bytes;
	struct symbol_elf *elf; /* NULL: not open */
	bool looked;
	struct unwind_table *table[2]; /* .eh_frame, .debug_frame */
	uint64_t table_bytes;
	uint32_t segments;
	struct symbol_segment segment[]; /* in order of neither */
};
struct unwind_file {
	struct unwind_content *content;
	struct unwind_user *user; /* whose share it is part of */
	uint32_t number, refs;
	uint32_t pid; /* that mapped it last: where it may be found again */
	bool kept;    /* in the trace: it wants a name in the end */
	char path[];
};
struct unwind_mapping {
	uint64_t start, end, offset;
	struct unwind_file *file; /* NULL: code of no file, or of one that is not known */
	uint64_t bias;            /* from addresses as linked to addresses; with placed */
	bool placed;
};
struct unwind_space {
	uint32_t pid;
	struct unwind_user *user; /* NULL: not found out yet */
	bool ask;                 /* find it out again */
	uint32_t asked;
	uint32_t count, cap;
	uint64_t taken;              /* bytes of the user's share */
	struct unwind_mapping *maps; /* of code, by address */
};
struct unwind_kept {                      /* a row that was worked out */
	const struct unwind_table *table; /* NULL: free */
	uint64_t pc;
	struct unwind_row row;
};
struct unwind_recent { /* when a file was looked at, if it is there still */
	uint64_t at_ns;
	uint32_t number;
};
#define UNWIND_RECENT 1024u
struct unwind {
	struct map spaces;          /* by pid */
	struct map contents;        /* by device and inode */
	struct map by_path;         /* of a content */
	struct unwind_file **files; /* by number */
	uint32_t file_count, file_cap, free_numbers;
	uint32_t *free_number;
	struct unwind_shares shares;
	struct unwind_kept *kept;
	struct unwind_stats stats;
	struct unwind_recent *recent;
	uint32_t root_of; /* of which process `root` is; 0: of none */
	int root;
};

struct unwind_space *unwind_space_of(struct unwind *u, uint32_t pid);
struct unwind_mapping *unwind_mapping_at(const struct unwind_space *s, uint64_t address);
void unwind_spaces_free(struct unwind *u);
struct unwind_user *unwind_space_user(struct unwind *u, struct unwind_space *s);

/* The file that the process sees under this path, referred to once more; NULL: none, or no room for it. */
struct unwind_file *unwind_file_take(struct unwind *u, struct unwind_space *s, const char *path,
				     const struct unwind_identity *id);
void unwind_file_ref(struct unwind *u, struct unwind_file *f);
void unwind_file_unref(struct unwind *u, struct unwind_file *f);
/* Where in memory, as linked, that byte of the file lies. */
bool unwind_content_linked(const struct unwind_content *c, uint64_t offset, uint64_t *ret);
/* Its tables are there when they can be. */
void unwind_file_tables(struct unwind *u, struct unwind_space *s, struct unwind_file *f);
/* The root that a process sees, kept for the next question; -1: it is gone, or not ours to look into. */
int unwind_root_of(struct unwind *u, uint32_t pid);
void unwind_files_free(struct unwind *u);

#endif
