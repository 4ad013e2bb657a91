/* SPDX-License-Identifier: MIT
 *
 * For tests: an index over random rows, which are also kept as they are, for a naive answer to the same question.
 *
 *   types      number 0 "nobody knows"; the others of three providers, of levels 1 to 5
 *   processes  pid 100 + number; names repeat; the last has none. Threads: tid 1000 + number
 *   times      mostly rising; some rows are out of order
 */
#ifndef QUERY_QUERY_TEST_INDEX_H
#define QUERY_QUERY_TEST_INDEX_H

#include "filter/filter_parse.h"
#include "query/query_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TEST_TYPES     23u
#define TEST_PROCESSES 11u
#define TEST_THREADS   31u
#define TEST_STACKS    9u
#define TEST_CPUS      6u

struct test_row {
	int64_t time; /* of the file */
	uint32_t file, type, process, thread, stack;
	uint16_t cpu;
};
struct test_index {
	struct openetw_index x;
	struct test_row *rows; /* in the order of the index, files behind each other */
	uint64_t count;
};

static uint64_t test_random_state = 1;
static inline uint32_t test_random(void)
{
	test_random_state = test_random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(test_random_state >> 33);
}

struct test_strings {
	char bytes[8192];
	uint32_t used;
};
static inline uint32_t test_string(struct test_strings *s, const char *format, unsigned n)
{
	uint32_t at = s->used;
	int length = snprintf(s->bytes + at, sizeof s->bytes - at, format, n);
	s->used += (uint32_t)length + 1;
	return at;
}

static inline void test_dictionaries(struct store_writer *w, uint64_t rows)
{
	static const char *const providers[] = {"Contoso-Web", "Contoso-Disk", "Fabrikam"};
	struct test_strings s = {.used = 1};
	struct store_type types[TEST_TYPES] = {0};
	struct store_process processes[TEST_PROCESSES] = {0};
	struct store_thread threads[TEST_THREADS] = {0};
	struct store_stack stacks[TEST_STACKS] = {0};
	struct store_node nodes[2 * TEST_STACKS] = {0};
	uint64_t frames[2 * TEST_STACKS] = {0};
	struct store_about about = {.rows = rows, .start_filetime = 133000000000000000};
	for (uint32_t i = 1; i < TEST_TYPES; i++) {
		types[i].id = (uint16_t)(i * 10);
		types[i].provider[0] = (uint8_t)(1 + i % 3);
		types[i].level = (uint8_t)(1 + i % 5);
		types[i].opcode = (uint8_t)(i % 4);
		types[i].rows_low = 1;
		types[i].keyword = 1ull << (i % 7);
		types[i].provider_name = test_string(&s, providers[i % 3], 0);
		types[i].name = test_string(&s, "Event%u/Start", i);
	}
	for (uint32_t i = 1; i < TEST_PROCESSES; i++) {
		processes[i].pid = 100 + i;
		processes[i].name = i + 1 < TEST_PROCESSES ? test_string(&s, "program%u.exe", i % 4) : 0;
		processes[i].container = i % 5 == 0 ? test_string(&s, "box%u", i) : 0;
		processes[i].start = INT64_MIN;
		processes[i].end = INT64_MAX;
	}
	for (uint32_t i = 1; i < TEST_THREADS; i++) {
		threads[i].tid = 1000 + i;
		threads[i].process = 1 + i % (TEST_PROCESSES - 1);
		threads[i].name = i % 3 == 0 ? test_string(&s, "worker%u", i) : 0;
	}
	/* Stack n is n frames deep: main > f2 > … */
	for (uint32_t i = 1; i < TEST_STACKS; i++) {
		frames[i] = 0x1000 * i;
		nodes[i].parent = i - 1;
		nodes[i].frame = i;
		stacks[i].user = i;
	}
	store_write_section(w, STORE_ABOUT, 0, &about, sizeof about, 1);
	store_write_section(w, STORE_TYPES, 0, types, sizeof types, TEST_TYPES);
	store_write_section(w, STORE_PROCESSES, 0, processes, sizeof processes, TEST_PROCESSES);
	store_write_section(w, STORE_THREADS, 0, threads, sizeof threads, TEST_THREADS);
	store_write_section(w, STORE_STACKS, 0, stacks, sizeof stacks, TEST_STACKS);
	store_write_section(w, STORE_NODES, 0, nodes, sizeof(struct store_node) * TEST_STACKS, TEST_STACKS);
	store_write_section(w, STORE_FRAMES, 0, frames, 8 * TEST_STACKS, TEST_STACKS);
	store_write_section(w, STORE_STRINGS, 0, s.bytes, s.used, s.used);
}

static inline void test_random_row(struct test_row *r, uint32_t file, int64_t *inout_time)
{
	*inout_time += test_random() % 2000;
	r->file = file;
	r->time = *inout_time - (test_random() % 50 == 0 ? test_random() % 30000 : 0);
	r->type = test_random() % 4 == 0 ? test_random() % TEST_TYPES : 1 + test_random() % 3;
	r->process = test_random() % TEST_PROCESSES;
	r->thread = test_random() % TEST_THREADS;
	r->cpu = (uint16_t)(test_random() % TEST_CPUS);
	r->stack = test_random() % 3 == 0 ? test_random() % TEST_STACKS : 0;
}

/* Groups of `group_rows`; the time of a file begins at 0, and time 0 of the index is that of the first file. */
static inline int test_file(struct test_index *t, uint32_t file, uint32_t groups, uint32_t group_rows)
{
	static const struct store_key key = {.trace_bytes = 1};
	struct store_rows *r = calloc(1, sizeof *r);
	struct store_writer *w = NULL;
	int64_t time = -5000;
	int fd = memfd_create("index", MFD_CLOEXEC);
	int err = r && fd >= 0 ? store_writer_create(fd, &key, &w) : -ENOMEM;
	uint64_t first = t->count;
	for (uint32_t g = 0; g < groups && err == 0; g++) {
		r->rows = group_rows;
		bool stacks = g % 2 == 0;
		for (uint32_t i = 0; i < group_rows; i++) {
			struct test_row *row = &t->rows[t->count++];
			test_random_row(row, file, &time);
			row->stack = stacks ? row->stack : 0;
			r->time[i] = row->time;
			r->type[i] = row->type;
			r->process[i] = row->process;
			r->thread[i] = row->thread;
			r->cpu[i] = row->cpu;
			r->stack[i] = row->stack;
			r->where[i] = t->count - 1 - first;
		}
		err = store_write_group(w, r);
	}
	if (err == 0) {
		test_dictionaries(w, t->count - first);
		err = store_writer_commit(w);
	}
	store_writer_destroy(w);
	free(r);
	struct diag d = {0};
	struct index_file *f = &t->x.files[file];
	err = err < 0 ? err : store_open(fd, NULL, &f->store, &d);
	f->path = strdup("trace.etl");
	f->fd = -1;
	f->offset = (int64_t)file * 12345;
	f->type_base = file * TEST_TYPES;
	f->process_base = file * TEST_PROCESSES;
	f->thread_base = file * TEST_THREADS;
	f->stack_base = file * TEST_STACKS;
	return err;
}

/* There is no trace to read: no event has this field. */
static inline int test_no_field(struct test_index *t, const char *name)
{
	struct field_column *c;
	int err = field_column_of(&t->x, name, &c);
	for (uint32_t f = 0; f < t->x.file_count && err == 0; f++) {
		for (uint32_t i = 0; i < TEST_TYPES; i++) {
			field_set_of_type(c, f, i, FIELD_OF_TYPE_NONE);
		}
	}
	return err;
}

static inline int test_index_make(struct test_index *t, uint32_t files, uint32_t groups, uint32_t group_rows)
{
	*t = (struct test_index){0};
	t->rows = calloc((size_t)files * groups * group_rows + 1, sizeof *t->rows);
	t->x.files = calloc(files + 1, sizeof *t->x.files);
	t->x.file_count = files;
	pthread_mutex_init(&t->x.lock, NULL);
	int err = t->rows && t->x.files ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < files && err == 0; i++) {
		err = test_file(t, i, groups, group_rows);
	}
	t->x.rows = t->count;
	t->x.start_filetime = 133000000000000000;
	t->x.type_count = files * TEST_TYPES;
	t->x.process_count = files * TEST_PROCESSES;
	t->x.thread_count = files * TEST_THREADS;
	t->x.stack_count = files * TEST_STACKS;
	return err < 0 ? err : test_no_field(t, "process");
}

static inline void test_index_free(struct test_index *t)
{
	field_columns_free(t->x.fields);
	for (uint32_t i = 0; i < t->x.file_count; i++) {
		store_close(&t->x.files[i].store);
		free(t->x.files[i].path);
		free(t->x.files[i].fields_path);
		free(t->x.files[i].lanes_path);
	}
	free(t->x.files);
	free(t->rows);
	pthread_mutex_destroy(&t->x.lock);
}

static inline int64_t test_time(const struct test_index *t, const struct test_row *r)
{
	return r->time + t->x.files[r->file].offset;
}

/* What the language says of a row, without any of the engine. */
struct test_lookup {
	const struct store *s;
	const struct test_row *r;
	char text[64];
};
static inline bool test_number(struct test_lookup *l, uint64_t n, struct filter_expr_value *ret)
{
	int length = snprintf(l->text, sizeof l->text, "%llu", (unsigned long long)n);
	*ret = (struct filter_expr_value){l->text, (size_t)length, true, n, 0};
	return true;
}
static inline bool test_text(const char *s, struct filter_expr_value *ret)
{
	*ret = (struct filter_expr_value){s, strlen(s), false, 0, 0};
	return s[0] != 0;
}
static inline bool test_row_lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct test_lookup *l = ctx;
	const struct store_type *t = &l->s->types[l->r->type];
	const struct store_process *p = &l->s->processes[l->r->process];
	const struct store_thread *th = &l->s->threads[l->r->thread];
	if (payload) {
		return false;
	}
	switch (filter_property_of(name)) {
	case FILTER_PROPERTY_ID: return test_number(l, t->id, ret);
	case FILTER_PROPERTY_LEVEL: return test_number(l, t->level, ret);
	case FILTER_PROPERTY_OPCODE: return test_number(l, t->opcode, ret);
	case FILTER_PROPERTY_CPU: return test_number(l, l->r->cpu, ret);
	case FILTER_PROPERTY_PID: return l->r->process && test_number(l, p->pid, ret);
	case FILTER_PROPERTY_TID: return l->r->thread && test_number(l, th->tid, ret);
	case FILTER_PROPERTY_PROCESS: return test_text(store_string(l->s, p->name), ret);
	case FILTER_PROPERTY_THREAD: return test_text(store_string(l->s, th->name), ret);
	case FILTER_PROPERTY_PROVIDER: test_text(store_string(l->s, t->provider_name), ret); return true;
	case FILTER_PROPERTY_EVENT: test_text(store_string(l->s, t->name), ret); return true;
	default: return false;
	}
}
static inline bool test_row_matches(const struct test_index *t, const struct filter_expr *f, const struct test_row *r)
{
	struct test_lookup l = {&t->x.files[r->file].store, r, ""};
	return !f || filter_expr_match(f, test_row_lookup, &l);
}

#endif
