/* SPDX-License-Identifier: MIT
 * The kernel's part of a session built in steps: what is asked for by names.
 */
#ifndef CAPI_RECORDER_KERNEL_H
#define CAPI_RECORDER_KERNEL_H

#include "session/session.h"

#include "evntrace.h"

/* "PROC_THREAD+DiagEasy": names of flags and groups in any case. False: `why` says which name is wrong. Of a group,
 * what Linux has nothing for is left out. */
bool recorder_kernel_flags(struct session_kernel *k, const char *names, char *why, size_t cap);
/* "Profile+CSwitch". */
bool recorder_kernel_stacks(struct session_kernel *k, const char *names, char *why, size_t cap);
/* EVENT_TRACE_FLAG_*. */
bool recorder_kernel_bits(struct session_kernel *k, uint32_t flags, char *why, size_t cap);
/* Windows Kernel Trace, by name or GUID; a system provider (SystemProcessProvider …). */
bool recorder_kernel_is_trace(const char *provider);
bool recorder_kernel_is_system_provider(const char *provider, struct guid *ret);

#endif
