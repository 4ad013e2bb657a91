/* SPDX-License-Identifier: MIT
 *
 * The parts of the xperf verb: cmd_xperf.c options and lists, xperf_sessions.c its sessions,
 * xperf_kernel.c what it asks of the kernel; xperf_read.c the command line of reports, xperf_dumper.c
 * events as its text, xperf_action.h the other reports.
 */
#ifndef TOOLS_WPT_XPERF_H
#define TOOLS_WPT_XPERF_H

#include "tools/common/session_start.h"
#include "etw/values/session_names.h"

#include <stdio.h>

#define XPERF_SCOPES_MAX  16
#define XPERF_SPECS_MAX   64
#define XPERF_FLUSHES_MAX 64
#define XPERF_KERNEL      KERNEL_LOGGER_NAMEA

/* One session of a command line; the first is the kernel's. */
struct xperf_scope {
	const char *name, *on, *file, *file_mode, *clock, *stack, *pids, *state;
	uint64_t buffer_kb, min, max, max_file, flush;
	bool realtime, buffering, kernel;
	char stacks[2048]; /* of several -StackWalk, joined; `stack` points to it */
	TRACEHANDLE handle;
};
/* What its command line says. */
struct xperf_flush {
	const char *session, *file; /* NULL: its own */
};
struct xperf_options {
	struct {
		struct xperf_scope at[XPERF_SCOPES_MAX];
		int count;
		bool first; /* nothing belongs to the kernel's scope yet */
	} scopes;
	struct {
		struct xperf_flush at[XPERF_FLUSHES_MAX];
		int count;
	} flushes;
	struct cli_verb verb;
	struct cli_words intervals; /* -SetProfInt */
	const char *to, *output, *pmc, *pmc_profile, *refused;
	bool on, start, max_buffers, partial, compress, explain;
};
struct xperf {
	struct cli_args *a;
	const struct xperf_options *o;
	struct xperf_scope scope[XPERF_SCOPES_MAX];
	int count;
};
/* Where the scope's options go: each to the scope that is being described, given as `scopes` or `flushes`. */
cli_take_fn xperf_take_start, xperf_take_text, xperf_take_stack, xperf_take_number, xperf_take_flag, xperf_take_file,
	xperf_take_flush;
#define XPERF_KERNEL_SCOPE                                                                   \
	{                                                                                    \
		.name = XPERF_KERNEL, .kernel = true, .buffer_kb = 64, .min = 64, .max = 320 \
	}

/* ---- xperf_sessions.c; they print mistakes and give an exit status ----------------------------- */

/* All but its providers. */
void xperf_describe(const struct xperf_scope *s, struct etw_session *ret);
int xperf_start(struct xperf *x);
int xperf_stop(struct cli_args *a);
int xperf_stop_one(struct cli_args *a, const char *name, char **ret_file); /* its file, or NULL */
int xperf_merge(struct cli_args *a, int count, char **files, const char *to);
/* What -on says, in a session. */
int xperf_enable(struct cli_args *a, const struct xperf_scope *s, TRACEHANDLE h);
int xperf_capture(struct cli_args *a, const char *session, TRACEHANDLE h, const char *specs);

/* ---- names and text ----------------------------------------------------------------------------- */

/* -on, -StackWalk and -pids of the kernel's scope. CLI_OK, or printed why. */
int xperf_kernel_wish(const struct cli_args *a, const struct xperf_scope *s, struct session_kernel *ret,
		      struct cli_counters *counters);
/* -SetProfInt SOURCE N, repeatable, as sources with intervals; -SetProfInt N, that of the timer in 100 ns (0: not
 * said). False: told what is wrong. */
bool xperf_intervals(const struct cli_args *a, struct cli_counters *c);
bool xperf_timer(const struct cli_args *a, uint32_t *ret);
/* To the machine. */
uint32_t xperf_set_intervals(uint32_t timer, const struct cli_counters *c);
/* -boottrace FLAGS|off. */
int xperf_boot(struct xperf *x);
/* ---- reports: xperf_read.c, xperf_action.h --------------------------------------------------------- */

/* Is this the command line of a report: has it an -i? */
bool xperf_is_report(const struct cli_args *a);
int xperf_report(struct cli_args *a);
/* One action for another verb, with its options. */
int xperf_one_report(struct cli_args *a, const char *action, int word_count, char **words, int count, char **files,
		     FILE *to);

/* The dumper: which files, what of them, and where to. */
struct xperf_read {
	struct cli_args *a;
	int count;
	char **files;
	FILE *to;
	bool ranged; /* only from_us to to_us from the start */
	uint64_t from_us, to_us;
	const GUID *only; /* of these providers, when there are any */
	size_t only_count;
	bool raw_data; /* the bytes too */
	bool whole;    /* out: all is dumped */
};
int xperf_dump(struct xperf_read *r);
/* When a file begins, as FILETIME; 0: it cannot be opened. */
uint64_t xperf_start_of(const struct cli_args *a, const char *path);

#endif
