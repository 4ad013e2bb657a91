/* SPDX-License-Identifier: MIT
 * attach and live: traces that grow.
 */
#include "tools/view/view_live.h"

#include "base/order.h"
#include "tools/view/view_child.h"
#include "tools/view/view_ops.h"

#include "etw/values/system_keywords.h"

#include <openetw/error.h>

#include <stdlib.h>
#include <unistd.h>

#define RING_DEFAULT (256ull << 20)
#define RING_MOST    (4ull << 30)

static bool never(void *context)
{
	(void)context;
	return false;
}
/* A session that has events of the kernel tells what processes do, and once more who was there already. */
static void follow_machine(struct view_trace *t)
{
	char why[300];
	OPENETW_SIZED(struct openetw_kernel, k);
	OPENETW_SIZED(struct openetw_index_about, a);
	struct view_live *l = t->live;
	if (openetw_session_kernel(l->session, &k) != ERROR_SUCCESS) {
		return;
	}
	view_trace_about(t, &a);
	l->ops = view_ops_create(l->session, a.start_filetime, why, sizeof why);
	if (l->ops && l->own) {
		struct strbuf out = {0}, err = {0};
		char *words[] = {(char *)"openetw",
				 (char *)"enable",
				 l->session,
				 (char *)"SystemProcessProvider",
				 (char *)"--capture-state",
				 NULL};
		view_child_run(words, 4096, &out, &err, never, NULL);
		strbuf_finish(&out);
		strbuf_finish(&err);
	}
}

struct view_trace *view_live_create(struct view *v, const char *session, uint64_t ring_bytes, bool own, char *why,
				    size_t cap)
{
	OPENETW_SIZED(struct openetw_live_options, o);
	struct view_trace *t = calloc(1, sizeof *t);
	struct view_live *l = calloc(1, sizeof *l);
	if (!t || !l) {
		free(t);
		free(l);
		snprintf(why, cap, "no memory");
		return NULL;
	}
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->naming, NULL);
	pthread_mutex_init(&l->copying, NULL);
	pthread_mutex_init(&l->state, NULL);
	pthread_mutex_init(&l->ruling, NULL);
	t->args = v->args;
	snprintf(l->session, sizeof l->session, "%s", session);
	t->name = strdup(session);
	o.session = session;
	o.ring_bytes = ring_bytes;
	uint32_t code = t->name ? openetw_index_open_live(&o, &t->x) : ERROR_NOT_ENOUGH_MEMORY;
	if (code) {
		const char *said = openetw_last_error_text();
		snprintf(why, cap, "%s", said[0] ? said : openetw_error_text(code));
		t->x = NULL;
		pthread_mutex_destroy(&l->copying);
		free(l);
		view_trace_destroy(t);
		return NULL;
	}
	l->view = v;
	l->own = own;
	l->ring_bytes = ring_bytes;
	t->live = l;
	follow_machine(t);
	return t;
}

static void stop_session(const char *name)
{
	struct strbuf out = {0}, err = {0};
	char *words[] = {(char *)"openetw", (char *)"stop", (char *)"-q", (char *)"--", (char *)(uintptr_t)name, NULL};
	view_child_run(words, 4096, &out, &err, never, NULL);
	strbuf_finish(&out);
	strbuf_finish(&err);
}

void view_live_destroy(struct view_live *l)
{
	if (l) {
		view_copies_end(l);
		view_ops_destroy(l->ops);
		view_rules_free(l);
	}
	if (l && l->own) {
		stop_session(l->session);
	}
	free(l);
}

/* ---- what the page hears ---------------------------------------------------------------------------- */

static void put_state(struct strbuf *b, const struct view_live *l, const struct openetw_live_progress *p)
{
	json_put_count(b, "rows", p->rows);
	json_put_count(b, "total", p->rows - BASE_MIN(p->first_row, p->rows));
	json_put_count(b, "first_row", p->first_row);
	json_put_count(b, "lost", p->events_lost + p->events_refused);
	json_put_count(b, "buffers_lost", p->buffers_lost);
	json_put_integer(b, "now", p->newest == INT64_MIN ? 0 : p->newest);
	json_put_integer(b, "lag_ms", p->newest == INT64_MIN ? -1 : p->lag / 1000000);
	json_put_real(b, "rate", l->rate);
	json_put_truth(b, "ended", p->ended);
	if (l->followed) {
		json_put_count(b, "next", l->next);
	}
	json_put_truth(b, "machine", l->ops != NULL);
	json_put_truth(b, "own", l->own);
	json_put_name(b, "source");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < l->source_count; i++) {
		json_put_count(b, NULL, l->source[i]);
	}
	strbuf_addc(b, ']');
	json_put_count(b, "source_level", l->source_level);
	json_put_truth(b, "levels", l->own && !l->kernel);
	if (l->ops) {
		view_ops_tell(l->ops, b);
	}
	json_put_name(b, "lost_by");
	strbuf_addc(b, '{');
	json_put_count(b, "session", p->events_lost);
	json_put_count(b, "viewer", p->events_refused);
	strbuf_addc(b, '}');
}

void view_live_tell(struct view *v, struct view_trace *t, uint64_t *inout_rows, uint64_t *inout_rules, struct strbuf *b)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	(void)v;
	if (!t || !t->live || openetw_index_live_progress(t->x, &p) != ERROR_SUCCESS) {
		return;
	}
	pthread_mutex_lock(&t->live->ruling);
	uint64_t rules = t->live->rule_changes;
	pthread_mutex_unlock(&t->live->ruling);
	if (rules != *inout_rules) {
		*inout_rules = rules;
		strbuf_adds(b, "event: rules\ndata: {");
		json_put_count(b, "tr", t->id);
		view_rules_put(t->live, b);
		strbuf_adds(b, "}\n\n");
	}
	pthread_mutex_lock(&t->live->state);
	bool followed = t->live->followed;
	pthread_mutex_unlock(&t->live->state);
	/* That it ended, and runs again, is told as rows are: once. */
	uint64_t now_rows = p.rows ^ (uint64_t)p.ended << 63 ^ (uint64_t)followed << 62;
	if (now_rows == *inout_rows) {
		return;
	}
	*inout_rows = now_rows;
	struct view_live *l = t->live;
	pthread_mutex_lock(&l->state);
	uint64_t now = clock_read_system_ns();
	if (now - l->told_ns > 500000000) {
		l->rate = l->told_ns
				  ? (double)(p.rows - BASE_MIN(l->told_rows, p.rows)) * 1e9 / (double)(now - l->told_ns)
				  : 0;
		l->told_rows = p.rows;
		l->told_ns = now;
	}
	strbuf_adds(b, "event: rows\ndata: {");
	json_put_count(b, "tr", t->id);
	put_state(b, l, &p);
	strbuf_adds(b, "}\n\n");
	pthread_mutex_unlock(&l->state);
}

void view_live_put(struct strbuf *b, const struct view_trace *t)
{
	OPENETW_SIZED(struct openetw_live_progress, p);
	if (openetw_index_live_progress(t->x, &p) != ERROR_SUCCESS) {
		return;
	}
	json_put_name(b, "live_state");
	strbuf_addc(b, '{');
	pthread_mutex_lock(&t->live->state);
	put_state(b, t->live, &p);
	pthread_mutex_unlock(&t->live->state);
	strbuf_addc(b, '}');
}

/* ---- endpoints -------------------------------------------------------------------------------------- */

static int add(struct view_request *r, struct view_trace *t, const char *why)
{
	if (!t) {
		return view_fail(r, 400, "%s", why);
	}
	uint32_t id;
	char session[sizeof t->live->session];
	snprintf(session, sizeof session, "%s", t->live->session);
	view_watch_begin(r->view);
	if (!view_trace_add(r->view, t, &id)) {
		view_trace_destroy(t);
		return view_fail(r, 429, "%u traces are open; close one first", VIEW_TRACES_MAX);
	}
	strbuf_addc(&r->out, '{');
	json_put_count(&r->out, "tr", id);
	json_put_text(&r->out, "session", session);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}

static int run_attach(struct view_request *r)
{
	char why[600] = "";
	const char *session = NULL;
	int64_t bytes = (int64_t)RING_DEFAULT;
	json_integer(json_member(r->body, "bytes"), &bytes);
	if (!json_text(json_member(r->body, "session"), &session) || !session[0] || strlen(session) >= 150) {
		return view_fail(r, 400, "\"session\" is to be the name of a session");
	}
	if (bytes < (1 << 20) || (uint64_t)bytes > RING_MOST) {
		return view_fail(r, 400, "\"bytes\" is to be from 1 MiB to 4 GiB");
	}
	return add(r, view_live_create(r->view, session, (uint64_t)bytes, false, why, sizeof why), why);
}
const struct view_endpoint view_attach = {
	.path = "attach", .params = "session:text bytes:real", .post = true, .run = run_attach};

/* What the page calls them: providers of the system, and their keywords. Processes are always told. */
#define KEYWORDS_PROCESS (SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_THREAD)
static const struct {
	const char *kind;
	uint32_t provider; /* of `providers` */
	uint64_t keywords;
} kinds[] = {{"process", 0, 0},
	     {"image", 0, SYSTEM_PROCESS_KW_LOADER},
	     {"file", 1, SYSTEM_IO_KW_FILENAME | SYSTEM_IO_KW_FILE | SYSTEM_IO_KW_FILE_INIT},
	     {"network", 1, SYSTEM_IO_KW_NETWORK},
	     {"memory", 2, SYSTEM_MEMORY_KW_HARD_FAULTS | SYSTEM_MEMORY_KW_ALL_FAULTS}};
static const char *const providers[] = {"SystemProcessProvider", "SystemIoProvider", "SystemMemoryProvider"};

/* Providers of the system for some kinds: "SystemIoProvider:0x414::stack". False: `r` has failed. */
static bool system_of(struct view_request *r, struct view_live *ret)
{
	uint64_t keywords[BASE_ARRAY_LEN(providers)] = {KEYWORDS_PROCESS};
	struct json_value *list = json_member(r->body, "kinds");
	bool stacks = false;
	json_truth(json_member(r->body, "stacks"), &stacks);
	for (size_t i = 0; i < json_count(list); i++) {
		const char *kind = "";
		size_t k = 0;
		json_text(json_at(list, i), &kind);
		while (k < BASE_ARRAY_LEN(kinds) && strcmp(kinds[k].kind, kind) != 0) {
			k++;
		}
		if (k == BASE_ARRAY_LEN(kinds)) {
			view_fail(r, 400, "'%.40s' is none of process, image, file, network, memory", kind);
			return false;
		}
		keywords[kinds[k].provider] |= kinds[k].keywords;
	}
	if (stacks) { /* their frames have names where it is known what is loaded */
		keywords[0] |= SYSTEM_PROCESS_KW_LOADER;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(providers); i++) {
		if (keywords[i]) {
			snprintf(ret->provider[ret->provider_count++], sizeof ret->provider[0], "%s:0x%llx%s",
				 providers[i], (unsigned long long)keywords[i], stacks ? "::stack" : "");
		}
	}
	return true;
}

/* Providers of applications, by name or GUID. False: `r` has failed, unless none are named. */
static bool applications_of(struct view_request *r, struct view_live *ret)
{
	struct json_value *list = json_member(r->body, "providers");
	if (json_count(list) > VIEW_LIVE_PROVIDERS) {
		view_fail(r, 400, "at most %u providers are watched at once", VIEW_LIVE_PROVIDERS);
		return false;
	}
	for (size_t i = 0; i < json_count(list); i++) {
		const char *name = "";
		if (!json_text(json_at(list, i), &name) || !name[0] || name[0] == '-' || strchr(name, ':') ||
		    strlen(name) >= sizeof ret->provider[0]) {
			view_fail(r, 400, "'%.60s' is no name or GUID of a provider", name);
			return false;
		}
		snprintf(ret->provider[ret->provider_count++], sizeof ret->provider[0], "%s", name);
	}
	json_truth(json_member(r->body, "stacks"), &ret->stacks);
	return ret->provider_count > 0;
}

static size_t start_words(const struct view_live *l, char *name, char *pid, char **words)
{
	const char *const first[] = {"openetw", "start",     name,     "-r",         "--buffer-size",
				     "64K",     "--buffers", "16:512", "--with-pid", pid};
	size_t n = 0;
	for (; n < BASE_ARRAY_LEN(first); n++) {
		words[n] = (char *)(uintptr_t)first[n];
	}
	if (l->kernel) {
		words[n++] = (char *)"--mode-bits";
		words[n++] = (char *)"0x2000000";
	} else if (l->stacks) {
		words[n++] = (char *)"--stack";
	}
	for (uint32_t i = 0; i < l->provider_count; i++) {
		words[n++] = (char *)"-p";
		words[n++] = (char *)(uintptr_t)l->provider[i];
	}
	return n;
}

static int run_live(struct view_request *r)
{
	char why[600] = "", name[64], pid[16], *words[16 + 2 * VIEW_LIVE_PROVIDERS] = {NULL};
	struct strbuf out = {0}, err = {0};
	struct view_live wish = {0};
	static uint64_t number;
	wish.kernel = json_count(json_member(r->body, "providers")) == 0;
	if (wish.kernel ? !system_of(r, &wish) : !applications_of(r, &wish)) {
		return r->status;
	}
	snprintf(name, sizeof name, "openetw-view-%d-%u", (int)getpid(), (unsigned)order_add_relaxed(&number, 1));
	snprintf(pid, sizeof pid, "%d", (int)getpid()); /* it ends with us, however we end */
	start_words(&wish, name, pid, words);
	int status = view_child_run(words, 1 << 16, &out, &err, view_request_gone, r);
	if (status != 0) {
		view_fail(r, 400, "%s", err.len ? err.s : "the session could not be started");
	} else {
		struct view_trace *t = view_live_create(r->view, name, RING_DEFAULT, true, why, sizeof why);
		if (!t) {
			stop_session(name);
		} else {
			memcpy(t->live->provider, wish.provider, sizeof wish.provider);
			t->live->provider_count = wish.provider_count;
			t->live->stacks = wish.stacks;
			t->live->kernel = wish.kernel;
		}
		add(r, t, why);
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	return r->status;
}
const struct view_endpoint view_live_start = {
	.path = "live", .params = "kinds:list stacks:flag providers:list", .post = true, .run = run_live};

/* An own session writes events of some processes alone, or up to a level; or all again. */
static int run_source(struct view_request *r)
{
	struct strbuf out = {0}, err = {0}, line = {0};
	struct json_value *list = json_member(r->body, "pids");
	uint32_t pids[8], count = 0;
	char text[8][16];
	int64_t id = -1, pid;
	json_integer(json_member(r->body, "tr"), &id);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace || !r->trace->live || !r->trace->live->own) {
		return view_fail(r, 404, "no such session of this viewer is open");
	}
	if (json_count(list) > BASE_ARRAY_LEN(pids)) {
		return view_fail(r, 400, "a session can be narrowed to 8 processes at most");
	}
	for (size_t i = 0; i < json_count(list); i++) {
		if (!json_integer(json_at(list, i), &pid) || pid < 0 || pid > UINT32_MAX) {
			return view_fail(r, 400, "\"pids\" is to be a list of numbers of processes");
		}
		pids[count] = (uint32_t)pid;
		snprintf(text[count], sizeof text[0], "%u", (uint32_t)pid);
		count++;
	}
	struct view_live *l = r->trace->live;
	char level_text[8], *words[40] = {(char *)"openetw", (char *)"enable", l->session};
	size_t n = 3;
	int64_t level = 0;
	json_integer(json_member(r->body, "level"), &level);
	if (level < 0 || level > 255 || (level && l->kernel)) {
		return view_fail(r, 400, "levels are 1 to 255, and events of the kernel have none");
	}
	/* Of the kernel processes hold for the whole session: the first provider is enough. */
	for (uint32_t i = 0; i < (l->kernel ? 1 : l->provider_count); i++) {
		words[n++] = l->provider[i];
	}
	if (level) {
		snprintf(level_text, sizeof level_text, "%u", (unsigned)level);
		words[n++] = (char *)"--level";
		words[n++] = level_text;
	}
	if (l->stacks && !l->kernel) {
		words[n++] = (char *)"--stack";
	}
	for (uint32_t i = 0; i < count; i++) {
		words[n++] = (char *)"--pid";
		words[n++] = text[i];
	}
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(&line, "%s%s", i ? " " : "", words[i]);
	}
	if (view_child_run(words, 1 << 16, &out, &err, view_request_gone, r) != 0) {
		view_fail(r, 400, "%s", err.len ? err.s : "the session could not be changed");
	} else {
		pthread_mutex_lock(&l->state);
		memcpy(l->source, pids, count * sizeof *pids);
		l->source_count = count;
		l->source_level = (uint32_t)level;
		pthread_mutex_unlock(&l->state);
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "command", line.s ? line.s : "");
		strbuf_addc(&r->out, '}');
		view_done(r);
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	strbuf_finish(&line);
	return r->status;
}
const struct view_endpoint view_source = {
	.path = "source", .params = "tr:0-1000000 pids:list level:0-255", .post = true, .run = run_source};

/* The ring, or a part of it, as a file: below a root, or where openetw view was started. */
static int run_keep(struct view_request *r)
{
	OPENETW_SIZED(struct openetw_answer, a);
	char path[4096];
	int64_t id = -1;
	const char *filter = NULL;
	double from = -9e18, to = 9e18;
	json_integer(json_member(r->body, "tr"), &id);
	json_text(json_member(r->body, "f"), &filter);
	json_real(json_member(r->body, "t0"), &from);
	json_real(json_member(r->body, "t1"), &to);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace || !r->trace->live) {
		return view_fail(r, 404, "no such live trace is open");
	}
	view_new_file(r->view, "live", path, sizeof path);
	struct view_sel s = {.trace = r->trace,
			     .from = (int64_t)BASE_MAX(-9e18, BASE_MIN(from, 9e18)),
			     .to = (int64_t)BASE_MAX(-9e18, BASE_MIN(to, 9e18)),
			     .filter = filter && filter[0] ? filter : NULL};
	struct openetw_query *q = view_query_take(r, &s);
	if (!q) {
		return r->status;
	}
	uint32_t code = openetw_query_save(q, path, &a);
	view_query_give(r, &s, q);
	if (code != ERROR_SUCCESS) {
		return view_fail_code(r, code);
	}
	strbuf_addc(&r->out, '{');
	json_put_text(&r->out, "path", path);
	json_put_count(&r->out, "events", a.matched);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_keep = {
	.path = "keep", .params = "tr:0-1000000 t0:time t1:time f:text", .post = true, .run = run_keep};
