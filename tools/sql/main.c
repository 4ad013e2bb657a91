/* SPDX-License-Identifier: MIT
 *
 * openetw-sql: runs DuckDB for openetw, as a child without rights. Not for people: it is started with a socket and the
 * path of DuckDB's library, and asked (tools/sql/sql_wire.h).
 */
#include "sandbox/sandbox.h"
#include "tools/sql/sql_events.h"
#include "tools/sql/sql_file.h"
#include "tools/sql/sql_run.h"
#include "tools/sql/sql_tables.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *no_library; /* why */
	duckdb_handle database, connection;
	int out; /* the file that is exported to; -1: none */
} sql = {.out = -1};

/* ---- opening -------------------------------------------------------------------------------------- */

static bool run_plain(struct strbuf *answer, const char *text)
{
	struct duckdb_result result;
	memset(&result, 0, sizeof result);
	bool ok = duckdb.query(sql.connection, text, &result) == DUCKDB_OK;
	if (!ok) {
		const char *why = duckdb.result_error(&result);
		strbuf_addf(answer, "!%s", why ? why : "DuckDB failed");
	}
	duckdb.destroy_result(&result);
	return ok;
}

/* time_text(t); stack_text(id) and frame(id, n) are made when a query has them, since DuckDB looks at once whether the
 * tables behind them exist, and making those takes a whole reading of the trace. */
static bool add_functions(struct strbuf *answer, int64_t start_ns)
{
	struct strbuf b = {0};
	strbuf_addf(&b,
		    "CREATE MACRO time_text(t) AS strftime(make_timestamp_ns(%lld + CAST(t AS BIGINT)), "
		    "'%%Y-%%m-%%dT%%H:%%M:%%S.%%n')[:27] || 'Z'",
		    (long long)start_ns);
	bool ok = !b.failed && run_plain(answer, b.s);
	strbuf_finish(&b);
	return ok;
}

static void set_number(duckdb_handle config, const char *name, uint64_t value, const char *unit)
{
	char text[40];
	snprintf(text, sizeof text, "%llu%s", (unsigned long long)value, unit);
	(void)duckdb.set_config(config, name, text);
}

/* Answers the version of DuckDB, or '!' and why there is no database. */
static void open_database(struct sandbox_question *q, struct strbuf *answer)
{
	struct sql_open o;
	duckdb_handle config = NULL;
	char *why = NULL;
	if (sql.no_library || q->n != sizeof o || sql.database) {
		strbuf_addf(answer, "!%s", sql.no_library ? sql.no_library : "this is no question");
		return;
	}
	memcpy(&o, q->p, sizeof o);
	if (duckdb.create_config(&config) != DUCKDB_OK) {
		strbuf_adds(answer, "!no memory");
		return;
	}
	set_number(config, "memory_limit", o.memory_bytes, "B");
	set_number(config, "threads", o.threads, "");
	(void)duckdb.set_config(config, "temp_directory", "");
	(void)duckdb.set_config(config, "autoinstall_known_extensions", "false");
	(void)duckdb.set_config(config, "autoload_known_extensions", "false");
	int r = duckdb.open_ext(":memory:", &sql.database, config, &why);
	duckdb.destroy_config(&config);
	if (r != DUCKDB_OK || duckdb.connect(sql.database, &sql.connection) != DUCKDB_OK) {
		strbuf_addf(answer, "!%s", why ? why : "DuckDB makes no connection");
		duckdb.free(why);
		sql.database = NULL;
		return;
	}
	sql_tables_register(sql.database, sql.connection);
	if (q->fd[0] >= 0) {
		sql.out = q->fd[0];
		q->fd[0] = -1;
		sql_file_set(sql.out);
	}
	bool ok = add_functions(answer, o.start_ns) &&
		  (sql.out < 0 || run_plain(answer, "SET allowed_paths=['" SQL_FILE_NAME "']")) &&
		  run_plain(answer, "SET enable_external_access=false") &&
		  run_plain(answer, "SET lock_configuration=true");
	if (ok) {
		strbuf_adds(answer, duckdb.library_version());
	}
}

/* ---- the rest ------------------------------------------------------------------------------------- */

static void take_table(struct sandbox_question *q)
{
	struct sql_table head;
	char name[SQL_NAME_MAX + 1];
	struct strbuf why = {0};
	if (q->n < sizeof head) {
		return;
	}
	memcpy(&head, q->p, sizeof head);
	if (head.name_bytes > SQL_NAME_MAX || head.name_bytes > q->n - sizeof head) {
		return;
	}
	memcpy(name, q->p + sizeof head, head.name_bytes);
	name[head.name_bytes] = 0;
	strbuf_add(&why, q->p + sizeof head + head.name_bytes, q->n - sizeof head - head.name_bytes);
	struct sql_columns *table = q->fd[0] >= 0 ? calloc(1, sizeof *table) : NULL;
	if (table && (sql_columns_map(q->fd[0], table) < 0 || !sql_tables_prepare(table))) {
		sql_columns_unmap(table);
		free(table);
		table = NULL;
		strbuf_adds(&why, "the table cannot be used");
	}
	sql_run_table(table, name, why.s);
	strbuf_finish(&why);
}

static const char *take_store(struct sandbox_question *q)
{
	struct sql_store s;
	int fd = q->fd[0];
	if (q->n != sizeof s || fd < 0) {
		return "this is no question";
	}
	memcpy(&s, q->p, sizeof s);
	q->fd[0] = -1;
	return sql_events_add(fd, &s) ? NULL : "the index of the trace cannot be used";
}

static const char *export(const struct sandbox_question *q)
{
	struct sql_export e;
	if (q->n < sizeof e || sql.out < 0) {
		return "there is no file to write";
	}
	memcpy(&e, q->p, sizeof e);
	return sql_run_start(sql.connection, (const char *)q->p + sizeof e, q->n - sizeof e, e.format, sql.out);
}

static void handle(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	const char *text = (const char *)q->p, *why = NULL;
	(void)context;
	if (q->kind == SQL_OPEN) {
		open_database(q, answer);
		return;
	}
	if (!sql.database) {
		strbuf_adds(answer, "!there is no database");
		return;
	}
	switch (q->kind) {
	case SQL_QUERY: why = sql_run_start(sql.connection, text, q->n, 0, -1); break;
	case SQL_EXPORT: why = export(q); break;
	case SQL_NEXT: sql_run_next(answer); break;
	case SQL_TABLE: take_table(q); break;
	case SQL_STORE: why = take_store(q); break;
	case SQL_CANCEL: sql_run_cancel(); break;
	default: break;
	}
	if (why) {
		strbuf_addf(answer, "!%s", why);
	}
}

int main(int argc, char **argv)
{
	sql.no_library = argc == 2 ? duckdb_load(argv[1]) : "no library was named";
	if (sandbox_serve_threads(handle, NULL) < 0) {
		fputs("openetw-sql: openetw starts this program when it runs queries\n", stderr);
		return 2;
	}
	return 0;
}
