/* SPDX-License-Identifier: MIT
 *
 * What each system call is to call.bpf.c, and what operations of io_uring are. Calls that this architecture does not have have no number.
 */
#include "kernel/kernel_names.h"

#include <linux/io_uring.h>
#include <linux/stat.h>
#include <sys/syscall.h>

#ifdef OPENETW_BPF
#include <bpf/bpf.h>
#endif

#define NO KBPF_NO_ARG

/* FILE_INFORMATION_CLASS */
#define INFO_BASIC       4
#define INFO_STANDARD    5
#define INFO_EA          7
#define INFO_RENAME      10
#define INFO_LINK        11
#define INFO_DISPOSITION 13
#define INFO_ALLOCATION  19
#define INFO_END_OF_FILE 20

/* Newer than some headers. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#define URING_FTRUNCATE 55

struct row {
	int number;
	struct kbpf_call call;
};

/* clang-format off */
#define OPEN(n, dir, path, how, fl)	  {SYS_##n, {KBPF_CALL_OPEN, fl, dir, path, NO, NO, how, 0, KBPF_FILE_CREATE, {0}}},
#define MOVE(n, fd, size, fl, hook)	  {SYS_##n, {KBPF_CALL_FILE, fl, fd, NO, NO, NO, size, 0, hook, {0}}},
#define BOTH(n, from, at, to, at2, size)  {SYS_##n, {KBPF_CALL_FILE, KBPF_CALL_SECOND, from, at, to, at2, size, 0, KBPF_FILE_READ, {0}}},
#define DO(n, fd, info, hook)		  {SYS_##n, {KBPF_CALL_FILE, 0, fd, NO, NO, NO, NO, info, hook, {0}}},
#define PATH(n, dir, path, fl, info, hook) {SYS_##n, {KBPF_CALL_PATH, fl, dir, path, NO, NO, NO, info, hook, {0}}},
#define TWO(n, d1, p1, d2, p2, info, hook) {SYS_##n, {KBPF_CALL_PATH, 0, d1, p1, d2, p2, NO, info, hook, {0}}},
#define HANDLE(n)			  {SYS_##n, {KBPF_CALL_HANDLE, 0, NO, NO, NO, NO, NO, 0, KBPF_HANDLE_CREATE, {0}}},
#define PAIR(n, at)			  {SYS_##n, {KBPF_CALL_PAIR, 0, NO, at, NO, NO, NO, 0, KBPF_HANDLE_CREATE, {0}}},
#define MEMORY(n, k, hook)		  {SYS_##n, {KBPF_CALL_##k, 0, NO, NO, NO, NO, NO, 0, hook, {0}}},

static const struct row rows[] = {
	OPEN(openat, 0, 1, 2, 0)
	OPEN(openat2, 0, 1, 2, KBPF_CALL_HOW)
	MOVE(read, 0, 2, 0, KBPF_FILE_READ)
	MOVE(pread64, 0, 2, KBPF_CALL_OFFSET, KBPF_FILE_READ)
	MOVE(readv, 0, NO, KBPF_CALL_VECTOR, KBPF_FILE_READ)
	MOVE(preadv, 0, NO, KBPF_CALL_VECTOR | KBPF_CALL_OFFSET, KBPF_FILE_READ)
	MOVE(preadv2, 0, NO, KBPF_CALL_VECTOR | KBPF_CALL_OFFSET | KBPF_CALL_RWF, KBPF_FILE_READ)
	MOVE(write, 0, 2, 0, KBPF_FILE_WRITE)
	MOVE(pwrite64, 0, 2, KBPF_CALL_OFFSET, KBPF_FILE_WRITE)
	MOVE(writev, 0, NO, KBPF_CALL_VECTOR, KBPF_FILE_WRITE)
	MOVE(pwritev, 0, NO, KBPF_CALL_VECTOR | KBPF_CALL_OFFSET, KBPF_FILE_WRITE)
	MOVE(pwritev2, 0, NO, KBPF_CALL_VECTOR | KBPF_CALL_OFFSET | KBPF_CALL_RWF, KBPF_FILE_WRITE)
	BOTH(sendfile, 1, 2, 0, NO, 3)
	BOTH(splice, 0, 1, 2, 3, 4)
	BOTH(copy_file_range, 0, 1, 2, 3, 4)
	DO(fsync, 0, 0, KBPF_FILE_FLUSH)
	DO(fdatasync, 0, 0, KBPF_FILE_FLUSH)
	DO(sync_file_range, 0, 0, KBPF_FILE_FLUSH)
	DO(syncfs, 0, 0, KBPF_FILE_FLUSH)
	MOVE(ftruncate, 0, 1, 0, KBPF_FILE_SET_INFO)
	MOVE(fallocate, 0, 3, 0, KBPF_FILE_SET_INFO)
	DO(fchmod, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	DO(fchown, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	DO(fstat, 0, INFO_STANDARD, KBPF_FILE_QUERY_INFO)
	DO(fstatfs, 0, 0, KBPF_FILE_QUERY_INFO)
	MOVE(getdents64, 0, 2, 0, KBPF_FILE_DIR_ENUM)
	MOVE(ioctl, 0, 1, 0, KBPF_FILE_CONTROL)
	{SYS_truncate, {KBPF_CALL_PATH, 0, NO, 0, NO, NO, 1, INFO_END_OF_FILE, KBPF_FILE_SET_INFO, {0}}},
	PATH(fchmodat, 0, 1, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(fchownat, 0, 1, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(utimensat, 0, 1, KBPF_CALL_NULL_PATH, INFO_BASIC, KBPF_FILE_SET_INFO)
#ifdef SYS_newfstatat
	PATH(newfstatat, 0, 1, KBPF_CALL_NULL_PATH, INFO_BASIC, KBPF_FILE_QUERY_INFO)
#endif
	PATH(statx, 0, 1, KBPF_CALL_NULL_PATH, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(statfs, NO, 0, 0, 0, KBPF_FILE_QUERY_INFO)
	PATH(faccessat, 0, 1, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
#ifdef SYS_faccessat2
	PATH(faccessat2, 0, 1, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
#endif
	PATH(readlinkat, 0, 1, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(fchmodat2, 0, 1, KBPF_CALL_NULL_PATH, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(mknodat, 0, 1, 0, 0, KBPF_FILE_CREATE)
	OPEN(open_by_handle_at, NO, NO, 2, 0)
	PATH(setxattr, NO, 0, 0, INFO_EA, KBPF_FILE_SET_INFO)
	PATH(lsetxattr, NO, 0, 0, INFO_EA, KBPF_FILE_SET_INFO)
	PATH(removexattr, NO, 0, 0, INFO_EA, KBPF_FILE_SET_INFO)
	PATH(lremovexattr, NO, 0, 0, INFO_EA, KBPF_FILE_SET_INFO)
	PATH(getxattr, NO, 0, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	PATH(lgetxattr, NO, 0, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	PATH(listxattr, NO, 0, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	PATH(llistxattr, NO, 0, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	DO(fsetxattr, 0, INFO_EA, KBPF_FILE_SET_INFO)
	DO(fremovexattr, 0, INFO_EA, KBPF_FILE_SET_INFO)
	DO(fgetxattr, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	DO(flistxattr, 0, INFO_EA, KBPF_FILE_QUERY_INFO)
	PATH(mkdirat, 0, 1, KBPF_CALL_DIRECTORY, 0, KBPF_FILE_CREATE)
	PATH(unlinkat, 0, 1, 0, INFO_DISPOSITION, KBPF_FILE_DELETE)
	TWO(renameat, 0, 1, 2, 3, INFO_RENAME, KBPF_FILE_RENAME)
	{SYS_renameat2, {KBPF_CALL_PATH, 0, 0, 1, 2, 3, 4, INFO_RENAME, KBPF_FILE_RENAME, {0}}},
	PATH(symlinkat, 1, 2, 0, 0, KBPF_FILE_CREATE)
	{SYS_inotify_add_watch, {KBPF_CALL_PATH, 0, NO, 1, NO, NO, 2, 0, KBPF_FILE_DIR_NOTIFY, {0}}},
	{SYS_fanotify_mark, {KBPF_CALL_PATH, KBPF_CALL_NULL_PATH, 3, 4, NO, NO, 2, 0, KBPF_FILE_DIR_NOTIFY, {0}}},
	TWO(linkat, 0, 1, 2, 3, INFO_LINK, KBPF_FILE_LINK)
	{SYS_close, {KBPF_CALL_CLOSE, 0, 0, NO, NO, NO, NO, 0, KBPF_FILE_CLOSE, {0}}},
#ifdef SYS_close_range
	{SYS_close_range, {KBPF_CALL_CLOSE_RANGE, 0, NO, NO, NO, NO, NO, 0, KBPF_FILE_CLOSE, {0}}},
#endif
	{SYS_dup3, {KBPF_CALL_CLOSE, KBPF_CALL_NEW_FD, 1, NO, NO, NO, NO, 0, KBPF_FILE_CLOSE, {0}}},
	{SYS_dup, {KBPF_CALL_HANDLE, 0, NO, NO, NO, NO, NO, 0, KBPF_HANDLE_CREATE, {0}}},
	HANDLE(socket) HANDLE(accept) HANDLE(accept4) HANDLE(eventfd2) HANDLE(epoll_create1)
	HANDLE(timerfd_create) HANDLE(signalfd4) HANDLE(inotify_init1) HANDLE(memfd_create) HANDLE(userfaultfd)
	HANDLE(perf_event_open)
#ifdef SYS_pidfd_open
	HANDLE(pidfd_open)
#endif
	PAIR(pipe2, 0)
	PAIR(socketpair, 3)
	MEMORY(mmap, MMAP, KBPF_VIRTUAL_ALLOC)
	MEMORY(munmap, MUNMAP, KBPF_VIRTUAL_FREE)
	MEMORY(brk, BRK, KBPF_VIRTUAL_ALLOC)
	MEMORY(mremap, MREMAP, KBPF_VIRTUAL_ALLOC)
	MEMORY(mprotect, MPROTECT, KBPF_VIRTUAL_ALLOC)
	MEMORY(madvise, MADVISE, KBPF_VIRTUAL_FREE)
	MEMORY(msync, MSYNC, KBPF_FILE_FLUSH)
#ifdef __x86_64__ /* calls that newer architectures do without */
	OPEN(open, NO, 0, 1, 0)
	OPEN(creat, NO, 0, 1, KBPF_CALL_CREATES)
	PATH(chmod, NO, 0, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(chown, NO, 0, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(lchown, NO, 0, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(utime, NO, 0, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(utimes, NO, 0, 0, INFO_BASIC, KBPF_FILE_SET_INFO)
	PATH(stat, NO, 0, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(lstat, NO, 0, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(access, NO, 0, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(readlink, NO, 0, 0, INFO_BASIC, KBPF_FILE_QUERY_INFO)
	PATH(mknod, NO, 0, 0, 0, KBPF_FILE_CREATE)
	PATH(mkdir, NO, 0, KBPF_CALL_DIRECTORY, 0, KBPF_FILE_CREATE)
	PATH(unlink, NO, 0, 0, INFO_DISPOSITION, KBPF_FILE_DELETE)
	PATH(rmdir, NO, 0, KBPF_CALL_DIRECTORY, INFO_DISPOSITION, KBPF_FILE_DELETE)
	TWO(rename, NO, 0, NO, 1, INFO_RENAME, KBPF_FILE_RENAME)
	TWO(link, NO, 0, NO, 1, INFO_LINK, KBPF_FILE_LINK)
	PATH(symlink, NO, 1, 0, 0, KBPF_FILE_CREATE)
	DO(getdents, 0, 0, KBPF_FILE_DIR_ENUM)
	{SYS_dup2, {KBPF_CALL_CLOSE, KBPF_CALL_NEW_FD, 1, NO, NO, NO, NO, 0, KBPF_FILE_CLOSE, {0}}},
	HANDLE(epoll_create) HANDLE(eventfd) HANDLE(signalfd) HANDLE(inotify_init)
	PAIR(pipe, 0)
#endif
};
/* clang-format on */

uint8_t kernel_calls_info(uint32_t number)
{
	switch (number) {
	case SYS_ftruncate: return INFO_END_OF_FILE;
	case KBPF_URING | URING_FTRUNCATE: return INFO_END_OF_FILE;
	case SYS_fallocate:
	case KBPF_URING | IORING_OP_FALLOCATE: return INFO_ALLOCATION;
	case KBPF_URING | IORING_OP_RENAMEAT: return INFO_RENAME;
	case KBPF_URING | IORING_OP_LINKAT: return INFO_LINK;
	case KBPF_URING | IORING_OP_UNLINKAT: return INFO_DISPOSITION;
	case KBPF_URING | IORING_OP_STATX: return INFO_BASIC;
	default: break;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if ((uint32_t)rows[i].number == number) {
			return rows[i].call.info;
		}
	}
	return 0;
}

void kernel_calls_loaded(struct kernel_bpf *b)
{
#ifdef OPENETW_BPF
	int fd = kernel_bpf_map_fd(b, "kbpf_calls");
	for (size_t i = 0; fd >= 0 && i < BASE_ARRAY_LEN(rows); i++) {
		uint32_t number = (uint32_t)rows[i].number;
		bpf_map_update_elem(fd, &number, &rows[i].call, 0);
	}
#else
	(void)b;
#endif
}
