/* SPDX-License-Identifier: MIT
 *
 * Paths as people paste them from Windows: c:\traces\x.etl is /traces/x.etl here, traces\x.etl is
 * traces/x.etl. Only what begins with a drive letter, or has backslashes and no slash, is taken for one;
 * the library maps log files of sessions alike.
 */
#ifndef TOOLS_COMMON_PATH_H
#define TOOLS_COMMON_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* `path` itself, or what it means here, in `out`; never longer. */
const char *cli_path(const char *path, char out[PATH_MAX]);
/* The same for a file that is going to be written: tells, once for each, where it goes. */
const char *cli_path_told(const char *path, char out[PATH_MAX]);
/* The same as an absolute path, so that it means the same file wherever it is used. False: too long. */
bool cli_path_absolute(const char *path, char *out, size_t cap);
/* A file to read, in place: stays as it is when there is one of that very name. */
void cli_path_input(char *path);
/* Opens such a file to read; NULL and errno, as fopen() has it. */
FILE *cli_path_fopen(const char *path);

#endif
