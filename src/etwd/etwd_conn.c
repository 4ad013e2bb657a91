/* SPDX-License-Identifier: MIT
 * Connections: accept, receive, bounded queue, throttle, replies.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_realtime.h"
#include "etwd/etwd_share.h"
#include "proto/proto.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define HEAR_TURNS 64u /* of 64 connections each: the backlog */

static void conn_ready(struct etwd *d, struct source *s, uint32_t events);
static void ring(const struct conn *c);

uint32_t etwd_conn_events(const struct conn *c)
{
	return (c->throttled ? 0 : (uint32_t)EPOLLIN) | EPOLLRDHUP | (c->writing ? (uint32_t)EPOLLOUT : 0);
}

struct conn *etwd_conn_create(struct etwd *d, int fd, enum conn_kind kind, uid_t uid, pid_t pid)
{
	struct conn *c = calloc(1, sizeof *c);
	if (!c) {
		etwd_foreign_close_socket(d, &fd, uid, true);
		return NULL;
	}
	c->src = (struct source){conn_ready, fd};
	c->kind = kind;
	c->may_carry = true;
	c->uid = uid;
	c->pid = pid;
	c->tokens = ETWD_MESSAGES_BURST;
	c->tokens_at_ns = c->since_ns = etwd_now_ns();
	STAILQ_INIT(&c->queue);
	LIST_INIT(&c->replies);
	if (etwd_loop_add(d, &c->src, etwd_conn_events(c)) < 0) {
		etwd_foreign_close_socket(d, &fd, uid, true);
		free(c);
		return NULL;
	}
	etwd_share_add(d, uid, SHARE_CONNECTIONS, 1);
	TAILQ_INSERT_TAIL(&d->conns, c, link);
	d->conn_count++;
	d->control_count += kind == CONN_CONTROL;
	return c;
}

static void free_queue(struct etwd *d, struct conn *c)
{
	struct out_message *o;
	while ((o = STAILQ_FIRST(&c->queue))) {
		STAILQ_REMOVE_HEAD(&c->queue, link);
		for (int i = 0; i < o->fd_count; i++) {
			close(o->fd[i]);
		}
		free(o);
	}
	etwd_share_give(d, c->uid, SHARE_QUEUE_BYTES, c->queued_bytes);
	c->queued_bytes = 0;
}

void etwd_conn_close(struct etwd *d, struct conn *c)
{
	if (c->closing) {
		return;
	}
	c->closing = true;
	etwd_loop_remove(d, &c->src);
	etwd_take_forget(c);
	etwd_foreign_close_socket(d, &c->src.fd, c->uid, c->may_carry);
	ring(c);
	etwd_share_give(d, c->uid, SHARE_CONNECTIONS, 1);
	d->conn_count--;
	d->control_count -= c->kind == CONN_CONTROL;
	d->throttled_count -= c->throttled;
	c->throttled = false;
	free_queue(d, c);
	struct reply_to *r;
	while ((r = LIST_FIRST(&c->replies))) {
		etwd_reply_drop(r);
	}
	if (c->process) {
		etwd_process_gone(d, c->process);
		c->process = NULL;
	}
	if (c->consumer) {
		etwd_realtime_close(d, c->consumer);
		c->consumer = NULL;
	}
}

void etwd_conn_reap(struct etwd *d)
{
	struct conn *c = TAILQ_FIRST(&d->conns);
	while (c) {
		struct conn *next = TAILQ_NEXT(c, link);
		if (c->closing) {
			TAILQ_REMOVE(&d->conns, c, link);
			free(c);
		}
		c = next;
	}
}

bool etwd_conn_same_user(const struct etwd *d, const struct conn *c)
{
	return c->uid == d->uid || c->uid == 0;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A provider process does not sleep in its socket. */
static void ring(const struct conn *c)
{
	if (c->process) {
		etwd_ctl_ring(&c->process->ctl);
	}
}

static void want_write(struct etwd *d, struct conn *c, bool on)
{
	if (c->writing != on) {
		c->writing = on;
		etwd_loop_change(d, &c->src, etwd_conn_events(c));
	}
}

static void enqueue(struct etwd *d, struct conn *c, const uint8_t *p, size_t n, const int *fds, int fd_count)
{
	size_t limit = c->kind == CONN_PROVIDER ? ETWD_QUEUE_BYTES_PROVIDER : ETWD_QUEUE_BYTES_CONTROL;
	struct out_message *o = NULL;
	if (c->queued_bytes + n + sizeof *o <= limit && !etwd_share_take(d, c->uid, SHARE_QUEUE_BYTES, n + sizeof *o)) {
		o = malloc(sizeof *o + n);
		if (!o) {
			etwd_share_give(d, c->uid, SHARE_QUEUE_BYTES, n + sizeof *o);
		}
	}
	if (!o) {
		etwd_conn_close(d, c); /* it does not read; it may come back */
		return;
	}
	o->fd_count = 0;
	o->bytes = (uint32_t)n;
	memcpy(o->data, p, n);
	for (int i = 0; i < fd_count; i++) {
		int dup = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (dup < 0) {
			for (int k = 0; k < o->fd_count; k++) {
				close(o->fd[k]);
			}
			free(o);
			etwd_share_give(d, c->uid, SHARE_QUEUE_BYTES, n + sizeof *o);
			etwd_conn_close(d, c);
			return;
		}
		o->fd[o->fd_count++] = dup;
	}
	c->queued_bytes += n + sizeof *o;
	STAILQ_INSERT_TAIL(&c->queue, o, link);
	want_write(d, c, true);
}

/* The peer takes nothing any more. Of a process there may still be messages to read: how its sessions
 * ended, what its events mean. They are read before the connection closes. */
static void peer_gone(struct etwd *d, struct conn *c)
{
	if (c->kind == CONN_PROVIDER) {
		c->deaf = true;
		free_queue(d, c);
		want_write(d, c, false);
	} else {
		etwd_conn_close(d, c);
	}
}

void etwd_conn_send(struct etwd *d, struct conn *c, struct proto_writer *w, const int *fds, int fd_count)
{
	long n = proto_end(w);
	if (c->closing || c->deaf) {
		return;
	}
	if (n < 0) {
		etwd_log_of(d, c->uid, "A message of type %u did not fit", le16_get(w->mem + 4));
		etwd_conn_close(d, c);
		return;
	}
	if (STAILQ_EMPTY(&c->queue)) {
		int r = proto_send(c->src.fd, w->mem, (size_t)n, fds, fd_count);
		if (r == 0) {
			ring(c);
			return;
		}
		if (r != -EAGAIN && r != -ENOBUFS && r != -ETOOMANYREFS) {
			peer_gone(d, c);
			return;
		}
	}
	enqueue(d, c, w->mem, (size_t)n, fds, fd_count);
}

int etwd_conn_try_send(struct etwd *d, struct conn *c, struct proto_writer *w)
{
	long n = proto_end(w);
	if (c->closing || n < 0) {
		return -EPIPE;
	}
	if (!STAILQ_EMPTY(&c->queue)) {
		return -EAGAIN;
	}
	int r = proto_send(c->src.fd, w->mem, (size_t)n, NULL, 0);
	if (r == 0) {
		ring(c);
	} else if (r != -EAGAIN && r != -ENOBUFS) {
		etwd_conn_close(d, c);
	}
	return r;
}

static void flush_queue(struct etwd *d, struct conn *c)
{
	struct out_message *o;
	while (!c->closing && (o = STAILQ_FIRST(&c->queue))) {
		int r = proto_send(c->src.fd, o->data, o->bytes, o->fd, o->fd_count);
		if (r == -EAGAIN || r == -ENOBUFS || r == -ETOOMANYREFS) {
			return;
		}
		if (r < 0) {
			peer_gone(d, c);
			return;
		}
		ring(c);
		STAILQ_REMOVE_HEAD(&c->queue, link);
		c->queued_bytes -= o->bytes + sizeof *o;
		etwd_share_give(d, c->uid, SHARE_QUEUE_BYTES, o->bytes + sizeof *o);
		for (int i = 0; i < o->fd_count; i++) {
			close(o->fd[i]);
		}
		free(o);
	}
	if (!c->closing) {
		want_write(d, c, false);
	}
}

/* ---- replies --------------------------------------------------------------------------------- */

void etwd_reply_keep(struct conn *c, const struct proto_message *m, struct reply_to *r)
{
	*r = (struct reply_to){.conn = c, .id = m->id, .type = m->type};
	LIST_INSERT_HEAD(&c->replies, r, link);
	c->reply_count++;
}

void etwd_reply_drop(struct reply_to *r)
{
	if (r->conn) {
		LIST_REMOVE(r, link);
		r->conn->reply_count--;
		r->conn = NULL;
	}
}

void etwd_reply_begin(struct proto_writer *w, void *mem, size_t cap, const struct proto_message *m)
{
	uint16_t type = m->type == PROTO_HELLO ? PROTO_WELCOME : m->type;
	proto_begin(w, mem, cap, type | PROTO_REPLY, m->id);
}

void etwd_reply_status(struct etwd *d, struct conn *c, const struct proto_message *m, uint32_t code, const char *text)
{
	uint8_t mem[1024];
	struct proto_writer w;
	etwd_reply_begin(&w, mem, sizeof mem, m);
	proto_put_u32(&w, PROTO_TAG_STATUS, code);
	if (code != 0) {
		const char *say = text ? text : win32_text(code);
		if (say) {
			proto_put(&w, PROTO_TAG_TEXT, say, strnlen(say, 600));
		}
	}
	etwd_conn_send(d, c, &w, NULL, 0);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Both a zero-length message and the end of the stream read as 0 bytes. */
static bool peer_closed(const struct conn *c)
{
	struct pollfd p = {.fd = c->src.fd, .events = POLLRDHUP};
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void refill(struct etwd *d, struct conn *c, uint64_t now)
{
	if (!etwd_share_has_time(d, c->uid, now)) {
		c->tokens = 0;
		return;
	}
	uint64_t add = (now - c->tokens_at_ns) / (1000000000ull / ETWD_MESSAGES_PER_S);
	if (add > 0) {
		c->tokens = (uint32_t)BASE_MIN(c->tokens + add, (uint64_t)ETWD_MESSAGES_BURST);
		c->tokens_at_ns = now;
	}
}

/* The next message, as proto_recv_plain(). One with descriptors stays where it is: an ADOPT is left to
 * another process, anything else costs the peer the connection. */
static long take_message(struct etwd *d, struct conn *c, uint8_t *mem)
{
	bool carries;
	long n = proto_recv_plain(c->src.fd, mem, PROTO_MESSAGE_MAX, c->may_carry, &carries);
	if (!carries) {
		return n;
	}
	if (n >= 12 && le16_get(mem + 4) == PROTO_ADOPT && c->process && etwd_take(d, c)) {
		return -EAGAIN;
	}
	d->bad_messages++;
	etwd_conn_close(d, c);
	return -ECONNABORTED;
}

/* `last`: the peer is gone. What it left behind is bounded by its socket, and waiting for tokens
 * would only keep the corpse. */
static void conn_receive(struct etwd *d, struct conn *c, bool last)
{
	/* A bounded share of the turn, so that one talker does not silence the others. */
	for (int i = 0; i < 32 && !c->closing && !c->taking; i++) {
		uint64_t now = etwd_now_ns();
		bool time = etwd_share_has_time(d, c->uid, now);
		if (c->tokens == 0 && last) {
			c->tokens = 1;
		}
		if (c->tokens == 0 || !time) {
			refill(d, c, now);
			if (c->tokens == 0 && !c->throttled) {
				c->throttled = true;
				d->throttled_count++;
				etwd_loop_change(d, &c->src, etwd_conn_events(c));
			}
			if (c->tokens == 0) {
				return;
			}
		}
		long n = take_message(d, c, d->recv_buf);
		if (n == -EAGAIN) {
			return;
		}
		if (n == 0 && !peer_closed(c)) {
			c->tokens--;
			continue;
		}
		if (n <= 0) {
			d->bad_messages += n == -EBADMSG;
			etwd_conn_close(d, c);
			return;
		}
		c->tokens--;
		d->messages++;
		uid_t uid = c->uid;
		etwd_dispatch(d, c, d->recv_buf, (size_t)n, NULL, 0);
		etwd_share_busy(d, uid, now, etwd_now_ns());
	}
}

void etwd_conn_settle(struct etwd *d, uint64_t now_ns)
{
	struct process *p;
	LIST_FOREACH(p, &d->processes, link) {
		struct conn *c = p->conn;
		if (p->traits_until_ns <= now_ns) {
			continue;
		}
		for (int i = 0; i < 64 && c && !c->closing && !c->taking && c->tokens > 0; i++) {
			long n = take_message(d, c, d->settle_buf);
			if (n <= 0) {
				break; /* the end of the stream is the loop's business */
			}
			c->tokens--;
			d->messages++;
			etwd_dispatch(d, c, d->settle_buf, (size_t)n, NULL, 0);
		}
	}
}

static void conn_ready(struct etwd *d, struct source *s, uint32_t events)
{
	struct conn *c = (struct conn *)s;
	if (!c->closing && (events & EPOLLOUT)) {
		flush_queue(d, c);
	}
	bool last = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	if (!c->closing && !c->taking && (last || (events & EPOLLIN))) {
		conn_receive(d, c, last);
	}
}

void etwd_conn_last_words(struct etwd *d, struct conn *c)
{
	/* More turns than a socket has room for messages, should a child go on talking into it. */
	for (int i = 0; i < 64 && !c->closing; i++) {
		uint64_t before = d->messages;
		conn_receive(d, c, true);
		if (d->messages == before) {
			break;
		}
	}
	etwd_conn_close(d, c);
}

void etwd_conn_unthrottle(struct etwd *d, uint64_t now_ns)
{
	if (d->throttled_count == 0) {
		return;
	}
	struct conn *c;
	TAILQ_FOREACH(c, &d->conns, link) {
		if (!c->closing && c->throttled) {
			refill(d, c, now_ns);
			if (c->tokens > 0) {
				c->throttled = false;
				d->throttled_count--;
				etwd_loop_change(d, &c->src, etwd_conn_events(c));
			}
		}
	}
}

/* ---- accepting ------------------------------------------------------------------------------- */

bool etwd_fds_left(const struct etwd *d, uint32_t reserve)
{
	struct rlimit lim;
	/* Connections, a pidfd and a namespace each, and what sessions and consumers have open. */
	uint64_t used = 3ull * d->conn_count + 4ull * d->session_count + 16;
	return getrlimit(RLIMIT_NOFILE, &lim) < 0 || used + reserve < lim.rlim_cur;
}

/* It has said something that we have not read: we had no processor. */
static bool unheard(const struct conn *c)
{
	struct pollfd p = {.fd = c->src.fd, .events = POLLIN};
	return poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0;
}

/* Who connects and says nothing has its time; the next who comes looks after it. */
static void drop_strangers(struct etwd *d, uint64_t now_ns)
{
	struct conn *c;
	if (now_ns - d->strangers_at_ns < 1000000000ull) {
		return;
	}
	d->strangers_at_ns = now_ns;
	TAILQ_FOREACH(c, &d->conns, link) {
		if (c->kind == CONN_PROVIDER && !c->process && now_ns - c->since_ns > ETWD_HELLO_NS && !unheard(c)) {
			etwd_conn_close(d, c);
		}
	}
}

/* A user has so many connections of a kind, so that others find room. Attached processes have a
 * limit of their own. */
static bool too_many(const struct etwd *d, enum conn_kind kind, uid_t uid)
{
	uint32_t n = 0;
	const struct conn *c;
	TAILQ_FOREACH(c, &d->conns, link) {
		n += !c->closing && c->kind == kind && c->uid == uid && !c->process;
	}
	return n >= (kind == CONN_CONTROL ? ETWD_CONTROL_CONNS_MAX : ETWD_STRANGERS_MAX);
}

static void refuse(struct etwd *d, int fd, const struct ucred *peer, bool carry, uint32_t code, const char *text)
{
	uint8_t mem[512];
	struct proto_writer w;
	proto_begin(&w, mem, sizeof mem, PROTO_REPLY | PROTO_WELCOME, 0);
	proto_put_u32(&w, PROTO_TAG_STATUS, code);
	proto_put_str(&w, PROTO_TAG_TEXT, text);
	proto_send(fd, mem, (size_t)proto_end(&w), NULL, 0);
	etwd_foreign_close_socket(d, &fd, peer->uid, carry);
	d->rejected_connections++;
}

static void accept_ready(struct etwd *d, struct source *s, uint32_t events)
{
	enum conn_kind kind = s == &d->listeners[CONN_PROVIDER] ? CONN_PROVIDER : CONN_CONTROL;
	drop_strangers(d, etwd_now_ns());
	for (int i = 0; i < 64; i++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
				/* Level-triggered epoll would spin. Sleep a little instead;
				 * etwd_fds_left() makes this rare. */
				struct pollfd none = {.fd = -1};
				poll(&none, 1, 10);
			}
			return;
		}
		struct ucred peer;
		socklen_t len = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
			close(fd);
			continue;
		}
		bool mine = peer.uid == d->uid || peer.uid == 0;
		bool carry = d->listeners_carry || proto_passes_descriptors(fd);
		if ((!d->system && !mine) || peer.pid <= 0) {
			refuse(d, fd, &peer, carry, ERROR_ACCESS_DENIED, "this etwd serves another user");
		} else if (!etwd_fds_left(d, ETWD_FDS_RESERVE) || !etwd_share_fits(d, peer.uid, SHARE_CONNECTIONS, 1)) {
			refuse(d, fd, &peer, carry, ERROR_NO_SYSTEM_RESOURCES, "etwd has no file descriptors left");
		} else if (too_many(d, kind, peer.uid)) {
			refuse(d, fd, &peer, carry, ERROR_NO_SYSTEM_RESOURCES, "too many connections of this user");
		} else {
			struct conn *c = etwd_conn_create(d, fd, kind, peer.uid, peer.pid);
			if (c) {
				c->gid = peer.gid;
				c->may_carry = carry;
			}
		}
	}
}

void etwd_conn_hear(struct etwd *d)
{
	uint64_t before;
	uint32_t turns = 0;
	do {
		before = d->conn_count + d->rejected_connections;
		accept_ready(d, &d->listeners[CONN_PROVIDER], EPOLLIN);
		struct conn *c;
		TAILQ_FOREACH(c, &d->conns, link) {
			/* HELLO, what the program carries of descriptions, REGISTER */
			bool fresh = c->kind == CONN_PROVIDER && !c->process;
			for (int i = 0; fresh && i < 8 && !c->closing && !c->taking && c->tokens > 0; i++) {
				long n = take_message(d, c, d->settle_buf);
				if (n <= 0) {
					break; /* the end of the stream is the loop's business */
				}
				c->tokens--;
				d->messages++;
				etwd_dispatch(d, c, d->settle_buf, (size_t)n, NULL, 0);
			}
		}
	} while (d->conn_count + d->rejected_connections != before && ++turns < HEAR_TURNS);
}

void etwd_conn_carry(struct etwd *d, bool on)
{
#ifdef OPENETW_TESTPOINTS
	if (getenv("OPENETW_TEST_DESCRIPTORS_PASS")) { /* as before Linux 6.16 */
		return;
	}
#endif
	bool done = true;
	for (int i = 0; i < 2; i++) {
		if (d->listeners[i].fd >= 0) {
			done = proto_pass_descriptors(d->listeners[i].fd, on) && done;
		}
	}
	d->listeners_carry = on || !done;
}

int etwd_conn_listen(struct etwd *d, int fd, enum conn_kind kind)
{
	d->listeners[kind] = (struct source){accept_ready, fd};
	return etwd_loop_add(d, &d->listeners[kind], EPOLLIN);
}
