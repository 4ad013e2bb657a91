/* SPDX-License-Identifier: MIT
 * The index of a trace that has just been recorded (--index), so that its first question is answered at once.
 */
#ifndef TOOLS_OPENETW_INDEXING_H
#define TOOLS_OPENETW_INDEXING_H

#include "tools/common/cli.h"

/* Writes it, however small the trace is, and says so on stderr unless `quiet`. The trace is there either way: CLI_OK, or
 * CLI_FAILED and said why there is no index. */
int indexing_make(const struct cli_args *a, const char *path, bool quiet);

#endif
