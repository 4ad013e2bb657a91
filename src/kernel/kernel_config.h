/* SPDX-License-Identifier: MIT
 *
 * What the machine is: Windows' SystemConfig class, from /proc and /sys. Below a folder of your own
 * (`root`) for tests. Nothing is made up: what this machine does not have makes no record.
 */
#ifndef KERNEL_KERNEL_CONFIG_H
#define KERNEL_KERNEL_CONFIG_H

#include "kernel/kernel_private.h"

struct kernel_config {
	void (*out)(void *ctx, const struct kernel_record *r);
	void *ctx;
	const char *root; /* "" for this machine */
	uint16_t cpu;     /* whose buffers the records go to */
	uint32_t pid, tid;
};

/* All of it. */
void kernel_config_write(const struct kernel_config *c);

/* DiskNumber: whole disks (neither loop, ram nor zram) in the order of their device numbers, as
 * PhyDisk announces them. */
struct kernel_disks {
	uint32_t count;
	struct kernel_disk {
		uint32_t major, minor;
		char name[32];
	} disk[64];
};
void kernel_disks_read(const char *root, struct kernel_disks *ret);
/* Of a disk or one of its partitions; UINT32_MAX: none of ours. */
uint32_t kernel_disk_number(const struct kernel_disks *d, const char *root, uint32_t major, uint32_t minor);

/* ---- shared by the files of config ------------------------------------------------------------
 */

/* One line of a file below root without its end; "" when there is none. */
bool config_line(const struct kernel_config *c, char *out, size_t cap, const char *fmt, ...) BASE_PRINTF(4, 5);
uint64_t config_number(const struct kernel_config *c, uint64_t otherwise, const char *fmt, ...) BASE_PRINTF(3, 4);
struct kernel_record config_record(const struct kernel_config *c, uint8_t type, uint8_t version);
void config_out(const struct kernel_config *c, struct kernel_record *r);
extern const struct guid config_class_ex; /* what a merge adds on Windows */
void config_disks(const struct kernel_config *c);
void config_network(const struct kernel_config *c);
void config_devices(const struct kernel_config *c);
void config_services(const struct kernel_config *c);

#endif
