/* SPDX-License-Identifier: MIT
 *
 * Without a selection DuckDB reads the index of the trace, in parts. With one, the events are read and selected here,
 * as dump does it, into a table of the same columns, which is in memory.
 */
#include "tools/openetw/export_table.h"

#include "base/vec.h"
#include "query/query_share.h"
#include "tools/common/absent.h"
#include "tools/common/event_view.h"
#include "tools/common/output.h"
#include "tools/openetw/export_summary.h"
#include "tools/openetw/sql_client.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define SELECTED   "selected"
#define UNIX_EPOCH 116444736000000000ll /* in FILETIME */

struct table {
	struct export *x;
	struct table_maker maker;
	struct cli_select *select; /* NULL: all events */
	struct cli_view *view;
	struct table_build *b;
	struct table_who who;
	int time, provider, event, cpu, level, id, version, opcode, task, keyword, type, stack, file;
	uint32_t *type_of; /* by kind; 0: not looked for, else the number of the type and 1 */
	uint32_t types, type_cap;
	uint64_t in_trace, selected;
	bool failed; /* no memory */
};

/* ---- the table of what is selected --------------------------------------------------------------- */

static bool add_columns(struct table *t)
{
	struct table_build *b = t->b = table_build_create();
	if (!b) {
		return false;
	}
	/* The columns of `events`, in their order (tools/sql/sql_events.c). */
	t->time = table_build_column(b, "time", SQL_TYPE_I64);
	t->provider = table_build_column(b, "provider", SQL_TYPE_TEXT);
	t->event = table_build_column(b, "event", SQL_TYPE_TEXT);
	table_who_columns(b, &t->who);
	t->cpu = table_build_column(b, "cpu", SQL_TYPE_U16);
	t->level = table_build_column(b, "level", SQL_TYPE_U8);
	t->id = table_build_column(b, "id", SQL_TYPE_U16);
	t->version = table_build_column(b, "version", SQL_TYPE_U8);
	t->opcode = table_build_column(b, "opcode", SQL_TYPE_U8);
	t->task = table_build_column(b, "task", SQL_TYPE_U16);
	t->keyword = table_build_column(b, "keyword", SQL_TYPE_U64);
	t->type = table_build_column(b, "type", SQL_TYPE_U32);
	t->stack = table_build_column(b, "stack", SQL_TYPE_U32);
	t->file = table_build_column(b, "file", SQL_TYPE_U16);
	return t->file >= 0;
}

static bool is_type(const struct openetw_index_type *x, const struct table_kind *k)
{
	return memcmp(&x->provider_guid, &k->provider_guid, sizeof x->provider_guid) == 0 && x->id == k->id &&
	       x->version == k->version && x->channel == k->channel && x->level == k->level && x->opcode == k->opcode &&
	       x->task == k->task && x->keyword == k->keyword && strcmp(x->provider, k->provider) == 0 &&
	       strcmp(x->name, k->name) == 0;
}

/* The number that the index has for it; -1: none. */
static int64_t type_of(struct table *t, const struct table_kind *k)
{
	uint32_t i = (uint32_t)(k - t->maker.kinds);
	while (t->types <= i) {
		if (!VEC_ROOM(t->type_of, t->types, t->type_cap)) {
			t->failed = true;
			return -1;
		}
		t->type_of[t->types++] = 0;
	}
	struct openetw_index_type x = {.size = sizeof x};
	for (uint32_t n = 0; t->type_of[i] == 0 && n < t->maker.about.types; n++) {
		if (openetw_index_type(t->maker.index, n, &x) == ERROR_SUCCESS && is_type(&x, k)) {
			t->type_of[i] = n + 1;
		}
	}
	return (int64_t)t->type_of[i] - 1;
}

static void put_event(void *context, const EVENT_RECORD *e)
{
	struct table *t = context;
	struct table_build *b = t->b;
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	t->in_trace++;
	cli_view_set(t->view, e);
	if (t->failed || !cli_select_match(t->select, t->view, e)) {
		return;
	}
	struct openetw_event_origin o = {.size = sizeof o};
	const struct table_kind *k = table_make_kind(&t->maker, e);
	if (!k || openetw_state_event(t->maker.state, e, &o) != ERROR_SUCCESS) {
		t->failed = true;
		return;
	}
	int64_t type = type_of(t, k);
	uint32_t stack = table_make_stack(&t->maker, e);
	t->selected++;
	table_build_number(b, t->time, (uint64_t)table_make_time(&t->maker, time));
	table_put_string(b, t->provider, k->provider);
	table_put_string(b, t->event, k->name);
	table_who_put(&t->maker, b, &t->who, o.pid, o.tid, time);
	table_build_number(b, t->cpu, GetEventProcessorIndex(e));
	table_build_number(b, t->level, d->Level);
	table_build_number(b, t->id, d->Id);
	table_build_number(b, t->version, d->Version);
	table_build_number(b, t->opcode, d->Opcode);
	table_build_number(b, t->task, d->Task);
	table_build_number(b, t->keyword, d->Keyword);
	if (type >= 0) {
		table_build_number(b, t->type, (uint64_t)type);
	}
	if (stack) {
		table_build_number(b, t->stack, stack);
	}
	table_build_number(b, t->file, t->maker.file);
	table_build_row(b);
}

static int make_selected(struct table *t, char *why, size_t cap)
{
	bool ok = table_make_index(&t->maker, why, cap);
	if (ok && !add_columns(t)) {
		snprintf(why, cap, "no memory");
		ok = false;
	}
	ok = ok && table_make_pass(&t->maker, put_event, t, why, cap);
	const char *problem = ok ? table_build_problem(t->b) : NULL;
	if (problem || (ok && t->failed)) {
		snprintf(why, cap, "%s", problem ? problem : "no memory");
		ok = false;
	}
	int fd = -1;
	if (ok) {
		fd = table_build_finish(t->b);
		if (fd < 0) {
			snprintf(why, cap, "no memory for the table: %s", strerror(-fd));
		}
	} else {
		table_build_destroy(t->b);
	}
	t->b = NULL;
	return fd < 0 ? -1 : fd;
}

/* ---- what openetw-sql asks for -------------------------------------------------------------------- */

static int give_table(void *context, const char *name, char *why, size_t cap)
{
	struct table *t = context;
	return t->select && strcmp(name, SELECTED) == 0 ? make_selected(t, why, cap)
							: table_make(&t->maker, name, why, cap);
}

static int give_store(void *context, uint32_t file, struct sql_store *ret, int *ret_fd, char *why, size_t cap)
{
	struct table *t = context;
	struct index_share x;
	if (!table_make_index(&t->maker, why, cap)) {
		return -1;
	}
	if (!index_share_of(t->maker.index, file, &x)) {
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

static bool on_columns(void *context, uint32_t count, const enum sql_class *classes, const struct sql_value *names)
{
	(void)context;
	(void)count;
	(void)classes;
	(void)names;
	return true;
}

static bool on_row(void *context, uint32_t count, const struct sql_value *values)
{
	(void)context;
	(void)count;
	(void)values;
	return true;
}

static bool on_end(void *context)
{
	(void)context;
	return true;
}

/* ---- the export ----------------------------------------------------------------------------------- */

static uint64_t rows_of_index(struct table *t)
{
	struct openetw_index_type x = {.size = sizeof x};
	uint64_t rows = 0;
	for (uint32_t i = 0; i < t->maker.about.types; i++) {
		rows += openetw_index_type(t->maker.index, i, &x) == ERROR_SUCCESS ? x.rows : 0;
	}
	return rows;
}

static int write_table(struct table *t)
{
	const struct cli_args *a = t->x->args;
	bool arrow = strcmp(t->x->kind->name, "arrow") == 0;
	struct cli_output *out = cli_output_open(a, t->x->o->output, false);
	if (!out) {
		return CLI_FAILED;
	}
	int fd = fileno(cli_output_file(out));
	struct sql_client_options o = {.start_ns = ((int64_t)t->maker.start - UNIX_EPOCH) * 100, .out = fd};
	struct sql_sink sink = {.context = t,
				.columns = on_columns,
				.row = on_row,
				.end = on_end,
				.table = give_table,
				.store = give_store,
				.cancelled = cancelled};
	struct sql_client *c = sql_client_create(a, &o);
	int status = c ? sql_client_export(c, t->select ? "from " SELECTED : "from events",
					   arrow ? SQL_ARROW : SQL_PARQUET, &sink)
		       : CLI_FAILED;
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	sql_client_destroy(c);
	off_t bytes = status == CLI_OK ? lseek(fd, 0, SEEK_END) : 0;
	t->x->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	int closed = cli_output_close(out, status == CLI_OK);
	return status == CLI_OK ? closed : status;
}

static bool is_empty(const struct cli_select_options *s)
{
	return !s->filter && !s->provider.count && !s->event.count && !s->process.count && !s->pid.count &&
	       !s->tid.count && !s->level.given && !s->from.given && !s->to.given;
}

int export_table(struct export *x, const struct cli_select_options *s)
{
	const struct cli_args *a = x->args;
	struct table *t = calloc(1, sizeof *t);
	if (!t) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot start");
	}
	t->x = x;
	int status = CLI_FAILED;
	cli_signals_catch();
	if (!is_empty(s) && !(t->select = cli_select_create(a, s))) {
		status = CLI_USAGE;
	} else if (table_maker_open(&t->maker, a, a->count, a->words)) {
		t->view = t->select ? cli_view_create(t->maker.decoder, false) : NULL;
		if (t->select && !t->view) {
			status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot start");
		} else if (t->select && !cli_select_set_start(t->select, t->maker.start)) {
			status = cli_usage(a, "--to lies before --from");
		} else {
			if (t->view) {
				cli_view_set_state(t->view, t->maker.state);
			}
			status = write_table(t);
		}
		if (status == CLI_OK) {
			uint64_t rows = rows_of_index(t);
			x->written = t->select ? t->selected : rows;
			struct cli_trace loss = {0};
			cli_files_loss(a, a->count, a->words, &loss);
			export_miss_n(
				x,
				"events without the fields of their payloads: 'openetw sql' has a table for each event",
				x->written);
			export_summary(x, &(struct export_counts){.in_trace = rows, .selected = x->written}, &loss);
		}
	}
	if (status == CLI_OK && t->select) {
		status = cli_absent_files(a, t->select, NULL, a->count, a->words, t->selected, status);
	}
	if (t->select) {
		status = cli_select_finish(a, t->select, status);
	}
	cli_signals_restore();
	cli_view_destroy(t->view);
	table_maker_close(&t->maker);
	cli_select_destroy(t->select);
	free(t->type_of);
	free(t);
	return status;
}
