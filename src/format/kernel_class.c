/* SPDX-License-Identifier: MIT
 * The table of kernel_class.h.
 */
#include "format/kernel_class.h"

#include "etw/values/guids.h"

/* [obs] where a real file holds the group, else [doc] */
#define CLASSES(X)                                                        \
	X(KERNEL_GROUP_TRACE, ETW_GUID_EVENT_TRACE)                       \
	X(KERNEL_GROUP_DISK, ETW_GUID_CLASS_DISK_IO)                      \
	X(KERNEL_GROUP_MEMORY, ETW_GUID_CLASS_PAGE_FAULT)                 \
	X(KERNEL_GROUP_PROCESS, ETW_GUID_CLASS_PROCESS)                   \
	X(KERNEL_GROUP_FILE, ETW_GUID_CLASS_FILE_IO)                      \
	X(KERNEL_GROUP_THREAD, ETW_GUID_CLASS_THREAD)                     \
	X(KERNEL_GROUP_TCP, ETW_GUID_CLASS_TCP_IP)                        \
	X(KERNEL_GROUP_JOB, ETW_GUID_CLASS_JOB)                           \
	X(KERNEL_GROUP_UDP, ETW_GUID_CLASS_UDP_IP)                        \
	X(KERNEL_GROUP_REGISTRY, ETW_GUID_CLASS_REGISTRY)                 \
	X(KERNEL_GROUP_DEBUG_PRINT, ETW_GUID_CLASS_DBG_PRINT)             \
	X(KERNEL_GROUP_CONFIG, ETW_GUID_EVENT_TRACE_CONFIG)               \
	X(KERNEL_GROUP_LAST_BRANCH, ETW_GUID_LAST_BRANCH_RECORD_PROVIDER) \
	X(KERNEL_GROUP_WNF, ETW_GUID_CLASS_WNF)                           \
	X(KERNEL_GROUP_POOL, ETW_GUID_CLASS_POOL)                         \
	X(KERNEL_GROUP_PERF, ETW_GUID_CLASS_PERF_INFO)                    \
	X(KERNEL_GROUP_HEAP, ETW_GUID_CLASS_HEAP)                         \
	X(KERNEL_GROUP_OBJECT, ETW_GUID_CLASS_OBJECT)                     \
	X(KERNEL_GROUP_POWER, ETW_GUID_CLASS_POWER)                       \
	X(KERNEL_GROUP_MOD_BOUND, ETW_GUID_CLASS_MOD_BOUND)               \
	X(KERNEL_GROUP_IMAGE, ETW_GUID_CLASS_IMAGE)                       \
	X(KERNEL_GROUP_DPC, ETW_GUID_CLASS_DPC)                           \
	X(KERNEL_GROUP_CACHE, ETW_GUID_CLASS_CC)                          \
	X(KERNEL_GROUP_CRITICAL_SECTION, ETW_GUID_CLASS_CRIT_SEC)         \
	X(KERNEL_GROUP_STACK, ETW_GUID_CLASS_STACK_WALK)                  \
	X(KERNEL_GROUP_UMS, ETW_GUID_CLASS_UMS)                           \
	X(KERNEL_GROUP_ALPC, ETW_GUID_CLASS_ALPC)                         \
	X(KERNEL_GROUP_SPLIT_IO, ETW_GUID_CLASS_SPLIT_IO)                 \
	X(KERNEL_GROUP_THREAD_POOL, ETW_GUID_CLASS_THREAD_POOL)           \
	X(KERNEL_GROUP_HYPERVISOR, ETW_GUID_CLASS_HYPERVISOR)             \
	X(KERNEL_GROUP_HYPERVISOR_X, ETW_GUID_CLASS_HYPERVISOR_X)

#define CLASS(group, ...) [group] = GUID_INIT(__VA_ARGS__),
static const struct guid classes[] = {CLASSES(CLASS)};

/* The same by GUID. The factor gives each class a slot of its own; with a new class for which it does not, this does
 * not compile (an initialiser is overridden), and another factor is to be found by trying. */
#define SLOT_FACTOR                 0x1c32c993u
#define SLOT_BITS                   6
#define SLOT_OF(first)              ((uint32_t)((first)*SLOT_FACTOR) >> (32 - SLOT_BITS))
#define SLOT_ROW(group, first, ...) [SLOT_OF(first)] = (group) + 1,
#define SLOT(group, ...)            SLOT_ROW(group, __VA_ARGS__)
static const uint8_t slots[1 << SLOT_BITS] = {CLASSES(SLOT)};

const struct guid *kernel_class_of_group(unsigned group)
{
	return group < BASE_ARRAY_LEN(classes) ? &classes[group] : &GUID_ZERO;
}

const struct guid *kernel_class_guid(uint16_t hook)
{
	return kernel_class_of_group(hook == KERNEL_HOOK_IMAGE_LOAD ? KERNEL_GROUP_IMAGE : hook >> 8);
}

int kernel_class_group(const void *guid)
{
	uint8_t group = slots[SLOT_OF(le32_get(guid))];
	return group && memcmp(&classes[group - 1], guid, sizeof classes[0]) == 0 ? group - 1 : -ENOENT;
}
