/* SPDX-License-Identifier: MIT
 * Recording from boot on: "wpr -addboot" writes the sessions of a profile as autologgers, which etwd starts when it
 * starts; "wpr -stopboot" saves them as -stop does and takes the autologgers away. What is known about the
 * recording outlives the machine's next start, so it lies in the state directory.
 */
#include "tools/common/session_start.h"
#include "tools/common/mark.h"
#include "tools/wpt/wpr.h"

#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool of_system(void)
{
	const char *instance = getenv("OPENETW_INSTANCE");
	return instance && strcmp(instance, "system") == 0;
}

bool wpr_boot_system(void)
{
	/* What root calls boot is the machine's. */
	if (geteuid() == 0 && !getenv("OPENETW_RUNTIME_DIR") && !getenv("OPENETW_INSTANCE")) {
		setenv("OPENETW_INSTANCE", "system", 1);
	}
	return of_system();
}

void wpr_boot_begin(struct wpr *w)
{
	wpr_boot_system();
	snprintf(w->boot, sizeof w->boot, "boot%s%s", *w->instance ? "-" : "", w->instance);
	w->instance = w->boot;
}

bool wpr_boot_folder(char *out, size_t cap)
{
	int r = session_dir(SESSION_STATE, of_system(), out, cap);
	r = r == 0 ? session_make_dirs(out) : r;
	if (r < 0) {
		wpr_fail(WPR_HRESULT(win32_from_errno(r)), "Cannot keep a recording from boot in %s: %s", out,
			 strerror(-r));
	}
	return r == 0;
}

/* ---- what is written --------------------------------------------------------------------------- */

/* Nothing is not everything. */
static bool wpr_set_filter(struct session_provider *v, enum session_filter kind, const struct strbuf *text,
			   struct diag *d)
{
	if (text->failed) {
		diag_at(d, UINT64_MAX, "its filters need more memory than there is");
		return false;
	}
	if (text->len == 0) {
		diag_at(d, UINT64_MAX, "a filter of it names nothing");
		return false;
	}
	struct diag why = {0};
	int r = session_set_filter(v, kind, text->s, &why);
	if (r < 0) {
		diag_at(d, UINT64_MAX, "%s %s", session_filter_key(kind), why.text);
	}
	return r == 0;
}

/* Of all events but none there is no filter. */
static bool ids_set(struct session_provider *v, enum session_filter kind, const struct profile_ids *s, struct diag *d)
{
	struct strbuf text = {0};
	if (!s->present || (s->count == 0 && !s->in)) {
		return true;
	}
	session_filter_ids_text(&text, s->in, s->id, s->count);
	bool fine = wpr_set_filter(v, kind, &text, d);
	strbuf_finish(&text);
	return fine;
}

static bool names_set(struct session_provider *v, enum session_filter kind, const struct profile_names *s,
		      struct diag *d)
{
	struct strbuf text = {0};
	if (!s->present || (!s->names && !s->in)) {
		return true;
	}
	bool all = s->level == 0xFF && s->keywords == PROFILE_ALL;
	session_filter_names_text(&text, s->in, all ? 0 : s->level, all ? 0 : s->keywords);
	for (const struct profile_word *n = s->names; n; n = n->next) {
		session_filter_name_text(&text, n == s->names, n->text);
	}
	bool fine = wpr_set_filter(v, kind, &text, d);
	strbuf_finish(&text);
	return fine;
}

bool wpr_describe_provider(const struct profile_provider *p, bool filters, struct session_provider *v, struct diag *d)
{
	struct guid plain;
	GUID g;
	const char *name = p->name + (*p->name == '*');
	if (wpr_provider_guid(p->name, &g)) {
		memcpy(v->guid.b, &g, sizeof v->guid.b);
	}
	snprintf(v->name, sizeof v->name, "%s", guid_parse(name, &plain) < 0 ? name : "");
	v->level = p->level;
	v->any = p->keywords;
	v->properties = (p->stack ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0u) |
			(p->sid ? EVENT_ENABLE_PROPERTY_SID : 0u) | (p->tsid ? EVENT_ENABLE_PROPERTY_TS_ID : 0u) |
			(p->event_key ? EVENT_ENABLE_PROPERTY_EVENT_KEY : 0u);
	if (!filters) {
		return true;
	}
	struct strbuf exe = {0};
	strbuf_adds(&exe, p->exe ? p->exe : "");
	bool fine = (!p->exe || wpr_set_filter(v, SESSION_FILTER_EXE, &exe, d)) &&
		    ids_set(v, SESSION_FILTER_EVENT_ID, &p->events, d) &&
		    ids_set(v, SESSION_FILTER_STACK_ID, &p->stack_events, d) &&
		    names_set(v, SESSION_FILTER_EVENT_NAME, &p->event_names, d) &&
		    names_set(v, SESSION_FILTER_STACK_NAME, &p->stack_names, d);
	strbuf_finish(&exe);
	/* A filter of stacks asks for them, also one that lets all through. */
	bool stacks = p->stack_events.present || p->stack_names.present;
	if (stacks && !v->filter[SESSION_FILTER_STACK_ID] && !v->filter[SESSION_FILTER_STACK_NAME]) {
		v->properties |= EVENT_ENABLE_PROPERTY_STACK_TRACE;
	}
	return fine;
}

/* False: said why not. */
static bool add_provider(struct etw_session *s, const struct profile_provider *p)
{
	struct session_provider v = {.enabled = true};
	struct diag d = {0};
	if (p->capture_only) {
		return true; /* asked at the end */
	}
	if (strcasecmp(p->name, "RegisteredProviders") == 0) {
		fprintf(stderr, "wpr: warning: nothing is registered yet when a recording from boot begins: name the "
				"providers in a profile\n");
		return true;
	}
	bool fine = wpr_describe_provider(p, true, &v, &d);
	if (!fine || guid_is_zero(&v.guid)) {
		fprintf(stderr, "wpr: warning: the provider '%s' is not recorded from boot: %s\n", p->name,
			fine ? "its GUID is not known" : d.text);
		session_provider_finish(&v);
		return true;
	}
	struct session_provider *to = session_add_provider(s, &v.guid);
	if (!to) {
		session_provider_finish(&v);
		wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot record '%s' from boot: %s", p->name,
			      session_add_failed(s));
		return false;
	}
	*to = v;
	return true;
}

static bool describe(struct wpr *w, const struct profile_collector *c, unsigned index, bool marks,
		     struct etw_session *s)
{
	wpr_sessions_describe(w, c, index, s);
	s->start = 1;
	s->keep_files = 0;
	if (w->profile->mode != PROFILE_FILE) {
		s->file[0] = 0;
	}
	if (s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE) {
		/* Of several files the last ones are wanted: one that goes round has as much. */
		s->props.mode =
			(s->props.mode & ~(uint32_t)EVENT_TRACE_FILE_MODE_NEWFILE) | EVENT_TRACE_FILE_MODE_CIRCULAR;
		s->props.maximum_file_size *= c->file_count;
		char *counter = strstr(s->file, "_%d");
		if (counter) {
			memmove(counter, counter + 3, strlen(counter + 3) + 1);
		}
	}
	bool ok = true;
	if (c->kind == PROFILE_SYSTEM) {
		wpr_kernel_wish(c, &s->kernel);
		if (c->counting.counters || c->counting.sampled) {
			fprintf(stderr, "wpr: warning: a recording from boot has no hardware counters\n");
		}
	} else {
		for (const struct profile_provider *v = c->providers; v && ok; v = v->next) {
			ok = add_provider(s, v);
		}
		struct guid mark;
		memcpy(mark.b, &cli_mark_provider, sizeof mark.b);
		if (ok && marks && !session_add_provider(s, &mark)) {
			wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot record marks from boot: %s",
				      session_add_failed(s));
			ok = false;
		}
	}
	return ok;
}

static bool conf_path(const char *session, char *out, size_t cap)
{
	return session_path(SESSION_AUTOLOGGERS, of_system(), session, out, cap) == 0;
}

/* What it takes besides: an etwd that is started with the machine. */
void wpr_boot_tell(const char *again)
{
	static const char *const target[] = {"sysinit", "multi-user", "default"};
	bool enabled = false;
	for (size_t i = 0; i < BASE_ARRAY_LEN(target); i++) {
		char path[100];
		snprintf(path, sizeof path, "/etc/systemd/system/%s.target.wants/openetw.service", target[i]);
		enabled = enabled || access(path, F_OK) == 0;
	}
	if (!of_system()) {
		fprintf(stderr,
			"It begins when this user's etwd next starts. All users, from the start of the machine on: "
			"'openetw --system %s …'.\n",
			again);
	} else if (!enabled) {
		fprintf(stderr,
			"It begins with the etwd of all users; 'systemctl enable openetw.service' has that start "
			"with the machine.\n");
	}
}

int wpr_boot_add(struct wpr *w)
{
	unsigned index = 0, written = 0;
	bool only_tell = w->o->explain, marks = true;
	int status = CLI_OK;
	for (struct profile_collector *c = w->profile->collectors; c && status == CLI_OK; c = c->next) {
		if (!wpr_recorded(c)) {
			continue;
		}
		struct etw_session s;
		char path[4200] = "the autologger";
		bool ok = describe(w, c, index++, marks && c->kind == PROFILE_EVENT, &s);
		marks = marks && c->kind != PROFILE_EVENT;
		uint32_t code = ok ? cli_session_check(&s, SESSION_RUNNER_AUTOLOGGER) : 0;
		if (!ok || code) { /* the former is said */
			status = ok ? wpr_fail_call(code, "cannot record '%s' from boot: %s", s.name, cli_session_why())
				    : CLI_FAILED;
			session_finish(&s);
			break;
		}
		int r = conf_path(s.name, path, sizeof path) ? 0 : -ENAMETOOLONG;
		if (only_tell && r == 0) {
			cli_session_explain(stdout, of_system() ? "--system autologger add" : "autologger add", &s,
					    NULL);
		} else if (r == 0) {
			r = session_write(path, &s);
			written += r == 0;
		}
		session_finish(&s);
		if (r < 0) {
			status = wpr_fail(WPR_HRESULT(win32_from_errno(r)), "Cannot write %s: %s", path, strerror(-r));
		}
	}
	if (status == CLI_OK && !only_tell && written == 0) {
		status = wpr_fail(WPR_NO_PROVIDER, "Nothing of the profile can be recorded from boot.");
	}
	if (status == CLI_OK && !only_tell) {
		fprintf(stderr, "The recording from boot was successfully added.\n");
		wpr_boot_tell("wpr -addboot");
	}
	return status;
}

void wpr_boot_remove(const struct wpr *w)
{
	for (const struct profile_collector *c = w->profile ? w->profile->collectors : NULL; c; c = c->next) {
		char name[512], path[4200];
		wpr_session_name(w->instance, c, name, sizeof name);
		if (conf_path(name, path, sizeof path)) {
			unlink(path);
		}
		if (session_path(SESSION_STATE, of_system(), name, path, sizeof path) == 0) {
			unlink(path);
		}
	}
}
