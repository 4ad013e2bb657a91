/* SPDX-License-Identifier: MIT
 * What fits on the terminal that standard output is.
 */
#ifndef TOOLS_OPENETW_SCREEN_H
#define TOOLS_OPENETW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* 0: no terminal, or it does not say. */
struct cli_screen {
	unsigned rows, columns;
	bool moves; /* the cursor can be put back to the top */
};
struct cli_screen cli_screen_now(void);
/* As many bytes of the text as fit into so many columns; a character of UTF-8 is one, and stays whole. */
size_t cli_screen_fit(const char *text, size_t bytes, unsigned columns);
/* Where the last so many columns of it begin. */
size_t cli_screen_fit_end(const char *text, size_t bytes, unsigned columns);
/* The lines of `text` that fit, each cut, from the top of the screen on. */
void cli_screen_paint(FILE *f, const struct cli_screen *s, const char *text);

#endif
