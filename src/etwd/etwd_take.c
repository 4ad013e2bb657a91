/* SPDX-License-Identifier: MIT
 *
 * Messages that come with descriptors (ADOPT) are received by a process of their user's own, since
 * nobody can tell what the descriptors are before they are there, and a process that has one must
 * close it some day: of a FUSE file that takes as long as its server likes, even at the end of the
 * process, which then cannot be waited for.
 *
 *   etwd                                       etwd --take-descriptors
 *   ----                                       -----------------------
 *   sees that the next message has some
 *   stops reading; the connection  ------->    receives that message, and those of the kind behind it
 *                                              all of them files in memory that can be sealed?
 *   takes them, answers, reads on  <-------    yes: the message with them
 *   answers that it is no pool     <-------    no: the message alone, and exits with what it has
 *
 * The process ends when there was nothing to do for a moment, or with the first strange descriptor;
 * another one is started for what waits behind, but not at once. So each user's messages wait for
 * their own only.
 */
#include "base/confine.h"
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_start.h"
#include "proto/proto.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define HELPER_FD   3
#define PAUSE_MS    20 /* between two processes of one user */
#define PAUSE_NS    (PAUSE_MS * 1000000ull)
#define PATIENCE_NS 10000000000ull /* with a process that says nothing */
#define TRIES_MAX   2u

enum verdict {
	VERDICT_POOL,
	VERDICT_STRANGE,
	VERDICT_BAD, /* not that message, or too many descriptors */
};
struct answer {
	uint32_t sequence;
	uint16_t verdict, more; /* another message from the same connection follows */
};

struct request {
	STAILQ_ENTRY(request) link;
	struct conn *conn; /* NULL: it has been closed */
	uint32_t sequence, tries;
	bool sent;
};

struct taker {
	struct source src; /* first; fd -1: no process */
	LIST_ENTRY(taker) link;
	uid_t uid;
	pid_t pid;
	int status_fd; /* says when it has ended */
	uint64_t started_ns, heard_ns;
	uint32_t sequence;
	STAILQ_HEAD(, request) requests;
};

/* ---- the other process ------------------------------------------------------------------------ */

static enum verdict judge(const uint8_t *p, long n, const int *fds, int count)
{
	if (n < 12 || le16_get(p + 4) != PROTO_ADOPT || count > PROTO_FDS_MAX) {
		return VERDICT_BAD;
	}
	for (int i = 0; i < count; i++) {
		if (fcntl(fds[i], F_GET_SEALS) < 0) { /* asks nobody, unlike fstat() */
			return VERDICT_STRANGE;
		}
	}
	return VERDICT_POOL;
}

/* Exits with the first that is none of ours: that closes it, however long it takes. */
static bool take_one(int conn, uint32_t sequence)
{
	static uint8_t mem[sizeof(struct answer) + PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
	uint8_t *message = mem + sizeof(struct answer), head[12];
	int count, fds[PROTO_STRANGE_FDS_MAX];
	long n = proto_recv_descriptors(conn, message, PROTO_MESSAGE_MAX, fds, &count);
	struct answer a = {.sequence = sequence, .verdict = (uint16_t)judge(message, n, fds, count)};
	bool carries, ours = a.verdict == VERDICT_POOL;
	a.more = ours && proto_peek(conn, head, sizeof head, &carries) == (long)sizeof head && carries &&
		 le16_get(head + 4) == PROTO_ADOPT;
	memcpy(mem, &a, sizeof a);
	if (proto_send(HELPER_FD, mem, sizeof a + (n > 0 ? (size_t)n : 0), fds, ours ? count : 0) < 0 || !ours) {
		_exit(0);
	}
	for (int i = 0; i < count; i++) {
		close(fds[i]);
	}
	return a.more;
}

void etwd_take_main(void)
{
	(void)confine(CONFINE_TAKER);
	for (;;) {
		uint32_t sequence;
		int conn, count = 1;
		if (proto_recv(HELPER_FD, &sequence, sizeof sequence, &conn, &count, -1) != (long)sizeof sequence ||
		    count != 1) {
			_exit(0);
		}
		while (take_one(conn, sequence)) {
		}
		close(conn);
	}
}

/* ---- requests --------------------------------------------------------------------------------- */

static void answered(struct etwd *d, struct taker *t, struct request *r)
{
	STAILQ_REMOVE(&t->requests, r, request, link);
	if (r->conn) {
		r->conn->taking = NULL;
		if (etwd_loop_add(d, &r->conn->src, etwd_conn_events(r->conn)) < 0) {
			etwd_conn_close(d, r->conn);
		}
	}
	free(r);
}

static void refuse(struct etwd *d, struct conn *c, const uint8_t *p, size_t n)
{
	struct proto_message m = {.type = PROTO_ADOPT, .id = n >= 12 ? le32_get(p + 8) : 0};
	d->bad_messages++;
	etwd_reply_status(d, c, &m, ERROR_INVALID_PARAMETER, "this is no pool that an etwd made");
}

static void send_some(struct etwd *d, struct taker *t)
{
	struct request *r, *next;
	for (r = STAILQ_FIRST(&t->requests); r && t->src.fd >= 0; r = next) {
		next = STAILQ_NEXT(r, link);
		if (r->sent) {
			continue;
		}
		struct conn *c = r->conn;
		int err = !c ? -EPIPE
			  : r->tries >= TRIES_MAX
				  ? -EIO
				  : proto_send(t->src.fd, &r->sequence, sizeof r->sequence, &c->src.fd, 1);
		if (err == -EAGAIN || err == -ENOBUFS) {
			return;
		}
		if (err < 0) { /* ETOOMANYREFS: sockets in sockets in sockets */
			answered(d, t, r);
			if (c) {
				d->bad_messages++;
				etwd_conn_close(d, c);
			}
			continue;
		}
		r->sent = true;
		r->tries++;
	}
}

static void let_go(struct etwd *d, struct taker *t)
{
	struct request *r;
	etwd_loop_remove(d, &t->src);
	base_close(&t->src.fd); /* it ends when it sees that */
	if (t->pid > 0) {
		etwd_foreign_process(d, t->pid, t->status_fd, t->uid);
	}
	t->pid = 0;
	STAILQ_FOREACH(r, &t->requests, link) {
		r->sent = false;
	}
}

static void start(struct etwd *d, struct taker *t, uint64_t now)
{
	static const char option[] = "--take-descriptors";
	char *argv[] = {(char *)(uintptr_t) "etwd", (char *)(uintptr_t)option, NULL}, *env[] = {NULL};
	int pair[2];
	t->started_ns = t->heard_ns = now;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		return;
	}
	struct etwd_start s = {
		.program = "/proc/self/exe", .argv = argv, .env = env, .fd = {pair[1], -1}, .quiet = true};
	if (etwd_start(&s, &t->pid, &t->status_fd) < 0) {
		t->pid = -1;
	}
	close(pair[1]);
	t->src.fd = pair[0];
	if (t->pid < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 || etwd_loop_add(d, &t->src, EPOLLIN) < 0) {
		let_go(d, t);
	}
	send_some(d, t);
}

static void look_after(struct etwd *d, struct taker *t)
{
	uint64_t now = etwd_now_ns();
	bool idle = STAILQ_EMPTY(&t->requests);
	if (t->src.fd >= 0 && now - t->heard_ns > (idle ? PAUSE_NS : PATIENCE_NS)) {
		if (!idle) {
			if (etwd_start_status(t->status_fd, false) == -EAGAIN) {
				kill(t->pid, SIGKILL);
			}
		}
		let_go(d, t);
	} else if (t->src.fd < 0 && !idle && now - t->started_ns >= PAUSE_NS) {
		start(d, t, now);
	}
}

static void taker_ready(struct etwd *d, struct source *s, uint32_t events)
{
	struct taker *t = (struct taker *)s;
	for (int i = 0; i < 32 && s->fd >= 0; i++) {
		static uint8_t mem[sizeof(struct answer) + PROTO_MESSAGE_MAX] __attribute__((aligned(8)));
		int fds[PROTO_FDS_MAX], count = PROTO_FDS_MAX;
		long n = proto_recv(s->fd, mem, sizeof mem, fds, &count, -1);
		struct answer a;
		if (n == -EAGAIN) {
			break;
		}
		if (n < (long)sizeof a) {
			let_go(d, t);
			break;
		}
		t->heard_ns = etwd_now_ns();
		memcpy(&a, mem, sizeof a);
		struct request *r = STAILQ_FIRST(&t->requests);
		while (r && r->sequence != a.sequence) {
			r = STAILQ_NEXT(r, link);
		}
		struct conn *c = r ? r->conn : NULL;
		if (r && !a.more) {
			answered(d, t, r);
		}
		const uint8_t *message = mem + sizeof a;
		size_t bytes = (size_t)n - sizeof a;
		if (c && !c->closing && a.verdict == VERDICT_POOL) {
			d->messages++;
			etwd_dispatch(d, c, message, bytes, fds, count);
		} else {
			for (int k = 0; k < count; k++) {
				close(fds[k]);
			}
			if (c && !c->closing && a.verdict == VERDICT_STRANGE) {
				refuse(d, c, message, bytes);
			} else if (c && !c->closing) {
				d->bad_messages++;
				etwd_conn_close(d, c);
			}
		}
		if (a.verdict != VERDICT_POOL) {
			let_go(d, t);
		}
	}
	send_some(d, t);
	look_after(d, t);
}

/* ---- for the others --------------------------------------------------------------------------- */

static struct taker *taker_of(struct etwd *d, uid_t uid)
{
	struct taker *t;
	LIST_FOREACH(t, &d->takers, link) {
		if (t->uid == uid) {
			return t;
		}
	}
	t = calloc(1, sizeof *t);
	if (t) {
		t->uid = uid;
		t->src = (struct source){taker_ready, -1};
		STAILQ_INIT(&t->requests);
		LIST_INSERT_HEAD(&d->takers, t, link);
	}
	return t;
}

bool etwd_take(struct etwd *d, struct conn *c)
{
	struct taker *t = taker_of(d, c->uid);
	struct request *r = t ? calloc(1, sizeof *r) : NULL;
	if (!r) {
		return false;
	}
	r->conn = c;
	r->sequence = ++t->sequence;
	STAILQ_INSERT_TAIL(&t->requests, r, link);
	c->taking = r;
	etwd_loop_remove(d, &c->src); /* a peer that ends would be heard of all the time */
	send_some(d, t);
	return true;
}

void etwd_take_forget(struct conn *c)
{
	if (c->taking) {
		c->taking->conn = NULL;
		c->taking = NULL;
	}
}

/* Such a user's wait no longer than they would anyway: their connections go. */
static void give_up(struct etwd *d, struct taker *t)
{
	struct request *r;
	while ((r = STAILQ_FIRST(&t->requests)) != NULL) {
		struct conn *c = r->conn;
		answered(d, t, r);
		if (c) {
			etwd_conn_close(d, c);
		}
	}
}

int etwd_take_tick(struct etwd *d)
{
	int ms = -1;
	struct taker *t = LIST_FIRST(&d->takers);
	while (t) {
		struct taker *next = LIST_NEXT(t, link);
		if (t->src.fd < 0 && etwd_foreign_cut_off(t->uid)) {
			give_up(d, t);
		}
		look_after(d, t);
		if (t->src.fd < 0 && STAILQ_EMPTY(&t->requests)) {
			/* Kept for a moment: it knows when the last process was started. */
			if (etwd_now_ns() - t->started_ns >= PAUSE_NS) {
				LIST_REMOVE(t, link);
				free(t);
			} else {
				ms = PAUSE_MS;
			}
		} else {
			ms = PAUSE_MS;
		}
		t = next;
	}
	return ms;
}

void etwd_take_finish(struct etwd *d)
{
	struct taker *t;
	while ((t = LIST_FIRST(&d->takers)) != NULL) {
		give_up(d, t);
		if (t->src.fd >= 0) {
			let_go(d, t);
		}
		LIST_REMOVE(t, link);
		free(t);
	}
}
