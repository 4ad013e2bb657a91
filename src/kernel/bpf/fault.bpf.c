/* SPDX-License-Identifier: MIT
 *
 * Page faults: every one when it happens, with what lies at the address; and those that had to wait for
 * a disk when they are over, from perf's counter of major faults, with the file that was read.
 */
#include "kbpf_file.h"

struct found {
	bool any;
	struct file *file;
};
static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct found *f)
{
	f->any = true;
	f->file = vma->vm_file;
	return 0;
}

static __always_inline void fault(void *ctx, uint32_t slot, uint64_t address, uint64_t ip, uint64_t code)
{
	struct kbpf_who who, hard;
	struct task_struct *task = bpf_get_current_task_btf();
	if (kbpf_wanted(KBPF_FAULT_HARD, &hard)) {
		struct kbpf_state *st = kbpf_state_of_current(true);
		if (st) {
			st->fault_time = hard.time;
			st->fault_key.inode = 0;
		}
	}
	if (!kbpf_wanted(KBPF_FAULT_SOFT, &who)) {
		return;
	}
	struct found f = {0};
	long err = bpf_find_vma(task, address, on_vma, &f, 0);
	struct kbpf_fault r = {.address = address, .ip = ip, .error_code = code};
	r.area = err == -2  ? KBPF_FAULT_NOWHERE /* ENOENT */
		 : err != 0 ? KBPF_FAULT_UNKNOWN
		 : f.file   ? KBPF_FAULT_OF_FILE
			    : KBPF_FAULT_ANONYMOUS;
	kbpf_write(ctx, &who, slot, &r, sizeof r);
}

#if defined(__TARGET_ARCH_x86)
#define IP(regs) ((regs)->ip)
#else
#define IP(regs) ((regs)->pc)
#endif

SEC("tp_btf/page_fault_user")
int BPF_PROG(kbpf_fault_user, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	fault(ctx, KBPF_SLOT_FAULT_USER, address, IP(regs), code);
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(kbpf_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	/* Attempts that may fail, and bring no page in: most are those of programs that walk stacks. */
	if (bpf_get_current_task_btf()->pagefault_disabled) {
		return 0;
	}
	fault(ctx, KBPF_SLOT_FAULT_KERNEL, address, IP(regs), code);
	return 0;
}

/* A fault looks for a page of a file. */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(kbpf_fault_file, struct address_space *mapping, unsigned long index)
{
	struct kbpf_state *st = kbpf_state_of_current(false);
	struct inode *inode = BPF_CORE_READ(mapping, host);
	struct kbpf_scratch *s = kbpf_slot(KBPF_SLOT_FAULT_FILE);
	if (st && s && inode) {
		struct kbpf_key key;
		kbpf_key_of(inode, &key);
		st->fault_key = key;
		st->fault_offset = index << 12;
		st->fault_pages = 0;
		kbpf_name_inode(ctx, KBPF_SLOT_FAULT_FILE, s, inode, &key);
	}
	return 0;
}

/* What is read for it comes into the page cache, in the thread that waits. */
SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(kbpf_fault_read, struct folio *folio)
{
	struct kbpf_state *st = kbpf_state_of_current(false);
	if (!st || !st->fault_key.inode) {
		return 0;
	}
	struct kbpf_key key;
	kbpf_key_of(BPF_CORE_READ(folio, mapping, host), &key);
	if (key.inode == st->fault_key.inode && key.device == st->fault_key.device) {
		uint64_t index = BPF_CORE_READ(folio, index), flags, pages = 1;
		struct folio___named_flags *named = (void *)folio;
		if (bpf_core_field_exists(named->flags.f)) {
			flags = BPF_CORE_READ(named, flags.f);
		} else {
			flags = BPF_CORE_READ(folio, flags);
		}
		if (flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1) {
			pages = 1ull << (BPF_CORE_READ(folio, _flags_1) & 31);
		}
		if (st->fault_pages == 0 || index < st->fault_first) {
			st->fault_first = index;
		}
		st->fault_pages += pages;
	}
	return 0;
}

SEC("perf_event")
int kbpf_fault_major(struct bpf_perf_event_data *ctx)
{
	struct kbpf_who who;
	if (kbpf_wanted(KBPF_FAULT_HARD, &who)) {
		struct kbpf_fault r = {.address = ctx->addr};
		struct kbpf_state *st = kbpf_state_of_current(false);
		if (st) {
			r.started = st->fault_time;
			r.inode = st->fault_key.inode;
			r.device = st->fault_key.device;
			r.generation = st->fault_key.generation;
			r.offset = st->fault_pages ? st->fault_first << 12 : st->fault_offset;
			r.pages = st->fault_pages;
			st->fault_key.inode = 0;
		}
		kbpf_write(ctx, &who, KBPF_SLOT_FAULT_MAJOR, &r, sizeof r);
	}
	return 0;
}
