/* SPDX-License-Identifier: MIT
 *
 * What stands behind struct openetw_index. Private to query.
 *
 * Each file has an index of its own; together they are asked as one. Numbers of types, processes, threads and stacks
 * are those of the file's index plus a base of the file, so that they do not meet; 0 of each file is 0.
 * A row's number is the number of its file << 40 | its place among the file's rows.
 */
#ifndef QUERY_QUERY_INDEX_H
#define QUERY_QUERY_INDEX_H

#include "query/query_store.h"

#include "openetw/query.h"

#include <pthread.h>

#define INDEX_FILES_MAX 1024u
#define INDEX_ROW_BITS  40u

struct index_file {
	char *path;
	int fd; /* of the trace; read with pread alone */
	struct store store;
	int64_t offset; /* add it to a time of the store: time of the index */
	uint32_t type_base, process_base, thread_base, stack_base;
	bool on_disk, reused;
	char *fields_path; /* of the file with its columns of fields; NULL: it has none */
	char *lanes_path;  /* of the file with what threads did; NULL: it has none */
	/* While it is made in the background. */
	bool unfinished;
	bool borrowed;      /* the store is another view's, too: that one closes it */
	uint64_t bytes;     /* of the trace, which the store covers */
	uint64_t all_bytes; /* of the trace */
};
struct openetw_index {
	struct index_file *files;
	uint32_t file_count;
	const uint32_t *order;  /* files in the order of their bases; NULL: as they are numbered */
	int64_t start_filetime; /* time 0 */
	uint32_t type_count, process_count, thread_count, stack_count;
	uint64_t rows;
	uint64_t bytes, all_bytes;    /* of the traces, as above */
	bool unfinished;              /* of some file, too */
	pthread_mutex_t lock;         /* of what queries add: columns of fields */
	struct field_columns *fields; /* query_field.h */
	struct kept *kept;            /* query_kept.h; NULL: nothing yet */
	/* An index that is made in the background has views, each an index of its own: what was there at some time. The
	 * first is the one that its user knows. All of them live as long as that one: numbers of rows, types, processes, … are the
	 * same in all of them. */
	struct index_live *live;     /* of the first: query_live.h. NULL: there are no others */
	struct openetw_index *older; /* the view before this one */
	struct ring *ring;           /* query_ring.h: what its user knows of a live session. NULL: it is of files */
};

/* The latest view of an index: what a question is asked of. */
struct openetw_index *index_now(const struct openetw_index *x);
/* The same for a while, and the end of it. Views of a ring are gone when nobody holds them. NULL: no memory. */
struct openetw_index *index_hold(struct openetw_index *x);
void index_release(struct openetw_index *view);
/* A time of a file as one of the index, and the other way round; both ends of time stay what they are. */
static inline int64_t index_time(int64_t time, int64_t offset)
{
	int64_t r;
	return time == INT64_MIN || time == INT64_MAX     ? time
	       : __builtin_add_overflow(time, offset, &r) ? (offset < 0 ? INT64_MIN : INT64_MAX)
							  : r;
}
static inline int64_t index_time_of_file(int64_t time, int64_t offset)
{
	int64_t r;
	return time == INT64_MIN || time == INT64_MAX     ? time
	       : __builtin_sub_overflow(time, offset, &r) ? (offset > 0 ? INT64_MIN : INT64_MAX)
							  : r;
}
/* Numbers and sums of all files; what is new of a file comes behind all others. -EOVERFLOW. */
int index_join(struct openetw_index *x);
/* Finds the index of a file that is open, or makes it. */
struct store_key;
struct build_options;
int index_find(struct index_file *f, const struct store_key *key, const struct openetw_index_options *o);
int index_make(struct index_file *f, const struct store_key *key, const struct openetw_index_options *o,
	       const struct build_options *how, struct diag *d);

/* A number of the index, taken apart: the file it is of, and the file's own number. NULL: there is none such. */
const struct index_file *index_type_of(const struct openetw_index *x, uint32_t type, uint32_t *ret_local);
const struct index_file *index_process_of(const struct openetw_index *x, uint32_t process, uint32_t *ret_local);
const struct index_file *index_thread_of(const struct openetw_index *x, uint32_t thread, uint32_t *ret_local);
const struct index_file *index_stack_of(const struct openetw_index *x, uint32_t stack, uint32_t *ret_local);

#endif
