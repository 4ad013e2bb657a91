/* SPDX-License-Identifier: MIT
 * enable, disable, flush: what changes a running session.
 */
#include "tools/common/output.h"
#include "tools/common/session_start.h"

struct enable_options {
	struct cli_enable_options how;
	uint64_t timeout_ms;
	bool capture_state;
};
static const struct cli_option enable_options[] = {
	CLI_ENABLE_OPTIONS(enable_options, how),
	CLI_SESSION_FILTER_OPTION(enable_options, how),
	CLI_DURATION(enable_options, timeout_ms, 't', "timeout", 1000000, 0, UINT32_MAX,
		     "wait this long for the providers' callbacks: 5s (default), 250ms, 0"),
	CLI_FLAG(enable_options, capture_state, 'c', "capture-state", "ask the providers for a rundown instead"),
	{0},
};
static const struct cli_option no_options[] = {{0}};
struct flush_options {
	const char *output;
};
static const struct cli_option flush_options[] = {
	CLI_WORD(flush_options, output, 'o', "output", "FILE",
		 "write the memory buffers of a buffering session to this file"),
	CLI_FORCE_OPTION,
	{0},
};

static int find_session(struct cli_args *a, const char *name, TRACEHANDLE *ret)
{
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	if (code) {
		return cli_fail_session(a, code, name, "no session '%s'", name);
	}
	*ret = p.p.Wnode.HistoricalContext;
	return CLI_OK;
}

/* `o`: NULL to disable */
static int change(struct cli_args *a, const struct enable_options *o)
{
	if (a->count < 2) {
		return cli_usage(a, "a session and a provider are needed");
	}
	TRACEHANDLE h = 0;
	int status = find_session(a, a->words[0], &h);
	for (int i = 1; i < a->count && status == CLI_OK; i++) {
		struct session_provider p;
		GUID g;
		if (!cli_session_provider(a, o ? &o->how : NULL, a->words[i], &p)) {
			return CLI_USAGE;
		}
		uint32_t code;
		memcpy(&g, p.guid.b, sizeof g);
		p.enabled = o != NULL;
		if (o && o->capture_state) {
			code = EnableTraceEx2(h, &g, EVENT_CONTROL_CODE_CAPTURE_STATE, p.level, p.any, p.all,
					      (ULONG)o->timeout_ms, NULL);
		} else {
			code = cli_session_enable(h, &p, o ? (uint32_t)o->timeout_ms : 5000);
			if (code == ERROR_SUCCESS) {
				cli_session_enable_tell(&p);
			}
		}
		session_provider_finish(&p);
		if (code) {
			status = cli_fail(a, code, "cannot %s '%s'", o ? "enable" : "disable", p.name);
		}
	}
	return status;
}

static int run_enable(struct cli_args *a)
{
	return change(a, a->given);
}

static int run_disable(struct cli_args *a)
{
	return change(a, NULL);
}

static int run_flush(struct cli_args *a)
{
	if (a->count != 1) {
		return cli_usage(a, "one session name is needed");
	}
	struct cli_props p;
	cli_props_init(&p);
	const struct flush_options *o = a->given;
	const char *file = o->output;
	if (file) {
		if (strlen(file) >= sizeof p.file) {
			return cli_usage(a, "the file name is too long");
		}
		strcpy(p.file, file);
	} else {
		p.p.LogFileNameOffset = 0;
	}
	uint32_t code = cli_control_trace(0, a->words[0], &p.p, EVENT_TRACE_CONTROL_FLUSH);
	if (code) {
		return cli_fail_session(a, code, a->words[0], "cannot flush '%s'", a->words[0]);
	}
	return CLI_OK;
}

const struct cli_command cli_enable = {
	.name = "enable",
	.synopsis = "SESSION PROVIDER… [options]",
	.summary = "Enable providers in a running session, or change how they are enabled.",
	.details = "Examples:\n"
		   "  openetw enable web MyCompany.Web:0x11:info --stack\n"
		   "  openetw enable web '*MyCompany.Db' --pid 4711 --event-id 1,2,7\n"
		   "  openetw enable web MyCompany.Db --capture-state      # ask for a rundown\n",
	.options = enable_options,
	CLI_INTO(enable_options),
	.defaults = &(const struct enable_options){.timeout_ms = 5000},
	.run = run_enable,
	.complete = "session",
};
const struct cli_command cli_disable = {
	.name = "disable",
	.synopsis = "SESSION PROVIDER…",
	.summary = "Disable providers in a running session.",
	.details = "Example: openetw disable web MyCompany.Db\n",
	.options = no_options,
	.run = run_disable,
	.complete = "session",
};
const struct cli_command cli_flush = {
	.name = "flush",
	.synopsis = "SESSION [-o FILE]",
	.summary = "Write part-filled buffers out now; for a buffering session, write its memory "
		   "to a file.",
	.details = "Examples:\n"
		   "  openetw flush web                  # what is in memory goes to the session's "
		   "file\n"
		   "  openetw flush box -o crash.etl     # a flight recorder's memory as a file; "
		   "it goes on recording\n",
	.options = flush_options,
	CLI_INTO(flush_options),
	.run = run_flush,
	.complete = "session",
};
