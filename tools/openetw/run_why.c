/* SPDX-License-Identifier: MIT */
#include "tools/common/session_options.h"
#include "tools/openetw/run_why.h"

#include "tools/common/session_control.h"
#include "tools/common/output.h"

#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/time.h>

/* ---- the probe --------------------------------------------------------------------------------- */

static volatile sig_atomic_t second_went_by;

static void on_alarm(int sig)
{
	(void)sig;
	second_went_by = 1;
}

static void wake_in(int seconds)
{
	struct itimerval t = {.it_value = {.tv_sec = seconds}};
	setitimer(ITIMER_REAL, &t, NULL);
}

static bool filtered(const struct cli_enable_options *o)
{
	static const enum session_filter filters[] = {SESSION_FILTER_EVENT_ID, SESSION_FILTER_EVENT_NAME,
						      SESSION_FILTER_EXE, SESSION_FILTER_PID, SESSION_FILTER_CONTAINER};
	for (size_t i = 0; i < BASE_ARRAY_LEN(filters); i++) {
		if (o->filter[filters[i]].count) {
			return true;
		}
	}
	return o->payload.count > 0 || o->expression;
}

static bool narrow(const struct cli_enable_options *o, const struct session_provider *p)
{
	return filtered(o) || p->expression || (p->level > 0 && p->level < 5) ||
	       (p->any != 0 && p->any != UINT64_MAX) || p->all != 0;
}

static void probe_start(struct run_why *w)
{
	bool wanted = false;
	for (uint32_t i = 0; i < w->session->provider_count; i++) {
		wanted = wanted || narrow(w->enable, &w->session->provider[i]);
	}
	if (!wanted) {
		return;
	}
	struct etw_session s;
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%.250s-all", w->session->name);
	s.props.mode = EVENT_TRACE_BUFFERING_MODE;
	s.props.buffer_kb = 64;
	for (uint32_t i = 0; i < w->session->provider_count; i++) {
		struct session_provider *p = session_add_provider(&s, &w->session->provider[i].guid);
		if (!p) {
			fprintf(stderr, "openetw run: what the filters leave out is not counted: %s\n",
				session_add_failed(&s));
			session_finish(&s);
			return;
		}
		p->level = 255;
	}
	struct cli_session_run r;
	struct cli_session_how how = {.enable_ms = 1, .late_is_fine = true};
	uint32_t code = cli_session_start(&s, &how, &r);
	session_finish(&s);
	if (code != ERROR_SUCCESS) {
		return; /* there are too many, perhaps: then nobody counts */
	}
	w->probe = r.handle;
	w->probing = w->probed = true;
	struct sigaction sa = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &sa, NULL);
	wake_in(1);
}

static void probe_stop(struct run_why *w)
{
	struct openetw_loss loss = {.size = sizeof loss};
	struct cli_props p;
	cli_props_init(&p);
	p.p.LogFileNameOffset = 0;
	if (w->probing && openetw_session_stop(w->probe, NULL, &p.p, &loss) == ERROR_SUCCESS) {
		w->came = loss.events;
	}
	w->probing = false;
}

void run_why_tick(struct run_why *w)
{
	if (!second_went_by || !w->probing) {
		return;
	}
	second_went_by = 0;
	struct openetw_loss mine = {.size = sizeof mine}, all = {.size = sizeof all};
	char name[300];
	snprintf(name, sizeof name, "%.250s-all", w->session->name);
	bool known = openetw_session_loss(w->session->name, &mine) == ERROR_SUCCESS &&
		     openetw_session_loss(name, &all) == ERROR_SUCCESS;
	if (!known || mine.events > 0 || all.events > 0) {
		w->more = true;
		probe_stop(w);
		return;
	}
	wake_in(1);
}

/* ---- registrations ----------------------------------------------------------------------------- */

struct seen {
	struct run_why *w;
	const struct session_provider *p;
	uint64_t last;
	/* of this provider; of its name with another GUID; others, for what was meant */
	struct openetw_registration here, other;
	bool is_here, is_other;
	char names[130][256];
	int count;
};

static bool take_last(void *ctx, const struct openetw_registration *r)
{
	uint64_t *last = ctx;
	*last = BASE_MAX(*last, r->number);
	return true;
}

/* "*Name" and "#GUID" say how the GUID is found. */
static const char *plain_name(const struct session_provider *p)
{
	return p->name + (*p->name == '*' || *p->name == '#');
}

static bool take(void *ctx, const struct openetw_registration *r)
{
	struct seen *s = ctx;
	if (r->number <= s->w->before) {
		return true;
	}
	if (memcmp(&r->guid, &s->p->guid, 16) == 0 || memcmp(&r->group, &s->p->guid, 16) == 0) {
		s->is_here = true;
		s->here = *r;
	} else if (*r->name && strcasecmp(r->name, plain_name(s->p)) == 0) {
		s->is_other = true;
		s->other = *r;
	} else if (s->count < (int)BASE_ARRAY_LEN(s->names)) {
		GUID g;
		char guid[37];
		memcpy(&g, &r->guid, 16);
		cli_guid_text(&g, guid);
		if (*r->name) {
			snprintf(s->names[s->count++], sizeof s->names[0], "%s", r->name);
		} else {
			snprintf(s->names[s->count++], sizeof s->names[0], "{%s}", guid);
		}
	}
	return true;
}

static bool is_there(void *ctx, const GUID *g, const TRACE_PROVIDER_INSTANCE_INFO *inst, const uint8_t *enables)
{
	bool *there = ctx;
	*there = *there || !(inst->Flags & TRACE_PROVIDER_FLAG_PRE_ENABLE);
	return true;
}

static const char *name_at(const void *ctx, int i)
{
	const struct seen *s = ctx;
	return i < s->count ? s->names[i] : NULL;
}

void run_why_begin(struct run_why *w, const struct cli_enable_options *o, const struct etw_session *session)
{
	*w = (struct run_why){.enable = o, .session = session};
	w->known = openetw_recent_registrations(take_last, &w->before) == ERROR_SUCCESS;
	probe_start(w);
}

void run_why_end(struct run_why *w)
{
	wake_in(0);
	probe_stop(w);
}

static void say_absent(const struct seen *s)
{
	char guid[37], other[37];
	const char *name = plain_name(s->p);
	guid_format(&s->p->guid, guid);
	struct guid plain;
	bool named = guid_parse(name, &plain) < 0;
	if (s->is_other) {
		GUID g;
		memcpy(&g, &s->other.guid, 16);
		cli_guid_text(&g, other);
		fprintf(stderr, "%s has another GUID in %s (%u): not {%s}, but {%s}; -p '{%s}' records it\n", name,
			s->other.process, s->other.pid, guid, other, other);
		return;
	}
	if (named) {
		fprintf(stderr, "no process registered %s {%s}", name, guid);
	} else {
		fprintf(stderr, "no process registered {%s}", guid);
	}
	const char *near = named ? cli_nearest(name, name_at, s) : NULL;
	if (near) {
		fprintf(stderr, "; did you mean %s?\n", near);
		return;
	}
	const char *between = "; registered were ";
	int shown = 0;
	for (int i = 0; i < s->count; i++) {
		bool before = false;
		for (int j = 0; j < i; j++) {
			before = before || strcmp(s->names[i], s->names[j]) == 0;
		}
		if (!before && shown++ < 8) {
			fprintf(stderr, "%s%s", between, s->names[i]);
			between = ", ";
		}
	}
	fputs(shown > 8 ? ", …\n" : s->count ? "\n" : "; none was registered while the command ran\n", stderr);
}

/* "12 events came, and were dropped by level 1 and keywords 0x10 of A, by level 2 of B" */
static void say_dropped(const struct run_why *w)
{
	fprintf(stderr, "%s%llu event%s came and %s dropped", w->more ? "at least " : "", (unsigned long long)w->came,
		w->came == 1 ? "" : "s", w->came == 1 ? "was" : "were");
	const char *comma = " by";
	for (uint32_t i = 0; i < w->session->provider_count; i++) {
		const struct session_provider *p = &w->session->provider[i];
		bool level = p->level > 0 && p->level < 5, any = p->any != 0 && p->any != UINT64_MAX;
		if (!level && !any && !p->all) {
			continue;
		}
		fputs(comma, stderr);
		comma = ", by";
		if (level) {
			fprintf(stderr, " level %u", p->level);
		}
		if (any) {
			fprintf(stderr, "%s keywords 0x%llx", level ? " and" : "", (unsigned long long)p->any);
		}
		if (p->all) {
			fprintf(stderr, "%s all of the keywords 0x%llx", level || any ? " and" : "",
				(unsigned long long)p->all);
		}
		fprintf(stderr, " of %s", plain_name(p));
	}
	if (filtered(w->enable)) {
		fprintf(stderr, "%s filters", comma);
	}
	fputc('\n', stderr);
}

void run_why_say(struct run_why *w, uint64_t events)
{
	uint64_t last = 0;
	/* another etwd counts from 1 again */
	w->known = w->known && openetw_recent_registrations(take_last, &last) == ERROR_SUCCESS && last >= w->before;
	struct seen *s = w->known ? calloc(1, sizeof *s) : NULL;
	bool absent = false;
	for (uint32_t i = 0; s && i < w->session->provider_count; i++) {
		bool there = false;
		*s = (struct seen){.w = w, .p = &w->session->provider[i]};
		openetw_recent_registrations(take, s);
		GUID g;
		memcpy(&g, w->session->provider[i].guid.b, sizeof g);
		controller_each_instance(&g, is_there, &there);
		if (!s->is_here && !there) {
			say_absent(s);
			absent = true;
		} else if (events == 0 && w->came == 0 && s->is_here) {
			fprintf(stderr, "%s was registered by %s (%u), which wrote no event%s\n", plain_name(s->p),
				s->here.process, s->here.pid, w->probed ? " of any level or keyword" : "");
		}
	}
	free(s);
	if (events == 0 && w->came > 0) {
		say_dropped(w);
	} else if (events == 0 && !absent && !w->known) {
		fprintf(stderr, "no event came\n");
	}
}
