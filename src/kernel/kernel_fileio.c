/* SPDX-License-Identifier: MIT
 *
 * FileIo and Object: operations on files and their ends, and descriptors. What Windows sees as requests
 * to a file system are system calls here; an operation and its end share a request number.
 */
#include "kernel/kernel_names.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK_CREATE        0x0440u
#define HOOK_CLEANUP       0x0441u
#define HOOK_CLOSE         0x0442u
#define HOOK_READ          0x0443u
#define HOOK_WRITE         0x0444u
#define HOOK_SET_INFO      0x0445u
#define HOOK_DELETE        0x0446u
#define HOOK_RENAME        0x0447u
#define HOOK_DIR_ENUM      0x0448u
#define HOOK_FLUSH         0x0449u
#define HOOK_QUERY_INFO    0x044Au
#define HOOK_CONTROL       0x044Bu
#define HOOK_END           0x044Cu
#define HOOK_DELETE_PATH   0x044Fu
#define HOOK_RENAME_PATH   0x0450u
#define HOOK_DIR_NOTIFY    0x044Du
#define HOOK_LINK_PATH     0x0451u
#define HOOK_HANDLE_CREATE 0x1120u
#define HOOK_HANDLE_CLOSE  0x1121u

#define PATH_CAP   4096u
#define PATH_UNITS 4095u
#define IO_MAX     0x7FFFF000u /* Linux moves no more at once, however much is asked for */
#define SWAP_NAMES 2u          /* RENAME_EXCHANGE */
#define NOWHERE    "\1"        /* no path */

/* CreateOptions: a disposition in the top byte, FILE_* below. */
#define OPTION_DIRECTORY     0x00000001u
#define OPTION_WRITE_THROUGH 0x00000002u
#define OPTION_NO_BUFFERING  0x00000008u
#define OPTION_NOT_DIRECTORY 0x00000040u
enum { DISPOSITION_OPEN = 1, DISPOSITION_CREATE, DISPOSITION_OPEN_IF, DISPOSITION_OVERWRITE, DISPOSITION_OVERWRITE_IF };
#define ATTRIBUTE_DIRECTORY 0x10u
#define ATTRIBUTE_NORMAL    0x80u
#define SHARE_ALL           7u

struct files {
	struct kernel_names *names;
	char path[2][PATH_CAP];
};

void *kernel_file_create(struct kernel *k, struct kernel_names *names)
{
	struct files *f = calloc(1, sizeof *f);
	(void)k;
	if (f) {
		f->names = names;
	}
	return f;
}

struct kernel_names *kernel_file_names(void *state)
{
	struct files *f = state;
	return f ? f->names : NULL;
}

void kernel_file_destroy(void *state)
{
	free(state);
}

uint32_t kernel_nt_status(int64_t result)
{
	static const struct {
		uint16_t error;
		uint32_t status;
	} table[] = {
		{ENOENT, 0xC0000034},       {EACCES, 0xC0000022},        {EPERM, 0xC0000022},
		{EEXIST, 0xC0000035},       {ENOSPC, 0xC000007F},        {EIO, 0xC0000185},
		{EINTR, 0xC0000120},        {EBADF, 0xC0000008},         {EINVAL, 0xC000000D},
		{ENOMEM, 0xC0000017},       {EISDIR, 0xC00000BA},        {ENOTDIR, 0xC0000103},
		{EBUSY, 0xC0000043},        {ETXTBSY, 0xC0000043},       {EAGAIN, 0xC00000D8},
		{ENOTEMPTY, 0xC0000101},    {EROFS, 0xC00000A2},         {ENAMETOOLONG, 0xC0000106},
		{EXDEV, 0xC00000D4},        {EMFILE, 0xC000011F},        {ENODEV, 0xC000000E},
		{ECONNREFUSED, 0xC0000236}, {ECONNRESET, 0xC000020D},    {ETIMEDOUT, 0xC00000B5},
		{ENETUNREACH, 0xC000023C},  {EHOSTUNREACH, 0xC000023D},  {ECONNABORTED, 0xC0000241},
		{EADDRINUSE, 0xC000020A},   {EADDRNOTAVAIL, 0xC0000141}, {ENOBUFS, 0xC000009A},
		{ENOTTY, 0xC0000010},       {ENOSYS, 0xC0000002},        {EOPNOTSUPP, 0xC00000BB},
		{ENODATA, 0xC0000052},      {ERANGE, 0xC0000023},
	};
	if (result >= 0 || result < -4095) {
		return 0;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(table); i++) {
		if (table[i].error == -result) {
			return table[i].status;
		}
	}
	return 0xC0000001;
}

static uint32_t create_options(const struct kbpf_file *f)
{
	uint32_t flags = f->open_flags, disposition = DISPOSITION_OPEN, options = 0;
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE, made = f->number == SYS_symlinkat || f->number == SYS_mknodat;
#ifdef SYS_symlink
	made = made || f->number == SYS_symlink || f->number == SYS_mknod;
#endif
	if (nameless || made || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
		disposition = DISPOSITION_CREATE;
	} else if ((flags & (O_CREAT | O_TRUNC)) == (O_CREAT | O_TRUNC)) {
		disposition = DISPOSITION_OVERWRITE_IF;
	} else if (flags & O_CREAT) {
		disposition = DISPOSITION_OPEN_IF;
	} else if (flags & O_TRUNC) {
		disposition = DISPOSITION_OVERWRITE;
	}
	bool directory = ((flags & O_DIRECTORY) && !nameless) || (f->mode & S_IFMT) == S_IFDIR;
	if (f->flags & KBPF_FILE_IS_DIRECTORY) { /* mkdir */
		disposition = DISPOSITION_CREATE;
		directory = true;
	}
	options |= directory ? OPTION_DIRECTORY : OPTION_NOT_DIRECTORY;
	options |= flags & O_DSYNC ? OPTION_WRITE_THROUGH : 0;
	options |= flags & O_DIRECT ? OPTION_NO_BUFFERING : 0;
	return disposition << 24 | options;
}

/* ---- names ------------------------------------------------------------------------------------ */

static void paths(struct files *s, const struct kbpf_record *raw, const struct kbpf_file *f)
{
	const char *text = (const char *)(f + 1);
	size_t left = raw->bytes - sizeof *f, at = 0, n[4];
	for (int i = 0; i < 4; i++) {
		n[i] = BASE_MIN((size_t)f->text[i], left - at);
		at += n[i];
	}
	kernel_names_path(text, n[0], text + n[0], n[1], s->path[0], PATH_CAP);
	text += n[0] + n[1];
	kernel_names_path(text, n[2], text + n[2], n[3], s->path[1], PATH_CAP);
}

static void learn(struct files *s, const struct kbpf_file *f)
{
	uint64_t key = kernel_names_key(s->names, f->inode, f->device, f->generation);
	if (f->flags & KBPF_FILE_OF_DEVICE) {
		char *path = s->path[1];
		if ((f->mode & S_IFMT) == S_IFBLK) {
			char link[64], target[256];
			snprintf(link, sizeof link, "/sys/dev/block/%u:%u", (unsigned)(f->offset >> 20),
				 (unsigned)(f->offset & 0xFFFFF));
			ssize_t n = readlink(link, target, sizeof target - 1);
			target[BASE_MAX(n, 0)] = 0;
			const char *last = strrchr(target, '/');
			snprintf(path, PATH_CAP, "/dev/%s", last ? last + 1 : "?");
		} else {
			snprintf(path, PATH_CAP, "%s%.3800s", kernel_names_mount(s->names, f->device), s->path[0]);
		}
		kernel_names_learn(s->names, key, path);
		return;
	}
	kernel_names_learn(s->names, key, s->path[0]);
}

/* ---- operations ------------------------------------------------------------------------------- */

static void put_file(struct kernel_record *r, uint64_t irp, uint64_t object, uint64_t key)
{
	kernel_put(r, irp, 8);
	kernel_put(r, object, 8);
	kernel_put(r, key, 8);
}

/* Name, or SetInfo … Link: the same shape, with the path or without. */
static void information(struct kernel *k, const struct kbpf_record *raw, uint16_t hook, const struct kbpf_file *f,
			uint64_t object, uint64_t key, uint64_t extra, const char *path)
{
	struct kernel_record r;
	kernel_record_begin(&r, raw, hook, 3, false);
	put_file(&r, f->irp, object, key);
	kernel_put(&r, extra, 8);
	kernel_put(&r, raw->tid, 4);
	kernel_put(&r, kernel_calls_info(f->number), 4);
	if (path) {
		kernel_put_wide(&r, path, PATH_UNITS);
	}
	kernel_out(k, &r);
}

static void create(struct kernel *k, struct files *s, const struct kbpf_record *raw, const struct kbpf_file *f,
		   uint64_t object)
{
	struct kernel_record r;
	kernel_record_begin(&r, raw, HOOK_CREATE, 3, false);
	kernel_put(&r, f->irp, 8);
	kernel_put(&r, object, 8);
	kernel_put(&r, raw->tid, 4);
	kernel_put(&r, create_options(f), 4);
	kernel_put(&r,
		   (f->mode & S_IFMT) == S_IFDIR || (f->flags & KBPF_FILE_IS_DIRECTORY) ? ATTRIBUTE_DIRECTORY
											: ATTRIBUTE_NORMAL,
		   4);
	kernel_put(&r, SHARE_ALL, 4);
	kernel_put_wide(&r, s->path[0], PATH_UNITS);
	kernel_out(k, &r);
}

static void close_both(struct kernel *k, const struct kbpf_record *raw, const struct kbpf_file *f, uint64_t object,
		       uint64_t key)
{
	struct kernel_record r;
	kernel_record_begin(&r, raw, HOOK_CLEANUP, 3, false);
	put_file(&r, f->irp, object, key);
	kernel_put(&r, raw->tid, 4);
	kernel_out(k, &r);
	uint64_t sessions = k->last_sessions;
	r.hook = HOOK_CLOSE;
	r.time++; /* no two events of a thread at one time */
	kernel_out(k, &r);
	k->last_hook = HOOK_CLEANUP; /* the stack is the first one's */
	k->last_sessions = sessions;
}

static void transfer(struct kernel *k, const struct kbpf_record *raw, uint16_t hook, const struct kbpf_file *f,
		     uint64_t object, uint64_t key)
{
	struct kernel_record r;
	kernel_record_begin(&r, raw, hook, 3, false);
	kernel_put(&r, f->offset, 8);
	put_file(&r, f->irp, object, key);
	kernel_put(&r, raw->tid, 4);
	kernel_put(&r, BASE_MIN(f->size, IO_MAX), 4);
	kernel_put(&r, 0, 4);
	kernel_out(k, &r);
}

/* A directory is read, or watched: then InfoClass says for what. */
static void directory(struct kernel *k, const struct kbpf_record *raw, uint16_t hook, const struct kbpf_file *f,
		      uint64_t object, uint64_t key, const char *path)
{
	struct kernel_record r;
	kernel_record_begin(&r, raw, hook, 3, false);
	put_file(&r, f->irp, object, key);
	kernel_put(&r, raw->tid, 4);
	kernel_put(&r, f->size, 4);
	kernel_put(&r, hook == HOOK_DIR_NOTIFY ? f->open_flags : 1, 4); /* FileDirectoryInformation */
	kernel_put(&r, 0, 4);
	kernel_put_wide(&r, path, PATH_UNITS);
	kernel_out(k, &r);
}

/* What was called `from` is called `to`. */
static void renamed(struct kernel *k, struct files *s, const struct kbpf_record *at, const struct kbpf_file *f,
		    uint64_t object, uint64_t key, const char *from, const char *to)
{
	information(k, at, HOOK_RENAME_PATH, f, object, key, 0, to);
	if (f->result >= 0) {
		kernel_names_rename(s->names, from, to);
		kernel_names_tell(s->names, k, key, at);
	}
}

/* Two files change their names: two renames, one after the other. */
static void exchanged(struct kernel *k, struct files *s, const struct kbpf_record *raw, const struct kbpf_file *f,
		      uint64_t object, uint64_t key)
{
	struct kbpf_record at = *raw;
	uint64_t other = kernel_names_of_path(s->names, s->path[1]);
	kernel_names_tell(s->names, k, other, raw);
	at.time++;
	if (f->result >= 0) { /* while the first has no name, the other gets it */
		kernel_names_rename(s->names, s->path[0], NOWHERE);
	}
	information(k, &at, HOOK_RENAME_PATH, f, object, key, 0, s->path[1]);
	at.time++;
	information(k, &at, HOOK_RENAME, f, other, other, 0, NULL);
	at.time++;
	renamed(k, s, &at, f, other, other, s->path[1], s->path[0]);
	if (f->result >= 0) {
		kernel_names_rename(s->names, NOWHERE, s->path[1]);
		kernel_names_tell(s->names, k, key, &at);
	}
}

static bool operation(struct kernel *k, struct files *s, const struct kbpf_record *raw)
{
	const struct kbpf_file *f = (const void *)(raw + 1);
	if (raw->bytes < sizeof *f) {
		return false;
	}
	paths(s, raw, f);
	if (raw->hook == KBPF_FILE_NAME) {
		learn(s, f);
		return false;
	}
	bool of_path = f->text[0] > 1, failed = f->result < 0;
	uint64_t object = kernel_names_opaque(s->names, f->object);
	uint64_t key = kernel_names_key(s->names, f->inode, f->device, f->generation);
	if (!key && of_path && (!failed || raw->hook != KBPF_FILE_CREATE)) {
		key = kernel_names_of_path(s->names, s->path[0]);
	}
	object = object ? object : kernel_names_opaque(s->names, f->irp);
	if (raw->hook != KBPF_FILE_CREATE || !failed) {
		kernel_names_tell(s->names, k, key, raw);
	}
	switch (raw->hook) {
	case KBPF_FILE_CREATE:
		if (!failed && s->path[0][0]) {
			kernel_names_tell_as(k, key, s->path[0], raw,
					     raw->sessions & k->confined & kernel_wants(k, HOOK_CREATE));
		}
		create(k, s, raw, f, object);
		return true;
	case KBPF_FILE_CLOSE: close_both(k, raw, f, object, key); return true;
	case KBPF_FILE_READ:
	case KBPF_FILE_WRITE:
		transfer(k, raw, raw->hook == KBPF_FILE_READ ? HOOK_READ : HOOK_WRITE, f, object, key);
		return true;
	case KBPF_FILE_FLUSH: {
		struct kernel_record r;
		kernel_record_begin(&r, raw, HOOK_FLUSH, 3, false);
		put_file(&r, f->irp, object, key);
		kernel_put(&r, raw->tid, 4);
		kernel_out(k, &r);
		return true;
	}
	case KBPF_FILE_DIR_ENUM: directory(k, raw, HOOK_DIR_ENUM, f, object, key, ""); return true;
	case KBPF_FILE_DIR_NOTIFY:
		directory(k, raw, HOOK_DIR_NOTIFY, f, object, key, of_path ? s->path[0] : "");
		return true;
	case KBPF_FILE_SET_INFO:
	case KBPF_FILE_QUERY_INFO:
	case KBPF_FILE_CONTROL:
		information(k, raw,
			    raw->hook == KBPF_FILE_SET_INFO     ? HOOK_SET_INFO
			    : raw->hook == KBPF_FILE_QUERY_INFO ? HOOK_QUERY_INFO
								: HOOK_CONTROL,
			    f, object, key, f->size, NULL);
		return true;
	case KBPF_FILE_DELETE: information(k, raw, HOOK_DELETE, f, object, key, 1, NULL); break;
	case KBPF_FILE_RENAME: information(k, raw, HOOK_RENAME, f, object, key, 0, NULL); break;
	case KBPF_FILE_LINK: break;
	default: return false;
	}
	/* With the path: the one that goes, or the new one. A stack is the first one's. */
	uint16_t last_hook = k->last_hook;
	uint64_t last_sessions = k->last_sessions;
	struct kbpf_record after = *raw;
	after.time += raw->hook != KBPF_FILE_LINK;
	if (raw->hook == KBPF_FILE_DELETE) {
		information(k, &after, HOOK_DELETE_PATH, f, object, key, 1, s->path[0]);
		if (!failed) {
			kernel_names_remove(s->names, k, s->path[0], &after);
		}
	} else if (raw->hook == KBPF_FILE_LINK) {
		information(k, &after, HOOK_LINK_PATH, f, object, key, 0, s->path[1]);
	} else if (f->open_flags & SWAP_NAMES) {
		exchanged(k, s, raw, f, object, key);
	} else {
		renamed(k, s, &after, f, object, key, s->path[0], s->path[1]);
	}
	if (raw->hook != KBPF_FILE_LINK) {
		k->last_hook = last_hook;
		k->last_sessions = last_sessions;
	}
	return true;
}

static bool operation_end(struct kernel *k, const struct kbpf_record *raw)
{
	const struct kbpf_file_end *e = (const void *)(raw + 1);
	struct kernel_record r;
	if (raw->bytes < sizeof *e) {
		return false;
	}
	kernel_record_begin(&r, raw, HOOK_END, 3, false);
	kernel_put(&r, e->irp, 8);
	kernel_put(&r, e->result >= 0 ? (uint64_t)e->result : (uint64_t)-e->result, 8); /* bytes, or errno */
	kernel_put(&r, kernel_nt_status(e->result), 4);
	kernel_out(k, &r);
	return true;
}

/* ---- descriptors ------------------------------------------------------------------------------ */

const char *const kernel_handle_types[KERNEL_HANDLE_TYPES] = {
	"Other", "File", "Directory", "Socket", "Pipe", "Device", "Disk",
};

uint16_t kernel_handle_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return 1;
	case S_IFDIR: return 2;
	case S_IFSOCK: return 3;
	case S_IFIFO: return 4;
	case S_IFCHR: return 5;
	case S_IFBLK: return 6;
	default: return 0; /* events, timers, polls … */
	}
}

static bool handle(struct kernel *k, struct files *s, const struct kbpf_record *raw)
{
	const struct kbpf_handle *h = (const void *)(raw + 1);
	struct kernel_record r;
	if (raw->bytes < sizeof *h) {
		return false;
	}
	kernel_record_begin(&r, raw, raw->hook == KBPF_HANDLE_CREATE ? HOOK_HANDLE_CREATE : HOOK_HANDLE_CLOSE, 2,
			    false);
	kernel_put(&r, kernel_names_opaque(s->names, h->object), 8);
	kernel_put(&r, h->fd, 4);
	kernel_put(&r, kernel_handle_type(h->type), 2);
	kernel_out(k, &r);
	return true;
}

bool kernel_file_shape(struct kernel *k, void *state, const struct kbpf_record *raw)
{
	struct files *s = state;
	switch (raw->hook) {
	case KBPF_FILE_END: return operation_end(k, raw);
	case KBPF_HANDLE_CREATE:
	case KBPF_HANDLE_CLOSE: return handle(k, s, raw);
	case KBPF_VIRTUAL_ALLOC:
	case KBPF_VIRTUAL_FREE:
	case KBPF_MAP_FILE:
	case KBPF_UNMAP_FILE: return kernel_memory_shape(k, s->names, raw);
	default: return operation(k, s, raw);
	}
}
