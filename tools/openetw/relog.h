/* SPDX-License-Identifier: MIT
 * Events selected into a new .etl file: what the verb relog does, for other verbs.
 */
#ifndef TOOLS_OPENETW_RELOG_H
#define TOOLS_OPENETW_RELOG_H

#include "tools/common/select.h"

struct relog_result {
	uint64_t read, kept; /* events */
};
/* The files are the words of `a`. Returns the exit status; the caller says what came of it. */
int relog_selection(const struct cli_args *a, const char *out, const struct cli_select_options *s,
		    struct relog_result *ret);

#endif
