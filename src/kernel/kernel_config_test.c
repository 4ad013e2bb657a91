/* SPDX-License-Identifier: MIT
 *
 * A machine of files in a folder, and what the trace must say of it. Sizes and offsets are those of
 * real traces of Windows: CPU 828 bytes, PhyDisk 568, LogDisk 112, Processors 428, Power 8.
 */
#include "kernel/kernel_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[256];

static void folders(char *path)
{
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
}

static void put(const char *name, const char *text)
{
	char path[600];
	snprintf(path, sizeof path, "%s%s", root, name);
	folders(path);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_link(const char *name, const char *to)
{
	char path[600];
	snprintf(path, sizeof path, "%s%s", root, name);
	folders(path);
	assert_int_equal(symlink(to, path), 0);
}

/* ---- what was written -------------------------------------------------------------------------
 */

enum { KEPT = 64 };
struct kept {
	uint32_t n;
	struct kernel_record r[KEPT];
};

static void keep(void *ctx, const struct kernel_record *r)
{
	struct kept *k = ctx;
	assert_true(k->n < KEPT);
	k->r[k->n++] = *r;
}

static const struct kernel_record *nth(const struct kept *k, uint16_t hook, bool classic, int n)
{
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->r[i].hook == hook && (k->r[i].class != NULL) == classic && n-- == 0) {
			return &k->r[i];
		}
	}
	return NULL;
}

static void text_at(const struct kernel_record *r, uint32_t at, const char *expected)
{
	char out[512];
	assert_true(at < r->n);
	size_t units = 0;
	while (at + 2 * units + 1 < r->n && le16_get(r->payload + at + 2 * units) != 0) {
		units++;
	}
	assert_true(utf16_to_utf8(r->payload + at, units, out, sizeof out) >= 0);
	assert_string_equal(out, expected);
}

static int make_machine(void **state)
{
	snprintf(root, sizeof root, "/tmp/kernel_config_test.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
			     "model name\t: A Processor @ 2.00GHz\nstepping\t: 7\ncpu MHz\t\t: 1999.998\n"
			     "flags\t\t: fpu pae nx hypervisor\n\n"
			     "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
			     "model name\t: A Processor @ 2.00GHz\nstepping\t: 7\ncpu MHz\t\t: 1999.998\n"
			     "flags\t\t: fpu pae nxy hypervisor\n\n");
	put("/proc/meminfo", "MemTotal:        4194304 kB\nMemFree: 1 kB\n");
	put("/proc/sys/kernel/hostname", "box\n");
	put("/proc/sys/kernel/domainname", "(none)\n");
	put("/proc/sys/kernel/osrelease", "6.1.0\n");
	put("/proc/sys/kernel/version", "#1 SMP\n");
	put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"A System 1\"\n");
	put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
	put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
	put("/sys/devices/system/node/node0/cpulist", "0-1\n");
	/* two disks, of which the second has the lower number; one partition; one loop device */
	put("/sys/devices/sda/dev", "8:0\n");
	put("/sys/devices/sda/size", "16065000\n");
	put("/sys/devices/sda/queue/logical_block_size", "512\n");
	put("/sys/devices/sda/queue/write_cache", "write back\n");
	put("/sys/devices/sda/sda1/partition", "1\n");
	put("/sys/devices/sda/sda1/dev", "8:1\n");
	put("/sys/devices/sda/sda1/start", "2048\n");
	put("/sys/devices/sda/sda1/size", "1000000\n");
	put("/sys/devices/2:0:1:3/vendor", "ATA     \n");
	put("/sys/devices/2:0:1:3/model", "A DISK          \n");
	put_link("/sys/devices/sda/device", "../2:0:1:3");
	put("/sys/devices/nvme/dev", "259:0\n");
	put("/sys/devices/nvme/size", "100\n");
	put("/sys/devices/nvme/queue/logical_block_size", "4096\n");
	put("/sys/devices/loop/dev", "7:0\n");
	put_link("/sys/block/nvme0n1", "../devices/nvme");
	put_link("/sys/block/sda", "../devices/sda");
	put_link("/sys/block/loop0", "../devices/loop");
	put_link("/sys/dev/block/8:1", "../../devices/sda/sda1");
	put_link("/sys/dev/block/8:0", "../../devices/sda");
	put_link("/sys/dev/block/259:0", "../../devices/nvme");
	put("/proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n"
				    "23 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
				    "24 1 8:1 /sub /bind rw - ext4 /dev/sda1 rw\n"
				    "25 1 259:0 / /my\\040data rw - xfs /dev/nvme0n1 rw\n");
	put("/sys/class/net/eth9/address", "00:15:5d:7c:58:28\n");
	put("/sys/class/net/eth9/ifindex", "12\n");
	put("/proc/net/if_inet6", "fe80000000000000095 0 0 0 0 x\n"
				  "20014898000000000000000000000001 0c 40 00 80 eth9\n");
	put("/etc/resolv.conf", "# x\nnameserver 10.0.0.1\nnameserver 10.0.0.2\n");
	put("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
	put("/sys/power/state", "freeze mem disk\n");
	put("/sys/power/mem_sleep", "s2idle [deep]\n");
	put("/sys/fs/cgroup/system.slice/ssh.service/cgroup.procs", "812\n900\n");
	put("/proc/812/comm", "sshd\n");
	put("/proc/irq/9/smp_affinity", "00000001,00000003\n");
	put("/proc/irq/9/acpi/x", "");
	put("/proc/irq/10/smp_affinity", "3\n");
	struct kept *k = calloc(1, sizeof *k);
	assert_non_null(k);
	struct kernel_config c = {.out = keep, .ctx = k, .root = root, .pid = 7, .tid = 8};
	kernel_config_write(&c);
	*state = k;
	return 0;
}

static int remove_machine(void **state)
{
	char command[300];
	free(*state);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

static void the_processors_are_as_windows_lays_them_out(void **state)
{
	const struct kernel_record *r = nth(*state, 0x0B0A, false, 0);
	assert_non_null(r);
	assert_int_equal(r->version, 3);
	assert_int_equal(r->n, 828);
	assert_int_equal(r->pid, 7);
	assert_int_equal(le32_get(r->payload), 2000);
	assert_int_equal(le32_get(r->payload + 4), 2);
	assert_int_equal(le32_get(r->payload + 8), 4096);
	text_at(r, 20, "box");
	text_at(r, 20 + 512, "");
	assert_int_equal(le64_get(r->payload + 800), 3); /* HyperThreadingFlag */
	assert_int_equal(le16_get(r->payload + 818), 6); /* ProcessorLevel */
	assert_int_equal(le16_get(r->payload + 820), 85 << 8 | 7);
	assert_int_equal(r->payload[822], 1);
	assert_int_equal(r->payload[823], 1);
	r = nth(*state, 0x0B23, false, 1);
	assert_non_null(r);
	assert_int_equal(r->n, 428);
	assert_int_equal(le32_get(r->payload), 1);
	text_at(r, 12, "A Processor @ 2.00GHz");
	text_at(r, 140, "Intel64 Family 6 Model 85 Stepping 7");
	text_at(r, 396, "GenuineIntel");
	assert_null(nth(*state, 0x0B23, false, 2));
	r = nth(*state, 0x0B1A, false, 0);
	assert_true(r->perfinfo);
	assert_int_equal(r->n, 12);
	assert_int_equal(le64_get(r->payload + 4), 3);
	r = nth(*state, 0x0B18, false, 0);
	assert_int_equal(r->n, 20);
	assert_int_equal(le64_get(r->payload + 4), 3);
	r = nth(*state, 0x0B1B, false, 0);
	assert_int_equal(le32_get(r->payload + 8), 1 << 16);
}

static void disks_are_numbered_by_their_device_numbers_and_loops_are_none(void **state)
{
	const struct kernel_record *r = nth(*state, 0x0B0B, false, 0);
	assert_non_null(r);
	assert_int_equal(r->n, 568);
	assert_int_equal(le32_get(r->payload), 0);
	assert_int_equal(le32_get(r->payload + 4), 512);
	assert_int_equal(le64_get(r->payload + 16), 1000); /* 16065000 / (63 * 255) */
	assert_int_equal(le32_get(r->payload + 24), 2);
	assert_int_equal(le32_get(r->payload + 32), 1);
	assert_int_equal(le32_get(r->payload + 36), 3);
	text_at(r, 40, "ATA A DISK");
	assert_int_equal(le32_get(r->payload + 552), 1);
	assert_int_equal(r->payload[556], 1);
	text_at(r, 558, "/");
	r = nth(*state, 0x0B0B, false, 1);
	assert_int_equal(le32_get(r->payload + 4), 4096);
	text_at(r, 40, "nvme0n1");
	assert_null(nth(*state, 0x0B0B, false, 2));

	struct kernel_disks d;
	kernel_disks_read(root, &d);
	assert_int_equal(kernel_disk_number(&d, root, 8, 1), 0);
	assert_int_equal(kernel_disk_number(&d, root, 8, 0), 0);
	assert_int_equal(kernel_disk_number(&d, root, 259, 0), 1);
	assert_int_equal(kernel_disk_number(&d, root, 7, 0), UINT32_MAX);
}

static void each_volume_is_there_once_and_its_place_is_explained(void **state)
{
	const struct kernel_record *r = nth(*state, 0x0B0C, false, 0);
	assert_non_null(r);
	assert_int_equal(r->n, 112);
	assert_int_equal(le64_get(r->payload), 2048 * 512);
	assert_int_equal(le64_get(r->payload + 8), 512000000);
	assert_int_equal(le32_get(r->payload + 20), 112);
	text_at(r, 28, "/");
	assert_int_equal(le32_get(r->payload + 40), 1); /* PartitionNumber */
	text_at(r, 72, "ext4");
	r = nth(*state, 0x0B0C, false, 1);
	assert_int_equal(le32_get(r->payload + 16), 1);
	text_at(r, 28, "1:");
	assert_null(nth(*state, 0x0B0C, false, 2));
	r = nth(*state, 0x23, true, 0);
	assert_non_null(r);
	text_at(r, 0, "1:");
	text_at(r, 6, "/my data");
}

static void networks_services_interrupts_and_power_are_what_the_files_say(void **state)
{
	const struct kernel_record *r = nth(*state, 0x0B0D, false, 0);
	assert_non_null(r);
	assert_int_equal(le64_get(r->payload), 0x28587C5D1500ull); /* as in a trace of Windows 8 */
	assert_int_equal(le32_get(r->payload + 8), 6);
	assert_int_equal(le32_get(r->payload + 12), 12);
	text_at(r, 20, "eth9");
	text_at(r, 30, "2001:4898::1");
	text_at(r, 56, "10.0.0.1;10.0.0.2");
	r = nth(*state, 0x0B11, false, 0);
	assert_int_equal(r->n, 16);
	assert_int_equal(le32_get(r->payload + 8), 60999);
	r = nth(*state, 0x0B0F, false, 0);
	assert_non_null(r);
	assert_int_equal(r->version, 3);
	assert_int_equal(le32_get(r->payload), 812);
	text_at(r, 12, "ssh");
	text_at(r, 20, "ssh.service");
	text_at(r, 44, "sshd");
	assert_int_equal(r->n, 54 + 4); /* and two empty strings */
	r = nth(*state, 0x0B15, false, 0);
	assert_non_null(r);
	assert_int_equal(le64_get(r->payload), 1ull << 32 | 3);
	assert_int_equal(le32_get(r->payload + 12), 9);
	text_at(r, 20, "acpi");
	assert_null(nth(*state, 0x0B15, false, 1)); /* nobody takes 10 */
	r = nth(*state, 0x0B10, false, 0);
	assert_int_equal(r->n, 8);
	assert_memory_equal(r->payload, "\0\0\1\1\1\0\0\0", 8);
	r = nth(*state, 0x20, true, 0);
	text_at(r, 8, "6.1.0 #1 SMP");
	text_at(r, 8 + 26, "A System 1");
	assert_null(nth(*state, 0x0B0E, false, 0)); /* no screen */
	assert_null(nth(*state, 0x0B19, false, 0)); /* no firmware tables */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_processors_are_as_windows_lays_them_out),
		cmocka_unit_test(disks_are_numbered_by_their_device_numbers_and_loops_are_none),
		cmocka_unit_test(each_volume_is_there_once_and_its_place_is_explained),
		cmocka_unit_test(networks_services_interrupts_and_power_are_what_the_files_say),
	};
	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
