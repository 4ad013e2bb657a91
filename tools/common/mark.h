/* SPDX-License-Identifier: MIT
 *
 * Marks: events a person puts into a recording, of the provider OpenETW.Mark. Sessions of wpr and
 * xperf have it enabled; it says nothing unless asked.
 */
#ifndef TOOLS_COMMON_MARK_H
#define TOOLS_COMMON_MARK_H

#include "tools/common/cli.h"

extern const GUID cli_mark_provider;
/* Enables the provider in a session. */
uint32_t cli_mark_enable(TRACEHANDLE session);
/* Writes the event `kind` ("Mark", "ProblemDescription") into all sessions that have it enabled.
 * ERROR_WMI_INSTANCE_NOT_FOUND: none has. */
uint32_t cli_mark_write(const char *kind, const char *text);

#endif
