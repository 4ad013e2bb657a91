/* SPDX-License-Identifier: MIT
 *
 * Classes of kernel events. A kernel record names its class by the high byte of its hook, the group; consumers see a
 * GUID instead. This is the one table of both; etw/values/guids.h has the GUIDs.
 */
#ifndef FORMAT_KERNEL_CLASS_H
#define FORMAT_KERNEL_CLASS_H

#include "base/base.h"

enum kernel_class {
	KERNEL_GROUP_TRACE = 0x00,
	KERNEL_GROUP_DISK = 0x01,
	KERNEL_GROUP_MEMORY = 0x02, /* page faults */
	KERNEL_GROUP_PROCESS = 0x03,
	KERNEL_GROUP_FILE = 0x04,
	KERNEL_GROUP_THREAD = 0x05,
	KERNEL_GROUP_TCP = 0x06,
	KERNEL_GROUP_JOB = 0x07,
	KERNEL_GROUP_UDP = 0x08,
	KERNEL_GROUP_REGISTRY = 0x09,
	KERNEL_GROUP_DEBUG_PRINT = 0x0A,
	KERNEL_GROUP_CONFIG = 0x0B,
	KERNEL_GROUP_LAST_BRANCH = 0x0C,
	KERNEL_GROUP_WNF = 0x0D,
	KERNEL_GROUP_POOL = 0x0E,
	KERNEL_GROUP_PERF = 0x0F,
	KERNEL_GROUP_HEAP = 0x10,
	KERNEL_GROUP_OBJECT = 0x11,
	KERNEL_GROUP_POWER = 0x12,
	KERNEL_GROUP_MOD_BOUND = 0x13,
	KERNEL_GROUP_IMAGE = 0x14,
	KERNEL_GROUP_DPC = 0x15,
	KERNEL_GROUP_CACHE = 0x16,
	KERNEL_GROUP_CRITICAL_SECTION = 0x17,
	KERNEL_GROUP_STACK = 0x18,
	KERNEL_GROUP_UMS = 0x19,
	KERNEL_GROUP_ALPC = 0x1A,
	KERNEL_GROUP_SPLIT_IO = 0x1B,
	KERNEL_GROUP_THREAD_POOL = 0x1C,
	KERNEL_GROUP_HYPERVISOR = 0x1D,
	KERNEL_GROUP_HYPERVISOR_X = 0x1E,
};
/* The one hook whose class is not that of its group: the kernel writes image loads in the group of processes. */
#define KERNEL_HOOK_IMAGE_LOAD 0x030Au

/* GUID_ZERO: there is no such group. */
const struct guid *kernel_class_of_group(unsigned group);
/* Class of a hook (group << 8 | type), with the exception above. GUID_ZERO: it has none. */
const struct guid *kernel_class_guid(uint16_t hook);
/* enum kernel_class, or -ENOENT. `guid`: 16 bytes, in any alignment. */
int kernel_class_group(const void *guid);

#endif
