/* SPDX-License-Identifier: MIT
 *
 * tools: the openetw command, which is also logman, tracelog, tracerpt, wpr, xperf and their kin. Front door.
 *
 *   common/    what the programs share:
 *              options.h          options of a verb as a typed table: rows, and how each kind is read
 *              command.h          what a verb is; args.c: its words, as on Linux; args_windows.c: as Windows'
 *                                 tools have them; command.c: help
 *              say.h              error lines, and what to do about errors
 *              signals.h          Ctrl-C, progress on a terminal
 *              print.h            printf and its like: what %s brings in is made printable
 *              table.h            tables on the screen
 *              session_options.h  providers, buffers and modes of a session as the command line names them
 *              session_control.h  sessions of the classic tools: start, enable, update, stop
 *              trace_reading.h    reading files and sessions
 *              select.h           which events: --provider, --from, …
 *              printer.h          one event as text or JSON; csv.h: as CSV; fields.h: --fields
 *              json_read.h, json_put.h  JSON of clients, and for them
 *              event_view.h       one event by field names; event_xml.h: one event as XML
 *              output.h           files that verbs make: safe, whole or not there, earlier ones kept; output_dir.h: folders
 *              program.h          programs that a command line names; path.h: paths of Windows
 *   export/    events in the forms of other programs
 *   openetw/   main.c finds the verb; cmd_VERB.c are our own verbs
 *   classic/   logman, tracelog, tracerpt, tracefmt, wevtutil
 *   wpt/       wpr, xperf
 *   compile/   mc, rc, tracewpp, tracepdb
 *
 * A verb is one file ending in one const table entry (struct cli_command), with a typed table of its options;
 * parsing, help, manual pages and shell completion all come from these. LAYERS says which internal folders a tool may use beside the public API.
 * Results go to stdout, everything else to stderr. Exit status: 0 done, 1 failed (one line says
 * what, why and what to do next), 2 wrong usage; docs/cli.md has all rules.
 */
#ifndef TOOLS_COMMON_CLI_H
#define TOOLS_COMMON_CLI_H

#include "base/base.h"
#include "tools/common/command.h"
#include "tools/common/print.h"
#include "tools/common/progress.h"
#include "tools/common/say.h"
#include "tools/common/signals.h"

#include <windows.h>
#include <evntrace.h>
#include <evntcons.h>
#include <openetw/openetw.h>
#include <stdio.h>

void cli_guid_text(const GUID *g, char out[37]);
/* Human sizes and rates. */
void cli_size_text(uint64_t bytes, char *out, size_t cap);
/* A whole file behind what is there. -errno; -EFBIG: more than max bytes. */
int cli_file_read(const char *path, size_t max, struct strbuf *inout);
/* The same of a source file: UTF-16 with its mark comes out as UTF-8. */
int cli_source_read(const char *path, size_t max, struct strbuf *inout);

#endif
