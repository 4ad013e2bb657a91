/* SPDX-License-Identifier: MIT
 *
 * What verbs say about failures and mistakes, on stderr.
 */
#ifndef TOOLS_COMMON_SAY_H
#define TOOLS_COMMON_SAY_H

#include "tools/common/command.h"

/* "openetw VERB: what: reason (ERROR_NAME, code)" and a hint where one is known. Returns
 * CLI_FAILED. */
int cli_fail(const struct cli_args *a, uint32_t code, const char *fmt, ...) BASE_PRINTF(3, 4);
/* What to do about a code, of a call that has just failed; NULL where nothing can be said in general. */
const char *cli_hint(uint32_t code);
/* "openetw VERB: text" plus where to find help. Returns CLI_USAGE. */
int cli_usage(const struct cli_args *a, const char *fmt, ...) BASE_PRINTF(2, 3);
/* What the last of these returned: for callers of functions that say false after one of them. */
int cli_told(void);
/* cli_fail about a session; of one that does not run the nearest that does is named. */
int cli_fail_session(const struct cli_args *a, uint32_t code, const char *session, const char *fmt, ...)
	BASE_PRINTF(4, 5);
/* "openetw VERB: text", and no more. Returns CLI_FAILED. */
int cli_tell(const struct cli_args *a, const char *fmt, ...) BASE_PRINTF(2, 3);
/* False, and said: no process has this id. */
bool cli_process_exists(const struct cli_args *a, uint64_t pid);

#endif
