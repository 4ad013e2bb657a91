/* SPDX-License-Identifier: MIT
 *
 * openetw-port: what the compiler drivers openetw-cc and openetw-c++ do to sources that were
 * written for Windows' compiler, file system and integer sizes. A program of its own: it is of no
 * library.
 */
#ifndef WINRT_PORT_PORT_H
#define WINRT_PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Preprocessed C or C++ on standard input, the same with a `long` of 32 bits on standard output:
 * the types and the literals in files that lie in none of the folders `foreign` and that the
 * preprocessor does not call system headers. Returns 0, or 1 with a message. */
int port_llp64(char **foreign, int count);

/* Preprocessed C or C++ on standard input, the same with the layouts of Microsoft's compiler on standard
 * output (port_layout.c): bit-fields, and what gcc only drops. `foreign` as above. Returns 0, or 1 with
 * a message. */
int port_layout(bool gcc, char **foreign, int count);

/* The text of a file in UTF-16 (which begins with a mark) as UTF-8; free() it. NULL: it is another. */
char *port_utf16_read(const char *path, size_t *ret_bytes);

/* Writes into `out` a header for each #include of the sources, and of what they include, that this
 * file system does not find as it is spelled: backslashes, or another case. Headers that lie in the
 * first `scanned` folders are looked into. Prints the folder to give to the compiler with -I when
 * there is any. When one of the files or headers is in UTF-16, that header is written as UTF-8 and so
 * are all the sources: a line "SOURCE<tab>COPY" follows for each. With `say_more` other lines come first:
 * "@layout" when a file of the program has something that port_layout() is for; for each
 * #pragma comment(lib, "NAME") "@library NAME FILE:LINE"; and "@absent FOLDER", to be looked into last, when
 * a header of Windows is included that we do not have: there it says so. Returns 0, or 1 with a
 * message. */
int port_includes(const char *out, bool say_more, char **folders, int scanned, int folder_count, char **files,
		  int file_count);

#endif
