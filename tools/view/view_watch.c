/* SPDX-License-Identifier: MIT */
#include "tools/view/view_watch.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "tools/view/view_live.h"

#include <openetw/error.h>

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#define STEP_MS    250
#define AGAIN_NS   1000000000ull /* between two looks for a session that has ended */
#define LATE_NS    2000000000ll  /* events may come so late */
#define GRACE_NS   1000000000ll  /* after what is to be kept, so that late ones are in it */
#define FILES_MOST 1000
#define BYTES_MOST (1ll << 40)

/* ---- rules ------------------------------------------------------------------------------------------ */

struct first {
	uint64_t next_row;
	int64_t kept_until;
	int64_t at; /* INT64_MIN: none */
};
static bool look_at(void *context, const struct openetw_row *row)
{
	struct first *f = context;
	if (row->row >= f->next_row && row->time > f->kept_until) {
		f->at = row->time;
		return false;
	}
	return true;
}

/* When the first new event came that fits. */
static int64_t find(struct view_trace *t, const struct view_rule *r)
{
	struct first f = {.next_row = r->next_row, .kept_until = r->kept_until, .at = INT64_MIN};
	int64_t from = r->looked_until < INT64_MIN + LATE_NS ? INT64_MIN : r->looked_until - LATE_NS;
	struct openetw_query *q = openetw_query_create(t->x);
	if (q && openetw_query_set_filter(q, r->filter) == ERROR_SUCCESS) {
		OPENETW_SIZED(struct openetw_answer, a);
		/* From the newest event of last time on, less what may be late: what was looked at is passed over by number. */
		openetw_query_set_range(q, from, INT64_MAX);
		openetw_query_rows(q, 0, UINT64_MAX, look_at, &f, &a);
	}
	openetw_query_destroy(q);
	return f.at;
}

static bool name_file(const struct view *v, const struct view_rule *r, char *out, size_t cap)
{
	char plain[4400];
	view_new_file(v, "rule", plain, sizeof plain);
	const char *base = strrchr(plain, '/');
	for (unsigned i = 1; i < 10000; i++) {
		struct stat st;
		size_t n = strlen(base) - 4; /* without ".etl" */
		int length = i == 1 ? snprintf(out, cap, "%s%s", r->folder, base)
				    : snprintf(out, cap, "%s%.*s-%u.etl", r->folder, (int)n, base, i);
		if (length < (int)cap && lstat(out, &st) != 0) {
			return true;
		}
	}
	return false;
}

static void keep(struct view *v, struct view_trace *t, struct view_rule *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	struct stat st;
	struct openetw_query *q = openetw_query_create(t->x);
	uint32_t code = q ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
	if (q && !name_file(v, r, r->last, sizeof r->last)) {
		code = ERROR_FILE_EXISTS;
	} else if (q) {
		openetw_query_set_range(q, r->at - r->before, r->at + r->after);
		code = openetw_query_save(q, r->last, &a);
	}
	openetw_query_destroy(q);
	r->kept_until = r->at + r->after;
	r->at = INT64_MIN;
	if (code != ERROR_SUCCESS || stat(r->last, &st) != 0) {
		const char *said = openetw_last_error_text();
		snprintf(r->problem, sizeof r->problem, "%s: %s", r->folder, said[0] ? said : openetw_error_text(code));
		return;
	}
	r->files++;
	r->bytes += (uint64_t)st.st_size;
	if (r->files >= r->files_most || r->bytes >= r->bytes_most) {
		snprintf(r->problem, sizeof r->problem, "It has written as much as it may.");
	}
}

/* Under the lock of rules. True: a file was written, and there may be more to keep. */
static bool apply_rule(struct view *v, struct view_trace *t, struct view_rule *r, const struct openetw_live_progress *p)
{
	struct view_live *l = t->live;
	if (r->problem[0]) {
		return false;
	}
	if (r->at == INT64_MIN && p->rows > r->next_row) {
		r->at = find(t, r);
		if (r->at != INT64_MIN) {
			l->rule_changes++; /* those behind it are looked at when it is kept */
		} else {
			r->next_row = p->rows;
			r->looked_until = p->newest;
		}
	}
	/* By the clock as well: after the event nothing more may happen. */
	if (r->at == INT64_MIN || (p->newest + p->lag <= r->at + r->after + GRACE_NS && !p->ended)) {
		return false;
	}
	keep(v, t, r);
	l->rule_changes++;
	return true;
}

static void apply_rules(struct view *v, struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	struct view_live *l = t->live;
	if (openetw_index_live_progress(t->x, &p) != ERROR_SUCCESS || p.newest == INT64_MIN) {
		return;
	}
	pthread_mutex_lock(&l->ruling);
	for (uint32_t i = 0; i < l->rule_count; i++) {
		while (apply_rule(v, t, &l->rules[i], &p) && p.ended) { /* no later look finds the others */
		}
	}
	pthread_mutex_unlock(&l->ruling);
}

void view_rules_free(struct view_live *l)
{
	for (uint32_t i = 0; i < l->rule_count; i++) {
		free(l->rules[i].filter);
		free(l->rules[i].folder);
	}
	l->rule_count = 0;
}

/* ---- sessions that come again ----------------------------------------------------------------------- */

/* Rules go on with the session. Those that somebody has given to the next run already stay. */
static void move_rules(struct view_live *from, struct view_live *to)
{
	struct view_rule rules[VIEW_RULES_MOST];
	pthread_mutex_lock(&from->ruling);
	uint32_t count = from->rule_count;
	memcpy(rules, from->rules, count * sizeof *rules);
	from->rule_count = 0;
	from->rule_changes++;
	pthread_mutex_unlock(&from->ruling);
	pthread_mutex_lock(&to->ruling);
	for (uint32_t i = 0; i < count; i++) {
		rules[i].next_row = 0;
		rules[i].at = rules[i].kept_until = rules[i].looked_until = INT64_MIN;
		if (to->rule_count < VIEW_RULES_MOST) {
			to->rules[to->rule_count++] = rules[i];
		} else {
			free(rules[i].filter);
			free(rules[i].folder);
		}
	}
	to->rule_changes++;
	pthread_mutex_unlock(&to->ruling);
}

static void follow_again(struct view *v, struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	char why[600];
	struct view_live *l = t->live;
	uint64_t now = clock_read_system_ns();
	if (l->own || l->followed || now - l->looked_ns < AGAIN_NS ||
	    openetw_index_live_progress(t->x, &p) != ERROR_SUCCESS || !p.ended) {
		return;
	}
	l->looked_ns = now;
	apply_rules(v, t); /* what came since the last look, before the end */
	struct view_trace *next = view_live_create(v, l->session, l->ring_bytes, false, why, sizeof why);
	if (!next) {
		return; /* it does not run yet */
	}
	next->live->before = t->id;
	next->live->has_before = true;
	uint32_t id;
	next->users = 1; /* nobody takes it away before it has the rules */
	if (!view_trace_add(v, next, &id)) {
		view_trace_destroy(next);
		return; /* there is no place for it: the rules stay, until there is one */
	}
	move_rules(l, next->live);
	pthread_mutex_lock(&l->state);
	l->next = id;
	l->followed = true;
	pthread_mutex_unlock(&l->state);
	view_trace_let_go(v, next);
	if (l->has_before) { /* one run before this one is kept, not all that there ever were */
		view_trace_close(v, l->before);
	}
}

static void *watch(void *arg)
{
	struct view *v = arg;
	while (!view_ending(v) && !order_load_relaxed(&v->watch_ends)) {
		for (uint32_t i = 0; i < VIEW_TRACES_MAX; i++) {
			pthread_mutex_lock(&v->lock);
			struct view_trace *t =
				v->traces[i] && v->traces[i]->live && !v->traces[i]->closed ? v->traces[i] : NULL;
			if (t) {
				t->users++;
			}
			pthread_mutex_unlock(&v->lock);
			if (t) {
				apply_rules(v, t);
				follow_again(v, t);
				view_trace_let_go(v, t);
			}
		}
		poll(NULL, 0, STEP_MS);
	}
	return NULL;
}

bool view_watch_begin(struct view *v)
{
	pthread_mutex_lock(&v->lock);
	v->watches = v->watches || quiet_thread_start(&v->watcher, watch, v) == 0;
	bool begun = v->watches;
	pthread_mutex_unlock(&v->lock);
	return begun;
}

void view_watch_end(struct view *v)
{
	if (v->watches) {
		order_store_relaxed(&v->watch_ends, 1);
		pthread_join(v->watcher, NULL);
		v->watches = false;
	}
}

/* ---- endpoints -------------------------------------------------------------------------------------- */

void view_rules_put(struct view_live *l, struct strbuf *b)
{
	json_put_name(b, "rules");
	strbuf_addc(b, '[');
	pthread_mutex_lock(&l->ruling);
	for (uint32_t i = 0; i < l->rule_count; i++) {
		const struct view_rule *r = &l->rules[i];
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "id", r->id);
		json_put_text(b, "filter", r->filter);
		json_put_text(b, "folder", r->folder);
		json_put_real(b, "before", (double)r->before / 1e9);
		json_put_real(b, "after", (double)r->after / 1e9);
		json_put_count(b, "files", r->files);
		json_put_count(b, "files_most", r->files_most);
		json_put_count(b, "bytes", r->bytes);
		json_put_count(b, "bytes_most", r->bytes_most);
		json_put_truth(b, "waits", r->at != INT64_MIN);
		json_put_text(b, "last", r->files ? r->last : NULL);
		json_put_text(b, "problem", r->problem[0] ? r->problem : NULL);
		strbuf_addc(b, '}');
	}
	pthread_mutex_unlock(&l->ruling);
	strbuf_addc(b, ']');
}

/* The folder of a rule: below a root, or that of view_new_file() where none is named. NULL: `r` has failed. */
static char *folder_of(struct view_request *r, const char *given)
{
	char plain[4400], *real;
	if (!given || !given[0]) {
		view_new_file(r->view, "rule", plain, sizeof plain);
		*strrchr(plain, '/') = 0;
		given = plain;
		real = realpath(given, NULL);
	} else {
		real = view_folder_below(r->view, given);
		if (!real) {
			view_fail(r, 400, "%.200s is no folder below those that openetw view was started with (--root)",
				  given);
			return NULL;
		}
	}
	if (!real) {
		view_fail(r, 500, "there is no folder for files");
	}
	return real;
}

static int run_add(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	int64_t id = -1, before = 10, after = 10, files = 10, bytes = 1ll << 30, gone = -1;
	const char *filter = NULL, *folder = NULL;
	json_integer(json_member(r->body, "tr"), &id);
	json_integer(json_member(r->body, "remove"), &gone);
	json_integer(json_member(r->body, "before"), &before);
	json_integer(json_member(r->body, "after"), &after);
	json_integer(json_member(r->body, "files"), &files);
	json_integer(json_member(r->body, "bytes"), &bytes);
	json_text(json_member(r->body, "f"), &filter);
	json_text(json_member(r->body, "folder"), &folder);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace || !r->trace->live) {
		return view_fail(r, 404, "no such live trace is open");
	}
	struct view_live *l = r->trace->live;
	if (gone >= 0) {
		pthread_mutex_lock(&l->ruling);
		for (uint32_t i = 0; i < l->rule_count; i++) {
			if (l->rules[i].id == gone) {
				free(l->rules[i].filter);
				free(l->rules[i].folder);
				l->rules[i] = l->rules[--l->rule_count];
				l->rule_changes++;
				break;
			}
		}
		pthread_mutex_unlock(&l->ruling);
		strbuf_adds(&r->out, "{}");
		return view_done(r);
	}
	if (!filter || !filter[strspn(filter, " \t")] || before < 0 || before > 3600 || after < 0 || after > 3600 ||
	    files < 1 || files > FILES_MOST || bytes < 1 || bytes > BYTES_MOST) {
		return view_fail(
			r, 400,
			"a rule has a filter \"f\", \"before\" and \"after\" up to 3600 s, \"files\" up to %d and "
			"\"bytes\"",
			FILES_MOST);
	}
	struct view_sel s = {.trace = r->trace, .from = INT64_MIN, .to = INT64_MAX, .filter = filter};
	struct openetw_query *q = view_query_take(r, &s); /* refuses a filter that has a mistake */
	if (!q) {
		return r->status;
	}
	view_query_give(r, &s, q);
	char *where = folder_of(r, folder), *text = strdup(filter);
	if (!where || !text) {
		free(where);
		free(text);
		return r->status ? r->status : view_fail(r, 500, "no memory");
	}
	openetw_index_live_progress(r->trace->x, &p);
	static uint64_t number; /* tells rules apart */
	pthread_mutex_lock(&l->ruling);
	bool room = l->rule_count < VIEW_RULES_MOST;
	if (room) {
		l->rules[l->rule_count++] = (struct view_rule){.id = (uint32_t)order_add_relaxed(&number, 1),
							       .filter = text,
							       .folder = where,
							       .before = before * 1000000000,
							       .after = after * 1000000000,
							       .files_most = (uint32_t)files,
							       .bytes_most = (uint64_t)bytes,
							       .next_row = p.rows,
							       .looked_until = p.newest,
							       .kept_until = INT64_MIN,
							       .at = INT64_MIN};
		l->rule_changes++;
	}
	pthread_mutex_unlock(&l->ruling);
	if (!room) {
		free(where);
		free(text);
		return view_fail(r, 429, "a trace has %u rules at most", VIEW_RULES_MOST);
	}
	strbuf_addc(&r->out, '{');
	view_rules_put(l, &r->out);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_rules_post = {.path = "rules",
					      .params = "tr:0-1000000 f:text before:0-3600 after:0-3600 folder:text "
							"files:1-1000 bytes:real remove:0-4000000000",
					      .post = true,
					      .run = run_add};

static int run_list(struct view_request *r)
{
	struct view_trace *t = view_trace_of(r);
	if (!t) {
		return r->status;
	}
	strbuf_addc(&r->out, '{');
	if (t->live) {
		view_rules_put(t->live, &r->out);
	} else {
		strbuf_adds(&r->out, "\"rules\":[]");
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_rules = {.path = "rules", .params = VIEW_TRACE_PARAM, .run = run_list};
