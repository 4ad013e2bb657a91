/* SPDX-License-Identifier: MIT
 * Shared by the files of the verb report.
 */
#ifndef TOOLS_OPENETW_REPORT_H
#define TOOLS_OPENETW_REPORT_H

#include "tools/common/select.h"
#include "tools/tables/kernel_event.h"
#include "tools/tables/function_names.h"
#include "tools/common/tally.h"
#include "tools/common/counters_of.h"
#include "tools/common/shortage.h"
#include "tools/common/event_view.h"
#include "tools/openetw/report_cause.h"
#include "tools/tables/table_option.h"

#define REPORT_WAITS_KEPT 64
#define REPORT_PIDS_MAX   32
#define REPORT_CPUS_MAX   1024

struct waker { /* what ended a wait */
	bool told;
	uint8_t by; /* enum kevent_waker; not a thread: the rest is who was interrupted by it */
	uint32_t pid, tid;
	const char *process, *thread;
};
struct wait {
	uint64_t length, part; /* 100 ns; part: what of it lies in the range */
	bool begins;           /* in the range */
	uint32_t pid, tid;
	uint8_t reason;
	const char *process, *thread;
	struct waker waker;
};
struct report_thread {             /* what is known of a thread while it waits or is in the kernel */
	struct waker waker, early; /* early: while it ran; on another processor the end may come before the beginning */
	uint64_t early_time;
	uint64_t since; /* 0: runs */
	uint8_t reason, state;
	uint64_t call, call_time; /* system call: its handler, when it began; 0: none */
	bool call_counted;
};

struct report_op {                  /* on a file, until its end is told */
	uint64_t irp;               /* 0: none */
	const char *process, *file; /* names of rows, which stay where they are */
	enum kevent_op op;
	bool twice; /* told again: with its path, or a Cleanup as a Close */
	bool counted;
	uint64_t asked;
};
struct report_ops;

struct report_counted { /* of a processor: its counters at the last switch */
	bool there;
	uint64_t value[COUNTERS_OF_MAX];
};

struct report_options {
	uint64_t top;
	struct cli_numbers pid;
	const char *filter, *folded, *speedscope, *html;
	bool off_cpu, events, no_inlines, json, csv, explain;
	struct table_options tables;
};
struct report {
	const struct cli_args *args;
	const struct report_options *o;
	struct openetw_state *state;
	struct filter_expr *filter;  /* NULL: everything */
	struct durations *durations; /* NULL: the filter does not ask for any */
	bool took_known;
	uint64_t took;    /* ns: what the event ends took */
	uint64_t fitting; /* events for which the filter was true, of those that a table counts */
	struct cli_shortages shortages;
	struct names names;
	struct causes *causes; /* NULL: not wanted */
	bool pid_seen[REPORT_PIDS_MAX];
	bool name_seen;    /* a process of a name that was asked for */
	uint64_t from, to; /* FILETIMEs, both included */
	uint64_t ticks_per_second;
	struct tally processes, threads, functions, stacks, off_stacks;
	struct tally disk_processes, disk_files, file_processes, files, connections, faults, fault_files, calls,
		waits_by_thread, waits_by_waker;
	struct report_ops *ops;
	uint64_t ops_ended, ops_without_end;
	uint64_t samples, idle, switches, events;
	uint64_t switches_lost;           /* or other things */
	uint64_t all_switches;            /* whoever was asked for */
	uint64_t gaps;                    /* switches away from a thread that the one before had not brought there */
	uint64_t on_cpu[REPORT_CPUS_MAX]; /* thread + 1; 0: not known */
	struct report_thread *thread;
	size_t thread_count, thread_cap;
	struct map thread_of; /* by tid */
	struct wait waits[REPORT_WAITS_KEPT];
	size_t wait_count;
	struct counters_of counters;
	struct report_counted *counted;
	uint32_t counted_cap, counters_count;
	struct tally counted_processes, pmc_functions;
	struct tally op_names;              /* of operations that are not over */
	struct tally app_stacks, app_names; /* of events of applications: the stacks, the events that have them */
	uint64_t other_events, app_with_stack;
	struct openetw_decoder *decoder;
	struct cli_view *view;
	struct {
		uint32_t id;
		char name[48];
	} source[64]; /* of samples */
	uint32_t source_count;
	uint64_t pmc_samples;
	struct strbuf line;
	bool wakers;  /* the trace has wake-ups */
	bool off_cpu; /* stacks of waits are wanted */
	bool failed;  /* out of memory */
};

/* Is it of a process and a thread that somebody asked for? `process`: its name; OPENETW_UNKNOWN_ID: nobody knows the
 * thread. */
bool report_whose(struct report *r, uint32_t pid, uint32_t tid, const char *process);
/* And did it begin (a FILETIME) at a time that somebody asked for? */
bool report_wanted(struct report *r, uint32_t pid, uint32_t tid, const char *process, uint64_t begin);
/* Of the time alone. */
static inline bool report_in_range(const struct report *r, uint64_t begin)
{
	return begin >= r->from && begin <= r->to;
}
/* How much of an interval lies in that range; both are FILETIMEs. */
uint64_t report_part(const struct report *r, uint64_t from, uint64_t until);

bool report_filter_create(struct report *r); /* false: no memory */
void report_filter_start(struct report *r, const TRACE_LOGFILE_HEADER *h);
/* Every event, before anything else is done with it. */
void report_filter_event(struct report *r, const EVENT_RECORD *e);
/* Is the filter true of the event? `ns`: how long it took what it ends; NULL: what the event itself says. */
bool report_fits(struct report *r, const EVENT_RECORD *e, const uint64_t *ns);
void report_filter_print(const struct report *r);       /* which tables cannot obey the filter */
int report_filter_finish(struct report *r, int status); /* returns the status */

struct report_thread *report_thread(struct report *r, uint32_t tid); /* NULL: no memory */
/* "process (pid);outermost;…;innermost" of the event, in r->line; `interrupted` as in names_frame(). False: no stack. */
bool report_stack_line(struct report *r, const EVENT_RECORD *e, uint32_t pid, const char *process, uint64_t time,
		       bool interrupted);

void report_sample(struct report *r, const EVENT_RECORD *e, const struct kevent *k);
void report_switch(struct report *r, const EVENT_RECORD *e, const struct kevent *k);
void report_losses(struct report *r, const EVENT_RECORD *e); /* of switches */
void report_ready(struct report *r, const struct kevent *k);
/* Disk, file, net, faults, system calls. */
void report_io(struct report *r, const EVENT_RECORD *e, const struct kevent *k);

/* The same operation as before, told once more. */
bool report_op_again(struct report *r, const struct kevent *k);
/* It begins: of a process and a file, by names that stay where they are. `counted`: it is in the tables. */
void report_op_begin(struct report *r, const struct kevent *k, const char *process, const char *file, bool counted);
bool report_op_end(struct report *r, const struct kevent *end, struct report_op *ret); /* false: unknown */
uint64_t report_ops_open(const struct report *r); /* reads and writes whose ends were not told */
void report_ops_free(struct report *r);

/* Names that the trace tells once; values at a switch; a sample by a counter. */
void report_learn(struct report *r, const EVENT_RECORD *e);
void report_counters(struct report *r, const EVENT_RECORD *e, const struct kevent *k);
void report_pmc_sample(struct report *r, const EVENT_RECORD *e, const struct kevent *k);

/* Not the kernel's: counts when it has a stack. */
bool report_app_create(struct report *r); /* false: no memory */
void report_app(struct report *r, const EVENT_RECORD *e);
void report_app_free(struct report *r);
void report_print_app(struct report *r, uint64_t top, bool json);
/* Those that are wanted for other programs; speedscope's name of what they count; what is to be said when there are none. */
const struct tally *report_stacks(const struct report *r, const char **ret_unit, const char **ret_none);

void report_print_pmc(struct report *r, uint64_t top, bool json);
void report_print_cpu(struct report *r, uint64_t top, bool json);
void report_print_waits(struct report *r, uint64_t top, bool json);
void report_print_io(struct report *r, uint64_t top, bool json);
void report_free(struct report *r);

/* Stacks and their weights. errno. */
/* Stacks for other programs; false: said why. */
bool report_write_folded(const struct cli_args *a, const struct tally *stacks, const char *path);
bool report_write_speedscope(const struct cli_args *a, const struct tally *stacks, const char *path, const char *name,
			     const char *unit);

#endif
