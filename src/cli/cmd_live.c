/* SPDX-License-Identifier: MIT
 * live: print events as they happen, from a running real-time session or one made for the occasion.
 */
#include "cli/trace.h"

static const struct cli_option options[] = {
	{'p', "provider", "P", "watch Name:keywords:level in a session of its own (repeatable)", NULL},
	CLI_PRINT_OPTIONS,
	CLI_ENABLE_OPTIONS,
	{'b', "buffer-size", "KB", "size of one buffer, 4 to 16384", NULL},
	{0, "buffers", "MIN[:MAX]", "number of buffers", NULL},
	{0},
};

struct live {
	struct cli_printer *printer;
	bool flush;
};

static void event(void *ctx, const EVENT_RECORD *e)
{
	struct live *l = ctx;
	cli_printer_event(l->printer, e);
	if (l->flush) {
		fflush(stdout);
	}
}

static int watch(struct cli_args *a, const char *session, struct cli_trace *t)
{
	if (!cli_trace_open(t, 1, NULL, session)) {
		return CLI_FAILED;
	}
	uint32_t code = cli_trace_run(t);
	if (code) {
		return cli_fail(a, code, "watching '%s' ended", session);
	}
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	struct live l = {.flush = true};
	struct cli_trace t = {.args = a, .event = event, .ctx = &l};
	bool own = cli_value(a, "provider", NULL) != NULL;
	if (own == (a->count == 1) || a->count > 1) {
		return cli_usage(a, "name either a real-time session or providers with -p");
	}
	if (!cli_number(a, "limit", 1, UINT64_MAX, &t.limit)) {
		return CLI_USAGE;
	}
	l.printer = cli_printer_create(a);
	if (!l.printer) {
		return CLI_USAGE;
	}
	int status;
	if (!own) {
		status = watch(a, a->words[0], &t);
		cli_printer_destroy(l.printer);
		return status;
	}
	char name[64];
	struct cli_props p;
	TRACEHANDLE h = 0;
	snprintf(name, sizeof name, "openetw-live-%d", (int)getpid());
	status = cli_props_from_args(a, &p, NULL, true) ? CLI_OK : CLI_USAGE;
	if (status == CLI_OK) {
		uint32_t code = StartTraceA(&h, name, &p.p);
		if (code) {
			status = cli_fail(a, code, "cannot start a session");
		}
	}
	const char *v;
	for (int i = 0; status == CLI_OK && (v = cli_value_at(a, "provider", i)) != NULL; i++) {
		struct cli_provider provider;
		if (!cli_provider_parse(a, v, &provider)) {
			status = CLI_USAGE;
			break;
		}
		uint32_t code = cli_provider_enable(a, h, &provider, 1000);
		if (code && code != ERROR_TIMEOUT) {
			status = cli_fail(a, code, "cannot enable '%s'", provider.name);
		}
	}
	if (status == CLI_OK) {
		fprintf(stderr, "watching; Ctrl-C ends\n");
		status = watch(a, name, &t);
	}
	if (h) {
		cli_props_init(&p);
		p.p.LogFileNameOffset = 0;
		struct openetw_loss loss = {.size = sizeof loss};
		bool known = openetw_session_loss(name, &loss) == ERROR_SUCCESS;
		if (ControlTraceA(h, NULL, &p.p, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS) {
			fflush(stdout);
			cli_print_totals(stderr, &p.p, known ? &loss : NULL);
		}
	}
	cli_printer_destroy(l.printer);
	return status;
}

const struct cli_command cli_live = {
	.name = "live",
	.synopsis = "SESSION | -p PROVIDER… [--format text|json|csv]",
	.summary = "Print events as they happen.",
	.details = "Example: openetw live -p MyCompany.Web:0x11:info --pid 1234\n",
	.options = options,
	.run = run,
	.complete = "session",
};
