/* SPDX-License-Identifier: MIT */
#include "stuck.h"

#include "base/base.h"
#include "proto/proto.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define LINGER_S 120

/* *ret_peer does not read. */
static int lingering_open(int *ret_peer)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	struct linger linger = {1, LINGER_S};
	static const char junk[65536];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || fd < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &n) < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    (*ret_peer = accept(listener, NULL, NULL)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0) {
		return -1;
	}
	close(listener);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, junk, sizeof junk) > 0) {
	}
	fcntl(fd, F_SETFL, 0);
	return fd;
}

/* By a process of its own: one that ends does not wait for the peer, and so the last reference is
 * whoever's has received it. */
int lingering_send(int sock, const void *p, size_t n)
{
	int pair[2], peer = -1, count = 1;
	char byte;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = lingering_open(&peer);
		if (fd >= 0 && send_with(pair[1], "x", 1, &peer, 1) == 0) {
			(void)send_with(sock, p, n, &fd, 1);
		}
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(proto_recv(pair[0], &byte, 1, &peer, &count, 20000), 1);
	assert_int_equal(count, 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pair[0]);
	return peer;
}

/* ---- FUSE ------------------------------------------------------------------------------------- */

static void answer(int fuse, uint64_t unique, int error, const void *p, size_t n)
{
	uint8_t mem[512];
	struct fuse_out_header h = {.len = (uint32_t)(sizeof h + (error ? 0 : n)), .error = -error, .unique = unique};
	memcpy(mem, &h, sizeof h);
	if (!error && n > 0) {
		memcpy(mem + sizeof h, p, n);
	}
	ssize_t r = write(fuse, mem, h.len);
	(void)r;
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .mode = node == 1 ? S_IFDIR | 0777 : S_IFREG | 0666, .nlink = 1, .blksize = 4096};
}

static void serve(int fuse, int go)
{
	static uint8_t mem[1 << 18];
	static uint64_t waiting[4096];
	uint32_t waits = 0;
	bool released = false;
	for (;;) {
		struct pollfd p[2] = {{fuse, POLLIN, 0}, {go, POLLIN, 0}};
		poll(p, released ? 1 : 2, -1);
		if (!released && (p[1].revents & (POLLIN | POLLHUP))) {
			released = true;
			for (uint32_t i = 0; i < waits; i++) {
				answer(fuse, waiting[i], 0, NULL, 0);
			}
		}
		if (!(p[0].revents & (POLLIN | POLLERR | POLLHUP))) {
			continue;
		}
		ssize_t n = read(fuse, mem, sizeof mem);
		if (n < (ssize_t)sizeof(struct fuse_in_header)) {
			if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) {
				continue;
			}
			_exit(0); /* unmounted */
		}
		struct fuse_in_header h;
		memcpy(&h, mem, sizeof h);
		switch (h.opcode) {
		case FUSE_INIT: {
			struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = 4096};
			answer(fuse, h.unique, 0, &out, sizeof out);
			break;
		}
		case FUSE_LOOKUP: {
			struct fuse_entry_out out = {.nodeid = 2, .attr = attr_of(2)};
			answer(fuse, h.unique, 0, &out, sizeof out);
			break;
		}
		case FUSE_GETATTR: {
			struct fuse_attr_out out = {.attr = attr_of(h.nodeid)};
			answer(fuse, h.unique, 0, &out, sizeof out);
			break;
		}
		case FUSE_OPEN: {
			struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO};
			answer(fuse, h.unique, 0, &out, sizeof out);
			break;
		}
		case FUSE_FLUSH:
			if (released || waits == BASE_ARRAY_LEN(waiting)) {
				answer(fuse, h.unique, 0, NULL, 0);
			} else {
				waiting[waits++] = h.unique;
			}
			break;
		case FUSE_RELEASE: answer(fuse, h.unique, 0, NULL, 0); break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT: break; /* without an answer */
		default: answer(fuse, h.unique, ENOSYS, NULL, 0);
		}
	}
}

bool stuck_mount(struct stuck_mount *m)
{
	char options[128];
	int go[2];
	snprintf(m->dir, sizeof m->dir, "/tmp/openetw-stuck-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	m->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", m->fuse);
	if (m->fuse < 0 || mount("stuck", m->dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		base_close(&m->fuse);
		rmdir(m->dir);
		return false;
	}
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	m->go = go[1];
	m->pid = fork();
	assert_true(m->pid >= 0);
	if (m->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		serve(m->fuse, go[0]);
	}
	close(go[0]);
	base_close(&m->fuse);
	return true;
}

void stuck_release(struct stuck_mount *m)
{
	base_close(&m->go); /* what waits and what comes is answered */
}

void stuck_unmount(struct stuck_mount *m)
{
	stuck_release(m);
	umount2(m->dir, MNT_DETACH);
	kill(m->pid, SIGKILL); /* whoever still waits is told that it is gone */
	waitpid(m->pid, NULL, 0);
	rmdir(m->dir);
}

int send_with(int sock, const void *p, size_t n, const int *fds, int count)
{
	struct iovec v = {(void *)(uintptr_t)p, n};
	union {
		char mem[CMSG_SPACE(253 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.mem};
	m.msg_controllen = CMSG_SPACE((unsigned)count * sizeof(int));
	memset(&control, 0, sizeof control);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){CMSG_LEN((unsigned)count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(c), fds, (unsigned)count * sizeof(int));
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}
