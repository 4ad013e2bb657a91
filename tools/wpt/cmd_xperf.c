/* SPDX-License-Identifier: MIT
 * xperf: the controller of the Windows Performance Toolkit. Every -start opens a scope; the options
 * after it belong to that session, those before the first one to the kernel's.
 */
#include "tools/common/session_options.h"
#include "tools/common/mark.h"
#include "tools/common/mode_names.h"
#include "tools/common/output.h"
#include "base/parse.h"
#include "tools/common/session_control.h"
#include "tools/classic/explain_line.h"
#include "tools/wpt/xperf.h"
#include "tools/wpt/xperf_action.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

/* Of the session that is being described. */
#define SCOPE(field, kind, take_fn, name_, arg_, min_, max_, values_, help_)                   \
	{                                                                                      \
		.name = name_, .arg = arg_, .help = help_, .values = values_, .take = take_fn, \
		.offset = CLI_AT(xperf_scope, field, kind), .min = min_, .max = max_           \
	}
#define SCOPE_TEXT(field, name, arg, help) SCOPE(field, const char *, xperf_take_text, name, arg, 0, 0, NULL, help)
#define SCOPE_ONE_OF(field, name, arg, values, help) \
	SCOPE(field, const char *, xperf_take_text, name, arg, 0, 0, values, help)
#define SCOPE_NUMBER(field, name, arg, min, max, help) \
	SCOPE(field, uint64_t, xperf_take_number, name, arg, min, max, NULL, help)
#define SCOPE_FLAG(field, name, help) SCOPE(field, bool, xperf_take_flag, name, NULL, 0, 0, NULL, help)
static const struct cli_option options[] = {
	SCOPE_TEXT(on, "on", "SPECS", "kernel flags, or providers Name:keywords:level:'stack' joined by +"),
	SCOPE(name, const char *, xperf_take_start, "start", "SESSION", 0, 0, NULL,
	      "the following options belong to this session"),
	SCOPE(file, const char *, xperf_take_file, "f", "FILE", 0, 0, NULL,
	      "its log file (default kernel.etl, user.etl)"),
	SCOPE_NUMBER(buffer_kb, "BufferSize", "KB", 4, 16384, "of one buffer (default 64)"),
	SCOPE_NUMBER(min, "MinBuffers", "N", 1, 1 << 20, "buffers at the start (default 64)"),
	SCOPE_NUMBER(max, "MaxBuffers", "N", 1, 1 << 20, "at most (default 320)"),
	SCOPE_NUMBER(max_file, "MaxFile", "MB", 1, UINT32_MAX, "size limit of the file"),
	SCOPE_ONE_OF(file_mode, "FileMode", "MODE", "Sequential|Circular|Append|NewFile",
		     "Sequential, Circular, Append or NewFile"),
	SCOPE_NUMBER(flush, "FlushTimer", "SECONDS", 0, 86400, "write part-filled buffers this often"),
	SCOPE_ONE_OF(clock, "ClockType", "CLOCK", "PerfCounter|Cycle|SystemTime", "PerfCounter, Cycle or SystemTime"),
	SCOPE_FLAG(realtime, "RealTime", "deliver to live consumers"),
	SCOPE_FLAG(buffering, "Buffering", "keep events in memory, to be written by -flush"),
	SCOPE(stack, const char *, xperf_take_stack, "StackWalk", "EVENTS", 0, 0, NULL,
	      "kernel events with call stacks, joined by +, or @FILE (repeatable)"),
	SCOPE_TEXT(pids, "pids", "PIDS", "only from these processes: numbers separated by commas"),
	SCOPE_TEXT(state, "capturestate_on", "SPECS", "ask these providers for their state when all are enabled"),
	CLI_FLAG(xperf_options, partial, 0, "partial", "start what can be recorded, without the kernel's part"),
	CLI_VERB(xperf_options, verb, "stop", "[SESSION]",
		 "end a session (repeatable, more may follow); without a name the kernel's"),
	CLI_VERB(xperf_options, verb, "stopall", NULL, "end all sessions"),
	CLI_WORD(xperf_options, to, 0, "d", "FILE",
		 "with -stop: merge their files into this one; alone: end the kernel's session into it"),
	CLI_OWN(xperf_options, verb, struct cli_verb, xperf_take_flush, 0, "flush", "SESSION",
		"write what is buffered; with -f behind it a memory session to a file (repeatable)"),
	CLI_VERB(xperf_options, verb, "capturestate", "SESSION", "ask the providers that follow for their state"),
	CLI_VERB(xperf_options, verb, "update", "SESSION",
		 "change -on, -FlushTimer, -MaxBuffers, -f of a running session"),
	CLI_VERB(xperf_options, verb, "m", "TEXT", "put a mark into the sessions"),
	CLI_VERB(xperf_options, verb, "mf", "TEXT", "the same; working sets are not touched here"),
	CLI_VERB(xperf_options, verb, "merge", "FILE", "merge this and the following files into the last one"),
	CLI_FLAG(xperf_options, compress, 0, "compress", "with -merge or -d: compress"),
	CLI_ACCEPTED(0, "i", "FILE", "print the events of a file (and of those that follow)"),
	CLI_WORD(xperf_options, output, 0, "o", "FILE", "to this file instead of the terminal"),
	CLI_ACCEPTED(0, "a", "ACTION", "which report, with its options behind it (repeatable); below they are listed"),
	CLI_ACCEPTED(0, "ao", "FILE", "the report of the action before goes to this file"),
	CLI_ACCEPTED(0, "ae", "FILE", "what is said about it goes to this file"),
	CLI_ACCEPTED(0, "tle", NULL, "tolerate lost events: they are told in any case"),
	CLI_ACCEPTED(0, "tti", NULL, "tolerate time inversions: events are sorted in any case"),
	CLI_ACCEPTED(0, "quiet", NULL, "accepted"),
	{.name = "target", .arg = "WHAT", .help = "accepted: human or machine", .values = "human|machine"},
	CLI_VERB(xperf_options, verb, "loggers", NULL, "list the running sessions"),
	CLI_VERB(xperf_options, verb, "providers", "[KIND]",
		 "list providers: I installed, R registered, KF, KG, K kernel"),
	CLI_FLAG(xperf_options, explain, 0, "explain", "print the openetw lines, do nothing"),
	CLI_ACCEPTED(0, "symbols", "[WHAT]", "accepted: names are always looked up"),
	CLI_VERB(xperf_options, verb, "profint", NULL, "print the time between samples"),
	CLI_WORDS(xperf_options, intervals, 0, "setprofint", "[SOURCE] N",
		  "set it, in 100 ns: 10000 is a millisecond; of a counter its events; also before -on"),
	CLI_VERB(xperf_options, verb, "pmcsources", NULL, "list counters and sources of samples, with their intervals"),
	CLI_VERB(xperf_options, verb, "boottrace", "FLAGS|off",
		 "the kernel's session from the next start of etwd on (as root: of the machine)"),
	CLI_WORD(xperf_options, pmc, 0, "Pmc", "COUNTERS EVENTS [strict]",
		 "kernel: values of C1,C2 with EV1+EV2; strict: or nothing starts"),
	CLI_WORD(xperf_options, pmc_profile, 0, "PmcProfile", "COUNTERS", "kernel: samples by C1,C2"),
	CLI_NAMED(xperf_options, refused, "LastBranch", "EVENTS", NULL),
	CLI_NAMED(xperf_options, refused, "heap", NULL, NULL),
	CLI_NAMED(xperf_options, refused, "critsec", NULL, NULL),
	CLI_NAMED(xperf_options, refused, "pooltag", "TAGS", NULL),
	CLI_NAMED(xperf_options, refused, "pidnewprocess", "COMMAND", NULL),
	CLI_NAMED(xperf_options, refused, "injectonly", NULL, NULL),
	CLI_NAMED(xperf_options, refused, "cancel", "SESSION", NULL),
	CLI_NAMED(xperf_options, refused, "save", "SESSION", NULL),
	{0},
};

static const struct {
	const char *name, *why;
} refused[] = {
	{"LastBranch", "branch records are not recorded yet"},
	{"heap", "heap events are not of a session here: 'openetw record --heap PID|NAME -o FILE' records them"},
	{"critsec", "critical sections have no source on this system"},
	{"pooltag", "pool tags have no source on this system"},
	{"pidnewprocess", "use 'openetw run -p PROVIDER -- COMMAND', which records a program from its start"},
	{"injectonly", "kernel sessions record image ids themselves; nothing is added later"},
	{"cancel", "sessions of another program's profiles: use 'wpr -cancel'"},
	{"save", "sessions of another program's profiles: use 'wpr -stop FILE'"},
};

static const struct xperf_options *options_of(const struct cli_args *a)
{
	return a->given;
}

/* What is said of the verb. */
static const char *value_of(const struct cli_args *a)
{
	const char *v = cli_words_last(&options_of(a)->verb.values);
	return v ? v : "";
}

/* ---- the rest --------------------------------------------------------------------------------- */

static struct cli_props *all_sessions(struct cli_args *a, ULONG *ret_count)
{
	enum { MOST = 1024 };
	struct cli_props *all = calloc(MOST, sizeof *all);
	PEVENT_TRACE_PROPERTIES *array = calloc(MOST, sizeof *array);
	*ret_count = 0;
	for (int i = 0; all && array && i < MOST; i++) {
		cli_props_init(&all[i]);
		array[i] = &all[i].p;
	}
	uint32_t code = all && array ? QueryAllTracesA(array, MOST, ret_count) : ERROR_NOT_ENOUGH_MEMORY;
	free(array);
	if (code) {
		cli_fail(a, code, "cannot list the sessions");
		free(all);
		return NULL;
	}
	return all;
}

/* "Trace Flags": the kernel's flags and the providers of one session, as -on takes them. */
struct trace_flags {
	struct strbuf text;
};

static bool add_provider(void *ctx, const GUID *g, const TRACE_ENABLE_INFO *e, uint32_t processes)
{
	struct trace_flags *f = ctx;
	char name[256];
	(void)processes;
	controller_provider_name(g, name, sizeof name);
	strbuf_addf(&f->text, "%s\"%s\":0x%llx:0x%x", f->text.len ? "+" : "", name,
		    (unsigned long long)e->MatchAnyKeyword, e->Level);
	return true;
}

static void print_flags(const struct cli_props *p)
{
	struct openetw_kernel k = {.size = sizeof k};
	struct trace_flags f = {0};
	struct kernel_mask m;
	char names[1200];
	if (openetw_session_kernel(p->name, &k) == ERROR_SUCCESS) {
		memcpy(m.word, k.masks, sizeof m.word);
		kernel_mask_names(&m, names, sizeof names);
		strbuf_addf(&f.text, "%s", kernel_mask_empty(&m) ? "" : names);
	}
	controller_each_enabled((uint16_t)p->p.Wnode.HistoricalContext, add_provider, &f);
	if (f.text.len) {
		printf("Trace Flags           : %s\n", f.text.s);
	}
	strbuf_finish(&f.text);
}

static void print_mode(ULONG mode)
{
	struct strbuf b = {0};
	mode_names_add(&b, MODE_NAMES_XPERF, mode, " ");
	if (mode & EVENT_TRACE_REAL_TIME_MODE) {
		printf("Real Time Mode        : Enabled\n");
	}
	printf("Log File Mode         : %s\n", b.len ? b.s : "Sequential");
	strbuf_finish(&b);
}

/* The layout that the Performance Toolkit's documentation shows. */
static int run_loggers(struct cli_args *a)
{
	ULONG n;
	struct cli_props *all = all_sessions(a, &n);
	for (ULONG i = 0; all && i < n; i++) {
		const EVENT_TRACE_PROPERTIES *p = &all[i].p;
		printf("Logger Name           : %s\n", all[i].name);
		printf("Logger Id             : %llx\n", (unsigned long long)p->Wnode.HistoricalContext);
		printf("Logger Thread Id      : %016llX\n", (unsigned long long)(uintptr_t)p->LoggerThreadId);
		printf("Buffer Size           : %u\n", p->BufferSize);
		printf("Maximum Buffers       : %u\n", p->MaximumBuffers);
		printf("Minimum Buffers       : %u\n", p->MinimumBuffers);
		printf("Number of Buffers     : %u\n", p->NumberOfBuffers);
		printf("Free Buffers          : %u\n", p->FreeBuffers);
		printf("Buffers Written       : %u\n", p->BuffersWritten);
		printf("Events Lost           : %u\n", p->EventsLost);
		printf("Log Buffers Lost      : %u\n", p->LogBuffersLost);
		printf("Real Time Buffers Lost: %u\n", p->RealTimeBuffersLost);
		printf("Flush Timer           : %u\n", p->FlushTimer);
		printf("Age Limit             : %d\n", (int)p->AgeLimit);
		print_mode(p->LogFileMode);
		printf("Maximum File Size     : %u\n", p->MaximumFileSize);
		printf("Log Filename          : %s\n", all[i].file);
		print_flags(&all[i]);
		putchar('\n');
	}
	int status = all ? CLI_OK : CLI_FAILED;
	free(all);
	return status;
}

static int run_stop_all(struct cli_args *a)
{
	ULONG n;
	int status = CLI_OK;
	struct cli_props *all = all_sessions(a, &n);
	for (ULONG i = 0; all && i < n; i++) {
		char *file;
		int one = xperf_stop_one(a, all[i].name, &file);
		status = one ? one : status;
		free(file);
	}
	status = all ? status : CLI_FAILED;
	free(all);
	return status;
}

static int print_registered(struct cli_args *a)
{
	static GUID guids[4096];
	ULONG bytes = 0;
	uint32_t code = EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, guids, sizeof guids, &bytes);
	if (code) {
		return cli_fail(a, code, "cannot list the registered providers");
	}
	printf("Registered User Providers:\n");
	for (size_t i = 0; i < bytes / sizeof guids[0]; i++) {
		char text[40];
		cli_guid_text(&guids[i], text);
		printf("\t{%s}\n", text);
	}
	return CLI_OK;
}

static int print_installed(struct cli_args *a)
{
	ULONG bytes = 0;
	uint32_t code = TdhEnumerateProviders(NULL, &bytes);
	uint8_t *all = bytes ? malloc(bytes) : NULL;
	code = all ? TdhEnumerateProviders((PPROVIDER_ENUMERATION_INFO)(void *)all, &bytes) : code;
	if (code && code != ERROR_INSUFFICIENT_BUFFER) {
		free(all);
		return cli_fail(a, code, "cannot list the installed providers");
	}
	printf("Installed User Providers:\n");
	const PROVIDER_ENUMERATION_INFO *info = (const void *)all;
	for (ULONG i = 0; info && i < info->NumberOfProviders; i++) {
		const TRACE_PROVIDER_INFO *p = &info->TraceProviderInfoArray[i];
		const uint16_t *wide = (const uint16_t *)(const void *)(all + p->ProviderNameOffset);
		char text[40], name[512] = "";
		cli_guid_text(&p->ProviderGuid, text);
		if (p->ProviderNameOffset) {
			utf16_to_utf8_lossy(wide, utf16_len(wide), name, sizeof name);
		}
		printf("\t{%s} : %s\n", text, name);
	}
	free(all);
	return CLI_OK;
}

static int run_providers(struct cli_args *a)
{
	const char *k = value_of(a);
	if (strcasecmp(k, "KF") == 0 || strcasecmp(k, "KG") == 0 || strcasecmp(k, "K") == 0) {
		cli_kernel_print(strcasecmp(k, "KG") != 0, strcasecmp(k, "KF") != 0);
		return CLI_OK;
	}
	if (strcasecmp(k, "I") == 0) {
		return print_installed(a);
	}
	if (strcasecmp(k, "R") == 0) {
		return print_registered(a);
	}
	if (*k) {
		return cli_usage(a, "-providers takes I, R, KF, KG or K, not '%s'", k);
	}
	int status = print_installed(a);
	status = status ? status : print_registered(a);
	cli_kernel_print(true, true);
	return status;
}

static int flush_one(struct cli_args *a, const char *name, const char *file)
{
	struct cli_props p;
	if (options_of(a)->explain) {
		return cli_same("flush", name, file ? "-o" : NULL, file, NULL);
	}
	cli_props_init(&p);
	if (file) {
		snprintf(p.file, sizeof p.file, "%s", file);
	} else {
		p.p.LogFileNameOffset = 0;
	}
	uint32_t code = cli_control_trace(0, name, &p.p, EVENT_TRACE_CONTROL_FLUSH);
	return code ? cli_fail(a, code, "cannot flush '%s'", name) : CLI_OK;
}

/* Several sessions; the -f behind one is its own. */
static int run_flush(struct cli_args *a)
{
	const struct xperf_options *o = options_of(a);
	int status = CLI_OK;
	for (int i = 0; i < o->flushes.count && status == CLI_OK; i++) {
		status = flush_one(a, o->flushes.at[i].session, o->flushes.at[i].file);
	}
	return status;
}

static int run_capture(struct cli_args *a)
{
	const char *name = value_of(a);
	struct cli_props p;
	if (a->count != 1) {
		return cli_usage(a, "-capturestate takes a session and providers joined by +");
	}
	uint32_t code = cli_session_query(name, &p);
	return code ? cli_fail(a, code, "no session '%s'", name)
		    : xperf_capture(a, name, p.p.Wnode.HistoricalContext, a->words[0]);
}

static int run_update(struct xperf *x)
{
	struct cli_args *a = x->a;
	const char *name = value_of(a);
	const struct xperf_scope *s = &x->scope[0];
	struct cli_props p;
	uint32_t code = cli_session_query(name, &p);
	TRACEHANDLE h = p.p.Wnode.HistoricalContext;
	ULONG flags = p.p.EnableFlags;
	bool kernel = flags || launch_is_kernel_name(name) || (p.p.LogFileMode & EVENT_TRACE_SYSTEM_LOGGER_MODE);
	if (code) {
		return cli_fail(a, code, "no session '%s'", name);
	}
	if (s->flush || x->o->max_buffers || s->file) {
		cli_props_init(&p);
		p.p.EnableFlags = flags; /* none would end its kernel events */
		p.p.FlushTimer = (ULONG)s->flush;
		p.p.MaximumBuffers = x->o->max_buffers ? (ULONG)s->max : 0;
		if (s->file) {
			snprintf(p.file, sizeof p.file, "%s", s->file);
		} else {
			p.p.LogFileNameOffset = 0;
		}
		code = cli_control_trace(h, NULL, &p.p, EVENT_TRACE_CONTROL_UPDATE);
		if (code) {
			return cli_fail(a, code, "cannot update '%s'", name);
		}
	}
	struct xperf_scope only = *s;
	only.name = name;
	struct session_kernel wish;
	struct cli_counters unused;
	if (kernel && s->on) {
		int status = xperf_kernel_wish(a, &only, &wish, &unused);
		if (status != CLI_OK) {
			return status;
		}
		code = TraceSetInformation(h, TraceSystemTraceEnableFlagsInfo, &wish.mask, sizeof wish.mask);
		return code ? cli_fail(a, code, "cannot update '%s'", name) : CLI_OK;
	}
	return xperf_enable(a, &only, h);
}

static int run_mark(struct cli_args *a)
{
	uint32_t code = cli_mark_write("Mark", value_of(a));
	return code ? cli_fail(a, code, "no session of xperf or wpr is running to take the mark") : CLI_OK;
}

static int run_interval(struct cli_args *a, const char *verb)
{
	uint32_t now, code, timer;
	struct cli_counters c = {0};
	if (strcmp(verb, "setprofint") == 0) {
		if (!xperf_intervals(a, &c) || !xperf_timer(a, &timer)) {
			return cli_told();
		}
		code = xperf_set_intervals(timer, &c);
		return code ? cli_fail(a, code, "cannot set the interval of samples") : CLI_OK;
	}
	code = cli_kernel_get_interval(&now);
	if (code) {
		return cli_fail(a, code, "cannot tell the interval of samples");
	}
	printf("Current Profile Interval : %u [%.4f ms]\n", now, (double)now / 10000);
	return CLI_OK;
}

static int run_merge(struct cli_args *a)
{
	const struct xperf_options *o = options_of(a);
	const char *to = o->output;
	int n = a->count + 1, status = CLI_OK;
	if (!to && n < 2) {
		return cli_usage(a, "-merge takes files and, last, the one to write");
	}
	char **files = calloc((size_t)n, sizeof *files);
	if (!files) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot merge");
	}
	files[0] = (char *)(uintptr_t)value_of(a);
	memcpy(files + 1, a->words, (size_t)a->count * sizeof *files);
	if (!to) {
		to = files[--n];
	}
	if (o->explain) {
		printf("openetw merge");
		for (int i = 0; i < n; i++) {
			printf(" %s", cli_quoted("%s", files[i]));
		}
		printf(" -o %s%s\n", cli_quoted("%s", to), o->compress ? " --compress" : "");
	} else {
		status = xperf_merge(a, n, files, to);
	}
	free(files);
	return status;
}

/* -explain of the verbs that have no other way to say it; -1: they have. */
static int explain(struct xperf *x, const char *verb)
{
	struct cli_args *a = x->a;
	if (strcmp(verb, "stopall") == 0) {
		return cli_same_stop_all();
	}
	if (strcmp(verb, "capturestate") == 0 && a->count == 1) {
		return cli_same_enable(value_of(a), a->words[0], true);
	}
	if (strcmp(verb, "update") == 0) {
		const struct xperf_scope *s = &x->scope[0];
		if (s->flush || x->o->max_buffers || s->file || !s->on) {
			cli_same_none(CLI_SAME_UPDATE);
		}
		return s->on ? cli_same_enable(value_of(a), s->on, false) : CLI_OK;
	}
	if (verb[0] == 'm' && strcmp(verb, "merge") != 0) {
		return cli_same("mark", value_of(a), NULL);
	}
	if (strcmp(verb, "loggers") == 0) {
		return cli_same("list", NULL);
	}
	if (strcmp(verb, "providers") == 0) {
		return cli_same("providers", NULL);
	}
	if (strcmp(verb, "pmcsources") == 0) {
		return cli_same("pmc", NULL);
	}
	return strstr(verb, "profint") ? cli_same_none(CLI_SAME_INTERVAL) : -1;
}

static int run(struct cli_args *a)
{
	if (xperf_is_report(a)) {
		return xperf_report(a);
	}
	if (!cli_parse_windows(a, a->count, a->words)) {
		return cli_told();
	}
	const struct xperf_options *o = a->given;
	for (size_t i = 0; o->refused && i < BASE_ARRAY_LEN(refused); i++) {
		if (strcmp(o->refused, refused[i].name) == 0) {
			cli_fail(a, ERROR_NOT_SUPPORTED, "-%s: %s", refused[i].name, refused[i].why);
			return CLI_FAILED;
		}
	}
	const char *verb = o->verb.name, *other = o->verb.other;
	/* "-SetProfInt N -on …" is a setting of what is started. */
	bool interval = o->intervals.count && !o->on && !verb && o->start;
	if (o->intervals.count && !o->on && !o->start) {
		other = verb ? "setprofint" : other;
		verb = verb ? verb : "setprofint";
	}
	if (other) {
		return cli_usage(a, "-%s and -%s are two things to do; one at a time", verb, other);
	}
	verb = !verb && !interval && o->to && !o->on && !o->start ? "stop" : verb;
	if (verb && o->start) {
		return cli_usage(a, "-start and -%s are two things to do; one at a time", verb);
	}
	bool takes_words = verb && (strcmp(verb, "merge") == 0 || strcmp(verb, "capturestate") == 0 ||
				    (strcmp(verb, "stop") == 0 && o->verb.name));
	/* "-setprofint N cached": there is but one interval, which stays until the machine is told another. */
	takes_words = takes_words || o->intervals.count || o->pmc;
	if (a->count > 0 && !takes_words) {
		const char *word = a->words[0];
		size_t length = strlen(word);
		if (!verb && !o->on && !o->start && length > 4 && strcasecmp(word + length - 4, ".etl") == 0) {
			/* On Windows it opens the viewer. */
			fprintf(stderr,
				"openetw xperf: there is no viewer here; what there is for %s:\n"
				"\topenetw report %s\n"
				"\topenetw dump %s\n"
				"\topenetw xperf -i %s -a process\n",
				word, cli_quoted("%s", word), cli_quoted("%s", word), cli_quoted("%s", word));
			return CLI_FAILED;
		}
		const struct cli_option *row = cli_option_find(options, word, length, 0, true);
		if (row && (row->take == cli_take_verb || row->take == xperf_take_flush ||
			    strcmp(row->name, "setprofint") == 0)) {
			return cli_usage(a, "'%s' belongs to no option; did you mean -%s?", word, row->name);
		}
		return cli_usage(a,
				 *word == '+' ? "'%s' belongs to no option; what '+' joins has no space in it"
					      : "'%s' belongs to no option",
				 word);
	}
	if (verb && strcmp(verb, "flush") == 0) {
		return run_flush(a); /* its -f are of no scope */
	}
	struct xperf x = {.a = a, .o = o, .count = o->scopes.count};
	memcpy(x.scope, o->scopes.at, sizeof x.scope);
	for (int i = 0; i < x.count; i++) { /* it moved */
		x.scope[i].stack = x.scope[i].stacks[0] ? x.scope[i].stacks : x.scope[i].stack;
	}
	if (interval && !o->explain) {
		int status = run_interval(a, "setprofint");
		if (status) {
			return status;
		}
	}
	if (!verb && !o->on && !o->start) {
		return cli_usage(a, "what to do? -start, -stop, -merge, -i, …");
	}
	int told = verb && o->explain ? explain(&x, verb) : -1;
	return told >= 0                         ? told
	       : !verb                           ? xperf_start(&x)
	       : strcmp(verb, "merge") == 0      ? run_merge(a)
	       : strcmp(verb, "stop") == 0       ? xperf_stop(a)
	       : strcmp(verb, "stopall") == 0    ? run_stop_all(a)
	       : strcmp(verb, "boottrace") == 0  ? xperf_boot(&x)
	       : strcmp(verb, "update") == 0     ? run_update(&x)
	       : verb[0] == 'm'                  ? run_mark(a)
	       : strstr(verb, "profint")         ? run_interval(a, verb)
	       : strcmp(verb, "pmcsources") == 0 ? cli_counters_print(a)
	       : strcmp(verb, "loggers") == 0    ? run_loggers(a)
	       : strcmp(verb, "providers") == 0  ? run_providers(a)
						 : run_capture(a);
}

const struct cli_command cli_xperf = {
	.name = "xperf",
	.synopsis = "-start SESSION -on PROVIDERS [options] | -stop SESSION -d FILE | -i FILE | …",
	.summary = "Control sessions, merge and print traces, as the Windows Performance Toolkit's tool.",
	.details =
		"Each -start opens a scope: the options after it are of that session, those before the first\n"
		"one of the kernel's. A provider is Name:keywords:level:'stack' with or without the quotes;\n"
		"what is empty means everything. When one session cannot be started, none is.\n\n"
		"Kernel flags (xperf -providers K) take root, or capabilities on openetw-kernel. One that Linux has\n"
		"not is refused, and nothing is started, exit status 1; --partial leaves it out, and starts the other\n"
		"sessions when the kernel's cannot be. Of a group it is left out with a warning. When several "
		"sessions\n"
		"are stopped, a kernel session that does not run is a warning.\n\n"
		"Reports (-i FILE… -a ACTION): dumper (the default), process, profile, cswitch, readythread, cpudisk, "
		"dpcisr,\n"
		"diskio, diskidlehistogram, fileio, fileiodetail, filename, hardfault, pagefault, stack, heap, "
		"sysconfig,\n"
		"symcache, tracestats, marks, boot, perfctrs; of traces from Windows also pool, registry, drvdelay, "
		"spinlock,\n"
		"focuschange, pnp, services, winlogon, bootprefetch, prefetch, suspend, shutdown. They take the "
		"options that\n"
		"the Performance Toolkit documents: -range, -detail, -util 0.5, -butterfly 5, … Times are microseconds "
		"from the\n"
		"start; on the command line also 1.5s, 20ms or 2026/11/22:10:30:00.5+UTC.\n\n"
		"Examples:\n"
		"  xperf -start web -on \"MyCompany.Web:0x1:5:'stack'+MyCompany.Db\" -f web.etl -BufferSize 1024\n"
		"  xperf -m \"here it is slow\"\n"
		"  xperf -stop web -d merged.etl\n"
		"  xperf -i merged.etl -o merged.csv\n"
		"  xperf -i merged.etl -a dpcisr -ao dpcisr.txt -a stack -butterfly 5 -process 'nginx' -ao "
		"stacks.html\n"
		"  xperf -on latency -stackwalk profile -start web -on MyCompany.Web; xperf -stop -stop web -d "
		"all.etl\n",
	.options = options,
	CLI_INTO(xperf_options),
	.defaults = &(const struct xperf_options){.scopes = {.at = {XPERF_KERNEL_SCOPE}, .count = 1, .first = true}},
	.run = run,
	.topic = xperf_topic,
	.topics = "reports",
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "file",
};
