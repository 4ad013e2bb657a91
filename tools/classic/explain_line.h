/* SPDX-License-Identifier: MIT
 *
 * --explain of the classic tools: the line of openetw that does the same.
 */
#ifndef TOOLS_CLASSIC_EXPLAIN_LINE_H
#define TOOLS_CLASSIC_EXPLAIN_LINE_H

#include "tools/common/cli.h"

/* "openetw VERB 'word' …": as many words as are not NULL, each in quotes where the shell needs them. CLI_OK. */
int cli_same(const char *verb, ...) __attribute__((sentinel));
/* There is no such line; why. CLI_OK: nothing was to be done. */
int cli_same_none(const char *why);
/* For each of the providers joined by '+': "openetw enable SESSION [--capture-state] 'P'". */
int cli_same_enable(const char *session, const char *providers, bool capture);
/* "openetw stop" of every session that runs. */
int cli_same_stop_all(void);

#define CLI_SAME_UPDATE   "a running session changes with UpdateTrace; openetw has no verb for that"
#define CLI_SAME_INTERVAL "the time between samples is the tool's own; openetw has no verb for it"

#endif
