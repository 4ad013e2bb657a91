/* SPDX-License-Identifier: MIT
 *
 * Numbers for processes, threads and types of events while an index is made. Private to query.
 */
#ifndef QUERY_BUILD_WHO_H
#define QUERY_BUILD_WHO_H

#include "base/map.h"
#include "etl/etl_reader.h"
#include "machine/machine.h"
#include "query/query_store.h"

/* Texts, each once, as the section STRINGS has them. */
struct build_strings {
	char *bytes;
	size_t count, cap;
	struct map by_hash;
	bool fixed;        /* it stays where it is and does not grow; what does not fit is "" */
	uint64_t left_out; /* of these */
};
int build_strings_create(struct build_strings *s);
void build_strings_free(struct build_strings *s);
/* Where it stands; 0 ("") for NULL. -ENOMEM, -ENOSPC. */
int build_string(struct build_strings *s, const char *text, uint32_t *ret);

#define BUILD_CACHE 1024u
struct build_who {
	const struct machine *machine;
	const struct etl_clock *clock;
	struct build_strings *strings;
	struct store_process *processes;
	size_t process_count, process_cap;
	struct store_thread *threads;
	size_t thread_count, thread_cap;
	struct map processes_by, threads_by;
	/* Of what runs: it is asked while the machine is still being told, and has so many entries at most (0: any). */
	bool runs;
	size_t most;
	uint64_t left_out; /* rows whose process or thread found no room */
	/* Who had an id when it was asked for last. */
	struct build_recent {
		uint64_t from, to; /* FILETIME; from > to: empty */
		uint32_t id, number;
	} process_recent[BUILD_CACHE], thread_recent[BUILD_CACHE];
};
int build_who_create(struct build_who *w, const struct machine *m, const struct etl_clock *clock,
		     struct build_strings *strings);
void build_who_free(struct build_who *w);
/* The machine was told more: what was looked up before is looked up again. */
void build_who_forget(struct build_who *w);
/* Of what runs: ends, names and command lines that were told since. */
int build_who_refresh(struct build_who *w);
/* Numbers of a record's process and thread; MACHINE_NO_ID is 0. `time` is FILETIME. */
int build_process(struct build_who *w, uint32_t pid, uint64_t time, uint32_t *ret);
int build_thread(struct build_who *w, uint32_t tid, uint32_t process, uint64_t time, uint32_t *ret);

#define BUILD_TYPES_MOST (1u << 20)
struct build_types {
	struct store_type *list;
	uint64_t *rows;        /* of each */
	uint64_t *first_where; /* of each: one of its events */
	uint64_t *schema;      /* of each: secret hash of what a TraceLogging event says of itself */
	size_t count, cap, rows_cap, where_cap, schema_cap;
	struct map by_hash;
	uint64_t left_out;
	size_t most;   /* so many entries at most; 0: BUILD_TYPES_MOST */
	uint32_t last; /* the type of the last record: often that of the next */
};
int build_types_create(struct build_types *t);
void build_types_free(struct build_types *t);
/* The number of a record's type; 0 when there are BUILD_TYPES_MOST, which is counted. */
int build_type(struct build_types *t, const struct etl_record *r, uint64_t where, uint32_t *ret);

/* Nanoseconds since the start of the trace. Divided by 100 and added to start_filetime it is time_filetime. */
int64_t build_time(const struct etl_clock *c, uint64_t raw);
/* FILETIMEs of the machine, as the dictionaries have them. */
int64_t build_time_of_filetime(const struct etl_clock *c, uint64_t filetime);

#endif
