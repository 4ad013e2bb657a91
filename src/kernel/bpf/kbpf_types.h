/* SPDX-License-Identifier: MIT
 *
 * The kernel's structures, as much of them as programs here read. Offsets are found in the running
 * kernel's BTF when a program is loaded (preserve_access_index), so neither order nor
 * completeness matters; names and types of fields do. Where a field was renamed or moved between
 * kernels there is a second structure with a ___suffix, which the loader ignores.
 */
#ifndef KERNEL_BPF_KBPF_TYPES_H
#define KERNEL_BPF_KBPF_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s64 int64_t;
typedef __s32 int32_t;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* Of linux/bpf.h, which wants more headers than there are for this machine. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_RB_NO_WAKEUP = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
	__u64 orig_x0;
	__s32 syscallno;
};
#endif

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long long counter;
} atomic64_t;
typedef atomic64_t atomic_long_t;

struct signal_struct {
	atomic_t live;
};

struct list_node;
struct hlist_node {
	struct hlist_node *next;
};
struct hlist_head {
	struct hlist_node *first;
};

/* ---- files ---- */

struct super_block {
	unsigned int s_dev;
	struct dentry *s_root;
};
struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_rdev;
	unsigned int i_generation;
	long long i_size;
	struct hlist_head i_dentry;
};
struct qstr {
	unsigned int len;
	const unsigned char *name;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
typedef struct {
	atomic64_t refcnt;
} file_ref_t;
struct file {
	struct inode *f_inode;
	struct path f_path;
	unsigned int f_flags;
	long long f_pos;
	file_ref_t f_ref; /* since 6.13: one less than the references */
};
struct file___counted {
	atomic_long_t f_count; /* before */
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};
struct fs_struct {
	struct path root;
	struct path pwd;
};

struct kiocb {
	long long ki_pos;
};
struct io_rw { /* lies over the beginning of an io_kiocb */
	struct kiocb kiocb;
	__u64 addr;
	__u32 len;
};
struct io_cqe {
	__s32 res;
	int fd;
};
struct io_kiocb {
	struct file *file;
	__u8 opcode;
	__u64 flags;
	struct io_cqe cqe;
};
struct io_kiocb___narrow { /* before 6.9 */
	unsigned int flags;
};

/* ---- memory ---- */

struct address_space {
	struct inode *host;
};
struct page {
	struct address_space *mapping;
	unsigned long compound_head;
};
struct folio {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1; /* of those that are more than a page, since 6.6: the order in the low byte */
};
struct folio___named_flags { /* since 6.18 */
	struct {
		unsigned long f;
	} flags;
};
enum pageflags { PG_head };
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file *vm_file;
};
struct mm_struct {
	unsigned long brk;
};

/* ---- disks ---- */

struct gendisk {
	int major, first_minor;
};
struct request_queue {
	struct gendisk *disk;
};
struct request_queue___old; /* before 5.16 the request itself knew */
struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
};
struct bvec_iter {
	unsigned int bi_idx;
};
struct bio {
	struct bio *bi_next;
	struct bvec_iter bi_iter;
	unsigned short bi_vcnt;
	unsigned short bi_ioprio;
	struct bio_vec *bi_io_vec;
};
struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	unsigned long long __sector;
	struct bio *bio;
};
struct request___old {
	struct gendisk *rq_disk;
};

/* ---- tasks ---- */

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	int prio;
	int pagefault_disabled;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct files_struct *files;
	struct fs_struct *fs;
};

#pragma clang attribute pop

/* What programs on perf events are given; not the kernel's own structure. */
struct bpf_perf_event_data {
#if defined(__TARGET_ARCH_x86)
	unsigned long regs[21];
#else
	unsigned long regs[34];
#endif
	__u64 sample_period;
	__u64 addr;
};

#define PF_KTHREAD 0x00200000u

#endif
