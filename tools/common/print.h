/* SPDX-License-Identifier: MIT
 *
 * Printing by verbs: what %s and %c bring in is made printable.
 *
 * Nearly every string that a verb prints was chosen by somebody else: names of sessions, files, processes
 * and providers, values of fields, texts of errors that hold such names. So printf and its like are taken
 * over in tools: the format is ours and trusted, what %s brings in is not (base/printable.h). A width
 * counts columns of the terminal. fputs, fwrite, strbuf_add and strbuf_adds stay as they are: they are for
 * text of our own, with newlines in it, and for text that is printable already.
 */
#ifndef TOOLS_COMMON_PRINT_H
#define TOOLS_COMMON_PRINT_H

#include "base/printable.h"

#include <stdio.h>

/* As printf and fprintf: the bytes written, or negative when memory runs out or the file takes no more. */
int cli_printf(const char *fmt, ...) BASE_PRINTF(1, 2);
int cli_fprintf(FILE *f, const char *fmt, ...) BASE_PRINTF(2, 3);
int cli_vfprintf(FILE *f, const char *fmt, va_list ap) BASE_PRINTF(2, 0);

#undef printf
#undef fprintf
#undef vprintf
#undef vfprintf
#define printf(...)          cli_printf(__VA_ARGS__)
#define fprintf(f, ...)      cli_fprintf(f, __VA_ARGS__)
#define vprintf(fmt, ap)     cli_vfprintf(stdout, fmt, ap)
#define vfprintf(f, fmt, ap) cli_vfprintf(f, fmt, ap)
/* Lines are put together with it. */
#define strbuf_addf(b, ...) strbuf_addf_printable(b, __VA_ARGS__)

/* What is behind the noun: "%llu event%s". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* A string on a line of its own, made printable. */
void cli_puts(const char *s);
/* Text of several lines whose other characters may be anybody's. */
void cli_put_lines(FILE *f, const char *s);
/* One word of a command line that may be pasted into a shell, in quotes: '…', or $'…' (bash, zsh, ksh) where
 * something had to be escaped. Valid until the eighth next call. */
const char *cli_quoted(const char *fmt, ...) BASE_PRINTF(1, 2);

#endif
