/* SPDX-License-Identifier: MIT
 * Which traces are open: held by requests, opened and closed by the page.
 */
#include "tools/view/view.h"

#include "base/order.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool view_ending(const struct view *v)
{
	return order_load_relaxed(&v->ending) != 0 || cli_signal_caught();
}

char *view_folder_below(const struct view *v, const char *path)
{
	struct stat st;
	char *whole = realpath(path, NULL);
	bool below = false;
	for (int i = 0; whole && i < v->may.root_count && !below; i++) {
		const char *root = v->may.roots[i];
		size_t n = strlen(root);
		n -= n > 1 && root[n - 1] == '/';
		below = strncmp(whole, root, n) == 0 && (whole[n] == 0 || whole[n] == '/' || n == 1);
	}
	if (!below || stat(whole, &st) != 0 || !S_ISDIR(st.st_mode)) {
		free(whole);
		return NULL;
	}
	return whole;
}

bool view_trace_add(struct view *v, struct view_trace *t, uint32_t *ret_id)
{
	bool added = false;
	pthread_mutex_lock(&v->lock);
	for (uint32_t i = 0; i < VIEW_TRACES_MAX && !added; i++) {
		if (!v->traces[i]) {
			*ret_id = t->id = v->next_id++;
			v->traces[i] = t;
			added = true;
		}
	}
	pthread_mutex_unlock(&v->lock);
	return added;
}

uint32_t view_trace_end(struct view *v)
{
	pthread_mutex_lock(&v->lock);
	uint32_t end = v->next_id;
	pthread_mutex_unlock(&v->lock);
	return end;
}

struct view_trace *view_trace_hold(struct view *v, uint32_t id)
{
	struct view_trace *t = NULL;
	pthread_mutex_lock(&v->lock);
	for (uint32_t i = 0; i < VIEW_TRACES_MAX && !t; i++) {
		if (v->traces[i] && v->traces[i]->id == id && !v->traces[i]->closed) {
			t = v->traces[i];
			t->users++;
		}
	}
	pthread_mutex_unlock(&v->lock);
	return t;
}

/* Under the lock: does it go now? */
static bool take_out(struct view *v, struct view_trace *t)
{
	if (t->users || !t->closed) {
		return false;
	}
	for (uint32_t i = 0; i < VIEW_TRACES_MAX; i++) {
		v->traces[i] = v->traces[i] == t ? NULL : v->traces[i];
	}
	return true;
}

void view_trace_let_go(struct view *v, struct view_trace *t)
{
	pthread_mutex_lock(&v->lock);
	t->users--;
	bool gone = take_out(v, t);
	pthread_mutex_unlock(&v->lock);
	if (gone) {
		view_trace_destroy(t);
	}
}

bool view_trace_close(struct view *v, uint32_t id)
{
	struct view_trace *t = view_trace_hold(v, id);
	if (!t) {
		return false;
	}
	pthread_mutex_lock(&v->lock);
	t->closed = true;
	pthread_mutex_unlock(&v->lock);
	view_trace_let_go(v, t);
	return true;
}

/* ---- endpoints -------------------------------------------------------------------------------------- */

static int run_traces(struct view_request *r)
{
	struct view *v = r->view;
	struct strbuf *b = &r->out;
	strbuf_adds(b, "{\"traces\":[");
	pthread_mutex_lock(&v->lock);
	for (uint32_t i = 0; i < VIEW_TRACES_MAX; i++) {
		const struct view_trace *t = v->traces[i];
		if (t && !t->closed) {
			json_put_comma(b);
			strbuf_addc(b, '{');
			json_put_count(b, "tr", t->id);
			json_put_text(b, "name", t->name);
			json_put_truth(b, "live", t->live != NULL);
			strbuf_addc(b, '}');
		}
	}
	pthread_mutex_unlock(&v->lock);
	strbuf_adds(b, "],\"roots\":[");
	for (int i = 0; i < v->may.root_count; i++) {
		json_put_text(b, NULL, v->may.roots[i]);
	}
	strbuf_addc(b, ']');
	json_put_text(b, "version", openetw_version());
	strbuf_addc(b, '}');
	return view_done(r);
}
const struct view_endpoint view_traces = {.path = "traces", .params = "", .run = run_traces};

static int open_files(struct view_request *r, int count, char **files)
{
	char why[600] = "";
	uint32_t id;
	struct view_trace *t = view_trace_create(r->view->args, count, files, why, sizeof why);
	if (!t) {
		return view_fail(r, 400, "%s", why);
	}
	if (!view_trace_add(r->view, t, &id)) {
		view_trace_destroy(t);
		return view_fail(r, 429, "%u traces are open; close one first", VIEW_TRACES_MAX);
	}
	strbuf_addc(&r->out, '{');
	json_put_count(&r->out, "tr", id);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}

static int run_open(struct view_request *r)
{
	struct json_value *list = json_member(r->body, "paths");
	size_t n = json_count(list), have = 0;
	char *files[64];
	int status = 0;
	if (n == 0 || n > BASE_ARRAY_LEN(files)) {
		return view_fail(r, 400, "\"paths\" is to be a list of 1 to %zu files", BASE_ARRAY_LEN(files));
	}
	for (size_t i = 0; i < n && status == 0; i++) {
		const char *path = "";
		files[have] =
			json_text(json_at(list, i), &path) ? allowed_path(r->view->args, &r->view->may, path) : NULL;
		if (files[have]) {
			have++;
		} else {
			status = view_fail(r, 403,
					   "'%.300s' is no trace below the folders that openetw view was started with",
					   path);
		}
	}
	status = status ? status : open_files(r, (int)have, files);
	while (have) {
		free(files[--have]);
	}
	return status;
}
const struct view_endpoint view_open = {.path = "open", .params = "paths:list", .post = true, .run = run_open};

static int run_close(struct view_request *r)
{
	int64_t id;
	if (!json_integer(json_member(r->body, "tr"), &id) || id < 0 || id > UINT32_MAX ||
	    !view_trace_close(r->view, (uint32_t)id)) {
		return view_fail(r, 404, "no such trace is open");
	}
	strbuf_adds(&r->out, "{}");
	return view_done(r);
}
const struct view_endpoint view_close = {.path = "close", .params = VIEW_TRACE_PARAM, .post = true, .run = run_close};

static int run_cancel(struct view_request *r)
{
	int64_t id = -1;
	const char *table = NULL;
	json_integer(json_member(r->body, "tr"), &id);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace) {
		return view_fail(r, 404, "no such trace is open");
	}
	if (json_text(json_member(r->body, "table"), &table)) {
		if (!view_making_cancel(r->trace, table[0] ? table : NULL)) {
			return view_fail(r, 404, "no such table is being made");
		}
	} else {
		openetw_index_cancel(r->trace->x);
	}
	strbuf_adds(&r->out, "{}");
	return view_done(r);
}
const struct view_endpoint view_cancel = {
	.path = "cancel", .params = VIEW_TRACE_PARAM "table:text", .post = true, .run = run_cancel};

/* ---- what may be opened ----------------------------------------------------------------------------- */

#define FILES_MOST 2000u

static void put_file(void *context, const char *path, uint64_t bytes, bool given)
{
	struct strbuf *b = context;
	(void)given;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "path", path);
	json_put_count(b, "bytes", bytes);
	strbuf_addc(b, '}');
}

static int run_files(struct view_request *r)
{
	bool incomplete;
	strbuf_adds(&r->out, "{\"files\":[");
	uint32_t there = allowed_each(&r->view->may, FILES_MOST, put_file, &r->out, &incomplete);
	strbuf_addc(&r->out, ']');
	json_put_count(&r->out, "there_are", there);
	json_put_truth(&r->out, "incomplete", incomplete);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_files = {.path = "files", .params = "", .run = run_files};
