/* SPDX-License-Identifier: MIT
 *
 * Which traces a client may name (an agent, a page): those of the command line, and what lies below its folders. What lies
 * below a folder is looked up from the folder's own descriptor: neither ".." nor a link leads out of it.
 */
#ifndef TOOLS_COMMON_ALLOWED_H
#define TOOLS_COMMON_ALLOWED_H

#include "tools/common/cli.h"
#include "tools/common/options.h"

#include <sys/types.h>

struct allowed {
	int file_count, root_count;
	char **files, **roots;   /* whole paths, without links */
	char *const *file_words; /* as they were written */
	const char *const *root_words;
	int *root_fds;    /* of the folders */
	const char *hint; /* behind "there is no such trace"; NULL: nothing */
};
/* Files and folders of a command line. False: said why. */
bool allowed_begin(const struct cli_args *a, struct allowed *may, int count, char **files,
		   const struct cli_words *roots);
/* Frees what it took. */
void allowed_end(struct allowed *may);
/* The whole path of each word, which has to be of this kind. False: said why. */
bool allowed_whole(const struct cli_args *a, int count, char **words, mode_t kind, char ***ret);
/* A file that may be read: an O_PATH descriptor, and its whole path, to be freed. The path may lead to another file as soon
 * as this returns; the descriptor does not. -1: said why. */
int allowed_open(const struct cli_args *a, const struct allowed *may, const char *path, char **ret);
/* Only its whole path. NULL: said why. */
char *allowed_path(const struct cli_args *a, const struct allowed *may, const char *path);
/* Calls `fn` for each trace that may be opened, in a fixed order; at most `most`. How many were found; not all folders
 * could be looked through when *ret_incomplete says so. */
typedef void (*allowed_fn)(void *context, const char *path, uint64_t bytes, bool given);
uint32_t allowed_each(const struct allowed *may, uint32_t most, allowed_fn fn, void *context, bool *ret_incomplete);

#endif
