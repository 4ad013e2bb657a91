/* SPDX-License-Identifier: MIT
 *
 * Connections, the descriptors that come over them, and the way of a message to its handler.
 */
#ifndef ETWD_ETWD_CONN_H
#define ETWD_ETWD_CONN_H

#include "etwd/etwd_loop.h"
#include "proto/proto.h"

struct consumer;
struct process;
struct request;

enum conn_kind {
	CONN_PROVIDER,
	CONN_CONTROL,
};

/* The right to answer a request later. Follows its connection: conn becomes NULL when that closes.
 */
struct request;
struct reply_to {
	struct conn *conn;
	uint32_t id;
	uint16_t type;
	LIST_ENTRY(reply_to) link;
};

struct out_message {
	STAILQ_ENTRY(out_message) link;
	int fd[PROTO_FDS_MAX]; /* ours */
	int fd_count;
	uint32_t bytes;
	uint8_t data[];
};

struct conn {
	struct source src;
	enum conn_kind kind;
	uid_t uid;
	gid_t gid;
	pid_t pid;
	bool closing;           /* freed at the end of the turn */
	bool may_carry;         /* messages may come with descriptors */
	struct request *taking; /* another process receives one; NULL: none */
	bool throttled;
	bool writing; /* waits for EPOLLOUT */
	bool deaf;    /* it closed its end; what it said before is read to the end */
	uint32_t tokens;
	uint32_t reply_count;
	uint64_t tokens_at_ns;
	uint64_t since_ns;
	size_t queued_bytes;
	STAILQ_HEAD(, out_message) queue;
	LIST_HEAD(, reply_to) replies;
	struct process *process;
	struct consumer *consumer;
	TAILQ_ENTRY(conn) link;
};

int etwd_conn_listen(struct etwd *d, int fd, enum conn_kind kind);
/* Takes fd. Messages with descriptors are expected on it until somebody says that none can come. */
struct conn *etwd_conn_create(struct etwd *d, int fd, enum conn_kind kind, uid_t uid, pid_t pid);
void etwd_conn_close(struct etwd *d, struct conn *c);
uint32_t etwd_conn_events(const struct conn *c); /* that epoll is to watch */
/* Its process has ended: hear what it said before, then close. */
void etwd_conn_last_words(struct etwd *d, struct conn *c);
void etwd_conn_reap(struct etwd *d); /* end of a turn */
/* May new connections carry descriptors before they are accepted? */
void etwd_conn_carry(struct etwd *d, bool on);
void etwd_conn_unthrottle(struct etwd *d, uint64_t now_ns);
/* Between the collection and the emission of a pass: hear what fresh provider processes have said.
 * Who sends TRAITS and then writes has sent before its event could be collected, so that every
 * collected event is explained. */
void etwd_conn_settle(struct etwd *d, uint64_t now_ns);
/* Who knocked before now is let in and heard, so that a session that is about to end counts what it missed of processes
 * that could not wait. */
void etwd_conn_hear(struct etwd *d);
/* Sends or queues; fds are duplicated when queued. A connection that does not read is closed. */
void etwd_conn_send(struct etwd *d, struct conn *c, struct proto_writer *w, const int *fds, int fd_count);
/* Sends now or says no (-EAGAIN): for messages that have another way to wait. */
int etwd_conn_try_send(struct etwd *d, struct conn *c, struct proto_writer *w);
/* Are there more descriptors to be had than so many? */
bool etwd_fds_left(const struct etwd *d, uint32_t reserve);
bool etwd_conn_same_user(const struct etwd *d, const struct conn *c); /* may control this instance */

void etwd_reply_keep(struct conn *c, const struct proto_message *m, struct reply_to *r);
void etwd_reply_drop(struct reply_to *r);
void etwd_reply_begin(struct proto_writer *w, void *mem, size_t cap, const struct proto_message *m);
/* Answer with a Win32 code; `text` may be NULL. */
void etwd_reply_status(struct etwd *d, struct conn *c, const struct proto_message *m, uint32_t code, const char *text);

/* ---- descriptors of strangers --------------------------------------------------------------- */

/* Closes a connection of this user; at once if nothing unread is in it, or if it cannot hold descriptors. */
void etwd_foreign_close_socket(struct etwd *d, int *fd, uid_t uid, bool may_carry);
/* Some of this user's descriptors do not let themselves be closed. */
bool etwd_foreign_cut_off(uid_t uid);
/* A process of the starter's that may have such ones, and should end at once; takes the descriptor. */
void etwd_foreign_process(struct etwd *d, pid_t pid, int status_fd, uid_t uid);
void etwd_foreign_tick(struct etwd *d); /* each turn */
void etwd_foreign_counts(uint64_t *ret_taken, uint64_t *ret_waiting, uint64_t *ret_stuck);

/* The next message on it, which comes with descriptors, is received by another process and then handled;
 * nothing is read until then. False: no memory. */
bool etwd_take(struct etwd *d, struct conn *c);
void etwd_take_forget(struct conn *c); /* it is being closed */
void etwd_take_main(void);             /* of that process */
int etwd_take_tick(struct etwd *d);    /* each turn; in so many ms again, -1: at any time */
void etwd_take_finish(struct etwd *d);

/* ---- dispatch ------------------------------------------------------------------------------- */

#define ETWD_CUT_OFF_TEXT "descriptors that processes of this user passed do not let themselves be closed"
/* One message as received. Takes the fds, which are of files in memory. */
void etwd_dispatch(struct etwd *d, struct conn *c, const uint8_t *p, size_t n, int *fds, int fd_count);

#endif
