/* SPDX-License-Identifier: MIT
 *
 * Open files and descriptors: what a record about one says, and when the end of one is told.
 */
#ifndef KERNEL_BPF_KBPF_OPEN_H
#define KERNEL_BPF_KBPF_OPEN_H

#include "kbpf_file.h"

#define AT_FDCWD (-100)
#define FDS_MAX  65536 /* of a process, that are looked through */

/* Open files: how many processes have descriptors of them, and whether their end was told. */
struct opened {
	uint64_t born;
	int64_t holders;
	bool closed;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct opened);
} kbpf_opened SEC(".maps");

/* Which processes those are. */
struct holder {
	uint64_t object, born;
	uint32_t pid, reserved;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct holder);
	__type(value, uint8_t);
} kbpf_holders SEC(".maps");

/* ---- what records say ------------------------------------------------------------------------- */

static __always_inline struct kbpf_file *begin_file(struct kbpf_scratch *s, const struct kbpf_state *st)
{
	struct kbpf_file *f = (void *)s->body;
	f->irp = st->irp;
	f->object = st->object;
	f->inode = st->key.inode;
	f->device = st->key.device;
	f->generation = st->key.generation;
	f->offset = st->offset;
	f->size = st->size;
	f->result = 0;
	f->open_flags = 0;
	f->number = st->call - 1;
	f->flags = 0;
	f->mode = 0;
	f->text[0] = f->text[1] = f->text[2] = f->text[3] = 0;
	return f;
}

/* Tells a file's name, the first time that it is seen. */
static __always_inline void name_file(void *ctx, uint32_t slot, struct kbpf_scratch *s, struct file *file,
				      const struct kbpf_key *key, uint32_t mode)
{
	struct kbpf_who who;
	uint8_t one = 1;
	struct kbpf_key k = *key;
	if (bpf_map_lookup_elem(&kbpf_named, &k) || !kbpf_wanted(KBPF_FILE_NAME, &who)) {
		return;
	}
	struct kbpf_file *f = (void *)s->body;
	f->irp = 0;
	f->object = 0;
	f->inode = k.inode;
	f->device = k.device;
	f->generation = k.generation;
	f->offset = f->size = 0;
	f->result = 0;
	f->open_flags = f->number = 0;
	f->flags = 0;
	f->mode = mode;
	f->text[0] = f->text[2] = f->text[3] = 0;
	f->text[1] = kbpf_walk_file(slot, sizeof *f, file, KBPF_PATH_MAX);
	who.stacks = 0;
	if (kbpf_send(ctx, &who, slot, s, sizeof *f + f->text[1])) {
		bpf_map_update_elem(&kbpf_named, &k, &one, BPF_ANY);
	}
}

/* The directory that a path begins in. */
static __always_inline uint32_t put_directory(uint32_t slot, uint32_t at, uint64_t fd, const uint32_t max)
{
	if ((int32_t)fd == AT_FDCWD) {
		struct task_struct *task = bpf_get_current_task_btf();
		return kbpf_walk(slot, at, BPF_CORE_READ(task, fs, pwd.dentry), BPF_CORE_READ(task, fs, pwd.mnt), max);
	}
	struct file *file = kbpf_file_of_fd((uint32_t)fd);
	return file ? kbpf_walk_file(slot, at, file, max) : 0;
}

/* A path as it was given, and where it begins, each of at most `max` bytes, a constant; returns where
 * it ends. */
static __always_inline uint32_t put_path(uint32_t slot, struct kbpf_scratch *s, uint32_t at, uint64_t fd, uint64_t path,
					 uint16_t *ret_path, uint16_t *ret_directory, const uint32_t max)
{
	if (at > sizeof(struct kbpf_file) + 4 * KBPF_TEXT_MAX - 2 * max) {
		return at;
	}
	long n = bpf_probe_read_user_str(s->body + at, max, (void *)path);
	if (n <= 0 || n > max) {
		return at;
	}
	bool relative = s->body[at] != '/';
	*ret_path = n;
	at += n;
	if (relative && at <= sizeof(struct kbpf_file) + 4 * KBPF_TEXT_MAX - max) {
		uint32_t d = put_directory(slot, at, fd, max);
		*ret_directory = d;
		at += d;
	}
	return at;
}

#define VECTOR_MAX 1024u /* UIO_MAXIOV */

struct kbpf_vector {
	uint64_t at, sum;
};
static long kbpf_vector_step(uint32_t i, struct kbpf_vector *v)
{
	uint64_t entry[2] = {0, 0};
	bpf_probe_read_user(entry, sizeof entry, (void *)(v->at + 16ull * i));
	v->sum += entry[1];
	return 0;
}

static __always_inline uint64_t vector_bytes(uint64_t vector, uint64_t count)
{
	struct kbpf_vector v = {.at = vector};
	bpf_loop(count > VECTOR_MAX ? VECTOR_MAX : (uint32_t)count, kbpf_vector_step, &v, 0);
	return v.sum;
}

static __always_inline void handle_event(void *ctx, uint32_t hook, uint32_t slot, struct file *file, uint32_t fd)
{
	struct kbpf_who who;
	if (file && kbpf_wanted(hook, &who)) {
		struct kbpf_handle h = {.object = (uint64_t)file, .fd = fd};
		h.type = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
		kbpf_write(ctx, &who, slot, &h, sizeof h);
	}
}

/* ---- how long a file is open ------------------------------------------------------------------ */

static __always_inline void opened_by(struct file *file, uint32_t pid)
{
	uint64_t key = (uint64_t)file;
	uint8_t one = 1;
	struct opened o = {.born = bpf_ktime_get_ns(), .holders = 1};
	struct holder h = {.object = key, .born = o.born, .pid = pid};
	bpf_map_update_elem(&kbpf_opened, &key, &o, BPF_ANY);
	bpf_map_update_elem(&kbpf_holders, &h, &one, BPF_ANY);
}

/* A child has what its parent has. */
static __always_inline void held_by(struct file *file, uint32_t pid)
{
	uint64_t key = (uint64_t)file;
	uint8_t one = 1;
	struct opened *o = bpf_map_lookup_elem(&kbpf_opened, &key);
	if (o && !o->closed) {
		struct holder h = {.object = key, .born = o->born, .pid = pid};
		if (bpf_map_update_elem(&kbpf_holders, &h, &one, BPF_NOEXIST) == 0) {
			__sync_fetch_and_add(&o->holders, 1);
		}
	}
}

struct copies {
	struct file *file, **slots;
	unsigned long *going; /* NULL: none; else a bit for each descriptor that exec closes */
	uint32_t from, to;
	bool any;
};
static __always_inline bool goes(unsigned long *going, uint32_t fd)
{
	unsigned long word = 0;
	bpf_probe_read_kernel(&word, sizeof word, &going[fd / 64]);
	return word >> (fd & 63) & 1;
}
static long copy_step(uint32_t i, struct copies *c)
{
	struct file *file = NULL;
	if (i >= c->from && i <= c->to) {
		return 0;
	}
	bpf_probe_read_kernel(&file, sizeof file, &c->slots[i]);
	c->any = file == c->file && !(c->going && i < c->from && goes(c->going, i));
	return c->any;
}

/* Does this process keep another descriptor of it, than these? */
static __always_inline bool has_copy(struct file *file, uint32_t from, uint32_t to, unsigned long *going)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct copies c = {.file = file, .going = going, .from = from, .to = to};
	uint32_t n = BPF_CORE_READ(task, files, fdt, max_fds);
	c.slots = BPF_CORE_READ(task, files, fdt, fd);
	bpf_loop(n > FDS_MAX ? FDS_MAX : n, copy_step, &c, 0);
	return c.any;
}

/* Should the end of this open file be told now? The kernel's last reference may be a mapping and does not
 * show as a system call: the last descriptor counts, of the process that opened it and of all that have it
 * from there. Only of what was opened before the recording the kernel's count is all there is. */
static __always_inline bool told_now(struct file *file, uint32_t pid, bool copied)
{
	uint64_t key = (uint64_t)file;
	struct opened *o = bpf_map_lookup_elem(&kbpf_opened, &key);
	bool last = kbpf_is_last(file);
	if (!o) {
		return last;
	}
	struct holder h = {.object = key, .born = o->born, .pid = pid};
	if (last) {
		bool told = o->closed;
		bpf_map_delete_elem(&kbpf_opened, &key);
		bpf_map_delete_elem(&kbpf_holders, &h);
		return !told;
	}
	if (o->closed || copied || bpf_map_delete_elem(&kbpf_holders, &h) != 0 ||
	    __sync_fetch_and_add(&o->holders, -1) > 1) {
		return false;
	}
	o->closed = true;
	return true;
}

/* One of several descriptors that go at once: of those before it in the table nothing is asked. `seen`
 * counts what was told. */
static __always_inline void tell_close(void *ctx, uint32_t slot, struct file *file, uint32_t fd, bool copied,
				       uint64_t irp, uint32_t *seen)
{
	struct kbpf_who who;
	struct kbpf_key key;
	uint32_t mode;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	if (!inode || !kbpf_is_file(inode, &mode) || !kbpf_wanted(KBPF_FILE_CLOSE, &who) ||
	    !told_now(file, who.pid, copied)) {
		return;
	}
	kbpf_key_of(inode, &key);
	struct kbpf_file f = {0};
	f.object = (uint64_t)file;
	f.inode = key.inode;
	f.device = key.device;
	f.generation = key.generation;
	f.mode = mode;
	f.irp = (irp & 0xFFFFFFFF00000000ull) | 0x80000000u | fd;
	f.flags = KBPF_FILE_LAST;
	who.time += 2 * (*seen)++; /* Cleanup and Close: two times */
	who.stacks = 0;
	kbpf_write(ctx, &who, slot, &f, sizeof f);
}

#endif
