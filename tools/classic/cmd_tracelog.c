/* SPDX-License-Identifier: MIT
 * tracelog: the controller of the Windows driver kit, with its options and its layout.
 */
#include "tools/common/session_options.h"
#include "tools/common/output.h"
#include "tools/classic/explain_line.h"
#include "tools/classic/tracelog.h"

#include <stdlib.h>
#include <strings.h>

int tracelog_fail(uint32_t code, const char *what)
{
	const char *text = openetw_error_text(code), *name = openetw_error_name(code);
	fflush(stdout);
	fprintf(stderr, "%-24s%uL      %s\n", "Operation Status:", code, text ? text : "Unknown error.");
	if (*cli_session_why() || what) {
		fprintf(stderr, "  %s%s%s\n", what ? what : "", what && *cli_session_why() ? ": " : "",
			cli_session_why());
	}
	if (cli_hint(code)) {
		fprintf(stderr, "  %s\n", cli_hint(code));
	}
	fprintf(stderr, "  'openetw explain %s' says more\n", name ? name : "CODE");
	return CLI_FAILED;
}

static void status_ok(void)
{
	printf("%-24s0L      The operation completed successfully.\n\n", "Operation Status:");
}

static const struct tracelog_options *given(const struct cli_args *a)
{
	return a->given;
}

/* ---- enabling
 * --------------------------------------------------------------------------------- */

static uint32_t control_all(const struct cli_args *a, TRACEHANDLE h, ULONG control, struct etw_session *s,
			    const char **ret_what)
{
	const struct tracelog_options *o = a->given;
	struct launch_enabling how = {.timeout_ms = (uint32_t)o->timeout,
				      .capture = control == EVENT_CONTROL_CODE_CAPTURE_STATE};
	if (!tracelog_filters(a, s)) {
		return ERROR_INVALID_PARAMETER;
	}
	if (o->source_guid.given) {
		how.source = &o->source_guid.guid;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (session_provider_is_kernel(&s->provider[i])) {
			continue;
		}
		s->provider[i].enabled = control != EVENT_CONTROL_CODE_DISABLE_PROVIDER;
		uint32_t code = cli_session_control(h, &s->provider[i], &how);
		if (code) {
			*ret_what = s->provider[i].name[0] ? s->provider[i].name : "a provider";
			return code;
		}
		if (control == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
			cli_session_enable_tell(&s->provider[i]);
		}
	}
	return 0;
}

/* ---- actions
 * ---------------------------------------------------------------------------------- */

static int run_start(const struct cli_args *a, const char *name, ULONG unused, struct etw_session *s)
{
	const char *what = NULL;
	struct launch_filters scope;
	struct cli_counters counters;
	if (!tracelog_describe(a, name, s) || !tracelog_filters(a, s) || !tracelog_kernel(a, &s->kernel, &counters)) {
		return CLI_USAGE;
	}
	if (given(a)->explain) {
		cli_session_explain(stdout, "start", s, &counters);
		return CLI_OK;
	}
	/* -newfile without %d has its own code [doc]. */
	if ((s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE) && !strstr(s->file, "%d")) {
		return tracelog_fail(ERROR_INVALID_NAME, "the file name of -newfile needs %d");
	}
	struct etw_session bare = *s;
	struct cli_props p;
	bool kernel = strcasecmp(name, CONTROLLER_KERNEL_SESSION) == 0;
	bare.provider_count = kernel ? s->provider_count : 0;
	struct cli_session_run r;
	tracelog_scope(a, &scope);
	struct cli_session_how how = {
		.tool = "openetw", .counters = &counters, .scope = scope.d, .scope_count = scope.count};
	uint32_t code = cli_session_start(&bare, &how, &r);
	launch_filters_finish(&scope);
	if (code) {
		return tracelog_fail(code, NULL);
	}
	puts("Logger Started...");
	code = cli_session_query(name, &p);
	code = code ? code : control_all(a, p.p.Wnode.HistoricalContext, EVENT_CONTROL_CODE_ENABLE_PROVIDER, s, &what);
	if (code) {
		int status = tracelog_fail(code, what);
		cli_props_init(&p);
		ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
		return status;
	}
	if (s->provider_count) {
		printf("Enabling trace to logger %llu\n", (unsigned long long)p.p.Wnode.HistoricalContext);
	}
	status_ok();
	tracelog_show(&p);
	return CLI_OK;
}

struct enabled_here {
	struct etw_session *s;
	bool more; /* than there is room for */
};

static bool add_enabled(void *ctx, const GUID *g, const TRACE_ENABLE_INFO *e, uint32_t processes)
{
	struct enabled_here *to = ctx;
	struct etw_session *s = to->s;
	struct guid id;
	(void)processes;
	memcpy(&id, g, sizeof id);
	struct session_provider *p = session_add_provider(s, &id);
	if (p) {
		p->level = e->Level;
		p->any = e->MatchAnyKeyword;
		p->all = e->MatchAllKeyword;
		controller_provider_name(g, p->name, sizeof p->name);
	}
	to->more = !p;
	return p != NULL;
}

/* -capturestate without -guid asks all providers that the session has enabled, with their own level and keywords. False:
 * said why not. */
static bool all_enabled(const char *name, struct etw_session *s)
{
	struct cli_props p;
	struct enabled_here to = {.s = s};
	const char *what = name;
	uint32_t code = cli_session_query(name, &p);
	code = code ? code : controller_each_enabled((uint16_t)p.p.Wnode.HistoricalContext, add_enabled, &to);
	if (code == ERROR_SUCCESS && to.more) {
		code = ERROR_NOT_ENOUGH_MEMORY;
		what = session_add_failed(s);
	} else if (code == ERROR_SUCCESS && s->provider_count == 0) {
		code = ERROR_NOT_FOUND;
		what = "no provider is enabled in it";
	}
	return code == ERROR_SUCCESS || (tracelog_fail(code, what), false);
}

static int run_enable(const struct cli_args *a, const char *name, ULONG control, struct etw_session *s)
{
	struct cli_props p;
	const char *what = NULL;
	if (!tracelog_providers(a, s) || !tracelog_filters(a, s)) {
		return CLI_USAGE;
	}
	if (s->provider_count == 0 && control == EVENT_CONTROL_CODE_CAPTURE_STATE && !all_enabled(name, s)) {
		return CLI_FAILED;
	}
	if (s->provider_count == 0) {
		return cli_usage(a, "which provider? -guid #GUID, -guid *NAME or -guid FILE");
	}
	if (given(a)->explain) {
		for (uint32_t i = 0; i < s->provider_count; i++) {
			s->provider[i].enabled = control != EVENT_CONTROL_CODE_DISABLE_PROVIDER;
			cli_session_explain_enable(stdout, name, &s->provider[i], NULL);
		}
		return CLI_OK;
	}
	uint32_t code = cli_session_query(name, &p);
	code = code ? code : control_all(a, p.p.Wnode.HistoricalContext, control, s, &what);
	if (code) {
		return tracelog_fail(code, what);
	}
	status_ok();
	return CLI_OK;
}

static int run_control(const struct cli_args *a, const char *name, ULONG control, struct etw_session *s)
{
	struct cli_props p, before;
	uint32_t code = cli_session_query(name, &before);
	if (code) {
		return tracelog_fail(code, name);
	}
	cli_props_init(&p);
	if (control == EVENT_TRACE_CONTROL_UPDATE) {
		struct etw_session wish;
		session_init(&wish);
		if (!tracelog_describe(a, name, &wish)) {
			return CLI_USAGE;
		}
		/* The kernel's session is described anew, as on its start; others keep what they have. */
		p.p.EnableFlags = before.p.EnableFlags;
		for (uint32_t i = 0; i < wish.provider_count; i++) {
			if (session_provider_is_kernel(&wish.provider[i])) {
				p.p.EnableFlags = (ULONG)wish.provider[i].any;
			}
		}
		p.p.LogFileMode = before.p.LogFileMode | (wish.props.mode & EVENT_TRACE_REAL_TIME_MODE);
		p.p.MaximumBuffers = wish.props.maximum_buffers;
		p.p.FlushTimer = wish.props.flush_timer;
		*s = wish;
	}
	const char *file = given(a)->file && *given(a)->file ? given(a)->file : NULL;
	if (file) {
		snprintf(p.file, sizeof p.file, "%s", file);
	} else if (control != EVENT_TRACE_CONTROL_STOP) {
		p.p.LogFileNameOffset = 0;
	}
	if (given(a)->explain) {
		fprintf(stdout, "openetw %s ",
			control == EVENT_TRACE_CONTROL_STOP    ? "stop"
			: control == EVENT_TRACE_CONTROL_FLUSH ? "flush"
							       : "enable");
		cli_quote(stdout, name);
		if (file) {
			fputs(" -o ", stdout);
			cli_quote(stdout, file);
		}
		putchar('\n');
		return CLI_OK;
	}
	code = cli_control_trace(0, name, &p.p, control);
	if (code) {
		return tracelog_fail(code, name);
	}
	if (control == EVENT_TRACE_CONTROL_UPDATE && s->provider_count) {
		const char *what = NULL;
		code = control_all(a, before.p.Wnode.HistoricalContext, EVENT_CONTROL_CODE_ENABLE_PROVIDER, s, &what);
		if (code) {
			return tracelog_fail(code, what);
		}
	}
	status_ok();
	if (control == EVENT_TRACE_CONTROL_STOP) {
		puts("Logger Stopped...");
		tracelog_show(&p);
	} else if (cli_session_query(name, &p) == ERROR_SUCCESS) {
		tracelog_show(&p);
	}
	return CLI_OK;
}

static int run_autologger(const struct cli_args *a, const char *name, ULONG remove, struct etw_session *s)
{
	char path[4200];
	int r = session_path(SESSION_AUTOLOGGERS, false, name, path, sizeof path);
	if (remove) {
		r = r == 0 && unlink(path) < 0 ? -errno : r;
	} else {
		if (!tracelog_describe(a, name, s)) {
			return CLI_USAGE;
		}
		if (!tracelog_filters(a, s)) {
			return CLI_USAGE;
		}
		s->start = 1;
		uint32_t code = cli_session_check(s, SESSION_RUNNER_AUTOLOGGER);
		if (code) {
			return tracelog_fail(code, cli_session_why());
		}
		r = r == 0 ? session_write(path, s) : r;
	}
	if (r < 0) {
		return tracelog_fail(win32_from_errno(r), path);
	}
	status_ok();
	return CLI_OK;
}

/* -systemrundown: what there is, once more. */
static int run_rundown(const struct cli_args *a, const char *name, ULONG unused, struct etw_session *s)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	code = code ? code : cli_kernel_capture(p.p.Wnode.HistoricalContext);
	return code ? tracelog_fail(code, name) : (status_ok(), CLI_OK);
}

static int run_query(const struct cli_args *a, const char *name, ULONG unused, struct etw_session *s)
{
	return tracelog_query(name, given(a)->providers);
}

static int run_list(const struct cli_args *a, const char *name, ULONG stop, struct etw_session *s)
{
	return tracelog_list(given(a)->providers && !stop, stop);
}

static int run_guids(const struct cli_args *a, const char *name, ULONG of_processes, struct etw_session *s)
{
	const char *guid = cli_words_last(&given(a)->verb.values);
	return of_processes ? tracelog_guids_of_processes(a, *guid ? guid : NULL) : tracelog_guids();
}

/* -SetProfInt by itself */
static int run_interval(const struct cli_args *a)
{
	const struct tracelog_interval *i = &given(a)->interval;
	struct pmc_source s = {0};
	if (given(a)->explain) {
		return cli_same_none(CLI_SAME_INTERVAL);
	}
	if (i->source && !cli_counters_source(a, i->source, strlen(i->source), &s)) {
		return CLI_USAGE;
	}
	uint32_t code = cli_kernel_set_interval(s.id, (uint32_t)i->interval);
	return code ? tracelog_fail(code, NULL) : (status_ok(), CLI_OK);
}

/* -ProfileSource by itself: what samples are taken by from now on. */
static int run_sources(const struct cli_args *a, const char *text)
{
	struct cli_counters c = {0};
	if (given(a)->explain) {
		return cli_same_none(CLI_SAME_INTERVAL);
	}
	if (!tracelog_sources(a, text, &c)) {
		return CLI_USAGE;
	}
	uint32_t code = cli_counters_set_sampled(&c);
	return code ? tracelog_fail(code, NULL) : (status_ok(), CLI_OK);
}

/* -explain of the actions that have no other way to say it; -1: they have. */
static int explain(const struct cli_args *a, const char *verb, const char *name, struct etw_session *s)
{
	if (strcmp(verb, "q") == 0) {
		return cli_same("query", name, NULL);
	}
	if (strcmp(verb, "l") == 0) {
		return cli_same("list", NULL);
	}
	if (strcmp(verb, "x") == 0) {
		return cli_same_stop_all();
	}
	if (strncmp(verb, "enumguid", 8) == 0) {
		return cli_same("providers", NULL);
	}
	if (strcmp(verb, "systemrundown") == 0) {
		return cli_same_none("the rundown of a kernel session; openetw has no verb for that");
	}
	if (strcmp(verb, "update") == 0) {
		return cli_same_none(CLI_SAME_UPDATE);
	}
	if (strcmp(verb, "remove") == 0) {
		return cli_same("autologger", "remove", name, NULL);
	}
	if (strcmp(verb, "addautologger") == 0) {
		if (!tracelog_describe(a, name, s) || !tracelog_filters(a, s)) {
			return CLI_USAGE;
		}
		uint32_t code = cli_session_check(s, SESSION_RUNNER_AUTOLOGGER);
		if (code) {
			return tracelog_fail(code, cli_session_why());
		}
		cli_session_explain(stdout, "autologger add", s, NULL);
		return CLI_OK;
	}
	if (strcmp(verb, "capturestate") == 0) {
		if (!tracelog_providers(a, s)) {
			return CLI_USAGE;
		}
		if (s->provider_count == 0 && !all_enabled(name, s)) {
			return CLI_FAILED;
		}
		for (uint32_t i = 0; i < s->provider_count; i++) {
			cli_session_explain_enable(stdout, name, &s->provider[i], "--capture-state");
		}
		return CLI_OK;
	}
	return -1;
}

static const struct {
	const char *name;
	int (*run)(const struct cli_args *a, const char *name, ULONG control, struct etw_session *s);
	ULONG control;
} actions[] = {
	{"start", run_start, 0},
	{"stop", run_control, EVENT_TRACE_CONTROL_STOP},
	{"update", run_control, EVENT_TRACE_CONTROL_UPDATE},
	{"flush", run_control, EVENT_TRACE_CONTROL_FLUSH},
	{"enable", run_enable, EVENT_CONTROL_CODE_ENABLE_PROVIDER},
	{"enableex", run_enable, EVENT_CONTROL_CODE_ENABLE_PROVIDER},
	{"disable", run_enable, EVENT_CONTROL_CODE_DISABLE_PROVIDER},
	{"capturestate", run_enable, EVENT_CONTROL_CODE_CAPTURE_STATE},
	{"q", run_query, 0},
	{"l", run_list, false},
	{"x", run_list, true},
	{"enumguid", run_guids, false},
	{"enumguidex", run_guids, true},
	{"systemrundown", run_rundown, 0},
	{"addautologger", run_autologger, false},
	{"remove", run_autologger, true},
};

/* What there is to do without an action. */
static int run_settings(const struct cli_args *a)
{
	const struct tracelog_options *o = a->given;
	if (o->sources) {
		return run_sources(a, o->sources);
	}
	if (o->interval.interval) {
		return run_interval(a);
	}
	if (o->kernel.help) {
		cli_kernel_print(true, true);
		return CLI_OK;
	}
	return cli_usage(a, "what is to be done? -start, -stop, -q, -l, -enumguid, …");
}

static int run(struct cli_args *a)
{
	if (!cli_parse_windows(a, a->count, a->words)) {
		return CLI_USAGE;
	}
	const struct tracelog_options *o = a->given;
	const char *verb = o->verb.name;
	if (o->verb.other || o->verb.values.count > 1) {
		return cli_usage(a, "-%s and -%s together: one thing at a time", verb,
				 o->verb.other ? o->verb.other : verb);
	}
	if (a->count > 0) {
		return cli_usage(a, "'%s' is too much", a->words[0]);
	}
	if (o->list_sources || (o->sources && strcasecmp(o->sources, "Help") == 0)) {
		return o->explain ? cli_same("pmc", NULL) : cli_counters_print(a);
	}
	if (!verb) {
		return run_settings(a);
	}
	if (o->kernel.help) {
		return cli_usage(a, "-eflag Help lists the flags, and stands alone");
	}
	const char *name = o->verb.values.text[0];
	name = *name ? name : CONTROLLER_KERNEL_SESSION;
	struct etw_session s;
	session_init(&s);
	int status = o->explain ? explain(a, verb, name, &s) : -1;
	for (size_t i = 0; status < 0 && i < BASE_ARRAY_LEN(actions); i++) {
		if (strcmp(verb, actions[i].name) == 0) {
			status = actions[i].run(a, name, actions[i].control, &s);
		}
	}
	session_finish(&s);
	return status;
}

const struct cli_command cli_tracelog = {
	.name = "tracelog",
	.synopsis = "-start|-stop|-update|-enable|-disable|-flush|-q|-l|-enumguid … [SESSION] "
		    "[options]",
	.summary = "Trace sessions, as the tool of this name in the Windows driver kit.",
	.details = "Without a session name the kernel's is meant. Options may begin with - or /. "
		   "-guid takes #GUID or *NAME\n"
		   "(the GUID of that name), or a file of lines guid;keywords;level where ; begins a "
		   "comment.\n\n"
		   "Examples:\n"
		   "  tracelog -start web -guid '*MyCompany.Web' -level 5 -matchanykw 0x11 -f "
		   "web.etl\n"
		   "  tracelog -enable web -guid '#{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}' "
		   "-EventIdFilter -in 2 1 7\n"
		   "  tracelog -q web -lp\n"
		   "  tracelog -stop web\n",
	.options = tracelog_option_table,
	CLI_INTO(tracelog_options),
	.defaults = &tracelog_defaults,
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "session",
};
