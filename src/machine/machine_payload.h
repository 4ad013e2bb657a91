/* SPDX-License-Identifier: MIT
 *
 * Private to state: the few kernel payloads it lives on, taken apart. All return false when the
 * bytes do not fit the layout.
 */
#ifndef MACHINE_MACHINE_PAYLOAD_H
#define MACHINE_MACHINE_PAYLOAD_H

#include "etl/etl_reader.h"
#include "format/kernel_class.h"

/* Types common to the classes that are run down, types of single classes, hooks. */
enum {
	TYPE_START = 1,
	TYPE_END = 2,
	TYPE_DC_START = 3,
	TYPE_DC_END = 4,

	TYPE_DISK_READ = 0x0A,
	TYPE_DISK_WRITE = 0x0B,

	TYPE_FILE_NAME = 0,
	TYPE_FILE_CREATE = 0x20,
	TYPE_NET_FAIL = 0x11,
	TYPE_FILE_DELETE = 0x23,
	TYPE_FILE_RUNDOWN = 0x24,
	TYPE_FILE_MAP = 0x25,
	TYPE_FILE_MAP_DC_END = 0x28,
	TYPE_FILE_OPEN = 0x40,
	TYPE_FILE_READ = 0x43,
	TYPE_FILE_WRITE = 0x44,
	TYPE_FILE_END = 0x4C,

	HOOK_PROCESS_DEFUNCT = 0x0327,
	HOOK_HARD_FAULT = 0x0220,
	HOOK_CSWITCH = 0x0524,
	HOOK_THREAD_NAME = 0x0548,
	HOOK_SAMPLE = 0x0F2E,
	HOOK_PMC_SAMPLE = 0x0F2F,
	HOOK_STACK = 0x1820,
	HOOK_STACK_KEY_CREATE = 0x1822,
	HOOK_STACK_KEY_DELETE = 0x1823,
	HOOK_STACK_KEY_RUNDOWN = 0x1824,
	HOOK_STACK_KERNEL_KEY = 0x1825,
	HOOK_STACK_USER_KEY = 0x1826,
};

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
