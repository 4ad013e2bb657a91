/* SPDX-License-Identifier: MIT
 *
 * Private to machine: the few kernel payloads it lives on, taken apart. All return false when the
 * bytes do not fit the layout.
 */
#ifndef MACHINE_MACHINE_PAYLOAD_H
#define MACHINE_MACHINE_PAYLOAD_H

#include "etl/etl_reader.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

/* Events that the classes have alike that are run down. */
enum {
	TYPE_START = KP_PROCESS_START,
	TYPE_END = KP_PROCESS_END,
	TYPE_DC_START = KP_PROCESS_DCSTART,
	TYPE_DC_END = KP_PROCESS_DCEND,
};
_Static_assert(KP_THREAD_START == TYPE_START && KP_THREAD_END == TYPE_END && KP_THREAD_DCSTART == TYPE_DC_START &&
		       KP_THREAD_DCEND == TYPE_DC_END && KP_IMAGE_UN_LOAD == TYPE_END &&
		       KP_IMAGE_DCSTART == TYPE_DC_START && KP_IMAGE_DCEND == TYPE_DC_END,
	       "alike");
_Static_assert(KERNEL_HOOK_IMAGE_LOAD == KERNEL_HOOK(KERNEL_GROUP_PROCESS, KP_IMAGE_LOAD), "of the Image class");

enum {
	HOOK_PROCESS_DEFUNCT = KERNEL_HOOK(KERNEL_GROUP_PROCESS, KP_PROCESS_DEFUNCT),
	HOOK_HARD_FAULT = KERNEL_HOOK(KERNEL_GROUP_MEMORY, KP_PAGE_FAULT_HARD_FAULT),
	HOOK_CSWITCH = KERNEL_HOOK(KERNEL_GROUP_THREAD, KP_THREAD_CSWITCH),
	HOOK_THREAD_NAME = KERNEL_HOOK(KERNEL_GROUP_THREAD, KP_THREAD_SET_NAME),
	HOOK_SAMPLE = KERNEL_HOOK(KERNEL_GROUP_PERF, KP_PERF_INFO_SAMPLE_PROF),
	HOOK_PMC_SAMPLE = KERNEL_HOOK(KERNEL_GROUP_PERF, KP_PERF_INFO_PMC_COUNTER_PROF),
	HOOK_STACK = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK),
	HOOK_STACK_KEY_CREATE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_CREATE),
	HOOK_STACK_KEY_DELETE = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_DELETE),
	HOOK_STACK_KEY_RUNDOWN = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_RUNDOWN),
	HOOK_STACK_KERNEL_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_KERNEL),
	HOOK_STACK_USER_KEY = KERNEL_HOOK(KERNEL_GROUP_STACK, KP_STACK_WALK_STACK_KEY_USER),
};

/* For the fields of kernel_payload.h. */
static inline struct kernel_payload payload_of(const struct etl_record *r)
{
	return (struct kernel_payload){r->payload, r->payload ? r->payload_bytes : 0, r->pointer_size};
}

/* Who begins, ends or is run down, of a record of the Thread class; false: it does not say. */
bool payload_thread(const struct etl_record *r, uint32_t *ret_pid, uint32_t *ret_tid);

/* The hook of a kernel record, also of one that a program or a merge tool wrote with the GUID of a
 * kernel class; 0 for all others. */
uint16_t payload_hook(const struct etl_record *r);

struct payload_process {
	uint32_t pid, parent, session;
	const uint8_t *name; /* 8-bit */
	uint32_t name_bytes;
	const uint8_t *command; /* UTF-16 */
	uint32_t command_units;
};
bool payload_process(const struct etl_record *r, struct payload_process *ret);

/* What a thread is called: its start or a rundown of it since version 3, or the setting of the name. */
struct payload_thread_name {
	uint32_t tid;
	const uint8_t *name; /* UTF-16 */
	uint32_t name_units; /* 0: none */
};
bool payload_thread_name(const struct etl_record *r, uint16_t hook, struct payload_thread_name *ret);

struct payload_image {
	uint64_t base, size;
	uint32_t pid, checksum, time_date_stamp;
	const uint8_t *path; /* UTF-16 */
	uint32_t path_units;
};
bool payload_image(const struct etl_record *r, struct payload_image *ret);

/* Which build of an image it is, as a merge adds it (class ImageId). */
struct payload_debug_id {
	uint64_t base;
	uint32_t pid, age;
	const uint8_t *guid;
	const uint8_t *name; /* 8-bit */
	uint32_t name_bytes;
};
bool payload_debug_id(const struct etl_record *r, struct payload_debug_id *ret);

/* What a merge says about a path that begins with a device: "\\Device\\HarddiskVolume2\\" is "C:\\". */
struct payload_volume {
	const uint8_t *device, *name; /* UTF-16 */
	uint32_t device_units, name_units;
};
bool payload_volume(const struct etl_record *r, struct payload_volume *ret);

bool payload_file(const struct etl_record *r, uint64_t *ret_key, const uint8_t **ret_path, uint32_t *ret_units);

#endif
