/* SPDX-License-Identifier: MIT
 *
 * The tables of openetw sql, made of trace files when a query wants them.
 *
 * The first table costs a reading of the files that finds out who is in them (the survey: processes, threads, images,
 * types of events, stacks); each table of events costs one more. Numbers of processes, threads, types and stacks are the
 * same in all tables.
 */
#ifndef TOOLS_OPENETW_SQL_MAKE_H
#define TOOLS_OPENETW_SQL_MAKE_H

#include "base/map.h"
#include "tools/openetw/function_names.h"
#include "tools/openetw/kernel_event.h"
#include "tools/openetw/sql_build.h"

#include <openetw/decode.h>

struct sql_process {
	uint32_t pid, parent_pid, session_id;
	uint64_t start, end; /* FILETIME; 0, UINT64_MAX */
	const char *name, *command_line;
	uint64_t events;
};
struct sql_thread {
	uint32_t tid, process;
	uint64_t start, end, start_address;
	const char *name;
	uint64_t events;
};
struct sql_image {
	uint32_t process;
	struct openetw_module m;
};
struct sql_event_type {
	GUID provider_guid;
	char *provider, *name;
	uint16_t id, task;
	uint8_t version, channel, level, opcode;
	uint64_t keyword, rows, bytes;
	uint64_t schema; /* of TraceLogging: a hash of what the event says of itself */
	bool classic;
};
struct sql_stack {
	uint64_t at; /* in addresses */
	uint32_t count, pid, process;
	uint64_t time; /* of the first event that has it: for names */
	uint64_t events;
};
struct sql_maker {
	const struct cli_args *args;
	char **files;
	int count;
	uint64_t start; /* FILETIME: time 0 */
	struct openetw_state *state;
	struct openetw_decoder *decoder;
	struct names names;
	bool read_ahead, surveyed;
	struct sql_process *processes;
	uint32_t process_count, process_cap;
	struct map process_of; /* by pid and start */
	struct sql_thread *threads;
	uint32_t thread_count, thread_cap;
	struct map thread_of;
	struct sql_image *images;
	uint32_t image_count, image_cap;
	struct map image_of;
	struct sql_event_type *types;
	uint32_t type_count, type_cap;
	struct map type_of;
	struct sql_stack *stacks;
	uint32_t stack_count, stack_cap;
	struct map stack_of;
	uint64_t *addresses;
	uint64_t address_count, address_cap;
	uint64_t ticks_per_second, first, last, rows;
	bool failed; /* no memory */
};

/* Opens the files, for what their headers say. False: said why. */
bool sql_maker_open(struct sql_maker *m, const struct cli_args *a, int count, char **files);
void sql_maker_close(struct sql_maker *m);
/* The descriptor of a table; -1: `why`. */
int sql_make(struct sql_maker *m, const char *name, char *why, size_t cap);
/* One line for each table: name, tab, what it has. */
const char *const *sql_make_names(void);

/* ---- for the files that make tables ---------------------------------------------------------------- */

typedef void (*sql_event_fn)(void *context, const EVENT_RECORD *e);
/* Hands over every event. False: the reading failed or was interrupted, and `why` says it. */
bool sql_make_pass(struct sql_maker *m, sql_event_fn fn, void *context, char *why, size_t cap);
/* Nanoseconds from time 0. */
static inline int64_t sql_make_time(const struct sql_maker *m, uint64_t filetime)
{
	int64_t d = (int64_t)(filetime - m->start);
	return d > INT64_MAX / 100 ? INT64_MAX : d < INT64_MIN / 100 ? INT64_MIN : d * 100;
}
/* Numbers; 0: nobody knows. */
uint32_t sql_make_process(struct sql_maker *m, uint32_t pid, uint64_t time);
uint32_t sql_make_thread(struct sql_maker *m, uint32_t tid, uint64_t time);
uint32_t sql_make_type(struct sql_maker *m, const EVENT_RECORD *e);
uint32_t sql_make_stack(struct sql_maker *m, const EVENT_RECORD *e, uint32_t pid, uint64_t time);

/* Columns that say whose an event is: process, pid, process_name, thread, tid. */
struct sql_who {
	int process, pid, name, thread, tid;
};
void sql_who_columns(struct sql_build *b, struct sql_who *w);
void sql_who_put(struct sql_maker *m, struct sql_build *b, const struct sql_who *w, uint32_t pid, uint32_t tid,
		 uint64_t time);
static inline void sql_put_string(struct sql_build *b, int column, const char *s)
{
	if (s) {
		sql_build_text(b, column, s, strlen(s));
	}
}

/* NULL: `why`. */
struct sql_build *sql_make_events(struct sql_maker *m, char *why, size_t cap);
/* A table of this event: "Provider/Event". */
struct sql_build *sql_make_payloads(struct sql_maker *m, const char *name, char *why, size_t cap);
struct sql_build *sql_make_spans(struct sql_maker *m, char *why, size_t cap);
struct sql_build *sql_make_kernel(struct sql_maker *m, const char *name, char *why, size_t cap);
struct sql_build *sql_make_who(struct sql_maker *m, const char *name, char *why, size_t cap);

#endif
