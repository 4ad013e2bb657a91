/* SPDX-License-Identifier: MIT
 * Queries from a terminal, one after the other.
 */
#ifndef TOOLS_OPENETW_SQL_PROMPT_H
#define TOOLS_OPENETW_SQL_PROMPT_H

/* Calls `run` with each query until the input ends. A query ends with a semicolon at the end of a line; a line that
 * begins with a dot is a command: .help, .quit, and what `run` knows. Returns the exit status. */
int sql_prompt(void *context, int (*run)(void *context, const char *text));

#endif
