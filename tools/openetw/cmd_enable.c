/* SPDX-License-Identifier: MIT
 * enable, disable, flush: what changes a running session.
 */
#include "tools/common/output.h"
#include "tools/common/session_start.h"

#include <stdlib.h>

static const struct cli_option enable_options[] = {
	CLI_ENABLE_OPTIONS,
	CLI_SESSION_FILTER_OPTION,
	{'t', "timeout", "TIME", "wait this long for the providers' callbacks: 5s (default), 250ms, 0", NULL},
	{'c', "capture-state", NULL, "ask the providers for a rundown instead", NULL},
	{0},
};
static const struct cli_option no_options[] = {{0}};
static const struct cli_option flush_options[] = {
	{'o', "output", "FILE", "write the memory buffers of a buffering session to this file", NULL},
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

static int change(struct cli_args *a, bool enable)
{
	if (a->count < 2) {
		return cli_usage(a, "a session and a provider are needed");
	}
	uint64_t timeout = 5000;
	TRACEHANDLE h = 0;
	if (enable && !cli_duration(a, "timeout", 1000000, 0, UINT32_MAX, &timeout)) {
		return CLI_USAGE;
	}
	int status = find_session(a, a->words[0], &h);
	for (int i = 1; i < a->count && status == CLI_OK; i++) {
		struct session_provider p;
		GUID g;
		if (!cli_session_provider(a, a->words[i], &p)) {
			return CLI_USAGE;
		}
		uint32_t code;
		memcpy(&g, p.guid.b, sizeof g);
		p.enabled = enable;
		if (enable && cli_flag(a, "capture-state")) {
			code = EnableTraceEx2(h, &g, EVENT_CONTROL_CODE_CAPTURE_STATE, p.level, p.any, p.all,
					      (ULONG)timeout, NULL);
		} else {
			code = cli_session_enable(h, &p, (uint32_t)timeout);
			if (code == ERROR_SUCCESS) {
				cli_session_enable_tell(&p);
			}
		}
		free(p.payload);
		if (code) {
			status = cli_fail(a, code, "cannot %s '%s'", enable ? "enable" : "disable", p.name);
		}
	}
	return status;
}

static int run_enable(struct cli_args *a)
{
	return change(a, true);
}

static int run_disable(struct cli_args *a)
{
	return change(a, false);
}

static int run_flush(struct cli_args *a)
{
	if (a->count != 1) {
		return cli_usage(a, "one session name is needed");
	}
	struct cli_props p;
	cli_props_init(&p);
	const char *file = cli_value(a, "output", NULL);
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
	.run = run_flush,
	.complete = "session",
};
