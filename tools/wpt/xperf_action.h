/* SPDX-License-Identifier: MIT
 *
 * xperf -i FILE -a ACTION: what an action is. Each reads the files once, takes the events it asks for,
 * and prints a report at the end. xperf_read.c parses the command line and xperf_job.c runs one
 * action; the actions stand in xperf_act_*.c, each file ends in their table entries.
 *
 * Times are microseconds from the start of the trace.
 */
#ifndef TOOLS_WPT_XPERF_ACTION_H
#define TOOLS_WPT_XPERF_ACTION_H

#include "base/map.h"
#include "tools/common/trace_reading.h"
#include "tools/wpt/xperf.h"

#include <openetw/decode.h>
#include <openetw/state.h>
#include <regex.h>
#include <stdio.h>

struct xperf_job;

struct xperf_action {
	const char *name;
	const char *summary;
	const struct cli_option *options; /* into its own state, which begins with `defaults`; NULL: none but -range */
	const void *defaults;             /* XPERF_DEFAULTS; NULL: all zero */
	size_t defaults_bytes;
	/* Names of the events it takes, separated by blanks, such as "Thread/CSwitch DiskIo/ *" (without
	 * the blank before the star). NULL: all events, also those of which nobody knows a name. */
	const char *events;
	/* The flags to record to have them, or ":" and how else; NULL: nothing on this system writes them. */
	const char *source;
	size_t own;                         /* bytes of the action's own state, zeroed but for its options */
	bool (*begin)(struct xperf_job *j); /* false: said what is wrong with the options; may be NULL */
	void (*event)(struct xperf_job *j);
	void (*end)(struct xperf_job *j);
	void (*release)(struct xperf_job *j); /* may be NULL */
	bool stacks;                          /* it asks for call stacks */
	bool own_range;                       /* it sees events outside of -range too, and applies that itself */
	bool no_events;                       /* event may be NULL: headers are enough */
	const char *refused;                  /* the reason why there is no such report here; nothing else counts */
};
/* NULL: there is none of that name. */
const struct xperf_action *xperf_action_find(const char *name);
/* The i-th name, for suggestions and help; NULL at the end. */
const char *xperf_action_name(const void *unused, int i);

struct xperf_job {
	struct cli_args *a;
	const struct xperf_action *action;
	int word_count; /* of its options */
	char **words;
	int count;
	char **files;
	FILE *out;
	bool ranged;
	double from_us, to_us; /* of -range; everything when there is none */
	/* What the headers say. */
	struct cli_trace *trace;
	const TRACE_LOGFILE_HEADER *header; /* of the first file */
	uint64_t start, start_raw, frequency;
	double length_us;
	uint32_t cpus;
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	/* The event at hand. */
	const EVENT_RECORD *e;
	const char *name; /* "Thread/CSwitch"; "" where nobody knows */
	uint64_t time;
	double us;
	struct openetw_event_origin origin;
	struct strbuf store, key; /* fields; a scratch text for the action */
	struct {
		size_t name, text;
	} fields[48];
	size_t field_count;
	bool decoded;
	uint64_t taken;
	void *own;   /* lives as long as the program, as options do */
	bool failed; /* memory ran out */
	bool whole;  /* the report is there */
};

/* A field of the event at hand as text ("" when it has none of this name) and as a number. */
const char *xperf_text(struct xperf_job *j, const char *name);
uint64_t xperf_number(struct xperf_job *j, const char *name);
/* When the operation began that an event tells at its end: InitialTime, in ticks. */
double xperf_begun_us(struct xperf_job *j);
double xperf_ticks_us(const struct xperf_job *j, uint64_t ticks);
uint32_t xperf_cpu(const struct xperf_job *j);
/* The part of from..to that lies in -range. */
double xperf_in_range(const struct xperf_job *j, double from, double to);
/* Appends "name.exe (1234)" of the process of a thread; idle is process 0. Returns its id. */
uint32_t xperf_thread_process(struct xperf_job *j, uint32_t tid, struct strbuf *b);
/* Empties j->key and writes the process that logged the event into it. */
void xperf_key_process(struct xperf_job *j);
/* Text in quotes where a comma, a quote or a blank is in it. */
void xperf_quote(struct strbuf *b, const char *s);
/* Name of the module at an address, "Unknown" where nobody knows. */
const char *xperf_module(struct xperf_job *j, uint32_t pid, uint64_t address);

/* ---- options of actions: xperf_options.c ---------------------------------------------------------- */

#define XPERF_DEFAULTS(type, ...) .defaults = &(const struct type){__VA_ARGS__}, .defaults_bytes = sizeof(struct type)

/* Times behind an option, in µs */
struct xperf_times {
	int count;
	double us[64];
};
struct xperf_regexes {
	int count;
	regex_t *re;
};
/* The reports and their options, for help. */
bool xperf_topic(int i, struct cli_topic *ret);
/* Makes j->own and reads the action's words into it; they may name times of day, for which j->start has to be known.
 * Prints the mistake. */
bool xperf_options_read(struct xperf_job *j, int count, char **words);
cli_take_all_fn xperf_take_range;
cli_take_fn xperf_take_time /* double */, xperf_take_span, xperf_take_spans, xperf_take_interval, xperf_take_regex;
/* Without any, everything matches. */
bool xperf_regexes_match(const struct xperf_regexes *r, const char *text);
void xperf_regexes_finish(struct xperf_regexes *r);
bool xperf_numbers_have(const struct cli_numbers *n, uint64_t v);

#define XPERF_RANGE                                                                 \
	{                                                                           \
		.name = "range", .arg = "FROM TO", .take_all = xperf_take_range,    \
		.help = "only these times from the start: 1.5s, 20ms, microseconds" \
	}
/* double, in µs: "[SECONDS]", so many when it is left out */
#define XPERF_INTERVAL(type, member, seconds, name_, help_)                                    \
	{                                                                                      \
		.name = name_, .arg = "[SECONDS]", .help = help_, .take = xperf_take_interval, \
		.offset = CLI_AT(type, member, double), .bare = seconds                        \
	}
/* double, in µs: bare numbers are of unit_ns; nothing changes when a value in brackets is left out */
#define XPERF_SPAN(type, member, name_, arg_, unit_ns, help_)                       \
	{                                                                           \
		.name = name_, .arg = arg_, .help = help_, .take = xperf_take_span, \
		.offset = CLI_AT(type, member, double), .unit = unit_ns             \
	}
/* struct xperf_times: growing, in seconds */
#define XPERF_SPANS(type, member, name, arg, help) \
	CLI_OWN(type, member, struct xperf_times, xperf_take_spans, 0, name, arg, help)
#define XPERF_REGEXES(type, member, name, help) \
	CLI_OWN(type, member, struct xperf_regexes, xperf_take_regex, 0, name, "REGEX…", help)
#define XPERF_IDS(type, member, name, arg, help) CLI_NUMBERS(type, member, 0, name, arg, 0, UINT32_MAX, 1024, help)

/* ---- sums by name ------------------------------------------------------------------------------ */

#define XPERF_SUMS 10
struct xperf_sum {
	char *key;
	double v[XPERF_SUMS];
	uint64_t tag; /* the action's */
};
struct xperf_sums {
	struct xperf_sum *list; /* as they came, until xperf_sums_sort */
	size_t count, cap;
	struct map places; /* by key */
};
/* The sum of that name, made when it is new; valid until the next one is made. NULL when memory runs out (j->failed).
 */
struct xperf_sum *xperf_sum(struct xperf_job *j, struct xperf_sums *s, const char *key);
/* By v[by] and, where that is equal, by name; by < 0: by name only. The last call: names are not found any more. */
void xperf_sums_sort(struct xperf_sums *s, int by);
void xperf_sums_finish(struct xperf_sums *s);

/* ---- a value for each interval and processor ---------------------------------------------------- */

struct xperf_grid {
	double step_us, from_us, to_us;
	size_t rows, columns;
	double *cell;
};
/* Over -range or the whole trace. False: too fine, said so, or no memory. */
bool xperf_grid_make(struct xperf_job *j, struct xperf_grid *g, double step_us, size_t columns);
/* Adds the time from..to to the intervals it lies in. */
void xperf_grid_add(struct xperf_grid *g, size_t column, double from, double to);
void xperf_grid_finish(struct xperf_grid *g);

/* ---- operations that interrupted a processor ---------------------------------------------------- */

/* How much of the time since `reset` they took, those inside others once. */
#define XPERF_NESTED 32
struct xperf_interrupts {
	double total;
	struct {
		double from, to;
	} last[XPERF_NESTED];
	unsigned count;
};
void xperf_interrupts_add(struct xperf_interrupts *i, double from, double to);

bool xperf_is_dpc(const char *name);
bool xperf_is_isr(const char *name);
#define XPERF_DPC_EVENTS \
	"PerfInfo/DPC PerfInfo/ThreadedDPC PerfInfo/TimerDPC PerfInfo/ISR PerfInfo/ISR_MSI PerfInfo/ISR_PASS"

/* ---- running -------------------------------------------------------------------------------------- */

/* Exit status; *ret_whole: the report is there. `words` are the action's options, count of them. */
int xperf_job_run(struct cli_args *a, const struct xperf_action *action, int word_count, char **words, int count,
		  char **files, FILE *out, bool quiet, bool *ret_whole);
/* Calls `each` for the events of these names in another pass over the files, before or after the job's own. */
bool xperf_pass(struct xperf_job *j, const char *events, void (*each)(struct xperf_job *sub, void *ctx), void *ctx);

extern const struct xperf_action xperf_dumper; /* xperf_read.c; in no table */
/* The tables of xperf_act_*.c, each ended by an entry without a name. */
extern const struct xperf_action xperf_cpu_actions[], xperf_dpcisr_actions[], xperf_disk_actions[],
	xperf_file_actions[], xperf_process_actions[], xperf_stack_actions[], xperf_heap_actions[],
	xperf_config_actions[], xperf_trace_actions[], xperf_boot_actions[], xperf_list_actions[];

#endif
