/* SPDX-License-Identifier: MIT
 * sessions and recipes: what runs on this machine, and what can be recorded, by verbs of openetw.
 */
#include "tools/view/view.h"

#include "base/order.h"
#include "tools/view/view_child.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define LISTING_MOST (4u << 20)
#define INSTANCE     "openetw-view"

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

/* "free":{"FILE":BYTES}: what is left where each session writes. */
static void put_free(struct view_request *r, const char *printed)
{
	char why[200], folder[4096];
	json_put_name(&r->out, "free");
	strbuf_addc(&r->out, '{');
	for (const char *line = printed; line && *line;) {
		const char *end = strchr(line, '\n'), *file = "";
		size_t n = end ? (size_t)(end - line) : strlen(line);
		struct statvfs s;
		struct json_value *v = json_parse(line, n, why, sizeof why);
		json_text(json_member(v, "file"), &file);
		const char *slash = strrchr(file, '/');
		if (slash && (size_t)(slash - file) < sizeof folder) {
			snprintf(folder, sizeof folder, "%.*s", (int)BASE_MAX(1, slash - file), file);
			if (statvfs(folder, &s) == 0) {
				json_put_count(&r->out, file, (uint64_t)s.f_bavail * s.f_frsize);
			}
		}
		json_free(v);
		line = end ? end + 1 : NULL;
	}
	strbuf_addc(&r->out, '}');
}

static int run_list(struct view_request *r)
{
	struct strbuf out = {0}, err = {0};
	char *words[] = {(char *)"openetw", (char *)"list", (char *)"--json", NULL};
	char recording[160];
	int status = view_child_run(words, LISTING_MOST, &out, &err, view_request_gone, r);
	pthread_mutex_lock(&r->view->lock);
	snprintf(recording, sizeof recording, "%s", r->view->recording);
	pthread_mutex_unlock(&r->view->lock);
	strbuf_adds(&r->out, "{\"sessions\":[");
	view_child_objects(&r->out, out.s);
	strbuf_addc(&r->out, ']');
	put_free(r, out.s);
	json_put_text(&r->out, "recording", recording[0] ? recording : NULL);
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

/* One's own: each profile of a .wprp file in this folder is a recipe. Its name is the title, its description the question. */
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
		       const char *profile, bool ring, bool own)
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
	json_put_truth(b, "own", own);
	json_put_text(b, "target",
		      ring ? "A ring in memory: the oldest events leave, and Stop writes what is there into a file."
			   : "A file, which grows until you stop it.");
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

/* The profiles of a file, as 'openetw wpr -profiles' prints them: a tab, the name, blanks, what it says of itself. */
static int put_own(struct view_request *r, const char *folder, const char *file)
{
	char path[4400], id[600], profile[5000], name[200], question[300];
	struct strbuf out = {0}, err = {0};
	int put = 0;
	snprintf(path, sizeof path, "%s/%.250s", folder, file);
	char *words[] = {(char *)"openetw", (char *)"wpr", (char *)"-profiles", path, NULL};
	int status = view_child_run(words, 1u << 16, &out, &err, view_request_gone, r);
	for (const char *line = status == 0 ? out.s : NULL; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t n = end ? (size_t)(end - line) : strlen(line);
		if (n > 1 && line[0] == '\t' && line[1] != ' ' && line[1] != '\t') {
			size_t length = strcspn(line + 1, " \n");
			const char *said = line + 1 + length;
			said += strspn(said, " ");
			snprintf(name, sizeof name, "%.*s", (int)length, line + 1);
			snprintf(question, sizeof question, "%.*s", (int)BASE_MAX(0, line + n - said), said);
			snprintf(id, sizeof id, "%.250s!%s", file, name);
			snprintf(profile, sizeof profile, "%s!%s", path, name);
			put_recipe(&r->out, id, question[0] ? question : name, name, "what the profile says", profile,
				   false, true);
			put++;
		}
		line = end ? end + 1 : NULL;
	}
	if (status != 0) { /* a file with a mistake is shown, with it */
		json_put_comma(&r->out);
		strbuf_addc(&r->out, '{');
		json_put_text(&r->out, "id", file);
		json_put_text(&r->out, "question", file);
		json_put_text(&r->out, "title", file);
		strbuf_adds(&r->out, ",\"adds\":[],\"command\":[]");
		json_put_truth(&r->out, "own", true);
		json_put_truth(&r->out, "possible", false);
		json_put_text(&r->out, "why", err.len ? err.s : "the file cannot be read");
		strbuf_addc(&r->out, '}');
		put++;
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	return put;
}

static int run_recipes(struct view_request *r)
{
	char folder[4096];
	strbuf_adds(&r->out, "{\"recipes\":[");
	for (size_t i = 0; i < BASE_ARRAY_LEN(recipes); i++) {
		const struct recipe *x = &recipes[i];
		put_recipe(&r->out, x->id, x->question, x->title, x->adds, x->profile, x->ring, false);
	}
	own_folder(folder, sizeof folder);
	DIR *d = opendir(folder);
	struct dirent *e;
	for (int n = 0; d && n < OWN_MOST && (e = readdir(d)) != NULL;) {
		size_t length = strlen(e->d_name);
		if (length > 5 && length < 250 && strcmp(e->d_name + length - 5, ".wprp") == 0) {
			n += put_own(r, folder, e->d_name);
		}
	}
	if (d) {
		closedir(d);
	}
	strbuf_addc(&r->out, ']');
	json_put_text(&r->out, "folder", folder);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_recipes = {.path = "recipes", .params = "", .run = run_recipes};

/* The profile of a recipe. False: there is none. */
static bool profile_of(const char *id, char *out, size_t cap, bool *ret_ring)
{
	char folder[4096], file[300];
	*ret_ring = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(recipes); i++) {
		if (strcmp(recipes[i].id, id) == 0) {
			snprintf(out, cap, "%s", recipes[i].profile);
			*ret_ring = recipes[i].ring;
			return true;
		}
	}
	const char *mark = strchr(id, '!');
	if (!mark || strchr(id, '/') || id[0] == '.' || (size_t)(mark - id) >= sizeof file || !mark[1]) {
		return false;
	}
	own_folder(folder, sizeof folder);
	snprintf(file, sizeof file, "%.*s", (int)(mark - id), id);
	snprintf(out, cap, "%s/%s", folder, file);
	if (access(out, R_OK) != 0) {
		return false;
	}
	snprintf(out, cap, "%s/%s", folder, id);
	return true;
}

/* What a recipe turns on, as lines for the command line. */
static int run_recipe(struct view_request *r)
{
	char profile[4400];
	bool ring;
	struct strbuf out = {0}, err = {0};
	if (!profile_of(view_text(r, "id", ""), profile, sizeof profile, &ring)) {
		return view_fail(r, 404, "there is no recipe '%.100s'", view_text(r, "id", ""));
	}
	char *words[] = {(char *)"openetw",
			 (char *)"wpr",
			 (char *)"-start",
			 profile,
			 (char *)"-explain",
			 ring ? NULL : (char *)"-filemode",
			 NULL};
	int status = view_child_run(words, 1u << 16, &out, &err, view_request_gone, r);
	if (status != 0) {
		view_fail(r, 400, "%s", err.len ? err.s : "the profile cannot be explained");
	} else {
		bool kernel = out.s && strstr(out.s, "--kernel ");
		strbuf_adds(&r->out, "{\"lines\":[");
		for (char *rest = out.s, *line; rest && (line = strsep(&rest, "\n")) != NULL;) {
			if (line[0]) {
				json_put_text(&r->out, NULL, line);
			}
		}
		strbuf_addc(&r->out, ']');
		json_put_text(&r->out, "needs",
			      kernel ? "Events of the whole machine need root or the rights of openetw-kernel."
				     : "Needs no rights: programs of this user are recorded.");
		strbuf_addc(&r->out, '}');
		view_done(r);
	}
	strbuf_finish(&out);
	strbuf_finish(&err);
	return r->status;
}
const struct view_endpoint view_recipe = {.path = "recipe", .params = "id:text", .run = run_recipe};

/* ---- changes ---------------------------------------------------------------------------------------- */

static int verb(struct view_request *r, char *const *words)
{
	struct strbuf out = {0}, err = {0}, line = {0};
	int status = view_child_run(words, 1u << 16, &out, &err, view_request_gone, r);
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
	char profile[4400];
	bool ring;
	if (!profile_of(id, profile, sizeof profile, &ring)) {
		return view_fail(r, 404, "there is no recipe '%.100s'", id);
	}
	char *words[] = {(char *)"openetw",
			 (char *)"wpr",
			 (char *)"-start",
			 profile,
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

static void safe_name(char *s)
{
	for (; *s; s++) {
		*s = *s == '/' || *s == ' ' || *s == '!' ? '_' : *s;
	}
}

/* Opens a file that a verb has written, and tells its number and path. */
static void put_opened(struct view_request *r, char *path)
{
	char why[600] = "";
	uint32_t id;
	struct view_trace *t = view_trace_create(r->view->args, 1, &path, why, sizeof why);
	if (t && view_trace_add(r->view, t, &id)) {
		json_put_count(&r->out, "tr", id);
	} else if (t) {
		view_trace_destroy(t);
	}
	json_put_text(&r->out, "path", path);
}

static int open_written(struct view_request *r, char *path)
{
	put_opened(r, path);
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
	char path[4096] = "";
	pthread_mutex_lock(&r->view->lock);
	for (uint32_t i = 0; i < VIEW_RECORDED_MAX; i++) {
		if (strcmp(r->view->recorded[i].session, session) == 0) {
			snprintf(path, sizeof path, "%s", r->view->recorded[i].path);
			r->view->recorded[i].session[0] = 0;
		}
	}
	pthread_mutex_unlock(&r->view->lock);
	if (path[0]) {
		put_opened(r, path);
	} else {
		json_put_text(&r->out, "path", NULL);
	}
}

/* What a session has in memory, as a file; it goes on. */
static int save_session(struct view_request *r, const char *session)
{
	char path[4400], what[160];
	snprintf(what, sizeof what, "%.100s", session);
	safe_name(what);
	view_new_file(r->view, what, path, sizeof path);
	char *words[] = {
		(char *)"openetw", (char *)"flush", (char *)"-o", path, (char *)"--", (char *)(uintptr_t)session, NULL};
	return verb(r, words) == 0 ? open_written(r, path) : r->status;
}

static int stop_recipe(struct view_request *r)
{
	char path[4400], what[160];
	pthread_mutex_lock(&r->view->lock);
	snprintf(what, sizeof what, "%.100s", r->view->recording);
	pthread_mutex_unlock(&r->view->lock);
	safe_name(what);
	view_new_file(r->view, what[0] ? what : "trace", path, sizeof path);
	char *words[] = {(char *)"openetw", (char *)"wpr", (char *)"-stop", path, (char *)"-instancename",
			 (char *)INSTANCE,  NULL};
	if (verb(r, words) != 0) {
		return r->status;
	}
	pthread_mutex_lock(&r->view->lock);
	r->view->recording[0] = 0;
	pthread_mutex_unlock(&r->view->lock);
	return open_written(r, path);
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
	if (session && session[0] && strcmp(what, "save") == 0) {
		return save_session(r, session);
	}
	if (!session || !session[0] || (strcmp(what, "stop") != 0 && strcmp(what, "flush") != 0)) {
		return view_fail(r, 400,
				 "\"do\" is start with a recipe or a provider, or stop, flush or save with a session");
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
