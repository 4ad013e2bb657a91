/* SPDX-License-Identifier: MIT
 * The sessions of a recording: one for each event collector of its profile.
 *
 * A provider whose state is wanted gets three calls: enabled with the keywords of the state added,
 * asked for the state, enabled with its own keywords again; each call waits until the provider's
 * callback has returned. What the callback wrote is then in the session; what it handed to another
 * thread is that thread's affair.
 */
#include "tools/common/session_start.h"
#include "tools/common/mark.h"
#include "tools/common/output.h"
#include "tools/wpt/wpr.h"

#include "kernel_payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

void wpr_session_name(const char *instance, const struct profile_collector *c, char *out, size_t cap)
{
	/* As Windows' wpr: the kernel's session has one name, whatever the profile calls its collector. */
	snprintf(out, cap, "WPR_initiated_WprApp_%s%s%s", instance, *instance ? "_" : "",
		 c->kind == PROFILE_SYSTEM ? "WPR System Collector" : c->name);
}

bool wpr_recorded(const struct profile_collector *c)
{
	return c->kind == PROFILE_SYSTEM ? wpr_kernel_wanted(c)
					 : c->kind == PROFILE_EVENT && !c->private_session && !c->process_private;
}

bool wpr_sessions_run(const struct wpr *w)
{
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		struct cli_props p;
		wpr_session_name(w->instance, c, name, sizeof name);
		if (wpr_recorded(c) && cli_session_query(name, &p) == ERROR_SUCCESS) {
			return true;
		}
	}
	return false;
}

/* ---- enabling -------------------------------------------------------------------------------- */

bool wpr_provider_guid(const char *name, GUID *ret)
{
	static const GUID dotnet = GUID_INIT_WINDOWS(KP_DOT_NETRUNTIME_GUID);
	if (strcasecmp(name, "DotNetProvider") == 0) {
		*ret = dotnet;
		return true;
	}
	return cli_provider_guid(name, ret);
}

/* With the reason that is known of it. */
static int BASE_PRINTF(2, 0) fail_provider(uint32_t code, const char *what, const struct profile_provider *p)
{
	char text[300];
	snprintf(text, sizeof text, what, p->name);
	const char *why = cli_session_why();
	return *why && !*openetw_last_error_text() ? wpr_fail_call(code, "%s: %s", text, why)
						   : wpr_fail_call(code, "%s", text);
}

uint32_t wpr_enable(TRACEHANDLE session, const struct profile_provider *p, enum wpr_enabling what, uint64_t keywords,
		    uint32_t timeout_ms)
{
	struct session_provider v = {.enabled = what != WPR_DISABLE};
	struct diag d = {0};
	if (!wpr_describe_provider(p, what == WPR_ENABLE, &v, &d)) {
		session_provider_finish(&v);
		return cli_session_refuse(ERROR_INVALID_PARAMETER, d.text);
	}
	v.any = keywords;
	uint32_t code = guid_is_zero(&v.guid) ? (uint32_t)ERROR_WMI_GUID_NOT_FOUND
					      : cli_session_control(session, &v,
								    &(struct launch_enabling){
									    .timeout_ms = timeout_ms,
									    .capture = what == WPR_CAPTURE,
								    });
	if (code == ERROR_SUCCESS && v.name[0]) {
		openetw_name_provider((const struct openetw_guid *)&v.guid, v.name, NULL); /* lists look better */
	}
	session_provider_finish(&v);
	return code;
}

static const struct profile_state *state_of(const struct profile_provider *p, enum wpr_moment when)
{
	return when == WPR_ON_START ? &p->on_start : when == WPR_ON_SAVE ? &p->on_save : &p->on_demand;
}

/* Enabling that did not get its answer in time is in force all the same. */
static uint32_t said_late(const struct profile_provider *p, uint32_t code, const char *what)
{
	if (code == ERROR_TIMEOUT) {
		fprintf(stderr,
			"wpr: warning: %s: a process did not %s in time; what it still writes about that "
			"may be missing\n",
			p->name, what);
		return ERROR_SUCCESS;
	}
	return code;
}

static uint32_t capture(TRACEHANDLE h, const struct profile_provider *p, enum wpr_moment when)
{
	const struct profile_state *s = state_of(p, when);
	uint32_t seconds = s->timeout_s ? s->timeout_s : when == WPR_ON_SAVE ? WPR_SAVE_TIMEOUT_S : WPR_START_TIMEOUT_S;
	uint64_t mask = s->has_keywords ? p->keywords | s->keywords : p->keywords;
	uint32_t code = wpr_enable(h, p, WPR_ENABLE, mask, 1000 * seconds);
	code = said_late(p, code, "take notice of being enabled");
	if (code == ERROR_SUCCESS) {
		code = wpr_enable(h, p, WPR_CAPTURE, mask, 1000 * seconds);
		code = said_late(p, code, "report its state");
	}
	if (code == ERROR_SUCCESS && p->capture_only) {
		code = wpr_enable(h, p, WPR_DISABLE, 0, 1000 * seconds);
	} else if (code == ERROR_SUCCESS) {
		code = wpr_enable(h, p, WPR_ENABLE, p->keywords, 1000 * seconds);
	}
	return said_late(p, code, "take notice of being enabled");
}

static uint32_t start_provider(TRACEHANDLE h, const struct profile_provider *p)
{
	if (p->on_start.wanted) {
		return capture(h, p, WPR_ON_START);
	}
	if (p->capture_only) {
		return ERROR_SUCCESS;
	}
	uint32_t code = wpr_enable(h, p, WPR_ENABLE, p->keywords, WPR_ENABLE_WAIT_MS);
	return said_late(p, code, "take notice of being enabled");
}

/* ---- starting -------------------------------------------------------------------------------- */

void wpr_sessions_describe(const struct wpr *w, const struct profile_collector *c, unsigned index,
			   struct etw_session *ret)
{
	struct sysinfo si = {0};
	struct session_properties *p = &ret->props;
	sysinfo(&si);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t count = profile_buffer_count(c, (uint64_t)si.totalram * si.mem_unit, cpus > 0 ? (uint32_t)cpus : 1);
	session_init(ret);
	wpr_session_name(w->instance, c, ret->name, sizeof ret->name);
	p->buffer_kb = c->buffer_kb;
	p->maximum_buffers = count;
	if (w->profile->mode == PROFILE_MEMORY) {
		p->mode = EVENT_TRACE_BUFFERING_MODE;
		p->minimum_buffers = count;
	} else {
		p->mode = c->circular && c->file_most_mb ? EVENT_TRACE_FILE_MODE_CIRCULAR
							 : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		p->maximum_file_size = c->file_most_mb;
		p->mode |= c->realtime ? EVENT_TRACE_REAL_TIME_MODE : 0u;
		wpr_part_path(w, c, index, ret->file, sizeof ret->file);
	}
	ret->keep_files = wpr_files_kept(w, c);
	if (ret->keep_files) {
		p->mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		p->mode |= EVENT_TRACE_FILE_MODE_NEWFILE;
	}
	p->mode |= c->secure ? EVENT_TRACE_SECURE_MODE : 0u;
}

/* Is it one that the profile names? */
static bool listed(const struct profile_collector *c, const GUID *guid)
{
	for (const struct profile_provider *p = c->providers; p; p = p->next) {
		GUID g;
		if (wpr_provider_guid(p->name, &g) && memcmp(&g, guid, sizeof g) == 0) {
			return true;
		}
	}
	return false;
}

/* The special provider RegisteredProviders stands for those that are registered now. */
static int expand_registered(struct wpr *w, struct profile_collector *c)
{
	for (struct profile_provider **at = &c->providers, *p; (p = *at) != NULL; at = &(*at)->next) {
		if (strcasecmp(p->name, "RegisteredProviders") != 0) {
			continue;
		}
		GUID guids[4096];
		ULONG bytes = 0;
		uint32_t code = EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, guids, sizeof guids, &bytes);
		if (code) {
			return wpr_fail_call(code, "cannot list the registered providers");
		}
		struct profile_provider *after = p->next;
		for (size_t i = 0; i < bytes / sizeof guids[0]; i++) {
			char text[40];
			cli_guid_text(&guids[i], text);
			if (memcmp(&guids[i], &cli_mark_provider, sizeof guids[i]) == 0 || listed(c, &guids[i])) {
				continue;
			}
			struct profile_provider *one = ARENA_NEW(&w->profile->arena, struct profile_provider);
			char *name = arena_text(&w->profile->arena, text, strlen(text));
			if (!one || !name) {
				return wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot start");
			}
			*one = *p;
			one->name = name;
			*at = one;
			at = &one->next;
		}
		*at = after;
		if (!*at) {
			break;
		}
	}
	return CLI_OK;
}

static ULONG registered(void)
{
	GUID guids[4096];
	ULONG bytes = 0;
	uint32_t code = EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, guids, sizeof guids, &bytes);
	return code == ERROR_SUCCESS ? bytes : 0;
}

/* The first session of a user starts etwd, and processes that have been there for long need a moment
 * to find it. Enabling does not mind; a provider that is not there yet cannot be asked for its state. */
static void let_providers_come(void)
{
	enum { STEP_MS = 20, QUIET_MS = 200, MOST_MS = 2000 };
	ULONG before = registered();
	for (int ms = 0, quiet = 0; ms < MOST_MS && quiet < QUIET_MS; ms += STEP_MS) {
		usleep(STEP_MS * 1000);
		ULONG now = registered();
		quiet = now == before ? quiet + STEP_MS : 0;
		before = now;
	}
}

/* Kernel events that cannot be had leave the rest of the recording alone, unless the profile insists or
 * there is no rest. */
static int start_kernel(struct wpr *w, const struct profile_collector *c, struct etw_session *s)
{
	struct cli_counters counters;
	struct cli_session_run r;
	bool others = false;
	wpr_kernel_wish(c, &s->kernel);
	int status = wpr_kernel_counters(w->args, w->profile, c, &s->kernel, &counters);
	if (status != CLI_OK) {
		return status;
	}
	uint32_t code = cli_session_start(s, &(struct cli_session_how){.tool = "wpr", .counters = &counters}, &r);
	if (code == ERROR_SUCCESS) {
		return CLI_OK;
	}
	for (const struct profile_collector *o = w->profile->collectors; o; o = o->next) {
		others = others || (o->kind == PROFILE_EVENT && wpr_recorded(o));
	}
	const char *why = cli_session_why(), *text = openetw_error_text(code), *name = s->name;
	why = *why ? why : text ? text : "unknown error";
	if (code == ERROR_ALREADY_EXISTS || wpr_kernel_strict(w->profile, c) || !others) {
		return code == ERROR_ALREADY_EXISTS
			       ? wpr_fail(WPR_ALREADY_RUNNING,
					  "The session '%s' runs already.\n\t'openetw stop \"%s\"' ends it.", name,
					  name)
			       : wpr_fail(0xC5585011u, "Kernel events cannot be recorded: %s", why);
	}
	fprintf(stderr, "wpr: warning: kernel events are not recorded: %s\n", why);
	return CLI_OK;
}

static int start_collector(struct wpr *w, struct profile_collector *c, unsigned index)
{
	struct etw_session s;
	struct cli_session_run r;
	wpr_sessions_describe(w, c, index, &s);
	const char *name = s.name;
	if (c->kind == PROFILE_SYSTEM) {
		return start_kernel(w, c, &s);
	}
	uint32_t code = cli_session_start(&s, &(struct cli_session_how){.tool = "wpr"}, &r);
	if (code == ERROR_ALREADY_EXISTS) {
		return wpr_fail(WPR_ALREADY_RUNNING,
				"The session '%s' runs already, left over from a recording that was not "
				"stopped.\n\t'openetw stop \"%s\"' ends it.",
				name, name);
	}
	if (code) {
		return wpr_fail_call(code, "cannot start the session '%s'", name);
	}
	if (w->settle) {
		let_providers_come();
		w->settle = false;
	}
	int status = expand_registered(w, c);
	if (status) {
		return status;
	}
	if (!w->marks) { /* in one session: marks are not to come twice into a merged file */
		w->marks = cli_mark_enable(r.handle) == ERROR_SUCCESS;
	}
	for (const struct profile_provider *v = c->providers; v; v = v->next) {
		code = start_provider(r.handle, v);
		if (code == ERROR_SUCCESS) {
			continue;
		}
		if (v->strict || w->profile->strict) {
			return fail_provider(code, "cannot enable the provider '%s'", v);
		}
		const char *why = cli_session_why(), *text = openetw_error_text(code);
		fprintf(stderr, "wpr: warning: the provider '%s' is not recorded: %s\n", v->name,
			*why   ? why
			: text ? text
			       : "unknown error");
	}
	return CLI_OK;
}

static bool etwd_runs(void)
{
	struct cli_props p;
	EVENT_TRACE_PROPERTIES *one = &p.p;
	ULONG count = 0;
	cli_props_init(&p);
	QueryAllTracesA(&one, 1, &count);
	return count > 0;
}

int wpr_sessions_start(struct wpr *w)
{
	unsigned index = 0;
	w->settle = !etwd_runs();
	for (struct profile_collector *c = w->profile->collectors; c; index += wpr_recorded(c), c = c->next) {
		int status = wpr_recorded(c) ? start_collector(w, c, index) : CLI_OK;
		if (status) {
			return status;
		}
	}
	return CLI_OK;
}

/* ---- while it runs ---------------------------------------------------------------------------- */

int wpr_sessions_capture(struct wpr *w, enum wpr_moment when)
{
	int status = CLI_OK;
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		struct cli_props p;
		wpr_session_name(w->instance, c, name, sizeof name);
		if (c->kind != PROFILE_EVENT || !wpr_recorded(c) || cli_session_query(name, &p) != ERROR_SUCCESS) {
			continue;
		}
		for (const struct profile_provider *v = c->providers; v; v = v->next) {
			if (!state_of(v, when)->wanted) {
				continue;
			}
			uint32_t code = capture(p.p.Wnode.HistoricalContext, v, when);
			if (code) { /* the rest is worth saving */
				status = fail_provider(code, "cannot ask the provider '%s' for its state", v);
			}
		}
	}
	return status;
}

void wpr_sessions_totals(const struct wpr *w, struct wpr_totals *t)
{
	memset(t, 0, sizeof *t);
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		struct cli_props p;
		struct openetw_loss loss = {.size = sizeof loss};
		wpr_session_name(w->instance, c, name, sizeof name);
		if (!wpr_recorded(c)) {
			continue;
		}
		if (cli_session_query(name, &p) != ERROR_SUCCESS) {
			t->missing++;
			continue;
		}
		t->sessions++;
		t->events_lost += p.p.EventsLost;
		t->buffers_lost += p.p.LogBuffersLost;
		t->events += openetw_session_loss(name, &loss) == ERROR_SUCCESS ? loss.events : 0;
	}
}

int wpr_sessions_flush(struct wpr *w)
{
	if (w->profile->mode == PROFILE_MEMORY) {
		return CLI_OK; /* memory has everything at once */
	}
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		char name[512];
		struct cli_props p;
		wpr_session_name(w->instance, c, name, sizeof name);
		cli_props_init(&p);
		p.p.LogFileNameOffset = 0;
		uint32_t code =
			wpr_recorded(c) ? ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH) : ERROR_SUCCESS;
		if (code) {
			return wpr_fail_call(code, "cannot flush '%s'", name);
		}
	}
	return CLI_OK;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static int save_one(struct wpr *w, const char *name, const char *file, struct wpr_totals *t)
{
	struct cli_props p;
	struct openetw_loss loss = {.size = sizeof loss}, saved = loss;
	if (w->profile->mode == PROFILE_MEMORY) {
		cli_props_init(&p);
		snprintf(p.file, sizeof p.file, "%s", file);
		uint32_t code = ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH);
		if (code) {
			return wpr_fail_call(code, "cannot write the buffers of '%s' to %s", name, file);
		}
		/* What was written then is in the file, not what came after. */
		openetw_session_loss(name, &saved);
	}
	cli_props_init(&p);
	uint32_t code = openetw_session_stop(0, name, &p.p, &loss);
	if (code) {
		return wpr_fail_call(code, "cannot stop '%s'", name);
	}
	loss = w->profile->mode == PROFILE_MEMORY ? saved : loss;
	t->events += loss.events - BASE_MIN(loss.events, loss.overwritten);
	t->events_lost += p.p.EventsLost;
	t->buffers_lost += p.p.LogBuffersLost;
	return CLI_OK;
}

int wpr_sessions_save(struct wpr *w, char ***ret_files, unsigned *ret_count, struct wpr_totals *t)
{
	unsigned index = 0;
	struct wpr_parts parts = {0};
	memset(t, 0, sizeof *t);
	int status = CLI_OK;
	for (const struct profile_collector *c = w->profile->collectors; c && status == CLI_OK;
	     index += wpr_recorded(c), c = c->next) {
		char name[512], file[2100];
		struct cli_props p;
		wpr_session_name(w->instance, c, name, sizeof name);
		wpr_part_path(w, c, index, file, sizeof file);
		if (!wpr_recorded(c)) {
			continue;
		}
		if (cli_session_query(name, &p) != ERROR_SUCCESS) {
			t->missing++;
			fprintf(stderr, "wpr: warning: the session '%s' does not run any more%s\n", name,
				w->profile->mode == PROFILE_FILE ? "; its file has what it recorded"
								 : "; its memory is lost");
		} else {
			status = save_one(w, name, file, t);
			t->sessions += status == CLI_OK;
		}
		if (status == CLI_OK && wpr_each_part(w, c, index, wpr_collect_part, &parts) < 0) {
			status = wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot save");
		}
	}
	*ret_files = parts.file;
	*ret_count = parts.count;
	return status;
}

void wpr_sessions_cancel(struct wpr *w)
{
	unsigned index = 0;
	for (const struct profile_collector *c = w->profile->collectors; c; index += wpr_recorded(c), c = c->next) {
		char name[512];
		struct cli_props p;
		if (!wpr_recorded(c)) {
			continue;
		}
		wpr_session_name(w->instance, c, name, sizeof name);
		cli_props_init(&p);
		ControlTraceA(0, name, &p.p, EVENT_TRACE_CONTROL_STOP);
		if (*w->work) {
			wpr_each_part(w, c, index, wpr_remove_part, NULL);
		}
	}
	if (*w->work) {
		rmdir(w->work);
	}
}

/* ---- --explain -------------------------------------------------------------------------------- */

static void explain_enable(const char *name, const struct profile_provider *p, uint64_t mask, bool capture)
{
	struct session_provider v = {.enabled = true};
	struct diag d = {0};
	if (!wpr_describe_provider(p, !capture, &v, &d)) {
		printf("# %s is not recorded: %s\n", p->name, d.text);
		session_provider_finish(&v);
		return;
	}
	snprintf(v.name, sizeof v.name, "%s", p->name); /* as the profile spells it */
	v.any = mask;
	cli_session_explain_enable(stdout, name, &v, capture ? "--capture-state" : NULL);
	session_provider_finish(&v);
}

void wpr_sessions_explain(const struct wpr *w)
{
	unsigned index = 0;
	for (const struct profile_collector *c = w->profile->collectors; c; index += wpr_recorded(c), c = c->next) {
		struct etw_session s;
		if (!wpr_recorded(c)) {
			continue;
		}
		wpr_sessions_describe(w, c, index, &s);
		if (c->kind == PROFILE_SYSTEM) {
			struct cli_counters counters;
			wpr_kernel_wish(c, &s.kernel);
			(void)wpr_kernel_counters(w->args, w->profile, c, &s.kernel, &counters);
			cli_session_explain(stdout, "start", &s, &counters);
			continue;
		}
		cli_session_explain(stdout, "start", &s, NULL);
		for (const struct profile_provider *v = c->providers; v; v = v->next) {
			const struct profile_state *on = &v->on_start;
			uint64_t mask = on->has_keywords ? v->keywords | on->keywords : v->keywords;
			if (on->wanted) {
				explain_enable(s.name, v, mask, false);
				explain_enable(s.name, v, mask, true);
			}
			if (!v->capture_only) {
				explain_enable(s.name, v, v->keywords, false);
			}
		}
	}
}
