/* SPDX-License-Identifier: MIT
 *
 * Requests to disks: made, given to the device, done. Which file they are about is read from the first
 * page's mapping; a direct request has none and is about what its thread is working on.
 */
#include "kbpf_file.h"

#define REQ_OP_MASK  0xFFu
#define REQ_OP_READ  0
#define REQ_OP_WRITE 1

struct made {
	uint64_t irp, made, issued;
	struct kbpf_key key;
	uint32_t pid, tid, flags, ioprio;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct made);
} kbpf_requests SEC(".maps");

static __always_inline struct inode *inode_of(struct request *rq)
{
	struct bio *bio = BPF_CORE_READ(rq, bio);
	struct bio_vec *vector = BPF_CORE_READ(bio, bi_io_vec);
	struct page *page = NULL;
	if (!bio || !vector || BPF_CORE_READ(bio, bi_vcnt) == 0) {
		return NULL;
	}
	page = BPF_CORE_READ(vector, bv_page);
	uint64_t head = BPF_CORE_READ(page, compound_head);
	if (head & 1) {
		page = (void *)(head - 1);
	}
	uint64_t mapping = (uint64_t)BPF_CORE_READ(page, mapping);
	if (mapping == 0 || (mapping & 3)) { /* of a program's memory */
		return NULL;
	}
	struct address_space *space = (void *)mapping;
	return BPF_CORE_READ(space, host);
}

static __always_inline struct gendisk *disk_of(struct request *rq)
{
	struct request_queue *q = BPF_CORE_READ(rq, q);
	if (bpf_core_field_exists(q->disk)) {
		return BPF_CORE_READ(q, disk);
	}
	struct request___old *old = (void *)rq;
	return BPF_CORE_READ(old, rq_disk);
}

static __always_inline void fill(struct kbpf_disk *d, struct request *rq, const struct made *m)
{
	struct gendisk *disk = disk_of(rq);
	uint32_t flags = BPF_CORE_READ(rq, cmd_flags), op = flags & REQ_OP_MASK;
	d->irp = m->irp;
	d->sector = BPF_CORE_READ(rq, __sector);
	d->started = m->issued ? m->issued : m->made;
	d->inode = m->key.inode;
	d->device = m->key.device;
	d->generation = m->key.generation;
	d->disk = disk ? (uint32_t)BPF_CORE_READ(disk, major) << 20 | (uint32_t)BPF_CORE_READ(disk, first_minor) : 0;
	d->bytes = BPF_CORE_READ(rq, __data_len);
	/* A flush is asked for by a write of nothing. What the device gets for it then, REQ_OP_FLUSH, may
	 * serve several that asked, in anybody's thread. */
	d->op = op == REQ_OP_READ    ? KBPF_DISK_READ
		: op != REQ_OP_WRITE ? KBPF_DISK_OTHER
		: d->bytes == 0      ? KBPF_DISK_FLUSH
				     : KBPF_DISK_WRITE;
	d->op_flags = flags;
	d->tid = m->tid;
	d->ioprio = m->ioprio;
	d->error = 0;
	d->reserved = 0;
}

static __always_inline void made(void *ctx, uint32_t slot, struct request *rq, bool issued)
{
	struct kbpf_who who;
	uint64_t key = (uint64_t)rq;
	uint64_t now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct made *known = bpf_map_lookup_elem(&kbpf_requests, &key);
	struct kbpf_scratch *s = kbpf_slot(slot);
	if (known && issued) {
		known->issued = now;
		return;
	}
	if (!s) {
		return;
	}
	struct task_struct *task = bpf_get_current_task_btf();
	struct made m = {
		.irp = now << 10 | (bpf_get_smp_processor_id() & 1023), .made = now, .issued = issued ? now : 0};
	m.pid = id >> 32;
	m.tid = (uint32_t)id;
	m.flags = task->flags & PF_KTHREAD ? KBPF_KERNEL_THREAD : 0;
	struct bio *bio = BPF_CORE_READ(rq, bio);
	m.ioprio = bio ? BPF_CORE_READ(bio, bi_ioprio) : 0;
	struct inode *inode = inode_of(rq);
	if (!inode && !m.flags && m.pid) {
		struct file *file = kbpf_file_of_call();
		inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
		uint32_t mode;
		if (inode && !kbpf_is_file(inode, &mode)) {
			inode = NULL;
		}
	}
	if (inode) {
		kbpf_key_of(inode, &m.key);
		kbpf_name_inode(ctx, slot, s, inode, &m.key);
	}
	bpf_map_update_elem(&kbpf_requests, &key, &m, BPF_ANY);
	if (kbpf_wanted(KBPF_DISK_INIT, &who)) {
		struct kbpf_disk *d = (void *)s->body;
		who.flags = m.flags;
		fill(d, rq, &m);
		kbpf_send(ctx, &who, slot, s, sizeof *d);
	}
}

/* Linux 6.5 and later: in the thread that asks. */
SEC("tp_btf/block_io_start")
int BPF_PROG(kbpf_block_start, struct request *rq)
{
	made(ctx, KBPF_SLOT_DISK_START, rq, false);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(kbpf_block_issue, struct request *rq)
{
	made(ctx, KBPF_SLOT_DISK_ISSUE, rq, true);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(kbpf_block_done, struct request *rq, int error, unsigned int bytes)
{
	struct kbpf_who who;
	uint64_t key = (uint64_t)rq;
	uint32_t left = BPF_CORE_READ(rq, __data_len);
	struct made *known = bpf_map_lookup_elem(&kbpf_requests, &key);
	if (!known) {
		return 0; /* made before anybody looked */
	}
	struct made m = *known;
	if (bytes >= left) {
		bpf_map_delete_elem(&kbpf_requests, &key);
	}
	if (kbpf_wanted_of(KBPF_DISK_DONE, m.pid, m.tid, &who)) {
		struct kbpf_disk d;
		fill(&d, rq, &m);
		d.bytes = bytes;
		d.error = error;
		who.flags = m.flags;
		who.stacks = 0; /* readers do not expect one */
		kbpf_write(ctx, &who, KBPF_SLOT_DISK_DONE, &d, sizeof d);
	}
	return 0;
}
