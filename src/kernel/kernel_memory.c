/* SPDX-License-Identifier: MIT
 *
 * VirtualAlloc and VirtualFree, views of files, and page faults. The kind of a soft fault is concluded
 * from what the processor said and from what lies at the address.
 */
#include "kernel/kernel_names.h"

#define HOOK_TRANSITION    0x020Au
#define HOOK_DEMAND_ZERO   0x020Bu
#define HOOK_COPY_ON_WRITE 0x020Cu
#define HOOK_VIOLATION     0x020Fu
#define HOOK_HARD_FAULT    0x0220u
#define HOOK_VIRTUAL_ALLOC 0x0262u
#define HOOK_VIRTUAL_FREE  0x0263u
#define HOOK_MAP_FILE      0x0425u
#define HOOK_UNMAP_FILE    0x0426u

#define PAGE          4096u
#define FAULT_PRESENT 1u
#define FAULT_WRITE   2u

bool kernel_memory_shape(struct kernel *k, struct kernel_names *names, const struct kbpf_record *raw)
{
	const struct kbpf_memory *m = (const void *)(raw + 1);
	struct kernel_record r;
	if (raw->bytes < sizeof *m) {
		return false;
	}
	uint64_t bytes = (m->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (raw->hook == KBPF_VIRTUAL_ALLOC || raw->hook == KBPF_VIRTUAL_FREE) {
		kernel_record_begin(&r, raw, raw->hook == KBPF_VIRTUAL_ALLOC ? HOOK_VIRTUAL_ALLOC : HOOK_VIRTUAL_FREE,
				    2, false);
		kernel_put(&r, m->address, 8);
		kernel_put(&r, bytes, 8);
		kernel_put(&r, raw->pid, 4);
		kernel_put(&r, m->flags, 4);
	} else {
		uint64_t key = kernel_names_key(names, m->inode, m->device, m->generation);
		kernel_names_tell(names, k, key, raw);
		kernel_record_begin(&r, raw, raw->hook == KBPF_MAP_FILE ? HOOK_MAP_FILE : HOOK_UNMAP_FILE, 2, false);
		kernel_put(&r, m->address, 8);
		kernel_put(&r, key, 8);
		kernel_put(&r, m->offset, 8); /* MiscInfo */
		kernel_put(&r, bytes, 8);
		kernel_put(&r, raw->pid, 4);
	}
	kernel_out(k, &r);
	return true;
}

void *kernel_fault_create(struct kernel *k, struct kernel_names *names)
{
	(void)k;
	return names;
}

bool kernel_fault_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	struct kernel_names *names = state;
	const struct kbpf_fault *f = (const void *)(raw + 1);
	struct kernel_record r;
	if (raw->bytes < sizeof *f) {
		return false;
	}
	if (raw->hook == KBPF_FAULT_HARD) {
		uint64_t key = kernel_names_key(names, f->inode, f->device, f->generation);
		kernel_names_tell(names, k, key, raw);
		kernel_record_begin(&r, raw, HOOK_HARD_FAULT, 2, false);
		kernel_put(&r, f->started ? f->started : raw->time, 8);
		kernel_put(&r, f->inode ? f->offset : 0, 8);
		kernel_put(&r, f->address, 8);
		kernel_put(&r, key, 8);
		kernel_put(&r, raw->tid, 4);
		kernel_put(&r, f->pages ? f->pages * PAGE : PAGE, 4); /* with what was read ahead */
		kernel_out(k, &r);
		return true;
	}
	uint16_t hook = HOOK_DEMAND_ZERO;
	if (f->area == KBPF_FAULT_NOWHERE) {
		hook = HOOK_VIOLATION;
	} else if ((f->error_code & (FAULT_PRESENT | FAULT_WRITE)) == (FAULT_PRESENT | FAULT_WRITE)) {
		hook = HOOK_COPY_ON_WRITE;
	} else if (f->error_code & FAULT_PRESENT) {
		hook = HOOK_VIOLATION;
	} else if (f->area == KBPF_FAULT_OF_FILE) {
		hook = HOOK_TRANSITION;
	}
	kernel_record_begin(&r, raw, hook, 2, false);
	kernel_put(&r, f->address, 8);
	kernel_put(&r, f->ip, 8);
	kernel_out(k, &r);
	return true;
}
