/* SPDX-License-Identifier: MIT
 * Marks, sent and received.
 */
#include "kernel/kernel_mark.h"

#include "kernel/kernel_private.h"

#include "base/order.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HOOK_MARK 0x0F22u
#define OLDEST_NS 1000000000ull /* a time before that is not believed */

struct marks {
	int fd;
};

static int marks_open(struct kernel *k, void **ret_state, struct kernel_mask *ret_can,
		      struct diag *d)
{
	struct marks *m = calloc(1, sizeof *m);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	static int count; /* of engines in this process; a second one has another name */
	int on = 1;
	(void)k, (void)ret_can, (void)d;
	if (!m) {
		return -ENOMEM;
	}
	int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, KERNEL_MARK_SOCKET "%d-%d",
			 (int)getpid(), order_add_relaxed(&count, 1));
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->fd < 0 || setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
	    bind(m->fd, (void *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0) {
		base_close(&m->fd); /* no marks, then */
	}
	*ret_state = m;
	return 0;
}

static void marks_close(struct kernel *k, void *state)
{
	struct marks *m = state;
	(void)k;
	base_close(&m->fd);
	free(m);
}

static void marks_update(struct kernel *k, void *state)
{
	(void)k, (void)state;
}

static bool may(const struct msghdr *h, uint32_t *ret_pid)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR((struct msghdr *)h, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred u;
			memcpy(&u, CMSG_DATA(c), sizeof u);
			*ret_pid = (uint32_t)u.pid;
			return u.uid == 0 || u.uid == geteuid();
		}
	}
	return false;
}

static bool marks_drain(struct kernel *k, void *state)
{
	const struct marks *m = state;
	bool any = false;
	for (;;) {
		char text[KERNEL_MARK_HEAD + KERNEL_MARK_BYTES],
			room[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec part = {text, sizeof text};
		struct msghdr h = {.msg_iov = &part,
				   .msg_iovlen = 1,
				   .msg_control = room,
				   .msg_controllen = sizeof room};
		uint32_t pid;
		ssize_t n = m->fd >= 0 ? recvmsg(m->fd, &h, MSG_CMSG_CLOEXEC) : -1;
		if (n < 0) {
			return any;
		}
		if (n < (ssize_t)KERNEL_MARK_HEAD || !may(&h, &pid)) {
			continue;
		}
		uint64_t now = clock_read_system_ns(), time = le64_get(text);
		struct kernel_record r = {.hook = HOOK_MARK,
					  .time = time <= now && now - time < OLDEST_NS ? time
											: now,
					  .pid = pid,
					  .tid = le32_get(text + 12),
					  .sessions = k->active};
		for (ssize_t i = KERNEL_MARK_HEAD; i < n && text[i]; i++) {
			kernel_put(&r, (uint8_t)text[i], 1);
		}
		kernel_put(&r, 0, 1);
		kernel_put(&r, 0, 2); /* Padding */
		if (r.sessions) {
			kernel_out(k, &r);
			any = true;
		}
	}
}

const struct kernel_source kernel_source_marks = {
	.name = "marks",
	.open = marks_open,
	.update = marks_update,
	.drain = marks_drain,
	.close = marks_close,
};

/* ---- sending ----------------------------------------------------------------------------------
 */

int kernel_mark_send(const char *text)
{
	char message[KERNEL_MARK_HEAD + KERNEL_MARK_BYTES], line[512];
	size_t n = BASE_MIN(strlen(text), (size_t)KERNEL_MARK_BYTES - 1);
	int told = 0, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	FILE *f = fd >= 0 ? fopen("/proc/net/unix", "re") : NULL;
	le64_put(message, clock_read_system_ns());
	le32_put(message + 8, (uint32_t)getpid());
	le32_put(message + 12, (uint32_t)gettid());
	memcpy(message + KERNEL_MARK_HEAD, text, n);
	while (f && fgets(line, sizeof line, f)) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		const char *name = strstr(line, "@" KERNEL_MARK_SOCKET);
		size_t bytes = name ? strcspn(name + 1, "\n ") : 0;
		if (!name || bytes + 1 >= sizeof a.sun_path) {
			continue;
		}
		memcpy(a.sun_path + 1, name + 1, bytes);
		told += sendto(fd, message, KERNEL_MARK_HEAD + n, 0, (void *)&a,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes)) >=
			0;
	}
	if (f) {
		fclose(f);
	}
	base_close(&fd);
	return told;
}
