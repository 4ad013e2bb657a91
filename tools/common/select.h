/* SPDX-License-Identifier: MIT
 *
 * Which events a verb looks at.
 */
#ifndef TOOLS_COMMON_SELECT_H
#define TOOLS_COMMON_SELECT_H

#include "tools/common/cli.h"

#include <evntcons.h>
#include <evntrace.h>

struct cli_view;

struct cli_select_options {
	const char *filter;
	struct cli_words provider, event, process;
	struct cli_numbers pid, tid;
	struct cli_level level;
	struct cli_time from, to;
};
#define CLI_SELECT_EACH_MAX 32
#define CLI_SELECT_OPTIONS(T, m)                                                                                   \
	CLI_WORD(T, m.filter, 'F', "filter", "EXPR",                                                               \
		 "only events for which EXPR is true, such as 'pid == 7 and Name ~ \"x\"'"),                       \
		CLI_WORDS(T, m.provider, 'p', "provider", "P",                                                     \
			  "only this provider: name, GUID or *Name (repeatable)"),                                 \
		CLI_SCHEMA('M', "manifest",                                                                        \
			   "decode with this .man, .dll, .exe, .mui, .tmf or .etwcat too (repeatable)"),           \
		CLI_WORDS(T, m.event, 'e', "event", "E",                                                           \
			  "only this event: name, its last part, pattern or id (repeatable)"),                     \
		CLI_WORDS(T, m.process, 0, "process", "NAME",                                                      \
			  "only processes of this name or pattern, .exe may be left out (repeatable)"),            \
		CLI_NUMBERS(T, m.pid, 0, "pid", "PID", 0, UINT64_MAX, CLI_SELECT_EACH_MAX,                         \
			    "only this process (repeatable)"),                                                     \
		CLI_NUMBERS(T, m.tid, 0, "tid", "TID", 0, UINT64_MAX, CLI_SELECT_EACH_MAX,                         \
			    "only this thread (repeatable)"),                                                      \
		CLI_LEVEL(T, m.level, 'l', "level", "only this level and more severe ones"),                       \
		CLI_TIME(T, m.from, 0, "from", "from this time on: 2026-01-31T12:00:00, or +1.5s from the start"), \
		CLI_TIME(T, m.to, 0, "to", "up to this time, written likewise")

/* Does --process mean a process of that name? Of its name or a pattern; ".exe" may be left out. */
bool cli_process_is(const char *wanted, const char *name, size_t n);

struct cli_select;
/* `o` is borrowed. NULL: said why */
struct cli_select *cli_select_create(const struct cli_args *a, const struct cli_select_options *o);
void cli_select_destroy(struct cli_select *s);
/* --pid that was given to choose what a provider sends selects too. Prints the mistake. */
bool cli_select_pids(const struct cli_args *a, const struct cli_words *pids, struct cli_select_options *inout);
/* By how much local time was ahead of UTC then, in 100 ns. */
int64_t cli_ahead_of_utc(uint64_t filetime);
/* For those who watch what goes on: names in --filter that look like those of properties. On stderr. */
void cli_select_hint(const struct cli_args *a, const struct cli_select *s);
/* Times of day in --filter are those of this machine's zone, not of UTC. */
void cli_select_set_local(struct cli_select *s, bool local);
/* Does --filter ask for call stacks? Then the state has to keep them. */
bool cli_select_asks_stack(const struct cli_select *s);
/* Does it ask for what no event says by itself: names of processes, threads and files, stacks? */
bool cli_select_needs_state(const struct cli_select *s);
/* At the end: says how often a regular expression was given up. Returns the status for the end of the verb. */
int cli_select_finish(const struct cli_args *a, const struct cli_select *s, int status);
/* Does it ask for durations? Then it has to see all events from the beginning of the trace, and how many ticks a second the
 * trace's clock has. cli_trace_run() does both. */
bool cli_select_asks_duration(const struct cli_select *s);
void cli_select_set_ticks(struct cli_select *s, uint64_t per_second);
/* Relative times count from here. False when the range is empty. */
bool cli_select_set_start(struct cli_select *s, uint64_t start_filetime);
uint64_t cli_select_from(const struct cli_select *s);
uint64_t cli_select_to(const struct cli_select *s); /* UINT64_MAX: no end */
/* Does it ask for what only a state knows of some events? */
bool cli_select_names_process(const struct cli_select *s);
/* Does --event say which? */
bool cli_select_names_events(const struct cli_select *s);
bool cli_select_match(struct cli_select *s, struct cli_view *v, const EVENT_RECORD *e);
/* The i-th thing that it asks for by name or number. */
enum cli_asked_kind {
	CLI_ASKED_PROVIDER,
	CLI_ASKED_EVENT,
	CLI_ASKED_PROCESS,
	CLI_ASKED_PID,
	CLI_ASKED_TID,
	CLI_ASKED_FIELD, /* of --filter, and of --fields */
};
struct cli_asked {
	enum cli_asked_kind kind;
	const char *text; /* NULL: a number */
	uint64_t number;
	bool payload;    /* a field, and no property */
	bool seen;       /* some event had it */
	uint32_t column; /* of a field in --filter; 0: not of --filter */
	bool looked;     /* of a field in --filter: some event was asked for it, what stands before it did not decide */
};
bool cli_select_asked(const struct cli_select *s, unsigned i, struct cli_asked *ret);
/* Has this event that one thing, whatever else is asked for? */
bool cli_select_has(const struct cli_asked *k, struct cli_view *v, const EVENT_RECORD *e);
/* Only what is said by --level, --from and --to; false when none of them is given. */
bool cli_select_bounds(const struct cli_select *s);
#endif
