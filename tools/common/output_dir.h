/* SPDX-License-Identifier: MIT
 *
 * Folders that verbs make, by the rules of output.h: files go into FOLDER.partial, which gets its name when all is in
 * it. An earlier FOLDER becomes FOLDER.old; where that is there already, or with --force, only files of the names that
 * the verb writes are removed, and a folder with anything else in it stays, and is named on stderr.
 */
#ifndef TOOLS_COMMON_OUTPUT_DIR_H
#define TOOLS_COMMON_OUTPUT_DIR_H

#include "tools/common/output.h"

struct cli_output_dir;
/* `names`: the files that may be in it, ended by NULL; borrowed. NULL: said why. */
struct cli_output_dir *cli_output_dir_open(const struct cli_args *a, const char *path, const char *const *names);
/* A file in it, for writing; the caller closes it. NULL: errno. */
FILE *cli_output_dir_file(struct cli_output_dir *d, const char *name);
/* All is in it when `whole`. Prints what went wrong. NULL is CLI_OK. */
int cli_output_dir_close(struct cli_output_dir *d, bool whole);

#endif
