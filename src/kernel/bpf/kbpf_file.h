/* SPDX-License-Identifier: MIT
 *
 * Files as programs see them: which one a descriptor means, what it is called, which one the current
 * thread is working on.
 */
#ifndef KERNEL_BPF_KBPF_FILE_H
#define KERNEL_BPF_KBPF_FILE_H

#include "kbpf_core.h"

#define S_IFMT  0170000u
#define S_IFREG 0100000u
#define S_IFDIR 0040000u
#define S_IFBLK 0060000u

#define DEPTH_MAX 1024 /* names and mount points of a path */
#define NAME_MAX  256

/* Which file, for good: the numbers of the file system. */
struct kbpf_key {
	uint64_t inode;
	uint32_t device, generation;
};

/* What a thread is doing. */
struct kbpf_state {
	uint64_t start, irp, object, offset, size, brk;
	struct kbpf_key key;
	uint64_t args[8]; /* 6, and room for the verifier's mask */
	uint32_t call;    /* number + 1; 0: nothing we follow */
	uint32_t count;
	uint64_t object2;
	struct kbpf_key key2;
	/* faults */
	uint64_t fault_time, fault_offset;
	uint64_t fault_first, fault_pages; /* that were read for it */
	struct kbpf_key fault_key;
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kbpf_state);
} kbpf_states SEC(".maps");

/* What each system call is, by number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KBPF_CALLS_MAX);
	__type(key, uint32_t);
	__type(value, struct kbpf_call);
} kbpf_calls SEC(".maps");

/* Files whose names were told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct kbpf_key);
	__type(value, uint8_t);
} kbpf_named SEC(".maps");

static __always_inline struct kbpf_state *kbpf_state_of_current(bool make)
{
	return bpf_task_storage_get(&kbpf_states, bpf_get_current_task_btf(), NULL,
				    make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* Device numbers as user space writes them: major << 20 | minor is the kernel's own form. */
static __always_inline void kbpf_key_of(struct inode *inode, struct kbpf_key *ret)
{
	ret->inode = BPF_CORE_READ(inode, i_ino);
	ret->device = BPF_CORE_READ(inode, i_sb, s_dev);
	ret->generation = BPF_CORE_READ(inode, i_generation);
}

/* Regular files, directories and block devices; sockets and pipes would drown a trace. */
static __always_inline bool kbpf_is_file(struct inode *inode, uint32_t *ret_mode)
{
	uint32_t mode = BPF_CORE_READ(inode, i_mode);
	*ret_mode = mode;
	mode &= S_IFMT;
	return mode == S_IFREG || mode == S_IFDIR || mode == S_IFBLK;
}

static __always_inline struct file *kbpf_file_of_fd(uint64_t fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots = BPF_CORE_READ(table, fd);
	struct file *file = NULL;
	if (fd < BPF_CORE_READ(table, max_fds)) {
		bpf_probe_read_kernel(&file, sizeof file, &slots[fd]);
	}
	return file;
}

/* The file that the system call the current thread is in reads or writes; NULL: none. */
static __always_inline struct file *kbpf_file_of_call(void)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
#if defined(__TARGET_ARCH_x86)
	uint32_t nr = BPF_CORE_READ(regs, orig_ax);
	uint64_t first = BPF_CORE_READ(regs, di), second = BPF_CORE_READ(regs, si);
#else
	uint32_t nr = BPF_CORE_READ(regs, regs[8]);
	uint64_t first = BPF_CORE_READ(regs, orig_x0), second = BPF_CORE_READ(regs, regs[1]);
#endif
	struct kbpf_call *call = bpf_map_lookup_elem(&kbpf_calls, &nr);
	if (!call || call->kind != KBPF_CALL_FILE) {
		return NULL;
	}
	return kbpf_file_of_fd((uint32_t)(call->dir == 0 ? first : second));
}

static __always_inline bool kbpf_is_last(struct file *file)
{
	if (bpf_core_field_exists(file->f_ref)) {
		return BPF_CORE_READ(file, f_ref.refcnt.counter) == 0;
	}
	struct file___counted *old = (void *)file;
	return BPF_CORE_READ(old, f_count.counter) == 1;
}

/* ---- names ------------------------------------------------------------------------------------ */

struct kbpf_walk {
	struct dentry *dentry;
	struct mount *mount; /* NULL: stay in the file system */
	struct dentry *root; /* of the process: it sees nothing above */
	uint32_t slot;
	uint32_t at, end; /* in the slot's body */
};

static long kbpf_walk_step(uint32_t i, struct kbpf_walk *w)
{
	uint32_t slot = w->slot, at = w->at;
	struct kbpf_scratch *s = bpf_map_lookup_elem(&kbpf_scratch, &slot);
	struct dentry *dentry = w->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	if (!s || at > KBPF_PAYLOAD_MAX - NAME_MAX || at >= w->end) {
		return 1;
	}
	struct mount *mount = w->mount;
	if (dentry == w->root) {
		return 1;
	}
	if (mount && dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		struct mount *above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount) {
			return 1;
		}
		w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = above;
		return 0;
	}
	if (dentry == parent) {
		return 1;
	}
	long n = bpf_probe_read_kernel_str(s->body + at, NAME_MAX, BPF_CORE_READ(dentry, d_name.name));
	if (n > 0) {
		w->at = at + (uint32_t)n;
	}
	w->dentry = parent;
	return 0;
}

/* Names from the last to the first into the slot's body from `at` on; bytes written, at most `max`, a
 * constant. */
static __always_inline uint32_t kbpf_walk(uint32_t slot, uint32_t at, struct dentry *dentry, struct vfsmount *mnt,
					  const uint32_t max)
{
	struct kbpf_walk w = {.dentry = dentry, .slot = slot, .at = at, .end = at + max};
	if (mnt) {
		w.root = BPF_CORE_READ(bpf_get_current_task_btf(), fs, root.dentry);
		w.mount = (void *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
	}
	bpf_loop(DEPTH_MAX, kbpf_walk_step, &w, 0);
	uint32_t n = w.at - at;
	return n > max ? max : n;
}

/* The same when only the inode is at hand: the path in its file system, told once. Block devices have
 * none; their number stands in `offset`. */
static __always_inline void kbpf_name_inode(void *ctx, uint32_t slot, struct kbpf_scratch *s, struct inode *inode,
					    const struct kbpf_key *key)
{
	struct kbpf_who who;
	uint8_t one = 1;
	struct kbpf_key k = *key;
	if (bpf_map_lookup_elem(&kbpf_named, &k) || !kbpf_wanted(KBPF_FILE_NAME, &who)) {
		return;
	}
	struct kbpf_file *f = (void *)s->body;
	struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);
	f->irp = 0;
	f->object = 0;
	f->inode = k.inode;
	f->device = k.device;
	f->generation = k.generation;
	f->size = 0;
	f->result = 0;
	f->open_flags = f->number = 0;
	f->flags = KBPF_FILE_OF_DEVICE;
	f->mode = BPF_CORE_READ(inode, i_mode);
	f->offset = BPF_CORE_READ(inode, i_rdev);
	f->text[0] = f->text[1] = f->text[2] = f->text[3] = 0;
	if (alias) {
		struct dentry *dentry = (void *)((char *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias));
		f->text[1] = kbpf_walk(slot, sizeof *f, dentry, NULL, KBPF_PATH_MAX);
	} else if ((f->mode & S_IFMT) != S_IFBLK) {
		return; /* no name yet, or no more */
	}
	who.stacks = 0;
	if (kbpf_send(ctx, &who, slot, s, sizeof *f + f->text[1])) {
		bpf_map_update_elem(&kbpf_named, &k, &one, BPF_ANY);
	}
}

static __always_inline uint32_t kbpf_walk_file(uint32_t slot, uint32_t at, struct file *file, const uint32_t max)
{
	return kbpf_walk(slot, at, BPF_CORE_READ(file, f_path.dentry), BPF_CORE_READ(file, f_path.mnt), max);
}

#endif
