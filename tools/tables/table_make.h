/* SPDX-License-Identifier: MIT
 *
 * The tables of a trace, made of its files when somebody wants them: openetw sql, and whoever includes table_read.h.
 *
 * Who is in the trace (processes, threads, types of events, stacks) and the table events come from its index
 * (openetw/query.h), which is made when the first table is wanted. Every other table costs one reading of the files.
 * Numbers of processes, threads and stacks are those of the index in all tables.
 */
#ifndef TOOLS_TABLES_TABLE_MAKE_H
#define TOOLS_TABLES_TABLE_MAKE_H

#include "base/map.h"
#include "tools/tables/function_names.h"
#include "tools/tables/kernel_event.h"
#include "tools/tables/table_build.h"

#include <openetw/decode.h>
#include <openetw/query.h>

/* What events of one type are called. */
struct table_kind {
	GUID provider_guid;
	char *provider, *name;
	uint16_t id, task;
	uint8_t version, channel, level, opcode;
	uint64_t keyword;
	uint64_t schema; /* of TraceLogging: a hash of what the event says of itself */
	uint8_t wanted;  /* of the table that is being made: 0: not looked yet, 1: no, 2: yes */
};
/* Whose stack it is, and when it was met first: addresses have names in a process, at a time. */
struct table_stack_use {
	uint32_t process;
	int64_t time; /* INT64_MIN: it was not met */
	uint64_t events;
};
struct table_who_key {
	uint32_t file, id; /* pid or tid */
	int64_t start;
	uint32_t number;
};
struct table_clock {                       /* of the times that payloads have in ticks of the trace's clock */
	uint64_t start, first, per_second; /* a FILETIME; the ticks of that time */
};
struct table_maker {
	const struct cli_args *args;
	char **files;
	const char **plain; /* the same, unpacked */
	int count;
	uint64_t start; /* FILETIME: time 0 */
	struct openetw_state *state;
	struct openetw_decoder *decoder;
	struct names names;
	bool read_ahead, stacks_listed, index_borrowed;
	struct openetw_index *index; /* NULL: not made yet */
	struct openetw_index_about about;
	struct table_who_key *processes, *threads; /* sorted */
	struct map stack_of;                       /* by addresses */
	struct table_stack_use *stack_uses;        /* NULL: not looked yet */
	struct table_kind *kinds;
	uint32_t kind_count, kind_cap;
	struct map kind_of;
	uint64_t ticks_per_second;
	struct table_clock *clocks; /* of each file; NULL: not looked yet */
	uint32_t file;              /* that the event is of which is being read */
	/* Which samples the tables of table_is_of_calls() are made of; NULL: all. */
	bool (*sample_wanted)(void *context, const struct kevent *sample, int64_t time);
	void *sample_context;
	bool failed; /* no memory */
	/* Hears how much of the files is read, from 0 to 1; false ends the making. NULL: the terminal shows it. */
	bool (*look)(void *context, double part);
	void *look_context;
};

/* Opens the files, for what their headers say. False: said why. */
bool table_maker_open(struct table_maker *m, const struct cli_args *a, int count, char **files);
void table_maker_close(struct table_maker *m);
/* The descriptor of a table; -1: `why`. */
int table_make(struct table_maker *m, const char *name, char *why, size_t cap);
/* Makes the index. False: `why`. */
bool table_make_index(struct table_maker *m, char *why, size_t cap);
/* Takes one that somebody else has open, which is of the same files. False: no memory. */
bool table_make_use_index(struct table_maker *m, struct openetw_index *x);
/* One line for each table: name, tab, what it has. */
const char *const *table_make_names(void);

/* ---- for the files that make tables ---------------------------------------------------------------- */

typedef void (*table_event_fn)(void *context, const EVENT_RECORD *e);
/* Hands over every event. False: the reading failed or was interrupted, and `why` says it. */
bool table_make_pass(struct table_maker *m, table_event_fn fn, void *context, char *why, size_t cap);
/* Reads the files for what they say of processes and modules, once: names of addresses need it. False: `why`. */
bool table_make_state(struct table_maker *m, char *why, size_t cap);
/* Nanoseconds from time 0. */
static inline int64_t table_make_time(const struct table_maker *m, uint64_t filetime)
{
	int64_t d = (int64_t)(filetime - m->start);
	return d > INT64_MAX / 100 ? INT64_MAX : d < INT64_MIN / 100 ? INT64_MIN : d * 100;
}
/* FILETIME of a time of the index. */
static inline uint64_t table_make_filetime(const struct table_maker *m, int64_t time)
{
	return m->start + (uint64_t)(time / 100);
}
/* Fills `clocks`. False: no memory. */
bool table_make_clocks(struct table_maker *m);
/* Nanoseconds from time 0 of a time in ticks, in the file that is being read. */
int64_t table_make_ticks_time(const struct table_maker *m, uint64_t ticks);
/* Numbers; 0: nobody knows. */
uint32_t table_make_process(struct table_maker *m, uint32_t pid, uint64_t time);
uint32_t table_make_thread(struct table_maker *m, uint32_t tid, uint64_t time);
uint32_t table_make_stack(struct table_maker *m, const EVENT_RECORD *e);
/* NULL: unknown. Valid as long as the index. */
const char *table_make_process_name(struct table_maker *m, uint32_t process);
/* NULL: no memory. */
struct table_kind *table_make_kind(struct table_maker *m, const EVENT_RECORD *e);
/* Fills stack_uses. False: no memory. */
bool table_make_stack_uses(struct table_maker *m);

const char *table_make_container(struct table_maker *m, uint32_t process); /* likewise; NULL: none, or unknown */
/* Columns that say whose an event is: process, pid, process_name, thread, tid, container. */
struct table_who {
	int process, pid, name, thread, tid, container;
};
void table_who_columns(struct table_build *b, struct table_who *w);
void table_who_put(struct table_maker *m, struct table_build *b, const struct table_who *w, uint32_t pid, uint32_t tid,
		   uint64_t time);
static inline void table_put_string(struct table_build *b, int column, const char *s)
{
	if (s) {
		table_build_text(b, column, s, strlen(s));
	}
}

/* A table of this event: "Provider/Event". NULL: `why`. */
struct table_build *table_make_payloads(struct table_maker *m, const char *name, char *why, size_t cap);
/* openetw-sql reads the index instead. */
struct table_build *table_make_events(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_spans(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_kernel(struct table_maker *m, const char *name, char *why, size_t cap);
struct table_build *table_make_cpu(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_interrupts(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_power(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_memory(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_gc(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_jit(struct table_maker *m, char *why, size_t cap);
struct table_build *table_make_calls(struct table_maker *m, const char *name, char *why, size_t cap);
/* functions, modules, callers, callees: of samples, added up. */
bool table_is_of_calls(const char *name);
struct table_build *table_make_who(struct table_maker *m, const char *name, char *why, size_t cap);
struct table_build *table_make_images(struct table_maker *m, char *why, size_t cap);

#endif
