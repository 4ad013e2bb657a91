/* SPDX-License-Identifier: MIT
 * --filter and --payload: filters on the command line.
 */
#ifndef TOOLS_COMMON_FILTER_OPTION_H
#define TOOLS_COMMON_FILTER_OPTION_H

#include "tools/common/cli.h"
#include "filter/filter_parse.h"

/* Prints a mistake in the text of an option: column, reason, and the place in it. Returns CLI_USAGE. */
int cli_filter_mistake(const struct cli_args *a, const char *option, const char *text, const struct diag *d);
/* What --filter says, for those who read events; NULL without it. False: printed the mistake. */
bool cli_filter_expr(const struct cli_args *a, struct filter_expr **ret);

/* What --payload and --filter say of the events of that provider, as a session evaluates it. Prints the mistake. */
bool cli_filter_enable(const struct cli_args *a, const GUID *g, struct cli_filters *f);
/* Only what --payload says. */
bool cli_filter_payload(const struct cli_args *a, const GUID *g, struct cli_filters *f);
/* The text of the filter that the session evaluates; NULL: none. */
const char *cli_filter_of_session(const struct cli_args *a);

#endif
