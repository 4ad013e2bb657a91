/* SPDX-License-Identifier: MIT
 *
 * A thread takes one group of rows (query/query_store.h) after the other. Groups that cannot have a wanted row are not
 * read. Numbers in columns are not believed: what names nothing is number 0, "unknown".
 */
#include "tools/sql/sql_events.h"

#include "base/order.h"
#include "base/vec.h"
#include "query/query_store.h"

#include <stdlib.h>

#define MOST 2048u /* rows of a vector */

enum column {
	TIME,
	PROVIDER,
	EVENT,
	PROCESS,
	PID,
	PROCESS_NAME,
	THREAD,
	TID,
	CONTAINER,
	CPU,
	LEVEL,
	ID,
	VERSION,
	OPCODE,
	TASK,
	KEYWORD,
	TYPE,
	STACK,
	FILE_NUMBER,
	COLUMNS
};
static const struct {
	const char *name;
	int type;
} columns[COLUMNS] = {
	[TIME] = {"time", DUCKDB_BIGINT},
	[PROVIDER] = {"provider", DUCKDB_VARCHAR},
	[EVENT] = {"event", DUCKDB_VARCHAR},
	[PROCESS] = {"process", DUCKDB_UINTEGER},
	[PID] = {"pid", DUCKDB_UINTEGER},
	[PROCESS_NAME] = {"process_name", DUCKDB_VARCHAR},
	[THREAD] = {"thread", DUCKDB_UINTEGER},
	[TID] = {"tid", DUCKDB_UINTEGER},
	[CONTAINER] = {"container", DUCKDB_VARCHAR},
	[CPU] = {"cpu", DUCKDB_USMALLINT},
	[LEVEL] = {"level", DUCKDB_UTINYINT},
	[ID] = {"id", DUCKDB_USMALLINT},
	[VERSION] = {"version", DUCKDB_UTINYINT},
	[OPCODE] = {"opcode", DUCKDB_UTINYINT},
	[TASK] = {"task", DUCKDB_USMALLINT},
	[KEYWORD] = {"keyword", DUCKDB_UBIGINT},
	[TYPE] = {"type", DUCKDB_UINTEGER},
	[STACK] = {"stack", DUCKDB_UINTEGER},
	[FILE_NUMBER] = {"file", DUCKDB_USMALLINT},
};

struct file {
	struct store store;
	struct sql_store s;
	union duckdb_text *provider, *event; /* by type */
	union duckdb_text *name, *container; /* by process */
};
static struct file *files;
static uint32_t file_count, file_cap;

/* ---- the index of a file -------------------------------------------------------------------------- */

/* DuckDB is shown the text where it is; one that is not UTF-8 would be its end. */
static union duckdb_text view(const struct store *s, uint32_t at)
{
	static const char bad[] = "(not UTF-8)";
	const char *p = store_string(s, at);
	size_t n = strnlen(p, SQL_RECORD_MAX);
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t bytes = (uint8_t)p[i] < 0x80 ? 1 : utf8_decode(p + i, n - i, &c);
		if (bytes == 0) {
			p = bad;
			n = sizeof bad - 1;
			break;
		}
		i += bytes;
	}
	union duckdb_text t = {.here = {.length = (uint32_t)n}};
	if (n <= sizeof t.here.text) {
		memcpy(t.here.text, p, n);
	} else {
		memcpy(t.elsewhere.prefix, p, sizeof t.elsewhere.prefix);
		t.elsewhere.at = p;
	}
	return t;
}

bool sql_events_add(int fd, const struct sql_store *s)
{
	struct file f = {.s = *s};
	if (store_open(fd, NULL, &f.store, NULL) < 0) {
		return false;
	}
	f.provider = calloc(f.store.type_count + 1u, sizeof *f.provider);
	f.event = calloc(f.store.type_count + 1u, sizeof *f.event);
	f.name = calloc(f.store.process_count + 1u, sizeof *f.name);
	f.container = calloc(f.store.process_count + 1u, sizeof *f.container);
	if (!f.provider || !f.event || !f.name || !f.container ||
	    !VEC_ROOM_UP_TO(files, file_count, file_cap, SQL_FILES_MAX)) {
		free(f.provider);
		free(f.event);
		free(f.name);
		free(f.container);
		store_close(&f.store);
		return false;
	}
	for (uint32_t i = 0; i < f.store.type_count; i++) {
		f.provider[i] = view(&f.store, f.store.types[i].provider_name);
		f.event[i] = view(&f.store, f.store.types[i].name);
	}
	for (uint32_t i = 0; i < f.store.process_count; i++) {
		f.name[i] = view(&f.store, f.store.processes[i].name);
		f.container[i] = view(&f.store, f.store.processes[i].container);
	}
	files[file_count++] = f;
	return true;
}

/* ---- binding -------------------------------------------------------------------------------------- */

struct bound {
	int64_t from, to;
	uint64_t rows;                                         /* at most */
	bool *types[SQL_FILES_MAX], *processes[SQL_FILES_MAX]; /* which are wanted; NULL: all */
};

static void free_bound(void *p)
{
	struct bound *b = p;
	for (uint32_t i = 0; i < SQL_FILES_MAX; i++) {
		free(b->types[i]);
		free(b->processes[i]);
	}
	free(b);
}

static bool want_types(struct bound *b, const char *provider)
{
	for (uint32_t i = 0; provider && i < file_count; i++) {
		const struct store *s = &files[i].store;
		b->types[i] = calloc(s->type_count + 1u, sizeof *b->types[i]);
		for (uint32_t j = 0; b->types[i] && j < s->type_count; j++) {
			b->types[i][j] = strcmp(store_string(s, s->types[j].provider_name), provider) == 0;
		}
		if (!b->types[i]) {
			return false;
		}
	}
	return true;
}

static bool want_processes(struct bound *b, const char *process)
{
	char *end = NULL;
	unsigned long long number = process ? strtoull(process, &end, 10) : 0;
	bool is_number = process && process[0] && !*end;
	for (uint32_t i = 0; process && i < file_count; i++) {
		const struct store *s = &files[i].store;
		b->processes[i] = calloc(s->process_count + 1u, sizeof *b->processes[i]);
		for (uint32_t j = 0; b->processes[i] && j < s->process_count; j++) {
			const struct store_process *p = &s->processes[j];
			b->processes[i][j] =
				is_number ? j > 0 && p->pid == number : strcmp(store_string(s, p->name), process) == 0;
		}
		if (!b->processes[i]) {
			return false;
		}
	}
	return true;
}

/* Times of the file, without going over the ends. */
static int64_t minus(int64_t time, int64_t offset)
{
	int64_t r;
	return __builtin_sub_overflow(time, offset, &r) ? (time < 0 ? INT64_MIN : INT64_MAX) : r;
}

static bool group_in_range(const struct bound *b, const struct file *f, const struct store_group *g)
{
	return g->to >= minus(b->from, f->s.offset) && g->from <= minus(b->to, f->s.offset);
}

/* Has the group a row of a wanted type, or process? */
static bool group_has(const struct store *s, uint32_t kind, uint32_t from, uint32_t rows, const bool *wanted,
		      uint32_t most)
{
	uint64_t bytes, count;
	const struct store_count *c = wanted ? store_section(s, kind, 0, &bytes, &count) : NULL;
	if (!c || from > count || rows > count - from) {
		return true;
	}
	for (uint32_t i = 0; i < rows; i++) {
		if (wanted[c[from + i].id < most ? c[from + i].id : 0]) {
			return true;
		}
	}
	return false;
}

static bool group_wanted(const struct bound *b, uint32_t file, const struct store_group *g)
{
	const struct store *s = &files[file].store;
	return group_in_range(b, &files[file], g) &&
	       group_has(s, STORE_TYPE_COUNTS, g->type_counts, g->type_count_rows, b->types[file], s->type_count) &&
	       group_has(s, STORE_PROCESS_COUNTS, g->process_counts, g->process_count_rows, b->processes[file],
			 s->process_count);
}

void sql_events_bind(duckdb_handle info, const struct sql_events_bounds *wanted)
{
	struct bound *b = calloc(1, sizeof *b);
	if (!b) {
		duckdb.bind_set_error(info, "no memory");
		return;
	}
	b->from = wanted->from;
	b->to = wanted->to;
	duckdb.bind_set_bind_data(info, b, free_bound);
	if (!want_types(b, wanted->provider) || !want_processes(b, wanted->process)) {
		duckdb.bind_set_error(info, "no memory");
		return;
	}
	for (uint32_t i = 0; i < COLUMNS; i++) {
		duckdb_handle type = duckdb.create_logical_type(columns[i].type);
		duckdb.bind_add_result_column(info, columns[i].name, type);
		duckdb.destroy_logical_type(&type);
	}
	for (uint32_t i = 0; i < file_count; i++) {
		for (uint32_t j = 0; j < files[i].store.group_count; j++) {
			b->rows += group_wanted(b, i, &files[i].store.groups[j]) ? files[i].store.groups[j].rows : 0;
		}
	}
	bool exact = b->from == INT64_MIN && b->to == INT64_MAX && !wanted->provider && !wanted->process;
	duckdb.bind_set_cardinality(info, b->rows, exact);
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct scan {
	uint32_t next; /* group of all files, one behind the other */
	uint32_t groups;
	uint32_t columns;
	uint32_t column[];
};
struct part {
	const struct file *f;
	uint32_t file, at;
	struct store_columns c; /* of the group; rows 0: none */
	bool all;               /* its rows are all wanted */
};

void sql_events_init(duckdb_handle info)
{
	uint64_t n = duckdb.init_get_column_count(info);
	struct scan *s = calloc(1, sizeof *s + n * sizeof s->column[0]);
	if (!s) {
		duckdb.init_set_error(info, "no memory");
		return;
	}
	s->columns = (uint32_t)n;
	for (uint32_t i = 0; i < s->columns; i++) {
		uint64_t which = duckdb.init_get_column_index(info, i);
		s->column[i] = which < COLUMNS ? (uint32_t)which : COLUMNS;
	}
	for (uint32_t i = 0; i < file_count; i++) {
		s->groups += files[i].store.group_count;
	}
	duckdb.init_set_init_data(info, s, free);
	duckdb.init_set_max_threads(info, s->groups + 1);
}

void sql_events_init_part(duckdb_handle info)
{
	struct part *p = calloc(1, sizeof *p);
	if (!p) {
		duckdb.init_set_error(info, "no memory");
		return;
	}
	duckdb.init_set_init_data(info, p, free);
}

/* The next group that may have wanted rows. False: there is none. */
static bool take_group(const struct bound *b, struct scan *s, struct part *p)
{
	for (;;) {
		uint32_t group = order_add_relaxed(&s->next, 1), file = 0;
		if (group >= s->groups) {
			order_store_relaxed(&s->next, s->groups); /* it never comes round */
			return false;
		}
		while (group >= files[file].store.group_count) {
			group -= files[file++].store.group_count;
		}
		const struct store_group *g = &files[file].store.groups[group];
		if (!group_wanted(b, file, g)) {
			continue;
		}
		p->f = &files[file];
		p->file = file;
		p->at = 0;
		store_columns_of(&p->f->store, group, &p->c);
		p->all = !b->types[file] && !b->processes[file] && g->from >= minus(b->from, p->f->s.offset) &&
			 g->to <= minus(b->to, p->f->s.offset);
		return true;
	}
}

static uint32_t type_at(const struct part *p, uint32_t row)
{
	uint32_t t = store_type_at(&p->c, row);
	return t < p->f->store.type_count ? t : 0;
}

static uint32_t process_at(const struct part *p, uint32_t row)
{
	uint32_t n = store_process_at(&p->c, row);
	return n < p->f->store.process_count ? n : 0;
}

static uint32_t thread_at(const struct part *p, uint32_t row)
{
	uint32_t n = p->c.thread[row];
	return n < p->f->store.thread_count ? n : 0;
}

static uint32_t choose(const struct bound *b, struct part *p, uint32_t *rows)
{
	uint32_t n = 0;
	const bool *types = b->types[p->file], *processes = b->processes[p->file];
	int64_t from = minus(b->from, p->f->s.offset), to = minus(b->to, p->f->s.offset);
	if (p->all) {
		for (; p->at < p->c.rows && n < MOST; n++) {
			rows[n] = p->at++;
		}
		return n;
	}
	for (; p->at < p->c.rows && n < MOST; p->at++) {
		int64_t time = store_time(&p->c, p->at);
		rows[n] = p->at;
		n += time >= from && time <= to && (!types || types[type_at(p, p->at)]) &&
		     (!processes || processes[process_at(p, p->at)]);
	}
	return n;
}

/* A column that has a value for each row. */
#define FILL(type, value)                          \
	do {                                       \
		type *to = data;                   \
		for (uint32_t i = 0; i < n; i++) { \
			uint32_t row = rows[i];    \
			to[i] = (type)(value);     \
		}                                  \
	} while (0)
#define FILL_TEXT(value)                           \
	do {                                       \
		union duckdb_text *to = data;      \
		for (uint32_t i = 0; i < n; i++) { \
			uint32_t row = rows[i];    \
			to[i] = (value);           \
		}                                  \
	} while (0)
/* One whose row has none where `there` is false. */
#define FILL_SOME(type, value, there)                                        \
	do {                                                                 \
		type *to = data;                                             \
		duckdb.vector_ensure_validity_writable(vector);              \
		uint64_t *valid = duckdb.vector_get_validity(vector);        \
		for (uint32_t i = 0; i < n; i++) {                           \
			uint32_t row = rows[i];                              \
			to[i] = (value);                                     \
			valid[i / 64] &= ~((uint64_t) !(there) << (i % 64)); \
		}                                                            \
	} while (0)
#define TYPE_OF(member) (f->store.types[type_at(p, row)].member)

static void fill(const struct part *p, enum column column, const uint32_t *rows, uint32_t n, duckdb_handle vector)
{
	const struct file *f = p->f;
	const struct store *s = &f->store;
	void *data = duckdb.vector_get_data(vector);
	switch (column) {
	case TIME: FILL(int64_t, (uint64_t)store_time(&p->c, row) + (uint64_t)f->s.offset); break;
	case PROVIDER: FILL_TEXT(f->provider[type_at(p, row)]); break;
	case EVENT: FILL_TEXT(f->event[type_at(p, row)]); break;
	case PROCESS: FILL(uint32_t, f->s.process_base + process_at(p, row)); break;
	case PID: FILL_SOME(uint32_t, s->processes[process_at(p, row)].pid, process_at(p, row)); break;
	case PROCESS_NAME:
		FILL_SOME(union duckdb_text, f->name[process_at(p, row)], f->name[process_at(p, row)].here.length > 0);
		break;
	case THREAD: FILL(uint32_t, f->s.thread_base + thread_at(p, row)); break;
	case TID: FILL_SOME(uint32_t, s->threads[thread_at(p, row)].tid, thread_at(p, row)); break;
	case CONTAINER:
		FILL_SOME(union duckdb_text, f->container[process_at(p, row)],
			  process_at(p, row) && f->container[process_at(p, row)].here.length > 0);
		break;
	case CPU: FILL(uint16_t, p->c.cpu[row]); break;
	case LEVEL: FILL(uint8_t, TYPE_OF(level)); break;
	case ID: FILL(uint16_t, TYPE_OF(id)); break;
	case VERSION: FILL(uint8_t, TYPE_OF(version)); break;
	case OPCODE: FILL(uint8_t, TYPE_OF(opcode)); break;
	case TASK: FILL(uint16_t, TYPE_OF(task)); break;
	case KEYWORD: FILL(uint64_t, TYPE_OF(keyword)); break;
	case TYPE: FILL(uint32_t, f->s.type_base + type_at(p, row)); break;
	case STACK:
		FILL_SOME(uint32_t, f->s.stack_base + (p->c.stack ? p->c.stack[row] : 0),
			  p->c.stack && p->c.stack[row] && p->c.stack[row] < s->stack_count);
		break;
	case FILE_NUMBER: FILL(uint16_t, ((void)row, p->file)); break;
	case COLUMNS: break; /* the caller only counts */
	}
}

void sql_events_scan(duckdb_handle info, duckdb_handle chunk)
{
	const struct bound *b = duckdb.function_get_bind_data(info);
	struct scan *s = duckdb.function_get_init_data(info);
	struct part *p = duckdb.function_get_local_init_data(info);
	uint32_t rows[MOST], n = 0;
	while (n == 0) {
		if (p->at == p->c.rows && !take_group(b, s, p)) {
			break;
		}
		n = choose(b, p, rows);
	}
	for (uint32_t i = 0; n > 0 && i < s->columns; i++) {
		fill(p, s->column[i], rows, n, duckdb.data_chunk_get_vector(chunk, i));
	}
	duckdb.data_chunk_set_size(chunk, n);
}
