/* SPDX-License-Identifier: MIT */
#include "tools/common/session_start.h"

#include "tools/common/output.h"

#include <unistd.h>

#define ENABLE_MS 5000u

static struct launch_why why;

const char *cli_session_why(void)
{
	return why.text[0] ? why.text : openetw_last_error_text();
}

/* ---- providers ---------------------------------------------------------------------------------- */

uint32_t cli_session_control(TRACEHANDLE session, const struct session_provider *p, const struct launch_enabling *how)
{
	return launch_enable(session, p, how, &why);
}

uint32_t cli_session_enable(TRACEHANDLE session, const struct session_provider *p, uint32_t timeout_ms)
{
	return cli_session_control(session, p, &(struct launch_enabling){.timeout_ms = timeout_ms});
}

void cli_session_enable_tell(const struct session_provider *p)
{
	GUID g;
	memcpy(&g, p->guid.b, sizeof g);
	if (p->enabled) {
		cli_provider_tell(&g, p->name);
	}
}

/* ---- the start ---------------------------------------------------------------------------------- */

uint32_t cli_session_refuse(uint32_t code, const char *text)
{
	snprintf(why.text, sizeof why.text, "%s", text);
	return code;
}

uint32_t cli_session_check(const struct etw_session *s, enum session_runner runner)
{
	const char *text = "";
	uint32_t code = session_check(s, runner, &text);
	return cli_session_refuse(code, text);
}

struct start {
	const struct etw_session *s;
	const struct cli_session_how *how;
	struct launch_run run;
	int status;
};

/* A counter that cannot be had: no reason to record nothing, unless it is meant to be one. */
static uint32_t forgive(const struct cli_counters *c, uint32_t code)
{
	if (code && c->lenient) {
		const char *reason = openetw_last_error_text(), *text = openetw_error_text(code);
		fprintf(stderr, "warning: without counters: %s\n", *reason ? reason : text ? text : "unknown error");
		return ERROR_SUCCESS;
	}
	return code;
}

static bool has_kernel(const struct etw_session *s)
{
	struct kernel_mask m = launch_kernel_mask(s);
	return !kernel_mask_empty(&m);
}

static uint32_t on_begun(void *ctx, TRACEHANDLE session)
{
	const struct start *w = ctx;
	if (!has_kernel(w->s)) {
		return ERROR_SUCCESS;
	}
	uint32_t code = w->how->counters ? forgive(w->how->counters, cli_counters_set(session, w->how->counters)) : 0;
	if (code == ERROR_SUCCESS && w->how->tool) {
		cli_kernel_tell(w->how->tool, w->s->name);
	}
	return code;
}

static void on_limited(void *ctx, TRACEHANDLE session)
{
	const struct start *w = ctx;
	if (w->how->begun) {
		w->how->begun(w->how->ctx, session);
	}
}

static void on_enabled(void *ctx, const struct session_provider *p, uint32_t code)
{
	const struct cli_session_how *how = ((const struct start *)ctx)->how;
	if (code && how->late_is_told) {
		fprintf(stderr, "%s: warning: %s: a process is slow to take notice of being enabled\n", how->tool,
			p->name);
	} else if (how->tool) {
		cli_session_enable_tell(p);
	}
}

static void on_refused(void *ctx, uint32_t code)
{
	struct start *w = ctx;
	const char *name = w->s->name;
	if (!w->how->args) {
		return;
	}
	switch (w->run.step) {
	case LAUNCH_START:
	case LAUNCH_STACKS:
		w->status = w->how->cannot ? cli_fail(w->how->args, code, "%s", w->how->cannot)
					   : cli_fail(w->how->args, code, "cannot start '%s'", name);
		break;
	case LAUNCH_LIMIT: w->status = cli_fail(w->how->args, code, "cannot limit '%s'", name); break;
	case LAUNCH_ROTATE: w->status = cli_fail(w->how->args, code, "cannot rotate the files of '%s'", name); break;
	case LAUNCH_ENABLE:
		w->status = cli_fail(w->how->args, code, "cannot enable '%s'%s%s", w->run.refused->name,
				     w->run.why.text[0] ? ": " : "", w->run.why.text);
		break;
	}
}

uint32_t cli_session_start(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *ret)
{
	_Static_assert(sizeof ret->props == sizeof(struct launch_props), "the same block");
	struct start w = {.s = s, .how = how, .status = CLI_OK};
	struct launch_how launch = {
		.enabling = {.timeout_ms = how->enable_ms ? how->enable_ms : ENABLE_MS},
		.late_is_fine = how->late_is_fine,
		.scope = how->scope,
		.scope_count = how->scope_count,
		.owner_pid = how->ours ? (uint32_t)getpid() : 0,
		.start = cli_start_trace,
		.begun = on_begun,
		.limited = on_limited,
		.enabled = on_enabled,
		.refused = on_refused,
		.ctx = &w,
	};
	uint32_t code = ERROR_SUCCESS;
	if (how->counters && has_kernel(s)) { /* what samples are taken by is the machine's, and comes first */
		code = forgive(how->counters, cli_counters_set_sampled(how->counters));
	}
	if (code) {
		on_refused(&w, code);
		snprintf(w.run.why.text, sizeof w.run.why.text, "%s", openetw_last_error_text());
	} else {
		code = launch_start(s, &launch, &w.run);
	}
	*ret = (struct cli_session_run){.handle = w.run.handle, .refused = w.run.refused, .status = w.status};
	memcpy(&ret->props, &w.run.props, sizeof ret->props);
	why = w.run.why;
	return code;
}
