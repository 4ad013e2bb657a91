/* SPDX-License-Identifier: MIT
 *
 * Files, memory and descriptors, by the system calls that change them: one program at the entry, one at
 * the exit, and a table of what each call is (kbpf_call), which the collector fills in by number.
 *
 * What works on an open file is recorded when it begins, so that long waits show; what has a path is
 * recorded when it is over, with the time at which it began: only then is it known what was opened.
 */
#include "kbpf_open.h"

#define MAP_ANONYMOUS       0x20
#define PROT_EXEC           4
#define VM_ACCESS           7 /* VM_READ, VM_WRITE, VM_EXEC */
#define MEM_COMMIT          0x1000
#define MEM_RESERVE         0x2000
#define MEM_DECOMMIT        0x4000
#define MEM_RELEASE         0x8000
#define CLOSE_RANGE_CLOEXEC 4

/* ---- small things ----------------------------------------------------------------------------- */

static __always_inline uint64_t argument(const struct kbpf_state *st, uint32_t index)
{
	return st->args[index & 7];
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
		if (!told_now(file, who->pid, !kbpf_is_last(file) && has_copy(file, fd, fd, NULL))) {
			return false;
		}
	}
	st->object = (uint64_t)file;
	kbpf_key_of(inode, &st->key);
	/* preadv2() and pwritev2() at -1 mean the file's own place. */
	bool at = (call->flags & KBPF_CALL_OFFSET) && !((call->flags & KBPF_CALL_RWF) && st->args[3] == ~0ull);
	st->offset = at ? st->args[3] : BPF_CORE_READ(file, f_pos);
	st->size = call->size == KBPF_NO_ARG ? 0 : argument(st, call->size);
	if (call->flags & KBPF_CALL_VECTOR) {
		st->size = vector_bytes(st->args[1], st->args[2]);
	}
	bool appends = (call->flags & KBPF_CALL_RWF) && (st->args[5] & 0x10);                       /* RWF_APPEND */
	if (call->hook == KBPF_FILE_WRITE && (appends || (BPF_CORE_READ(file, f_flags) & 02000))) { /* O_APPEND */
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
	struct file *file = NULL;
	uint32_t fd = r->first + i;
	bpf_probe_read_kernel(&file, sizeof file, &r->slots[fd]);
	if (!file) {
		return 0;
	}
	handle_event(r->ctx, KBPF_HANDLE_CLOSE, KBPF_SLOT_CALL_ENTER, file, fd);
	tell_close(r->ctx, KBPF_SLOT_CALL_ENTER, file, fd, !kbpf_is_last(file) && has_copy(file, r->first, fd, NULL),
		   r->irp, &r->seen);
	return 0;
}

static __always_inline void close_range(void *ctx, struct kbpf_state *st)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct range r = {.ctx = ctx, .first = st->args[0], .irp = st->irp};
	uint32_t last = st->args[1], n = BPF_CORE_READ(task, files, fdt, max_fds);
	r.slots = BPF_CORE_READ(task, files, fdt, fd);
	if (n == 0 || r.first >= n || last < r.first || (st->args[2] & CLOSE_RANGE_CLOEXEC)) {
		return;
	}
	last = last >= n ? n - 1 : last;
	n = last - r.first + 1;
	bpf_loop(n > FDS_MAX ? FDS_MAX : n, close_one, &r, 0);
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
				   call->kind == KBPF_CALL_CLOSE_RANGE || (call->flags & KBPF_CALL_NEW_FD);
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
		st->object = (uint64_t)file;
		kbpf_key_of(inode, &st->key);
		opened_by(file, bpf_get_current_pid_tgid() >> 32);
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
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1], KBPF_HALF_MAX);
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
	uint64_t size = call->size == KBPF_NO_ARG ? 0 : argument(st, call->size);
	f->open_flags = size;
	if (call->hook == KBPF_FILE_SET_INFO) {
		f->size = size;
	}
	if (call->path2 != KBPF_NO_ARG) {
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1], KBPF_TEXT_MAX);
		fd = call->dir2 == KBPF_NO_ARG ? (uint64_t)AT_FDCWD : argument(st, call->dir2);
		end = put_path(slot, s, end, fd, argument(st, call->path2), &f->text[2], &f->text[3], KBPF_TEXT_MAX);
	} else {
		end = put_path(slot, s, end, fd, argument(st, call->path), &f->text[0], &f->text[1], KBPF_HALF_MAX);
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

static __always_inline void memory_event(void *ctx, uint32_t hook, const struct kbpf_state *st, uint64_t address,
					 uint64_t bytes, uint64_t flags)
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

static __always_inline void exit_mmap(void *ctx, struct kbpf_state *st, struct kbpf_scratch *s, int64_t result)
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

static __always_inline void exit_memory(void *ctx, uint32_t kind, struct kbpf_state *st, struct kbpf_scratch *s,
					int64_t result)
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
		memory_event(ctx, st->key.inode ? KBPF_UNMAP_FILE : KBPF_VIRTUAL_FREE, st, st->args[0], st->args[1],
			     MEM_RELEASE);
	} else if (kind == KBPF_CALL_BRK) {
		if (result > st->brk) {
			memory_event(ctx, KBPF_VIRTUAL_ALLOC, st, st->brk, result - st->brk, MEM_RESERVE | MEM_COMMIT);
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
