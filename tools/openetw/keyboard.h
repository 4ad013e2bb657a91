/* SPDX-License-Identifier: MIT
 * Keys that are pressed while something is shown on a terminal: 'q' ends top and monitor.
 */
#ifndef TOOLS_OPENETW_KEYBOARD_H
#define TOOLS_OPENETW_KEYBOARD_H

#include <stdbool.h>

/* From now on keys come one by one and are not shown. Nothing, when standard input or output is no terminal. */
void cli_keys_begin(void);
/* Was a key pressed that means "enough"? Never waits. */
bool cli_keys_quit(void);
/* As it was before. */
void cli_keys_end(void);

#endif
