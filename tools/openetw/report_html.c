/* SPDX-License-Identifier: MIT */
#include "tools/openetw/report_html.h"

#include "tools/common/output.h"
#include "tools/tables/table_show.h"
#include "xml/xml.h"

#include <stdlib.h>

#define SHOWN 20

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n";
static const char style[] =
	"<style>\n"
	"body { font: 14px/1.45 system-ui, sans-serif; color: #1c2733; background: #fff; margin: 24px auto; max-width: "
	"1240px; padding: 0 16px; }\n"
	"h1 { font-size: 22px; margin: 0 0 4px; overflow-wrap: anywhere; }\n"
	"h2 { font-size: 17px; margin: 32px 0 6px; }\n"
	"p { margin: 4px 0 8px; color: #54616e; }\n"
	"nav a { margin-right: 12px; color: #1f5fa8; }\n"
	"svg { width: 100%; height: auto; display: block; }\n"
	"svg text { font: 11px system-ui, sans-serif; fill: #1c2733; }\n"
	"svg .axis { fill: #54616e; }\n"
	"div.wide { overflow-x: auto; }\n"
	"table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
	"th, td { padding: 3px 10px 3px 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e4e9ee; }\n"
	"td { max-width: 520px; overflow-wrap: anywhere; }\n"
	"th { font-weight: 600; white-space: nowrap; border-bottom-color: #9aa7b4; }\n"
	"th.n, td.n { text-align: right; white-space: nowrap; }\n"
	"</style>\n";

void html_text(struct html_part *p, const char *s, size_t n)
{
	strbuf_clear(&p->text);
	xml_escape(&p->text, s, n);
	fwrite(p->text.s ? p->text.s : "", 1, p->text.len, p->f);
}

void html_string(struct html_part *p, const char *s)
{
	html_text(p, s, strlen(s));
}

/* ---- tables --------------------------------------------------------------------------------------- */

static const struct {
	const char *table, *title, *group_by, *columns, *filter;
} shown[] = {
	{"cpu", "Processors by process (switches)", NULL, NULL, "not pid == 0"},
	{"samples", "Processors by process (samples)", NULL, NULL, "idle == false"},
	{"samples", "Functions by their own samples", "module,function", "count", "idle == false"},
	{"waits", "Waits by process", "process_name,pid,reason",
	 "sum(duration),count,p50(duration),p99(duration),max(duration)", "kind == wait and not pid == 0"},
	{"waits", "Who ended waits", "process_name,woken_by,waker_process_name", "sum(duration),count,max(duration)",
	 "kind == wait and not pid == 0"},
	{"io", "Disks and files", NULL, NULL, NULL},
	{"files", "Files", NULL, NULL, NULL},
	{"net", "Connections", NULL, NULL, NULL},
	{"faults", "Page faults", NULL, NULL, NULL},
	{"memory", "Memory taken and given back", NULL, NULL, NULL},
	{"syscalls", "System calls", NULL, NULL, NULL},
	{"dpc_isr", "Interrupts and deferred calls", NULL, NULL, NULL},
	{"power", "Idle states and speeds of processors", NULL, NULL, NULL},
	{"lifetimes", "Processes that began or ended", NULL, NULL, NULL},
	{"gc", "Garbage collections", NULL, NULL, NULL},
	{"jit", "Methods compiled while the program ran", NULL, NULL, NULL},
	{"spans", "Starts and stops of providers", NULL, NULL, NULL},
	{"events", "Events", NULL, NULL, NULL},
	{"lost", "What was lost", NULL, NULL, NULL},
	{"trace", "The trace", NULL, NULL, NULL},
};

static void put_table(struct html_part *p, const struct table_answer *r)
{
	char heading[170];
	struct strbuf value = {0};
	fputs("<div class=\"wide\"><table>\n<tr>", p->f);
	for (uint32_t i = 0; i < r->columns; i++) {
		table_show_heading(&r->column[i], heading, sizeof heading);
		fputs(r->column[i].number ? "<th class=\"n\">" : "<th>", p->f);
		html_string(p, heading);
		fputs("</th>", p->f);
	}
	fputs("</tr>\n", p->f);
	for (uint64_t row = 0; row < r->rows; row++) {
		fputs("<tr>", p->f);
		for (uint32_t i = 0; i < r->columns; i++) {
			strbuf_clear(&value);
			table_show_value(&r->column[i], table_answer_cell(r, row, i), &value);
			fputs(r->column[i].number ? "<td class=\"n\">" : "<td>", p->f);
			html_text(p, value.s ? value.s : "", value.len);
			fputs("</td>", p->f);
		}
		fputs("</tr>\n", p->f);
	}
	fputs("</table></div>\n", p->f);
	if (r->all > r->rows) {
		fprintf(p->f, "<p>… and %llu more</p>\n", (unsigned long long)(r->all - r->rows));
	}
	strbuf_finish(&value);
}

/* A table that has no such column is shown whole. */
static void narrow(const struct html_part *p, const struct table_view *v, struct table_ask *ask)
{
	if (table_view_column(v, "time") >= 0 || table_view_column(v, "start") >= 0) {
		ask->from = p->from;
		ask->to = p->to;
	}
	if (table_view_column(v, "pid") >= 0 || table_view_column(v, "process_name") >= 0) {
		ask->process = p->process;
		ask->process_count = p->process_count;
	}
}

static bool put_tables(struct html_part *p)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(shown); i++) {
		struct table_ask ask = {.table = shown[i].table,
					.group_by = shown[i].group_by,
					.columns = shown[i].columns,
					.top = p->top,
					.from = INT64_MIN,
					.to = INT64_MAX};
		struct filter_expr *filter = NULL;
		struct diag d = {0};
		const struct table_view *v = table_set_get(p->set, ask.table, p->why, sizeof p->why);
		if (!v) {
			return false;
		}
		if (shown[i].filter && filter_expr_parse(shown[i].filter, &filter, &d) < 0) {
			snprintf(p->why, sizeof p->why, "no memory");
			return false;
		}
		narrow(p, v, &ask);
		ask.filter = filter;
		struct table_answer *r = table_ask(p->set, &ask, p->why, sizeof p->why);
		filter_expr_destroy(filter);
		if (!r) {
			return false;
		}
		if (r->rows) {
			fprintf(p->f, "<h2 id=\"t%zu\">", i);
			html_string(p, shown[i].title);
			fputs("</h2>\n", p->f);
			put_table(p, r);
		}
		table_answer_free(r);
	}
	return true;
}

/* ---- the page ------------------------------------------------------------------------------------- */

static void put_names(struct html_part *p, const struct cli_args *a)
{
	for (int i = 0; i < a->count; i++) {
		const char *slash = strrchr(a->words[i], '/');
		fputs(i ? ", " : "", p->f);
		html_string(p, slash ? slash + 1 : a->words[i]);
	}
}

static void put_summary(struct html_part *p)
{
	const struct table_view *v = table_set_get(p->set, "trace", p->why, sizeof p->why);
	fputs("<p>", p->f);
	for (uint64_t row = 0; v && row < table_view_rows(v); row++) {
		struct table_value when;
		bool known = table_view_value(v, table_view_column(v, "start_time"), row, &when);
		if (known && when.kind == TABLE_TEXT) {
			html_text(p, when.s, when.n);
		}
		fprintf(p->f, ", %lld events, %lld processors; lost: %lld events, %lld buffers<br>\n",
			(long long)table_view_integer(v, table_view_column(v, "events"), row, 0),
			(long long)table_view_integer(v, table_view_column(v, "processors"), row, 0),
			(long long)table_view_integer(v, table_view_column(v, "events_lost"), row, 0),
			(long long)table_view_integer(v, table_view_column(v, "buffers_lost"), row, 0));
	}
	fprintf(p->f, "from %.6f s to %.6f s after the start</p>\n", (double)p->from / 1e9, (double)p->to / 1e9);
}

/* The first and the last event, unless somebody asked for less. */
static bool take_range(struct html_part *p, const struct table_ask *asked)
{
	const struct table_view *v = table_set_get(p->set, "trace", p->why, sizeof p->why);
	int64_t from = INT64_MAX, to = INT64_MIN;
	for (uint64_t row = 0; v && row < table_view_rows(v); row++) {
		from = BASE_MIN(from, table_view_integer(v, table_view_column(v, "first"), row, INT64_MAX));
		to = BASE_MAX(to, table_view_integer(v, table_view_column(v, "last"), row, INT64_MIN));
	}
	p->from = BASE_MAX(from > to ? 0 : from, asked->from);
	p->to = BASE_MIN(from > to ? 1 : to, asked->to);
	p->to = BASE_MAX(p->to, p->from);
	return v != NULL;
}

static bool put_page(struct html_part *p, const struct cli_args *a)
{
	fputs(head, p->f);
	fputs("<title>", p->f);
	put_names(p, a);
	fputs("</title>\n", p->f);
	fputs(style, p->f);
	fputs("</head>\n<body>\n<h1>", p->f);
	put_names(p, a);
	fputs("</h1>\n", p->f);
	put_summary(p);
	if (!html_timeline(p) || !html_flames(p) || !put_tables(p)) {
		return false;
	}
	fputs("</body>\n</html>\n", p->f);
	if (p->text.failed) {
		snprintf(p->why, sizeof p->why, "no memory");
	}
	return !p->text.failed;
}

static int write_page(const struct cli_args *a, const struct report_options *o, struct table_set *s)
{
	struct table_options tables = o->tables;
	struct table_question q;
	tables.table = "trace"; /* for times and processes alone */
	int status = table_question_make(a, s, &tables, NULL, &o->pid, 0, &q);
	struct cli_output *out = status == CLI_OK ? cli_output_open(a, o->html, true) : NULL;
	struct html_part p = {.f = cli_output_file(out),
			      .set = s,
			      .process_count = q.ask.process_count,
			      .process = q.ask.process,
			      .top = o->top ? o->top : SHOWN};
	bool ok = out != NULL;
	if (ok && (!take_range(&p, &q.ask) || !put_page(&p, a))) {
		cli_tell(a, "%s", p.why);
		ok = false;
	}
	if (out) {
		int closed = cli_output_close(out, ok);
		ok = ok && closed == CLI_OK;
	}
	strbuf_finish(&p.text);
	table_question_finish(&q);
	return status != CLI_OK ? status : ok ? CLI_OK : CLI_FAILED;
}

int report_html(const struct cli_args *a, const struct report_options *o)
{
	if (a->count == 0) {
		return cli_usage(a, "which file?");
	}
	cli_signals_catch();
	struct table_set *s = table_set_open(a, a->count, a->words);
	int status = s ? write_page(a, o, s) : CLI_FAILED;
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
	}
	cli_signals_restore();
	table_set_close(s);
	return status;
}
