/* SPDX-License-Identifier: MIT
 *
 * Paths as people paste them from Windows: c:\traces\x.etl is /traces/x.etl here, traces\x.etl is
 * traces/x.etl. Only what begins with a drive letter, or has backslashes and no slash, is taken for one;
 * the library maps log files of sessions alike.
 */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include <limits.h>
#include <stdbool.h>

/* `path` itself, or what it means here, in `out`; never longer. */
const char *cli_path(const char *path, char out[PATH_MAX]);
/* The same for a file that is going to be written: tells, once for each, where it goes. */
const char *cli_path_told(const char *path, char out[PATH_MAX]);
/* A file to read, in place: stays as it is when there is one of that very name. */
void cli_path_input(char *path);

#endif
