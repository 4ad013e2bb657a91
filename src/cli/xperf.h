/* SPDX-License-Identifier: MIT
 *
 * The parts of the xperf verb: cmd_xperf.c its sessions, xperf_kernel.c the names of kernel flags,
 * xperf_dumper.c events as its text.
 */
#ifndef CLI_XPERF_H
#define CLI_XPERF_H

#include "cli/cli.h"

/* "FLAG+GROUP+0xGGTT" becomes the flags it stands for, joined by +. False: prints the mistake. */
bool xperf_kernel_flags(const struct cli_args *a, const char *text, char *out, size_t cap);
void xperf_kernel_print(const char *kinds); /* "KF", "KG", "K" for both */
/* Reads the files and writes them as dumper text to `out` (NULL: stdout). */
int xperf_dump(struct cli_args *a, int count, char **files, const char *out, bool tolerate_loss);

#endif
