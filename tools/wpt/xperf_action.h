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
#include "tools/common/winargs.h"
#include "tools/common/trace_reading.h"
#include "tools/wpt/xperf.h"

#include <openetw/decode.h>
#include <openetw/state.h>
#include <stdio.h>

struct xperf_job;

struct xperf_action {
	const char *name;
	const char *summary;
	const struct cli_option *options; /* NULL: none but -range */
	/* Names of the events it takes, separated by blanks, such as "Thread/CSwitch DiskIo/ *" (without
	 * the blank before the star). NULL: all events, also those of which nobody knows a name. */
	const char *events;
	/* The flags to record to have them, or ":" and how else; NULL: nothing on this system writes them. */
	const char *source;
	size_t own;                         /* bytes of the action's own state, zeroed */
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
	const struct winargs *w; /* the action's own options */
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
	void *own;
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

/* Times ("1.5s", "20ms", bare microseconds, "2026/11/22:10:30:00.5[+UTC]") and spans of time (the
 * same without dates, or "20:05:20.5"; bare numbers are of unit_ns). They print the mistake. */
bool xperf_time(const struct xperf_job *j, const char *option, const char *text, double *ret_us);
bool xperf_span(const struct xperf_job *j, const char *option, const char *text, uint64_t unit_ns, double *ret_us);
/* "-util [n]": seconds, 1 without a number. False: said why. *ret 0 when the option is absent. */
bool xperf_seconds(const struct xperf_job *j, const char *option, double fallback_s, double *ret_us);

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

/* The tables of xperf_act_*.c, each ended by an entry without a name. */
extern const struct xperf_action xperf_cpu_actions[], xperf_dpcisr_actions[], xperf_disk_actions[],
	xperf_file_actions[], xperf_process_actions[], xperf_stack_actions[], xperf_heap_actions[],
	xperf_config_actions[], xperf_trace_actions[], xperf_boot_actions[], xperf_list_actions[];

#endif
