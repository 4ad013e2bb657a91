/* SPDX-License-Identifier: MIT
 *
 * The one way in which the tools start sessions: words become a struct etw_session (session/session.h), and
 * cli_session_start() does what it says with src/launch, and prints what went wrong.
 */
#ifndef TOOLS_COMMON_SESSION_START_H
#define TOOLS_COMMON_SESSION_START_H

#include "tools/common/kernel_options.h"
#include "tools/common/session_options.h"
#include "session/session.h"
#include "session/session_modes.h"

/* How to start it. All zero is the ordinary way. */
struct cli_session_how {
	const struct cli_args *args; /* who says with cli_fail() what went wrong; NULL: the caller does */
	const char *cannot;          /* what a refused start is called; NULL: "cannot start 'NAME'" */
	const char *tool;            /* says on stderr what is not recorded of the kernel, and which providers nobody
				      * has registered; NULL: says nothing */
	const struct cli_counters *counters; /* with kernel events; may be NULL */
	/* Private sessions: in which processes. Filters of other kinds are left out. */
	const EVENT_FILTER_DESCRIPTOR *scope;
	ULONG scope_count;
	uint32_t enable_ms; /* what a provider may take to take notice; 0: 5 seconds */
	bool late_is_fine;  /* one that takes longer is enabled all the same, and that is enough */
	bool late_is_told;  /* and `tool` says so */
	bool ours;          /* it ends with this program, also when that is killed */
	/* The session runs, and no provider is enabled yet; may be NULL. */
	void (*begun)(void *ctx, TRACEHANDLE session);
	void *ctx;
};
/* What came of it. */
struct cli_session_run {
	TRACEHANDLE handle; /* 0: nothing runs */
	struct cli_props props;
	const struct session_provider *refused; /* the provider that could not be enabled, if it was that */
	int status;                             /* what cli_fail() returned, else CLI_OK */
};
/* Win32 code. */
uint32_t cli_session_start(const struct etw_session *s, const struct cli_session_how *how, struct cli_session_run *ret);
/* Why the last call of this file failed, in a sentence; "" when none is known. */
const char *cli_session_why(void);

/* Keeps a sentence for the former; returns the code. */
uint32_t cli_session_refuse(uint32_t code, const char *text);
/* Would it start? As saved: an autologger without a file has one in etwd's state directory. Win32 code. */
uint32_t cli_session_check(const struct etw_session *s, enum session_runner runner);
/* launch_enable(); its ordinary way. */
uint32_t cli_session_control(TRACEHANDLE session, const struct session_provider *p, const struct launch_enabling *how);
uint32_t cli_session_enable(TRACEHANDLE session, const struct session_provider *p, uint32_t timeout_ms);
/* After it: cli_provider_tell(). */
void cli_session_enable_tell(const struct session_provider *p);

/* ---- words of a command line -------------------------------------------------------------------- */

/* CLI_SESSION_OPTIONS. False: printed why. */
bool cli_session_options(const struct cli_args *a, const struct cli_session_options *o, const char *file, bool realtime,
			 struct etw_session *s);
/* "Name:keywords:level:options" with CLI_ENABLE_OPTIONS (NULL: none); its name stays as it was spelled. False: printed why. */
bool cli_session_provider(const struct cli_args *a, const struct cli_enable_options *o, const char *text,
			  struct session_provider *ret);
/* One more at the end. */
bool cli_session_add_provider(const struct cli_args *a, const struct cli_enable_options *o, const char *text,
			      struct etw_session *s);
/* All of --provider. */
bool cli_session_providers(const struct cli_args *a, const struct cli_enable_options *o, const struct cli_words *words,
			   struct etw_session *s);

/* ---- session_explain.c: the same as command lines of openetw ------------------------------------- */

/* `verb`: "start", "autologger add". `counters`: with kernel events, or NULL. */
void cli_session_explain(FILE *f, const char *verb, const struct etw_session *s, const struct cli_counters *counters);
/* "enable", or "disable"; `option`, such as "--capture-state", or NULL. */
void cli_session_explain_enable(FILE *f, const char *session, const struct session_provider *p, const char *option);
void cli_quote(FILE *f, const char *word); /* as one word of a shell */

#endif
