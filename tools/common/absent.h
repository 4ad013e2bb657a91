/* SPDX-License-Identifier: MIT
 *
 * What was asked for and does not occur: said on stderr, with the name that comes nearest.
 *
 * While events are selected, each thing asked for remembers whether an event had it (cli_select_asked). Only
 * when one never was, or nothing was selected at all, the files are read once more: each thing is then looked
 * for by itself, and the names that do occur are collected.
 */
#ifndef TOOLS_COMMON_ABSENT_H
#define TOOLS_COMMON_ABSENT_H

#include "tools/common/printer.h"
#include "tools/common/cli.h"

/* `matched` events were selected. Says what does not occur, if anything. Returns the status for the end of
 * the verb: CLI_FAILED when nothing was selected, or of --fields none occurs; `status` when that is no
 * CLI_OK. The printer may be NULL. */
int cli_absent_files(const struct cli_args *a, struct cli_select *select, const struct cli_printer *printer, int count,
		     char **files, uint64_t matched, int status);
/* The same where nothing can be read again; without nearest names. */
int cli_absent_live(const struct cli_args *a, struct cli_select *select, const struct cli_printer *printer,
		    uint64_t matched, int status);

#endif
