/* SPDX-License-Identifier: MIT
 * logman: the controller that comes with Windows: live sessions (-ets), saved collectors,
 * providers.
 */
#include "tools/common/session_options.h"
#include "tools/classic/logman.h"
#include "tools/common/output.h"
#include "tools/classic/explain_line.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

static const char *code_text(uint32_t code)
{
	switch (code) {
	case PLA_E_DCS_NOT_FOUND: return "Data Collector Set was not found.";
	case PLA_E_DCS_IN_USE: return "The Data Collector Set or one of its dependencies is already in use.";
	case PLA_E_DCS_ALREADY_EXISTS: return "Data Collector Set already exists.";
	case PLA_E_DCS_NOT_RUNNING: return "The Data Collector Set is not running.";
	default: return openetw_error_text(code) ? openetw_error_text(code) : "Unknown error.";
	}
}

int logman_error(uint32_t code, const char *why, const char *hint)
{
	hint = hint ? hint : cli_hint(code);
	/* Windows says these two of live sessions, too. */
	code = code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)PLA_E_DCS_NOT_FOUND
	       : code == ERROR_ALREADY_EXISTS       ? (uint32_t)PLA_E_DCS_ALREADY_EXISTS
						    : code;
	fflush(stdout);
	fprintf(stderr, "\nError:\n%s\n", code_text(code));
	if (why && *why) {
		fprintf(stderr, "  %s\n", why);
	}
	if (hint) {
		fprintf(stderr, "  %s\n", hint);
	}
	const char *name = openetw_error_name(code);
	fprintf(stderr, "Error code: 0x%08x%s%s\n", code, name ? " " : "", name ? name : "");
	fprintf(stderr, "  'openetw explain 0x%x' says more\n", code);
	return CLI_FAILED;
}

int logman_done(void)
{
	puts("\nThe command completed successfully.");
	return CLI_OK;
}

/* What one command line is about. */
struct task {
	struct cli_args *a;
	const struct logman_options *o;
	const char *verb;
	const char *name; /* NULL: none was given */
	bool ets;
	struct etw_session s;
	bool saved; /* s was read from `path` */
	char path[4200];
};

/* ---- saved collectors
 * -------------------------------------------------------------------------- */

static const char autosession[] = "autosession\\";

static int collector_path(const char *name, char *out, size_t cap)
{
	if (strncasecmp(name, autosession, strlen(autosession)) == 0) {
		return session_path(SESSION_AUTOLOGGERS, false, name + strlen(autosession), out, cap);
	}
	return session_path(SESSION_COLLECTORS, false, name, out, cap);
}

/* 1: read into t->s, 0: there is none, -1: said why not. */
static int load(struct task *t)
{
	struct diag d = {0};
	int r = collector_path(t->name, t->path, sizeof t->path);
	r = r == 0 ? session_read_file(t->path, &cli_manifests, &t->s, &d) : r;
	t->saved = r == 0;
	if (r == 0 || r == -ENOENT) {
		return r == 0;
	}
	char why[5000];
	snprintf(why, sizeof why, "%s:%u: %s", t->path, d.line, d.text[0] ? d.text : strerror(-r));
	logman_error(ERROR_INVALID_DATA, why, "correct the file, or 'logman delete' and create it");
	return -1;
}

/* Nothing is saved that would never start. */
static int check(const struct task *t)
{
	bool autologger = strncasecmp(t->name, autosession, strlen(autosession)) == 0;
	uint32_t code = cli_session_check(&t->s, autologger ? SESSION_RUNNER_AUTOLOGGER : SESSION_RUNNER_ANY);
	return code ? logman_error(code, cli_session_why(), NULL) : CLI_OK;
}

static int save(struct task *t)
{
	int r = session_write(t->path, &t->s);
	if (r < 0) {
		return logman_error(win32_from_errno(r), t->path, NULL);
	}
	bool scheduled = t->s.begin_filetime != 0;
	uint32_t code = openetw_collectors_changed(scheduled);
	if (scheduled && code) {
		return logman_error(code, cli_session_why(),
				    "the collector is saved, but etwd, which would start it, does not run");
	}
	if (scheduled && strcmp(t->verb, "start") != 0) {
		printf("etwd starts it at that time, when it runs then: it does now, and stays for it. After the next "
		       "start of "
		       "the\nmachine 'systemctl --user enable openetw-user.service' has it run.\n");
	}
	return CLI_OK;
}

static int not_found(const struct task *t, bool live)
{
	return logman_error(PLA_E_DCS_NOT_FOUND, NULL,
			    live     ? "'logman query -ets' shows the sessions that run"
			    : t->ets ? NULL
				     : "'logman query' shows saved collectors, 'logman query "
				       "-ets' running sessions");
}

/* The file of this run: NAME_000001.etl and so on; the next number is the first one free. */
static bool run_file(struct etw_session *s)
{
	char stem[4096], with[4200];
	struct stat st;
	if (s->suffix == SESSION_SUFFIX_NONE || !s->file[0]) {
		return true;
	}
	char *slash = strrchr(s->file, '/'), *dot = strrchr(s->file, '.');
	size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - s->file) : strlen(s->file);
	memcpy(stem, s->file, n);
	stem[n] = 0;
	const char *extension = s->file + n;
	if (s->suffix == SESSION_SUFFIX_TIME) {
		time_t now = time(NULL);
		struct tm tm;
		char text[16];
		localtime_r(&now, &tm);
		strftime(text, sizeof text, "%m%d%H%M", &tm);
		snprintf(with, sizeof with, "%s_%s%s", stem, text, extension);
	} else {
		do {
			snprintf(with, sizeof with, "%s_%06u%s", stem, s->serial, extension);
			s->serial++;
		} while (s->serial <= 999999 && lstat(with, &st) == 0);
	}
	if (strlen(with) >= sizeof s->file) {
		return false;
	}
	strcpy(s->file, with);
	return true;
}

/* ---- verbs
 * ------------------------------------------------------------------------------------ */

static int start_live(struct task *t, struct etw_session *s)
{
	const char *what = NULL, *ln = t->o->session;
	char why[700];
	struct stat st;
	if (ln) {
		snprintf(s->name, sizeof s->name, "%s", ln);
	}
	if (t->o->explain) {
		cli_session_explain(stdout, "start", s, NULL);
		return CLI_OK;
	}
	bool keeps = s->props.mode & EVENT_TRACE_FILE_MODE_APPEND;
	bool careful = t->saved ? !s->overwrite : t->o->overwrite == CLI_OFF;
	if (careful && !keeps && s->file[0] && stat(s->file, &st) == 0) {
		return logman_error(ERROR_FILE_EXISTS, s->file, "-ow overwrites it, -a appends to it");
	}
	if (t->saved ? s->overwrite : t->o->overwrite == CLI_ON) {
		cli_output_overwrite();
	}
	struct cli_session_run r;
	uint32_t code = cli_session_start(s, &(struct cli_session_how){.tool = "openetw"}, &r);
	if (code == 0) {
		return logman_done();
	}
	what = r.refused ? r.refused->name : NULL;
	snprintf(why, sizeof why, "%s%s%s", what && *what ? what : "", what && *what ? ": " : "", cli_session_why());
	return logman_error(code, why, code == ERROR_ALREADY_EXISTS ? "'logman stop NAME -ets' ends it" : NULL);
}

static int run_start(struct task *t)
{
	if (!t->ets) {
		int r = load(t);
		if (r < 0) {
			return CLI_FAILED;
		}
		if (r > 0) {
			struct etw_session run = t->s;
			if (!run_file(&run)) {
				return logman_error(ERROR_FILENAME_EXCED_RANGE, run.file, NULL);
			}
			int status = start_live(t, &run);
			if (status == CLI_OK && run.serial != t->s.serial && !t->o->explain) {
				t->s.serial = run.serial;
				status = save(t);
			}
			return status;
		}
		/* Nothing saved: whoever names a provider means a live session, -ets or not. */
		if (t->o->providers.count == 0) {
			return not_found(t, false);
		}
	}
	snprintf(t->s.name, sizeof t->s.name, "%s", t->name);
	return logman_describe(t->a, true, &t->s) ? start_live(t, &t->s) : CLI_USAGE;
}

static int run_stop(struct task *t)
{
	struct cli_props p;
	if (t->o->explain) {
		fputs("openetw stop ", stdout);
		cli_quote(stdout, t->name);
		putchar('\n');
		return CLI_OK;
	}
	cli_props_init(&p);
	uint32_t code = ControlTraceA(0, t->name, &p.p, EVENT_TRACE_CONTROL_STOP);
	if (code == ERROR_WMI_INSTANCE_NOT_FOUND && !t->ets) {
		int r = load(t);
		return r < 0   ? CLI_FAILED
		       : r > 0 ? logman_error(PLA_E_DCS_NOT_RUNNING, NULL, "'logman start' runs it")
			       : not_found(t, false);
	}
	if (code) {
		return code == ERROR_WMI_INSTANCE_NOT_FOUND ? not_found(t, true)
							    : logman_error(code, cli_session_why(), NULL);
	}
	if (p.p.EventsLost || p.p.LogBuffersLost) {
		fprintf(stderr, "logman: warning: '%s' lost %u events and %u buffers\n", t->name, p.p.EventsLost,
			p.p.LogBuffersLost);
	}
	return logman_done();
}

/* The same as objects, by openetw's own verbs. */
static int query_json(const char *verb, char *name)
{
	char json[] = "--json", *words[] = {json, name, NULL};
	return cli_run_other(verb, name ? 2 : 1, words);
}

static int run_query(struct task *t)
{
	struct cli_props p;
	char name[4096];
	if (t->o->explain) {
		return !t->name                                ? cli_same("list", NULL)
		       : strcasecmp(t->name, "providers") == 0 ? cli_same("providers", NULL)
							       : cli_same("query", t->name, NULL);
	}
	if (t->o->json) {
		bool providers = t->name && strcasecmp(t->name, "providers") == 0;
		snprintf(name, sizeof name, "%s", t->name ? t->name : "");
		return query_json(!t->name    ? "list"
				  : providers ? "providers"
					      : "query",
				  t->name && !providers ? name : NULL);
	}
	if (!t->name) {
		return logman_query_all(t->ets);
	}
	if (strcasecmp(t->name, "providers") == 0) {
		return logman_query_providers(t->a, t->a->count > 2 ? t->a->words[2] : NULL);
	}
	int r = t->ets ? 0 : load(t);
	if (r != 0) {
		return r < 0 ? CLI_FAILED : logman_query_saved(&t->s);
	}
	return t->ets || logman_is_live(t->name, &p) ? logman_query_live(t->name) : not_found(t, false);
}

static int run_create(struct task *t)
{
	int r = load(t);
	if (r != 0) {
		return r < 0 ? CLI_FAILED
			     : logman_error(PLA_E_DCS_ALREADY_EXISTS, t->path,
					    "'logman update' changes it, 'logman delete' drops it");
	}
	bool autologger = strncasecmp(t->name, autosession, strlen(autosession)) == 0;
	const char *name = t->name + (autologger ? strlen(autosession) : 0);
	snprintf(t->s.name, sizeof t->s.name, "%s", name);
	t->s.start = autologger;
	t->s.suffix = autologger ? SESSION_SUFFIX_NONE : SESSION_SUFFIX_NUMBER;
	if (!logman_describe(t->a, false, &t->s)) {
		return CLI_USAGE;
	}
	if (t->ets) {
		return start_live(t, &t->s);
	}
	int status = check(t);
	if (status == CLI_OK && t->o->explain) {
		cli_session_explain(stdout, autologger ? "autologger add" : "start", &t->s, NULL);
		return CLI_OK;
	}
	status = status == CLI_OK ? save(t) : status;
	return status == CLI_OK ? logman_done() : status;
}

static int update_live(struct task *t)
{
	struct cli_props p;
	const struct logman_options *o = t->o;
	bool explain = o->explain;
	uint32_t code = cli_session_query(t->name, &p);
	if (code) {
		return code == ERROR_WMI_INSTANCE_NOT_FOUND ? not_found(t, true)
							    : logman_error(code, cli_session_why(), NULL);
	}
	TRACEHANDLE h = p.p.Wnode.HistoricalContext;
	snprintf(t->s.name, sizeof t->s.name, "%s", t->name);
	snprintf(t->s.file, sizeof t->s.file, "%s", p.file);
	t->s.props.mode = p.p.LogFileMode;
	t->s.props.clock = p.p.Wnode.ClientContext;
	t->s.props.maximum_buffers = p.p.MaximumBuffers;
	t->s.props.flush_timer = p.p.FlushTimer;
	t->s.props.maximum_file_size = p.p.MaximumFileSize;
	ULONG flags = p.p.EnableFlags;
	struct etw_session before = t->s;
	const struct {
		const char *name;
		bool given;
	} fixed[] = {{"bs", o->buffer_kb != 0}, {"ct", o->clock != 0},     {"f", o->format != NULL},
		     {"a", o->append != 0},     {"ow", o->overwrite != 0}, {"v", o->suffix != LOGMAN_UNSAID},
		     {"ul", o->private != 0}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(fixed); i++) {
		if (fixed[i].given) {
			return cli_usage(t->a, "-%s cannot change while the session runs: stop and start it",
					 fixed[i].name);
		}
	}
	if (!logman_describe(t->a, true, &t->s)) {
		return CLI_USAGE;
	}
	if (o->rotate.said && !(before.props.mode & EVENT_TRACE_FILE_MODE_NEWFILE)) {
		return cli_usage(t->a, "-cnf cannot change while the session runs: stop and start it");
	}
	bool file = strcmp(before.file, t->s.file) != 0 && (o->file || o->no_file);
	bool changed = file || before.props.mode != t->s.props.mode ||
		       before.props.maximum_buffers != t->s.props.maximum_buffers ||
		       before.props.flush_timer != t->s.props.flush_timer ||
		       before.props.maximum_file_size != t->s.props.maximum_file_size;
	for (uint32_t i = 0; i < t->s.provider_count; i++) {
		if (session_provider_is_kernel(&t->s.provider[i])) { /* flags, not an enable */
			flags = t->s.provider[i].enabled ? flags | (ULONG)t->s.provider[i].any
							 : flags & ~(ULONG)t->s.provider[i].any;
			changed = true;
		}
	}
	if (changed && explain) {
		puts("# the session itself changes with UpdateTrace; openetw has no verb for that");
	}
	if (changed && !explain) {
		cli_props_init(&p);
		p.p.LogFileMode = t->s.props.mode;
		p.p.EnableFlags = flags; /* none would end its kernel events */
		p.p.MaximumBuffers = t->s.props.maximum_buffers;
		p.p.FlushTimer = t->s.props.flush_timer;
		p.p.MaximumFileSize = t->s.props.maximum_file_size;
		if (file) {
			snprintf(p.file, sizeof p.file, "%s", t->s.file);
		} else {
			p.p.LogFileNameOffset = 0;
		}
		code = cli_control_trace(h, NULL, &p.p, EVENT_TRACE_CONTROL_UPDATE);
		if (code) {
			return logman_error(code, cli_session_why(), NULL);
		}
	}
	for (uint32_t i = 0; i < t->s.provider_count; i++) {
		if (session_provider_is_kernel(&t->s.provider[i])) {
			continue;
		}
		if (explain) {
			cli_session_explain_enable(stdout, t->name, &t->s.provider[i], NULL);
			continue;
		}
		code = cli_session_enable(h, &t->s.provider[i], 5000);
		if (code) {
			char why[700];
			snprintf(why, sizeof why, "%s: %s", t->s.provider[i].name, cli_session_why());
			return logman_error(code, why, NULL);
		}
		cli_session_enable_tell(&t->s.provider[i]);
	}
	if (!explain && o->rotate.said) {
		code = openetw_session_rotate(t->name, t->s.rotate_s, t->s.keep_files);
	}
	if (!explain && code == 0 && (o->end.said || o->run_for.said || o->manual)) {
		struct openetw_session now = {.size = sizeof now};
		code = openetw_session_query(t->name, &now);
		uint64_t end = t->s.expire_s ? clock_filetime() + t->s.expire_s * 10000000ull : t->s.end_filetime;
		code = code ? code : openetw_session_limit(t->name, end, now.quota_bytes, now.owner_pid);
	}
	if (code) {
		return logman_error(code, cli_session_why(), NULL);
	}
	if (o->flush == CLI_ON && explain) {
		cli_same("flush", t->name, NULL);
	}
	if (o->flush == CLI_ON && !explain) {
		cli_props_init(&p);
		p.p.LogFileNameOffset = 0;
		code = ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_FLUSH);
		if (code) {
			return logman_error(code, cli_session_why(), NULL);
		}
	}
	return explain ? CLI_OK : logman_done();
}

static int run_update(struct task *t)
{
	int r = t->ets ? 0 : load(t);
	if (r < 0) {
		return CLI_FAILED;
	}
	if (r == 0) {
		return update_live(t);
	}
	struct etw_session *s = &t->s;
	if (!logman_describe(t->a, false, s)) {
		return CLI_USAGE;
	}
	int status = check(t);
	if (status == CLI_OK && t->o->explain) {
		bool autologger = strncasecmp(t->name, autosession, strlen(autosession)) == 0;
		cli_session_explain(stdout, autologger ? "autologger add" : "start", s,
				    NULL); /* what a start does from now on */
		return CLI_OK;
	}
	uint32_t kept = 0; /* --p drops a provider */
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (s->provider[i].enabled) {
			s->provider[kept++] = s->provider[i];
		} else {
			session_provider_finish(&s->provider[i]);
		}
	}
	s->provider_count = kept;
	status = status == CLI_OK ? save(t) : status;
	return status == CLI_OK ? logman_done() : status;
}

static int run_delete(struct task *t)
{
	if (t->ets) {
		return cli_usage(t->a, "a live session is not deleted but stopped: 'logman stop "
				       "NAME -ets'");
	}
	struct cli_props p;
	int r = load(t);
	if (r == 0) {
		return not_found(t, false);
	}
	if (r > 0 && logman_is_live(t->s.name, &p)) {
		return logman_error(PLA_E_DCS_IN_USE, "it is running", "'logman stop' ends it");
	}
	if (t->o->explain) {
		return cli_same_none("collectors are logman's own; openetw has no verb for them");
	}
	if (unlink(t->path) < 0) { /* also one that cannot be read */
		return logman_error(win32_from_errno(-errno), t->path, NULL);
	}
	if (strncasecmp(t->name, autosession, strlen(autosession)) == 0) {
		controller_forget_backlog(t->name + strlen(autosession), false);
	}
	(void)openetw_collectors_changed(false); /* none runs, or it reads them when it next starts */
	return logman_done();
}

static int run_import(struct task *t)
{
	if (t->o->explain) {
		return cli_same_none("collectors are logman's own; openetw has no verb for them");
	}
	return logman_import(t->a, t->name);
}

static int run_export(struct task *t)
{
	if (t->o->explain) {
		return cli_same_none("collectors are logman's own; openetw has no verb for them");
	}
	int r = load(t);
	return r == 0 ? not_found(t, false) : r < 0 ? CLI_FAILED : logman_export(t->a, &t->s);
}

static const struct {
	const char *name;
	int (*run)(struct task *t);
	bool needs_name;
} verbs[] = {
	{"query", run_query, false},  {"start", run_start, true},   {"stop", run_stop, true},
	{"create", run_create, true}, {"update", run_update, true}, {"delete", run_delete, true},
	{"import", run_import, true}, {"export", run_export, true},
};

static const char *verb_at(const void *ctx, int i)
{
	(void)ctx;
	return (size_t)i < BASE_ARRAY_LEN(verbs) ? verbs[i].name : NULL;
}

/* "-stop", "/query": verbs are written like options, too. So is "providers" after query. */
static void plain_verb(struct cli_args *a)
{
	for (int i = 0; i < a->count && i < 2; i++) {
		const char *word = a->words[i];
		if (*word != '-' && *word != '/') {
			continue;
		}
		bool verb = i == 1 && strcasecmp(a->words[0], "query") == 0 && strcasecmp(word + 1, "providers") == 0;
		for (size_t k = 0; i == 0 && k < BASE_ARRAY_LEN(verbs); k++) {
			verb = verb || strcasecmp(word + 1, verbs[k].name) == 0;
		}
		a->words[i] += verb;
	}
}

static int run(struct cli_args *a)
{
	static struct task t; /* large */
	static const char *const others[] = {"counter", "alert", "cfg", "api"};
	static const char *const instead[] = {
		("'openetw record --meminfo --counters' has what processes take, 'openetw pmc' what processors count, "
		 "sar(1) the rest"),
		"'openetw live SESSION --filter …' prints what is to be noticed",
		"'openetw info FILE' says how the machine is that recorded",
		"'openetw run -p PROVIDER -- COMMAND' records a program",
	};
	plain_verb(a);
	for (size_t i = 0; a->count > 1 && i < BASE_ARRAY_LEN(others); i++) {
		/* Before their options are read, which are not those of traces. */
		if (strcasecmp(a->words[0], "create") == 0 && strcasecmp(a->words[1], others[i]) == 0) {
			return cli_usage(a, "'create %s': only traces are done here; %s", others[i], instead[i]);
		}
	}
	session_init(&t.s);
	if (!cli_expand_file(a, "config") || !cli_parse_windows(a, a->count, a->words)) {
		return CLI_USAGE;
	}
	const struct logman_options *o = a->given;
	t.a = a;
	t.o = o;
	t.ets = o->ets == CLI_ON;
	int verb = -1, at = 0;
	for (size_t i = 0; a->count > 0 && i < BASE_ARRAY_LEN(verbs); i++) {
		if (strcasecmp(a->words[0], verbs[i].name) == 0) {
			verb = (int)i;
			at = 1;
		}
	}
	if (verb < 0) {
		/* "logman NAME -ets" is a query; a mistyped verb followed by a name is not. */
		const char *near = a->count > 1 ? cli_nearest(a->words[0], verb_at, NULL) : NULL;
		if (a->count > 1) {
			return cli_usage(a, near ? "no verb '%s'; did you mean %s?" : "no verb '%s'", a->words[0],
					 near);
		}
		verb = 0; /* also of "logman" alone */
	}
	t.verb = verbs[verb].name;
	if (at < a->count && verb > 0) {
		if (strcasecmp(a->words[at], "trace") == 0 && (a->count > at + 1 || o->name)) {
			at++;
		}
		for (size_t i = 0; at < a->count && i < BASE_ARRAY_LEN(others); i++) {
			if (verb > 2 && strcasecmp(a->words[at], others[i]) == 0 && a->count > at + 1) {
				return cli_usage(a, "'%s': only traces are done here", others[i]);
			}
		}
	}
	t.name = o->name ? o->name : at < a->count ? a->words[at] : NULL;
	if (t.name && strncasecmp(t.name, autosession, strlen(autosession)) == 0) {
		/* The definition, which is saved, -ets or not; but what is started and stopped is the session. */
		bool live = t.ets && (verbs[verb].run == run_start || verbs[verb].run == run_stop);
		t.ets = live;
		t.name += live ? strlen(autosession) : 0;
	}
	at += t.name && !o->name && at < a->count;
	bool providers = verb == 0 && t.name && strcasecmp(t.name, "providers") == 0;
	if (at + providers < a->count) {
		return cli_usage(a, "'%s' is too much", a->words[at + providers]);
	}
	if (!t.name && verbs[verb].needs_name) {
		return cli_usage(a, "%s needs the name of a collector or session", t.verb);
	}
	int status = verbs[verb].run(&t);
	session_finish(&t.s);
	return status;
}

const struct cli_command cli_logman = {
	.name = "logman",
	.synopsis = "{create trace|start|stop|update|delete|query|import|export} [NAME] [options]",
	.summary = "Trace sessions and saved collectors, as the tool of this name on Windows.",
	.details = "Verbs and what they act on:\n"
		   "  create trace NAME   save a collector; 'start NAME' runs it later\n"
		   "  start|stop NAME     a saved collector; with -ets a live session\n"
		   "  update NAME         change it; with -ets -p add a provider to a live session, "
		   "--p "
		   "remove it\n"
		   "  delete NAME         drop a saved collector\n"
		   "  query [NAME]        saved collectors; with -ets live sessions\n"
		   "  query providers [NAME|GUID] [-pid PID]\n"
		   "  import, export      -n NAME -xml FILE: collector sets as XML\n"
		   "-name and /name are the same, --name switches off. Keywords are a number or "
		   "(name,name); without them\n"
		   "all are enabled. Collectors are files below $XDG_CONFIG_HOME/openetw/collectors "
		   "(docs/autologger.md).\n"
		   "'create trace autosession\\NAME' makes a session that starts with etwd.\n\n"
		   "Examples:\n"
		   "  logman start web -p MyCompany.Web 0x11 5 -o web.etl -ets\n"
		   "  logman update web -p MyCompany.Db -ets\n"
		   "  logman query web -ets\n"
		   "  logman stop web -ets\n"
		   "  logman create trace nightly -pf providers.txt -o night.etl -f bincirc -max 100; "
		   "logman start nightly\n",
	.options = logman_option_table,
	CLI_INTO(logman_options),
	.defaults = &logman_defaults,
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "query|start|stop|create|update|delete|import|export",
};
