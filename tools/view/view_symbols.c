/* SPDX-License-Identifier: MIT
 * symbols: which modules have names, where those come from, and why others have none; folders of symbols that the page gives.
 */
#include "tools/view/view_symbols.h"

#include "tools/tables/table_make.h"
#include "tools/view/view.h"
#include "tools/view/view_kept.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MODULES_MOST 5000u
#define FOLDERS_MOST 16u

/* Of the whole process: all traces are named with them. */
static struct {
	pthread_mutex_t lock;
	char *folder[FOLDERS_MOST];
	uint32_t count;
} given = {.lock = PTHREAD_MUTEX_INITIALIZER};

void view_symbols_apply(struct table_maker *m)
{
	pthread_mutex_lock(&given.lock);
	for (uint32_t i = 0; i < given.count; i++) {
		openetw_state_symbol_folder(m->state, given.folder[i]);
	}
	pthread_mutex_unlock(&given.lock);
}

/* ---- modules ---------------------------------------------------------------------------------------- */

struct module {
	char *path, *name, *build;
	uint64_t pid, base, addresses, named;
	int64_t load;
};

static int by_path(const void *x, const void *y)
{
	const struct module *a = x, *b = y;
	int c = strcmp(a->path, b->path);
	return c ? c : strcmp(a->build, b->build);
}

static char *copy_of(const struct table_view *w, const char *column, uint64_t row)
{
	struct table_value v;
	bool is = table_view_value(w, table_view_column(w, column), row, &v) && v.kind == TABLE_TEXT;
	return is ? strndup(v.s, v.n) : strdup("");
}

/* Each build of each module once: who has loaded it first says where it lies. */
static struct module *list_modules(const struct table_view *w, uint32_t *ret_count)
{
	uint64_t rows = BASE_MIN(table_view_rows(w), (uint64_t)1 << 20);
	struct module *list = calloc(rows + 1, sizeof *list);
	uint32_t n = 0, kept = 0;
	for (uint64_t i = 0; list && i < rows; i++) {
		struct module *m = &list[n++];
		*m = (struct module){.path = copy_of(w, "path", i),
				     .name = copy_of(w, "module", i),
				     .build = copy_of(w, "build_guid", i),
				     .pid = (uint64_t)table_view_integer(w, table_view_column(w, "pid"), i, 0),
				     .base = (uint64_t)table_view_integer(w, table_view_column(w, "base"), i, 0),
				     .load = table_view_integer(w, table_view_column(w, "load"), i, INT64_MIN)};
		if (!m->path || !m->name || !m->build) {
			free(m->path);
			free(m->name);
			free(m->build);
			n--;
		}
	}
	if (n) {
		qsort(list, n, sizeof *list, by_path);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept && by_path(&list[kept - 1], &list[i]) == 0) {
			free(list[i].path);
			free(list[i].name);
			free(list[i].build);
		} else {
			list[kept++] = list[i];
		}
	}
	*ret_count = kept;
	return list;
}

/* Not "module!+0x1234", which is a place in it. */
static bool is_name(const struct table_value *v)
{
	const char *bang = v->kind == TABLE_TEXT ? memchr(v->s, '!', v->n) : NULL;
	return v->kind == TABLE_TEXT && v->n && !(bang && bang + 1 < v->s + v->n && bang[1] == '+');
}

struct named {
	struct module *module;
	const char *name;
	size_t length;
};

static int by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = memcmp(a->name, b->name, BASE_MIN(a->length, b->length));
	return c ? c : (a->length > b->length) - (a->length < b->length);
}

/* How many addresses of stacks lie in a module of this name, and how many of those have a function. Of modules with one name
 * one has them all. False: no memory. */
static bool count_addresses(const struct table_view *w, struct module *list, uint32_t count)
{
	int module = table_view_column(w, "module"), function = table_view_column(w, "function");
	struct named *names = calloc(count + 1u, sizeof *names);
	struct table_value v, f;
	for (uint32_t i = 0; names && i < count; i++) {
		names[i] = (struct named){&list[i], list[i].name, strlen(list[i].name)};
	}
	if (names && count) {
		qsort(names, count, sizeof *names, by_name);
	}
	for (uint64_t i = 0; names && i < table_view_rows(w); i++) {
		if (!table_view_value(w, module, i, &v) || v.kind != TABLE_TEXT || !v.n) {
			continue;
		}
		const struct named key = {NULL, v.s, v.n};
		struct named *found = bsearch(&key, names, count, sizeof *names, by_name);
		if (found) {
			found->module->addresses++;
			found->module->named += table_view_value(w, function, i, &f) && is_name(&f);
		}
	}
	free(names);
	return names != NULL;
}

static int by_addresses(const void *x, const void *y)
{
	const struct module *a = x, *b = y;
	return a->addresses != b->addresses ? (a->addresses < b->addresses ? 1 : -1) : by_path(x, y);
}

static void put_module(struct strbuf *b, struct table_maker *maker, const struct module *m)
{
	OPENETW_SIZED(struct openetw_symbol_file, file);
	uint64_t time = m->load == INT64_MIN ? maker->start : table_make_filetime(maker, m->load);
	uint64_t end = table_make_filetime(maker, maker->about.last);
	bool known = openetw_state_symbol_file(maker->state, (uint32_t)m->pid, m->base, time, &file) == ERROR_SUCCESS ||
		     openetw_state_symbol_file(maker->state, (uint32_t)m->pid, m->base, end, &file) == ERROR_SUCCESS;
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "name", m->name);
	json_put_text(b, "path", m->path);
	json_put_text(b, "build", m->build[0] ? m->build : NULL);
	json_put_count(b, "addresses", m->addresses);
	json_put_count(b, "named", m->named);
	json_put_text(b, "file", known ? file.path : NULL);
	json_put_text(b, "why", known ? file.why : "the trace does not say where it lies");
	strbuf_addc(b, '}');
}

static void put_searched(struct strbuf *b)
{
	json_put_name(b, "folders");
	strbuf_addc(b, '[');
	pthread_mutex_lock(&given.lock);
	for (uint32_t i = 0; i < given.count; i++) {
		json_put_text(b, NULL, given.folder[i]);
	}
	pthread_mutex_unlock(&given.lock);
	strbuf_addc(b, ']');
	json_put_text(b, "searched",
		      "what the trace says of its functions; the module's own path; /usr/lib/debug, by build id and by "
		      "name; the "
		      "folders above");
	json_put_text(b, "servers", NULL);
	json_put_text(b, "servers_why",
		      "This version asks no symbol servers (debuginfod): it has no support for them.");
}

static int run_list(struct view_request *r)
{
	char why[400] = "";
	uint32_t count = 0;
	struct view_trace *t = view_trace_of(r);
	struct table_set *images = t ? view_tables_with(r, t, "images", why, sizeof why) : NULL;
	struct table_set *symbols = t ? view_tables_with(r, t, "symbols", why, sizeof why) : NULL;
	struct table_maker *maker = images && symbols ? view_names_lock(r, t, why, sizeof why) : NULL;
	if (!maker) {
		return r->status ? r->status : view_fail(r, 400, "%s", why);
	}
	struct module *list = list_modules(table_set_made(images, "images"), &count);
	bool counted = list && count_addresses(table_set_made(symbols, "symbols"), list, count);
	if (counted && count) {
		qsort(list, count, sizeof *list, by_addresses);
	}
	strbuf_addc(&r->out, '{');
	json_put_name(&r->out, "modules");
	strbuf_addc(&r->out, '[');
	for (uint32_t i = 0; i < count; i++) {
		if (i < MODULES_MOST && !view_gone(r)) {
			put_module(&r->out, maker, &list[i]);
		}
		free(list[i].path);
		free(list[i].name);
		free(list[i].build);
	}
	free(list);
	view_names_unlock(t);
	strbuf_addc(&r->out, ']');
	json_put_count(&r->out, "all", count);
	put_searched(&r->out);
	strbuf_addc(&r->out, '}');
	return counted ? view_done(r) : view_fail(r, 500, "no memory");
}
const struct view_endpoint view_symbols = {
	.keep = true, .path = "symbols", .params = VIEW_TRACE_PARAM, .whole = true, .run = run_list};

/* ---- folders ---------------------------------------------------------------------------------------- */

static bool add_folder(char *folder)
{
	bool added = false, there = false;
	pthread_mutex_lock(&given.lock);
	for (uint32_t i = 0; i < given.count; i++) {
		there |= strcmp(given.folder[i], folder) == 0;
	}
	if (!there && given.count < FOLDERS_MOST) {
		given.folder[given.count++] = folder;
		added = true;
	}
	pthread_mutex_unlock(&given.lock);
	if (!added) {
		free(folder);
	}
	return added || there;
}

/* Another folder; without one, what was not found is looked for again. */
static int run_post(struct view_request *r)
{
	const char *path = NULL;
	if (json_text(json_member(r->body, "folder"), &path)) {
		char *folder = view_folder_below(r->view, path);
		if (!folder) {
			return view_fail(r, 403, "there is no such folder below the folders of --root");
		}
		if (!add_folder(folder)) {
			return view_fail(r, 429, "%u folders are looked into already", FOLDERS_MOST);
		}
	}
	for (uint32_t id = 0, end = view_trace_end(r->view); id < end; id++) {
		struct view_trace *t = view_trace_hold(r->view, id);
		if (t) {
			view_names_forget(t);
			view_trace_let_go(r->view, t);
		}
	}
	view_kept_forget();
	strbuf_adds(&r->out, "{}");
	return view_done(r);
}
const struct view_endpoint view_symbols_post = {
	.path = "symbols", .params = "folder:text", .post = true, .run = run_post};
