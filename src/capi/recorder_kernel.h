/* SPDX-License-Identifier: MIT
 * The kernel's part of a session built in steps: what is asked for by names, and as StartTrace takes it.
 */
#ifndef CAPI_RECORDER_KERNEL_H
#define CAPI_RECORDER_KERNEL_H

#include "format/kernel_mask.h"

#include "evntrace.h"

struct recorder_kernel {
	bool said; /* kernel events are wanted: the mask, or by system providers */
	struct kernel_mask mask;
	uint16_t stack[KERNEL_STACKS_MAX];
	uint32_t stacks;
};
/* What does not fit into EVENT_TRACE_PROPERTIES, behind it: masks and processes. */
struct recorder_kernel_tail {
	USHORT head[2];
	USHORT masks_item[2];
	ULONG masks[8];
	USHORT pids_item[2];
	ULONG pids[8];
};

/* "PROC_THREAD+DiagEasy": names of flags and groups in any case. False: `why` says which name is wrong. Of a group,
 * what Linux has nothing for is left out. */
bool recorder_kernel_flags(struct recorder_kernel *k, const char *names, char *why, size_t cap);
/* "Profile+CSwitch". */
bool recorder_kernel_stacks(struct recorder_kernel *k, const char *names, char *why, size_t cap);
/* EVENT_TRACE_FLAG_*. */
bool recorder_kernel_bits(struct recorder_kernel *k, uint32_t flags, char *why, size_t cap);
/* Windows Kernel Trace, by name or GUID; a system provider (SystemProcessProvider …). */
bool recorder_kernel_is_trace(const char *provider);
bool recorder_kernel_is_system_provider(const char *provider, GUID *ret);
/* Into the properties of a session that is going to start, of which `tail` is a part. */
void recorder_kernel_fill(const struct recorder_kernel *k, const ULONG *pids, uint32_t pid_count,
			  EVENT_TRACE_PROPERTIES *p, struct recorder_kernel_tail *tail);
/* Into one that has started. Win32 code. */
uint32_t recorder_kernel_set_stacks(const struct recorder_kernel *k, TRACEHANDLE session);
/* "NT Kernel Logger", in any case: it is one for kernel events by its name. */
bool recorder_kernel_name(const char *session);

#endif
