/* SPDX-License-Identifier: MIT
 * A program that asks for more bytes than it gets, by every call that moves bytes of files: "bytes_acts
 * DIRECTORY" says on stdout, a JSON object a line, what it read and wrote in all, and of each file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "acts_uring.h"

#define MIB   (1u << 20)
#define BIG   (40 * MIB)
#define SMALL 11

enum file { BIG_FILE, SMALL_FILE, COPIED, SENT, SPLICED, RINGED, FOLDER, FILES };
static const char *const name[FILES] = {"big", "small", "copied", "sent", "spliced", "ringed", "folder"};
static int fd[FILES];
static long long got[FILES], put[FILES];
static char buffer[MIB];

#define MUST(what)                                                                       \
	do {                                                                             \
		if ((what) < 0) {                                                        \
			fprintf(stderr, "bytes_acts: %s: %s\n", #what, strerror(errno)); \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

static long long was_read(enum file f, ssize_t n)
{
	got[f] += n > 0 ? n : 0;
	return n;
}

static long long was_written(enum file f, ssize_t n)
{
	put[f] += n > 0 ? n : 0;
	return n;
}

static void write_all(void)
{
	struct iovec v[2] = {{buffer, 5}, {buffer + 5, 6}};
	for (unsigned i = 0; i < BIG / MIB; i++) {
		MUST(was_written(BIG_FILE, write(fd[BIG_FILE], buffer, MIB)));
	}
	MUST(was_written(SMALL_FILE, writev(fd[SMALL_FILE], v, 2)));
	int only = open("small", O_RDONLY);
	MUST(only);
	if (was_written(SMALL_FILE, write(only, buffer, 1000)) != -1) { /* it must not */
		exit(1);
	}
	close(only);
}

static void read_more_than_there_is(void)
{
	struct iovec v[2] = {{buffer, 4000}, {buffer + 4000, 4000}};
	for (int i = 0; i < 10; i++) {
		MUST(was_read(SMALL_FILE, pread(fd[SMALL_FILE], buffer, MIB, 0)));
	}
	MUST(was_read(SMALL_FILE, pread(fd[SMALL_FILE], buffer, MIB, 4096)));
	MUST(was_read(SMALL_FILE, preadv(fd[SMALL_FILE], v, 2, 3)));
	MUST(lseek(fd[SMALL_FILE], 6, SEEK_SET));
	MUST(was_read(SMALL_FILE, readv(fd[SMALL_FILE], v, 2)));
	MUST(was_read(SMALL_FILE, preadv2(fd[SMALL_FILE], v, 2, 9, 0)));
	if (was_read(FOLDER, read(fd[FOLDER], buffer, MIB)) != -1) {
		exit(1);
	}
}

/* As cp does: everything at once, until nothing comes any more. */
static void copy(void)
{
	ssize_t n;
	loff_t from = 0;
	do {
		n = copy_file_range(fd[BIG_FILE], &from, fd[COPIED], NULL, 0x7FFFFFFFFFC00000, 0);
		MUST(n);
		was_read(BIG_FILE, n);
		was_written(COPIED, n);
	} while (n > 0);
	off_t at = 0;
	do {
		n = sendfile(fd[SENT], fd[BIG_FILE], &at, 1u << 30);
		MUST(n);
		was_read(BIG_FILE, n);
		was_written(SENT, n);
	} while (n > 0);
	int pipes[2];
	MUST(pipe(pipes));
	from = BIG - 100;
	n = splice(fd[BIG_FILE], &from, pipes[1], NULL, MIB, 0); /* a hundred */
	MUST(was_read(BIG_FILE, n));
	MUST(was_written(SPLICED, splice(pipes[0], NULL, fd[SPLICED], NULL, MIB, 0)));
}

/* What is mapped is neither read nor written. */
static void map(void)
{
	char *p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_SHARED, fd[BIG_FILE], 0);
	if (p == MAP_FAILED) {
		exit(1);
	}
	for (unsigned i = 0; i < BIG; i += 4096) {
		p[i]++;
	}
	MUST(munmap(p, BIG));
}

static void by_ring(void)
{
	struct ring r;
	if (ring_open(&r) < 0) {
		return;
	}
	struct io_uring_sqe e = {.opcode = IORING_OP_WRITE, .fd = fd[RINGED], .addr = (uintptr_t)buffer, .len = 777};
	was_written(RINGED, ring_do(&r, &e));
	e = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd[RINGED], .addr = (uintptr_t)buffer, .len = MIB};
	was_read(RINGED, ring_do(&r, &e));
	e.off = 770;
	was_read(RINGED, ring_do(&r, &e));
	close(r.fd);
}

int main(int argc, char **argv)
{
	long long all_got = 0, all_put = 0;
	if (argc != 2 || chdir(argv[1]) < 0 || mkdir("folder", 0755) < 0) {
		fprintf(stderr, "usage: bytes_acts DIRECTORY\n");
		return 2;
	}
	for (int f = 0; f < FOLDER; f++) {
		fd[f] = open(name[f], O_RDWR | O_CREAT | O_EXCL, 0600);
		MUST(fd[f]);
	}
	fd[FOLDER] = open("folder", O_RDONLY | O_DIRECTORY);
	MUST(fd[FOLDER]);
	memset(buffer, 'x', sizeof buffer);
	write_all();
	read_more_than_there_is();
	copy();
	map();
	by_ring();
	for (int f = 0; f < FILES; f++) {
		printf("{\"file\": \"%s\", \"read\": %lld, \"written\": %lld}\n", name[f], got[f], put[f]);
		all_got += got[f];
		all_put += put[f];
	}
	printf("{\"pid\": %d, \"read\": %lld, \"written\": %lld}\n", (int)getpid(), all_got, all_put);
	return 0;
}
