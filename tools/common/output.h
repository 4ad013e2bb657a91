/* SPDX-License-Identifier: MIT
 *
 * Files that verbs make: opened safely (base/open_output.h), whole or not there, and never in the place of an
 * earlier one without a word.
 *
 * What a verb converts goes to FILE.partial, which gets its name when all is in it. After Ctrl-C or an error
 * FILE is what it was before, and stderr says where the part is. An earlier FILE becomes FILE.old, one is
 * kept; with --force it is overwritten. "-" is standard output.
 *
 * What sessions write grows in its own name: cli_way_make() moves an earlier file out of the way before.
 */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include "base/open_output.h"
#include "tools/common/cli.h"

enum cli_compress {
	CLI_COMPRESS_NO,
	CLI_COMPRESS_XPRESS,
	CLI_COMPRESS_ZSTD,
};
/* The same in all verbs: without HOW it is xpress. */
#define CLI_COMPRESS_OPTION(T, m)                                                      \
	CLI_CHOICE(T, m, CLI_COMPRESS_XPRESS, 'c', "compress", "[HOW]", "xpress|zstd", \
		   "compress the file: xpress (as Windows; the default) or zstd (for our readers only)")

/* From now on earlier files are overwritten: --force, or what the Windows tool calls it. */
void cli_output_overwrite(void);
bool cli_output_overwrites(void);

struct cli_output;
/* NULL: said why. `text`: "-" means standard output, and devices and FIFOs may be written. */
struct cli_output *cli_output_open(const struct cli_args *a, const char *path, bool text);
/* NULL for NULL, so that what is optional needs no questions. */
FILE *cli_output_file(struct cli_output *o);
/* The file that is being written, for those who open it by its name. */
const char *cli_output_partial(const struct cli_output *o);
/* All is written, when `whole` and nothing interrupted it (cli_interrupted): then the file gets its name.
 * Prints what went wrong and where a part is. CLI_OK also for NULL. */
int cli_output_close(struct cli_output *o, bool whole);

/* Nothing was to be written after all: the part goes. */
void cli_output_drop(struct cli_output *o);
/* For a handler that ends the program: removes what was only begun. context: signal handlers */
void cli_output_abandon(void);

/* A file that is there already, into its place, by the same rules; from another file system as a copy. It
 * gets the mode of a new file. False: said why, and `from` is where it was. */
bool cli_output_move(const struct cli_args *a, const char *from, const char *to);
/* Can `to` be written? For those who must know before they end what cannot be had again. 0 or -errno. */
int cli_output_try(const char *to, struct diag *d);

/* Small files: whole or not there, in the place of an earlier one, of which no .old is kept. `built`: what
 * a compiler makes, which also replaces a file of whoever has the directory, for root builds in trees of
 * others. 0 or -errno with a text in *d. */
int cli_write_whole(const char *path, const void *p, size_t n, bool built, struct diag *d);

/* An earlier file that was moved out of a session's way. */
struct cli_way {
	bool moved;
	char path[PATH_MAX];
};
/* Moves it, where it is there, the caller's own, not empty, and no session writes it. Whoever opens the
 * file tells what is wrong with the others. */
void cli_way_make(const char *path, struct cli_way *w);
void cli_way_back(struct cli_way *w); /* the session did not start */

/* StartTrace, and ControlTrace where a FLUSH or an UPDATE names a file: an earlier file is kept. The file's
 * name is mapped by cli_path(). */
uint32_t cli_start_trace(TRACEHANDLE *ret, const char *name, EVENT_TRACE_PROPERTIES *p);
uint32_t cli_control_trace(TRACEHANDLE session, const char *name, EVENT_TRACE_PROPERTIES *p, ULONG control);

/* Several traces into one, with progress; Ctrl-C and errors are told. Returns the exit status. */
int cli_merge_files(const struct cli_args *a, const char *const *files, uint32_t count, const char *to, bool compress);

/* From now on only the user may read what this process writes: a recording of the machine has every user's command
 * lines and paths in it. Children that were started before keep the user's own umask. */
void cli_output_private(void);

#endif
