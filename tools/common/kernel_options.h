/* SPDX-License-Identifier: MIT
 *
 * What sessions record of the kernel, in words: names of flags, groups and events with stacks into masks and
 * hooks.
 */
#ifndef TOOLS_COMMON_KERNEL_OPTIONS_H
#define TOOLS_COMMON_KERNEL_OPTIONS_H

#include "tools/common/session_options.h"
#include "tools/common/cli.h"
#include "tools/common/counters.h"
#include "session/session.h"

/* "FLAG+GROUP+0x…", in any case. What Linux has not is refused when it is named itself, unless `drop`;
 * of a group, or with `drop`, it is left out with a word on stderr. CLI_OK, or printed why. */
int cli_kernel_flags(const struct cli_args *a, const char *text, bool drop, struct session_kernel *w);
/* "Profile+CSwitch+0x0524". False: printed why. */
bool cli_kernel_stacks(const struct cli_args *a, const char *text, struct session_kernel *w);
/* "17,42", up to 8; "": none. False: printed why. */
bool cli_kernel_pids(const struct cli_args *a, const char *text, struct session_kernel *w);
void cli_kernel_add_stack(struct session_kernel *w, uint16_t hook);
/* Processes, threads and images once more, into a session that keeps only what happened last. */
uint32_t cli_kernel_capture(TRACEHANDLE session);
/* Time between samples, of the whole machine, in 100 ns. Win32 codes. */
uint32_t cli_kernel_set_interval(uint32_t source, uint32_t interval);
uint32_t cli_kernel_get_interval(uint32_t *ret);
/* What the running session lacks, on stderr. */
void cli_kernel_tell(const char *tool, const char *name);
/* The options of 'openetw start' for that; `c` may be NULL. */
void cli_kernel_explain(FILE *f, const struct session_kernel *k, const struct cli_counters *c);
/* For lists: flags, groups or both. */
void cli_kernel_print(bool flags, bool groups);

#endif
