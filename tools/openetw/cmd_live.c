/* SPDX-License-Identifier: MIT
 * live: print events as they happen, from a running real-time session or one made for the occasion.
 */
#include "tools/common/session_start.h"
#include "tools/common/printer.h"
#include "tools/common/absent.h"
#include "tools/common/trace_reading.h"
#include "etw/values/guids.h"

struct live_options {
	struct cli_words provider;
	struct cli_print_options print;
	struct cli_select_options select;
	struct cli_enable_options enable;
	struct cli_session_options session;
};
static const struct cli_option options[] = {
	CLI_WORDS(live_options, provider, 'p', "provider", "P",
		  "watch Name:keywords:level in a session of its own (repeatable)"),
	CLI_PRINT_OPTIONS(live_options, print),
	CLI_WORD(live_options, select.filter, 'F', "filter", "EXPR",
		 "show only events for which EXPR is true (see 'openetw help dump')"),
	CLI_WORDS(live_options, select.event, 'e', "event", "E",
		  "show only this event: name, pattern or id (repeatable)"),
	CLI_ENABLE_OPTIONS(live_options, enable),
	CLI_BUFFER_OPTIONS(live_options, session),
	CLI_LOW_LATENCY_OPTION(live_options, session),
	{0},
};

/* What we write to files is an event of a kernel session, and would be written. */
static bool own_doing(const EVENT_RECORD *e)
{
	static const struct guid file_io = GUID_INIT(ETW_GUID_CLASS_FILE_IO);
	static ULONG self;
	self = self ? self : (ULONG)getpid();
	return e->EventHeader.ProcessId == self && memcmp(&e->EventHeader.ProviderId, &file_io, sizeof file_io) == 0;
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	if (own_doing(e)) {
		return true;
	}
	return cli_printer_event(ctx, e) && fflush(stdout) == 0;
}

static int watch(struct cli_args *a, const char *session, struct cli_trace *t)
{
	if (!cli_trace_open(t, 1, NULL, session)) {
		return CLI_FAILED;
	}
	if (t->select) {
		bool known = t->first_start > 0 && t->first_start != UINT64_MAX;
		cli_select_set_start(t->select, known ? t->first_start : clock_filetime());
		t->select = NULL; /* a range of time ends no session */
	}
	uint32_t code = cli_trace_run(t);
	if (t->unknown[0]) {
		return CLI_FAILED; /* the summary says it */
	}
	if (code) {
		return cli_fail_session(a, code, session, t->events ? "watching '%s' ended" : "cannot watch '%s'",
					session);
	}
	return CLI_OK;
}

static void watched_summary(const struct cli_trace *t, const struct cli_printer *p)
{
	fflush(stdout);
	fprintf(stderr, "%llu event%s shown; ", (unsigned long long)cli_printer_count(p), PLURAL(cli_printer_count(p)));
	if (t->unknown[0]) {
		fprintf(stderr, "%s; ", t->unknown);
	}
	if (t->lost_events || t->lost_buffers) {
		fprintf(stderr, "LOST while watching: %llu event%s, %llu buffer%s or more\n",
			(unsigned long long)t->lost_events, PLURAL(t->lost_events), (unsigned long long)t->lost_buffers,
			PLURAL(t->lost_buffers));
	} else if (!t->unknown[0]) {
		fprintf(stderr, "nothing was lost\n");
	}
	if (t->unknown[0]) {
		fprintf(stderr, "what was lost is not known\n");
	}
}

/* Watch with a session made for the occasion; it ends with us. */
static int run_own(struct cli_args *a, struct cli_trace *t, const struct cli_printer *printer)
{
	const struct live_options *o = a->given;
	struct etw_session s;
	struct cli_session_run r = {0};
	struct cli_session_how how = {.args = a,
				      .cannot = "cannot start a session",
				      .tool = "openetw live",
				      .enable_ms = 1000,
				      .late_is_fine = true,
				      .ours = true};
	session_init(&s);
	snprintf(s.name, sizeof s.name, "openetw-live-%d", (int)getpid());
	int status = CLI_USAGE;
	if (cli_session_providers(a, &o->enable, &o->provider, &s) &&
	    cli_session_options(a, &o->session, NULL, true, &s)) {
		cli_signals_catch(); /* from here on a signal must not leave the session behind */
		cli_session_start(&s, &how, &r);
		status = r.status;
	}
	if (r.handle && !cli_signal_caught()) {
		fprintf(stderr, "watching; Ctrl-C ends\n");
		status = watch(a, s.name, t);
	}
	session_finish(&s);
	if (!r.handle) {
		return status;
	}
	cli_props_init(&r.props);
	r.props.p.LogFileNameOffset = 0;
	struct openetw_loss loss = {.size = sizeof loss};
	if (openetw_session_stop(r.handle, NULL, &r.props.p, &loss) == ERROR_SUCCESS) {
		fflush(stdout);
		fprintf(stderr, "%llu event%s shown; ", (unsigned long long)cli_printer_count(printer),
			PLURAL(cli_printer_count(printer)));
		cli_print_totals(stderr, &r.props.p, &loss);
	} else if (t->unknown[0]) {
		watched_summary(t, printer);
	}
	return status;
}

static int run(struct cli_args *a)
{
	struct live_options *o = a->given;
	bool own = o->provider.count > 0;
	if (own == (a->count == 1) || a->count > 1) {
		return cli_usage(a, "name either a real-time session or providers with -p");
	}
	/* --level and --pid tell the provider what to send; watching somebody's session they select
	 * what is shown */
	o->select.level = o->enable.level;
	if (!cli_select_pids(a, &o->enable.filter[SESSION_FILTER_PID], &o->select)) {
		return cli_told();
	}
	struct cli_select *select = cli_select_create(a, &o->select);
	struct cli_printer *printer = select ? cli_printer_create(a, &o->print, select) : NULL;
	int status = CLI_USAGE;
	if (printer) {
		cli_select_hint(a, select);
		struct cli_trace t = {.args = a,
				      .event = event,
				      .ctx = printer,
				      .select = select,
				      .state = cli_printer_state(printer),
				      .endless = o->print.limit == 0,
				      .no_progress = true};
		if (own) {
			status = run_own(a, &t, printer);
		} else {
			status = watch(a, a->words[0], &t);
			if (status == CLI_OK || t.unknown[0]) {
				watched_summary(&t, printer);
			}
		}
		if (t.events > 0) {
			status = cli_absent_live(a, select, printer, cli_printer_count(printer), status);
			status = cli_select_finish(a, select, status);
		}
	}
	cli_printer_destroy(printer);
	cli_select_destroy(select);
	return status;
}

const struct cli_command cli_live = {
	.name = "live",
	.synopsis = "SESSION | -p PROVIDER… [--format text|json|csv] [options]",
	.summary = "Print events as they happen.",
	.details =
		"With -p a session is made for the occasion and stopped when you leave (Ctrl-C, "
		"SIGTERM, a closed pipe);\n"
		"what was lost is printed at the end. With SESSION a running session that was "
		"started with --realtime is\n"
		"watched and goes on afterwards. A session that ends unexpectedly, because its etwd died, gives exit\n"
		"status 1: what was lost is not known then. Examples:\n"
		"  openetw live -p MyCompany.Web:0x11:info --pid 1234\n"
		"  openetw live -p MyCompany.Web --json | jq -c 'select(.meta.event == "
		"\"Order\")'\n"
		"  openetw live -p MyCompany.Web --filter 'Status >= 500' --fields "
		"time,Url,Status\n"
		"  openetw start web -r -p MyCompany.Web; openetw live web\n",
	.options = options,
	CLI_INTO(live_options),
	.run = run,
	.complete = "session",
};
