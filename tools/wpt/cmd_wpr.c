/* SPDX-License-Identifier: MIT
 * wpr: the recorder that comes with Windows; what it records stands in profiles (.wprp).
 */
#include "tools/common/session_options.h"
#include "tools/common/mark.h"
#include "tools/common/path.h"
#include "tools/classic/explain_line.h"
#include "tools/wpt/wpr.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

static const struct cli_option options[] = {
	CLI_VERB(wpr_options, verb, "start", "PROFILE", "record: [file.wprp!]Name[.Light|.Verbose] (repeatable)"),
	CLI_FLAG(wpr_options, file_mode, 0, "filemode", "record to a file; else to a ring in memory"),
	CLI_WORD(wpr_options, record_to, 0, "recordtempto", "DIR",
		 "where the files are until -stop (default $TMPDIR or /var/tmp)"),
	CLI_VERB(wpr_options, verb, "stop", "FILE",
		 "end the recording and write it; a description of the problem may follow"),
	CLI_FLAG(wpr_options, compress, 0, "compress", "with -stop: compress the file"),
	CLI_ACCEPTED(0, "skipPdbGen", NULL, "with -stop: accepted, there are no symbol files to make"),
	CLI_VERB(wpr_options, verb, "cancel", NULL, "end the recording and throw it away"),
	CLI_VERB(wpr_options, verb, "status", "[WHAT]", "is there a recording? also: profiles, collectors [details]"),
	CLI_FLAG(wpr_options, details, 0, "details", "with -status collectors: providers too"),
	CLI_VERB(wpr_options, verb, "profiles", "[FILE]", "list the built-in profiles, or check a file and list its"),
	CLI_VERB(wpr_options, verb, "profiledetails", "PROFILE", "what a profile records; several joined by +"),
	CLI_VERB(wpr_options, verb, "exportprofile", "PROFILE", "write it, resolved, to the file that follows"),
	CLI_VERB(wpr_options, verb, "merge", "FILE", "merge this and the following files into the last one"),
	CLI_VERB(wpr_options, verb, "marker", "TEXT", "put a mark into the recording"),
	CLI_VERB(wpr_options, verb, "markerflush", "TEXT", "the same, and write what is buffered"),
	CLI_VERB(wpr_options, verb, "flush", NULL, "write what is buffered to the file"),
	CLI_VERB(wpr_options, verb, "capturestateondemand", NULL, "ask the providers for their state now"),
	CLI_VERB(wpr_options, verb, "providers", NULL, "list registered providers"),
	CLI_WORD(wpr_options, instance, 0, "instancename", "NAME",
		 "another recording beside the first; say it with every verb"),
	CLI_FLAG(wpr_options, explain, 0, "explain", "print the same as lines of openetw, do nothing"),
	CLI_WORD(wpr_options, scenario, 0, "onoffscenario", "NAME", NULL),
	CLI_NAMED(wpr_options, scenario_part, "onoffresultspath", "DIR", NULL),
	CLI_NAMED(wpr_options, scenario_part, "onoffproblemdescription", "TEXT", NULL),
	CLI_NAMED(wpr_options, scenario_part, "numiterations", "N", NULL),
	CLI_FLAG(wpr_options, boottrace, 0, "boottrace", "may stand before the next three"),
	CLI_VERB(wpr_options, verb, "addboot", "PROFILE",
		 "record from the next start of etwd on (as root: of the machine; repeatable)"),
	CLI_VERB(wpr_options, verb, "stopboot", "FILE", "end that recording and write it, as -stop"),
	CLI_VERB(wpr_options, verb, "cancelboot", NULL, "end it, or do not let it begin, and throw it away"),
	CLI_VERB(wpr_options, verb, "pmcsources", NULL, "list counters and sources of samples, with their intervals"),
	CLI_VERB(wpr_options, verb, "pmcsessions", NULL, "list the sessions that count, and what"),
	CLI_VERB(wpr_options, verb, "setprofint", "N",
		 "time between samples, in 100 ns: 10000 is a millisecond; a source of -pmcsources may follow"),
	CLI_VERB(wpr_options, verb, "profint", NULL, "print it"),
	CLI_VERB(wpr_options, verb, "resetprofint", NULL,
		 "a millisecond again, and what other sources had; one source may follow"),
	CLI_NAMED(wpr_options, refused, "heaptracingconfig", "[NAME]", NULL),
	CLI_NAMED(wpr_options, refused, "snapshotconfig", "[NAME]", NULL),
	CLI_ACCEPTED(0, "name", "NAME", NULL),
	CLI_ACCEPTED(0, "pid", "PID", NULL),
	CLI_NAMED(wpr_options, refused, "singlesnapshot", "[NAME]", NULL),
	CLI_NAMED(wpr_options, refused, "enableperiodicsnapshot", "[NAME]", NULL),
	CLI_NAMED(wpr_options, refused, "disableperiodicsnapshot", "[NAME]", NULL),
	CLI_WORD(wpr_options, paging, 0, "disablepagingexecutive", "[ON]", "accepted: it never is paged out"),
	CLI_FLAG(wpr_options, purge_cache, 0, "purgecache", "accepted: there is none"),
	CLI_NAMED(wpr_options, refused, "log", "[WHAT]", NULL),
	{0},
};

/* Verbs that are known and refused, and why. */
static const struct {
	const char *name, *why;
} refused[] = {
	{"heaptracingconfig", "wpr records none; 'openetw record --heap PID|NAME' does"},
	{"snapshotconfig", "heap snapshots have no source on this system"},
	{"singlesnapshot", "heap snapshots have no source on this system"},
	{"enableperiodicsnapshot", "heap snapshots have no source on this system"},
	{"disableperiodicsnapshot", "heap snapshots have no source on this system"},
	{"log", "there is no event log of the recorder; mistakes are printed"},
};

/* A scenario restarts or suspends the machine while it records. */
static int refuse_scenario(struct cli_args *a, const char *name)
{
	static const struct {
		const char *name, *instead;
	} scenarios[] = {
		{"Boot",
		 "'wpr -addboot PROFILE -filemode' records from the next start on, 'wpr -stopboot FILE' saves it"},
		{"FastStartup", "there is no such start here; 'wpr -addboot PROFILE' records the next one"},
		{"Shutdown",
		 "'wpr -start PROFILE -filemode -recordtempto DIR' leaves in DIR what it had recorded by then"},
		{"RebootCycle",
		 "'wpr -addboot PROFILE -filemode' records from the next start on, 'wpr -stopboot FILE' saves it"},
		{"Standby", "'wpr -start PROFILE', 'systemctl suspend' and 'wpr -stop FILE' do it"},
		{"Hibernate", "'wpr -start PROFILE', 'systemctl hibernate' and 'wpr -stop FILE' do it"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(scenarios); i++) {
		if (strcasecmp(scenarios[i].name, name) == 0) {
			return wpr_fail(WPR_NOT_SUPPORTED,
					"-onoffscenario %s: wpr does not restart or suspend this machine.\n\tBut %s.",
					scenarios[i].name, scenarios[i].instead);
		}
	}
	return cli_usage(
		a, "-onoffscenario is Boot, FastStartup, Shutdown, RebootCycle, Standby or Hibernate, not '%s'", name);
}

/* Settings that scripts make before they record, and which are so here anyway; -1: none was given. */
static int settle(struct cli_args *a, const struct wpr_options *o)
{
	if (o->purge_cache) {
		fprintf(stderr, "wpr: note: there is no cache of symbols here, so nothing to purge\n");
		return CLI_OK;
	}
	const char *v = o->paging;
	if (!v) {
		return -1;
	}
	v = *v ? v : a->count > 0 ? a->words[0] : "";
	if (strcasecmp(v, "on") == 0) {
		fprintf(stderr, "wpr: note: the kernel of this system is never paged out, so nothing to set\n");
		return CLI_OK;
	}
	return strcasecmp(v, "off") == 0
		       ? wpr_fail(WPR_NOT_SUPPORTED, "-disablepagingexecutive off: the kernel of this system is "
						     "never paged out.")
		       : cli_usage(a, "-disablepagingexecutive is on or off, not '%s'", v);
}

static void remove_work(struct wpr *w)
{
	if (*w->work && rmdir(w->work) == 0) {
		*w->work = 0;
	}
}

/* A private folder for the files so far. */
static int make_work(struct wpr *w, const char *wanted)
{
	const char *tmp = getenv("TMPDIR");
	const char *in = wanted ? wanted : tmp && *tmp ? tmp : "/var/tmp";
	char absolute[PATH_MAX];
	if (!realpath(in, absolute)) {
		/* A folder that is not there is ERROR_PATH_NOT_FOUND. */
		return wpr_fail(WPR_HRESULT(errno == ENOENT ? ERROR_PATH_NOT_FOUND : win32_from_errno(-errno)),
				"Cannot record to %s: %s", in, strerror(errno));
	}
	snprintf(w->work, sizeof w->work, "%.*s/openetw-wpr-XXXXXX", (int)sizeof w->work - 32, absolute);
	if (!mkdtemp(w->work)) {
		int err = errno;
		*w->work = 0;
		return wpr_fail(WPR_HRESULT(win32_from_errno(-err)), "Cannot record to %s: %s", in, strerror(err));
	}
	return CLI_OK;
}

static bool running(struct wpr *w)
{
	return wpr_state_load(w) && wpr_sessions_run(w);
}

static int not_running(const struct wpr *w)
{
	if (*w->boot) {
		return wpr_fail(WPR_NOT_RUNNING, "There is no recording from boot. 'wpr -addboot PROFILE' adds one.");
	}
	return *w->instance ? wpr_fail(WPR_NOT_RUNNING,
				       "There are no trace profiles running with the instance name '%s'.", w->instance)
			    : wpr_fail(WPR_NOT_RUNNING, "There are no trace profiles running.");
}

/* ---- start ------------------------------------------------------------------------------------ */

/* The profiles that -start or -addboot name. */
static int choose(struct wpr *w)
{
	const struct cli_words *words = &w->o->verb.values;
	unsigned providers;
	if (words->count > WPR_PROFILES_MAX) {
		return cli_usage(w->args, "more than %d profiles", WPR_PROFILES_MAX);
	}
	int status = wpr_choose(w, words->text, words->count, w->o->file_mode);
	return status ? status : wpr_check_sources(w, true, &providers);
}

static int run_addboot(struct wpr *w)
{
	struct cli_args *a = w->args;
	bool file_mode = w->o->file_mode;
	int status = choose(w);
	if (status) {
		return status;
	}
	wpr_boot_begin(w);
	if (w->o->explain) {
		snprintf(w->work, sizeof w->work, "%s", w->o->record_to ? w->o->record_to : ".");
		return wpr_boot_add(w);
	}
	struct wpr before = {.args = a, .o = w->o, .instance = w->instance, .lock = -1};
	snprintf(before.boot, sizeof before.boot, "%s", w->boot);
	if (!wpr_state_open(w, true)) {
		return CLI_FAILED;
	}
	memcpy(before.state, w->state, sizeof before.state);
	bool had = wpr_state_load(&before);
	wpr_close(&before);
	if (had) {
		return wpr_fail(WPR_ALREADY_RUNNING,
				"A recording from boot is there already: %s.\n\t'wpr -stopboot FILE' saves it, "
				"'wpr -cancelboot' takes it away.",
				before.names);
	}
	w->started = clock_filetime();
	char kept[PATH_MAX]; /* temporary folders do not see the next start of the machine */
	if (file_mode && !wpr_boot_folder(kept, sizeof kept)) {
		return CLI_FAILED;
	}
	status = file_mode ? make_work(w, w->o->record_to ? w->o->record_to : kept) : CLI_OK;
	status = status ? status : wpr_state_save(w);
	status = status ? status : wpr_boot_add(w);
	if (status) {
		wpr_state_remove(w);
		remove_work(w);
	}
	return status;
}

static int run_start(struct wpr *w)
{
	struct cli_args *a = w->args;
	bool file_mode = w->o->file_mode;
	int status = choose(w);
	if (status) {
		return status;
	}
	if (w->o->explain) {
		snprintf(w->work, sizeof w->work, "%s", w->o->record_to ? w->o->record_to : ".");
		wpr_sessions_explain(w);
		return CLI_OK;
	}
	struct wpr before = {.args = a, .o = w->o, .instance = w->instance, .lock = -1};
	memcpy(before.state, w->state, sizeof before.state);
	if (!wpr_state_open(w, true)) {
		return CLI_FAILED;
	}
	memcpy(before.state, w->state, sizeof before.state);
	bool had = wpr_state_load(&before);
	bool runs = had && wpr_sessions_run(&before);
	if (runs) {
		status = wpr_fail(WPR_ALREADY_RUNNING,
				  "The profiles are already running: %s.\n\t'wpr -stop FILE' saves the recording, "
				  "'wpr -cancel' throws it away; -instancename NAME\n\tmakes another beside it.",
				  before.names);
	} else if (had) {
		fprintf(stderr, "wpr: the last recording (%s) ended without -stop%s%s\n", before.names,
			*before.work ? "; what it wrote is still in " : "", before.work);
		wpr_state_remove(&before);
	}
	wpr_close(&before);
	if (runs) {
		return status;
	}
	w->started = clock_filetime();
	status = file_mode ? make_work(w, w->o->record_to) : CLI_OK;
	/* First the note of it: whoever is killed in between can still be cleaned up after. */
	status = status ? status : wpr_state_save(w);
	status = status ? status : wpr_sessions_start(w);
	status = status ? status : wpr_state_save(w); /* RegisteredProviders are known now */
	if (status) {
		wpr_sessions_cancel(w);
		wpr_state_remove(w);
		return status;
	}
	fprintf(stderr, "The trace was successfully started.\n");
	return CLI_OK;
}

/* ---- stop ------------------------------------------------------------------------------------- */

static void explain_stop(struct wpr *w, const char *to)
{
	unsigned index = 0;
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		if (c->kind != PROFILE_EVENT) {
			continue;
		}
		wpr_session_name(w->instance, c, name, sizeof name);
		for (const struct profile_provider *p = c->providers; p && to; p = p->next) {
			if (p->on_save.wanted) {
				printf("openetw enable %s --capture-state %s\n", cli_quoted("%s", name),
				       cli_quoted("%s:0x%llx:%u", p->name,
						  (unsigned long long)(p->keywords | p->on_save.keywords), p->level));
			}
		}
		if (w->profile->mode == PROFILE_MEMORY && to) {
			printf("openetw flush %s -o part%u.etl\n", cli_quoted("%s", name), ++index);
		}
		printf("openetw stop %s\n", cli_quoted("%s", name));
	}
	if (to) {
		printf("openetw merge %s -o %s\n", w->profile->mode == PROFILE_MEMORY ? "part*.etl" : "FILES",
		       cli_quoted("%s", to));
	}
}

/* Did a session leave a file? */
static bool parts_there(const struct wpr *w)
{
	struct wpr_parts parts = {0};
	unsigned index = 0;
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		if (wpr_recorded(c) && *w->work) {
			wpr_each_part(w, c, index, wpr_collect_part, &parts);
		}
		index += wpr_recorded(c);
	}
	for (unsigned i = 0; i < parts.count; i++) {
		free(parts.file[i]);
	}
	free(parts.file);
	return parts.count > 0;
}

/* The description, into a session that takes it: one of the kernel alone has not asked for it. */
static void describe(struct wpr *w, const char *problem)
{
	uint32_t code = cli_mark_write("ProblemDescription", problem);
	for (const struct profile_collector *c = w->profile->collectors; c && code == ERROR_WMI_INSTANCE_NOT_FOUND;
	     c = c->next) {
		char name[512];
		struct cli_props p;
		wpr_session_name(w->instance, c, name, sizeof name);
		if (wpr_recorded(c) && cli_session_query(name, &p) == ERROR_SUCCESS &&
		    cli_mark_enable(p.p.Wnode.HistoricalContext) == ERROR_SUCCESS) {
			code = cli_mark_write("ProblemDescription", problem);
		}
	}
	if (code) {
		fprintf(stderr, "wpr: warning: the description is not in the file: %s\n",
			openetw_error_text(code) ? openetw_error_text(code) : "unknown error");
	}
}

static int run_stop(struct wpr *w)
{
	struct cli_args *a = w->args;
	char mapped[PATH_MAX];
	const char *to = cli_path_told(cli_words_last(&w->o->verb.values), mapped);
	const char *problem = a->count > 0 ? a->words[0] : NULL;
	struct wpr_totals t;
	char **files = NULL;
	unsigned count = 0;
	bool explain = w->o->explain;
	if (!wpr_state_open(w, !explain)) {
		return CLI_FAILED;
	}
	/* A file recording whose sessions ended (a full disk, a killed etwd) can still be saved. */
	bool known = wpr_state_load(w), runs = known && wpr_sessions_run(w);
	if (known && !runs && *w->boot && !parts_there(w)) {
		return wpr_fail(WPR_NOT_RUNNING,
				"The recording from boot has not begun: etwd was not started since it was added.\n"
				"\t'wpr -cancelboot' takes it away.");
	}
	if (!known || (!runs && w->profile->mode == PROFILE_MEMORY)) {
		wpr_state_remove(w);
		return not_running(w);
	}
	if (explain) {
		explain_stop(w, to);
		return CLI_OK;
	}
	int status = wpr_result_try(to);
	if (status == CLI_OK && !*w->work) {
		char parent[PATH_MAX];
		snprintf(parent, sizeof parent, "%s", to);
		char *slash = strrchr(parent, '/');
		if (slash) {
			slash[slash == parent] = 0;
		}
		status = make_work(w, slash ? parent : ".");
	}
	if (status) {
		return status;
	}
	int captured = wpr_sessions_capture(w, WPR_ON_SAVE);
	if (problem && *problem) {
		describe(w, problem);
	}
	wpr_identity_write(w);
	status = wpr_sessions_save(w, &files, &count, &t);
	if (status == CLI_OK) {
		status = wpr_result_write(w, files, count, to);
		if (status == CLI_OK) {
			remove_work(w);
		}
		wpr_state_remove(w); /* no session is left, whatever became of the file */
	}
	for (unsigned i = 0; i < count; i++) {
		free(files[i]);
	}
	free(files);
	if (status) {
		return status;
	}
	fprintf(stderr, "The trace was successfully saved.\n");
	printf("%s: %llu event%s", to, (unsigned long long)t.events, PLURAL(t.events));
	printf(t.events_lost || t.buffers_lost ? ", LOST %llu events and %llu buffers\n" : ", none lost\n",
	       (unsigned long long)t.events_lost, (unsigned long long)t.buffers_lost);
	return t.missing ? CLI_FAILED : captured;
}

static int run_cancel(struct wpr *w)
{
	bool explain = w->o->explain;
	if (!wpr_state_open(w, !explain)) {
		return CLI_FAILED;
	}
	if (!wpr_state_load(w)) {
		return not_running(w);
	}
	if (explain) {
		explain_stop(w, NULL);
		return CLI_OK;
	}
	bool ran = wpr_sessions_run(w);
	wpr_sessions_cancel(w);
	wpr_state_remove(w);
	if (*w->boot) {
		remove_work(w);
		return CLI_OK; /* it need not have begun */
	}
	return ran ? CLI_OK : not_running(w);
}

/* ---- while it runs ------------------------------------------------------------------------------ */

static int run_mark(struct wpr *w, const char *verb)
{
	if (!wpr_state_open(w, false)) {
		return CLI_FAILED;
	}
	if (!running(w)) {
		return not_running(w);
	}
	uint32_t code = cli_mark_write("Mark", cli_words_last(&w->o->verb.values));
	if (code) {
		return wpr_fail_call(code, "cannot write the mark");
	}
	return strcmp(verb, "markerflush") == 0 ? wpr_sessions_flush(w) : CLI_OK;
}

static int run_while(struct wpr *w, bool demand)
{
	if (!wpr_state_open(w, demand)) {
		return CLI_FAILED;
	}
	if (!running(w)) {
		return not_running(w);
	}
	return demand ? wpr_sessions_capture(w, WPR_ON_DEMAND) : wpr_sessions_flush(w);
}

/* ---- the verb --------------------------------------------------------------------------------- */

/* -explain of the verbs that have no other way to say it; -1: they have. */
static int explain(struct wpr *w, const char *verb)
{
	bool marks = strncmp(verb, "marker", 6) == 0, flushes = strcmp(verb, "flush") == 0;
	if (strcmp(verb, "status") == 0) {
		return cli_same("list", NULL);
	}
	if (strcmp(verb, "providers") == 0) {
		return cli_same("providers", NULL);
	}
	if (strncmp(verb, "pmc", 3) == 0) {
		return cli_same("pmc", strcmp(verb, "pmcsessions") == 0 ? "--sessions" : NULL, NULL);
	}
	if (strstr(verb, "profint")) {
		return cli_same_none(CLI_SAME_INTERVAL);
	}
	if (strstr(verb, "profile")) {
		return cli_same_none("profiles are wpr's own; openetw has no verb for them");
	}
	if (marks) {
		cli_same("mark", cli_words_last(&w->o->verb.values), NULL);
	}
	if (!flushes && strcmp(verb, "markerflush") != 0 && strcmp(verb, "capturestateondemand") != 0) {
		return marks ? CLI_OK : -1;
	}
	if (!wpr_state_open(w, false)) {
		return CLI_FAILED;
	}
	if (!running(w)) {
		return not_running(w);
	}
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		wpr_session_name(w->instance, c, name, sizeof name);
		if (wpr_recorded(c) && strcmp(verb, "capturestateondemand") != 0) {
			cli_same("flush", name, NULL);
		}
		for (const struct profile_provider *p = c->providers; p && *verb == 'c'; p = p->next) {
			if (p->kind == PROFILE_EVENT && p->on_demand.wanted) {
				cli_same("enable", name, "--capture-state", p->name, NULL);
			}
		}
	}
	return CLI_OK;
}

static int dispatch(struct wpr *w, const char *verb)
{
	struct cli_args *a = w->args;
	bool stops = strcmp(verb, "stop") == 0 || strcmp(verb, "stopboot") == 0;
	if (a->count > 0 && !stops && strcmp(verb, "status") != 0 && strcmp(verb, "exportprofile") != 0 &&
	    strcmp(verb, "merge") != 0 && !strstr(verb, "profint")) {
		return cli_usage(a, "'%s' belongs to no option", a->words[0]);
	}
	if (a->count > 1 && stops) {
		return cli_usage(a, "'%s' belongs to no option; a description with spaces needs quotes", a->words[1]);
	}
	if (strcmp(verb, "stopboot") == 0 || strcmp(verb, "cancelboot") == 0) {
		wpr_boot_begin(w);
	}
	int told = w->o->explain ? explain(w, verb) : -1;
	if (told >= 0) {
		return told;
	}
	return strcmp(verb, "start") == 0            ? run_start(w)
	       : strcmp(verb, "addboot") == 0        ? run_addboot(w)
	       : strcmp(verb, "stopboot") == 0       ? run_stop(w)
	       : strcmp(verb, "cancelboot") == 0     ? run_cancel(w)
	       : strcmp(verb, "stop") == 0           ? run_stop(w)
	       : strcmp(verb, "cancel") == 0         ? run_cancel(w)
	       : strcmp(verb, "status") == 0         ? wpr_run_status(w)
	       : strcmp(verb, "profiles") == 0       ? wpr_run_profiles(w)
	       : strcmp(verb, "profiledetails") == 0 ? wpr_run_details(w)
	       : strcmp(verb, "exportprofile") == 0  ? wpr_run_export(w)
	       : strcmp(verb, "merge") == 0          ? wpr_run_merge(w)
	       : strcmp(verb, "providers") == 0      ? cli_run_other("providers", 0, (char *[]){NULL})
	       : strncmp(verb, "marker", 6) == 0     ? run_mark(w, verb)
	       : strstr(verb, "profint")             ? wpr_run_interval(w, verb)
	       : strcmp(verb, "pmcsources") == 0     ? cli_counters_print(a)
	       : strcmp(verb, "pmcsessions") == 0    ? cli_counters_sessions(a)
						     : run_while(w, strcmp(verb, "flush") != 0);
}

static int run(struct cli_args *a)
{
	const struct wpr_options *o = a->given;
	for (size_t i = 0; o->refused && i < BASE_ARRAY_LEN(refused); i++) {
		if (strcmp(o->refused, refused[i].name) == 0) {
			return wpr_fail(WPR_NOT_SUPPORTED, "-%s: %s.", refused[i].name, refused[i].why);
		}
	}
	int settled = o->scenario ? refuse_scenario(a, o->scenario) : settle(a, o);
	if (settled >= 0) {
		return settled;
	}
	if (o->scenario_part) {
		return cli_usage(a, "-%s goes with -onoffscenario", o->scenario_part);
	}
	const char *verb = o->verb.name;
	if (o->verb.other) {
		return cli_usage(a, "-%s and -%s are two things to do; one at a time", verb, o->verb.other);
	}
	if (!verb) {
		if (o->boottrace) {
			return cli_usage(a, "-boottrace goes with -addboot, -stopboot or -cancelboot");
		}
		return cli_usage(a, "what to do? -start, -stop, -status, …");
	}
	struct wpr w = {.args = a, .o = o, .instance = o->instance, .lock = -1};
	for (const char *s = w.instance; *s; s++) {
		if (!((*s >= '0' && *s <= '9') || ((*s | 32) >= 'a' && (*s | 32) <= 'z') || *s == '-' || *s == '_' ||
		      (*s == '.' && s > w.instance)) ||
		    s - w.instance > 63) {
			return cli_usage(a, "an instance name has up to 64 letters, digits, '-', '_', '.'");
		}
	}
	int status = dispatch(&w, verb);
	wpr_close(&w);
	return status;
}

const struct cli_command cli_wpr = {
	.name = "wpr",
	.synopsis = "-start PROFILE [-filemode] | -stop FILE | -cancel | -status | …",
	.summary = "Record what a profile says, as Windows Performance Recorder does.",
	.details =
		"A profile is Name or Name.Light or Name.Verbose of those built in (-profiles), or\n"
		"file.wprp!Name of a file; without a level, Verbose. Without -filemode events go to a ring in\n"
		"memory, and -stop writes what is in it. Several -start are united: collectors of one name are\n"
		"one session. The recording goes on when this terminal is closed; -stop in another finds it.\n"
		"-stop first asks the providers whose profile says CaptureStateOnSave for their state and waits\n"
		"until their callbacks have returned.\n\n"
		"-addboot writes the profile's sessions as autologgers, which etwd starts when it starts; for the "
		"start of\n"
		"the machine that is 'systemctl enable openetw.service'. Providers are recorded from the moment they\n"
		"register; what a profile asks for with CaptureStateOnStart is not asked for.\n\n"
		"Exit status: 0, 1 failed, 2 wrong usage. What failed is on standard error, with the code that\n"
		"Windows' wpr would have returned: 0xc5583000 nothing is running, 0xc5583001 already running,\n"
		"0xc5580612 a profile without providers, 0xc5600602 wrong option, else an HRESULT.\n\n"
		"Kernel events (SystemProvider) take root, or capabilities on openetw-kernel. Keywords that mean "
		"nothing\n"
		"on Linux are named in a warning, and refused when the profile says Strict=\"true\" of them.\n\n"
		"Examples:\n"
		"  wpr -start Providers -filemode; wpr -status; wpr -stop all.etl \"slow start\"\n"
		"  wpr -profiles my.wprp                       is the file right?\n"
		"  wpr -start my.wprp!Web.Light -instancename web; wpr -stop web.etl -instancename web\n"
		"  wpr -start my.wprp!Web -explain             the same with openetw\n",
	.options = options,
	CLI_INTO(wpr_options),
	.defaults = &(const struct wpr_options){.instance = ""},
	.run = run,
	.classic = true,
	.usage_code = WPR_BAD_OPTION,
	.complete = "file",
};
