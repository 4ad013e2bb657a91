/* SPDX-License-Identifier: MIT
 * Host and system of the machine that a trace was recorded on.
 */
#ifndef TOOLS_VIEW_VIEW_MACHINE_H
#define TOOLS_VIEW_VIEW_MACHINE_H

#include "tools/view/view_trace.h"

/* NULL: the trace does not say it, or is not read whole yet. Valid as long as the trace is open; any thread. */
const char *view_machine_host(struct view_trace *t);
const char *view_machine_os(struct view_trace *t);

#endif
