/* SPDX-License-Identifier: MIT
 * Shared by the files that make the tables of kernel events.
 */
#ifndef TOOLS_TABLES_TABLE_KERNEL_H
#define TOOLS_TABLES_TABLE_KERNEL_H

#include "tools/tables/table_make.h"

struct table_past;
struct waiting {
	uint32_t tid;
	uint64_t since; /* FILETIME; 0: it runs */
	uint8_t reason, state;
	bool told; /* who woke it */
	uint8_t by;
	uint32_t waker_pid, waker_tid;
	uint64_t ready;
	bool early;               /* it was woken before the switch away was seen, on another processor */
	uint64_t call, call_time; /* system call */
	struct table_past *past;  /* of wait_chains: what it waited for; a ring, NULL: nothing yet */
	uint64_t pasts;           /* so many have been in it */
};
struct operation { /* of a file, until its end */
	uint64_t irp, time;
	uint32_t pid, tid, stack;
	enum kevent_op op;
	char *file;
	uint64_t asked, offset;
};
struct sums { /* of one file: reads, writes, …, as table_files_columns() has them */
	char *file;
	uint64_t v[11];
};

struct transfer { /* of a disk */
	uint64_t disk;
	int64_t start, end;
	uint64_t row;
};

struct table;
struct chains;
struct table_kernel {
	struct table_maker *m;
	struct table_build *b;
	struct table_who who;
	const struct table *table;
	int c[16];
	struct waiting *threads;
	uint32_t thread_count, thread_cap;
	struct map thread_of;
	struct operation *ops;
	uint32_t op_count, op_cap;
	struct map op_of;
	struct transfer *transfers;
	uint32_t transfer_count, transfer_cap;
	struct sums *files;
	uint32_t file_count, file_cap;
	struct map file_of;
	struct chains *chains;
};

static inline void table_kernel_stack(struct table_kernel *k, int column, uint32_t stack)
{
	if (stack) {
		table_build_number(k->b, column, stack);
	}
}

/* The table wait_chains. */
void table_chains_columns(struct table_kernel *k);
void table_chains_wait(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s, struct waiting *w,
		       uint32_t pid);
/* It could have run, and now it does. */
void table_chains_preempted(struct table_kernel *k, struct waiting *w, uint64_t now);
void table_chains_free(struct table_kernel *k);
/* Disks and files: the tables io and files. */
void table_io_columns(struct table_kernel *k);
void table_io_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s);
void table_io_rest(struct table_kernel *k); /* what has no end */
void table_files_columns(struct table_kernel *k);
void table_files_event(struct table_kernel *k, const EVENT_RECORD *e, const struct kevent *s);
void table_files_rest(struct table_kernel *k);
void table_io_free(struct table_kernel *k);

#endif
