/* SPDX-License-Identifier: MIT
 * lanes, spans, chain: what processors and threads did.
 */
#include "tools/view/view.h"

#include "base/map.h"
#include "tools/tables/kernel_event.h"

#include <stdlib.h>

#define LANES_MOST 512u

/* What a request asks for. */
struct lanes_asked {
	uint32_t px, count, ids[LANES_MOST];
	enum openetw_lanes kind;
	enum openetw_spans spans;
};

/* Arrays of one answer, a value for each run. */
struct runs {
	uint32_t *lane, *first, *pixels, *intervals, *thread, *cpu, *reason;
	uint8_t *doing, *waker;
	float *coverage;
	double *from, *to;
	uint32_t count, cap;
	bool failed;
};

#define GROW(x, member, n)                                                     \
	({                                                                     \
		void *more_ = realloc((x)->member, (n) * sizeof *(x)->member); \
		if (more_) {                                                   \
			(x)->member = more_;                                   \
		}                                                              \
		more_ != NULL;                                                 \
	})

static bool runs_room(struct runs *x)
{
	if (x->count < x->cap) {
		return true;
	}
	uint32_t n = x->cap ? x->cap * 2 : 1024;
	bool ok = GROW(x, lane, n) && GROW(x, first, n) && GROW(x, pixels, n) && GROW(x, intervals, n) &&
		  GROW(x, thread, n) && GROW(x, cpu, n) && GROW(x, reason, n) && GROW(x, doing, n) &&
		  GROW(x, waker, n) && GROW(x, coverage, n) && GROW(x, from, n) && GROW(x, to, n);
	x->cap = ok ? n : x->cap;
	x->failed |= !ok;
	return ok;
}

static void runs_free(struct runs *x)
{
	free(x->lane);
	free(x->first);
	free(x->pixels);
	free(x->intervals);
	free(x->thread);
	free(x->cpu);
	free(x->reason);
	free(x->doing);
	free(x->waker);
	free(x->coverage);
	free(x->from);
	free(x->to);
}

static bool take_run(void *context, const struct openetw_lane_run *r)
{
	struct runs *x = context;
	if (!runs_room(x)) {
		return false;
	}
	uint32_t i = x->count++;
	x->lane[i] = r->lane;
	x->first[i] = r->first;
	x->pixels[i] = r->pixels;
	x->intervals[i] = (uint32_t)BASE_MIN(r->intervals, (uint64_t)UINT32_MAX);
	x->thread[i] = r->thread;
	x->cpu[i] = r->cpu;
	x->reason[i] = r->reason;
	x->doing[i] = (uint8_t)r->doing;
	x->waker[i] = (uint8_t)r->waker;
	x->coverage[i] = (float)r->coverage;
	x->from[i] = (double)r->from;
	x->to[i] = r->to == INT64_MAX ? 9e18 : (double)r->to;
	return true;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void thread_name(struct view_trace *t, uint32_t thread, char *out, size_t cap)
{
	OPENETW_SIZED(struct openetw_index_thread, th);
	OPENETW_SIZED(struct openetw_index_process, p);
	if (openetw_index_thread(t->x, thread, &th) != ERROR_SUCCESS || thread == 0) {
		snprintf(out, cap, "unknown");
		return;
	}
	bool known = openetw_index_process(t->x, th.process, &p) == ERROR_SUCCESS && p.name[0];
	snprintf(out, cap, "%s%s%.200s (%u)", th.name[0] ? th.name : "", th.name[0] ? " of " : "",
		 known ? p.name : "process", th.tid);
}

static void put_names(struct strbuf *b, struct view_trace *t, const struct runs *x)
{
	struct map told = {0};
	char name[500], id[16];
	json_put_name(b, "names");
	strbuf_addc(b, '{');
	for (uint32_t i = 0; i < x->count; i++) {
		OPENETW_SIZED(struct openetw_index_thread, th);
		OPENETW_SIZED(struct openetw_index_process, p);
		uint32_t thread = x->thread[i];
		if (thread == 0 || map_find(&told, thread) != MAP_NONE || map_add(&told, thread, 1) < 0) {
			continue;
		}
		thread_name(t, thread, name, sizeof name);
		snprintf(id, sizeof id, "%u", thread);
		json_put_name(b, id);
		strbuf_addc(b, '[');
		json_put_text(b, NULL, name);
		bool known = openetw_index_thread(t->x, thread, &th) == ERROR_SUCCESS &&
			     openetw_index_process(t->x, th.process, &p) == ERROR_SUCCESS;
		json_put_text(b, NULL, known ? p.name : "");
		json_put_count(b, NULL, known ? th.process : 0);
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, '}');
	map_free(&told);
}

static void put_words(struct strbuf *b)
{
	strbuf_adds(b, ",\"doing\":[\"unknown\",\"running\",\"ready\",\"waiting\",\"idle\"]"
		       ",\"wakers\":[\"unknown\",\"a thread\",\"an interrupt\",\"a softirq\",\"a timer\",\"a "
		       "DPC\",\"preempted\"]");
	json_put_name(b, "reasons");
	strbuf_addc(b, '[');
	for (unsigned i = 0; i < 40; i++) {
		json_put_text(b, NULL, kevent_wait_reason((uint8_t)i));
	}
	strbuf_addc(b, ']');
}

static void put_thread_lane(struct strbuf *b, struct view_trace *t, uint32_t thread)
{
	OPENETW_SIZED(struct openetw_index_thread, th);
	OPENETW_SIZED(struct openetw_index_process, p);
	bool known = openetw_index_thread(t->x, thread, &th) == ERROR_SUCCESS;
	bool of = known && openetw_index_process(t->x, th.process, &p) == ERROR_SUCCESS;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "kind", "thread");
	json_put_count(b, "id", thread);
	json_put_count(b, "tid", known ? th.tid : 0);
	json_put_text(b, "name", known ? th.name : "");
	json_put_text(b, "process", of ? p.name : "");
	json_put_count(b, "pid", of && p.pid != OPENETW_UNKNOWN_ID ? p.pid : 0);
	strbuf_addc(b, '}');
}

/* ---- lanes ------------------------------------------------------------------------------------------ */

static bool lanes_of(struct view_request *r, struct view_trace *t, const char *list, enum openetw_lanes *kind,
		     uint32_t *ids, uint32_t *ret_count)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	if (strcmp(list, "cpus") == 0) {
		*kind = OPENETW_LANES_CPUS;
		*ret_count = 0;
		for (uint32_t f = 0; f < a.files; f++) {
			for (uint32_t c = 0; c < a.processors && *ret_count < LANES_MOST; c++) {
				ids[(*ret_count)++] = OPENETW_CPU_OF(f, c);
			}
		}
		return true;
	}
	*kind = OPENETW_LANES_THREADS;
	if (strncmp(list, "thread:", 7) != 0) {
		view_fail(r, 400, "list is \"cpus\" or \"thread:N,N\"");
		return false;
	}
	return view_numbers(r, list + 7, ids, LANES_MOST, ret_count);
}

/* The head of an answer up to its list of lanes. */
static void begin_head(struct view_arrays *a, const struct view_sel *s, uint32_t px)
{
	view_arrays_begin(a);
	json_put_integer(&a->head, "t0", s->from);
	json_put_integer(&a->head, "t1", s->to);
	json_put_count(&a->head, "px", px);
	json_put_name(&a->head, "lanes");
	strbuf_addc(&a->head, '[');
}

/* The arrays that lanes and spans have in common. */
static void add_places(struct view_arrays *a, const struct runs *x)
{
	a->data.failed |= x->failed;
	view_arrays_add(a, "lane", "u32", x->lane, x->count);
	view_arrays_add(a, "first", "u32", x->first, x->count);
	view_arrays_add(a, "pixels", "u32", x->pixels, x->count);
	view_arrays_add(a, "coverage", "f32", x->coverage, x->count);
	view_arrays_add(a, "from", "f64", x->from, x->count);
	view_arrays_add(a, "to", "f64", x->to, x->count);
}

/* Asks with a query of the selection. False: `status`, and the runs are freed. */
typedef uint32_t ask_fn(struct openetw_query *q, const struct view_sel *s, const struct lanes_asked *k, struct runs *x,
			struct openetw_answer *answer);
static bool ask(struct view_request *r, const struct view_sel *s, const struct lanes_asked *k, ask_fn *fn,
		struct runs *x, struct openetw_answer *answer)
{
	struct openetw_query *q = view_query_take(r, s);
	if (!q) {
		return false;
	}
	uint32_t code = k->count ? fn(q, s, k, x, answer) : ERROR_SUCCESS;
	view_query_give(r, s, q);
	if (code != ERROR_SUCCESS) {
		runs_free(x);
		view_fail_code(r, code);
	}
	return code == ERROR_SUCCESS;
}

static uint32_t ask_lanes(struct openetw_query *q, const struct view_sel *s, const struct lanes_asked *k,
			  struct runs *x, struct openetw_answer *answer)
{
	return openetw_query_lanes(q, k->kind, k->ids, k->count, s->from, s->to + 1, k->px, take_run, x, answer);
}

static int run_lanes(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, answer);
	struct view_sel s;
	struct runs x = {0};
	struct view_arrays a;
	struct lanes_asked k = {.px = (uint32_t)view_number(r, "px", 1000)};
	if (!view_sel_of(r, &s) || !lanes_of(r, s.trace, view_text(r, "list", "cpus"), &k.kind, k.ids, &k.count) ||
	    !ask(r, &s, &k, ask_lanes, &x, &answer)) {
		return r->status;
	}
	begin_head(&a, &s, k.px);
	for (uint32_t i = 0; i < k.count; i++) {
		if (k.kind == OPENETW_LANES_THREADS) {
			put_thread_lane(&a.head, s.trace, k.ids[i]);
		} else {
			json_put_comma(&a.head);
			strbuf_addc(&a.head, '{');
			json_put_text(&a.head, "kind", "cpu");
			json_put_count(&a.head, "id", k.ids[i]);
			json_put_count(&a.head, "cpu", k.ids[i] & 0xFFFF);
			json_put_count(&a.head, "file", k.ids[i] >> 16);
			strbuf_addc(&a.head, '}');
		}
	}
	strbuf_addc(&a.head, ']');
	put_words(&a.head);
	put_names(&a.head, s.trace, &x);
	view_put_answer(&a.head, &answer);
	add_places(&a, &x);
	view_arrays_add(&a, "doing", "u8", x.doing, x.count);
	view_arrays_add(&a, "intervals", "u32", x.intervals, x.count);
	view_arrays_add(&a, "thread", "u32", x.thread, x.count);
	view_arrays_add(&a, "cpu", "u32", x.cpu, x.count);
	view_arrays_add(&a, "reason", "u32", x.reason, x.count);
	view_arrays_add(&a, "waker", "u8", x.waker, x.count);
	runs_free(&x);
	return view_arrays_end(&a, r);
}
const struct view_endpoint view_lanes = {.path = "lanes", .params = VIEW_SEL "px:1-8192 list:text", .run = run_lanes};

/* ---- spans ------------------------------------------------------------------------------------------ */

static bool take_span(void *context, const struct openetw_span *s)
{
	struct runs *x = context;
	if (!runs_room(x)) {
		return false;
	}
	uint32_t i = x->count++;
	x->lane[i] = s->lane;
	x->first[i] = s->first;
	x->pixels[i] = s->pixels;
	x->intervals[i] = (uint32_t)BASE_MIN(s->spans, (uint64_t)UINT32_MAX);
	x->thread[i] = s->type;
	x->cpu[i] = s->level;
	x->coverage[i] = (float)s->coverage;
	x->from[i] = (double)s->from;
	x->to[i] = s->to == INT64_MAX ? 9e18 : (double)s->to;
	return true;
}

static uint32_t ask_spans(struct openetw_query *q, const struct view_sel *s, const struct lanes_asked *k,
			  struct runs *x, struct openetw_answer *answer)
{
	return openetw_query_spans(q, k->spans, k->ids, k->count, s->from, s->to + 1, k->px, take_span, x, answer);
}

static int run_spans(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, answer);
	struct view_sel s;
	struct runs x = {0};
	struct view_arrays a;
	struct map told = {0};
	struct lanes_asked k = {.px = (uint32_t)view_number(r, "px", 1000)};
	const char *kind = view_text(r, "kind", "events");
	k.spans = strcmp(kind, "disks") == 0   ? OPENETW_SPANS_DISKS
		  : strcmp(kind, "files") == 0 ? OPENETW_SPANS_FILES
					       : OPENETW_SPANS_EVENTS;
	if (!view_sel_of(r, &s) || !view_numbers(r, view_text(r, "threads", ""), k.ids, LANES_MOST, &k.count) ||
	    !ask(r, &s, &k, ask_spans, &x, &answer)) {
		return r->status;
	}
	begin_head(&a, &s, k.px);
	for (uint32_t i = 0; i < k.count; i++) {
		put_thread_lane(&a.head, s.trace, k.ids[i]);
	}
	strbuf_addc(&a.head, ']');
	json_put_name(&a.head, "types");
	strbuf_addc(&a.head, '{');
	for (uint32_t i = 0; i < x.count; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		char id[16];
		if (map_find(&told, x.thread[i]) == MAP_NONE && map_add(&told, x.thread[i], 1) == 0 &&
		    openetw_index_type(s.trace->x, x.thread[i], &type) == ERROR_SUCCESS) {
			snprintf(id, sizeof id, "%u", x.thread[i]);
			json_put_name(&a.head, id);
			strbuf_addc(&a.head, '[');
			json_put_text(&a.head, NULL, type.name);
			json_put_text(&a.head, NULL, type.provider);
			strbuf_addc(&a.head, ']');
		}
	}
	strbuf_addc(&a.head, '}');
	map_free(&told);
	view_put_answer(&a.head, &answer);
	add_places(&a, &x);
	view_arrays_add(&a, "level", "u32", x.cpu, x.count);
	view_arrays_add(&a, "type", "u32", x.thread, x.count);
	view_arrays_add(&a, "spans", "u32", x.intervals, x.count);
	runs_free(&x);
	return view_arrays_end(&a, r);
}
const struct view_endpoint view_spans = {
	.path = "spans", .params = VIEW_SEL "px:1-8192 kind:text threads:text", .run = run_spans};

/* ---- the chain of wakers ----------------------------------------------------------------------------- */

struct chain {
	struct strbuf *b;
	struct view_trace *trace;
};
static void put_end(struct strbuf *b, const char *name, int64_t time)
{
	if (time == INT64_MAX) {
		json_put_text(b, name, NULL);
	} else {
		json_put_integer(b, name, time);
	}
}
static bool put_link(void *context, const struct openetw_link *l)
{
	static const char *const causes[] = {"next", "ran", "outside", "unknown", "waits", "more"};
	static const char *const wakers[] = {"unknown", "thread", "interrupt", "softirq", "timer", "DPC", "preempted"};
	struct chain *c = context;
	struct strbuf *b = c->b;
	OPENETW_SIZED(struct openetw_index_thread, th);
	char name[500];
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "thread", l->thread);
	thread_name(c->trace, l->thread, name, sizeof name);
	json_put_text(b, "name", name);
	if (openetw_index_thread(c->trace->x, l->thread, &th) == ERROR_SUCCESS) {
		json_put_count(b, "tid", th.tid);
	}
	json_put_integer(b, "from", l->from);
	put_end(b, "ready", l->ready);
	put_end(b, "to", l->to);
	json_put_text(b, "reason", kevent_wait_reason((uint8_t)BASE_MIN(l->reason, 255u)));
	json_put_text(b, "waker", wakers[BASE_MIN((unsigned)l->waker, 6u)]);
	json_put_count(b, "waker_thread", l->waker_thread);
	if (l->waker_thread) {
		thread_name(c->trace, l->waker_thread, name, sizeof name);
		json_put_text(b, "waker_name", name);
	}
	json_put_text(b, "cause", causes[BASE_MIN((unsigned)l->cause, 5u)]);
	strbuf_addc(b, '}');
	return true;
}

static int run_chain(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, answer);
	struct view_sel s;
	struct openetw_query *q = view_sel_of(r, &s) ? view_query_take(r, &s) : NULL;
	if (!q) {
		return r->status;
	}
	struct chain c = {&r->out, s.trace};
	strbuf_adds(&r->out, "{\"links\":[");
	uint32_t code = openetw_query_chain(q, (uint32_t)view_number(r, "thread", 0), view_time(r, "t", 0), 64,
					    put_link, &c, &answer);
	strbuf_addc(&r->out, ']');
	view_put_answer(&r->out, &answer);
	strbuf_addc(&r->out, '}');
	view_query_give(r, &s, q);
	if (code == ERROR_NOT_FOUND) {
		return view_fail(r, 404, "nobody saw this thread wait before that time");
	}
	return code == ERROR_SUCCESS ? view_done(r) : view_fail_code(r, code);
}
const struct view_endpoint view_chain = {
	.path = "chain", .params = VIEW_TRACE_PARAM "thread:0-4294967295 t:time", .run = run_chain};
