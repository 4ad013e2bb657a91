/* SPDX-License-Identifier: MIT
 * tables and table: the tables of openetw report; compare: two of them beside each other.
 */
#include "tools/view/view_live.h"

#include "tools/common/filter_option.h"
#include "tools/tables/table_show.h"

#include "regex/regex.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_MOST 20000u

static int run_list(struct view_request *r)
{
	const char *group_by, *columns;
	strbuf_adds(&r->out, "{\"tables\":[");
	for (const char *const *line = table_set_names(); *line; line++) {
		char name[64];
		size_t n = strcspn(*line, "\t");
		snprintf(name, sizeof name, "%.*s", (int)BASE_MIN(n, sizeof name - 1), *line);
		table_defaults(name, &group_by, &columns);
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "name", name);
		json_put_text(&r->out, "help", (*line)[n] ? *line + n + 1 : "");
		json_put_text(&r->out, "group_by", group_by);
		json_put_text(&r->out, "columns", columns);
		strbuf_addc(&r->out, '}');
	}
	strbuf_adds(&r->out, "]}");
	return view_done(r);
}
const struct view_endpoint view_tables = {.path = "tables", .params = VIEW_TRACE_PARAM, .run = run_list};

static const char *unit_name(enum table_unit u)
{
	switch (u) {
	case TABLE_UNIT_TIME: return "time";
	case TABLE_UNIT_DURATION: return "duration";
	case TABLE_UNIT_BYTES: return "bytes";
	case TABLE_UNIT_ADDRESS: return "address";
	default: return "none";
	}
}

static void put_columns(struct strbuf *b, const struct table_answer *t)
{
	json_put_name(b, "columns");
	strbuf_addc(b, '[');
	for (uint32_t c = 0; c < t->columns; c++) {
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", t->column[c].name);
		json_put_truth(b, "key", t->column[c].key);
		json_put_truth(b, "number", t->column[c].number);
		json_put_truth(b, "truth", t->column[c].truth);
		json_put_text(b, "unit", unit_name(t->column[c].unit));
		strbuf_addc(b, '}');
	}
	strbuf_addc(b, ']');
}

/* Numbers that JavaScript would round are texts. */
static void put_value(struct strbuf *b, const struct table_answer_column *c, const struct table_value *v)
{
	json_put_comma(b);
	if (v->kind == TABLE_TEXT) {
		strbuf_add_json(b, v->s, v->n);
	} else if (c->unit == TABLE_UNIT_ADDRESS && (v->kind == TABLE_INTEGER || v->kind == TABLE_UNSIGNED)) {
		view_put_hex(b, NULL, v->u);
	} else {
		table_show_json(v, c->truth, b);
	}
}

struct question {
	struct table_ask ask;
	struct filter_expr *filter;
	const char *process[1], *thread[1];
};

/* What a request asks of a table. The filter's names are columns, so it is parsed with the table at hand. False: `status`. */
static bool make_question(struct view_request *r, struct table_set *s, const char *table, int64_t from, int64_t to,
			  struct question *q)
{
	char why[400];
	const char *text = view_text(r, "where", NULL);
	*q = (struct question){.ask = {.table = table,
				       .group_by = view_text(r, "group_by", NULL),
				       .columns = view_text(r, "columns", NULL),
				       .sort = view_text(r, "sort", NULL),
				       .ascending = view_flag(r, "asc", false),
				       .top = view_number(r, "top", 500),
				       .from = from,
				       .to = to}};
	q->process[0] = view_text(r, "process", NULL);
	q->thread[0] = view_text(r, "thread", NULL);
	q->ask.process = q->process;
	q->ask.process_count = q->process[0] != NULL;
	q->ask.thread = q->thread;
	q->ask.thread_count = q->thread[0] != NULL;
	if (text && text[strspn(text, " ")]) {
		const char **names = table_filter_names(s, table, why, sizeof why);
		const struct filter_dialect dialect = {.regex = &regex_pcre2, .names = names};
		struct diag d;
		diag_clear(&d);
		int err = names ? filter_expr_parse_in(&dialect, text, &q->filter, &d) : -EINVAL;
		free(names);
		if (err < 0) {
			view_fail(r, 400, "%s", d.text[0] ? d.text : why);
			return false;
		}
		filter_expr_set_start(q->filter, table_set_start(s), 0);
		q->ask.filter = q->filter;
	}
	return true;
}

static void put_answer(struct strbuf *b, const struct table_answer *t)
{
	strbuf_addc(b, '{');
	json_put_text(b, "table", t->table);
	put_columns(b, t);
	json_put_name(b, "rows");
	strbuf_addc(b, '[');
	for (uint64_t row = 0; row < t->rows; row++) {
		json_put_comma(b);
		strbuf_addc(b, '[');
		for (uint32_t c = 0; c < t->columns; c++) {
			put_value(b, &t->column[c], table_answer_cell(t, row, c));
		}
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, ']');
	json_put_count(b, "all", t->all);
	json_put_count(b, "matched", t->matched);
	strbuf_addc(b, '}');
}

static int run_table(struct view_request *r)
{
	char why[600] = "";
	struct view_sel s;
	struct question q = {0};
	if (!view_sel_of(r, &s)) {
		return r->status;
	}
	struct table_set *set = view_tables_with(r, s.trace, view_text(r, "name", "cpu"), why, sizeof why);
	if (!set) {
		return view_fail(r, view_gone(r) ? 503 : 400, "%s", why);
	}
	int64_t from = view_text(r, "t0", NULL) ? s.from : INT64_MIN, to = view_text(r, "t1", NULL) ? s.to : INT64_MAX;
	if (make_question(r, set, view_text(r, "name", "cpu"), from, to, &q)) {
		struct table_answer *t = view_table_ask(r, s.trace, &q.ask, why, sizeof why);
		if (t) {
			put_answer(&r->out, t);
			view_done(r);
		} else {
			view_fail(r, 400, "%s", why);
		}
		table_answer_free(t);
	}
	filter_expr_destroy(q.filter);
	return r->status;
}
const struct view_endpoint view_table = {
	.keep = true,
	.path = "table",
	.params = VIEW_SEL
	"name:text group_by:text columns:text sort:text asc:flag top:1-20000 process:text thread:text where:text",
	.whole = true,
	.run = run_table};

/* ---- two traces, or two times of one ------------------------------------------------------------------ */

static struct table_answer *ask_one(struct view_request *r, uint32_t id, const char *from, const char *to,
				    struct view_trace **ret, char *why, size_t cap)
{
	struct question q;
	struct table_answer *t = NULL;
	*ret = view_trace_hold(r->view, id);
	if (!*ret) {
		snprintf(why, cap, "no trace %u is open", id);
		return NULL;
	}
	if ((*ret)->live) {
		struct view_trace *copy = view_copy_hold(*ret, view_request_gone, r, why, cap);
		view_trace_let_go(r->view, *ret);
		*ret = copy;
		r->passing = true;
		if (!copy) {
			return NULL;
		}
	}
	struct table_set *s = view_tables_with(r, *ret, view_text(r, "name", "cpu"), why, cap);
	if (!s) {
		return NULL;
	}
	if (make_question(r, s, view_text(r, "name", "cpu"), view_time(r, from, INT64_MIN), view_time(r, to, INT64_MAX),
			  &q)) {
		q.ask.top = 0;
		t = view_table_ask(r, *ret, &q.ask, why, cap);
	}
	filter_expr_destroy(q.filter);
	return t;
}

/* The keys of a row as one text. */
static void add_keys(struct strbuf *b, const struct table_answer *t, uint64_t row)
{
	for (uint32_t c = 0; c < t->columns; c++) {
		if (t->column[c].key) {
			table_value_text(table_answer_cell(t, row, c), t->column[c].truth, b);
			strbuf_addc(b, '\x1f');
		}
	}
}

/* All rows as JSON, by key: the page joins them. */
static bool put_side(struct view_request *r, const char *name, const char *id, const char *from, const char *to,
		     bool columns)
{
	char why[600] = "";
	struct view_trace *trace = NULL;
	struct table_answer *t = ask_one(r, (uint32_t)view_number(r, id, 0), from, to, &trace, why, sizeof why);
	struct strbuf *b = &r->out, key = {0};
	if (t) {
		if (columns) {
			put_columns(b, t);
		}
		json_put_name(b, name);
		strbuf_addc(b, '{');
		for (uint64_t row = 0; row < t->rows && row < ROWS_MOST; row++) {
			strbuf_clear(&key);
			add_keys(&key, t, row);
			json_put_name(b, key.s ? key.s : "");
			strbuf_addc(b, '[');
			for (uint32_t c = 0; c < t->columns; c++) {
				put_value(b, &t->column[c], table_answer_cell(t, row, c));
			}
			strbuf_addc(b, ']');
		}
		strbuf_addc(b, '}');
		strbuf_finish(&key);
	}
	table_answer_free(t);
	view_tables_let_go(r); /* before their trace */
	if (trace) {
		view_trace_let_go(r->view, trace);
	}
	if (!t && r->status == 0) {
		view_fail(r, 400, "%s", why);
	}
	return t != NULL;
}

static int run_compare(struct view_request *r)
{
	strbuf_addc(&r->out, '{');
	if (!put_side(r, "a", "a", "a0", "a1", true) || !put_side(r, "b", "b", "b0", "b1", false)) {
		return r->status;
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_compare = {.keep = true,
					   .path = "compare",
					   .params = "a:0-1000000 b:0-1000000 a0:time a1:time b0:time b1:time "
						     "name:text group_by:text columns:text where:text",
					   .run = run_compare};
