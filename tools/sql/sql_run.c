/* SPDX-License-Identifier: MIT */
#include "tools/sql/sql_run.h"

#include "base/order.h"
#include "base/vec.h"
#include "tools/sql/sql_arrow.h"
#include "tools/sql/sql_file.h"
#include "tools/sql/sql_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define QUEUE_MAX (1u << 20) /* bytes that wait for the parent; a row may be longer */

struct known {
	char *name;
	struct sql_columns *table;
};
/* All of it belongs to the lock. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t to_parent, to_query;
	duckdb_handle connection;
	char *text;
	uint32_t format; /* enum sql_export_format; 0: none */
	int fd;
	bool written; /* a result, into the file */
	bool active, finished, cancelled;
	pthread_t thread;
	struct strbuf queue;
	size_t sent; /* of the queue */
	const char *want;
	bool answered;
	bool events; /* the parent has given the indexes of all files */
	char *why;
	struct known *known;
	size_t known_count, known_cap;
} run = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .to_parent = PTHREAD_COND_INITIALIZER, .to_query = PTHREAD_COND_INITIALIZER};

/* ---- results -------------------------------------------------------------------------------------- */

/* False: the query was cancelled, or there is no memory. */
static bool send_record(uint32_t kind, const void *p, size_t n)
{
	struct sql_record r = {kind, (uint32_t)n};
	pthread_mutex_lock(&run.lock);
	while (run.queue.len - run.sent > QUEUE_MAX && !run.cancelled) {
		pthread_cond_wait(&run.to_query, &run.lock);
	}
	if (run.sent == run.queue.len) {
		strbuf_clear(&run.queue);
		run.sent = 0;
	}
	strbuf_add(&run.queue, &r, sizeof r);
	strbuf_add(&run.queue, p, n);
	bool ok = !run.queue.failed && (!run.cancelled || kind == SQL_ERROR);
	pthread_cond_signal(&run.to_parent);
	pthread_mutex_unlock(&run.lock);
	return ok;
}

static bool send_error(const char *text)
{
	text = text && text[0] ? text : "DuckDB does not say why";
	send_record(SQL_ERROR, text, BASE_MIN(strlen(text), (size_t)SQL_TEXT_MAX));
	return false;
}

static void put32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, sizeof v);
}

static bool send_columns(struct duckdb_result *result, duckdb_handle *types, uint64_t count, struct strbuf *b)
{
	strbuf_clear(b);
	for (uint64_t i = 0; i < count; i++) {
		const char *name = duckdb.column_name(result, i);
		types[i] = duckdb.column_logical_type(result, i);
		put32(b, sql_text_class(types[i]));
		put32(b, name ? (uint32_t)strlen(name) + 1 : 1);
		strbuf_adds(b, name ? name : "");
	}
	return !b->failed && send_record(SQL_COLUMNS, b->s, b->len);
}

static bool send_row(duckdb_handle chunk, uint64_t row, const duckdb_handle *types, uint64_t columns, struct strbuf *b)
{
	strbuf_clear(b);
	for (uint64_t i = 0; i < columns; i++) {
		size_t at = b->len;
		put32(b, 0);
		if (sql_text_add(b, types[i], duckdb.data_chunk_get_vector(chunk, i), row) && !b->failed) {
			uint32_t n = (uint32_t)(b->len - at - 4) + 1;
			memcpy(b->s + at, &n, sizeof n);
		}
		if (b->failed || b->len > SQL_RECORD_MAX) {
			return send_error("a row is longer than 64 MiB");
		}
	}
	return send_record(SQL_ROW, b->s, b->len);
}

static bool send_rows(struct duckdb_result *result, const duckdb_handle *types, uint64_t columns, struct strbuf *b)
{
	for (;;) {
		duckdb_handle chunk = duckdb.fetch_chunk(*result);
		uint64_t rows = chunk ? duckdb.data_chunk_get_size(chunk) : 0;
		bool ok = true;
		for (uint64_t i = 0; ok && i < rows; i++) {
			ok = send_row(chunk, i, types, columns, b);
		}
		duckdb.destroy_data_chunk(&chunk);
		if (!ok) {
			return false;
		}
		if (rows == 0) {
			break;
		}
	}
	const char *error = duckdb.result_error(result);
	return error && error[0] ? send_error(error) : send_record(SQL_END, NULL, 0);
}

/* The rows go into the file. */
static bool write_arrow(struct duckdb_result *result)
{
	static const char *names[SQL_COLUMNS_MAX];
	static duckdb_handle types[SQL_COLUMNS_MAX];
	uint64_t columns = duckdb.column_count(result), rows = 0;
	if (columns > SQL_COLUMNS_MAX || run.written) {
		return send_error(run.written ? "one result fits into the file, and there is a second one"
					      : "a result may have at most 4096 columns");
	}
	for (uint64_t i = 0; i < columns; i++) {
		names[i] = duckdb.column_name(result, i);
		types[i] = duckdb.column_logical_type(result, i);
	}
	struct sql_arrow *a = sql_arrow_create(run.fd, (uint32_t)columns, names, types);
	int r = a ? 0 : -ENOMEM;
	do {
		duckdb_handle chunk = r == 0 ? duckdb.fetch_chunk(*result) : NULL;
		rows = chunk ? duckdb.data_chunk_get_size(chunk) : 0;
		r = rows ? sql_arrow_chunk(a, chunk) : r;
		duckdb.destroy_data_chunk(&chunk);
	} while (rows && r == 0 && !order_load_relaxed(&run.cancelled));
	const char *error = duckdb.result_error(result);
	r = r == 0 && !(error && error[0]) ? sql_arrow_end(a) : r;
	sql_arrow_destroy(a);
	for (uint64_t i = 0; i < columns; i++) {
		duckdb.destroy_logical_type(&types[i]);
	}
	run.written = true;
	if (order_load_relaxed(&run.cancelled)) {
		return send_error("the query was cancelled");
	}
	return error && error[0] ? send_error(error) : r < 0 ? send_error(strerror(-r)) : true;
}

static bool send_result(struct duckdb_result *result)
{
	if (run.format == SQL_ARROW) {
		return write_arrow(result);
	}
	uint64_t columns = duckdb.column_count(result);
	struct strbuf b = {0};
	if (columns > SQL_COLUMNS_MAX) {
		return send_error("a result may have at most 4096 columns");
	}
	duckdb_handle *types = calloc(columns + 1, sizeof *types);
	bool ok = types && (columns == 0 || send_columns(result, types, columns, &b));
	ok = ok && send_rows(result, types, columns, &b);
	for (uint64_t i = 0; types && i < columns; i++) {
		duckdb.destroy_logical_type(&types[i]);
	}
	free(types);
	strbuf_finish(&b);
	return ok;
}

static bool execute_prepared(duckdb_handle prepared)
{
	struct duckdb_result result;
	duckdb_handle pending = NULL;
	memset(&result, 0, sizeof result);
	if (duckdb.nparams(prepared) > 0) {
		return send_error("the query has parameters ($1, ?), and nothing gives their values");
	}
	bool ok = duckdb.pending_prepared_streaming(prepared, &pending) == DUCKDB_OK;
	if (!ok) {
		send_error(duckdb.pending_error(pending));
	} else if (duckdb.execute_pending(pending, &result) != DUCKDB_OK) {
		ok = send_error(duckdb.result_error(&result));
	} else {
		ok = send_result(&result);
	}
	duckdb.destroy_result(&result);
	duckdb.destroy_pending(&pending);
	return ok;
}

/* Functions about stacks are made when a query names them: DuckDB looks at once whether the table behind them exists,
 * and making that takes a while. */
static bool make_functions(const char *text)
{
	static const struct {
		const char *name, *text;
	} functions[] = {
		{"stack_text", "CREATE MACRO IF NOT EXISTS stack_text(id) AS (SELECT string_agg(f.function, ';' ORDER "
			       "BY f.depth) FROM frames AS f WHERE f.stack = id)"},
		{"frame(", "CREATE MACRO IF NOT EXISTS frame(id, n) AS (SELECT any_value(f.function) FROM frames AS f "
			   "WHERE f.stack = id AND f.depth = n)"}};
	static bool made[BASE_ARRAY_LEN(functions)];
	for (size_t i = 0; i < BASE_ARRAY_LEN(functions); i++) {
		struct duckdb_result result;
		if (made[i] || !strcasestr(text, functions[i].name)) {
			continue;
		}
		memset(&result, 0, sizeof result);
		made[i] = duckdb.query(run.connection, functions[i].text, &result) == DUCKDB_OK;
		bool ok = made[i] || send_error(duckdb.result_error(&result));
		duckdb.destroy_result(&result);
		if (!ok) {
			return false;
		}
	}
	return true;
}

static void execute(const char *text)
{
	duckdb_handle statements = NULL;
	if (!make_functions(text)) {
		return;
	}
	uint64_t count = duckdb.extract_statements(run.connection, text, &statements);
	if (count == 0) {
		const char *error = duckdb.extract_statements_error(statements);
		send_error(error ? error : "there is no statement in the query");
	}
	bool ok = true;
	for (uint64_t i = 0; ok && i < count; i++) {
		duckdb_handle prepared = NULL;
		ok = duckdb.prepare_extracted_statement(run.connection, statements, i, &prepared) == DUCKDB_OK;
		ok = ok ? execute_prepared(prepared) : send_error(duckdb.prepare_error(prepared));
		duckdb.destroy_prepare(&prepared);
	}
	duckdb.destroy_extracted(&statements);
}

/* The parent's statement, not the user's: that name is the only one that this DuckDB may write to. */
static void export(const char *text)
{
	struct strbuf b = {0};
	size_t n = strlen(text);
	while (n > 0 && strchr("; \t\r\n", text[n - 1])) {
		n--;
	}
	strbuf_addf(&b, "COPY (%.*s\n) TO '" SQL_FILE_NAME "' (FORMAT parquet, USE_TMP_FILE false)", (int)n, text);
	if (b.failed) {
		send_error("no memory");
	} else {
		execute(b.s);
	}
	strbuf_finish(&b);
}

static void *query_thread(void *unused)
{
	(void)unused;
	if (run.format == SQL_PARQUET) {
		export(run.text);
	} else {
		execute(run.text);
	}
	pthread_mutex_lock(&run.lock);
	run.finished = true;
	pthread_cond_signal(&run.to_parent);
	pthread_mutex_unlock(&run.lock);
	return NULL;
}

/* ---- the program's thread ------------------------------------------------------------------------- */

const char *sql_run_start(duckdb_handle connection, const char *text, size_t bytes, uint32_t format, int fd)
{
	if (run.active) {
		return "a query is at work already";
	}
	free(run.text);
	run.text = strndup(text, bytes);
	run.format = format;
	run.fd = fd;
	run.written = false;
	run.connection = connection;
	run.finished = run.cancelled = false;
	run.want = NULL;
	run.sent = 0;
	strbuf_clear(&run.queue);
	if (!run.text) {
		return "no memory";
	}
	if (pthread_create(&run.thread, NULL, query_thread, NULL) != 0) {
		return "no thread can be created";
	}
	run.active = true;
	return NULL;
}

static void wait_for_news(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += SQL_PATIENCE_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	int r = 0;
	while (r == 0 && !run.finished && !run.want && run.queue.len - run.sent < SQL_ANSWER_MAX / 2) {
		r = pthread_cond_timedwait(&run.to_parent, &run.lock, &until);
	}
}

void sql_run_next(struct strbuf *answer)
{
	struct sql_answer a = {SQL_DONE, UINT32_MAX};
	const char *bytes = NULL;
	size_t n = 0;
	if (!run.active) {
		strbuf_add(answer, &a, sizeof a);
		return;
	}
	pthread_mutex_lock(&run.lock);
	wait_for_news();
	n = BASE_MIN(run.queue.len - run.sent, (size_t)SQL_ANSWER_MAX);
	bytes = n ? run.queue.s + run.sent : NULL;
	if (n == 0 && run.want) {
		a.state = SQL_WANTS;
		bytes = run.want;
		n = strlen(run.want);
	} else if (n > 0 || !run.finished) {
		a.state = SQL_RUNNING;
		run.sent += n;
	}
	strbuf_add(answer, &a, sizeof a);
	strbuf_add(answer, bytes, n);
	pthread_cond_signal(&run.to_query);
	pthread_mutex_unlock(&run.lock);
	if (a.state == SQL_DONE) {
		pthread_join(run.thread, NULL);
		run.active = false;
	} else if (a.state == SQL_RUNNING && n == 0) {
		if (order_load_relaxed(&run.cancelled)) { /* the first interruption came before DuckDB began */
			duckdb.interrupt(run.connection);
		}
		double percent = duckdb.query_progress(run.connection).percent;
		a.percent = percent >= 0 && percent <= 100 ? (uint32_t)percent : UINT32_MAX;
		memcpy(answer->s, &a, answer->failed ? 0 : sizeof a);
	}
}

static struct sql_columns *known(const char *name)
{
	for (size_t i = 0; i < run.known_count; i++) {
		if (strcmp(run.known[i].name, name) == 0) {
			return run.known[i].table;
		}
	}
	return NULL;
}

void sql_run_table(struct sql_columns *table, const char *name, const char *why)
{
	pthread_mutex_lock(&run.lock);
	char *copy = table ? strdup(name) : NULL;
	if (table && copy && !known(name) && VEC_ROOM(run.known, run.known_count, run.known_cap)) {
		run.known[run.known_count++] = (struct known){copy, table};
	} else if (table) { /* two of a name, or no memory: this one is not kept */
		sql_columns_unmap(table);
		free(table);
		free(copy);
	}
	free(run.why);
	run.why = strdup(why ? why : "");
	run.events = run.events || (!table && strcmp(name, "events") == 0 && (!why || !why[0]));
	run.want = NULL;
	run.answered = true;
	pthread_cond_broadcast(&run.to_query);
	pthread_mutex_unlock(&run.lock);
}

void sql_run_cancel(void)
{
	pthread_mutex_lock(&run.lock);
	order_store_relaxed(&run.cancelled, run.active);
	pthread_cond_broadcast(&run.to_query);
	pthread_mutex_unlock(&run.lock);
	if (run.active) {
		duckdb.interrupt(run.connection);
	}
}

/* With the lock: waits until the parent has answered. */
static void ask_parent(const char *name)
{
	run.want = name;
	run.answered = false;
	pthread_cond_signal(&run.to_parent);
	while (!run.answered && !run.cancelled) {
		pthread_cond_wait(&run.to_query, &run.lock);
	}
	run.want = NULL;
}

static void say_why(char *why, size_t cap)
{
	snprintf(why, cap, "%s",
		 run.cancelled           ? "the query was cancelled"
		 : run.why && run.why[0] ? run.why
					 : "there is no memory for the table");
}

const struct sql_columns *sql_run_want(const char *name, char *why, size_t cap)
{
	pthread_mutex_lock(&run.lock);
	struct sql_columns *table = known(name);
	if (!table && !run.cancelled) {
		ask_parent(name);
		table = known(name);
	}
	if (!table) {
		say_why(why, cap);
	}
	pthread_mutex_unlock(&run.lock);
	return table;
}

bool sql_run_want_events(char *why, size_t cap)
{
	pthread_mutex_lock(&run.lock);
	if (!run.events && !run.cancelled) {
		ask_parent("events");
	}
	bool there = run.events;
	if (!there) {
		say_why(why, cap);
	}
	pthread_mutex_unlock(&run.lock);
	return there;
}
