/* SPDX-License-Identifier: MIT
 *
 * Inside tracelog: cmd_tracelog.c has options and actions, tracelog_show.c prints.
 */
#ifndef CLI_TRACELOG_H
#define CLI_TRACELOG_H

#include "cli/controller.h"
#include "cli/winargs.h"

extern const struct cli_option tracelog_option_table[];

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
