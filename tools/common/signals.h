/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and its like.
 */
#ifndef TOOLS_COMMON_SIGNALS_H
#define TOOLS_COMMON_SIGNALS_H

#include "base/base.h"

#include <stdio.h>

/* Waits for a word in a terminal-free way: true when SIGINT, SIGTERM or SIGHUP arrived since the
 * call of cli_signals_catch. SIGPIPE is ignored from the start of main; cli_child_signals() undoes
 * all that in a child. */
void cli_signals_catch(void);
void cli_signals_restore(void);
int cli_signal_caught(void);
void cli_child_signals(void);
/* A signal ended the verb before its output was whole: main says so and ends with 128 + it. 0: none did. */
void cli_interrupt(int sig);
int cli_interrupted(void);

#endif
