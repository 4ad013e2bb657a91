/* SPDX-License-Identifier: MIT
 * cards: the first answers, chosen by what is in the trace.
 */
#include "tools/view/view.h"

#include "tools/view/view_child.h"

#include <stdlib.h>

static void begin_card(struct strbuf *b, const char *id, const char *title, const char *page)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "id", id);
	json_put_text(b, "title", title);
	json_put_text(b, "page", page);
	json_put_name(b, "rows");
	strbuf_addc(b, '[');
}

/* "teach": a command that brings what is missing; NULL: nothing is. */
static void end_card(struct strbuf *b, const char *teach, const char *record, const char *command)
{
	strbuf_addc(b, ']');
	json_put_text(b, "teach", teach);
	json_put_text(b, "record", record);
	json_put_text(b, "command", command);
	strbuf_addc(b, '}');
}

static void duration_text(double ns, char *out, size_t cap)
{
	if (ns < 1e3) {
		snprintf(out, cap, "%.0f ns", ns);
	} else if (ns < 1e6) {
		snprintf(out, cap, "%.3g \xc2\xb5s", ns / 1e3);
	} else if (ns < 1e9) {
		snprintf(out, cap, "%.3g ms", ns / 1e6);
	} else {
		snprintf(out, cap, "%.2f s", ns / 1e9);
	}
}

static void put_row(struct strbuf *b, const char *label, double share, const char *text, const char *filter)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "label", label);
	json_put_real(b, "share", share);
	json_put_text(b, "text", text);
	json_put_text(b, "filter", filter);
	strbuf_addc(b, '}');
}

/* ---- from tables ------------------------------------------------------------------------------------ */

static const struct table_value *cell(const struct table_answer *t, uint64_t row, const char *column)
{
	for (uint32_t c = 0; c < t->columns; c++) {
		if (strcmp(t->column[c].name, column) == 0) {
			return table_answer_cell(t, row, c);
		}
	}
	return NULL;
}
static double number(const struct table_answer *t, uint64_t row, const char *column)
{
	const struct table_value *v = cell(t, row, column);
	return !v                          ? 0
	       : v->kind == TABLE_INTEGER  ? (double)v->i
	       : v->kind == TABLE_UNSIGNED ? (double)v->u
	       : v->kind == TABLE_FLOAT    ? v->f
					   : 0;
}
static void text(const struct table_answer *t, uint64_t row, const char *column, char *out, size_t cap)
{
	const struct table_value *v = cell(t, row, column);
	if (v && v->kind == TABLE_TEXT) {
		snprintf(out, cap, "%.*s", (int)BASE_MIN(v->n, cap - 1), v->s);
	} else if (v && v->kind == TABLE_INTEGER) {
		snprintf(out, cap, "%lld", (long long)v->i);
	} else {
		out[0] = 0;
	}
}

static struct table_answer *ask(struct view_request *r, const struct view_sel *sel, const char *table, const char *by,
				const char *columns, const char *sort, uint64_t top)
{
	char why[600];
	struct table_ask q = {.table = table,
			      .group_by = by,
			      .columns = columns,
			      .sort = sort,
			      .top = top,
			      .from = sel->from,
			      .to = sel->to};
	return view_table_ask(r, sel->trace, &q, why, sizeof why);
}

static void card_cpu(struct view_request *r, const struct view_sel *sel, bool switches)
{
	struct strbuf *b = &r->out;
	char name[200], pid[24], label[260], said[200], filter[80], took[40];
	const char *sum = switches ? "sum(running)" : "count";
	struct table_answer *t = switches ? ask(r, sel, "cpu", "process_name,pid", "sum(running)", NULL, 6)
					  : ask(r, sel, "samples", "process_name,pid", "count", NULL, 6);
	struct table_answer *all = switches ? ask(r, sel, "cpu", "", "sum(running)", NULL, 1)
					    : ask(r, sel, "samples", "", "count", NULL, 1);
	double whole = all && all->rows ? number(all, 0, sum) : 0;
	begin_card(b, "cpu", "Who used the CPU", "cpu");
	for (uint64_t i = 0, shown = 0; t && i < t->rows && shown < 5; i++) {
		double n = number(t, i, sum);
		text(t, i, "process_name", name, sizeof name);
		text(t, i, "pid", pid, sizeof pid);
		if (n <= 0 || strcmp(pid, "0") == 0) {
			continue;
		}
		snprintf(label, sizeof label, "%s (%s)", name[0] ? name : "process", pid);
		if (switches) {
			duration_text(n, took, sizeof took);
			snprintf(said, sizeof said, "ran for %s", took);
		} else {
			snprintf(said, sizeof said, "%.0f sample%s", n, n == 1 ? "" : "s");
		}
		snprintf(filter, sizeof filter, "pid == %s", pid);
		put_row(b, label, whole > 0 ? n / whole : 0, said, filter);
		shown++;
	}
	end_card(b, NULL, NULL, switches ? "openetw report --table cpu" : "openetw report --table samples");
	table_answer_free(t);
	table_answer_free(all);
}

static void card_waits(struct view_request *r, const struct view_sel *sel, bool there)
{
	struct strbuf *b = &r->out;
	char name[200], tid[24], waker[200], label[260], said[300], filter[80], took[40];
	begin_card(b, "waits", "What waited, and on whom", "waits");
	struct table_answer *t = there ? ask(r, sel, "waits", "process_name,pid,tid,waker_process_name",
					     "sum(duration),count,max(duration)", NULL, 40)
				       : NULL;
	double most = t && t->rows ? number(t, 0, "sum(duration)") : 0;
	for (uint64_t i = 0, shown = 0; t && i < t->rows && shown < 5; i++) {
		text(t, i, "process_name", name, sizeof name);
		text(t, i, "tid", tid, sizeof tid);
		text(t, i, "waker_process_name", waker, sizeof waker);
		if (!waker[0] || strcmp(name, "System") == 0 || strcmp(name, "Idle") == 0) {
			continue; /* the kernel's own threads wait for work */
		}
		snprintf(label, sizeof label, "%s, thread %s", name, tid);
		duration_text(number(t, i, "sum(duration)"), took, sizeof took);
		snprintf(said, sizeof said, "%s in %.0f wait%s that %s ended", took, number(t, i, "count"),
			 number(t, i, "count") == 1 ? "" : "s", waker);
		snprintf(filter, sizeof filter, "tid == %s", tid);
		put_row(b, label, most > 0 ? number(t, i, "sum(duration)") / most : 0, said, filter);
		shown++;
	}
	end_card(b, there ? NULL : "No context switches were recorded.", there ? NULL : "openetw record --wait",
		 "openetw report --table waits");
	table_answer_free(t);
}

static void card_io(struct view_request *r, const struct view_sel *sel, bool there)
{
	struct strbuf *b = &r->out;
	char name[200], operation[40], layer[24], label[300], said[200], took[40];
	begin_card(b, "io", "Disks, files and network", "io");
	struct table_answer *t =
		there ? ask(r, sel, "io", "layer,operation,process_name", "sum(duration),count,p99(duration)", NULL, 5)
		      : NULL;
	double most = t && t->rows ? number(t, 0, "sum(duration)") : 0;
	for (uint64_t i = 0; t && i < t->rows; i++) {
		text(t, i, "process_name", name, sizeof name);
		text(t, i, "operation", operation, sizeof operation);
		text(t, i, "layer", layer, sizeof layer);
		snprintf(label, sizeof label, "%s: %s of %s", name[0] ? name : "nobody", operation, layer);
		duration_text(number(t, i, "p99(duration)"), took, sizeof took);
		snprintf(said, sizeof said, "%.0f, the slowest hundredth took %s or more", number(t, i, "count"), took);
		put_row(b, label, most > 0 ? number(t, i, "sum(duration)") / most : 0, said, NULL);
	}
	end_card(b, there ? NULL : "No operations of disks or files were recorded.",
		 there ? NULL : "openetw record --disk --file", "openetw report --table io");
	table_answer_free(t);
}

static void card_spans(struct view_request *r, const struct view_sel *sel, bool there)
{
	struct strbuf *b = &r->out;
	char name[200], provider[200], label[420], said[200], p99[40], worst[40];
	begin_card(b, "spans", "Slowest operations", "timeline");
	struct table_answer *t =
		there ? ask(r, sel, "spans", "provider,name", "max(duration),count(duration),p99(duration)", NULL, 5)
		      : NULL;
	double most = t && t->rows ? number(t, 0, "max(duration)") : 0;
	for (uint64_t i = 0; t && i < t->rows; i++) {
		text(t, i, "provider", provider, sizeof provider);
		text(t, i, "name", name, sizeof name);
		snprintf(label, sizeof label, "%s: %s", provider, name);
		duration_text(number(t, i, "p99(duration)"), p99, sizeof p99);
		duration_text(number(t, i, "max(duration)"), worst, sizeof worst);
		snprintf(said, sizeof said, "%.0f times, 99 %% within %s, at most %s", number(t, i, "count(duration)"),
			 p99, worst);
		put_row(b, label, most > 0 ? number(t, i, "max(duration)") / most : 0, said, NULL);
	}
	end_card(b, there ? NULL : "No event of this trace starts or stops anything (opcodes Start and Stop).", NULL,
		 "openetw report --table spans");
	table_answer_free(t);
}

static void card_net(struct view_request *r, const struct view_sel *sel)
{
	struct strbuf *b = &r->out;
	char name[200], remote[200], label[420], said[200];
	begin_card(b, "net", "Who talked to whom", "network");
	struct table_answer *t = ask(r, sel, "net", "process_name,remote", "sum(bytes),count", NULL, 5);
	double most = t && t->rows ? number(t, 0, "sum(bytes)") : 0;
	for (uint64_t i = 0; t && i < t->rows; i++) {
		text(t, i, "process_name", name, sizeof name);
		text(t, i, "remote", remote, sizeof remote);
		snprintf(label, sizeof label, "%s \xe2\x86\x94 %s", name[0] ? name : "nobody knows who", remote);
		snprintf(said, sizeof said, "%.0f bytes in %.0f operations", number(t, i, "sum(bytes)"),
			 number(t, i, "count"));
		put_row(b, label, most > 0 ? number(t, i, "sum(bytes)") / most : 0, said, NULL);
	}
	end_card(b, NULL, NULL, "openetw report --table net");
	table_answer_free(t);
}

/* ---- from events ------------------------------------------------------------------------------------ */

struct listing {
	struct strbuf *b;
	struct view_trace *trace;
	enum openetw_key by;
	uint64_t all;
};
static bool put_facet(void *context, const struct openetw_facet *f)
{
	struct listing *l = context;
	struct strbuf filter = {0};
	char said[64];
	if (f->id == UINT32_MAX) {
		return true;
	}
	view_filter_text(&filter, l->trace, l->by, NULL, f->id, f->text ? f->text : "");
	snprintf(said, sizeof said, "%llu event%s", (unsigned long long)f->count, PLURAL(f->count));
	put_row(l->b, f->text, l->all ? (double)f->count / (double)l->all : 0, said,
		filter.len && !filter.failed ? filter.s : NULL);
	strbuf_finish(&filter);
	return true;
}

static bool card_events(struct view_request *r, const struct view_sel *s, const char *id, const char *title,
			const char *filter, enum openetw_key by, const char *none)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct strbuf text = {0};
	struct view_sel of = *s;
	if (filter) {
		strbuf_addf(&text, s->filter ? "(%s) and (%s)" : "%s%s", s->filter ? s->filter : "", filter);
		of.filter = text.s;
	}
	struct openetw_query *q = view_query_take(r, &of);
	struct listing l = {&r->out, s->trace, by, 0};
	if (q && openetw_query_count(q, &a) == ERROR_SUCCESS) {
		begin_card(&r->out, id, title, "events");
		l.all = a.matched;
		openetw_query_facets(q, by, 5, put_facet, &l, NULL);
		end_card(&r->out, a.matched ? NULL : none, NULL, "openetw stats");
	}
	if (q) {
		view_query_give(r, &of, q);
	}
	strbuf_finish(&text);
	return q != NULL;
}

/* ---- what went wrong: the first lines of report ------------------------------------------------------ */

static void put_causes(struct view_request *r, const struct view_sel *s)
{
	struct strbuf out = {0}, err = {0};
	char from[40], to[40];
	bool part = view_text(r, "t0", NULL) || view_text(r, "t1", NULL);
	char *words[80] = {(char *)"openetw",      (char *)"report", (char *)"--json",
			   (char *)"--no-inlines", (char *)"--top",  (char *)"1"};
	int n = 6;
	if (part) {
		snprintf(from, sizeof from, "+%.9fs", (double)BASE_MAX(s->from, 0) / 1e9);
		snprintf(to, sizeof to, "+%.9fs", (double)BASE_MAX(s->to, 0) / 1e9);
		words[n++] = (char *)"--from";
		words[n++] = from;
		words[n++] = (char *)"--to";
		words[n++] = to;
	}
	words[n++] = (char *)"--";
	for (int i = 0; i < s->trace->count && n < 78; i++) {
		words[n++] = s->trace->files[i];
	}
	view_child_run(words, 4u << 20, &out, &err, view_request_gone, r);
	json_put_name(&r->out, "causes");
	strbuf_addc(&r->out, '[');
	for (const char *line = out.s; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t length = end ? (size_t)(end - line) : strlen(line);
		if (strncmp(line, "{\"table\":\"causes\"", 17) == 0 && line[length - 1] == '}') {
			json_put_comma(&r->out);
			strbuf_add(&r->out, line, length); /* our own program wrote it, with everything escaped */
		}
		line = end ? end + 1 : NULL;
	}
	strbuf_addc(&r->out, ']');
	strbuf_finish(&out);
	strbuf_finish(&err);
}

/* Events of a kind, by the beginnings of their names. */
static bool there_are(struct view_trace *t, const char *begin)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	for (uint32_t i = 0; i < a.types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(t->x, i, &type) == ERROR_SUCCESS && type.rows && type.classic &&
		    strncmp(type.name, begin, strlen(begin)) == 0) {
			return true;
		}
	}
	return false;
}
static bool spans_there(struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	for (uint32_t i = 0; i < a.types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(t->x, i, &type) == ERROR_SUCCESS && type.rows && !type.classic &&
		    type.opcode == 1) {
			return true;
		}
	}
	return false;
}

static int run(struct view_request *r)
{
	struct view_sel s;
	if (!view_sel_of(r, &s)) {
		return r->status;
	}
	if (strcmp(view_text(r, "part", "cards"), "causes") == 0) {
		strbuf_addc(&r->out, '{');
		put_causes(r, &s);
		strbuf_addc(&r->out, '}');
		return view_done(r);
	}
	bool switches = there_are(s.trace, "Thread/CSwitch"), samples = there_are(s.trace, "PerfInfo/Sample"),
	     io = there_are(s.trace, "DiskIo/") || there_are(s.trace, "FileIo/"),
	     net = there_are(s.trace, "TcpIp/") || there_are(s.trace, "UdpIp/"),
	     machine = switches || samples || io || net;
	strbuf_adds(&r->out, "{\"cards\":[");
	if (machine) {
		if (switches || samples) {
			card_cpu(r, &s, switches);
		}
		card_waits(r, &s, switches);
		card_io(r, &s, io);
		if (net) {
			card_net(r, &s);
		}
		if (r->making.len) { /* the page asks again: it costs no look at all events meanwhile */
			return view_done(r);
		}
	} else {
		card_events(r, &s, "providers", "Who wrote events", NULL, OPENETW_BY_PROVIDER, "There are no events.");
		bool spans = spans_there(s.trace);
		card_spans(r, &s, spans);
	}
	card_events(r, &s, "wrong", "What went wrong", "level in 1..3", OPENETW_BY_TYPE,
		    "No event is a warning or an error.");
	strbuf_adds(&r->out, "]}");
	return r->status == 0 || r->status == 200 ? view_done(r) : r->status;
}
const struct view_endpoint view_cards = {
	.keep = true, .path = "cards", .params = VIEW_SEL "part:text", .whole = true, .run = run};
