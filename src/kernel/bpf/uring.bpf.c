/* SPDX-License-Identifier: MIT
 *
 * Files by io_uring. What works on an open file is recorded when it is submitted, what has a path when it
 * is done, with the time at which it began; paths are read when they are submitted, for then they are
 * there, and the directory they begin in is the submitter's.
 */
#include "kbpf_open.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
/* Each lies over the beginning of an io_kiocb. */
struct io_close {
	int fd;
	__u32 file_slot;
};
struct filename {
	const char *name;
};
struct open_how {
	__u64 flags;
};
struct io_open {
	int dfd;
	__u32 file_slot;
	struct filename *filename;
	struct open_how how;
};
struct io_statx {
	int dfd;
	struct filename *filename;
};
struct io_unlink {
	int dfd;
	int flags;
	struct filename *filename;
};
struct io_mkdir {
	int dfd;
	struct filename *filename;
};
struct io_rename {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
	int flags;
};
struct io_link {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
};
struct io_sync {
	long long len;
};
struct io_ftrunc {
	long long len;
};
struct io_splice {
	long long off_out, off_in;
	__u64 len;
	int splice_fd_in;
	unsigned int flags;
};
#pragma clang attribute pop

enum {
	URING_READV = 1,
	URING_WRITEV,
	URING_FSYNC,
	URING_READ_FIXED,
	URING_WRITE_FIXED,
	URING_SYNC_RANGE = 8,
	URING_FALLOCATE = 17,
	URING_OPENAT = 18,
	URING_CLOSE = 19,
	URING_STATX = 21,
	URING_READ = 22,
	URING_WRITE,
	URING_OPENAT2 = 28,
	URING_SPLICE = 30,
	URING_RENAMEAT = 35,
	URING_UNLINKAT,
	URING_MKDIRAT,
	URING_SYMLINKAT,
	URING_LINKAT,
	URING_FTRUNCATE = 55
};
#define URING_FIXED_FILE 1u /* of a request's flags: `fd` is none, but an index */
#define URING_IRP        0x20000000u
#define URING_SECOND     0x40000000u /* the write of what reads and writes */
#define SPLICE_FIXED     0x80000000u /* of a splice's flags: the descriptor read from is an index */
#define URING_TEXTS      (sizeof(struct kbpf_file) + 4 * KBPF_TEXT_MAX)
#define AT_REMOVEDIR     0x200u

enum { TOLD = 1, TOLD_SECOND = 2, HAS_TEXT = 4, FIXED_RESULT = 8 };

struct uring {
	uint64_t irp, start, offset, size;
	uint32_t pid, tid, hook, flags;
};
/* By request. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct uring);
} kbpf_uring SEC(".maps");

/* The records of those with paths, until they are done. */
struct uring_text {
	uint8_t record[URING_TEXTS];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct uring_text);
} kbpf_uring_text SEC(".maps");

static __always_inline uint32_t uring_hook(uint8_t opcode)
{
	switch (opcode) {
	case URING_READV:
	case URING_READ:
	case URING_READ_FIXED:
	case URING_SPLICE: return KBPF_FILE_READ;
	case URING_WRITEV:
	case URING_WRITE:
	case URING_WRITE_FIXED: return KBPF_FILE_WRITE;
	case URING_FSYNC:
	case URING_SYNC_RANGE: return KBPF_FILE_FLUSH;
	case URING_FALLOCATE:
	case URING_FTRUNCATE: return KBPF_FILE_SET_INFO;
	case URING_CLOSE: return KBPF_FILE_CLOSE;
	default: return KBPF_HOOKS_MAX;
	}
}

static __always_inline uint32_t uring_path_hook(uint8_t opcode)
{
	switch (opcode) {
	case URING_OPENAT:
	case URING_OPENAT2:
	case URING_MKDIRAT:
	case URING_SYMLINKAT: return KBPF_FILE_CREATE;
	case URING_STATX: return KBPF_FILE_QUERY_INFO;
	case URING_UNLINKAT: return KBPF_FILE_DELETE;
	case URING_RENAMEAT: return KBPF_FILE_RENAME;
	case URING_LINKAT: return KBPF_FILE_LINK;
	default: return KBPF_HOOKS_MAX;
	}
}

/* ---- what works on an open file ---------------------------------------------------------------- */

/* The operation's own record. False: nothing that is followed. */
static __always_inline bool uring_tell(void *ctx, uint32_t slot, struct kbpf_who *who, struct uring *u,
				       struct file *file, uint32_t number)
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
	f->number = KBPF_URING | number;
	f->open_flags = BPF_CORE_READ(file, f_flags);
	f->flags = u->hook == KBPF_FILE_CLOSE ? KBPF_FILE_LAST : 0;
	u->flags |= TOLD;
	return kbpf_send(ctx, who, slot, s, sizeof *f);
}

/* One side of a splice. */
static __always_inline bool uring_side(void *ctx, const struct uring *u, uint32_t hook, struct file *file,
				       uint64_t offset, uint32_t number)
{
	struct kbpf_who who;
	struct uring side = *u;
	side.hook = hook;
	side.irp ^= number;
	side.offset = offset;
	if (!kbpf_wanted(hook, &who)) {
		return false;
	}
	who.time += number != 0;
	return uring_tell(ctx, KBPF_SLOT_URING_SUBMIT, &who, &side, file, URING_SPLICE);
}

static __always_inline bool uring_splice(void *ctx, struct uring *u, struct io_kiocb *req, uint32_t fd, bool fixed)
{
	struct io_splice *splice = (void *)req;
	u->size = BPF_CORE_READ(splice, len);
	if (!(BPF_CORE_READ(splice, flags) & SPLICE_FIXED) &&
	    uring_side(ctx, u, KBPF_FILE_READ, kbpf_file_of_fd((uint32_t)BPF_CORE_READ(splice, splice_fd_in)),
		       BPF_CORE_READ(splice, off_in), 0)) {
		u->flags |= TOLD;
	}
	if (!fixed &&
	    uring_side(ctx, u, KBPF_FILE_WRITE, kbpf_file_of_fd(fd), BPF_CORE_READ(splice, off_out), URING_SECOND)) {
		u->flags |= TOLD_SECOND;
	}
	return u->flags & (TOLD | TOLD_SECOND);
}

static __always_inline bool uring_close(void *ctx, struct uring *u, struct io_kiocb *req)
{
	struct io_close *close = (void *)req;
	uint32_t fd = BPF_CORE_READ(close, fd);
	struct kbpf_who who;
	if (bpf_core_field_exists(close->file_slot) && BPF_CORE_READ(close, file_slot)) {
		return false; /* of a table of the ring's, not of the process' */
	}
	struct file *file = kbpf_file_of_fd(fd);
	handle_event(ctx, KBPF_HANDLE_CLOSE, KBPF_SLOT_URING_SUBMIT, file, fd);
	return file && kbpf_wanted(KBPF_FILE_CLOSE, &who) &&
	       told_now(file, who.pid, !kbpf_is_last(file) && has_copy(file, fd, fd, NULL)) &&
	       uring_tell(ctx, KBPF_SLOT_URING_SUBMIT, &who, u, file, URING_CLOSE);
}

static __always_inline bool uring_begin(struct uring *u)
{
	uint64_t id = bpf_get_current_pid_tgid();
	struct kbpf_state *st = kbpf_state_of_current(true);
	if (!st) {
		return false;
	}
	u->irp = id << 32 | URING_IRP | ++st->count;
	u->start = bpf_ktime_get_ns();
	u->pid = id >> 32;
	u->tid = (uint32_t)id;
	return true;
}

static __always_inline uint64_t uring_size(struct io_kiocb *req, uint8_t opcode)
{
	struct io_rw *rw = (void *)req;
	uint64_t n;
	if (opcode == URING_FALLOCATE) {
		struct io_sync *sync = (void *)req;
		return BPF_CORE_READ(sync, len);
	}
	if (opcode == URING_FTRUNCATE) {
		struct io_ftrunc *cut = (void *)req;
		return bpf_core_field_exists(cut->len) ? BPF_CORE_READ(cut, len) : 0;
	}
	if (opcode == URING_FSYNC || opcode == URING_SYNC_RANGE || opcode == URING_CLOSE) {
		return 0;
	}
	n = BPF_CORE_READ(rw, len);
	if (opcode == URING_READV || opcode == URING_WRITEV) {
		n = vector_bytes(BPF_CORE_READ(rw, addr), n);
	}
	return n;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(kbpf_uring_submit, struct io_kiocb *req)
{
	uint8_t opcode = BPF_CORE_READ(req, opcode);
	struct uring u = {.hook = uring_hook(opcode)};
	struct kbpf_who who;
	if (u.hook == KBPF_HOOKS_MAX) {
		return 0;
	}
	bool wanted = kbpf_wanted(u.hook, &who) || (opcode == URING_SPLICE && kbpf_wanted(KBPF_FILE_WRITE, &who)) ||
		      (opcode == URING_CLOSE && kbpf_wanted(KBPF_HANDLE_CLOSE, &who));
	if (!wanted || !uring_begin(&u)) {
		return 0;
	}
	uint64_t flags;
	struct io_kiocb___narrow *narrow = (void *)req;
	if (bpf_core_field_size(req->flags) == 4) {
		flags = BPF_CORE_READ(narrow, flags);
	} else {
		flags = BPF_CORE_READ(req, flags);
	}
	uint32_t fd = BPF_CORE_READ(req, cqe.fd);
	bool fixed = flags & URING_FIXED_FILE;
	if (opcode == URING_CLOSE) {
		if (!uring_close(ctx, &u, req)) {
			return 0;
		}
	} else if (opcode == URING_SPLICE) {
		if (!uring_splice(ctx, &u, req, fd, fixed)) {
			return 0;
		}
	} else {
		struct io_rw *rw = (void *)req;
		if (u.hook == KBPF_FILE_READ || u.hook == KBPF_FILE_WRITE) {
			u.offset = BPF_CORE_READ(rw, kiocb.ki_pos);
		}
		u.size = uring_size(req, opcode);
		if (!fixed && !uring_tell(ctx, KBPF_SLOT_URING_SUBMIT, &who, &u, kbpf_file_of_fd(fd), opcode)) {
			return 0;
		}
	}
	uint64_t key = (uint64_t)req;
	bpf_map_update_elem(&kbpf_uring, &key, &u, BPF_ANY);
	return 0;
}

/* ---- what has a path --------------------------------------------------------------------------- */

/* A path that the kernel has read, and where it begins. */
static __always_inline uint32_t uring_path(struct kbpf_scratch *s, uint32_t at, int fd, const char *name,
					   uint16_t *ret_path, uint16_t *ret_directory, const uint32_t max)
{
	if (at > URING_TEXTS - 2 * max) {
		return at;
	}
	long n = bpf_probe_read_kernel_str(s->body + at, max, name);
	if (n <= 0 || n > max) {
		return at;
	}
	bool relative = s->body[at] != '/';
	*ret_path = n;
	at += n;
	if (relative && at <= URING_TEXTS - max) {
		uint32_t d = put_directory(KBPF_SLOT_URING_PATH, at, (uint64_t)(int64_t)fd, max);
		*ret_directory = d;
		at += d;
	}
	return at;
}

static __always_inline void uring_texts(struct kbpf_scratch *s, struct io_kiocb *req, uint8_t opcode)
{
	struct kbpf_file *f = (void *)s->body;
	uint32_t at = sizeof *f;
	const char *first = NULL, *second = NULL;
	int from = AT_FDCWD, to = AT_FDCWD;
	if (opcode == URING_OPENAT || opcode == URING_OPENAT2) {
		struct io_open *o = (void *)req;
		f->open_flags = BPF_CORE_READ(o, how.flags);
		from = BPF_CORE_READ(o, dfd);
		first = BPF_CORE_READ(o, filename, name);
	} else if (opcode == URING_STATX) {
		struct io_statx *o = (void *)req;
		from = BPF_CORE_READ(o, dfd);
		first = BPF_CORE_READ(o, filename, name);
	} else if (opcode == URING_MKDIRAT) {
		struct io_mkdir *o = (void *)req;
		f->flags = KBPF_FILE_IS_DIRECTORY;
		from = BPF_CORE_READ(o, dfd);
		first = BPF_CORE_READ(o, filename, name);
	} else if (opcode == URING_UNLINKAT) {
		struct io_unlink *o = (void *)req;
		f->flags = BPF_CORE_READ(o, flags) & AT_REMOVEDIR ? KBPF_FILE_IS_DIRECTORY : 0;
		from = BPF_CORE_READ(o, dfd);
		first = BPF_CORE_READ(o, filename, name);
	} else if (opcode == URING_SYMLINKAT) {
		struct io_link *o = (void *)req;
		f->open_flags = 0300; /* O_CREAT | O_EXCL */
		from = BPF_CORE_READ(o, new_dfd);
		first = BPF_CORE_READ(o, newpath, name);
	} else if (opcode == URING_RENAMEAT) {
		struct io_rename *o = (void *)req;
		f->open_flags = BPF_CORE_READ(o, flags);
		from = BPF_CORE_READ(o, old_dfd);
		to = BPF_CORE_READ(o, new_dfd);
		first = BPF_CORE_READ(o, oldpath, name);
		second = BPF_CORE_READ(o, newpath, name);
	} else if (opcode == URING_LINKAT) {
		struct io_link *o = (void *)req;
		from = BPF_CORE_READ(o, old_dfd);
		to = BPF_CORE_READ(o, new_dfd);
		first = BPF_CORE_READ(o, oldpath, name);
		second = BPF_CORE_READ(o, newpath, name);
	}
	if (second) {
		at = uring_path(s, at, from, first, &f->text[0], &f->text[1], KBPF_TEXT_MAX);
		uring_path(s, at, to, second, &f->text[2], &f->text[3], KBPF_TEXT_MAX);
	} else if (first) {
		uring_path(s, at, from, first, &f->text[0], &f->text[1], KBPF_HALF_MAX);
	}
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(kbpf_uring_path, struct io_kiocb *req)
{
	uint8_t opcode = BPF_CORE_READ(req, opcode);
	struct uring u = {.hook = uring_path_hook(opcode)};
	struct kbpf_scratch *s = kbpf_slot(KBPF_SLOT_URING_PATH);
	struct kbpf_who who;
	bool opens = opcode == URING_OPENAT || opcode == URING_OPENAT2;
	if (u.hook == KBPF_HOOKS_MAX || !s) {
		return 0;
	}
	if (!kbpf_wanted(u.hook, &who) && !(opens && kbpf_wanted(KBPF_HANDLE_CREATE, &who))) {
		return 0;
	}
	if (!uring_begin(&u)) {
		return 0;
	}
	struct kbpf_file *f = (void *)s->body;
	__builtin_memset(f, 0, sizeof *f);
	f->irp = u.irp;
	f->number = KBPF_URING | opcode;
	uring_texts(s, req, opcode);
	struct io_open *o = (void *)req;
	if (opens && bpf_core_field_exists(o->file_slot) && BPF_CORE_READ(o, file_slot)) {
		u.flags |= FIXED_RESULT;
	}
	uint64_t key = (uint64_t)req;
	if (bpf_map_update_elem(&kbpf_uring_text, &key, s->body, BPF_ANY) == 0) {
		u.flags |= HAS_TEXT;
	}
	bpf_map_update_elem(&kbpf_uring, &key, &u, BPF_ANY);
	return 0;
}

/* ---- done -------------------------------------------------------------------------------------- */

static __always_inline void uring_tell_path(void *ctx, struct uring *u, uint64_t key, int64_t result)
{
	const uint32_t slot = KBPF_SLOT_URING_DONE;
	struct kbpf_scratch *s = kbpf_slot(slot);
	struct uring_text *text = bpf_map_lookup_elem(&kbpf_uring_text, &key);
	struct kbpf_who who;
	struct file *file = NULL;
	struct inode *inode = NULL;
	struct kbpf_key k = {0};
	uint32_t mode = 0;
	if (!s || !text) {
		return;
	}
	uint32_t opcode = ((struct kbpf_file *)(void *)text->record)->number & 0xFF;
	if ((opcode == URING_OPENAT || opcode == URING_OPENAT2) && result >= 0 && !(u->flags & FIXED_RESULT)) {
		file = kbpf_file_of_fd(result);
		inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
		handle_event(ctx, KBPF_HANDLE_CREATE, slot, file, result);
	}
	if (inode) {
		if (!kbpf_is_file(inode, &mode)) {
			return;
		}
		kbpf_key_of(inode, &k);
		opened_by(file, u->pid);
		name_file(ctx, slot, s, file, &k, mode);
	}
	if (!kbpf_wanted_of(u->hook, u->pid, u->tid, &who) ||
	    bpf_probe_read_kernel(s->body, sizeof text->record, text->record)) {
		return;
	}
	struct kbpf_file *f = (void *)s->body;
	uint32_t end = sizeof *f;
	f->result = result;
	f->object = (uint64_t)file;
	f->inode = k.inode;
	f->device = k.device;
	f->generation = k.generation;
	f->mode = mode;
	if (file) {
		uint32_t n = kbpf_walk_file(slot, end, file, KBPF_PATH_MAX);
		f->text[0] = f->text[2] = f->text[3] = 0;
		f->text[1] = n;
		end += n;
	} else {
		end += (uint32_t)f->text[0] + f->text[1] + f->text[2] + f->text[3];
	}
	u->flags |= TOLD;
	who.time = u->start;
	who.stacks = 0; /* whoever this is */
	kbpf_send(ctx, &who, slot, s, end);
}

static __always_inline void uring_end(void *ctx, const struct uring *u, uint64_t irp, int64_t result)
{
	struct kbpf_who who;
	if (kbpf_wanted_of(KBPF_FILE_END, u->pid, u->tid, &who)) {
		struct kbpf_file_end e = {.irp = irp, .result = result};
		who.time++;
		who.stacks = 0;
		kbpf_write(ctx, &who, KBPF_SLOT_URING_DONE, &e, sizeof e);
	}
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
	if (u.flags & HAS_TEXT) {
		uring_tell_path(ctx, &u, key, result);
		bpf_map_delete_elem(&kbpf_uring_text, &key);
	} else if (!(u.flags & (TOLD | TOLD_SECOND)) && kbpf_wanted_of(u.hook, u.pid, u.tid, &who)) {
		/* Of the ring's own table: only now is it known what file that was. */
		uring_tell(ctx, KBPF_SLOT_URING_DONE, &who, &u, BPF_CORE_READ(req, file), BPF_CORE_READ(req, opcode));
	}
	if (u.flags & TOLD) {
		uring_end(ctx, &u, u.irp, result);
	}
	if (u.flags & TOLD_SECOND) {
		uring_end(ctx, &u, u.irp ^ URING_SECOND, result);
	}
	return 0;
}
