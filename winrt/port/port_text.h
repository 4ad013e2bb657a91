/* SPDX-License-Identifier: MIT
 *
 * Preprocessed C and C++ in pieces: what the passes over it have in common.
 */
#ifndef WINRT_PORT_PORT_TEXT_H
#define WINRT_PORT_PORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct port_text {
	char *p;
	size_t len, cap;
};

/* Adds n bytes and a terminator. Out of memory ends the program. */
void port_text_add(struct port_text *t, const char *p, size_t n);
/* Standard input to its end, behind a newline: there is always a character before the first. */
void port_text_read(struct port_text *t);

/* Whose text it is: own files are those of the program, no system headers, and in none of the folders
 * `foreign`. */
struct port_where {
	char **foreign;
	int count;
	bool own;
	const char *file;
	size_t file_bytes;
};
/* At the beginning. */
struct port_where port_where(char **foreign, int count);
/* Hears a line of the preprocessor: "# 12 "file" 1 3". */
void port_where_line(struct port_where *w, const char *line, size_t n);

enum port_kind {
	PORT_SPACE,
	PORT_DIRECTIVE, /* a line that begins with '#', without its newline */
	PORT_WORD,
	PORT_NUMBER,
	PORT_LITERAL, /* a string or a character */
	PORT_OTHER,   /* one character of anything else */
};

/* The end of the piece that begins at `p`, which is before `end` and has a character before it. */
const char *port_piece(const char *p, const char *end, bool line_start, enum port_kind *ret_kind);

#endif
