/* SPDX-License-Identifier: MIT
 *
 * Files, memory and descriptors, by the system calls that change them: one program at the entry, one at
 * the exit, and a table of what each call is (kbpf_call), which the collector fills in by number.
 *
 * What works on an open file is recorded when it begins, so that long waits show; what has a path is
 * recorded when it is over, with the time at which it began: only then is it known what was opened.
 */
#include "kbpf_file.h"

#define AT_FDCWD      (-100)
#define MAP_ANONYMOUS 0x20
#define PROT_EXEC     4
#define VM_ACCESS     7 /* VM_READ, VM_WRITE, VM_EXEC */
#define MEM_COMMIT    0x1000
#define MEM_RESERVE   0x2000
#define MEM_DECOMMIT  0x4000
#define MEM_RELEASE   0x8000
#define FDS_AT_EXIT   1024
#define CLOSE_RANGE_CLOEXEC 4

/* Open files: who opened them, and whether their end was told. */
struct opened {
	uint32_t pid;
	bool closed;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct opened);
} kbpf_opened SEC(".maps");

/* ---- small things ----------------------------------------------------------------------------- */

static __always_inline uint64_t argument(const struct kbpf_state *st, uint32_t index)
{
	return st->args[index & 7];
}

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
		return kbpf_walk(slot, at, BPF_CORE_READ(task, fs, pwd.dentry),
				 BPF_CORE_READ(task, fs, pwd.mnt), max);
	}
	struct file *file = kbpf_file_of_fd((uint32_t)fd);
	return file ? kbpf_walk_file(slot, at, file, max) : 0;
}

/* A path as it was given, and where it begins, each of at most `max` bytes, a constant; returns where
 * it ends. */
static __always_inline uint32_t put_path(uint32_t slot, struct kbpf_scratch *s, uint32_t at, uint64_t fd,
					 uint64_t path, uint16_t *ret_path, uint16_t *ret_directory,
					 const uint32_t max)
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

static __always_inline uint64_t vector_bytes(uint64_t vector, uint64_t count)
{
	uint64_t sum = 0;
	for (int i = 0; i < 16 && i < count; i++) {
		uint64_t v[2] = {0, 0};
		bpf_probe_read_user(v, sizeof v, (void *)(vector + 16 * i));
		sum += v[1];
	}
	return sum;
}

static __always_inline void handle_event(void *ctx, uint32_t hook, uint32_t slot, struct file *file,
					 uint32_t fd)
{
	struct kbpf_who who;
	if (file && kbpf_wanted(hook, &who)) {
		struct kbpf_handle h = {.object = (uint64_t)file, .fd = fd};
		h.type = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
		kbpf_write(ctx, &who, slot, &h, sizeof h);
	}
}

struct copies {
	struct file *file, **slots;
	uint32_t from, to;
	bool any;
};
static long copy_step(uint32_t i, struct copies *c)
{
	struct file *file = NULL;
	bpf_probe_read_kernel(&file, sizeof file, &c->slots[i]);
	c->any = file == c->file && (i < c->from || i > c->to);
	return c->any;
}

/* Does this process have another descriptor of it, than these? */
static __always_inline bool has_copy(struct file *file, uint32_t from, uint32_t to)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct copies c = {.file = file, .from = from, .to = to};
	uint32_t n = BPF_CORE_READ(task, files, fdt, max_fds);
	c.slots = BPF_CORE_READ(task, files, fdt, fd);
	bpf_loop(n > FDS_AT_EXIT ? FDS_AT_EXIT : n, copy_step, &c, 0);
	return c.any;
}

/* Should the end of this open file be told now? The kernel's last reference may be a mapping, or another
 * process' copy, and does not show as a system call: the last descriptor of the process that opened it
 * counts. */
static __always_inline bool told_now(struct file *file, uint32_t pid, bool copied)
{
	uint64_t key = (uint64_t)file;
	struct opened *o = bpf_map_lookup_elem(&kbpf_opened, &key);
	bool last = kbpf_is_last(file);
	if (!o || last) {
		bool told = o && o->closed;
		bpf_map_delete_elem(&kbpf_opened, &key);
		return last && !told;
	}
	if (o->closed || o->pid != pid || copied) {
		return false;
	}
	o->closed = true;
	return true;
}

/* ---- entry ------------------------------------------------------------------------------------ */

struct found {
	bool any;
	uint64_t flags, offset, start;
	struct file *file;
};
static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct found *f)
{
	f->any = true;
	f->flags = vma->vm_flags;
	f->start = vma->vm_start;
	f->file = vma->vm_file;
	f->offset = vma->vm_pgoff;
	return 0;
}

static __always_inline void enter_memory(struct kbpf_state *st, uint32_t kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (kind == KBPF_CALL_BRK) {
		st->brk = BPF_CORE_READ(task, mm, brk);
	} else if (kind == KBPF_CALL_MUNMAP || kind == KBPF_CALL_MPROTECT || kind == KBPF_CALL_MADVISE ||
		   kind == KBPF_CALL_MSYNC) {
		struct found f = {0};
		st->brk = VM_ACCESS;
		st->key.inode = 0;
		st->key.device = 0;
		if (bpf_find_vma(task, st->args[0], on_vma, &f, 0) == 0 && f.any) {
			st->brk = f.flags & VM_ACCESS;
			st->offset = (f.offset << 12) + (st->args[0] - f.start);
			struct file *file = f.file;
			if (file) {
				struct inode *inode = BPF_CORE_READ(file, f_inode);
				kbpf_key_of(inode, &st->key);
			}
		}
	}
}

static __always_inline bool enter_file(void *ctx, const struct kbpf_call *call, struct kbpf_state *st,
				       struct kbpf_scratch *s, struct kbpf_who *who)
{
	const uint32_t slot = KBPF_SLOT_CALL_ENTER;
	struct file *file = kbpf_file_of_fd((uint32_t)argument(st, call->dir));
	uint32_t mode;
	if (call->kind == KBPF_CALL_CLOSE) {
		uint32_t fd = argument(st, call->dir);
		if ((call->flags & KBPF_CALL_NEW_FD) && fd == (uint32_t)st->args[0]) {
			return false; /* a copy of itself onto itself */
		}
		handle_event(ctx, KBPF_HANDLE_CLOSE, slot, file, fd);
	}
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	if (!inode || !kbpf_is_file(inode, &mode)) {
		return false;
	}
	if (call->kind == KBPF_CALL_CLOSE) {
		uint32_t fd = argument(st, call->dir);
		if (!told_now(file, who->pid, !kbpf_is_last(file) && has_copy(file, fd, fd))) {
			return false;
		}
	}
	st->object = (uint64_t)file;
	kbpf_key_of(inode, &st->key);
	st->offset = call->flags & KBPF_CALL_OFFSET ? st->args[3] : BPF_CORE_READ(file, f_pos);
	st->size = call->size == KBPF_NO_ARG ? 0 : argument(st, call->size);
	if (call->flags & KBPF_CALL_VECTOR) {
		st->size = vector_bytes(st->args[1], st->args[2]);
	}
	if (call->hook == KBPF_FILE_WRITE && (BPF_CORE_READ(file, f_flags) & 02000)) { /* O_APPEND */
		st->offset = BPF_CORE_READ(inode, i_size);
	}
	name_file(ctx, slot, s, file, &st->key, mode);
	if (who->sessions) {
		struct kbpf_file *f = begin_file(s, st);
		f->mode = mode;
		f->flags = kbpf_is_last(file) ? KBPF_FILE_LAST : 0;
		f->open_flags = BPF_CORE_READ(file, f_flags);
		kbpf_send(ctx, who, slot, s, sizeof *f);
	}
	return true;
}

/* One side of a call that moves bytes from file to file. */
static __always_inline bool enter_side(void *ctx, struct kbpf_state *st, struct kbpf_scratch *s, uint32_t hook,
				       uint64_t fd, uint64_t offset, uint32_t number)
{
	const uint32_t slot = KBPF_SLOT_CALL_ENTER;
	struct file *file = kbpf_file_of_fd((uint32_t)fd);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	struct kbpf_who who;
	uint32_t mode;
	if (!inode || !kbpf_is_file(inode, &mode) || !kbpf_wanted(hook, &who)) {
		return false;
	}
	st->object = (uint64_t)file;
	kbpf_key_of(inode, &st->key);
	st->offset = BPF_CORE_READ(file, f_pos);
	if (offset) {
		bpf_probe_read_user(&st->offset, sizeof st->offset, (void *)offset);
	}
	name_file(ctx, slot, s, file, &st->key, mode);
	struct kbpf_file *f = begin_file(s, st);
	f->irp ^= number;
	f->mode = mode;
	f->open_flags = BPF_CORE_READ(file, f_flags);
	who.time += number != 0;
	kbpf_send(ctx, &who, slot, s, sizeof *f);
	return true;
}

#define SECOND_IRP 0x40000000u

static __always_inline bool enter_both(void *ctx, const struct kbpf_call *call, struct kbpf_state *st,
				       struct kbpf_scratch *s)
{
	uint64_t from = call->path == KBPF_NO_ARG ? 0 : argument(st, call->path);
	uint64_t to = call->path2 == KBPF_NO_ARG ? 0 : argument(st, call->path2);
	st->size = argument(st, call->size);
	st->brk = enter_side(ctx, st, s, KBPF_FILE_READ, argument(st, call->dir), from, 0);
	if (enter_side(ctx, st, s, KBPF_FILE_WRITE, argument(st, call->dir2), to, SECOND_IRP)) {
		st->brk |= 2;
	}
	return st->brk != 0;
}

struct range {
	void *ctx;
	struct file **slots;
	uint64_t irp;
	uint32_t first, seen;
};
static long close_one(uint32_t i, struct range *r)
{
	struct kbpf_who who;
	struct file *file = NULL;
	uint32_t mode, fd = r->first + i;
	bpf_probe_read_kernel(&file, sizeof file, &r->slots[fd]);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	if (!inode) {
		return 0;
	}
	handle_event(r->ctx, KBPF_HANDLE_CLOSE, KBPF_SLOT_CALL_ENTER, file, fd);
	if (!kbpf_is_file(inode, &mode) || !kbpf_wanted(KBPF_FILE_CLOSE, &who) ||
	    !told_now(file, who.pid, !kbpf_is_last(file) && has_copy(file, r->first, fd))) {
		return 0;
	}
	struct kbpf_file f = {0};
	struct kbpf_key key;
	kbpf_key_of(inode, &key);
	f.object = (uint64_t)file;
	f.inode = key.inode;
	f.device = key.device;
	f.generation = key.generation;
	f.mode = mode;
	f.irp = r->irp | 0x80000000u | fd;
	f.flags = KBPF_FILE_LAST;
	who.time += 2 * r->seen++; /* Cleanup and Close: two times */
	who.stacks = 0;
	kbpf_write(r->ctx, &who, KBPF_SLOT_CALL_ENTER, &f, sizeof f);
	return 0;
}

static __always_inline void close_range(void *ctx, struct kbpf_state *st)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct range r = {.ctx = ctx, .first = st->args[0], .irp = st->irp & 0xFFFFFFFF00000000ull};
	uint32_t last = st->args[1], n = BPF_CORE_READ(task, files, fdt, max_fds);
	r.slots = BPF_CORE_READ(task, files, fdt, fd);
	if (n == 0 || r.first >= n || last < r.first || (st->args[2] & CLOSE_RANGE_CLOEXEC)) {
		return;
	}
	last = last >= n ? n - 1 : last;
	n = last - r.first + 1;
	bpf_loop(n > FDS_AT_EXIT ? FDS_AT_EXIT : n, close_one, &r, 0);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(kbpf_call_enter, struct pt_regs *regs, long number)
{
	uint32_t nr = number, slot = KBPF_SLOT_CALL_ENTER;
	struct kbpf_call *call = bpf_map_lookup_elem(&kbpf_calls, &nr);
	if (!call || call->kind == KBPF_CALL_NONE) {
		return 0;
	}
	struct kbpf_who who, other;
	if (!kbpf_wanted(call->hook, &who)) {
		who.sessions = 0;
		who.pid = bpf_get_current_pid_tgid() >> 32;
		who.time = 0;
		bool descriptors = call->kind == KBPF_CALL_OPEN || call->kind == KBPF_CALL_CLOSE ||
				   call->kind == KBPF_CALL_CLOSE_RANGE ||
				   (call->flags & KBPF_CALL_NEW_FD);
		bool closes = call->kind == KBPF_CALL_CLOSE || call->kind == KBPF_CALL_CLOSE_RANGE;
		if (!(descriptors && kbpf_wanted(closes ? KBPF_HANDLE_CLOSE : KBPF_HANDLE_CREATE, &other))) {
			return 0;
		}
	}
	struct kbpf_state *st = kbpf_state_of_current(true);
	struct kbpf_scratch *s = kbpf_slot(slot);
	if (!st || !s) {
		kbpf_dropped(call->hook);
		return 0;
	}
	st->call = 0;
	st->start = who.time;
	st->count++;
	st->irp = bpf_get_current_pid_tgid() << 32 | st->count;
#if defined(__TARGET_ARCH_x86)
	st->args[0] = regs->di;
	st->args[1] = regs->si;
	st->args[2] = regs->dx;
	st->args[3] = regs->r10;
	st->args[4] = regs->r8;
	st->args[5] = regs->r9;
#else
	st->args[0] = regs->orig_x0;
	st->args[1] = regs->regs[1];
	st->args[2] = regs->regs[2];
	st->args[3] = regs->regs[3];
	st->args[4] = regs->regs[4];
	st->args[5] = regs->regs[5];
#endif
	st->call = nr + 1;
	st->object = 0;
	st->key.inode = 0;
	st->key.device = st->key.generation = 0;
	st->offset = st->size = 0;
	uint32_t kind = call->kind;
	if (call->flags & KBPF_CALL_SECOND) {
		st->call = enter_both(ctx, call, st, s) ? nr + 1 : 0;
	} else if (kind == KBPF_CALL_CLOSE_RANGE) {
		close_range(ctx, st);
		st->call = 0;
	} else if (kind == KBPF_CALL_CLOSE || kind == KBPF_CALL_FILE) {
		if (!enter_file(ctx, call, st, s, &who)) {
			st->call = call->flags & KBPF_CALL_NEW_FD ? nr + 1 : 0;
			st->start = 0; /* no operation that could end */
		}
	} else if (kind >= KBPF_CALL_MMAP) {
		enter_memory(st, kind);
	}
	return 0;
}

/* ---- exit ------------------------------------------------------------------------------------- */

static __always_inline void operation_end_of(void *ctx, uint64_t irp, int64_t result)
{
	struct kbpf_who who;
	if (kbpf_wanted(KBPF_FILE_END, &who)) {
		struct kbpf_file_end e = {.irp = irp, .result = result};
		who.time++; /* never that of the operation itself */
		kbpf_write(ctx, &who, KBPF_SLOT_CALL_EXIT, &e, sizeof e);
	}
}

static __always_inline void operation_end(void *ctx, const struct kbpf_state *st, int64_t result)
{
	operation_end_of(ctx, st->irp, result);
}

static __always_inline void exit_open(void *ctx, const struct kbpf_call *call, struct kbpf_state *st,
				      struct kbpf_scratch *s, int64_t result)
{
	const uint32_t slot = KBPF_SLOT_CALL_EXIT;
	struct kbpf_who who;
	struct file *file = result >= 0 ? kbpf_file_of_fd(result) : NULL;
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	uint32_t mode = 0;
	uint64_t flags = argument(st, call->size);
	handle_event(ctx, KBPF_HANDLE_CREATE, slot, file, result);
	if (inode && !kbpf_is_file(inode, &mode)) {
		return;
	}
	if (call->flags & KBPF_CALL_HOW) {
		uint64_t how = flags;
		flags = 0;
		bpf_probe_read_user(&flags, sizeof flags, (void *)how);
	} else if (call->flags & KBPF_CALL_CREATES) {
		flags = 01 | 0100 | 01000;
	}
	if (inode) {
		uint64_t key = (uint64_t)file;
		struct opened o = {.pid = bpf_get_current_pid_tgid() >> 32};
		st->object = key;
		kbpf_key_of(inode, &st->key);
		bpf_map_update_elem(&kbpf_opened, &key, &o, BPF_ANY);
		name_file(ctx, slot, s, file, &st->key, mode);
	}
	if (!kbpf_wanted(KBPF_FILE_CREATE, &who)) {
		return;
	}
	uint64_t now = who.time;
	struct kbpf_file *f = begin_file(s, st);
	f->open_flags = flags;
	f->mode = mode;
	f->result = result;
	uint32_t end = sizeof *f;
	if (file) {
		uint32_t n = kbpf_walk_file(slot, end, file, KBPF_PATH_MAX);
		f->text[1] = n;
		end += n;
	} else {
		uint64_t fd = call->dir == KBPF_NO_ARG ? (uint64_t)AT_FDCWD : argument(st, call->dir);
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1],
			       KBPF_HALF_MAX);
	}
	who.time = st->start ? st->start : now;
	kbpf_send(ctx, &who, slot, s, end);
	operation_end(ctx, st, result);
}

static __always_inline void exit_path(void *ctx, const struct kbpf_call *call, struct kbpf_state *st,
				      struct kbpf_scratch *s, int64_t result)
{
	const uint32_t slot = KBPF_SLOT_CALL_EXIT;
	struct kbpf_who who;
	if (!kbpf_wanted(call->hook, &who)) {
		return;
	}
	struct kbpf_file *f = begin_file(s, st);
	uint32_t end = sizeof *f;
	uint64_t fd = call->dir == KBPF_NO_ARG ? (uint64_t)AT_FDCWD : argument(st, call->dir);
	f->result = result;
	f->flags = call->flags & KBPF_CALL_DIRECTORY ? KBPF_FILE_IS_DIRECTORY : 0;
	f->open_flags = call->size == KBPF_NO_ARG ? 0 : argument(st, call->size);
	if (call->path2 != KBPF_NO_ARG) {
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1],
			       KBPF_TEXT_MAX);
		fd = call->dir2 == KBPF_NO_ARG ? (uint64_t)AT_FDCWD : argument(st, call->dir2);
		end = put_path(slot, s, end, fd, argument(st, call->path2), &f->text[2], &f->text[3],
			       KBPF_TEXT_MAX);
	} else {
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1],
			       KBPF_HALF_MAX);
	}
	if (call->path2 == KBPF_NO_ARG && f->text[0] <= 1 && (call->flags & KBPF_CALL_NULL_PATH)) {
		/* No path: about the descriptor. */
		struct file *file = kbpf_file_of_fd((uint32_t)fd);
		struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
		uint32_t mode;
		if (!inode || !kbpf_is_file(inode, &mode)) {
			return;
		}
		st->object = (uint64_t)file;
		kbpf_key_of(inode, &st->key);
		name_file(ctx, slot, s, file, &st->key, mode);
		f = begin_file(s, st);
		f->result = result;
		f->mode = mode;
		end = sizeof *f;
	}
	who.time = st->start ? st->start : who.time;
	kbpf_send(ctx, &who, slot, s, end);
	operation_end(ctx, st, result);
}

static __always_inline void memory_event(void *ctx, uint32_t hook, const struct kbpf_state *st,
					 uint64_t address, uint64_t bytes, uint64_t flags)
{
	struct kbpf_who who;
	if (kbpf_wanted(hook, &who)) {
		struct kbpf_memory m = {.address = address, .bytes = bytes, .flags = flags};
		m.inode = st->key.inode;
		m.device = st->key.device;
		m.generation = st->key.generation;
		m.offset = st->offset;
		kbpf_write(ctx, &who, KBPF_SLOT_CALL_EXIT, &m, sizeof m);
	}
}

static __always_inline void exit_mmap(void *ctx, struct kbpf_state *st, struct kbpf_scratch *s,
				      int64_t result)
{
	if (st->args[3] & MAP_ANONYMOUS) {
		memory_event(ctx, KBPF_VIRTUAL_ALLOC, st, result, st->args[1],
			     st->args[2] ? MEM_RESERVE | MEM_COMMIT : MEM_RESERVE);
		return;
	}
	struct file *file = kbpf_file_of_fd((uint32_t)st->args[4]);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	uint32_t mode;
	if (inode && !(st->args[2] & PROT_EXEC) && kbpf_is_file(inode, &mode)) {
		kbpf_key_of(inode, &st->key);
		name_file(ctx, KBPF_SLOT_CALL_EXIT, s, file, &st->key, mode);
		st->offset = st->args[5];
		memory_event(ctx, KBPF_MAP_FILE, st, result, st->args[1], st->args[2]);
	}
}

static __always_inline void exit_memory(void *ctx, uint32_t kind, struct kbpf_state *st,
					struct kbpf_scratch *s, int64_t result)
{
	bool failed = (uint64_t)result >= (uint64_t)-4095;
	struct kbpf_who who;
	if (kind == KBPF_CALL_MSYNC && st->key.inode && kbpf_wanted(KBPF_FILE_FLUSH, &who)) {
		begin_file(s, st)->size = 0;
		who.time = st->start ? st->start : who.time;
		kbpf_send(ctx, &who, KBPF_SLOT_CALL_EXIT, s, sizeof(struct kbpf_file));
		operation_end(ctx, st, result);
	}
	if (failed) {
		return;
	}
	if (kind == KBPF_CALL_MMAP) {
		exit_mmap(ctx, st, s, result);
	} else if (kind == KBPF_CALL_MUNMAP) {
		memory_event(ctx, st->key.inode ? KBPF_UNMAP_FILE : KBPF_VIRTUAL_FREE, st, st->args[0],
			     st->args[1], MEM_RELEASE);
	} else if (kind == KBPF_CALL_BRK) {
		if (result > st->brk) {
			memory_event(ctx, KBPF_VIRTUAL_ALLOC, st, st->brk, result - st->brk,
				     MEM_RESERVE | MEM_COMMIT);
		} else if (result < st->brk) {
			memory_event(ctx, KBPF_VIRTUAL_FREE, st, result, st->brk - result, MEM_RELEASE);
		}
	} else if (kind == KBPF_CALL_MREMAP) {
		memory_event(ctx, KBPF_VIRTUAL_FREE, st, st->args[0], st->args[1], MEM_RELEASE);
		memory_event(ctx, KBPF_VIRTUAL_ALLOC, st, result, st->args[2], MEM_RESERVE | MEM_COMMIT);
	} else if (kind == KBPF_CALL_MPROTECT) {
		if (st->brk == 0 && st->args[2] && !st->key.inode) {
			memory_event(ctx, KBPF_VIRTUAL_ALLOC, st, st->args[0], st->args[1], MEM_COMMIT);
		}
	} else if (kind == KBPF_CALL_MADVISE && (st->args[2] == 4 || st->args[2] == 8) && !st->key.inode) {
		memory_event(ctx, KBPF_VIRTUAL_FREE, st, st->args[0], st->args[1], MEM_DECOMMIT);
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(kbpf_call_exit, struct pt_regs *regs, long result)
{
#if defined(__TARGET_ARCH_x86)
	uint32_t nr = regs->orig_ax;
#else
	uint32_t nr = regs->regs[8];
#endif
	uint32_t slot = KBPF_SLOT_CALL_EXIT;
	struct kbpf_call *call = bpf_map_lookup_elem(&kbpf_calls, &nr);
	if (!call || call->kind == KBPF_CALL_NONE) {
		return 0;
	}
	struct kbpf_state *st = kbpf_state_of_current(false);
	if (!st || st->call != nr + 1) {
		return 0;
	}
	struct kbpf_scratch *s = kbpf_slot(slot);
	if (!s) {
		return 0;
	}
	uint32_t kind = call->kind;
	if (kind == KBPF_CALL_OPEN) {
		exit_open(ctx, call, st, s, result);
	} else if (kind == KBPF_CALL_PATH) {
		exit_path(ctx, call, st, s, result);
	} else if (call->flags & KBPF_CALL_SECOND) {
		if (st->brk & 1) {
			operation_end(ctx, st, result);
		}
		if (st->brk & 2) {
			operation_end_of(ctx, st->irp ^ SECOND_IRP, result);
		}
	} else if (kind == KBPF_CALL_CLOSE || kind == KBPF_CALL_FILE) {
		if (call->flags & KBPF_CALL_NEW_FD && result >= 0) {
			handle_event(ctx, KBPF_HANDLE_CREATE, slot, kbpf_file_of_fd(result), result);
		}
		if (st->start) {
			operation_end(ctx, st, result);
		}
	} else if (kind == KBPF_CALL_HANDLE && result >= 0) {
		handle_event(ctx, KBPF_HANDLE_CREATE, slot, kbpf_file_of_fd(result), result);
	} else if (kind == KBPF_CALL_PAIR && result == 0) {
		uint32_t fds[2] = {0, 0};
		bpf_probe_read_user(fds, sizeof fds, (void *)argument(st, call->path));
		handle_event(ctx, KBPF_HANDLE_CREATE, slot, kbpf_file_of_fd(fds[0]), fds[0]);
		handle_event(ctx, KBPF_HANDLE_CREATE, slot, kbpf_file_of_fd(fds[1]), fds[1]);
	} else if (kind >= KBPF_CALL_MMAP) {
		exit_memory(ctx, kind, st, s, result);
	}
	st->call = 0;
	return 0;
}

/* ---- the end of a process closes what it has open ---------------------------------------------- */

struct closing {
	struct file **slots;
	struct kbpf_who who;
	uint32_t seen;
};
static long close_step(uint32_t i, struct closing *c)
{
	struct file *file = NULL;
	uint32_t mode;
	bpf_probe_read_kernel(&file, sizeof file, &c->slots[i]);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	if (!inode || !kbpf_is_file(inode, &mode) || !told_now(file, c->who.pid, false)) {
		return 0;
	}
	struct kbpf_key key;
	kbpf_key_of(inode, &key);
	struct kbpf_file f = {0};
	struct kbpf_who who = c->who;
	f.object = (uint64_t)file;
	f.inode = key.inode;
	f.device = key.device;
	f.generation = key.generation;
	f.mode = mode;
	f.irp = (uint64_t)who.tid << 32 | 0x80000000u | i;
	f.flags = KBPF_FILE_LAST;
	who.time = c->who.time + 2 * c->seen++; /* Cleanup and Close: two times */
	who.stacks = 0;
	kbpf_write(NULL, &who, KBPF_SLOT_EXIT_FILES, &f, sizeof f);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(kbpf_exit_files, struct task_struct *task)
{
	struct closing c = {0};
	if (!kbpf_wanted(KBPF_FILE_CLOSE, &c.who) || BPF_CORE_READ(task, files, count.counter) != 1) {
		return 0;
	}
	uint32_t n = BPF_CORE_READ(task, files, fdt, max_fds);
	c.slots = BPF_CORE_READ(task, files, fdt, fd);
	bpf_loop(n > FDS_AT_EXIT ? FDS_AT_EXIT : n, close_step, &c, 0);
	return 0;
}

/* ---- io_uring --------------------------------------------------------------------------------- */

enum { URING_READV = 1, URING_WRITEV, URING_FSYNC, URING_READ_FIXED, URING_WRITE_FIXED, URING_OPENAT = 18,
       URING_READ = 22, URING_WRITE, URING_OPENAT2 = 28 };
#define URING_FIXED_FILE 1u	    /* of a request's flags: `fd` is none, but an index */
#define URING_IRP	 0x20000000u

struct uring {
	uint64_t irp, start, offset, size;
	uint32_t pid, tid, hook;
	bool told;
};
/* By request. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct uring);
} kbpf_uring SEC(".maps");

static __always_inline uint32_t uring_hook(uint8_t opcode)
{
	switch (opcode) {
	case URING_READV:
	case URING_READ:
	case URING_READ_FIXED:
		return KBPF_FILE_READ;
	case URING_WRITEV:
	case URING_WRITE:
	case URING_WRITE_FIXED:
		return KBPF_FILE_WRITE;
	case URING_FSYNC:
		return KBPF_FILE_FLUSH;
	case URING_OPENAT:
	case URING_OPENAT2:
		return KBPF_FILE_CREATE;
	default:
		return KBPF_HOOKS_MAX;
	}
}

/* The operation's own record. False: nothing that is followed. */
static __always_inline bool uring_tell(void *ctx, uint32_t slot, struct kbpf_who *who, struct uring *u,
				       struct file *file)
{
	struct kbpf_scratch *s = kbpf_slot(slot);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	struct kbpf_key key;
	uint32_t mode;
	if (!s || !inode || !kbpf_is_file(inode, &mode)) {
		return false;
	}
	kbpf_key_of(inode, &key);
	name_file(ctx, slot, s, file, &key, mode);
	struct kbpf_file *f = (void *)s->body;
	__builtin_memset(f, 0, sizeof *f);
	f->irp = u->irp;
	f->object = (uint64_t)file;
	f->inode = key.inode;
	f->device = key.device;
	f->generation = key.generation;
	f->offset = u->offset == ~0ull ? BPF_CORE_READ(file, f_pos) : u->offset;
	f->size = u->size;
	f->mode = mode;
	f->open_flags = BPF_CORE_READ(file, f_flags);
	uint32_t end = sizeof *f;
	if (u->hook == KBPF_FILE_CREATE) {
		uint32_t n = kbpf_walk_file(slot, end, file, KBPF_PATH_MAX);
		f->text[1] = n;
		end += n;
	}
	u->told = true;
	return kbpf_send(ctx, who, slot, s, end);
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(kbpf_uring_submit, struct io_kiocb *req)
{
	uint8_t opcode = BPF_CORE_READ(req, opcode);
	struct uring u = {.hook = uring_hook(opcode)};
	struct kbpf_who who;
	if (u.hook == KBPF_HOOKS_MAX || !kbpf_wanted(u.hook, &who)) {
		return 0;
	}
	struct kbpf_state *st = kbpf_state_of_current(true);
	if (!st) {
		return 0;
	}
	uint64_t flags;
	struct io_kiocb___narrow *narrow = (void *)req;
	if (bpf_core_field_size(req->flags) == 4) {
		flags = BPF_CORE_READ(narrow, flags);
	} else {
		flags = BPF_CORE_READ(req, flags);
	}
	struct io_rw *rw = (void *)req;
	u.irp = bpf_get_current_pid_tgid() << 32 | URING_IRP | ++st->count;
	u.start = who.time;
	u.pid = who.pid;
	u.tid = who.tid;
	if (u.hook == KBPF_FILE_READ || u.hook == KBPF_FILE_WRITE) {
		u.offset = BPF_CORE_READ(rw, kiocb.ki_pos);
		u.size = BPF_CORE_READ(rw, len);
		if (opcode == URING_READV || opcode == URING_WRITEV) {
			u.size = vector_bytes(BPF_CORE_READ(rw, addr), u.size);
		}
	}
	uint32_t fd = BPF_CORE_READ(req, cqe.fd);
	if (u.hook != KBPF_FILE_CREATE && !(flags & URING_FIXED_FILE) &&
	    !uring_tell(ctx, KBPF_SLOT_URING_SUBMIT, &who, &u, kbpf_file_of_fd(fd))) {
		return 0;
	}
	uint64_t key = (uint64_t)req;
	bpf_map_update_elem(&kbpf_uring, &key, &u, BPF_ANY);
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(kbpf_uring_done, void *ring, struct io_kiocb *req)
{
	uint64_t key = (uint64_t)req;
	struct uring *known = req ? bpf_map_lookup_elem(&kbpf_uring, &key) : NULL;
	struct kbpf_who who;
	if (!known) {
		return 0;
	}
	struct uring u = *known;
	bpf_map_delete_elem(&kbpf_uring, &key);
	int64_t result = BPF_CORE_READ(req, cqe.res);
	if (!u.told) { /* only now is it known what file that was */
		struct file *file = u.hook != KBPF_FILE_CREATE ? BPF_CORE_READ(req, file)
				    : result >= 0	       ? kbpf_file_of_fd(result)
							       : NULL;
		if (file && u.hook == KBPF_FILE_CREATE) {
			uint64_t object = (uint64_t)file;
			struct opened o = {.pid = u.pid};
			bpf_map_update_elem(&kbpf_opened, &object, &o, BPF_ANY);
		}
		if (!file || !kbpf_wanted_of(u.hook, u.pid, u.tid, &who) ||
		    !uring_tell(ctx, KBPF_SLOT_URING_DONE, &who, &u, file)) {
			return 0;
		}
	}
	if (kbpf_wanted_of(KBPF_FILE_END, u.pid, u.tid, &who)) {
		struct kbpf_file_end e = {.irp = u.irp, .result = result};
		who.time++;
		who.stacks = 0;
		kbpf_write(ctx, &who, KBPF_SLOT_URING_DONE, &e, sizeof e);
	}
	return 0;
}
