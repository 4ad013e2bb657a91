/* SPDX-License-Identifier: MIT */
#include "tools/view/view_jobs.h"

#include "base/order.h"
#include "base/quiet_thread.h"
#include "tools/export/export.h"
#include "tools/view/view_child.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOBS_MOST   64u
#define RUNNING_MAX 4u

enum job_state { JOB_NONE, JOB_RUNS, JOB_DONE, JOB_FAILED, JOB_CANCELLED };
struct job {
	uint32_t id;
	enum job_state state;
	char what[200], text[1000], file[64], name[200];
	uint32_t cancel; /* order_… */
	struct view *view;
	char *words[90];
	int word_count;
	pthread_t thread;
	bool started, joined;
};
struct view_jobs {
	char folder[64];
	uint64_t changes;
	uint32_t next_id;
	struct job job[JOBS_MOST];
};

bool view_jobs_begin(struct view *v)
{
	struct view_jobs *j = calloc(1, sizeof *j);
	const char *tmp = getenv("TMPDIR");
	if (!j) {
		return false;
	}
	if (!tmp || strlen(tmp) > 30) {
		tmp = "/tmp";
	}
	snprintf(j->folder, sizeof j->folder, "%s/openetw-view-XXXXXX", tmp);
	if (!mkdtemp(j->folder)) {
		free(j);
		return false;
	}
	v->jobs = j;
	return true;
}

static void job_clear(struct job *k)
{
	for (int i = 0; i < k->word_count; i++) {
		free(k->words[i]);
	}
	if (k->file[0]) {
		unlink(k->file);
	}
	memset(k, 0, sizeof *k);
}

void view_jobs_end(struct view *v)
{
	struct view_jobs *j = v->jobs;
	if (!j) {
		return;
	}
	for (uint32_t i = 0; i < JOBS_MOST; i++) {
		struct job *k = &j->job[i];
		order_store_relaxed(&k->cancel, 1);
		if (k->started && !k->joined) {
			pthread_join(k->thread, NULL);
		}
		job_clear(k);
	}
	rmdir(j->folder);
	free(j);
	v->jobs = NULL;
}

static const char *state_name(enum job_state s)
{
	static const char *const names[] = {"none", "runs", "done", "failed", "cancelled"};
	return names[s];
}

static void put_job(struct strbuf *b, const struct job *k)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_count(b, "id", k->id);
	json_put_text(b, "what", k->what);
	json_put_text(b, "state", state_name(k->state));
	json_put_text(b, "text", k->text);
	json_put_text(b, "name", k->name);
	strbuf_addc(b, '}');
}

static void put_all(struct view *v, struct strbuf *b)
{
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < JOBS_MOST; i++) {
		if (v->jobs->job[i].state != JOB_NONE) {
			put_job(b, &v->jobs->job[i]);
		}
	}
	strbuf_addc(b, ']');
}

void view_jobs_tell(struct view *v, uint64_t *inout_seen, struct strbuf *b)
{
	pthread_mutex_lock(&v->lock);
	uint64_t now = v->jobs ? v->jobs->changes : 0;
	if (v->jobs && now != *inout_seen && (now || *inout_seen != UINT64_MAX)) {
		strbuf_adds(b, "event: jobs\ndata: ");
		put_all(v, b);
		strbuf_adds(b, "\n\n");
	}
	*inout_seen = now;
	pthread_mutex_unlock(&v->lock);
}

static bool cancelled(void *context)
{
	struct job *k = context;
	return order_load_relaxed(&k->cancel) || view_ending(k->view);
}

static void *work(void *context)
{
	struct job *k = context;
	struct strbuf out = {0}, err = {0};
	int status = view_child_run(k->words, 1u << 16, &out, &err, cancelled, k);
	pthread_mutex_lock(&k->view->lock);
	k->state = order_load_relaxed(&k->cancel) ? JOB_CANCELLED : status == 0 ? JOB_DONE : JOB_FAILED;
	snprintf(k->text, sizeof k->text, "%s", err.s ? err.s : "");
	if (k->state != JOB_DONE && k->file[0]) {
		unlink(k->file);
	}
	k->view->jobs->changes++;
	pthread_mutex_unlock(&k->view->lock);
	strbuf_finish(&out);
	strbuf_finish(&err);
	return NULL;
}

/* A place for a job: free, or that of the oldest that has ended. NULL: too many run. Under the lock. */
static struct job *new_job(struct view_jobs *j)
{
	struct job *best = NULL;
	uint32_t running = 0;
	for (uint32_t i = 0; i < JOBS_MOST; i++) {
		struct job *k = &j->job[i];
		running += k->state == JOB_RUNS;
		if (k->state != JOB_RUNS &&
		    (!best || k->state == JOB_NONE || (best->state != JOB_NONE && k->id < best->id))) {
			best = k;
		}
	}
	return running < RUNNING_MAX ? best : NULL;
}

static bool add_word(struct job *k, const char *s)
{
	if (k->word_count < 88 && (k->words[k->word_count] = strdup(s)) != NULL) {
		k->word_count++;
		return true;
	}
	return false;
}

static bool add_time(struct job *k, const char *option, const struct json_value *v)
{
	double ns;
	char text[64];
	if (!json_real(v, &ns)) {
		return true;
	}
	snprintf(text, sizeof text, "+%.9fs", (ns > 0 ? ns : 0) / 1e9);
	return add_word(k, option) && add_word(k, text);
}

static int run_export(struct view_request *r)
{
	const char *kind_name = "etl", *filter = NULL;
	int64_t id = 0;
	struct view *v = r->view;
	json_text(json_member(r->body, "kind"), &kind_name);
	json_text(json_member(r->body, "f"), &filter);
	json_integer(json_member(r->body, "tr"), &id);
	const struct export_kind *kind = export_kind_of(kind_name);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(v, (uint32_t)id) : NULL;
	if (!r->trace || r->trace->live) {
		return view_fail(r, 404, r->trace ? "save the session first" : "no such trace is open");
	}
	if (!kind || kind->folder) {
		return view_fail(r, 400,
				 kind ? "'%s' is a folder: export it on the command line" : "there is no form '%s'",
				 kind_name);
	}
	pthread_mutex_lock(&v->lock);
	struct job *k = v->jobs ? new_job(v->jobs) : NULL;
	bool ok = k != NULL;
	if (k) {
		if (k->started && !k->joined) {
			pthread_join(k->thread, NULL); /* it has ended */
		}
		job_clear(k);
		k->id = ++v->jobs->next_id;
		k->view = v;
		snprintf(k->what, sizeof k->what, "export as %s", kind->name);
		snprintf(k->file, sizeof k->file, "%.40s/%u", v->jobs->folder, k->id);
		snprintf(k->name, sizeof k->name, "%.150s%s", r->trace->name, kind->suffix ? kind->suffix : ".out");
		ok = add_word(k, "openetw") && add_word(k, "export") && add_word(k, "--as") &&
		     add_word(k, kind->name) && add_word(k, "-o") && add_word(k, k->file) && add_word(k, "--force") &&
		     (!filter || !filter[0] || (add_word(k, "--filter") && add_word(k, filter))) &&
		     add_time(k, "--from", json_member(r->body, "t0")) &&
		     add_time(k, "--to", json_member(r->body, "t1")) && add_word(k, "--");
		for (int i = 0; i < r->trace->count && ok; i++) {
			ok = add_word(k, r->trace->files[i]);
		}
		k->state = ok ? JOB_RUNS : JOB_FAILED;
		k->started = ok && quiet_thread_start(&k->thread, work, k) == 0;
		k->state = k->started ? JOB_RUNS : JOB_FAILED;
		id = k->id;
		v->jobs->changes++;
	}
	pthread_mutex_unlock(&v->lock);
	if (!k) {
		return view_fail(r, 429, "%u exports run already", RUNNING_MAX);
	}
	strbuf_addc(&r->out, '{');
	json_put_integer(&r->out, "job", id);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_export = {
	.path = "export", .params = VIEW_SEL "kind:text", .post = true, .run = run_export};

static int run_jobs(struct view_request *r)
{
	strbuf_adds(&r->out, "{\"jobs\":");
	pthread_mutex_lock(&r->view->lock);
	put_all(r->view, &r->out);
	pthread_mutex_unlock(&r->view->lock);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_jobs_list = {.path = "jobs", .params = "", .run = run_jobs};

static struct job *find(struct view *v, uint64_t id)
{
	for (uint32_t i = 0; v->jobs && i < JOBS_MOST; i++) {
		if (v->jobs->job[i].state != JOB_NONE && v->jobs->job[i].id == id) {
			return &v->jobs->job[i];
		}
	}
	return NULL;
}

static int run_cancel(struct view_request *r)
{
	int64_t id = -1;
	json_integer(json_member(r->body, "cancel"), &id);
	pthread_mutex_lock(&r->view->lock);
	struct job *k = find(r->view, (uint64_t)id);
	if (k) {
		order_store_relaxed(&k->cancel, 1);
	}
	pthread_mutex_unlock(&r->view->lock);
	if (!k) {
		return view_fail(r, 404, "there is no such job");
	}
	strbuf_adds(&r->out, "{}");
	return view_done(r);
}
const struct view_endpoint view_jobs_cancel = {
	.path = "jobs", .params = "cancel:0-4294967295", .post = true, .run = run_cancel};

static int run_download(struct view_request *r)
{
	pthread_mutex_lock(&r->view->lock);
	struct job *k = find(r->view, view_number(r, "job", 0));
	int fd = k && k->state == JOB_DONE ? open(k->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd >= 0) {
		for (const char *s = k->name; *s; s++) { /* a name that a header can hold */
			bool plain = (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
				     *s == '.' || *s == '-';
			strbuf_addc(&r->filename_text, plain ? *s : '_');
		}
	}
	pthread_mutex_unlock(&r->view->lock);
	if (fd < 0) {
		return view_fail(r, 404, k ? "this job wrote nothing" : "there is no such job");
	}
	r->file = fd;
	r->type = "application/octet-stream";
	r->filename = r->filename_text.s;
	return r->status = 200;
}
const struct view_endpoint view_download = {.path = "download", .params = "job:0-4294967295", .run = run_download};

static int run_kinds(struct view_request *r)
{
	strbuf_adds(&r->out, "{\"kinds\":[");
	for (size_t i = 0; export_kinds[i]; i++) {
		const struct export_kind *k = export_kinds[i];
		if (k->folder) {
			continue;
		}
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "name", k->name);
		json_put_text(&r->out, "help", k->what);
		json_put_text(&r->out, "suffix", k->suffix);
		json_put_text(&r->out, "cannot", k->cannot);
		strbuf_addc(&r->out, '}');
	}
	strbuf_adds(&r->out, "]}");
	return view_done(r);
}
const struct view_endpoint view_kinds = {.path = "kinds", .params = VIEW_TRACE_PARAM, .run = run_kinds};
