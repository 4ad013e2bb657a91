/* SPDX-License-Identifier: MIT
 * A program whose doings are known: "kernel_acts WHAT DIRECTORY" says on stdout what it did, for the
 * tests that look for it in a recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts_uring.h"

#define PAGE  4096
#define PAGES 40

/* 1,000 calls that cannot fail, 50 that must. */
static int act_syscalls(void)
{
	for (int i = 0; i < 1000; i++) {
		syscall(SYS_getppid);
	}
	for (int i = 0; i < 50; i++) {
		if (syscall(SYS_close, -1) == 0) {
			return 1;
		}
	}
	return 0;
}

#define MUST(what)                                                                        \
	do {                                                                              \
		if ((what) < 0) {                                                         \
			fprintf(stderr, "kernel_acts: %s: %s\n", #what, strerror(errno)); \
			return 1;                                                         \
		}                                                                         \
	} while (0)

static int act_files(void)
{
	char buffer[2000] = "";
	struct stat st;
	struct iovec v[2] = {{buffer, 300}, {buffer + 300, 200}};
	int fd = open("one", O_RDWR | O_CREAT | O_EXCL, 0644);
	MUST(fd);
	for (int i = 0; i < 5; i++) {
		MUST(write(fd, buffer, 1000));
	}
	for (int i = 0; i < 4; i++) {
		MUST(pread(fd, buffer, 100, 10 * i));
	}
	MUST(writev(fd, v, 2));
	MUST(pread(fd, buffer, 2000, 5400)); /* gets 100 */
	MUST(fsync(fd));
	MUST(syscall(SYS_fstat, fd, &st));
	MUST(ftruncate(fd, 1234));
	int copy = dup(fd);
	MUST(copy);
	MUST(close(fd));
	MUST(write(copy, buffer, 7)); /* at 5500 */
	MUST(close(copy));
	MUST(rename("one", "two"));
	fd = open("two", O_RDONLY);
	MUST(fd);
	MUST(read(fd, buffer, 50));
	MUST(close(fd));
	MUST(truncate("two", 700));
	if (open("none", O_RDONLY) >= 0) {
		return 1;
	}
	MUST(link("two", "three"));
	MUST(unlink("three"));
	MUST(mkdir("folder", 0755));
	fd = open("folder", O_RDONLY | O_DIRECTORY);
	MUST(fd);
	MUST(syscall(SYS_getdents64, fd, buffer, sizeof buffer));
	int file = openat(fd, "../two", O_WRONLY | O_APPEND);
	MUST(file);
	MUST(write(file, buffer, 9));
	MUST(close(file));
	MUST(close(fd));
	MUST(rmdir("folder"));
	MUST(unlink("two"));
	fd = open("left", O_WRONLY | O_CREAT | O_TRUNC, 0600); /* its end closes it */
	MUST(fd);
	MUST(write(fd, buffer, 11));
	return 0;
}

/* A hundred pieces at once, at the file's own place, and from a descriptor with a high number. */
static int many_pieces(void)
{
	static char buffer[200];
	struct iovec v[100];
	struct rlimit limit;
	for (int i = 0; i < 100; i++) {
		v[i] = (struct iovec){buffer, (size_t)(10 + i)};
	}
	MUST(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max;
	MUST(setrlimit(RLIMIT_NOFILE, &limit));
	int fd = open("pieces", O_RDWR | O_CREAT, 0600);
	MUST(fd);
	int high = fcntl(fd, F_DUPFD, limit.rlim_max > 1500 ? 1500 : 500);
	MUST(high);
	MUST(close(fd));
	MUST(writev(high, v, 100));
	MUST(lseek(high, 7, SEEK_SET));
	MUST(preadv2(high, v, 2, -1, 0));
	return close(high);
}

/* A child has its parent's descriptors: whoever closes the last one ends the file. */
static int left_to_children(void)
{
	int gone[2], done[2];
	char c;
	MUST(pipe(gone));
	MUST(pipe(done));
	pid_t child = fork();
	MUST(child);
	if (child == 0) {
		int fd = open("legacy", O_RDWR | O_CREAT, 0600);
		pid_t heir = fd < 0 ? -1 : fork();
		if (heir == 0) {
			close(gone[1]);
			_exit(read(gone[0], &c, 1) != 0 || write(fd, "0123456789", 10) != 10 || close(fd) != 0);
		}
		_exit(heir < 0);
	}
	MUST(close(gone[1]));
	MUST(close(done[1]));
	MUST(waitpid(child, NULL, 0));
	if (read(done[0], &c, 1) != 0) { /* until the heir, too, has ended */
		return 1;
	}
	child = fork();
	MUST(child);
	if (child == 0) {
		int kept = open("kept", O_RDWR | O_CREAT, 0600);
		int marked = open("marked", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		int copied = open("copied", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (kept < 0 || marked < 0 || copied < 0 || dup(copied) < 0) {
			_exit(1);
		}
		execl("/bin/true", "nothing", "done", (char *)NULL);
		_exit(1);
	}
	int status;
	MUST(waitpid(child, &status, 0));
	return status;
}

/* What few programs do. */
static int act_rare(void)
{
	char name[128], buffer[64] = "", *deep = NULL;
	loff_t at = 50, to = 4000;
	off_t from = 20;
	int fds[3], pipes[2];
	MUST(mkdir("start", 0755));
	for (int i = 0; i < 18; i++) { /* 1,800 bytes */
		snprintf(name, sizeof name, "%02d%098d", i, 0);
		MUST(mkdir(name, 0755));
		MUST(chdir(name));
	}
	int fd = open("deep", O_RDWR | O_CREAT, 0600);
	MUST(fd);
	MUST(write(fd, buffer, 3));
	MUST(close(fd));
	MUST(unlink("deep"));
	deep = getcwd(NULL, 0);
	if (!deep) {
		return 1;
	}
	for (int i = 0; i < 18; i++) {
		MUST(chdir(".."));
	}
	int a = open("from", O_RDWR | O_CREAT, 0600), b = open("to", O_RDWR | O_CREAT, 0600);
	MUST(a);
	MUST(b);
	for (int i = 0; i < 10; i++) {
		MUST(write(a, buffer, 50));
	}
	MUST(copy_file_range(a, &at, b, &to, 100, 0));
	MUST(sendfile(b, a, &from, 200));
	MUST(pipe(pipes));
	MUST(lseek(a, 0, SEEK_SET));
	MUST(splice(a, NULL, pipes[1], NULL, 30, 0));
	to = 7000;
	MUST(splice(pipes[0], NULL, b, &to, 30, 0));
	MUST(syscall(SYS_renameat2, AT_FDCWD, "from", AT_FDCWD, "to", RENAME_EXCHANGE));
	MUST(write(a, buffer, 1)); /* is called "to" */
	for (int i = 0; i < 3; i++) {
		fds[i] = open("from", O_RDONLY);
		MUST(fds[i]);
	}
	MUST(syscall(SYS_close_range, fds[0], fds[2], 0));
	int watch = inotify_init1(IN_CLOEXEC);
	MUST(inotify_add_watch(watch, "start", IN_CREATE));
	MUST(symlink("to", "link"));
	fd = open("nowhere", O_WRONLY | O_CREAT, 0600);
	MUST(fd);
	MUST(unlink("nowhere"));
	MUST(write(fd, buffer, 5));
	MUST(close(fd));
	printf("{\"deep\": \"%s/deep\"}\n", deep);
	fflush(stdout);
	free(deep);
	return many_pieces() || left_to_children();
}

static int act_uring(void)
{
	struct ring r;
	char buffer[600] = "";
	struct iovec v[2] = {{buffer, 70}, {buffer + 70, 30}};
	if (ring_open(&r) < 0) {
		return 77;
	}
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir);
	struct io_uring_sqe e = {.opcode = IORING_OP_OPENAT,
				 .fd = dir,
				 .addr = (uintptr_t) "ring",
				 .len = 0600,
				 .open_flags = O_RDWR | O_CREAT};
	int fd = ring_do(&r, &e);
	MUST(fd);
	e = (struct io_uring_sqe){
		.opcode = IORING_OP_WRITE, .fd = fd, .addr = (uintptr_t)buffer, .len = 600, .off = 1000};
	MUST(ring_do(&r, &e));
	e = (struct io_uring_sqe){.opcode = IORING_OP_READV, .fd = fd, .addr = (uintptr_t)v, .len = 2, .off = 1550};
	MUST(ring_do(&r, &e)); /* gets 50 */
	e = (struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .fd = fd};
	MUST(ring_do(&r, &e));
	MUST(syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_FILES, &fd, 1));
	e = (struct io_uring_sqe){.opcode = IORING_OP_READ,
				  .flags = IOSQE_FIXED_FILE,
				  .fd = 0,
				  .addr = (uintptr_t)buffer,
				  .len = 33,
				  .off = 1001};
	MUST(ring_do(&r, &e));
	e = (struct io_uring_sqe){
		.opcode = IORING_OP_OPENAT, .fd = dir, .addr = (uintptr_t) "absent", .open_flags = O_RDONLY};
	if (ring_do(&r, &e) != -ENOENT) {
		return 1;
	}
	/* What Linux 5.11 and 5.15 brought. */
	int pipes[2];
	MUST(pipe(pipes));
	e = (struct io_uring_sqe){.opcode = IORING_OP_SPLICE,
				  .fd = pipes[1],
				  .off = (uint64_t)-1,
				  .len = 44,
				  .splice_fd_in = fd,
				  .splice_off_in = 1200};
	MUST(ring_do(&r, &e));
	e = (struct io_uring_sqe){.opcode = IORING_OP_RENAMEAT,
				  .fd = dir,
				  .addr = (uintptr_t) "ring",
				  .len = (uint32_t)dir,
				  .off = (uintptr_t) "bell"};
	MUST(ring_do(&r, &e));
	e = (struct io_uring_sqe){.opcode = IORING_OP_UNLINKAT, .fd = dir, .addr = (uintptr_t) "bell"};
	MUST(ring_do(&r, &e));
	MUST(syscall(SYS_io_uring_register, r.fd, IORING_UNREGISTER_FILES, NULL, 0));
	e = (struct io_uring_sqe){.opcode = IORING_OP_CLOSE, .fd = fd};
	MUST(ring_do(&r, &e));
	return 0;
}

/* Has some memory and a file, until somebody closes its input. */
static int act_hold(void)
{
	char c;
	int fd = open("held", O_RDWR | O_CREAT, 0600);
	MUST(fd);
	MUST(ftruncate(fd, 3 * PAGE));
	void *view = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
	/* Not beside others of their kind, with which they would be one. */
	char *room = mmap(NULL, 10 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (view == MAP_FAILED || room == MAP_FAILED) {
		return 1;
	}
	void *memory =
		mmap(room + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	void *reserved = mmap(room + 5 * PAGE, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	printf("{\"view\": %llu, \"memory\": %llu, \"reserved\": %llu, \"fd\": %d}\n",
	       (unsigned long long)(uintptr_t)view, (unsigned long long)(uintptr_t)memory,
	       (unsigned long long)(uintptr_t)reserved, fd);
	fflush(stdout);
	return read(0, &c, 1) < 0;
}

/* Writes past the page cache. */
static int act_direct(void)
{
	enum { BYTES = 65536, WRITES = 8 };
	void *p;
	int fd = open("direct", O_RDWR | O_CREAT | O_DIRECT, 0600);
	if (fd < 0 || posix_memalign(&p, PAGE, BYTES)) {
		return 77; /* not on this file system */
	}
	memset(p, 7, BYTES);
	for (int i = 0; i < WRITES; i++) {
		if (write(fd, p, BYTES) != BYTES) {
			return 77;
		}
	}
	MUST(fsync(fd));
	MUST(lseek(fd, 0, SEEK_SET));
	MUST(read(fd, p, BYTES));
	MUST(close(fd));
	printf("{\"written\": %d, \"read\": %d}\n", BYTES * WRITES, BYTES);
	free(p);
	return 0;
}

static int act_handles(void)
{
	int fds[8], n = 0;
	MUST(pipe(fds));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2));
	fds[4] = dup(fds[0]);
	MUST(fds[4]);
	fds[5] = open("handle", O_RDWR | O_CREAT, 0600);
	MUST(fds[5]);
	fds[6] = open(".", O_RDONLY | O_DIRECTORY);
	MUST(fds[6]);
	printf("{\"fds\": [%d, %d, %d, %d, %d, %d, %d]}\n", fds[0], fds[1], fds[2], fds[3], fds[4], fds[5], fds[6]);
	for (n = 0; n < 7; n++) {
		MUST(close(fds[n]));
	}
	return 0;
}

static int act_memory(void)
{
	volatile char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *reserved = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || reserved == MAP_FAILED) {
		return 1;
	}
	madvise((void *)p, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++) {
		p[i * PAGE] = 1; /* each a page of zeros */
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		pause(); /* holds the pages, so that the parent must copy them */
	}
	for (int i = 0; i < PAGES; i++) {
		p[i * PAGE] = 2;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	MUST(mprotect((void *)reserved, 2 * PAGE, PROT_READ | PROT_WRITE));
	MUST(madvise((void *)p, PAGE, MADV_DONTNEED));
	MUST(munmap((void *)p, PAGES * PAGE));

	/* Pages of a file that is not in memory. */
	int fd = open("paged", O_RDWR | O_CREAT, 0600);
	MUST(fd);
	MUST(posix_fallocate(fd, 0, PAGES * PAGE));
	for (int i = 0; i < PAGES; i++) {
		MUST(pwrite(fd, "x", 1, i * PAGE));
	}
	MUST(fsync(fd));
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	volatile char *m = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED) {
		return 1;
	}
	MUST(madvise((void *)m, PAGES * PAGE, MADV_RANDOM)); /* one at a time */
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < PAGES; i += 4) {
		(void)m[i * PAGE];
	}
	getrusage(RUSAGE_SELF, &after);
	/* In order: then more is read than was asked for. Not beside what was mapped first. */
	MUST(madvise((void *)m, PAGES * PAGE, MADV_DONTNEED));
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	volatile char *ahead = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	struct rusage last;
	if (ahead == MAP_FAILED) {
		return 1;
	}
	for (int i = 0; i < PAGES; i++) {
		(void)ahead[i * PAGE];
	}
	getrusage(RUSAGE_SELF, &last);
	printf("{\"ahead\": %llu, \"hardAhead\": %ld}\n", (unsigned long long)(uintptr_t)ahead,
	       last.ru_majflt - after.ru_majflt);
	printf("{\"memory\": %llu, \"reserved\": %llu, \"view\": %llu, \"hard\": %ld}\n",
	       (unsigned long long)(uintptr_t)p, (unsigned long long)(uintptr_t)reserved,
	       (unsigned long long)(uintptr_t)m, after.ru_majflt - before.ru_majflt);
	MUST(munmap((void *)m, PAGES * PAGE));
	MUST(close(fd));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(void);
	} acts[] = {{"syscalls", act_syscalls}, {"files", act_files},  {"rare", act_rare},
		    {"hold", act_hold},         {"uring", act_uring},  {"direct", act_direct},
		    {"handles", act_handles},   {"memory", act_memory}};
	if (argc != 3 || chdir(argv[2]) < 0) {
		fprintf(stderr, "usage: kernel_acts WHAT DIRECTORY\n");
		return 2;
	}
	printf("{\"pid\": %d}\n", (int)getpid());
	fflush(stdout);
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
		if (strcmp(argv[1], acts[i].name) == 0) {
			return acts[i].act();
		}
	}
	fprintf(stderr, "kernel_acts: no such act: %s\n", argv[1]);
	return 2;
}
