/* SPDX-License-Identifier: MIT
 *
 * A name behind FROM that is no table of DuckDB's becomes a call of the table function openetw_table('name'); events(…),
 * samples(…) and the like are that function with parameters: t0 and t1 (times, both included), provider, process (a
 * name or a number). DuckDB does not hand its own filters to table functions of other programs, so these parameters
 * are how a query reads less than everything.
 */
#include "tools/sql/sql_tables.h"

#include "base/order.h"
#include "tools/sql/sql_events.h"
#include "tools/sql/sql_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MORSEL 65536u /* rows that a thread takes at once */
#define NAME   "openetw_table"

/* Tables that may be called with parameters. */
static const char *const called[] = {
	"processes",   "lifetimes", "threads", "images",    "cpu",         "samples", "switches", "waits",
	"wait_chains", "functions", "modules", "callers",   "callees",     "io",      "files",    "net",
	"faults",      "syscalls",  "dpc_isr", "power",     "memory",      "gc",      "jit",      "spans",
	"stacks",      "frames",    "symbols", "providers", "event_types", "lost",    "trace"};

struct bound {
	const struct sql_columns *table;
	uint64_t from, to;                  /* rows */
	const uint32_t *provider, *process; /* columns of texts; NULL: not asked for */
	const uint32_t *pid;
	uint32_t provider_text, process_text, pid_number;
	const int64_t *time; /* NULL: any */
	int64_t t0, t1;
};
struct scan {
	uint64_t next; /* the first row that no thread has taken */
	uint32_t columns;
	uint32_t column[]; /* of the table; UINT32_MAX: none, the caller only counts */
};
struct part {
	uint64_t at, end;
};

static const int types[SQL_TYPES] = {
	[SQL_TYPE_BOOL] = DUCKDB_BOOLEAN,  [SQL_TYPE_I8] = DUCKDB_TINYINT,         [SQL_TYPE_I16] = DUCKDB_SMALLINT,
	[SQL_TYPE_I32] = DUCKDB_INTEGER,   [SQL_TYPE_I64] = DUCKDB_BIGINT,         [SQL_TYPE_U8] = DUCKDB_UTINYINT,
	[SQL_TYPE_U16] = DUCKDB_USMALLINT, [SQL_TYPE_U32] = DUCKDB_UINTEGER,       [SQL_TYPE_U64] = DUCKDB_UBIGINT,
	[SQL_TYPE_F32] = DUCKDB_FLOAT,     [SQL_TYPE_F64] = DUCKDB_DOUBLE,         [SQL_TYPE_TEXT] = DUCKDB_VARCHAR,
	[SQL_TYPE_UUID] = DUCKDB_UUID,     [SQL_TYPE_TIMESTAMP] = DUCKDB_TIMESTAMP};

/* ---- texts ---------------------------------------------------------------------------------------- */

/* DuckDB is shown the texts where they are: tables stay mapped until the program ends. */
static union duckdb_text *text_views(const struct sql_columns *t)
{
	union duckdb_text *views = calloc((size_t)t->head->texts + 1, sizeof *views);
	for (uint32_t i = 0; views && i < t->head->texts; i++) {
		const char *p = t->text_bytes + t->text_at[i];
		uint32_t n = (uint32_t)(t->text_at[i + 1] - t->text_at[i]);
		views[i].here.length = n;
		if (n <= sizeof views[i].here.text) {
			memcpy(views[i].here.text, p, n);
		} else {
			memcpy(views[i].elsewhere.prefix, p, sizeof views[i].elsewhere.prefix);
			views[i].elsewhere.at = p;
		}
	}
	return views;
}

bool sql_tables_prepare(struct sql_columns *t)
{
	t->views = text_views(t);
	return t->views != NULL;
}

static uint32_t find_text(const struct sql_columns *t, const char *text)
{
	size_t n = strlen(text);
	for (uint32_t i = 0; i < t->head->texts; i++) {
		if (t->text_at[i + 1] - t->text_at[i] == n && memcmp(t->text_bytes + t->text_at[i], text, n) == 0) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* ---- binding -------------------------------------------------------------------------------------- */

static const struct sql_column *find_column(const struct sql_columns *t, const char *name, uint32_t type)
{
	for (uint32_t i = 0; i < t->head->columns; i++) {
		if (strcmp(t->column[i].name, name) == 0 && t->column[i].type == type) {
			return &t->column[i];
		}
	}
	return NULL;
}

/* The first row whose time is not before `time`; of a column that is sorted. */
static uint64_t first_at(const int64_t *times, uint64_t rows, int64_t time)
{
	uint64_t low = 0, high = rows;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (times[middle] < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Events of several processors may be a little out of order. */
static bool is_sorted(const int64_t *times, uint64_t rows)
{
	bool yes = true;
	for (uint64_t i = 1; i < rows; i++) {
		yes = yes && times[i - 1] <= times[i];
	}
	return yes;
}

/* False: the parameter was not given. */
static bool parameter_number(duckdb_handle info, const char *name, int64_t *ret)
{
	duckdb_handle v = duckdb.bind_get_named_parameter(info, name);
	bool given = v && !duckdb.is_null_value(v);
	*ret = given ? duckdb.get_int64(v) : 0;
	duckdb.destroy_value(&v);
	return given;
}

static char *parameter_text(duckdb_handle info, const char *name)
{
	duckdb_handle v = duckdb.bind_get_named_parameter(info, name);
	char *text = v && !duckdb.is_null_value(v) ? duckdb.get_varchar(v) : NULL;
	duckdb.destroy_value(&v);
	return text;
}

static const char *take_times(duckdb_handle info, struct bound *b)
{
	const struct sql_column *time = find_column(b->table, "time", SQL_TYPE_I64);
	int64_t t0, t1;
	bool from = parameter_number(info, "t0", &t0), to = parameter_number(info, "t1", &t1);
	if (!from && !to) {
		return NULL;
	}
	if (!time) {
		return "this table has no times, so t0 and t1 mean nothing";
	}
	b->time = (const void *)(b->table->map + time->at);
	b->t0 = from ? t0 : INT64_MIN;
	b->t1 = to ? t1 : INT64_MAX;
	if (is_sorted(b->time, b->to)) {
		b->from = from ? first_at(b->time, b->to, t0) : 0;
		b->to = t1 < INT64_MAX && to ? first_at(b->time, b->to, t1 + 1) : b->to;
		b->to = BASE_MAX(b->to, b->from);
		b->time = NULL; /* all that are left are wanted */
	}
	return NULL;
}

static const char *take_provider(duckdb_handle info, struct bound *b)
{
	char *text = parameter_text(info, "provider");
	const struct sql_column *c = text ? find_column(b->table, "provider", SQL_TYPE_TEXT) : NULL;
	const char *why = text && !c ? "this table has no column provider" : NULL;
	if (c) {
		b->provider = (const void *)(b->table->map + c->at);
		b->provider_text = find_text(b->table, text);
	}
	duckdb.free(text);
	return why;
}

/* A number, or a name. */
static const char *take_process(duckdb_handle info, struct bound *b)
{
	char *text = parameter_text(info, "process"), *end = NULL;
	if (!text) {
		return NULL;
	}
	unsigned long long number = strtoull(text, &end, 10);
	bool is_number = text[0] && !*end && number <= UINT32_MAX;
	const struct sql_column *c = is_number ? find_column(b->table, "pid", SQL_TYPE_U32)
					       : find_column(b->table, "process_name", SQL_TYPE_TEXT);
	if (c && is_number) {
		b->pid = (const void *)(b->table->map + c->at);
		b->pid_number = (uint32_t)number;
	} else if (c) {
		b->process = (const void *)(b->table->map + c->at);
		b->process_text = find_text(b->table, text);
	}
	duckdb.free(text);
	return c ? NULL : "this table has no columns of processes";
}

static void bind_table(duckdb_handle info, const char *name)
{
	char why[600];
	struct bound *b = calloc(1, sizeof *b);
	if (!b) {
		duckdb.bind_set_error(info, "no memory");
		return;
	}
	duckdb.bind_set_bind_data(info, b, free);
	b->table = sql_run_want(name, why, sizeof why);
	if (!b->table) {
		duckdb.bind_set_error(info, why);
		return;
	}
	b->to = b->table->head->rows;
	for (uint32_t i = 0; i < b->table->head->columns; i++) {
		duckdb_handle type = duckdb.create_logical_type(types[b->table->column[i].type]);
		duckdb.bind_add_result_column(info, b->table->column[i].name, type);
		duckdb.destroy_logical_type(&type);
	}
	const char *mistake = take_times(info, b);
	mistake = mistake ? mistake : take_provider(info, b);
	mistake = mistake ? mistake : take_process(info, b);
	if (mistake) {
		duckdb.bind_set_error(info, mistake);
	}
	duckdb.bind_set_cardinality(info, b->to - b->from, !b->provider && !b->process && !b->pid && !b->time);
}

static void bind_any(duckdb_handle info)
{
	duckdb_handle v = duckdb.bind_get_parameter(info, 0);
	char *name = v ? duckdb.get_varchar(v) : NULL;
	duckdb.destroy_value(&v);
	if (name) {
		bind_table(info, name);
	} else {
		duckdb.bind_set_error(info, "no memory");
	}
	duckdb.free(name);
}

static void bind_called(duckdb_handle info)
{
	bind_table(info, duckdb.bind_get_extra_info(info));
}

/* ---- reading -------------------------------------------------------------------------------------- */

static void init_scan(duckdb_handle info)
{
	const struct bound *b = duckdb.init_get_bind_data(info);
	uint64_t columns = duckdb.init_get_column_count(info);
	struct scan *s = calloc(1, sizeof *s + columns * sizeof s->column[0]);
	if (!s) {
		duckdb.init_set_error(info, "no memory");
		return;
	}
	s->next = b->from;
	s->columns = (uint32_t)columns;
	for (uint32_t i = 0; i < s->columns; i++) {
		uint64_t which = duckdb.init_get_column_index(info, i);
		s->column[i] = which < b->table->head->columns ? (uint32_t)which : UINT32_MAX;
	}
	duckdb.init_set_init_data(info, s, free);
	duckdb.init_set_max_threads(info, (b->to - b->from) / MORSEL + 1);
}

static void init_part(duckdb_handle info)
{
	struct part *p = calloc(1, sizeof *p);
	if (!p) {
		duckdb.init_set_error(info, "no memory");
		return;
	}
	duckdb.init_set_init_data(info, p, free);
}

static bool wanted(const struct bound *b, uint64_t row)
{
	return (!b->provider || b->provider[row] == b->provider_text) &&
	       (!b->process || b->process[row] == b->process_text) && (!b->pid || b->pid[row] == b->pid_number) &&
	       (!b->time || (b->time[row] >= b->t0 && b->time[row] <= b->t1));
}

/* The next rows of this thread's part that are wanted; at most `most`. */
static uint32_t choose(const struct bound *b, struct part *p, uint64_t *rows, uint32_t most)
{
	uint32_t n = 0;
	for (; p->at < p->end && n < most; p->at++) {
		rows[n] = p->at;
		n += wanted(b, p->at);
	}
	return n;
}

static void fill_texts(const struct sql_columns *t, const uint32_t *from, const uint64_t *rows, uint32_t n,
		       union duckdb_text *to)
{
	const union duckdb_text *views = t->views;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t text = from[rows[i]];
		to[i] = views[text < t->head->texts ? text : 0];
	}
}

static void fill(const struct sql_columns *t, const struct sql_column *c, const uint64_t *rows, uint32_t n,
		 duckdb_handle vector)
{
	uint8_t *to = duckdb.vector_get_data(vector);
	const uint8_t *from = t->map + c->at;
	uint32_t each = sql_type_bytes(c->type);
	if (c->type == SQL_TYPE_TEXT) {
		fill_texts(t, (const void *)from, rows, n, (void *)to);
	} else if (c->type == SQL_TYPE_BOOL) { /* of which DuckDB knows two */
		for (uint32_t i = 0; i < n; i++) {
			to[i] = from[rows[i]] != 0;
		}
	} else if (rows[n - 1] - rows[0] == n - 1) {
		memcpy(to, from + rows[0] * each, (size_t)n * each);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			memcpy(to + (size_t)i * each, from + rows[i] * each, each);
		}
	}
	if (c->valid_at) {
		const uint64_t *valid = (const void *)(t->map + c->valid_at);
		duckdb.vector_ensure_validity_writable(vector);
		uint64_t *bits = duckdb.vector_get_validity(vector);
		for (uint32_t i = 0; i < n; i++) {
			if (!(valid[rows[i] / 64] >> (rows[i] % 64) & 1)) {
				bits[i / 64] &= ~(1ull << (i % 64));
			}
		}
	}
}

static void scan_rows(duckdb_handle info, duckdb_handle chunk)
{
	enum { MOST = 2048 };
	const struct bound *b = duckdb.function_get_bind_data(info);
	struct scan *s = duckdb.function_get_init_data(info);
	struct part *p = duckdb.function_get_local_init_data(info);
	uint64_t rows[MOST];
	uint32_t n = 0, most = (uint32_t)BASE_MIN(duckdb.vector_size(), (uint64_t)MOST);
	while (n == 0) {
		if (p->at == p->end) {
			p->at = order_add_relaxed(&s->next, MORSEL);
			p->at = BASE_MIN(p->at, b->to);
			p->end = BASE_MIN(p->at + MORSEL, b->to);
		}
		if (p->at == p->end) {
			break;
		}
		n = choose(b, p, rows, most);
	}
	for (uint32_t i = 0; n > 0 && i < s->columns; i++) {
		if (s->column[i] != UINT32_MAX) {
			fill(b->table, &b->table->column[s->column[i]], rows, n,
			     duckdb.data_chunk_get_vector(chunk, i));
		}
	}
	duckdb.data_chunk_set_size(chunk, n);
}

/* ---- registration --------------------------------------------------------------------------------- */

static void add_parameter(duckdb_handle f, const char *name, int type)
{
	duckdb_handle t = duckdb.create_logical_type(type);
	if (name) {
		duckdb.table_function_add_named_parameter(f, name, t);
	} else {
		duckdb.table_function_add_parameter(f, t);
	}
	duckdb.destroy_logical_type(&t);
}

static void bind_events(duckdb_handle info)
{
	char why[600];
	struct sql_events_bounds b = {.from = INT64_MIN, .to = INT64_MAX};
	int64_t t;
	b.from = parameter_number(info, "t0", &t) ? t : b.from;
	b.to = parameter_number(info, "t1", &t) ? t : b.to;
	char *provider = parameter_text(info, "provider"), *process = parameter_text(info, "process");
	b.provider = provider;
	b.process = process;
	if (sql_run_want_events(why, sizeof why)) {
		sql_events_bind(info, &b);
	} else {
		duckdb.bind_set_error(info, why);
	}
	duckdb.free(provider);
	duckdb.free(process);
}

struct calls {
	duckdb_call_fn *bind, *init, *init_part;
	duckdb_function_fn *scan;
};

static void register_function(duckdb_handle connection, const char *name, bool any, const struct calls *c)
{
	duckdb_handle f = duckdb.create_table_function();
	duckdb.table_function_set_name(f, name);
	if (any) {
		add_parameter(f, NULL, DUCKDB_VARCHAR);
	}
	add_parameter(f, "t0", DUCKDB_BIGINT);
	add_parameter(f, "t1", DUCKDB_BIGINT);
	add_parameter(f, "provider", DUCKDB_VARCHAR);
	add_parameter(f, "process", DUCKDB_VARCHAR);
	duckdb.table_function_set_extra_info(f, (void *)(uintptr_t)name, NULL);
	duckdb.table_function_set_bind(f, c->bind);
	duckdb.table_function_set_init(f, c->init);
	duckdb.table_function_set_local_init(f, c->init_part);
	duckdb.table_function_set_function(f, c->scan);
	duckdb.table_function_supports_projection_pushdown(f, true);
	(void)duckdb.register_table_function(connection, f);
	duckdb.destroy_table_function(&f);
}

static void replace(duckdb_handle info, const char *name, void *unused)
{
	(void)unused;
	if (strcasecmp(name, "events") == 0) {
		duckdb.replacement_scan_set_function_name(info, "events");
		return;
	}
	duckdb_handle v = duckdb.create_varchar(name);
	duckdb.replacement_scan_set_function_name(info, NAME);
	duckdb.replacement_scan_add_parameter(info, v);
	duckdb.destroy_value(&v);
}

void sql_tables_register(duckdb_handle database, duckdb_handle connection)
{
	static const struct calls any = {bind_any, init_scan, init_part, scan_rows};
	static const struct calls one = {bind_called, init_scan, init_part, scan_rows};
	static const struct calls events = {bind_events, sql_events_init, sql_events_init_part, sql_events_scan};
	register_function(connection, NAME, true, &any);
	register_function(connection, "events", false, &events);
	for (size_t i = 0; i < BASE_ARRAY_LEN(called); i++) {
		register_function(connection, called[i], false, &one);
	}
	duckdb.add_replacement_scan(database, replace, NULL, NULL);
}
