/* SPDX-License-Identifier: MIT
 *
 * Inside tracelog: cmd_tracelog.c has the actions, tracelog_options.c makes a session and filters
 * of the options, tracelog_show.c prints.
 */
#ifndef TOOLS_CLASSIC_TRACELOG_H
#define TOOLS_CLASSIC_TRACELOG_H

#include "tools/common/session_options.h"
#include "tools/common/session_control.h"

struct tracelog_guid {
	bool given;
	struct guid guid;
};
/* -EventIdFilter and -StackWalkFilter */
struct tracelog_ids {
	bool given, in;
	uint32_t count;
	uint16_t id[64];
};
struct tracelog_options {
	struct cli_verb verb;
	struct tracelog_layout {
		uint32_t mode; /* EVENT_TRACE_*_MODE of all options that have one */
		uint32_t max_size;
	} layout;
	struct tracelog_timer {
		uint32_t time;
		bool ms;
	} flush_timer;
	struct tracelog_kernel {
		struct session_kernel wish;
		bool flags, help; /* -eflag, and with Help */
	} kernel;
	struct tracelog_interval {
		uint64_t interval; /* 0: not given */
		const char *source;
	} interval;
	struct tracelog_ids event_ids, stack_ids;
	struct tracelog_pids {
		uint32_t count;
		ULONG pid[8];
	} pids;
	struct tracelog_guid session_guid, source_guid;
	struct cli_words guids;
	uint64_t buffer_kb, min, max, timeout;
	uint64_t level, any, all, properties;
	uint32_t clocks; /* 1 << number */
	uint32_t kernel_on, kernel_off;
	const char *file, *exe, *pmc, *sources;
	bool providers, list_sources, explain;
};
extern const struct cli_option tracelog_option_table[];
extern const struct tracelog_options tracelog_defaults;

/* The session that the options describe. They print the mistake. */
bool tracelog_describe(const struct cli_args *a, const char *name, struct etw_session *s);
/* -guid with -level, -flag and so on. */
bool tracelog_providers(const struct cli_args *a, struct etw_session *s);

/* -Pmc and -ProfileSource, and what they add to -eflag and -stackwalk. They print the mistake. */
bool tracelog_kernel(const struct cli_args *a, struct session_kernel *ret, struct cli_counters *counters);
/* "SOURCE,SOURCE": what samples are taken by. */
bool tracelog_sources(const struct cli_args *a, const char *text, struct cli_counters *c);

/* -EventIdFilter and its kin, for every provider of *s. They print the mistake. */
bool tracelog_filters(const struct cli_args *a, struct etw_session *s);
/* The same, of options that were looked at, for a private session as a whole. */
void tracelog_scope(const struct cli_args *a, struct launch_filters *ret);

/* The status line of a failure; `what` may be NULL. Returns CLI_FAILED. */
int tracelog_fail(uint32_t code, const char *what);
/* The block of a session. */
void tracelog_show(const struct cli_props *p);
int tracelog_query(const char *name, bool providers);
/* All sessions; or stop them all. */
int tracelog_list(bool providers, bool stop);
int tracelog_guids(void);
int tracelog_guids_of_processes(const struct cli_args *a, const char *guid);

#endif
