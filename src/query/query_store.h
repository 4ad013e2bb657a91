/* SPDX-License-Identifier: MIT
 *
 * The index of one trace file: columns beside it, in one file that is mapped read-only. Private to query.
 *
 *   page 0      struct store_header
 *   groups      the rows, 65,536 at a time, each column of a group in one piece
 *   sections    dictionaries, summaries, columns of fields: whatever the directory names
 *   directory   struct store_section[]; the header says where it is
 *
 * The same bytes are in a memory file when the trace is small or nothing can be written. Sections are only ever added,
 * behind all others, with a new directory behind them; the header's word that names the directory is written last. So
 * whoever has an older directory keeps reading what it says, and a writer that dies leaves the older one in force.
 *
 * The bytes are hostile: store_open() checks that every group and section lies inside the file. What a column holds is
 * checked by whoever uses it: a number that names nothing stands for entry 0 of its dictionary, "unknown".
 * The file is mapped only when its owner is the reading user (or root): nobody else can make it shorter meanwhile.
 */
#ifndef QUERY_QUERY_STORE_H
#define QUERY_QUERY_STORE_H

#include "base/base.h"

#define STORE_MAGIC      0x0158444957544Full /* "OTWIDX\1" */
#define STORE_VERSION    1u
#define STORE_PAGE       4096u
#define STORE_GROUP_ROWS 65536u
#define STORE_NONE       UINT32_MAX
#define STORE_NOWHERE    UINT64_MAX /* in `where`: of an event that the reader made, about a loss */

/* ---- bytes of the file: all little endian, no holes -------------------------------------------- */

/* What the index was made of. Another size, time or hash: it is not of this trace (any more). */
struct store_key {
	uint64_t trace_bytes;
	int64_t trace_mtime;    /* ns since 1970 */
	uint8_t trace_hash[20]; /* SHA-1 of the first 64 KiB */
	uint8_t reserved[12];
};
struct store_header {
	uint64_t magic;
	uint32_t version, group_rows;
	struct store_key key;
	uint64_t directory_at; /* written last */
	uint32_t directory_count;
	uint32_t directory_check; /* store_check() of the directory's bytes */
};

enum store_section_kind {
	STORE_ABOUT = 1, /* struct store_about, one */
	STORE_GROUPS,    /* struct store_group */
	STORE_TYPES,     /* struct store_type */
	STORE_TYPE_COUNTS, /* struct store_count: for each group, which types are in it how often; see store_group.counts */
	STORE_PROCESS_COUNTS, /* the same of processes */
	STORE_PROCESSES,      /* struct store_process; entry 0 is "nobody knows" */
	STORE_THREADS,        /* struct store_thread; entry 0 likewise */
	STORE_BUFFERS,        /* uint64_t: place in the trace of each buffer that `where` names */
	STORE_STACKS,         /* struct store_stack; entry 0 is "no stack" */
	STORE_NODES,          /* struct store_node; entry 0 is the root of all */
	STORE_FRAMES,         /* uint64_t: addresses */
	STORE_STRINGS,        /* bytes: UTF-8, each with its NUL; place 0 is "" */
	STORE_LOSSES,         /* struct store_loss */
	STORE_PROBLEMS,       /* struct store_problem */
	STORE_RUNNING,        /* uint32_t[processors] for each group: who ran there when it began; 0: unknown */
	STORE_TELLERS,        /* uint64_t: places of the records that say something about the machine */
	STORE_TEACHERS,       /* uint64_t: places of those that say what other events mean */
	/* In a file of its own, NAME.etl.idx.fields: columns of fields, each number of `item` one column. */
	STORE_FIELD,        /* struct store_field, one, and the field's name behind it */
	STORE_FIELD_TYPES,  /* uint8_t for each type: enum field_of_type */
	STORE_FIELD_ENDS,   /* uint64_t for each value: where its text ends in FIELD_TEXTS */
	STORE_FIELD_TEXTS,  /* bytes: UTF-8, without NULs */
	STORE_FIELD_GROUPS, /* struct store_field_group for each group */
	STORE_FIELD_CELLS,  /* numbers of values + 2; 0: not read, 1: the event has no such field */
	/* In a file of its own, NAME.etl.idx.lanes: what threads and processors did (query_lane_file.h). */
	STORE_LANES,      /* struct store_lanes, one */
	STORE_LANE_FIRST, /* uint64_t for each lane, and one more: the number of its first part */
	STORE_LANE_PARTS, /* struct store_lane_part, those of a lane behind each other */
	STORE_LANE_STAYS, /* bytes: what the parts name */
	STORE_SECTION_KINDS
};
struct store_section {
	uint32_t kind;
	uint32_t item; /* of several of a kind: which; else 0 */
	uint64_t at;   /* in the file, of a multiple of 8 */
	uint64_t bytes;
	uint64_t count; /* of elements */
};

struct store_about {
	int64_t start_filetime; /* time 0 of all columns, as FILETIME */
	int64_t first, last;    /* ns since then, of the first and last row; both 0 without rows */
	int64_t trace_end;      /* what the header says, ns; INT64_MIN: the session did not end in order */
	uint64_t rows;
	uint64_t boot_filetime;
	uint64_t events_lost, buffers_lost;
	uint64_t stacks_without_event; /* stack records whose event is not in the trace */
	uint64_t types_left_out;       /* rows whose type found no room: they have type 0 */
	uint32_t processors, pointer_size;
	uint32_t session_name; /* in STRINGS */
	uint32_t loss_unknown; /* OPENETW_UNKNOWN_… */
	uint32_t os_version, os_build;
};

/* The columns of a group stand behind each other from `at` on, each at a multiple of 8, in this order:
 * time, type, process, thread, cpu, where, stack. store_columns_of() finds them. */
struct store_group {
	uint64_t at;
	int64_t from,
		to; /* the earliest and latest row; ns. Rows are nearly always, not always, in the order of time */
	uint32_t rows;
	uint8_t time_bytes;                          /* 4 or 8: offset from `from` */
	uint8_t type_bytes;                          /* 2 or 4 */
	uint8_t process_bytes;                       /* 2 or 4 */
	uint8_t has_stacks;                          /* false: there is no column of stacks */
	uint32_t type_counts, type_count_rows;       /* first and number in TYPE_COUNTS */
	uint32_t process_counts, process_count_rows; /* in PROCESS_COUNTS */
};
struct store_count {
	uint32_t id, rows;
};

/* Events of one type have the same provider, descriptor and schema. */
struct store_type {
	uint8_t provider[16]; /* GUID; the class of classic events */
	uint16_t id;
	uint8_t version, channel, level, opcode;
	uint16_t task;
	uint64_t keyword;
	uint64_t schema_hash;         /* of what a TraceLogging event says of itself; number of a WPP message; 0 */
	uint16_t hook;                /* of kernel events: group << 8 | type; 0 */
	uint8_t classic;              /* EVENT_HEADER_FLAG_CLASSIC_HEADER */
	uint8_t record_type;          /* enum etl_record_type of the first one */
	uint32_t rows_high, rows_low; /* how many there are */
	uint64_t first_where;         /* one of them, to decode for its fields */
	uint32_t provider_name, name; /* in STRINGS; as openetw_event_names() gives them */
	uint32_t reserved;
};
struct store_process {
	int64_t start, end; /* ns; INT64_MIN, INT64_MAX: before and after what the trace holds */
	uint32_t pid, parent_pid, session_id;
	uint32_t name, command_line; /* in STRINGS */
	uint32_t container;          /* in STRINGS; "" when there is none or nobody knows */
	int32_t exit_code;
	uint32_t has_exit_code;
};
struct store_thread {
	int64_t start, end;
	uint32_t tid, process; /* which process: number in PROCESSES */
	uint32_t name;
	uint32_t reserved;
	uint64_t start_address;
};
/* A stack is what the kernel did and what the program did, either may be missing (0). */
struct store_stack {
	uint32_t kernel, user; /* in NODES: the innermost frame */
};
struct store_node {
	uint32_t parent, frame; /* caller, in NODES; address, in FRAMES. A parent stands before its children */
};
struct store_loss {
	int64_t from, to;
	uint64_t count;
	uint32_t kind, cpu; /* enum etl_loss_kind; STORE_NONE: not of one */
};
/* Of which index the column is. */
struct store_field {
	uint64_t rows;
	uint32_t groups, types;
	uint32_t index_check; /* of its directory */
	uint32_t name_bytes;
};
struct store_field_group {
	uint64_t at;    /* in FIELD_CELLS */
	uint32_t bytes; /* of each row's number: 1, 2, 4; 0: nothing is known of this group */
	uint32_t reserved;
};
/* Of which index the lanes are, and how many there are: those of threads, then those of processors. */
struct store_lanes {
	uint64_t rows;
	uint32_t groups, types;
	uint32_t index_check; /* of the index's directory */
	uint32_t rules;       /* by which they were made: STORE_LANE_RULES */
	uint32_t threads, cpus;
	int64_t end;  /* of the last stay of each lane */
	uint64_t cut; /* there was no room for what came later */
	uint64_t stays;
};
/* Another number for each change of what a stay is: files made by other rules are made anew. */
#define STORE_LANE_RULES 1u
/* Stays of a lane, in the order of time. At `at`, a multiple of 8: of narrow ones a struct store_stay_block for each
 * STORE_BLOCK_STAYS of them that are full, then eight bytes each; of wide ones sixteen bytes each. */
struct store_lane_part {
	int64_t from; /* of the first */
	uint64_t at;  /* in LANE_STAYS */
	uint32_t count;
	uint32_t wide;
};
/* Eight bytes: ns since the part's `from` in the lower four; doing in the lower three bits of the upper four, and above
 * these: of RUNNING and IDLE the processor in the lane of a thread, the thread in that of a processor; of WAITING the
 * reason; of READY waker << 26 | thread. */
#define STORE_BLOCK_STAYS  64u
#define STORE_STAY_THREADS (1u << 26)
/* What all stays of a block but the last did together, of each doing from 1 on: those that last no time do not count. */
struct store_stay_sum {
	uint32_t ns;
	uint8_t stays, longest, first, last; /* how many; which of the block's */
};
#define STORE_BLOCK_DOINGS 4u
struct store_stay_block {
	struct store_stay_sum of[STORE_BLOCK_DOINGS];
};
struct store_stay_wide {
	int64_t from;
	uint32_t who;
	uint16_t cpu;
	uint8_t doing, detail;
};
struct store_problem {
	uint64_t file_offset;
	uint32_t text, reserved;
};

struct store_columns;
struct ring_view;

/* ---- reading ----------------------------------------------------------------------------------- */

struct store {
	int fd;
	/* Of a view of a ring (query_ring.h): columns and sections are in memory of its own, not at places of `map`, and
	 * the first row that is there has this number. Else NULL and 0. */
	const struct store_columns *columns;
	const struct ring_view *ring;
	uint64_t first_row;
	const uint8_t *map;
	uint64_t map_bytes;
	uint32_t check; /* of the directory, as the header has it */
	const struct store_section *directory;
	uint32_t directory_count;
	const struct store_about *about;
	const struct store_group *groups;
	uint32_t group_count;
	const struct store_type *types;
	uint32_t type_count;
	const struct store_process *processes;
	uint32_t process_count;
	const struct store_thread *threads;
	uint32_t thread_count;
	const uint64_t *buffers;
	uint32_t buffer_count;
	const struct store_stack *stacks;
	uint32_t stack_count;
	const struct store_node *nodes;
	uint32_t node_count;
	const uint64_t *frames;
	uint64_t frame_flip; /* of what is being made: see store_frame() */
	uint32_t frame_count;
	const char *strings;
	uint64_t string_bytes;
	const struct store_loss *losses;
	uint32_t loss_count;
	const struct store_problem *problems;
	uint32_t problem_count;
};

/* Takes the descriptor over, also when it fails. -EBADMSG with diag: it is no index, of another version or damaged.
 * -ESTALE: of another trace than `key` says (NULL: do not ask). */
int store_open(int fd, const struct store_key *key, struct store *ret, struct diag *d);
/* The same of a file that has columns of fields alone: only its directory is checked. */
int store_open_fields(int fd, const struct store_key *key, struct store *ret, struct diag *d);
/* An index without rows. `about` stays the caller's and valid. */
void store_blank(struct store *ret, const struct store_about *about);
/* Takes what is mapped for an index, whose directory is at `directory_at`, to pieces. -EBADMSG with diag. */
int store_take(struct store *inout, uint64_t directory_at, uint32_t directory_count, struct diag *d);
void store_close(struct store *s);
/* NULL: there is none. */
const void *store_section(const struct store *s, uint32_t kind, uint32_t item, uint64_t *ret_bytes,
			  uint64_t *ret_count);
static inline uint64_t store_frame(const struct store *s, uint32_t frame)
{
	return frame < s->frame_count ? s->frames[frame] ^ s->frame_flip : 0;
}
/* Never NULL. */
const char *store_string(const struct store *s, uint32_t at);
uint32_t store_check(const void *p, size_t n);

/* One group, taken apart. Pointers are valid until store_close(). */
struct store_columns {
	uint32_t rows;
	int64_t from;
	const uint32_t *time4; /* or: */
	const uint64_t *time8;
	const uint16_t *type2; /* or: */
	const uint32_t *type4;
	const uint16_t *process2; /* or: */
	const uint32_t *process4;
	const uint32_t *thread;
	const uint16_t *cpu;
	const uint64_t *where; /* buffer << 32 | place in the buffer */
	const uint32_t *stack; /* NULL: no row has one */
};
void store_columns_of(const struct store *s, uint32_t group, struct store_columns *ret);
/* The same of columns that begin at `p`. */
void store_columns_at(const struct store_group *g, const uint8_t *p, struct store_columns *ret);
/* Bytes of a group's columns. */
uint64_t store_group_bytes(const struct store_group *g);

static inline int64_t store_time(const struct store_columns *c, uint32_t row)
{
	/* A damaged index may have any times: no signed overflow. */
	return (int64_t)((uint64_t)c->from + (c->time4 ? c->time4[row] : c->time8[row]));
}
static inline uint32_t store_type_at(const struct store_columns *c, uint32_t row)
{
	return c->type2 ? c->type2[row] : c->type4[row];
}
static inline uint32_t store_process_at(const struct store_columns *c, uint32_t row)
{
	return c->process2 ? c->process2[row] : c->process4[row];
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* What is collected before a group is written. */
struct store_rows {
	uint32_t rows;
	int64_t time[STORE_GROUP_ROWS];
	uint32_t type[STORE_GROUP_ROWS], process[STORE_GROUP_ROWS], thread[STORE_GROUP_ROWS], stack[STORE_GROUP_ROWS];
	uint16_t cpu[STORE_GROUP_ROWS];
	uint64_t where[STORE_GROUP_ROWS];
};
struct store_writer;
/* Writes into `fd`, which stays the caller's. -errno. */
int store_writer_create(int fd, const struct store_key *key, struct store_writer **ret);
void store_writer_destroy(struct store_writer *w);
/* Of the file, so far. */
uint64_t store_writer_bytes(const struct store_writer *w);
int store_write_group(struct store_writer *w, const struct store_rows *rows);
int store_write_section(struct store_writer *w, uint32_t kind, uint32_t item, const void *p, uint64_t bytes,
			uint64_t count);
/* The stack of a row that has been written: it became known late. */
int store_write_late_stack(struct store_writer *w, uint32_t group, uint32_t row, uint32_t stack);
/* All stacks of a group that has some. */
int store_write_stacks(struct store_writer *w, uint32_t group, const uint32_t *stacks);
/* The groups written so far. */
const struct store_group *store_writer_groups(const struct store_writer *w, uint32_t *ret_count);
/* The columns of one, for finding rows again; valid until the next call. -errno. */
int store_writer_columns(struct store_writer *w, uint32_t group, struct store_columns *ret);
/* A section in pieces: begin, what it has, and how many elements that was. */
int store_write_begin(struct store_writer *w, uint32_t kind, uint32_t item);
int store_write_more(struct store_writer *w, const void *p, uint64_t bytes);
int store_write_end(struct store_writer *w, uint64_t count);
/* Bytes of the file that have been written, anew. */
int store_write_again(struct store_writer *w, const void *p, uint64_t bytes, uint64_t at);

/* One section of an index that is still being written. */
struct store_piece {
	uint32_t kind;
	int fd; /* the bytes are the first ones of this file, which only grows; -1: they are at `p` and are copied */
	const void *p;
	uint64_t bytes, count;
};
/* The groups that are written so far as an index that can be asked: groups and `fd`s are mapped as they are, the rest
 * is copied to a file without a name in `directory` (NULL: to memory). It stays valid whatever the writer does next.
 * `pieces` lacks what the writer has itself: groups and their counts. */
int store_writer_view(struct store_writer *w, const struct store_piece *pieces, uint32_t count, const char *directory,
		      struct store *ret);
/* Directory and header: from then on the file is an index. May be called again after more was written. */
int store_writer_commit(struct store_writer *w);
/* The same of a file that has columns of fields alone. */
int store_writer_commit_fields(struct store_writer *w);

#endif
