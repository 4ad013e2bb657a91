/* SPDX-License-Identifier: MIT
 *
 * Inside tracelog: cmd_tracelog.c has the actions, tracelog_options.c makes a session and filters
 * of the options, tracelog_show.c prints.
 */
#ifndef TOOLS_CLASSIC_TRACELOG_H
#define TOOLS_CLASSIC_TRACELOG_H

#include "tools/common/session_options.h"
#include "tools/common/session_control.h"
#include "tools/common/winargs.h"

extern const struct cli_option tracelog_option_table[];

/* The session that the options describe. They print the mistake. */
bool tracelog_describe(const struct winargs *w, const char *name, struct etw_session *s);
/* -guid with -level, -flag and so on. */
bool tracelog_providers(const struct winargs *w, struct etw_session *s);

/* -eflag and -stackwalk. They print the mistake. */
/* "SOURCE,SOURCE": what samples are taken by. */
bool tracelog_sources(const struct winargs *w, const char *text, struct cli_counters *c);
bool tracelog_kernel(const struct winargs *w, struct session_kernel *ret, struct cli_counters *counters);

/* -EventIdFilter and its kin, for every provider of *s. They print the mistake. */
bool tracelog_filters(const struct winargs *w, struct etw_session *s);
/* The same, of options that were looked at, for a private session as a whole. */
void tracelog_scope(const struct winargs *w, struct launch_filters *ret);

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
