/* SPDX-License-Identifier: MIT
 * What sessions wish of the kernel's events, and the requests that change it.
 */
#include "etw/values/enable_properties.h"
#include "etw/values/errors.h"
#include "etw/values/filter_types.h"
#include "etw/values/info_classes.h"
#include "etw/values/provider_control.h"
#include "etw/values/session_modes.h"
#include "etw/values/session_names.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_kernel.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>

#define CONFINED_NAMES "PROC_THREAD, LOADER, PROFILE, FILE_IO, FILE_IO_INIT, FILENAME, NETWORKTRACE"

static const uint16_t kernel_name[] = u"" KERNEL_LOGGER_NAMEA;
static const uint16_t circular_name[] = u"Circular Kernel Context Logger";

#define CLOSING_BYTES       (4u << 20) /* of a rundown, about */
#define INTERVAL_DEFAULT_US 1000u
#define INTERVAL_LEAST_US   125u
#define INTERVAL_MOST_US    1000000u

void etwd_kernel_wish_mask(const struct etwd_kernel_wish *w, struct kernel_mask *ret)
{
	*ret = w->base;
	for (uint32_t i = 0; i < w->providers; i++) {
		kernel_mask_add(ret, &w->provider[i].mask);
	}
}

/* Whose processes are is known from what names them. */
void etwd_kernel_session_mask(const struct etwd_session_kernel *k, struct kernel_mask *ret)
{
	etwd_kernel_wish_mask(&k->wish, ret);
	if (k->confined) {
		kernel_mask_set(ret, KERNEL_BIT_PROCESS);
		kernel_mask_set(ret, KERNEL_BIT_THREAD);
	}
}

static bool wishes(const struct session *s)
{
	struct kernel_mask m;
	if (!s->kernel) {
		return false;
	}
	etwd_kernel_wish_mask(&s->kernel->wish, &m);
	return !kernel_mask_empty(&m);
}

uint32_t etwd_kernel_flags(const struct session *s)
{
	struct kernel_mask m;
	etwd_kernel_wish_mask(&s->kernel->wish, &m);
	return kernel_mask_to_flags(&m);
}

/* What Linux has not is refused by name, and what belongs to the machine to users. `text` is for the
 * caller to keep while it answers. */
static uint32_t check_mask(const struct etwd_session_kernel *k, const struct kernel_mask *m, char *text, size_t cap)
{
	const struct kernel_flag *f = kernel_mask_refused(m);
	struct kernel_mask unknown;
	if (!f && k->confined && kernel_mask_unconfinable(m, &unknown)) {
		char names[200];
		kernel_mask_names(&unknown, names, sizeof names);
		snprintf(text, cap,
			 "only root records %.100s here; users have, of their own processes, " CONFINED_NAMES, names);
		return ERROR_ACCESS_DENIED;
	}
	if (f) {
		snprintf(text, cap, "%s: %s", f->name, f->none);
		return ERROR_NOT_SUPPORTED;
	}
	if (kernel_mask_unknown(m, &unknown)) {
		char names[200];
		kernel_mask_names(&unknown, names, sizeof names);
		snprintf(text, cap, "group mask bits without a meaning here: %s", names);
		return ERROR_NOT_SUPPORTED;
	}
	return 0;
}

/* From a message: group masks, or flags; processes. */
static void read_mask(const struct proto_message *m, uint32_t flags, struct etwd_kernel_wish *w)
{
	const uint8_t *p;
	size_t n;
	if (proto_get(m, PROTO_TAG_KERNEL_MASK, &p, &n) && n == sizeof w->base) {
		memcpy(&w->base, p, n);
	} else {
		kernel_mask_from_flags(flags, &w->base);
	}
	if (proto_get(m, PROTO_TAG_KERNEL_PIDS, &p, &n) && n % 4 == 0 && n <= sizeof w->pid) {
		memcpy(w->pid, p, n);
		w->pids = (uint32_t)(n / 4);
	}
	if (proto_get(m, PROTO_TAG_KERNEL_STACKS, &p, &n) && n % 2 == 0 && n <= sizeof w->stack) {
		memcpy(w->stack, p, n);
		w->stacks = (uint32_t)(n / 2);
	}
}

static char refusal[300]; /* of the request at hand; the loop is one thread */

/* ---- start ------------------------------------------------------------------------------------ */

uint32_t etwd_kernel_read(struct etwd *d, struct conn *c, const struct proto_message *m, const struct proto_session *p,
			  struct session *s, const char **ret_why)
{
	bool nt = utf16_equal_nocase(s->name, kernel_name);
	bool circular = utf16_equal_nocase(s->name, circular_name);
	bool system = s->props.mode & EVENT_TRACE_SYSTEM_LOGGER_MODE;
	if (nt) {
		s->props.guid = kernel_trace_control_guid;
	} else if (circular) {
		s->props.guid = kernel_circular_guid;
	} else if ((guid_equal(&s->props.guid, &kernel_trace_control_guid) ||
		    guid_equal(&s->props.guid, &kernel_circular_guid)) &&
		   !system) {
		*ret_why = "this GUID is the kernel logger's: its session has the name NT Kernel Logger, or "
			   "the system-logger mode";
		return ERROR_INVALID_PARAMETER;
	} else if (system && guid_equal(&s->props.guid, &kernel_trace_control_guid)) {
		s->props.guid = GUID_ZERO; /* any number of them: each gets one of its own */
	}
	if (!nt && !circular && !system) {
		return 0;
	}
	if (s->props.mode & EVENT_TRACE_USE_PAGED_MEMORY) {
		*ret_why = "kernel events cannot be logged into paged memory";
		return ERROR_INVALID_PARAMETER;
	}
	if (nt && (s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE)) {
		*ret_why = "the NT Kernel Logger has no new-file mode; a system-logger session has";
		return ERROR_INVALID_PARAMETER;
	}
	bool confined = d->system && c->uid != 0 && c->uid != d->uid;
	if (confined && (nt || circular)) {
		*ret_why = "this session shows every user's processes: only root has it; a session of another name "
			   "with the system-logger mode, in real time, shows users their own";
		return ERROR_ACCESS_DENIED;
	}
	struct etwd_session_kernel *k = calloc(1, sizeof *k);
	if (!k) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	*ret_why = etwd_share_take(d, c->uid, SHARE_KERNEL_SESSIONS, 1);
	if (*ret_why) {
		*ret_why = confined ? *ret_why : "64 sessions have kernel events already";
		free(k);
		return ERROR_NO_SYSTEM_RESOURCES;
	}
	k->slot = -1;
	k->confined = confined;
	k->uid = confined ? c->uid : 0;
	s->kernel = k;
	read_mask(m, p->props.enable_flags, &k->wish);
	/* Kernel events come with the system's clock. */
	if (s->props.clock != 2) {
		s->props.clock = 1;
		s->system_clock = d->clock_kind != CLOCK_KIND_SYSTEM;
	}
	uint32_t code = check_mask(k, &k->wish.base, refusal, sizeof refusal);
	if (code != 0) {
		*ret_why = refusal;
	}
	return code;
}

void etwd_kernel_free(struct session *s)
{
	if (s->kernel) {
		etwd_share_give(s->daemon, s->uid, SHARE_KERNEL_SESSIONS, 1);
	}
	free(s->kernel);
	s->kernel = NULL;
}

static uint32_t code_of(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM: return ERROR_ACCESS_DENIED;
	case ENOSPC: return ERROR_NO_SYSTEM_RESOURCES;
	case ENOENT:
	case ENOSYS:
	case ENODEV: return ERROR_NOT_SUPPORTED;
	case EPIPE: return RPC_S_UNKNOWN_IF; /* the interface is unknown: nobody is there */
	case ECANCELED: return ERROR_CANCELLED;
	default: return win32_from_errno(err);
	}
}

/* What is missing of what was wished. */
static void take_note(struct etwd *d, struct session *s, const struct proto_kernel_message *m)
{
	struct etwd_session_kernel *k = s->kernel;
	char names[256];
	if (!m || (m->type != PROTO_KERNEL_ADD && m->type != PROTO_KERNEL_CHANGE)) {
		return;
	}
	k->note[0] = 0;
	if (!kernel_mask_empty(&m->mask)) {
		kernel_mask_names(&m->mask, names, sizeof names);
		snprintf(k->note, sizeof k->note, "not recorded: %s%s%.200s", names, m->text[0] ? "; " : "", m->text);
		etwd_log_of(d, s->uid, "Session \"%s\": %s", s->label, k->note);
	} else if (m->text[0]) {
		snprintf(k->note, sizeof k->note, "not counted: %.300s", m->text);
		etwd_log_of(d, s->uid, "Session \"%s\": %s", s->label, k->note);
	}
}

/* The collector is there, or cannot be. */
static void begun(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		  const char *why)
{
	struct session *s = call->session;
	if (result == 0) {
		etwd_job_start(d, call->job);
		return;
	}
	free(call->job);
	etwd_session_refuse(d, s, code_of(result), why);
	etwd_session_unref(s); /* the job's */
}

bool etwd_kernel_begin(struct etwd *d, struct session *s, struct job *job)
{
	struct etwd_kernel_call *call = wishes(s) ? etwd_kernel_call_create(PROTO_KERNEL_OPEN, s, begun) : NULL;
	if (!call) {
		return false; /* without memory the session's own creation fails in a moment */
	}
	call->job = job;
	etwd_kernel_call_start(d, call);
	return true;
}

/* Nobody saw what happened while no collector ran: as much, let us say, as before. */
static void guess_gap(struct etwd *d, struct session *s)
{
	struct etwd_session_kernel *k = s->kernel;
	uint64_t now = clock_read_system_ns();
	if (k->gap_since && now > k->gap_since) {
		double missed = (double)k->rate * (double)(now - k->gap_since) / 1e9;
		if (missed >= 1.0) { /* one was counted when it began */
			etwd_session_lost(s, (uint64_t)missed - 1, PROTO_LOSS_DETACHED, s->sink != NULL);
		}
	}
	k->gap_since = 0;
	k->rate_since = 0;
}

static void attached(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		     const char *why)
{
	struct session *s = call->session;
	take_note(d, s, m);
	if (s->state == SESSION_STARTING) {
		if (result == 0) {
			etwd_session_running(d, s);
		} else {
			/* With the names of what cannot be had. */
			etwd_session_refuse(d, s, code_of(result), s->kernel->note[0] ? s->kernel->note : why);
		}
	} else if (result == 0) {
		guess_gap(d, s);
	} else if (s->state == SESSION_RUNNING) {
		snprintf(s->kernel->note, sizeof s->kernel->note, "no kernel events: %.400s", why);
	}
}

bool etwd_kernel_attach(struct etwd *d, struct session *s)
{
	struct etwd_kernel_call *call = wishes(s) ? etwd_kernel_call_create(PROTO_KERNEL_ADD, s, attached) : NULL;
	if (!call) {
		return false;
	}
	etwd_kernel_call_start(d, call);
	return true;
}

/* ---- what is left of a ring -------------------------------------------------------------------- */

/* In nanoseconds, as the collector counts. */
static uint64_t back_to_ns(const struct etwd *d, const struct session *s, uint64_t time)
{
	uint64_t now = clock_read_system_ns(), of_session = etwd_session_time_ns(d, s, now);
	uint64_t ago = of_session - BASE_MIN(time, of_session);
	ago = s->props.clock == 2 ? ago * 100 : ago; /* FILETIME; else these sessions have the system's clock */
	return ago < now ? now - ago : 0;
}

/* `more`: of so many bytes that are going to be overwritten before it is over. */
static void ring_left(const struct etwd *d, struct session *s, uint64_t after, uint64_t more,
		      struct proto_kernel_left *ret)
{
	uint64_t now = clock_read_system_ns(), since = s->sink ? sink_ring_since(s->sink) : 0;
	uint64_t unit = s->props.mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? 1u << 10 : 1u << 20;
	uint64_t ring = BASE_MAX(s->props.maximum_file_size * unit, more);
	*ret = (struct proto_kernel_left){.since = since ? back_to_ns(d, s, since) : 0, .after = after};
	for (uint32_t i = 0; s->sink && i < d->cpus; i++) {
		uint64_t gone = sink_ring_until(s->sink, (uint16_t)i);
		uint64_t until = gone ? back_to_ns(d, s, gone) : 0;
		if (until && more) {
			until += clock_muldiv(now - BASE_MIN(until, now), more, ring);
		}
		uint64_t *at = &ret->until[BASE_MIN(i, BASE_ARRAY_LEN(ret->until) - 1)];
		*at = BASE_MAX(*at, until);
	}
}

/* ---- stop ------------------------------------------------------------------------------------- */

static void removed(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		    const char *why)
{
	struct etwd_session_kernel *k = call->session->kernel;
	size_t n = strnlen(k->note, sizeof k->note - 1);
	if (m && result == 0 && m->text[0]) {
		snprintf(k->note + n, sizeof k->note - n, "%snot kept: %.300s", n ? "; " : "", m->text);
		etwd_log_of(d, call->session->uid, "Session \"%s\": not kept: %s", call->session->label, m->text);
	}
	k->removing = false;
	d->drain_now = true; /* and with it the next step of the stop */
}

void etwd_kernel_stop(struct etwd *d, struct session *s)
{
	struct etwd_session_kernel *k = s->kernel;
	if (!k || !d->kernel) {
		return;
	}
	etwd_kernel_call_drop(d, s);
	if (k->gap_since) {
		guess_gap(d, s); /* it never went on */
	}
	struct etwd_kernel_call *call = k->slot >= 0 ? etwd_kernel_call_create(PROTO_KERNEL_REMOVE, s, removed) : NULL;
	if (call) {
		k->removing = true;
		ring_left(d, s, UINT64_MAX, CLOSING_BYTES, &call->left);
		etwd_kernel_call_start(d, call);
	}
}

bool etwd_kernel_holds(const struct session *s)
{
	return s->kernel && s->kernel->removing;
}

void etwd_kernel_session_orphan(struct etwd *d, struct session *s, const char *why)
{
	struct etwd_session_kernel *k = s->kernel;
	k->removing = false;
	if (s->state == SESSION_RUNNING || s->state == SESSION_STOPPING) {
		k->restarts++;
		/* That there were some must be seen; how many is guessed when it goes on. */
		uint64_t since = k->rate_since, until = d->kernel->watermark;
		if (k->rate == 0 && since && until > since) { /* no second was whole yet */
			k->rate = (uint64_t)((double)(k->events - k->rate_events) * 1e9 / (double)(until - since));
		}
		k->gap_since = k->gap_since ? k->gap_since : until;
		etwd_session_lost(s, 1, PROTO_LOSS_DETACHED, s->sink != NULL);
	}
}

void etwd_kernel_resume(struct etwd *d)
{
	for (uint32_t i = 1; i <= ETWD_SESSIONS_MAX; i++) {
		struct session *s = d->session[i];
		if (s && s->state == SESSION_RUNNING && wishes(s)) {
			(void)etwd_kernel_attach(d, s);
		}
	}
}

/* ---- what is in memory ------------------------------------------------------------------------ */

/* Answered or not, the copy is completed. */
static void explained(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		      const char *why)
{
	struct session *s = call->session;
	struct conn *c = call->reply.conn;
	struct proto_message request = {.type = call->reply.type, .id = call->reply.id};
	s->kernel->explaining--;
	if (result < 0) {
		etwd_log_of(d, s->uid, "Session \"%s\": what was in memory is written without what explains it: %s",
			    s->label, why);
	}
	if (s->sink) {
		sink_flush_explained(s->sink);
	}
	etwd_reply_drop(&call->reply);
	if (c && !c->closing && (!s->sink || !etwd_session_answer_after_disk(d, c, &request, s))) {
		etwd_reply_status(d, c, &request, s->sink ? ERROR_NOT_ENOUGH_MEMORY : ERROR_WMI_INSTANCE_NOT_FOUND,
				  "the session has ended");
	}
}

bool etwd_kernel_explains(const struct etwd *d, const struct session *s)
{
	/* One at a time: an explanation belongs to one copy. The next one would say the same. */
	return s->kernel && s->kernel->slot >= 0 && !s->kernel->explaining && d->kernel->collector &&
	       d->kernel->collector->open && (s->props.mode & EVENT_TRACE_BUFFERING_MODE) &&
	       s->state == SESSION_RUNNING;
}

void etwd_kernel_explain(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s)
{
	struct etwd_kernel_call *call = etwd_kernel_call_create(PROTO_KERNEL_EXPLAIN, s, explained);
	if (!call) {
		sink_flush_explained(s->sink);
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
		return;
	}
	ring_left(d, s, d->kernel->watermark, 0, &call->left); /* what ends meanwhile is no part of the copy */
	etwd_reply_keep(c, m, &call->reply);
	s->kernel->explaining++;
	etwd_kernel_call_start(d, call);
}

/* ---- changes ---------------------------------------------------------------------------------- */

static void changed(struct etwd *d, struct etwd_kernel_call *call, int result, const struct proto_kernel_message *m,
		    const char *why)
{
	struct session *s = call->session;
	if (s && result < 0) {
		s->kernel->wish = call->before;
	} else if (s) {
		take_note(d, s, m);
	}
	if (!call->reply.conn) {
		return;
	}
	uint32_t code = result < 0 ? code_of(result) : 0;
	if (s) {
		etwd_session_answer(d, s, &call->reply, code, why);
	} else {
		struct conn *c = call->reply.conn;
		struct proto_message q = {.type = call->reply.type, .id = call->reply.id};
		etwd_reply_drop(&call->reply);
		etwd_reply_status(d, c, &q, code, why);
	}
}

/* A wish has been changed; `before` is what it was. Answers now or later. */
static void apply(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
		  const struct etwd_kernel_wish *before)
{
	struct etwd_session_kernel *k = s->kernel;
	struct kernel_mask mask;
	etwd_kernel_wish_mask(&k->wish, &mask);
	uint32_t code = check_mask(k, &mask, refusal, sizeof refusal);
	if (code != 0) {
		k->wish = *before;
		etwd_reply_status(d, c, m, code, refusal);
		return;
	}
	if (k->slot < 0 && kernel_mask_empty(&mask)) {
		etwd_session_reply(d, c, m, s); /* stacks of nothing */
		return;
	}
	struct etwd_kernel_call *call =
		etwd_kernel_call_create(k->slot < 0 ? PROTO_KERNEL_ADD : PROTO_KERNEL_CHANGE, s, changed);
	if (!call) {
		k->wish = *before;
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
		return;
	}
	call->before = *before;
	etwd_reply_keep(c, m, &call->reply);
	etwd_kernel_call_start(d, call);
}

bool etwd_kernel_update(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			const struct proto_session *p, uint32_t *ret_code, const char **ret_why)
{
	struct etwd_kernel_wish before;
	if (!s->kernel || !(p->update_mask & PROTO_UPDATE_FLAGS)) {
		return false;
	}
	before = s->kernel->wish;
	uint32_t flags = kernel_mask_to_flags(&before.base);
	const uint8_t *at;
	size_t n;
	/* The same flags again mean the same masks: they cannot say all that is set. */
	if (!proto_get(m, PROTO_TAG_KERNEL_MASK, &at, &n) && p->props.enable_flags == flags) {
		return false;
	}
	read_mask(m, p->props.enable_flags, &s->kernel->wish);
	apply(d, c, m, s, &before);
	return true;
}

static bool set_provider(struct etwd_kernel_wish *w, const struct guid *g, const struct kernel_mask *mask, bool stacks)
{
	uint32_t i = 0;
	while (i < w->providers && !guid_equal(&w->provider[i].guid, g)) {
		i++;
	}
	if (!mask) {
		if (i < w->providers) {
			w->provider[i] = w->provider[--w->providers];
		}
		return true;
	}
	if (i == ETWD_KERNEL_PROVIDERS_MAX) {
		return false;
	}
	w->providers = BASE_MAX(w->providers, i + 1);
	w->provider[i].guid = *g;
	w->provider[i].mask = *mask;
	w->provider[i].stacks = stacks;
	return true;
}

bool etwd_kernel_enable(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			const struct guid *g, uint32_t control, const struct enable_args *a)
{
	struct kernel_mask mask;
	if (!kernel_provider_name(g)) {
		return false;
	}
	if (!s->kernel) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER,
				  "system providers are for sessions with the system-logger mode");
		return true;
	}
	if (control == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		struct etwd_kernel_call *call =
			s->kernel->slot >= 0 ? etwd_kernel_call_create(PROTO_KERNEL_CAPTURE, s, changed) : NULL;
		if (!call) {
			etwd_reply_status(d, c, m, 0, NULL);
			return true;
		}
		etwd_reply_keep(c, m, &call->reply);
		etwd_kernel_call_start(d, call);
		return true;
	}
	if (a->select.filtered || a->select.stack_filtered || a->has_exes || a->has_packages || a->pid_count > 8) {
		etwd_reply_status(d, c, m, ERROR_NOT_SUPPORTED,
				  "system providers take process filters; stacks are asked for by "
				  "TraceStackTracingInfo or EVENT_ENABLE_PROPERTY_STACK_TRACE");
		return true;
	}
	struct etwd_kernel_wish before = s->kernel->wish;
	kernel_provider_mask(g, a->any, &mask);
	if (!set_provider(&s->kernel->wish, g, control == EVENT_CONTROL_CODE_ENABLE_PROVIDER ? &mask : NULL,
			  a->properties & EVENT_ENABLE_PROPERTY_STACK_TRACE)) {
		etwd_reply_status(d, c, m, ERROR_NO_SYSTEM_RESOURCES, NULL);
		return true;
	}
	if (control == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		struct etwd_kernel_wish *w = &s->kernel->wish;
		w->pids = 0;
		for (uint32_t i = 0; i < a->raw_count; i++) {
			if (a->raw[i].type == EVENT_FILTER_TYPE_PID && a->raw[i].bytes <= sizeof w->pid) {
				memcpy(w->pid, a->raw[i].data, a->raw[i].bytes);
				w->pids = a->raw[i].bytes / 4;
			}
		}
	}
	apply(d, c, m, s, &before);
	return true;
}

/* ---- information classes ---------------------------------------------------------------------- */

/* CLASSIC_EVENT_ID: GUID, type, 7 bytes. */
static uint32_t set_stacks(struct etwd_kernel_wish *w, const uint8_t *p, size_t n)
{
	if (n % 24 != 0) {
		return ERROR_BAD_LENGTH;
	}
	if (n / 24 > KERNEL_STACKS_MAX) {
		return ERROR_INVALID_PARAMETER;
	}
	w->stacks = 0;
	for (size_t i = 0; i < n; i += 24) {
		struct guid g;
		uint16_t hook;
		memcpy(g.b, p + i, 16);
		if (!kernel_hook_of_class(&g, p[i + 16], &hook)) {
			return ERROR_INVALID_PARAMETER;
		}
		w->stack[w->stacks++] = hook;
	}
	return 0;
}

/* The collector is to know; answers now or then. */
static void tell(struct etwd *d, struct conn *c, const struct proto_message *m, uint32_t type, uint32_t interval_us)
{
	struct etwd_kernel_call *call = d->kernel->collector ? etwd_kernel_call_create(type, NULL, changed) : NULL;
	if (!call) {
		etwd_reply_status(d, c, m, 0, NULL);
		return;
	}
	call->interval_us = interval_us;
	etwd_reply_keep(c, m, &call->reply);
	etwd_kernel_call_start(d, call);
}

/* Of another source than the timer: how many of its events lie between two samples. */
static void set_source_interval(struct etwd *d, struct conn *c, const struct proto_message *m, const uint8_t *p)
{
	struct pmc_source s;
	struct diag why;
	diag_clear(&why);
	int err = pmc_find(le32_get(p), &s, &why);
	if (err < 0) {
		etwd_reply_status(d, c, m, err == -ENODEV ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER, why.text);
		return;
	}
	uint32_t interval = BASE_MIN(BASE_MAX(le32_get(p + 4), s.least), s.most);
	etwd_kernel_set_source_interval(d->kernel, s.id, interval);
	tell(d, c, m, PROTO_KERNEL_SAMPLED, 0);
}

static void set_sources(struct etwd *d, struct conn *c, const struct proto_message *m, const uint8_t *p, size_t n)
{
	if (c->uid != 0 && c->uid != d->uid) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "what samples are taken by is that of all sessions");
		return;
	}
	refusal[0] = 0;
	uint32_t code = etwd_kernel_set_sources(d->kernel, p, n, refusal, sizeof refusal);
	if (code != 0) {
		etwd_reply_status(d, c, m, code, refusal[0] ? refusal : NULL);
		return;
	}
	tell(d, c, m, PROTO_KERNEL_SAMPLED, 0);
}

static void set_interval(struct etwd *d, struct conn *c, const struct proto_message *m, const uint8_t *p, size_t n)
{
	uint64_t us = n == 8 ? le32_get(p + 4) / 10 : 0;
	if (n != 8) {
		etwd_reply_status(d, c, m, ERROR_BAD_LENGTH, NULL);
		return;
	}
	if (c->uid != 0 && c->uid != d->uid) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED, "the interval is that of all sessions");
		return;
	}
	if (le32_get(p) != PMC_TIMER && le32_get(p + 4) > 0) {
		set_source_interval(d, c, m, p);
		return;
	}
	if (us == 0) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "an interval of nothing");
		return;
	}
	/* Windows rounds to what its timer can. */
	us = BASE_MIN(BASE_MAX(us, (uint64_t)INTERVAL_LEAST_US), (uint64_t)INTERVAL_MOST_US);
	d->kernel->interval_us = (uint32_t)us;
	tell(d, c, m, PROTO_KERNEL_INTERVAL, (uint32_t)us);
}

bool etwd_kernel_set_info(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			  uint32_t class, const uint8_t *p, size_t n)
{
	if (class == TraceSampledProfileIntervalInfo) {
		set_interval(d, c, m, p, n);
		return true;
	}
	if (class == TraceProfileSourceConfigInfo) {
		set_sources(d, c, m, p, n);
		return true;
	}
	bool counters = class == TracePmcEventListInfo || class == TracePmcCounterListInfo;
	bool caching = class == TraceStackCachingInfo || class == TraceUnifiedStackCachingInfo;
	if (class != TraceStackTracingInfo && class != TraceSystemTraceEnableFlagsInfo && !caching && !counters) {
		return false;
	}
	if (!s) {
		etwd_reply_status(d, c, m, ERROR_WMI_INSTANCE_NOT_FOUND, "no such trace session is running");
		return true;
	}
	if (!s->kernel) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "only system loggers have kernel events");
		return true;
	}
	if (caching) { /* a wish to write equal stacks once; whole ones are read by everybody */
		etwd_reply_status(d, c, m, 0, NULL);
		return true;
	}
	if (counters && s->kernel->confined) {
		etwd_reply_status(d, c, m, ERROR_ACCESS_DENIED,
				  "counters show what all processes do; only root has them here");
		return true;
	}
	struct etwd_kernel_wish before = s->kernel->wish;
	uint32_t code = 0;
	refusal[0] = 0;
	if (class == TracePmcCounterListInfo) {
		code = etwd_kernel_set_counters(&s->kernel->wish, p, n, refusal, sizeof refusal);
	} else if (class == TracePmcEventListInfo) {
		code = etwd_kernel_set_counted(&s->kernel->wish, p, n, refusal, sizeof refusal);
	} else if (class == TraceStackTracingInfo) {
		code = set_stacks(&s->kernel->wish, p, n);
	} else if (n != sizeof s->kernel->wish.base) {
		code = ERROR_BAD_LENGTH;
	} else {
		struct kernel_mask *base = &s->kernel->wish.base, flags;
		memcpy(base, p, n);
		/* Some flags stand elsewhere in the masks; who has them in the first word means the same. */
		kernel_mask_from_flags(base->word[0], &flags);
		base->word[0] &= ~0x1FFFFFFFu;
		kernel_mask_add(base, &flags);
	}
	if (code != 0) {
		s->kernel->wish = before;
		etwd_reply_status(d, c, m, code,
				  refusal[0]                        ? refusal
				  : code == ERROR_INVALID_PARAMETER ? "one of the events is no kernel event"
								    : NULL);
		return true;
	}
	apply(d, c, m, s, &before);
	return true;
}

bool etwd_kernel_query_info(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			    uint32_t class)
{
	if (class == TracePmcCounterOwners || class == TracePmcSessionInformation) {
		struct strbuf b = {0};
		if (class == TracePmcCounterOwners) {
			etwd_kernel_put_owners(d, c, &b);
		} else {
			etwd_kernel_put_counting(d, c, &b);
		}
		etwd_info_reply(d, c, m, b.len && !b.failed ? b.s : "", b.failed ? 0 : b.len);
		strbuf_finish(&b);
		return true;
	}
	const uint8_t *asked;
	size_t bytes;
	if (class == TraceSampledProfileIntervalInfo && proto_get(m, PROTO_TAG_DATA, &asked, &bytes) && bytes == 8 &&
	    le32_get(asked) != PMC_TIMER) {
		struct pmc_source of;
		struct diag why;
		diag_clear(&why);
		int err = pmc_find(le32_get(asked), &of, &why);
		if (err < 0) {
			etwd_reply_status(d, c, m, err == -ENODEV ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER,
					  why.text);
			return true;
		}
		uint8_t v[8];
		le32_put(v, of.id);
		le32_put(v + 4, etwd_kernel_source_interval(d->kernel, &of));
		etwd_info_reply(d, c, m, v, sizeof v);
		return true;
	}
	if (class == TraceSampledProfileIntervalInfo) {
		uint8_t v[8] = {0};
		uint32_t us = d->kernel->interval_us ? d->kernel->interval_us : INTERVAL_DEFAULT_US;
		le32_put(v + 4, us * 10);
		etwd_info_reply(d, c, m, v, sizeof v);
		return true;
	}
	if (class != TraceSystemTraceEnableFlagsInfo || !s) {
		return false;
	}
	if (!s->kernel) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "only system loggers have kernel events");
		return true;
	}
	struct kernel_mask mask;
	etwd_kernel_wish_mask(&s->kernel->wish, &mask);
	etwd_info_reply(d, c, m, &mask, sizeof mask);
	return true;
}

/* ---- telling ---------------------------------------------------------------------------------- */

void etwd_kernel_put(struct etwd *d, const struct session *s, struct proto_writer *w)
{
	const struct etwd_session_kernel *k = s->kernel;
	struct kernel_mask mask;
	uint64_t cost[4] = {0};
	char note[sizeof k->note + 240];
	if (!k) {
		return;
	}
	etwd_kernel_wish_mask(&k->wish, &mask);
	if (kernel_mask_empty(&mask)) {
		return;
	}
	proto_put(w, PROTO_TAG_KERNEL_MASK, &mask, sizeof mask);
	proto_put(w, PROTO_TAG_KERNEL_STACKS, k->wish.stack, 2 * (size_t)k->wish.stacks);
	int n = 0;
	if (k->confined) {
		n = snprintf(note, sizeof note, "what processes of user %u do, nobody else's%s", k->uid,
			     k->note[0] ? "; " : "");
	}
	n += snprintf(note + n, sizeof note - (size_t)n, "%s", k->note);
	if (k->restarts > 0) {
		snprintf(note + n, sizeof note - (size_t)n,
			 "%sthe collector ended unexpectedly %u times; what happened until it ran again is missing",
			 n ? "; " : "", k->restarts);
	}
	proto_put_str(w, PROTO_TAG_KERNEL_NOTE, note);
	const struct collector *c = d->kernel->collector;
	if (c) {
		cost[0] = order_load_relaxed(&c->head->cpu_ns);
		cost[1] = order_load_relaxed(&c->head->resident);
		cost[3] = (uint64_t)c->pid;
	}
	cost[2] = k->restarts;
	proto_put(w, PROTO_TAG_KERNEL_COST, cost, sizeof cost);
}

void etwd_kernel_stats(const struct etwd *d, struct strbuf *b)
{
	const struct etwd_kernel_side *k = d->kernel;
	const struct collector *c = k->collector;
	strbuf_addf(b,
		    "\"kernel_collector\":%d,\"kernel_restarts\":%u,\"kernel_events\":%llu,"
		    "\"kernel_rejected\":%llu,",
		    c ? (int)c->pid : 0, k->restarts, (unsigned long long)k->events, (unsigned long long)k->rejected);
	if (c) {
		strbuf_addf(b, "\"kernel_cpu_ns\":%llu,\"kernel_memory\":%llu,\"kernel_ring_256\":%u,",
			    (unsigned long long)order_load_relaxed(&c->head->cpu_ns),
			    (unsigned long long)order_load_relaxed(&c->head->resident), etwd_kernel_ring_fill(c));
	}
}
