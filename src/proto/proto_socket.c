/* SPDX-License-Identifier: MIT
 * Sockets and the passing of descriptors.
 */
#include "proto/proto.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

/* ---- sockets ------------------------------------------------------------------------------------ */

int proto_connect(const char *dir, const char *name)
{
	return proto_connect_within(dir, name, 0, NULL);
}

int proto_connect_within(const char *dir, const char *name, uint32_t timeout_ms, pid_t *ret_peer)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t dn = strlen(dir), nn = strlen(name);
	if (dn + 1 + nn >= sizeof addr.sun_path) {
		return -ENAMETOOLONG;
	}
	memcpy(addr.sun_path, dir, dn);
	addr.sun_path[dn] = '/';
	memcpy(addr.sun_path + dn + 1, name, nn + 1);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	struct ucred peer;
	socklen_t len = sizeof peer;
	int err = 0;
	/* What a full backlog makes us wait for; and later sends, until the caller changes it. */
	struct timeval tv = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000};
	if (timeout_ms > 0) {
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
	}
	if (connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		err = -errno;
	} else if (peer.uid != 0 && peer.uid != geteuid()) {
		err = -EPERM;
	}
	if (err < 0) {
		close(fd);
		return err;
	}
	if (ret_peer) {
		*ret_peer = peer.pid;
	}
	return fd;
}

int proto_send(int fd, const void *p, size_t n, const int *fds, int fd_count)
{
	struct iovec iov = {(void *)(uintptr_t)p, n};
	union {
		char buf[CMSG_SPACE(sizeof(int) * PROTO_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd_count > PROTO_FDS_MAX) {
		return -EINVAL;
	}
	if (fd_count > 0) {
		memset(&control, 0, sizeof control);
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fd_count);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fd_count);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)fd_count);
	}
	for (;;) {
		ssize_t sent = sendmsg(fd, &msg, MSG_NOSIGNAL);
		if (sent >= 0) {
			return (size_t)sent == n ? 0 : -EMSGSIZE;
		}
		if (errno != EINTR) {
			return -errno;
		}
	}
}

/* Takes every fd out of the message; true when all fitted into ret_fds. */
static bool take_fds(struct msghdr *msg, int *ret_fds, int cap, int *ret_count)
{
	bool fits = true;
	int count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
			continue;
		}
		size_t k = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < k; i++) {
			int got;
			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof got);
			if (count < cap) {
				ret_fds[count++] = got;
			} else {
				close(got);
				fits = false;
			}
		}
	}
	*ret_count = count;
	return fits;
}

static ssize_t receive(int fd, struct msghdr *msg, int flags)
{
	ssize_t n;
	bool reset = false;
	do {
		n = recvmsg(fd, msg, flags | MSG_CMSG_CLOEXEC);
		/* The peer closed without having read all that we sent. Linux says that once, before it gives
		 * what the peer sent; that is read like the rest, and then comes the end. */
	} while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !reset && (reset = true))));
	return n < 0 ? -errno : n;
}

/* One message with the descriptors in it; -EBADMSG: it is too long, or has more of them. Those that fit into `fds` are
 * the caller's in any case. */
static long receive_fds(int fd, void *p, size_t cap, int flags, int *fds, int most, int *ret_count)
{
	struct iovec iov = {p, cap};
	/* Room for as many as there can be, so that surplus ones reach us and can be closed. */
	union {
		char buf[CMSG_SPACE(sizeof(int) * PROTO_STRANGE_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof control.buf,
	};
	*ret_count = 0;
	ssize_t n = receive(fd, &msg, flags);
	if (n < 0) {
		return n;
	}
	bool fits = take_fds(&msg, fds, most, ret_count);
	return fits && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? n : -EBADMSG;
}

long proto_recv(int fd, void *p, size_t cap, int *ret_fds, int *inout_fd_count, int timeout_ms)
{
	if (timeout_ms >= 0) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};
		int r;
		do {
			r = poll(&pfd, 1, timeout_ms);
		} while (r < 0 && errno == EINTR);
		if (r == 0) {
			return -ETIMEDOUT;
		}
		if (r < 0) {
			return -errno;
		}
	}
	int count = 0;
	long n = receive_fds(fd, p, cap, 0, ret_fds, inout_fd_count ? *inout_fd_count : 0, &count);
	if (n < 0) {
		for (int i = 0; i < count; i++) {
			close(ret_fds[i]);
		}
		if (inout_fd_count && n == -EBADMSG) {
			*inout_fd_count = 0;
		}
		return n;
	}
	if (inout_fd_count) {
		*inout_fd_count = count;
	}
	return n;
}

/* ---- for a daemon, whose peers are strangers -------------------------------------------------- */

/* Dropping the last reference to a descriptor may take as long as whoever made it likes: a TCP socket
 * with SO_LINGER waits for its peer, a file of FUSE for its server. The kernel does that on the thread
 * that receives a message without room for the descriptors in it, or closes a socket with such a message
 * unread [measured, Linux 6.18]; a look at the message (MSG_PEEK) drops nothing. */

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

bool proto_pass_descriptors(int fd, bool on)
{
	int v = on;
	return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &v, sizeof v) == 0;
}

bool proto_passes_descriptors(int fd)
{
	int v = 1;
	socklen_t n = sizeof v;
	return getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &v, &n) < 0 || v != 0;
}

long proto_peek(int fd, void *p, size_t cap, bool *ret_carries)
{
	struct iovec iov = {p, cap};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n = receive(fd, &msg, MSG_PEEK | MSG_DONTWAIT);
	*ret_carries = n >= 0 && (msg.msg_flags & MSG_CTRUNC) != 0;
	return n;
}

long proto_recv_plain(int fd, void *p, size_t cap, bool look, bool *ret_carries)
{
	struct iovec iov = {p, cap};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	*ret_carries = false;
	if (look) {
		long n = proto_peek(fd, p, cap, ret_carries);
		if (n < 0 || *ret_carries) {
			return n;
		}
	}
	ssize_t n = receive(fd, &msg, MSG_DONTWAIT);
	return n >= 0 && (msg.msg_flags & MSG_TRUNC) ? -EBADMSG : n;
}

long proto_recv_descriptors(int fd, void *p, size_t cap, int fds[PROTO_STRANGE_FDS_MAX], int *ret_count)
{
	return receive_fds(fd, p, cap, MSG_DONTWAIT, fds, PROTO_STRANGE_FDS_MAX, ret_count);
}

bool proto_end_unread(int fd)
{
	char byte;
	struct iovec iov = {&byte, 1};
	int on = 1;
	union {
		char buf[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof control.buf,
	};
	/* Nothing comes any more; what is there says who sent it, which the end of the stream does not:
	 * it reads as 0 bytes like an empty message. */
	shutdown(fd, SHUT_RDWR);
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	ssize_t n = receive(fd, &msg, MSG_PEEK | MSG_DONTWAIT);
	return (n < 0 && n != -EAGAIN) || n > 0 || (n == 0 && (msg.msg_controllen > 0 || (msg.msg_flags & MSG_CTRUNC)));
}

int proto_call(int fd, const void *req, size_t req_bytes, void *buf, size_t cap, struct proto_message *ret,
	       int *ret_fds, int *inout_fd_count, uint32_t *ret_status, int timeout_ms)
{
	uint32_t id = le32_get((const uint8_t *)req + 8);
	int room = inout_fd_count ? *inout_fd_count : 0;
	int r = proto_send(fd, req, req_bytes, NULL, 0);
	if (r < 0) {
		return r;
	}
	for (;;) {
		int count = room;
		long n = proto_recv(fd, buf, cap, ret_fds, inout_fd_count ? &count : NULL, timeout_ms);
		if (n == 0) {
			return -ECONNRESET;
		}
		if (n < 0) {
			return (int)n;
		}
		struct proto_message m;
		r = proto_parse(buf, (size_t)n, &m);
		/* The second is what connections are refused with. */
		bool mine = r == 0 && ((m.id == id && (m.type & PROTO_REPLY)) ||
				       (m.id == 0 && m.type == (PROTO_REPLY | PROTO_WELCOME)));
		if (!mine && inout_fd_count) {
			for (int i = 0; i < count; i++) {
				close(ret_fds[i]);
			}
		}
		if (r < 0) {
			return r;
		}
		if (!mine) {
			continue; /* unsolicited or late: not ours */
		}
		if (inout_fd_count) {
			*inout_fd_count = count;
		}
		if (!proto_get_u32(&m, PROTO_TAG_STATUS, ret_status)) {
			return -EBADMSG;
		}
		*ret = m;
		return 0;
	}
}
