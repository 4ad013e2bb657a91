/* SPDX-License-Identifier: MIT
 * sessions and recipes: what runs on this machine, and what can be recorded, by verbs of openetw.
 */
#include "tools/view/view.h"

#include "base/order.h"
#include "tools/view/view_child.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LISTING_MOST (4u << 20)
#define INSTANCE     "openetw-view"

static bool gone(void *context)
{
	return view_gone(context);
}

void view_new_file(const struct view *v, const char *what, char *out, size_t cap)
{
	char stamp[40];
	time_t now = time(NULL);
	struct tm tm;
	localtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
	const char *folder = v->may.root_count ? v->may.roots[0] : ".";
	snprintf(out, cap, "%s/%s-%s.etl", folder, what, stamp);
	for (int i = 2; access(out, F_OK) == 0 && i < 1000; i++) { /* of the same second */
		snprintf(out, cap, "%s/%s-%s-%d.etl", folder, what, stamp, i);
	}
}

/* ---- sessions --------------------------------------------------------------------------------------- */

static int run_list(struct view_request *r)
{
	struct strbuf out = {0}, err = {0};
	char *words[] = {(char *)"openetw", (char *)"list", (char *)"--json", NULL};
	int status = view_child_run(words, LISTING_MOST, &out, &err, gone, r);
	strbuf_adds(&r->out, "{\"sessions\":[");
	view_child_objects(&r->out, out.s);
	strbuf_addc(&r->out, ']');
	json_put_text(&r->out, "recording", r->view->recording[0] ? r->view->recording : NULL);
	json_put_text(&r->out, "problem", status != 0 && err.len ? err.s : NULL);
	strbuf_addc(&r->out, '}');
	strbuf_finish(&out);
	strbuf_finish(&err);
	return view_done(r);
}
const struct view_endpoint view_sessions = {.path = "sessions", .params = "", .run = run_list};

/* ---- recipes ---------------------------------------------------------------------------------------- */

struct recipe {
	const char *id, *question, *title, *adds;
	const char *profile; /* of wpr */
	bool ring;           /* kept in memory until somebody wants it */
};
static const struct recipe recipes[] = {
	{"cpu", "What uses the CPU?", "Processor usage",
	 "samples of what runs, context switches, wake-ups, call stacks", "CPU.Verbose", false},
	{"stuck", "Why is it stuck?", "Waits", "context switches, who woke whom, samples, disks, call stacks",
	 "GeneralProfile.Verbose", false},
	{"disk", "Who touches the disk?", "Disk activity", "requests to disks with their files, call stacks",
	 "DiskIO.Verbose", false},
	{"files", "Which files?", "File activity",
	 "opening, reading, writing, renaming, deleting of files, call stacks", "FileIO.Verbose", false},
	{"network", "Who talks to whom?", "Network activity", "connections, bytes sent and received, call stacks",
	 "Network.Verbose", false},
	{"memory", "What makes memory grow?", "Memory", "memory taken and given back, page faults, call stacks",
	 "VirtualAllocation.Verbose", false},
	{"dotnet", "What does .NET do?", ".NET", "garbage collections, compiled methods, samples", "DotNET.Verbose",
	 false},
	{"apps", "What do applications say?", "Application events",
	 "all registered providers, information and more severe", "Providers.Light", false},
	{"ring", "Keep the last seconds, always", "Flight recorder",
	 "samples, context switches and disks in memory; Stop writes what is there", "GeneralProfile.Light", true},
};

/* One's own: a .wprp file in this folder is a recipe, whose name is its question. */
static void own_folder(char *out, size_t cap)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && config[0] == '/') {
		snprintf(out, cap, "%s/openetw/recipes", config);
	} else {
		snprintf(out, cap, "%s/.config/openetw/recipes", home ? home : "/nonexistent");
	}
}

static void put_recipe(struct strbuf *b, const char *id, const char *question, const char *title, const char *adds,
		       const char *profile, bool ring)
{
	json_put_comma(b);
	strbuf_addc(b, '{');
	json_put_text(b, "id", id);
	json_put_text(b, "question", question);
	json_put_text(b, "title", title);
	json_put_name(b, "adds");
	strbuf_addc(b, '[');
	json_put_text(b, NULL, adds);
	strbuf_addc(b, ']');
	json_put_text(b, "needs", "Events of the whole machine need root or the rights of openetw-kernel.");
	json_put_name(b, "command");
	strbuf_addc(b, '[');
	json_put_text(b, NULL, "openetw");
	json_put_text(b, NULL, "wpr");
	json_put_text(b, NULL, "-start");
	json_put_text(b, NULL, profile);
	if (!ring) {
		json_put_text(b, NULL, "-filemode");
	}
	strbuf_addc(b, ']');
	json_put_truth(b, "possible", true);
	strbuf_addc(b, '}');
}

#define OWN_MOST 100

static int run_recipes(struct view_request *r)
{
	char folder[4096], path[4400], question[300];
	strbuf_adds(&r->out, "{\"recipes\":[");
	for (size_t i = 0; i < BASE_ARRAY_LEN(recipes); i++) {
		const struct recipe *x = &recipes[i];
		put_recipe(&r->out, x->id, x->question, x->title, x->adds, x->profile, x->ring);
	}
	own_folder(folder, sizeof folder);
	DIR *d = opendir(folder);
	struct dirent *e;
	for (int n = 0; d && n < OWN_MOST && (e = readdir(d)) != NULL;) {
		size_t length = strlen(e->d_name);
		if (length < 6 || strcmp(e->d_name + length - 5, ".wprp") != 0) {
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		snprintf(question, sizeof question, "%.*s", (int)(length - 5), e->d_name);
		put_recipe(&r->out, e->d_name, question, question, "what the profile says", path, false);
		n++;
	}
	if (d) {
		closedir(d);
	}
	strbuf_adds(&r->out, "]}");
	return view_done(r);
}
const struct view_endpoint view_recipes = {.path = "recipes", .params = "", .run = run_recipes};

/* ---- changes ---------------------------------------------------------------------------------------- */

static int verb(struct view_request *r, char *const *words)
{
	struct strbuf out = {0}, err = {0}, line = {0};
	int status = view_child_run(words, 1u << 16, &out, &err, gone, r);
	for (int i = 0; words[i]; i++) {
		strbuf_addf(&line, i ? " %s" : "%s", words[i]);
	}
	if (status != 0) {
		view_fail(r, 400, "%s", err.len ? err.s : out.len ? out.s : "it could not be done");
	} else {
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "command", line.s ? line.s : "");
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	strbuf_finish(&line);
	return status;
}

static int start_recipe(struct view_request *r, const char *id)
{
	char folder[4096], path[4400] = "";
	const char *profile = NULL;
	bool ring = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(recipes); i++) {
		if (strcmp(recipes[i].id, id) == 0) {
			profile = recipes[i].profile;
			ring = recipes[i].ring;
		}
	}
	if (!profile && !strchr(id, '/') && id[0] != '.') {
		own_folder(folder, sizeof folder);
		snprintf(path, sizeof path, "%s/%.200s", folder, id);
		profile = access(path, R_OK) == 0 ? path : NULL;
	}
	if (!profile) {
		return view_fail(r, 404, "there is no recipe '%.100s'", id);
	}
	char *words[] = {(char *)"openetw",
			 (char *)"wpr",
			 (char *)"-start",
			 (char *)(uintptr_t)profile,
			 (char *)"-instancename",
			 (char *)INSTANCE,
			 ring ? NULL : (char *)"-filemode",
			 NULL};
	if (verb(r, words) != 0) {
		return r->status;
	}
	pthread_mutex_lock(&r->view->lock);
	snprintf(r->view->recording, sizeof r->view->recording, "%.150s", id);
	pthread_mutex_unlock(&r->view->lock);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}

static int stop_recipe(struct view_request *r)
{
	char path[4400], why[600] = "", what[160];
	pthread_mutex_lock(&r->view->lock);
	snprintf(what, sizeof what, "%.100s", r->view->recording);
	pthread_mutex_unlock(&r->view->lock);
	for (char *s = what; *s; s++) {
		*s = *s == '/' || *s == ' ' ? '_' : *s;
	}
	view_new_file(r->view, what[0] ? what : "trace", path, sizeof path);
	char *words[] = {(char *)"openetw", (char *)"wpr", (char *)"-stop", path, (char *)"-instancename",
			 (char *)INSTANCE,  NULL};
	if (verb(r, words) != 0) {
		return r->status;
	}
	pthread_mutex_lock(&r->view->lock);
	r->view->recording[0] = 0;
	pthread_mutex_unlock(&r->view->lock);
	char *file = path;
	struct view_trace *t = view_trace_create(r->view->args, 1, &file, why, sizeof why);
	if (t && view_trace_add(r->view, t)) {
		json_put_count(&r->out, "tr", t->id);
	} else if (t) {
		view_trace_destroy(t);
	}
	json_put_text(&r->out, "path", path);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}

/* A session of a provider into a file of its own. */
static int start_provider(struct view_request *r, const char *provider)
{
	static uint32_t number;
	struct view *v = r->view;
	char session[64], path[4096];
	uint32_t place = VIEW_RECORDED_MAX;
	if (!provider[0] || provider[0] == '-' || strlen(provider) > 300) {
		return view_fail(r, 400, "\"provider\" is to be a name or a GUID");
	}
	snprintf(session, sizeof session, "openetw-view-%d-p%u", (int)getpid(), order_add_relaxed(&number, 1));
	view_new_file(v, "provider", path, sizeof path);
	pthread_mutex_lock(&v->lock);
	for (uint32_t i = 0; i < VIEW_RECORDED_MAX && place == VIEW_RECORDED_MAX; i++) {
		if (!v->recorded[i].session[0]) {
			place = i;
			snprintf(v->recorded[i].session, sizeof v->recorded[i].session, "%s", session);
			snprintf(v->recorded[i].path, sizeof v->recorded[i].path, "%s", path);
		}
	}
	pthread_mutex_unlock(&v->lock);
	if (place == VIEW_RECORDED_MAX) {
		return view_fail(r, 429, "%u providers are being recorded; stop one first", VIEW_RECORDED_MAX);
	}
	char *words[] = {(char *)"openetw",
			 (char *)"start",
			 session,
			 (char *)"-o",
			 path,
			 (char *)"-p",
			 (char *)(uintptr_t)provider,
			 NULL};
	if (verb(r, words) != 0) {
		pthread_mutex_lock(&v->lock);
		v->recorded[place].session[0] = 0;
		pthread_mutex_unlock(&v->lock);
		return r->status;
	}
	json_put_text(&r->out, "session", session);
	json_put_text(&r->out, "path", path);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}

/* Opens what a session of start_provider() wrote. */
static void open_recorded(struct view_request *r, const char *session)
{
	char path[4096] = "", why[600] = "", *file = path;
	pthread_mutex_lock(&r->view->lock);
	for (uint32_t i = 0; i < VIEW_RECORDED_MAX; i++) {
		if (strcmp(r->view->recorded[i].session, session) == 0) {
			snprintf(path, sizeof path, "%s", r->view->recorded[i].path);
			r->view->recorded[i].session[0] = 0;
		}
	}
	pthread_mutex_unlock(&r->view->lock);
	struct view_trace *t = path[0] ? view_trace_create(r->view->args, 1, &file, why, sizeof why) : NULL;
	if (t && view_trace_add(r->view, t)) {
		json_put_count(&r->out, "tr", t->id);
	} else if (t) {
		view_trace_destroy(t);
	}
	json_put_text(&r->out, "path", path[0] ? path : NULL);
}

static int run_post(struct view_request *r)
{
	const char *what = "", *session = NULL, *recipe = NULL, *provider = NULL;
	json_text(json_member(r->body, "do"), &what);
	json_text(json_member(r->body, "session"), &session);
	json_text(json_member(r->body, "recipe"), &recipe);
	json_text(json_member(r->body, "provider"), &provider);
	if (strcmp(what, "start") == 0 && recipe) {
		return start_recipe(r, recipe);
	}
	if (strcmp(what, "start") == 0 && provider) {
		return start_provider(r, provider);
	}
	if (strcmp(what, "stop") == 0 && recipe) {
		return stop_recipe(r);
	}
	if (!session || !session[0] || (strcmp(what, "stop") != 0 && strcmp(what, "flush") != 0)) {
		return view_fail(r, 400,
				 "\"do\" is start with a recipe or a provider, or stop or flush with a session");
	}
	char *words[] = {(char *)"openetw", (char *)(uintptr_t)what, (char *)"--", (char *)(uintptr_t)session, NULL};
	if (verb(r, words) != 0) {
		return r->status;
	}
	json_put_text(&r->out, "session", session);
	if (strcmp(what, "stop") == 0) {
		open_recorded(r, session);
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_sessions_post = {
	.path = "sessions", .params = "do:text session:text recipe:text provider:text", .post = true, .run = run_post};
