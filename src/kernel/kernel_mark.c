/* SPDX-License-Identifier: MIT
 * Marks, sent and received.
 */
#include "kernel/kernel_mark.h"

#include "kernel/kernel_private.h"

#include "base/order.h"
#include "base/quiet_thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HOOK_MARK 0x0F22u
#define OLDEST_NS 1000000000ull /* a time before that is not believed */
#define MARKS_MAX 256u          /* until the engine looks, every 10 ms */

/* Anybody can send to that socket, and descriptors along with it. They are closed by whoever receives them; of a
 * connection whose other side takes nothing that lasts as long as its owner chose. Linux 6.16 and newer refuse to send
 * any; before that there are no more marks for so long, but a thread of its own receives, and the engine goes on. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
struct mark {
	uint64_t time;
	uint32_t pid, tid;
	uint32_t bytes;
	char text[KERNEL_MARK_BYTES];
};
struct marks {
	int fd;
	pthread_mutex_t lock;
	struct mark list[MARKS_MAX];
	uint32_t count;
	uint64_t lost;
	bool closed;     /* the engine is gone: the thread frees this */
	bool has_thread; /* else the engine does */
};

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

static void marks_free(struct marks *m)
{
	base_close(&m->fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void keep(struct marks *m, const char *text, size_t n, uint32_t pid)
{
	uint64_t now = clock_read_system_ns(), time = le64_get(text);
	pthread_mutex_lock(&m->lock);
	if (m->count < MARKS_MAX) {
		struct mark *k = &m->list[m->count++];
		k->time = time <= now && now - time < OLDEST_NS ? time : now;
		k->pid = pid;
		k->tid = le32_get(text + 12);
		k->bytes = (uint32_t)strnlen(text + KERNEL_MARK_HEAD, n - KERNEL_MARK_HEAD);
		memcpy(k->text, text + KERNEL_MARK_HEAD, k->bytes);
	} else {
		m->lost++;
	}
	pthread_mutex_unlock(&m->lock);
}

static void *receive(void *arg)
{
	struct marks *m = arg;
	pthread_setname_np(pthread_self(), "marks");
	for (bool closed = false; !closed;) {
		char text[KERNEL_MARK_HEAD + KERNEL_MARK_BYTES], room[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec part = {text, sizeof text};
		struct msghdr h = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
		uint32_t pid;
		ssize_t n = recvmsg(m->fd, &h, MSG_CMSG_CLOEXEC);
		if (n >= (ssize_t)KERNEL_MARK_HEAD && may(&h, &pid)) {
			keep(m, text, (size_t)n, pid);
		}
		pthread_mutex_lock(&m->lock);
		closed = m->closed || (n < 0 && errno != EINTR);
		m->has_thread = !closed || m->closed;
		bool mine = m->closed;
		pthread_mutex_unlock(&m->lock);
		if (mine) {
			marks_free(m);
		}
	}
	return NULL;
}

static bool start(struct marks *m)
{
	m->has_thread = quiet_thread_start(NULL, receive, m) == 0;
	return m->has_thread;
}

static int marks_open(struct kernel *k, void **ret_state, struct kernel_mask *ret_can, struct diag *d)
{
	struct marks *m = calloc(1, sizeof *m);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	static int count; /* of engines in this process; a second one has another name */
	int on = 1, off = 0;
	(void)k, (void)ret_can, (void)d;
	if (!m) {
		return -ENOMEM;
	}
	pthread_mutex_init(&m->lock, NULL);
	int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, KERNEL_MARK_SOCKET "%d-%d", (int)getpid(),
			 order_add_relaxed(&count, 1));
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(m->fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off);
	if (m->fd < 0 || setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
	    bind(m->fd, (void *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0 ||
	    !start(m)) {
		base_close(&m->fd); /* no marks, then */
	}
	*ret_state = m;
	return 0;
}

static void marks_close(struct kernel *k, void *state)
{
	struct marks *m = state;
	(void)k;
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	bool of_thread = m->has_thread;
	if (of_thread) {
		shutdown(m->fd, SHUT_RDWR); /* it wakes up, now or when it can */
	}
	pthread_mutex_unlock(&m->lock);
	if (!of_thread) {
		marks_free(m);
	}
}

static void marks_update(struct kernel *k, void *state)
{
	(void)k, (void)state;
}

static void out(struct kernel *k, const struct mark *m)
{
	struct kernel_record r = {
		.hook = HOOK_MARK, .time = m->time, .pid = m->pid, .tid = m->tid, .sessions = k->active};
	for (uint32_t i = 0; i < m->bytes; i++) {
		kernel_put(&r, (uint8_t)m->text[i], 1);
	}
	kernel_put(&r, 0, 1);
	kernel_put(&r, 0, 2); /* Padding */
	if (r.sessions) {
		kernel_out(k, &r);
	}
}

static bool marks_drain(struct kernel *k, void *state)
{
	struct marks *m = state;
	bool any;
	pthread_mutex_lock(&m->lock);
	any = m->count > 0;
	for (uint32_t i = 0; i < m->count; i++) {
		out(k, &m->list[i]);
	}
	m->count = 0;
	uint64_t lost = m->lost;
	m->lost = 0;
	pthread_mutex_unlock(&m->lock);
	if (lost) {
		kernel_lost(k, HOOK_MARK, KERNEL_NO_ID, "marks", lost);
	}
	return any;
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
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes)) >= 0;
	}
	if (f) {
		fclose(f);
	}
	base_close(&fd);
	return told;
}
