/* SPDX-License-Identifier: MIT
 * report: where the time of processors, disks, files and connections went, and what threads waited
 * for, from a trace with kernel events of Linux or of Windows.
 */
#include "tools/openetw/report.h"
#include "tools/openetw/report_html.h"
#include "tools/openetw/report_table.h"
#include "base/parse.h"

#include "tools/common/filter_option.h"
#include "tools/common/output.h"
#include "tools/common/trace_reading.h"
#include "tools/common/unpacked.h"

#include <stdlib.h>

#define TOP_DEFAULT 15

static const struct cli_option options[] = {
	CLI_NUMBER(report_options, top, 'n', "top", "N", 1, UINT64_MAX,
		   "lines of each table (default 15; of --table with --json or --csv all)"),
	CLI_NUMBERS(report_options, pid, 0, "pid", "PID", 0, UINT64_MAX, REPORT_PIDS_MAX,
		    "only this process (repeatable)"),
	CLI_WORD(report_options, filter, 'F', "filter", "EXPR",
		 "only events for which EXPR is true: of a wait the switch that ends it, of an operation or a system "
		 "call its beginning or its end. With --table: only its rows for which EXPR is true, by the names of "
		 "its columns"),
	TABLE_OPTIONS(report_options, tables),
	CLI_WORD(report_options, folded, 0, "folded", "FILE",
		 "write folded stacks (one line a stack, for flame graphs)"),
	CLI_WORD(report_options, speedscope, 0, "speedscope", "FILE", "write a profile for speedscope.app"),
	CLI_WORD(report_options, html, 0, "html", "FILE",
		 "write a page with a time line, flame graphs and tables; of --from, --to, --process, --pid, --top"),
	CLI_FLAG(report_options, off_cpu, 0, "off-cpu",
		 "these two of the time threads waited, in microseconds, not of samples"),
	CLI_FLAG(report_options, events, 0, "events",
		 "these two of the events of applications that have stacks, not of samples"),
	CLI_FLAG(report_options, no_inlines, 0, "no-inlines",
		 "do not look for functions that were put into others (DWARF)"),
	CLI_FLAG(report_options, json, 'j', "json", "the tables as JSON objects, one a line"),
	CLI_FLAG(report_options, csv, 0, "csv", "of --table: CSV with a line of names"),
	CLI_FORCE_OPTION,
	CLI_FLAG(report_options, explain, 0, "explain", "what the tables and the words in them mean; without a file"),
	{0},
};

static const char explanation[] =
	"first lines: what cost threads most time: locks, fsync, other processes, page faults, peers, garbage "
	"collection;\n"
	"  at most three, or that nothing stands out. docs/causes.md says how each is found.\n"
	"processes, threads by CPU: samples taken while they ran. Percentages are of the samples that were not idle.\n"
	"functions by CPU: SELF: samples in the function itself; TOTAL: in it or in what it called.\n"
	"  module!name, module!name@plt for the way to a function of another module, module!exported+0x… where only\n"
	"  the exported functions have names, module+0x… for the place in the file where nothing has one.\n"
	"longest waits: from the switch away from a thread to the switch back to it. WOKEN BY is the thread that ended "
	"the\n"
	"  wait, or what did when no thread did:\n"
	"    timer       the time that the thread, or a timer of its, had asked for was over\n"
	"    interrupt   a device, or another processor\n"
	"    softirq     what an interrupt left to do, as with packets from the network. \"while … ran\" names the "
	"thread that\n"
	"                ran at that moment: often one that was merely interrupted, but for connections within this "
	"machine\n"
	"                the sender\n"
	"    DPC         in traces of Windows any of these\n"
	"waits by what ended them: the same of all waits, added up; \"(not told)\" has no wake-up in the trace.\n"
	"other events with stacks: of applications, how often each was written. The event's name is the innermost "
	"frame of its\n"
	"  stacks, as it stands in --folded: who wrote it, and how often.\n"
	"disk: what devices were asked for, and for how long. file operations: bytes that were really read or "
	"written.\n"
	"connections: FAILED are those that did not come about.\n";

static bool process_wanted(struct report *r, uint32_t pid, const char *process)
{
	const struct cli_words *names = &r->o->tables.process;
	for (int i = 0; i < r->o->pid.count; i++) {
		if (r->o->pid.number[i] == pid) {
			r->pid_seen[i] = true;
			return true;
		}
	}
	for (int i = 0; i < names->count; i++) {
		uint64_t number;
		if (parse_number(names->text[i], 0, UINT32_MAX, &number)
			    ? number == pid
			    : process && cli_process_is(names->text[i], process, strlen(process))) {
			r->name_seen = true;
			return true;
		}
	}
	return r->o->pid.count == 0 && names->count == 0;
}

static bool thread_wanted(const struct report *r, uint32_t tid)
{
	const struct cli_words *threads = &r->o->tables.thread;
	for (int i = 0; i < threads->count; i++) {
		uint64_t number;
		if (parse_number(threads->text[i], 0, UINT32_MAX, &number) && number == tid &&
		    tid != OPENETW_UNKNOWN_ID) {
			return true;
		}
	}
	return threads->count == 0;
}

bool report_whose(struct report *r, uint32_t pid, uint32_t tid, const char *process)
{
	return process_wanted(r, pid, process) && thread_wanted(r, tid);
}

bool report_wanted(struct report *r, uint32_t pid, uint32_t tid, const char *process, uint64_t begin)
{
	return report_whose(r, pid, tid, process) && report_in_range(r, begin);
}

static VOID WINAPI on_event(PEVENT_RECORD e)
{
	struct report *r = e->UserContext;
	struct kevent k;
	if (cli_shortage_take(&r->shortages, e)) {
		return;
	}
	report_learn(r, e);
	report_losses(r, e);
	bool kernel = kevent_of(r->state, e, &k);
	if (r->causes && report_in_range(r, (uint64_t)e->EventHeader.TimeStamp.QuadPart)) {
		causes_event(r->causes, e, kernel ? &k : NULL);
	}
	report_filter_event(r, e);
	if (!kernel) {
		report_app(r, e);
		return;
	}
	r->events += k.kind != KEVENT_PROCESS && k.kind != KEVENT_THREAD && k.kind != KEVENT_IMAGE;
	switch (k.kind) {
	case KEVENT_SAMPLE: report_sample(r, e, &k); break;
	case KEVENT_PMC_SAMPLE: report_pmc_sample(r, e, &k); break;
	case KEVENT_SWITCH:
		report_counters(r, e, &k);
		report_switch(r, e, &k);
		break;
	case KEVENT_READY: report_ready(r, &k); break;
	default: report_io(r, e, &k); break;
	}
}

static bool read_ahead(void *ctx, uint32_t done, uint32_t total)
{
	cli_work_tell(CLI_WORK_MACHINE, done, total);
	return !cli_signal_caught();
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA f)
{
	cli_work_tell(CLI_WORK_BUFFERS, f->BuffersRead, f->LogfileHeader.BuffersWritten);
	return !cli_signal_caught();
}

static bool cause_wanted(void *context, uint32_t pid, uint32_t tid, const char *process)
{
	struct report *r = context;
	return process_wanted(r, pid, process) && (tid == CAUSE_NOBODY || thread_wanted(r, tid));
}

static void tables(struct report *r, uint64_t top, bool json)
{
	if (r->causes) {
		const struct report_options *o = r->o;
		bool narrowed = o->pid.count + o->tables.process.count + o->tables.thread.count > 0;
		r->failed = !causes_print(r->causes, narrowed ? cause_wanted : NULL, r, json) || r->failed;
		fputs(json ? "" : "\n", stdout);
	}
	if (!json && r->samples + r->switches) {
		printf("%llu samples, %llu of them idle; %llu context switches\n", (unsigned long long)r->samples,
		       (unsigned long long)r->idle, (unsigned long long)r->switches);
		if (r->all_switches && !openetw_state_watched(r->state, 0, 0)) {
			printf("recorded for some processes: how long threads of others waited is not known, and not "
			       "shown\n");
		}
		if (r->switches_lost) {
			printf("when it was recorded %llu switches, or samples, were lost: what threads waited then is "
			       "not known, and not shown\n",
			       (unsigned long long)r->switches_lost);
		}
		/* Many more are missing where only some processes were recorded, or records were lost. */
		if (r->gaps && r->gaps < r->all_switches / 20) {
			printf("before %llu of the switches at least one is missing that the kernel did not report\n",
			       (unsigned long long)r->gaps);
		}
	}
	if (json) {
		cli_shortage_json(stdout, &r->shortages, "{\"table\":\"notKept\",", "}");
	} else {
		cli_shortage_print(stdout, &r->shortages);
	}
	report_print_cpu(r, top, json);
	report_print_pmc(r, top, json);
	report_print_waits(r, top, json);
	report_print_io(r, top, json);
	report_print_app(r, top, json);
}

static int print(struct report *r)
{
	bool json = r->o->json;
	const char *unit, *none;
	/* Stacks that go to standard output are alone there. */
	const char *folded = r->o->folded, *speedscope = r->o->speedscope;
	bool quiet = (folded && strcmp(folded, "-") == 0) || (speedscope && strcmp(speedscope, "-") == 0);
	bool any = r->events || r->other_events;
	const struct cli_words *names = &r->o->tables.process;
	int seen = (r->o->pid.count == 0 && names->count == 0) || r->name_seen || !any;
	for (int i = 0; i < names->count && !seen; i++) {
		cli_tell(r->args, "there is nothing of a process '%s' in there", names->text[i]);
	}
	for (int i = 0; i < r->o->pid.count && any; i++) {
		seen |= r->pid_seen[i];
		if (!r->pid_seen[i]) {
			fprintf(stderr, "openetw report: there is nothing of process %llu in there\n",
				(unsigned long long)r->o->pid.number[i]);
		}
	}
	if (!seen) {
		return CLI_FAILED;
	}
	if (r->filter && r->fitting == 0) {
		fprintf(stderr, "openetw report: nothing in there that it counts fits the filter\n");
		return CLI_FAILED;
	}
	if (r->events == 0 && r->app_with_stack == 0 && !(r->causes && causes_any(r->causes))) {
		fprintf(stderr, "openetw report: no CPU samples, context switches or other kernel events in there; "
				"openetw record makes them\n");
		if (r->other_events) {
			fprintf(stderr,
				"  it has other events (%llu): 'openetw stats' counts them, 'openetw dump' prints "
				"them\n",
				(unsigned long long)r->other_events);
		}
		return CLI_FAILED;
	}
	report_filter_print(r);
	if (!quiet) {
		tables(r, r->o->top ? r->o->top : TOP_DEFAULT, json);
	}
	const struct tally *stacks = report_stacks(r, &unit, &none);
	if ((folded || speedscope) && stacks->used == 0) {
		fflush(stdout);
		fprintf(stderr, "openetw report: no stacks were written: there are %s\n", none);
		return CLI_FAILED;
	}
	bool ok = !folded || report_write_folded(r->args, stacks, folded);
	if (speedscope) {
		const char *name = r->off_cpu ? "time waited" : stacks == &r->app_stacks ? "events" : "CPU samples";
		ok = report_write_speedscope(r->args, stacks, speedscope, name, unit) && ok;
	}
	return ok ? CLI_OK : CLI_FAILED;
}

void report_free(struct report *r)
{
	struct tally *all[] = {&r->processes,     &r->threads,         &r->functions,      &r->stacks,
			       &r->off_stacks,    &r->disk_processes,  &r->disk_files,     &r->file_processes,
			       &r->files,         &r->connections,     &r->faults,         &r->fault_files,
			       &r->calls,         &r->waits_by_thread, &r->waits_by_waker, &r->counted_processes,
			       &r->pmc_functions, &r->app_stacks,      &r->app_names,      &r->op_names};
	for (size_t i = 0; i < BASE_ARRAY_LEN(all); i++) {
		tally_free(all[i]);
	}
	causes_destroy(r->causes);
	strbuf_finish(&r->line);
	report_ops_free(r);
	report_app_free(r);
	free(r->counted);
	free(r->thread);
	map_free(&r->thread_of);
}

static int run(struct cli_args *a)
{
	const struct report_options *o = a->given;
	struct report r = {.args = a, .o = o, .off_cpu = o->off_cpu};
	if (o->explain) {
		fputs(explanation, stdout);
		return CLI_OK;
	}
	if (o->html) {
		const char *other = o->tables.table          ? "table"
				    : o->tables.group_by     ? "group-by"
				    : o->tables.columns      ? "columns"
				    : o->tables.sort         ? "sort"
				    : o->tables.thread.count ? "thread"
				    : o->filter              ? "filter"
				    : o->folded              ? "folded"
				    : o->speedscope          ? "speedscope"
				    : o->json                ? "json"
				    : o->csv                 ? "csv"
							     : NULL;
		return other ? cli_usage(a, "--html and --%s contradict each other", other) : report_html(a, o);
	}
	if (o->tables.table) {
		return report_table(a, o);
	}
	const char *of_table = o->csv                ? "csv"
			       : o->tables.group_by  ? "group-by"
			       : o->tables.columns   ? "columns"
			       : o->tables.sort      ? "sort"
			       : o->tables.ascending ? "ascending"
						     : NULL;
	if (of_table) {
		return cli_usage(a, "--%s is of --table: which table? --table list lists them", of_table);
	}
	if (a->count != 1) {
		return cli_usage(a, a->count ? "one file" : "which file?");
	}
	if (r.off_cpu && o->events) {
		return cli_usage(a, "--off-cpu and --events contradict each other");
	}
	if (!cli_filter_expr(a, o->filter, NULL, &r.filter)) {
		return CLI_USAGE;
	}
	const char *plain = cli_unpacked(a, a->words[0]);
	if (!plain) {
		return report_filter_finish(&r, CLI_FAILED);
	}
	r.state = openetw_state_create(OPENETW_STATE_STACKS);
	cli_signals_catch();
	uint32_t code = r.state && report_app_create(&r) && report_filter_create(&r)
				? openetw_state_read_file(r.state, plain, read_ahead, NULL)
				: ERROR_NOT_ENOUGH_MEMORY;
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (char *)(uintptr_t)plain,
				    .Context = &r,
				    .EventRecordCallback = on_event,
				    .BufferCallback = on_buffer};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	int status = CLI_FAILED;
	TRACEHANDLE h = code ? INVALID_PROCESSTRACE_HANDLE : OpenTraceA(&log);
	if (cli_signal_caught()) {
		cli_interrupt(cli_signal_caught());
		if (h != INVALID_PROCESSTRACE_HANDLE) {
			CloseTrace(h);
		}
	} else if (code || h == INVALID_PROCESSTRACE_HANDLE) {
		cli_fail(a, code ? code : GetLastError(), "cannot open %s", a->words[0]);
	} else {
		report_filter_start(&r, &log.LogfileHeader);
		uint64_t start = (uint64_t)log.LogfileHeader.StartTime.QuadPart;
		const struct cli_time *from = &o->tables.from, *to = &o->tables.to;
		r.from = from->given ? from->time + (from->relative ? start : 0) : 0;
		r.to = to->given ? to->time + (to->relative ? start : 0) : UINT64_MAX;
		r.ticks_per_second = (uint64_t)log.LogfileHeader.PerfFreq.QuadPart;
		r.names.state = r.state;
		r.names.inlines = o->no_inlines ? NULL : inlines_create();
		r.names.kernel = cli_kallsyms_load((uint64_t)log.LogfileHeader.BootTime.QuadPart);
		if (r.from > r.to) {
			status = cli_usage(a, "--to lies before --from");
			CloseTrace(h);
			goto end;
		}
		r.causes = r.filter ? NULL : causes_create(r.state, &r.names);
		r.failed = !r.filter && !r.causes;
		code = openetw_state_attach(r.state, h);
		code = code ? code : ProcessTrace(&h, 1, NULL, NULL);
		if (cli_signal_caught()) { /* tables of a part would look like those of all */
			cli_interrupt(cli_signal_caught());
			code = ERROR_CANCELLED;
		}
		cli_signals_restore();
		status = cli_interrupted() ? CLI_FAILED
			 : code     ? cli_fail(a, code, "stopped after %llu samples", (unsigned long long)r.samples)
			 : r.failed ? cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "too many names")
				    : print(&r);
		CloseTrace(h);
	}
end:
	cli_signals_restore();
	report_free(&r);
	inlines_destroy(r.names.inlines);
	cli_kallsyms_free(r.names.kernel);
	cli_state_end(r.state);
	return report_filter_finish(&r, status);
}

const struct cli_command cli_report = {
	.name = "report",
	.synopsis = "FILE [--table NAME | --html FILE] [--pid PID] [--folded FILE] [--speedscope FILE] [options]",
	.summary = "Where time went: processors, waits, disks, files, connections, system calls.",
	.details =
		"Begins with at most three lines that say what went wrong: which thread lost how much of its time to "
		"what.\n"
		"Reads the kernel's events, from openetw record or from Windows: CPU samples and call stacks by "
		"process,\n"
		"thread and function; context switches and wake-ups as waits and their wakers; disk and file "
		"operations\n"
		"by process and by file; connections by process and address; page faults; system calls; counters by "
		"process, when\n"
		"context switches have them (record --pmc), and what was sampled by counters; events of applications\n"
		"that have stacks. --folded and --speedscope write the stacks of samples, of waits (--off-cpu), or of "
		"events of\n"
		"applications (--events, and where there are no samples). A table without\n"
		"events is left out. Functions are named from the trace, which openetw record makes self-contained, "
		"else\n"
		"from files of this machine that are of the same build. Percentages are of the samples that were not\n"
		"idle. A thread's wait counts from the switch away from it to the switch back.\n\n"
		"--table answers from one table of the trace, the same that 'openetw sql' asks: its rows, or groups of "
		"them "
		"with\n"
		"counts, sums and percentiles. --html writes a page with a time line, flame graphs and tables. "
		"docs/report.md "
		"has both.\n\n"
		"Examples:\n"
		"  openetw record --cpu --wait -o build.etl -- make\n"
		"  openetw report build.etl\n"
		"  openetw report build.etl --folded build.folded && flamegraph.pl build.folded >build.svg\n"
		"  openetw report build.etl --off-cpu --speedscope waits.json\n"
		"  openetw report --table io --group-by file --columns 'count,sum(bytes),p99(duration)' build.etl\n"
		"  openetw report build.etl --html build.html\n"
		"  openetw run --stacks -p MyCompany.Shop -o shop.etl -- ./shop; openetw report shop.etl --folded "
		"shop.folded\n",
	.options = options,
	CLI_INTO(report_options),
	.run = run,
	.complete = "file",
};
