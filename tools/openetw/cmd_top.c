/* SPDX-License-Identifier: MIT
 * top: what the processors are doing now, by process, thread and function.
 */
#include "tools/openetw/feed.h"
#include "tools/tables/kernel_event.h"
#include "tools/tables/function_names.h"
#include "tools/openetw/keyboard.h"
#include "tools/openetw/screen.h"
#include "tools/common/filter_option.h"
#include "tools/common/select.h"
#include "tools/common/tally.h"
#include "tools/common/trace_reading.h"
#include "base/parse.h"
#include "etw/values/guids.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

#include <stdlib.h>
#include <unistd.h>

#define DELAY_NS      2000000000ull
#define DELAY_MIN_NS  100000000ull
#define POLL_MS       20
#define LINES_DEFAULT 15
#define HEAD_LINES    2 /* of each table, with the empty line */
#define NS_PER_S      1e9
#define HOOK_SAMPLE   KERNEL_HOOK(KERNEL_GROUP_PERF, KP_PERF_INFO_SAMPLE_PROF)

enum { SELF, TOTAL };

struct top_options {
	uint64_t delay_ns, iterations, top, interval_us;
	const char *show, *filter;
	bool inclusive, json;
	struct cli_numbers pid;
};
static const struct cli_option options[] = {
	CLI_SECONDS(top_options, delay_ns, 'd', "delay", DELAY_MIN_NS, UINT64_MAX / 2,
		    "between two looks (default 2s)"),
	CLI_NUMBER(top_options, iterations, 'n', "iterations", "N", 1, UINT32_MAX,
		   "stop after N looks (default: Ctrl-C)"),
	CLI_NUMBER(top_options, top, 0, "top", "N", 1, 10000,
		   "lines of each table (default: what the terminal holds, else 15)"),
	CLI_WORD(top_options, show, 0, "show", "TABLES",
		 "of processes, threads, functions, with commas (default: all)"),
	CLI_WORD(top_options, filter, 'F', "filter", "EXPR",
		 "only samples for which EXPR is true, by process, pid, thread, tid, cpu and function: "
		 "'process == nginx and function ~ \"*!SSL_*\"'"),
	CLI_FLAG(top_options, inclusive, 0, "inclusive", "functions by their CPU with what they called"),
	CLI_NUMBERS(top_options, pid, 0, "pid", "PID", 0, UINT64_MAX, KERNEL_PIDS_MAX,
		    "this process only (repeatable, up to 8)"),
	CLI_DURATION(top_options, interval_us, 'i', "interval", 1000, 125, 1000000,
		     "between samples, 125us and more (default 1ms)"),
	CLI_FLAG(top_options, json, 'j', "json", "the tables as JSON objects, one a line"),
	{0},
};

static const char *const top_names[] = {"process", "pid", "thread", "tid", "cpu", "function", NULL};

struct taken { /* a sample, or the stack of one, by what a filter may ask for */
	const char *process, *thread;
	uint32_t pid, tid, cpu;
	uint64_t address, time;
	char function[1024]; /* "": nobody has asked yet */
	char number[24];
};
struct top {
	const struct top_options *o;
	struct filter_expr *filter; /* NULL: everything */
	struct taken asked;
	struct feed *feed;
	struct openetw_state *state;
	struct names names;
	struct tally processes, threads, functions;
	uint64_t samples, idle, number;
	uint64_t interval_us;
	bool want_processes, want_threads, want_functions;
	bool ready; /* the rundown has been */
};

/* ---- counting --------------------------------------------------------------------------------- */

static bool look_up(void *context, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct top *t = context;
	struct taken *k = &t->asked;
	const struct {
		const char *name;
		const char *text;
		uint32_t number;
	} columns[] = {{"process", k->process, 0}, {"pid", NULL, k->pid}, {"thread", k->thread, 0},
		       {"tid", NULL, k->tid},      {"cpu", NULL, k->cpu}, {"function", k->function, 0}};
	(void)payload;
	if (strcmp(name, "function") == 0 && !k->function[0]) {
		names_of(&t->names, k->pid, k->address, k->time, k->function, sizeof k->function);
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(columns); i++) {
		if (strcmp(columns[i].name, name) != 0) {
			continue;
		}
		ret->is_number = !columns[i].text;
		ret->number = columns[i].number;
		snprintf(k->number, sizeof k->number, "%u", columns[i].number);
		ret->text = columns[i].text ? columns[i].text : k->number;
		ret->length = strlen(ret->text);
		return ret->is_number || ret->length > 0;
	}
	return false;
}

/* The event tells the processor; the rest is told by what it means. */
static bool fits(struct top *t, const EVENT_RECORD *e, const struct taken *k)
{
	if (!t->filter) {
		return true;
	}
	t->asked = *k;
	t->asked.cpu = GetEventProcessorIndex(e);
	return filter_expr_match(t->filter, look_up, t);
}

/* Whose stack it is, by number alone. */
static bool stack_fits(struct top *t, const EVENT_RECORD *e, uint32_t pid, uint32_t tid, uint64_t address)
{
	struct openetw_process p = {.size = sizeof p};
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	bool known = t->filter && openetw_state_process(t->state, pid, time, &p) == ERROR_SUCCESS;
	const struct taken k = {.process = known ? p.name : "?",
				.thread = t->filter ? kevent_thread_name(t->state, tid, time) : "",
				.pid = pid,
				.tid = tid,
				.address = address,
				.time = time};
	return fits(t, e, &k);
}

static void on_stack(struct top *t, const EVENT_RECORD *e)
{
	const struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	const uint8_t *p = kernel_payload_bytes(in, KP_STACK_WALK_STACK_SINCE_V0_STACK);
	uint64_t frames[NAMES_FRAMES_MAX], time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	char name[1024];
	uint32_t bytes = p ? (uint32_t)(in.p + in.bytes - p) : 0;
	uint32_t pid = kernel_payload_get32(in, KP_STACK_WALK_STACK_SINCE_V0_PROCESS_ID);
	uint32_t n = BASE_MIN(bytes / 8, (uint32_t)NAMES_FRAMES_MAX);
	if (n == 0 || pid == 0 || !feed_shows(t->feed, pid, time)) {
		return; /* idle */
	}
	for (uint32_t i = 0; i < n; i++) {
		frames[i] = le64_get(p + (size_t)8 * i);
	}
	if (!stack_fits(t, e, pid, kernel_payload_get32(in, KP_STACK_WALK_STACK_SINCE_V0_THREAD_ID), frames[0])) {
		return;
	}
	t->number++;
	for (uint32_t i = 0; i < n; i++) {
		names_of(&t->names, pid, names_frame(frames, i, true), time, name, sizeof name);
		struct tally_row *r = tally_row(&t->functions, name);
		if (r) {
			r->v[SELF] += i == 0;
			r->v[TOTAL] += r->seen != t->number;
			r->seen = t->number;
		}
	}
}

static void on_event(void *ctx, const EVENT_RECORD *e)
{
	static const struct guid stack_walk = GUID_INIT(ETW_GUID_CLASS_STACK_WALK);
	struct top *t = ctx;
	struct kevent k;
	if (t->want_functions && e->EventHeader.EventDescriptor.Opcode == KP_STACK_WALK_STACK &&
	    memcmp(&e->EventHeader.ProviderId, &stack_walk, sizeof stack_walk) == 0) {
		on_stack(t, e);
		return;
	}
	if (!kevent_of(t->state, e, &k) || k.kind != KEVENT_SAMPLE) {
		return;
	}
	if (k.tid != 0 && !feed_shows(t->feed, k.pid, k.time)) {
		return;
	}
	const struct taken sample = {.process = k.process,
				     .thread = k.thread,
				     .pid = k.pid,
				     .tid = k.tid,
				     .address = k.address,
				     .time = k.time};
	if (!fits(t, e, &sample)) {
		return;
	}
	t->samples++;
	if (k.tid == 0) {
		t->idle++;
		return;
	}
	struct tally_row *r = t->want_processes ? tally_rowf(&t->processes, "%s (%u)", k.process, k.pid) : NULL;
	if (r) {
		r->v[SELF]++;
	}
	char thread[KEVENT_THREAD_SIZE];
	kevent_thread_text(k.process, k.pid, k.tid, k.thread, thread);
	r = t->want_threads ? tally_rowf(&t->threads, "%s", thread) : NULL;
	if (r) {
		r->v[SELF]++;
	}
}

/* ---- showing ---------------------------------------------------------------------------------- */

/* How many lines a table may have. */
static uint64_t room(const struct top *t, const struct cli_screen *screen)
{
	unsigned tables = t->want_processes + t->want_threads + t->want_functions;
	if (screen->rows == 0) {
		return LINES_DEFAULT;
	}
	unsigned used = 2 + tables * (HEAD_LINES + 1);
	return screen->rows > used + tables ? (screen->rows - used) / tables : 1;
}

static void show(struct top *t, double seconds, const struct kernel_stats *now, const struct kernel_stats *before)
{
	static const char *const process[] = {"PROCESS", NULL}, *const thread[] = {"THREAD", NULL},
				 *const function[] = {"FUNCTION", NULL}, *const name[] = {"NAME", NULL};
	static const struct tally_column one[] = {{"%CPU", "percent", TALLY_PERCENT_OF, SELF},
						  {"SAMPLES", "self", TALLY_COUNT, SELF}};
	static const struct tally_column both[] = {{"%CPU", "percentSelf", TALLY_PERCENT_OF, SELF},
						   {"SELF", "self", TALLY_COUNT, SELF},
						   {"%CPU", "percent", TALLY_PERCENT_OF, TOTAL},
						   {"TOTAL", "total", TALLY_COUNT, TOTAL}};
	bool json = t->o->json;
	struct cli_screen screen = cli_screen_now();
	uint64_t top = t->o->top ? t->o->top : room(t, &screen);
	char *text = NULL;
	size_t text_bytes = 0;
	FILE *out = screen.moves && !json ? open_memstream(&text, &text_bytes) : NULL;
	bool paint = out != NULL;
	out = paint ? out : stdout;
	/* As in other tools 100 % is one processor. */
	uint64_t whole = (uint64_t)(seconds * 1e6 / (double)t->interval_us);
	if (!json) {
		char clock[TIME_TEXT_SIZE];
		format_time(feed_filetime(t->feed, clock_read_system_ns()), true, clock);
		clock[strcspn(clock, ".")] = 0;
		char idle[40] = ""; /* whoever sees their own processes only does not see it */
		if (t->idle > 0) {
			snprintf(idle, sizeof idle, ", idle %.1f %%", 100.0 * (double)t->idle / (double)t->samples);
		}
		fprintf(out, "%s  %.1f s, %llu samples%s, lost %llu, this took %.1f %% of a processor\n", clock,
			seconds, (unsigned long long)t->samples, idle, (unsigned long long)(now->lost - before->lost),
			100.0 * (double)(now->cpu_ns - before->cpu_ns) / 1e9 / seconds);
	}
	struct tally_table table = {.title = "processes", .json = "processes", .whole = whole};
	table.parts = json ? name : process;
	table.columns = one;
	table.column_count = 2;
	tally_print(out, &t->processes, &table, top, json);
	table.title = table.json = "threads";
	table.parts = json ? name : thread;
	tally_print(out, &t->threads, &table, top, json);
	table.title = table.json = "functions";
	table.parts = json ? name : function;
	table.columns = both;
	table.column_count = 4;
	table.sort_by = t->o->inclusive ? TOTAL : SELF;
	tally_print(out, &t->functions, &table, top, json);
	if (paint) {
		fclose(out);
		cli_screen_paint(stdout, &screen, text ? text : "");
		free(text);
	} else if (!json) {
		putchar('\n');
	}
	fflush(stdout);
	tally_clear(&t->processes);
	tally_clear(&t->threads);
	tally_clear(&t->functions);
	t->samples = t->idle = 0;
}

static int watch(struct top *t, uint64_t delay_ns, uint64_t iterations)
{
	struct kernel_stats before, now;
	feed_poll(t->feed, 0);
	feed_stats(t->feed, &before);
	uint64_t began = clock_read_system_ns();
	bool enough = false;
	cli_keys_begin();
	for (uint64_t i = 0; (!iterations || i < iterations) && !enough; i++) {
		uint64_t end = began + delay_ns;
		while (!enough && clock_read_system_ns() < end && feed_runs(t->feed)) {
			feed_poll(t->feed, POLL_MS);
			enough = cli_signal_caught() || cli_keys_quit();
		}
		uint64_t at = clock_read_system_ns();
		enough = enough || !feed_runs(t->feed);
		if (enough && at - began < DELAY_MIN_NS) {
			break; /* it would say nothing */
		}
		feed_stats(t->feed, &now);
		show(t, (double)(at - began) / NS_PER_S, &now, &before);
		began = at;
		before = now;
		if (ferror(stdout)) {
			break; /* nobody reads */
		}
		if (!feed_runs(t->feed)) {
			break;
		}
	}
	if (feed_broken_off(t->feed)) {
		fprintf(stderr, "openetw top: the trace session ended unexpectedly, what was lost is not known\n");
		return CLI_FAILED;
	}
	if (iterations && cli_signal_caught()) { /* else that is how it ends */
		cli_interrupt(cli_signal_caught());
	}
	cli_keys_end();
	return CLI_OK;
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, word, n) == 0 && (p[n] == 0 || p[n] == ',')) {
			return true;
		}
	}
	return false;
}

static int run(struct cli_args *a)
{
	const struct top_options *o = a->given;
	struct top t = {.o = o, .interval_us = o->interval_us};
	struct kernel_session session = {.children = true};
	const char *show_only = o->show;
	if (a->count) {
		return cli_usage(a, "no words are expected, such as '%s'", a->words[0]);
	}
	for (int i = 0; i < o->pid.count; i++) {
		if (!cli_process_exists(a, o->pid.number[i])) {
			return CLI_FAILED;
		}
		session.pid[session.pids++] = (uint32_t)o->pid.number[i];
	}
	t.want_processes = !show_only || has_word(show_only, "processes");
	t.want_threads = !show_only || has_word(show_only, "threads");
	t.want_functions = !show_only || has_word(show_only, "functions");
	if (!t.want_processes && !t.want_threads && !t.want_functions) {
		return cli_usage(a, "--show takes processes, threads and functions");
	}
	kernel_mask_set(&session.mask,
			KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER | KERNEL_BIT_NO_SYSCONFIG);
	kernel_mask_set(&session.mask, KERNEL_BIT_PROFILE);
	if (t.want_functions) {
		kernel_session_stack(&session, HOOK_SAMPLE);
	}
	if (!cli_filter_expr(a, o->filter, top_names, &t.filter)) {
		return CLI_USAGE;
	}
	t.state = openetw_state_create(0);
	if (!t.state) {
		filter_expr_destroy(t.filter);
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot begin");
	}
	t.names.state = t.state;
	t.names.kernel = t.want_functions || t.filter ? cli_kallsyms_load(clock_boot_filetime()) : NULL;
	cli_signals_catch();
	t.feed = feed_open(a, &session, (uint32_t)t.interval_us, t.state, on_event, &t);
	int status = t.feed                ? watch(&t, o->delay_ns, o->iterations)
		     : cli_signal_caught() ? 128 + cli_signal_caught()
					   : CLI_FAILED;
	feed_close(t.feed);
	cli_signals_restore();
	tally_free(&t.processes);
	tally_free(&t.threads);
	tally_free(&t.functions);
	cli_kallsyms_free(t.names.kernel);
	cli_state_end(t.state);
	if (filter_expr_given_up(t.filter)) {
		fprintf(stderr, "openetw top: ");
		cli_filter_given_up(t.filter);
		status = CLI_FAILED;
	}
	filter_expr_destroy(t.filter);
	return status;
}

const struct cli_command cli_top = {
	.name = "top",
	.synopsis = "[-d DELAY] [-n ITERATIONS] [--pid PID] [options]",
	.summary = "What the processors are doing now, by process, thread and function.",
	.details =
		"Samples every processor and shows where they were, again and again; functions of programs need "
		"neither\n"
		"frame pointers nor debug information, only symbols. 100 % is one processor. Takes root, or "
		"CAP_PERFMON;\n"
		"others see their own processes where root runs the etwd of all users and lets them use its socket.\n"
		"On a terminal the key q ends it, as Ctrl-C does. Into a file or a pipe it writes the tables one after "
		"the other.\n\n"
		"Examples:\n"
		"  openetw top\n"
		"  openetw top --pid 4711 --show functions --inclusive\n"
		"  openetw top --filter 'process ~ \"postgres*\" and cpu == 3'\n"
		"  openetw top -d 1s -n 1 --json | jq -c 'select(.table == \"functions\")'\n",
	.options = options,
	CLI_INTO(top_options),
	.defaults = &(const struct top_options){.delay_ns = DELAY_NS, .interval_us = 1000},
	.run = run,
};
