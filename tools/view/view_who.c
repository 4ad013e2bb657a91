/* SPDX-License-Identifier: MIT
 * threads and processes: who is in the trace; area: what they did in a time; counters: numbers over time.
 */
#include "tools/view/view.h"

#include <stdlib.h>
#include <strings.h>

#define WHO_MOST 200000u

/* How many events each has. */
struct counts {
	uint64_t *n;
	uint32_t most;
};
static bool take_count(void *context, const struct openetw_facet *f)
{
	struct counts *c = context;
	if (f->id < c->most) {
		c->n[f->id] = f->count;
	}
	return true;
}
static uint64_t *count_by(struct view_trace *t, enum openetw_key by, uint32_t most)
{
	struct counts c = {calloc(most + 1ull, sizeof *c.n), most};
	struct openetw_query *q = c.n ? openetw_query_create(t->x) : NULL;
	if (q) {
		openetw_query_facets(q, by, BASE_MAX(most, 1u), take_count, &c, NULL);
	}
	openetw_query_destroy(q);
	return c.n;
}

static void put_times(struct strbuf *b, int64_t start, int64_t end)
{
	json_put_name(b, "start");
	strbuf_addf(b, start == INT64_MIN ? "null" : "%lld", (long long)start);
	json_put_name(b, "end");
	strbuf_addf(b, end == INT64_MAX ? "null" : "%lld", (long long)end);
}

struct ranked {
	uint32_t id;
	uint64_t n;
};
static int by_n(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	return a->n != b->n ? (a->n < b->n ? 1 : -1) : (a->id > b->id) - (a->id < b->id);
}

static bool matches(const char *wanted, const struct openetw_index_thread *th, const struct openetw_index_process *p)
{
	char number[16];
	if (!wanted || !wanted[0]) {
		return true;
	}
	snprintf(number, sizeof number, "%u", th->tid);
	return strstr(number, wanted) == number || strcasestr(th->name, wanted) || strcasestr(p->name, wanted);
}

static int run_threads(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct view_trace *t = view_trace_of(r);
	const char *wanted = view_text(r, "q", NULL);
	uint32_t top = (uint32_t)view_number(r, "top", 5000), found = 0;
	if (!t) {
		return r->status;
	}
	view_trace_about(t, &a);
	uint32_t n = BASE_MIN(a.threads, WHO_MOST);
	uint64_t *events = count_by(t, OPENETW_BY_THREAD, n);
	struct ranked *all = calloc(n + 1ull, sizeof *all);
	if (!events || !all) {
		free(events);
		free(all);
		return view_fail(r, 500, "no memory");
	}
	for (uint32_t i = 1; i < n; i++) {
		OPENETW_SIZED(struct openetw_index_thread, th);
		OPENETW_SIZED(struct openetw_index_process, p);
		if (openetw_index_thread(t->x, i, &th) == ERROR_SUCCESS && th.tid != OPENETW_UNKNOWN_ID &&
		    openetw_index_process(t->x, th.process, &p) == ERROR_SUCCESS && matches(wanted, &th, &p)) {
			all[found++] = (struct ranked){i, events[i]};
		}
	}
	qsort(all, found, sizeof *all, by_n);
	strbuf_adds(&r->out, "{\"threads\":[");
	for (uint32_t k = 0; k < BASE_MIN(found, top); k++) {
		OPENETW_SIZED(struct openetw_index_thread, th);
		OPENETW_SIZED(struct openetw_index_process, p);
		openetw_index_thread(t->x, all[k].id, &th);
		openetw_index_process(t->x, th.process, &p);
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_count(&r->out, "thread", all[k].id);
		json_put_count(&r->out, "tid", th.tid);
		json_put_text(&r->out, "name", th.name);
		json_put_count(&r->out, "process", th.process);
		json_put_integer(&r->out, "pid", p.pid == OPENETW_UNKNOWN_ID ? -1 : (int64_t)p.pid);
		json_put_text(&r->out, "process_name", p.name);
		put_times(&r->out, th.start, th.end);
		json_put_count(&r->out, "events", all[k].n);
		strbuf_addc(&r->out, '}');
	}
	strbuf_addc(&r->out, ']');
	json_put_count(&r->out, "all", found);
	strbuf_addc(&r->out, '}');
	free(events);
	free(all);
	return view_done(r);
}
const struct view_endpoint view_threads = {
	.path = "threads", .params = VIEW_TRACE_PARAM "q:text top:1-200000", .run = run_threads};

static int run_processes(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	struct view_trace *t = view_trace_of(r);
	if (!t) {
		return r->status;
	}
	view_trace_about(t, &a);
	uint32_t n = BASE_MIN(a.processes, WHO_MOST);
	uint64_t *events = count_by(t, OPENETW_BY_PROCESS, n);
	if (!events) {
		return view_fail(r, 500, "no memory");
	}
	strbuf_adds(&r->out, "{\"processes\":[");
	for (uint32_t i = 1; i < n; i++) {
		OPENETW_SIZED(struct openetw_index_process, p);
		if (openetw_index_process(t->x, i, &p) != ERROR_SUCCESS || p.pid == OPENETW_UNKNOWN_ID) {
			continue;
		}
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_count(&r->out, "process", i);
		json_put_count(&r->out, "pid", p.pid);
		json_put_count(&r->out, "parent", p.parent_pid);
		json_put_text(&r->out, "name", p.name);
		json_put_text(&r->out, "command", p.command_line);
		json_put_text(&r->out, "container", p.container && p.container[0] ? p.container : NULL);
		put_times(&r->out, p.start, p.end);
		if (p.has_exit_code) {
			json_put_integer(&r->out, "exit_code", p.exit_code);
		}
		json_put_count(&r->out, "events", events[i]);
		strbuf_addc(&r->out, '}');
	}
	strbuf_adds(&r->out, "]}");
	free(events);
	return view_done(r);
}
const struct view_endpoint view_processes = {.path = "processes", .params = VIEW_TRACE_PARAM, .run = run_processes};

/* ---- area ------------------------------------------------------------------------------------------- */

struct sum {
	uint32_t thread;
	double running, ready, waiting;
	uint64_t switches;
};

/* The part of [start, start + length) that lies in the range. */
static double part_of(const struct view_sel *s, int64_t start, int64_t length)
{
	int64_t from = BASE_MAX(start, s->from), to = BASE_MIN(start + length, s->to);
	return to > from ? (double)(to - from) : 0;
}

/* A row of `cpu` tells of a switch to a thread: it waited, was ready, and ran from `start` on. */
static void add_rows(struct view_request *r, const struct table_view *w, const struct view_sel *s, struct sum *sums,
		     uint32_t n)
{
	int start = table_view_column(w, "start"), running = table_view_column(w, "running"),
	    ready = table_view_column(w, "ready"), waiting = table_view_column(w, "waiting"),
	    thread = table_view_column(w, "thread"), pid = table_view_column(w, "pid");
	for (uint64_t i = 0; i < table_view_rows(w) && (i % 65536 || !view_gone(r)); i++) {
		int64_t at = table_view_integer(w, start, i, 0), run = table_view_integer(w, running, i, -1),
			able = table_view_integer(w, ready, i, 0), wait = table_view_integer(w, waiting, i, 0);
		uint32_t id = (uint32_t)table_view_integer(w, thread, i, 0);
		if (id == 0 || id >= n || table_view_integer(w, pid, i, 1) == 0) { /* 0: the idle threads */
			continue;
		}
		run = BASE_MAX(run, 0); /* its end is not in the trace: nobody knows how long */
		sums[id].running += part_of(s, at, run);
		sums[id].ready += part_of(s, at - able, able);
		sums[id].waiting += part_of(s, at - able - wait, wait);
		sums[id].switches += at >= s->from && at <= s->to;
	}
}

static int by_running(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	return a->running != b->running   ? (a->running < b->running ? 1 : -1)
	       : a->waiting != b->waiting ? (a->waiting < b->waiting ? 1 : -1)
					  : (a->thread > b->thread) - (a->thread < b->thread);
}

static bool put_field(void *context, const struct openetw_group *g)
{
	struct strbuf *b = context;
	json_put_name(b, "field");
	strbuf_addc(b, '{');
	json_put_count(b, "values", g->values);
	json_put_real(b, "sum", g->sum);
	json_put_real(b, "min", g->min);
	json_put_real(b, "avg", g->average);
	json_put_real(b, "max", g->max);
	json_put_real(b, "p50", g->p50);
	json_put_real(b, "p99", g->p99);
	strbuf_addc(b, '}');
	return false;
}

static int run_area(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, answer);
	OPENETW_SIZED(struct openetw_index_about, a);
	char why[400] = "";
	struct view_sel s;
	static const enum openetw_key nothing = OPENETW_BY_NOTHING;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	strbuf_addc(&r->out, '{');
	uint32_t code = openetw_query_count(q, &answer);
	json_put_count(&r->out, "count", answer.matched);
	const char *field = view_text(r, "field", NULL);
	if (code == ERROR_SUCCESS && field && openetw_query_set_field(q, field) == ERROR_SUCCESS) {
		code = openetw_query_group(q, &nothing, 1, 1, put_field, &r->out, NULL);
	}
	view_query_give(r, &s, q);
	if (code != ERROR_SUCCESS) {
		return view_fail_code(r, code);
	}
	view_trace_about(s.trace, &a);
	struct sum *sums = calloc(a.threads + 1ull, sizeof *sums);
	for (uint32_t i = 0; sums && i < a.threads; i++) {
		sums[i].thread = i;
	}
	struct table_set *set = sums ? view_tables_with(r, s.trace, "cpu", why, sizeof why) : NULL;
	const struct table_view *w = set ? table_set_made(set, "cpu") : NULL;
	if (w) {
		add_rows(r, w, &s, sums, a.threads);
	}
	double running = 0, ready = 0, waiting = 0;
	for (uint32_t i = 0; sums && i < a.threads; i++) {
		running += sums[i].running;
		ready += sums[i].ready;
		waiting += sums[i].waiting;
	}
	json_put_real(&r->out, "running", running);
	json_put_real(&r->out, "ready", ready);
	json_put_real(&r->out, "waiting", waiting);
	json_put_name(&r->out, "rows");
	strbuf_addc(&r->out, '[');
	if (sums) {
		qsort(sums, a.threads, sizeof *sums, by_running);
	}
	for (uint32_t i = 0; sums && i < a.threads && i < 500; i++) {
		OPENETW_SIZED(struct openetw_index_thread, th);
		OPENETW_SIZED(struct openetw_index_process, p);
		if (sums[i].running + sums[i].ready + sums[i].waiting <= 0 ||
		    openetw_index_thread(s.trace->x, sums[i].thread, &th) != ERROR_SUCCESS) {
			continue;
		}
		bool known = openetw_index_process(s.trace->x, th.process, &p) == ERROR_SUCCESS;
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_count(&r->out, "thread", sums[i].thread);
		json_put_count(&r->out, "tid", th.tid);
		json_put_text(&r->out, "name", th.name);
		json_put_text(&r->out, "process", known ? p.name : "");
		json_put_real(&r->out, "running", sums[i].running);
		json_put_real(&r->out, "ready", sums[i].ready);
		json_put_real(&r->out, "waiting", sums[i].waiting);
		json_put_count(&r->out, "switches", sums[i].switches);
		strbuf_addc(&r->out, '}');
	}
	strbuf_adds(&r->out, "]}");
	free(sums);
	return view_done(r);
}
const struct view_endpoint view_area = {.path = "area", .params = VIEW_SEL "field:text", .run = run_area};

/* ---- counters --------------------------------------------------------------------------------------- */

/* A column of a table added up over time: its value, or 1, at the row's time; of an interval, spread over it. */
struct counter {
	const char *name, *table, *value, *unit;
	bool interval;         /* `value` is how long it lasts: the answer is how many there were at once */
	const char *only, *is; /* rows in which this column has this text */
};
static const struct counter counters[] = {
	{"cpu", "cpu", "running", "processors", true, NULL, NULL},
	{"ready", "cpu", "ready", "threads", true, NULL, NULL},
	{"disk_bytes", "io", "bytes", "bytes", false, "layer", "disk"},
	{"disk_queue", "io", "duration", "requests", true, "layer", "disk"},
	{"file_bytes", "io", "bytes", "bytes", false, "layer", "file"},
	{"net_bytes", "net", "bytes", "bytes", false, NULL, NULL},
	{"faults", "faults", NULL, "faults", false, NULL, NULL},
	{"syscalls", "syscalls", NULL, "calls", false, NULL, NULL},
};

static void spread(double *out, uint32_t px, const struct view_sel *s, double start, double length)
{
	double scale = (double)px / ((double)(s->to - s->from) + 1), from = (start - (double)s->from) * scale,
	       to = (start + length - (double)s->from) * scale;
	from = BASE_MAX(from, 0.0);
	to = BASE_MIN(to, (double)px);
	for (double at = from; at < to;) {
		uint32_t i = (uint32_t)at;
		double next = BASE_MIN(to, i + 1.0);
		if (i >= px || next <= at) {
			break;
		}
		out[i] += next - at;
		at = next;
	}
}

static void count_rows(struct view_request *r, const struct counter *c, const struct table_view *w,
		       const struct view_sel *s, double *out, uint32_t px)
{
	int time = table_view_column(w, "time"), value = c->value ? table_view_column(w, c->value) : -1,
	    only = c->only ? table_view_column(w, c->only) : -1, pid = table_view_column(w, "pid");
	time = time < 0 ? table_view_column(w, "start") : time;
	struct table_value v;
	for (uint64_t i = 0; i < table_view_rows(w) && (i % 65536 || !view_gone(r)); i++) {
		int64_t t = table_view_integer(w, time, i, INT64_MIN),
			n = c->value ? table_view_integer(w, value, i, 0) : 1;
		if (only >= 0 && !(table_view_value(w, only, i, &v) && v.kind == TABLE_TEXT && v.n == strlen(c->is) &&
				   memcmp(v.s, c->is, v.n) == 0)) {
			continue;
		}
		if (c->interval) {
			bool idle = strcmp(c->table, "cpu") == 0 && table_view_integer(w, pid, i, 1) == 0;
			bool before = strcmp(c->name, "ready") == 0;
			if (!idle && n > 0) {
				spread(out, px, s, (double)(before ? t - n : t), (double)n);
			}
		} else if (t >= s->from && t <= s->to) {
			double at = (double)(t - s->from) * px / ((double)(s->to - s->from) + 1);
			out[BASE_MIN((uint32_t)at, px - 1)] += (double)n;
		}
	}
}

static int run_counters(struct view_request *r)
{
	char why[400] = "";
	struct view_sel s;
	struct view_arrays a;
	uint32_t px = (uint32_t)view_number(r, "px", 1000);
	char *list = strdup(view_text(r, "list", "cpu")), *rest = list, *word;
	double *out = list && view_sel_of(r, &s) ? calloc(px, sizeof *out) : NULL;
	if (!out) {
		free(list);
		return r->status ? r->status : view_fail(r, 500, "no memory");
	}
	view_arrays_begin(&a);
	json_put_integer(&a.head, "t0", s.from);
	json_put_integer(&a.head, "t1", s.to);
	json_put_count(&a.head, "px", px);
	json_put_name(&a.head, "units");
	strbuf_addc(&a.head, '{');
	while ((word = strsep(&rest, ",")) != NULL) {
		for (size_t i = 0; i < BASE_ARRAY_LEN(counters); i++) {
			if (strcmp(counters[i].name, word) != 0) {
				continue;
			}
			struct table_set *set = view_tables_with(r, s.trace, counters[i].table, why, sizeof why);
			const struct table_view *w = set ? table_set_made(set, counters[i].table) : NULL;
			memset(out, 0, px * sizeof *out);
			if (w) {
				count_rows(r, &counters[i], w, &s, out, px);
			}
			json_put_text(&a.head, word, counters[i].unit);
			view_arrays_add(&a, word, "f64", out, px);
		}
	}
	strbuf_addc(&a.head, '}');
	free(out);
	free(list);
	return view_arrays_end(&a, r);
}
const struct view_endpoint view_counters = {
	.path = "counters", .whole = true, .params = VIEW_SEL "px:1-8192 list:text", .run = run_counters};
