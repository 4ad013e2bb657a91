/* SPDX-License-Identifier: MIT
 * --filter and --payload: filters on the command line.
 */
#ifndef TOOLS_COMMON_FILTER_OPTION_H
#define TOOLS_COMMON_FILTER_OPTION_H

#include "tools/common/session_options.h"
#include "filter/filter_parse.h"

/* Prints a mistake in the text of an option: column, reason, and the place in it. Returns CLI_USAGE. */
int cli_filter_mistake(const struct cli_args *a, const char *option, const char *text, const struct diag *d);
/* What --filter says, for those who read events; NULL for no text. `names`: as in struct filter_dialect. False: printed
 * the mistake. */
bool cli_filter_expr(const struct cli_args *a, const char *text, const char *const *names, struct filter_expr **ret);
/* The rest of a line on stderr: how often a regular expression was given up. */
void cli_filter_given_up(const struct filter_expr *f);

/* What --payload and --filter say of the events of that provider, as a session evaluates it. Prints the mistake. */
bool cli_filter_enable(const struct cli_args *a, const struct cli_enable_options *o, const GUID *g,
		       struct launch_filters *f);

#endif
