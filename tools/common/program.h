/* SPDX-License-Identifier: MIT
 *
 * Programs that a command line names.
 */
#ifndef TOOLS_COMMON_PROGRAM_H
#define TOOLS_COMMON_PROGRAM_H

#include "tools/common/command.h"

#include <limits.h>

/* Where execvp() finds it. 0, -ENOENT, or -EACCES when it is there and cannot be run. */
int cli_program_find(const char *word, char ret_path[PATH_MAX]);
/* Before anything is begun for a command: 0, or said, and the exit status that a shell has then (126, 127). */
int cli_program_check(const struct cli_args *a, const char *word);

#endif
