/* SPDX-License-Identifier: MIT
 * DiskIo: what was asked of a disk, and what was done.
 */
#include "kernel/kernel_config.h"
#include "kernel/kernel_names.h"

#include <stdlib.h>

#define HOOK_READ       0x010Au
#define HOOK_WRITE      0x010Bu
#define HOOK_READ_INIT  0x010Cu
#define HOOK_WRITE_INIT 0x010Du
#define HOOK_FLUSH      0x010Eu
#define HOOK_FLUSH_INIT 0x010Fu

#define SECTOR_BYTES 512u
#define KNOWN_MAX    64u

/* IrpFlags */
#define IRP_NOCACHE  0x001u
#define IRP_PAGING   0x002u
#define IRP_SYNC     0x004u
#define IRP_READ     0x100u
#define IRP_WRITE    0x200u
#define IRP_PRIORITY 17u
enum { PRIORITY_VERY_LOW = 1, PRIORITY_NORMAL = 3, PRIORITY_HIGH = 4 };

/* cmd_flags of a request, the bits that have kept their places since Linux 4.8. */
#define REQ_SYNC (1u << 11)

struct disks {
	struct kernel_names *names;
	struct kernel_disks list;
	struct {
		uint32_t device, number;
	} known[KNOWN_MAX];
	uint32_t count;
};

void *kernel_disk_create(struct kernel *k, struct kernel_names *names)
{
	struct disks *d = calloc(1, sizeof *d);
	(void)k;
	if (d) {
		d->names = names;
		kernel_disks_read("", &d->list);
	}
	return d;
}

void kernel_disk_destroy(void *state)
{
	free(state);
}

/* UINT32_MAX for what is no disk: loop, ram, zram. */
static uint32_t number_of(struct disks *d, uint32_t device)
{
	for (uint32_t i = 0; i < d->count; i++) {
		if (d->known[i].device == device) {
			return d->known[i].number;
		}
	}
	uint32_t number = kernel_disk_number(&d->list, "", device >> 20, device & 0xFFFFF);
	if (d->count < KNOWN_MAX) {
		d->known[d->count].device = device;
		d->known[d->count++].number = number;
	}
	return number;
}

static uint32_t flags_of(const struct kbpf_disk *x)
{
	uint32_t class = x->ioprio >> 13;
	uint32_t priority = class == 1 ? PRIORITY_HIGH : class == 3 ? PRIORITY_VERY_LOW : PRIORITY_NORMAL;
	uint32_t flags = priority << IRP_PRIORITY;
	flags |= x->op == KBPF_DISK_READ ? IRP_READ : x->op == KBPF_DISK_WRITE ? IRP_WRITE : 0;
	flags |= x->op_flags & REQ_SYNC ? IRP_SYNC : 0;
	return flags | IRP_NOCACHE | (x->inode ? IRP_PAGING : 0);
}

bool kernel_disk_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	struct disks *d = state;
	const struct kbpf_disk *x = (const void *)(raw + 1);
	static const uint16_t init[] = {HOOK_READ_INIT, HOOK_WRITE_INIT, HOOK_FLUSH_INIT};
	static const uint16_t done[] = {HOOK_READ, HOOK_WRITE, HOOK_FLUSH};
	struct kernel_record r;
	if (!d || raw->bytes < sizeof *x || x->op > KBPF_DISK_FLUSH) {
		return false; /* discards and the like have no event */
	}
	uint32_t number = number_of(d, x->disk);
	if (number == UINT32_MAX) {
		return false;
	}
	if (raw->hook == KBPF_DISK_INIT) {
		kernel_record_begin(&r, raw, init[x->op], 3, false);
		kernel_put(&r, x->irp, 8);
		kernel_put(&r, x->tid, 4);
		kernel_out(k, &r);
		return true;
	}
	uint64_t key = kernel_names_key(d->names, x->inode, x->device, x->generation);
	uint64_t took = x->started && raw->time > x->started ? raw->time - x->started : 0;
	kernel_names_tell(d->names, k, key, raw);
	kernel_record_begin(&r, raw, done[x->op], 3, true);
	kernel_put(&r, number, 4);
	kernel_put(&r, flags_of(x), 4);
	if (x->op != KBPF_DISK_FLUSH) {
		kernel_put(&r, x->bytes, 4);
		kernel_put(&r, 0, 4);
		kernel_put(&r, x->sector * SECTOR_BYTES, 8);
		kernel_put(&r, key, 8);
		kernel_put(&r, x->irp, 8);
		kernel_put(&r, took, 8);
	} else {
		kernel_put(&r, took, 8);
		kernel_put(&r, x->irp, 8);
	}
	kernel_put(&r, x->tid, 4);
	kernel_out(k, &r);
	return true;
}
