/* SPDX-License-Identifier: MIT
 * dump: print the events of .etl files.
 */
#include "tools/common/printer.h"
#include "tools/common/absent.h"
#include "tools/common/trace_reading.h"

struct dump_options {
	struct cli_print_options print;
	struct cli_select_options select;
	bool quiet;
};
static const struct cli_option options[] = {
	CLI_PRINT_OPTIONS(dump_options, print),
	CLI_SELECT_OPTIONS(dump_options, select),
	CLI_FLAG(dump_options, print.headers, 0, "headers",
		 "print the records of the file itself too: its header, descriptions of events, images of stacks"),
	CLI_FLAG(dump_options, quiet, 'q', "quiet", "no summary line on stderr (what was lost is said all the same)"),
	{0},
};

static bool event(void *ctx, const EVENT_RECORD *e)
{
	return cli_printer_event(ctx, e);
}

static void summary(bool quiet, const struct cli_trace *t, const struct cli_printer *p)
{
	bool lost = t->lost_events || t->lost_buffers || t->unknown[0];
	if (quiet && !lost) {
		return;
	}
	fflush(stdout);
	fprintf(stderr, "%llu event%s", (unsigned long long)cli_printer_count(p), PLURAL(cli_printer_count(p)));
	if (t->events != cli_printer_count(p)) {
		fprintf(stderr, " of %llu", (unsigned long long)t->events);
	}
	if (cli_printer_headers(p)) {
		fprintf(stderr, " and %llu record%s of the file itself", (unsigned long long)cli_printer_headers(p),
			PLURAL(cli_printer_headers(p)));
	}
	if (cli_printer_undecoded(p)) {
		fprintf(stderr, ", %llu not fully decoded", (unsigned long long)cli_printer_undecoded(p));
	}
	fputs("; ", stderr);
	cli_trace_print_loss(stderr, t);
	fputs(t->interrupted ? "; interrupted\n" : "\n", stderr);
	cli_printer_explain(p, stderr);
}

static int run(struct cli_args *a)
{
	const struct dump_options *o = a->given;
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX) {
		return cli_usage(a, a->count ? "at most 1024 files" : "which file?");
	}
	struct cli_select *select = cli_select_create(a, &o->select);
	if (!select) {
		return CLI_USAGE;
	}
	struct cli_printer *p = cli_printer_create(a, &o->print, select);
	if (!p) {
		cli_select_destroy(select);
		return CLI_USAGE;
	}
	struct cli_trace t = {.args = a,
			      .event = event,
			      .ctx = p,
			      .select = select,
			      .state = cli_printer_state(p),
			      .metadata = o->print.headers || cli_select_names_events(select),
			      .no_progress = isatty(1)};
	int status = CLI_FAILED;
	if (cli_trace_open(&t, a->count, a->words, NULL)) {
		uint32_t code = cli_trace_run(&t);
		status = t.interrupted ? 128 + t.interrupted : t.problems ? CLI_FAILED : CLI_OK;
		if (code == ERROR_INVALID_TIME) {
			status = cli_usage(a, "--to lies before --from");
		} else {
			if (code) {
				status = cli_fail(a, code, "stopped after %llu events", (unsigned long long)t.events);
			}
			summary(o->quiet, &t, p);
			uint64_t matched = cli_printer_count(p);
			matched += cli_select_names_events(select) ? cli_printer_headers(p) : 0;
			status = code ? status : cli_absent_files(a, select, p, a->count, a->words, matched, status);
			status = cli_select_finish(a, select, status);
		}
	}
	cli_printer_destroy(p);
	cli_select_destroy(select);
	return status;
}

const struct cli_command cli_dump = {
	.name = "dump",
	.synopsis = "FILE… [--format text|json|csv] [--filter EXPR] [options]",
	.summary = "Print the events of .etl files in the order they happened.",
	.details =
		"Several files are merged by time; a trace in a .zip, .gz, .cab or other archive is read, too.\n"
		"Text is one line an event:\n"
		"  time [processor] name(process):thread[its name] Provider/Event <level> name=value …\n"
		"JSON is one object a line: the payload's fields, then \"meta\" with provider, "
		"event, time, cpu, pid,\n"
		"tid, process (its name), thread (its name, when it has one of its own), id, version, channel, level, "
		"opcode, task, keywords, "
		"activity, relatedActivity,\n"
		"file and, with --stacks, stack; what is zero or unknown is left out. CSV has one column for each "
		"property and the "
		"payload as JSON in the\n"
		"last; with --fields one column for each field.\n\n"
		"Examples:\n"
		"  openetw dump web.etl\n"
		"  openetw dump --level error --from +1.5s --to +2s web.etl\n"
		"  openetw dump --filter 'event == Order and Number >= 10' web.etl\n"
		"  openetw dump --filter 'Status in (404, 500..599) and Url =~ /^.api/i and time < 10s' web.etl\n"
		"  openetw dump --format csv --fields time,pid,Line.Article,Line.Price.Value "
		"web.etl >lines.csv\n"
		"  openetw dump --json web.etl | jq 'select(.meta.level <= 2)'\n\n"
		"Processes:\n"
		"  What kernel events tell is added to the others: process names, process and "
		"thread of events that\n"
		"  carry none (samples, interrupts), the path of the file whose key an event "
		"has. Much of this stands at\n"
		"  the end of a trace, so files are read twice. --process takes a name, with or "
		"without .exe, or a\n"
		"  pattern; it selects also events about such a process, such as its start.\n\n"
		"Filters:\n"
		"  A test is NAME OP VALUE. OP is ==, !=, <, <=, >, >=, ~ (contains, or a * ? "
		"pattern; ignores case), !~,\n"
		"  & (has a bit in common), % (can be divided by), between A,B, outside A,B, or in (A, B, …), not in "
		"(…).\n"
		"  NAME alone: the event "
		"has this field. Tests\n"
		"  are combined with and, or, not and parentheses. A name is a property "
		"(provider, providerGuid, event,\n"
		"  id, version, channel, level, opcode, task, keywords, cpu, pid, tid, process, thread, "
		"file, time, activity,\n"
		"  relatedActivity, length) or a payload field; .id and [id] mean the payload field of that "
		"name, Line.Price a member,\n"
		"  Readings.0 an element. Numbers compare as numbers, all else as text. A test "
		"of a field that the event\n"
		"  does not have is false.\n",
	.options = options,
	CLI_INTO(dump_options),
	.run = run,
	.complete = "file",
};
