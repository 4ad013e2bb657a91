/* SPDX-License-Identifier: MIT
 * sql: questions to traces in SQL.
 */
#include "query/query_share.h"
#include "tools/common/output.h"
#include "tools/common/path.h"
#include "tools/tables/table_make.h"
#include "tools/openetw/sql_prompt.h"
#include "tools/openetw/sql_ready.h"
#include "tools/openetw/sql_rewrite.h"
#include "tools/openetw/sql_show.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB (1ull << 20)

struct sql_options {
	bool csv, json, list, tables;
	const char *parquet, *arrow, *run;
	uint64_t memory, threads;
};
static const struct cli_option options[] = {
	CLI_FLAG(sql_options, csv, 0, "csv", "print CSV with a line of names"),
	CLI_FLAG(sql_options, json, 'j', "json", "print a JSON object for each row, one a line"),
	CLI_WORD(sql_options, parquet, 0, "parquet", "OUT", "write the rows into this Parquet file"),
	CLI_WORD(sql_options, arrow, 0, "arrow", "OUT", "write the rows into this file, as an Arrow stream"),
	CLI_FLAG(sql_options, list, 'l', "list", "list the ready queries; without a file"),
	CLI_WORD(sql_options, run, 'r', "run", "NAME", "run this ready query"),
	CLI_FLAG(sql_options, tables, 0, "tables", "list the tables, and the events of the files as tables"),
	CLI_SCHEMA('M', "manifest", "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)"),
	CLI_SIZE(sql_options, memory, 0, "memory", MIB, 16, 1u << 24,
		 "memory for the query, in MB without a unit (default: half of the machine's)"),
	CLI_NUMBER(sql_options, threads, 0, "threads", "N", 1, 64, "threads (default: processors, at most 8)"),
	CLI_FORCE_OPTION,
	{0},
};

static struct table_maker maker;

/* ---- a query -------------------------------------------------------------------------------------- */

static int make_table(void *context, const char *name, char *why, size_t cap)
{
	(void)context;
	return table_make(&maker, name, why, cap);
}

static int give_store(void *context, uint32_t file, struct sql_store *ret, int *ret_fd, char *why, size_t cap)
{
	struct index_share x;
	(void)context;
	if (!table_make_index(&maker, why, cap)) {
		return -1;
	}
	if (!index_share_of(maker.index, file, &x)) {
		return 0;
	}
	*ret = (struct sql_store){x.offset, x.type_base, x.process_base, x.thread_base, x.stack_base};
	*ret_fd = x.fd;
	return 1;
}

static bool cancelled(void *context)
{
	(void)context;
	return cli_signal_caught() != 0;
}

static struct sql_sink sink_of(struct sql_show *show)
{
	return (struct sql_sink){.context = show,
				 .columns = sql_show_columns,
				 .row = sql_show_row,
				 .end = sql_show_end,
				 .table = make_table,
				 .store = give_store,
				 .cancelled = cancelled};
}

static int query(struct sql_client *c, const char *text, enum sql_format format)
{
	struct sql_show *show = sql_show_create(format);
	char *faster = sql_rewrite(text);
	if (!show) {
		free(faster);
		return cli_tell(maker.args, "no memory");
	}
	struct sql_sink sink = sink_of(show);
	int status = sql_client_query(c, faster ? faster : text, &sink);
	sql_show_destroy(show);
	free(faster);
	return status;
}

static bool no_columns(void *context, uint32_t count, const enum sql_class *classes, const struct sql_value *names)
{
	(void)context;
	(void)count;
	(void)classes;
	(void)names;
	return true;
}

static bool no_row(void *context, uint32_t count, const struct sql_value *values)
{
	(void)context;
	(void)count;
	(void)values;
	return true;
}

static bool no_end(void *context)
{
	(void)context;
	return true;
}

static int export(const struct cli_args *a, const struct sql_client_options *co, const char *text,
		  enum sql_export_format format, const char *path)
{
	struct sql_client_options o = *co;
	struct cli_output *out = cli_output_open(a, path, false);
	if (!out) {
		return CLI_FAILED;
	}
	o.out = fileno(cli_output_file(out));
	struct sql_client *c = sql_client_create(a, &o);
	struct sql_show *show = sql_show_create(SQL_CSV);
	int status = CLI_FAILED;
	if (c && show) {
		struct sql_sink sink = sink_of(show);
		sink.columns = no_columns; /* what COPY says of itself is its number of rows */
		sink.row = no_row;
		sink.end = no_end;
		status = sql_client_export(c, text, format, &sink);
	}
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	sql_client_destroy(c);
	sql_show_destroy(show);
	int closed = cli_output_close(out, status == CLI_OK);
	return status == CLI_OK ? closed : status;
}

/* ---- lists ---------------------------------------------------------------------------------------- */

static int list_ready(void)
{
	struct sql_ready q;
	for (unsigned i = 0; sql_ready_at(i, &q); i++) {
		printf("%-28s %s\n", q.name, q.question);
	}
	return CLI_OK;
}

static const char *next_ready(const void *context, int i)
{
	static struct sql_ready q[64]; /* names that were given out stay */
	(void)context;
	return i < (int)BASE_ARRAY_LEN(q) && sql_ready_at((unsigned)i, &q[i]) ? q[i].name : NULL;
}

static char *ready_text(const struct cli_args *a, const char *name)
{
	struct sql_ready q;
	if (sql_ready_find(name, &q)) {
		return strndup(q.text, q.bytes);
	}
	const char *near = cli_nearest(name, next_ready, NULL);
	if (near) {
		cli_usage(a, "there is no ready query '%s'; did you mean '%s'?", name, near);
	} else {
		cli_usage(a, "there is no ready query '%s'; --list has them all", name);
	}
	return NULL;
}

static const char tables_query[] =
	"select distinct '\"' || provider || '/' || event || '\"' as \"table\", sum(events)::ubigint as \"rows\" "
	"from event_types group by all order by 2 desc, 1";

static int list_tables(struct sql_client *c, enum sql_format format)
{
	if (format == SQL_TABLES) {
		for (const char *const *name = table_make_names(); *name; name++) {
			printf("%s\n", *name);
		}
		putchar('\n');
	}
	return query(c, tables_query, format);
}

/* ---- the verb ------------------------------------------------------------------------------------- */

struct prompt {
	struct sql_client *client;
	enum sql_format format;
};

static int run_line(void *context, const char *text)
{
	struct prompt *p = context;
	if (strcmp(text, ".tables") == 0) {
		return list_tables(p->client, p->format);
	}
	return query(p->client, text, p->format);
}

static int work(struct cli_args *a, const struct sql_options *o, const char *text)
{
	enum sql_format format = o->csv ? SQL_CSV : o->json ? SQL_JSON : SQL_TABLES;
	struct sql_client_options co = {.memory_bytes = o->memory * MIB,
					.threads = (uint32_t)o->threads,
					.start_ns = ((int64_t)maker.start - 116444736000000000ll) * 100,
					.out = -1};
	if (o->parquet || o->arrow) {
		return export(a, &co, text, o->arrow ? SQL_ARROW : SQL_PARQUET, o->arrow ? o->arrow : o->parquet);
	}
	struct sql_client *c = sql_client_create(a, &co);
	int status;
	if (!c) {
		return CLI_FAILED;
	}
	if (o->tables) {
		status = list_tables(c, format);
	} else if (text) {
		status = query(c, text, format);
	} else {
		struct prompt p = {c, format};
		status = sql_prompt(&p, run_line);
	}
	sql_client_destroy(c);
	return status;
}

/* The last word, unless it is a file, also by a path of Windows. */
static bool is_query(const char *word)
{
	char path[PATH_MAX];
	return access(word, F_OK) != 0 && strpbrk(word, " \t\n;") && access(cli_path(word, path), F_OK) != 0;
}

static int run(struct cli_args *a)
{
	const struct sql_options *o = a->given;
	char *ready = NULL;
	const char *text = NULL;
	int files = a->count;
	if (o->list) {
		return list_ready();
	}
	if (o->csv && o->json) {
		return cli_usage(a, "--csv and --json contradict each other");
	}
	if (!o->run && !o->tables && files > 0 && is_query(a->words[files - 1])) {
		text = a->words[--files];
	}
	for (int i = 0; i < files; i++) {
		cli_path_input(a->words[i]);
	}
	if (files == 0) {
		return cli_usage(a, "which file?");
	}
	if (files > 1024) {
		return cli_usage(a, "at most 1024 files");
	}
	if (o->run) {
		text = ready = ready_text(a, o->run);
		if (!ready) {
			return CLI_USAGE;
		}
	}
	if (o->parquet && o->arrow) {
		return cli_usage(a, "--parquet and --arrow contradict each other");
	}
	if ((o->parquet || o->arrow) && !text) {
		return cli_usage(a, "--parquet and --arrow want a query");
	}
	cli_signals_catch();
	int status = table_maker_open(&maker, a, files, a->words) ? work(a, o, text) : CLI_FAILED;
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	cli_signals_restore();
	table_maker_close(&maker);
	free(ready);
	return status;
}

const struct cli_command cli_sql = {
	.name = "sql",
	.synopsis = "FILE... ['QUERY'] [options]",
	.summary = "Ask traces in SQL.",
	.details =
		"Runs a query of DuckDB's SQL over the events of these files, and prints the rows. Without a query it "
		"asks for\n"
		"queries, with history and completion. Several files are one trace.\n\n"
		"Tables: events, processes, lifetimes, threads, images, cpu, samples, switches, waits, io, files, net, "
		"faults,\n"
		"syscalls, dpc_isr, power, memory, gc, jit, spans, stacks, frames, symbols, providers, event_types, "
		"lost, "
		"trace. \"Provider/Event\" in double quotes is "
		"a table\n"
		"of that event, whose columns are the fields of its payload. Times and durations are nanoseconds from "
		"the start\n"
		"of the trace; time_text(t) makes dates of them. docs/sql.md has every column.\n\n"
		"A table of the trace may be read in part: events(t0 := 1000000000, t1 := 2000000000, provider := "
		"'Shop', process :=\n"
		"'shop'). Such bounds are taken out of 'where time between A and B' where that is safe.\n\n"
		"DuckDB is a library of its own, which is loaded when it is needed: OPENETW_DUCKDB names it, else it "
		"is "
		"lib/openetw/libduckdb.so\n"
		"below the install prefix, what npm put into ~/.local/share/openetw, or what the system has. It runs "
		"in a "
		"program\n"
		"without rights: it opens no file, and connects to nobody.\n\n"
		"Examples:\n"
		"  openetw sql web.etl 'select provider, event, count(*) from events group by all order by 3 desc'\n"
		"  openetw sql shop.etl 'select Article, sum(Amount) from \"MyCompany.Shop/Sold\" group by all'\n"
		"  openetw sql machine.etl --run cpu-by-process\n"
		"  openetw sql machine.etl 'from waits order by duration desc limit 20' --json\n"
		"  openetw sql web.etl 'select * from events' --parquet events.parquet\n"
		"  openetw sql web.etl\n",
	.options = options,
	CLI_INTO(sql_options),
	.run = run,
	.complete = "file",
};
