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
};
struct openetw_index {
	struct index_file *files;
	uint32_t file_count;
	int64_t start_filetime; /* time 0 */
	uint32_t type_count, process_count, thread_count, stack_count;
	uint64_t rows;
	pthread_mutex_t lock;         /* of what queries add: columns of fields */
	struct field_columns *fields; /* query_field.h */
};

/* A number of the index, taken apart: the file it is of, and the file's own number. NULL: there is none such. */
const struct index_file *index_type_of(const struct openetw_index *x, uint32_t type, uint32_t *ret_local);
const struct index_file *index_process_of(const struct openetw_index *x, uint32_t process, uint32_t *ret_local);
const struct index_file *index_thread_of(const struct openetw_index *x, uint32_t thread, uint32_t *ret_local);
const struct index_file *index_stack_of(const struct openetw_index *x, uint32_t stack, uint32_t *ret_local);

#endif
