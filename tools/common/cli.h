/* SPDX-License-Identifier: MIT
 *
 * tools: the openetw command, which is also logman, tracelog, tracerpt, wpr, xperf and their kin. Front door.
 *
 *   common/    what the programs share:
 *              command.h          what a verb is; command.c: help
 *              options.h          its options as a typed table; args.c: words -> options, as on Linux
 *              winargs.h          the same as Windows' tools have it
 *              say.h              error lines
 *              session_options.c  providers, buffers and modes of a session as the command line names them
 *              session_control.c  sessions of the classic tools: start, enable, update, stop
 *              trace_reading.c    reading files and sessions, Ctrl-C, progress
 *              select.c           which events: --provider, --from, …
 *              printer.c          one event as text or JSON; csv.c: as CSV; fields.c: --fields
 *              event_view.c       one event by field names; event_xml.c: one event as XML
 *              output.h           files that verbs make: safe, whole or not there, earlier ones kept
 *              path.h             paths of Windows
 *              print.h            printf and its like: what %s brings in is made printable
 *   openetw/   main.c finds the verb and parses its options; cmd_VERB.c are our own verbs
 *   classic/   logman, tracelog, tracerpt, tracefmt, wevtutil
 *   wpt/       wpr, xperf
 *   compile/   mc, rc, tracewpp, tracepdb
 *
 * A verb is one file ending in one const table entry (struct cli_command); parsing, help and shell
 * completion all come from that table. LAYERS says which internal folders a tool may use beside the public API.
 * Results go to stdout, everything else to stderr. Exit status: 0 done, 1 failed (one line says
 * what, why and what to do next), 2 wrong usage; docs/cli.md has all rules.
 */
#ifndef TOOLS_COMMON_CLI_H
#define TOOLS_COMMON_CLI_H

#include "base/base.h"
#include "tools/common/command.h"
#include "tools/common/print.h"
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
