/* SPDX-License-Identifier: MIT
 *
 * Destinations that are daemons: the user's etwd and the system's. Each has a listener thread, and
 * while attached a sender thread.
 *
 *   NONE --first registration--> STARTING --WELCOME--> ATTACHED <--+
 *                                   | no daemon          | EOF     | WELCOME
 *                                   v                    v         |
 *                                DETACHED <----------------- (waits on the wait page)
 *
 * DETACHED after ATTACHED still has its link: events go into the old pool until it is full, at most
 * PROVIDER_ORPHAN_MS, then the registrations read as disabled. A new daemon gives fresh memory, and
 * is handed the old pool (ADOPT, provider_adopt.c); it answers when it has drained it.
 */
#ifndef PROVIDER_PROVIDER_DEST_H
#define PROVIDER_PROVIDER_DEST_H

#include "proto/proto.h"
#include "proto/proto_wait.h"
#include "provider/provider_registry.h"

enum provider_dest_state {
	PROVIDER_DEST_NONE = 0,
	PROVIDER_DEST_STARTING,
	PROVIDER_DEST_DETACHED,
	PROVIDER_DEST_ATTACHED,
};

struct provider_message {
	struct provider_message *next;
	size_t bytes;
	uint8_t data[];
};

/* One attachment as provider_attach.c made it. */
struct provider_attached {
	int fd;
	struct provider_link *link;
	void *segment[POOL_SEGMENTS_MAX];
	uint64_t segment_bytes[POOL_SEGMENTS_MAX];
	int segment_fd[POOL_SEGMENTS_MAX]; /* kept for ADOPT; -1 without a table of our own */
	uint32_t segments;
	uint32_t serial;
};
/* Pools of etwds that died, kept until a later one has drained them. */
#define PROVIDER_OLD_POOLS 8u

struct provider_dest {
	uint32_t kind; /* PROVIDER_DEST_USER or _SYSTEM */
	enum provider_dest_state state;
	char dir[100];     /* runtime directory; empty = cannot be told */
	bool listener;     /* the thread exists */
	bool private_fds;  /* it has a descriptor table of its own */
	bool unresponsive; /* a wait timed out: do not wait again before it speaks */
	bool muted;        /* orphaned for too long: registrations read as disabled */
	bool handed_over;  /* a forked child attached without threads: the listener takes it */
	bool sender_running;
	bool behind;                        /* something could not be said for want of memory: the listener says it */
	bool dir_later;                     /* where the daemon is could not be found out */
	int peer;                           /* process id of the daemon we last connected to; 0 unknown */
	const struct proto_wait_page *wait; /* NULL: none; the listener replaces it */
	struct provider_attached at;        /* valid when at.link is not NULL */
	struct provider_attached old[PROVIDER_OLD_POOLS]; /* listener's; link NULL: unused */
	uint64_t cookie;                                  /* of at.fd */
	uint64_t serial;                                  /* number of this attachment */
	uint32_t told[PROVIDER_REGISTRATIONS_MAX / 32];   /* REGISTER was posted for this index */
	uint32_t stale[PROVIDER_REGISTRATIONS_MAX / 32];  /* and must be taken back */
	struct provider_message *out;
	struct provider_message **out_tail;
	uint64_t posted;
	uint64_t sent;
	uint32_t sender_stop;
	pthread_t sender;
};
extern struct provider_dest provider_dests[2];

/* ---- provider_dest.c; the lock is held ------------------------------------------------------- */

/* Fill in directories. Once, and not in a signal handler. */
void provider_dests_init_locked(void);
/* Where the user's daemon is, or will be. The environment counts as it was at the first registration. */
int provider_user_dir(char *ret, size_t cap);
/* Create missing listeners. False: one is missing still. */
bool provider_dests_start_locked(void);
/* As far as the socket takes it: without a listener. */
void provider_send_now_locked(struct provider_dest *d);
/* Queue a message made with proto_*; wakes the sender. Ticket for `sent`, 0 when dropped. */
uint64_t provider_post_locked(struct provider_dest *d, const void *message, size_t bytes);
void provider_post_register_locked(struct provider_dest *d, uint32_t index);
uint64_t provider_post_traits_locked(struct provider_dest *d, uint32_t index);
/* Ticket, 0 when dropped. */
uint64_t provider_post_unregister_locked(struct provider_dest *d, uint32_t index);
void provider_post_notified_locked(struct provider_dest *d, uint32_t notify_id);
void provider_post_binary_locked(struct provider_dest *d, uint32_t index, const char *path);
void provider_drop_messages_locked(struct provider_dest *d);
void provider_dest_wake(struct provider_dest *d);

/* Request ids carry the index and some bits of the generation, so that a late answer is recognised.
 */
static inline uint32_t provider_request_id(uint32_t index, uint32_t generation)
{
	return index | generation << 16;
}
/* A REGISTER message into `mem`; bytes or negative. more: PROTO_REG_LATE, or 0. context: async-signal-safe. */
long provider_make_register(void *mem, size_t cap, uint32_t index, uint32_t more);
/* REGISTER for every live registration that was not told yet, as far as the socket takes them
 * without blocking. The lock is held, or nobody else can be here. Returns how many. */
uint32_t provider_send_registers(struct provider_dest *d, int fd, void *buf, size_t cap);
/* ---- provider_described.c: modules that carry the description of their events ---------------- */

/* Looks for modules loaded since, and tells the daemons. The lock is not held: the dynamic linker's is
 * taken first. */
void provider_described_look(void);
/* DESCRIBED of the i-th module into `mem`: bytes, 0 when there are no more. context: async-signal-safe */
long provider_make_described(void *mem, size_t cap, uint32_t i);
/* As provider_send_registers(), and before it: who is answered may have ended a moment later. */
void provider_send_described(int fd, void *buf, size_t cap);

/* One message from the daemon. */
void provider_dispatch_locked(struct provider_dest *d, const struct proto_message *m, int *fds, int fd_count);
/* Point all registrations of this destination at nothing; callbacks learn it. */
void provider_dest_mute_locked(struct provider_dest *d, bool notify);
int provider_thread_create(pthread_t *ret, void *(*main)(void *), void *arg, size_t stack_bytes);

/* ---- provider_attach.c. context: async-signal-safe ------------------------------------------- */

/* An application thread attaches: until when, and what it is for (see provider_patience_more()). */
struct provider_haste {
	struct timespec *until;
	bool wanted;
};
/* Connect, HELLO, WELCOME, map. `buf` of PROTO_MESSAGE_MAX/16 bytes or more is scratch. The
 * registrations follow HELLO at once, so that a busy daemon answers all of it in one go; d->told
 * says which. haste NULL: a thread of ours, which takes the lock for that; timeout_ms is for it. */
int provider_attach(struct provider_dest *d, void *buf, size_t cap, int timeout_ms, const struct provider_haste *haste,
		    struct provider_attached *ret);
int provider_attach_segment(struct provider_attached *at, int fd, uint32_t chunk_size);
/* As the listener would, but in this thread, which takes the answers until the time is over. Leaves it to a listener
 * that is created later. `buf` as above; the lock is held, or nobody else can be here. (provider_fork.c) */
void provider_attach_threadless(struct provider_dest *d, uint8_t *buf, size_t bytes);
/* The process goes on without an answer for this registration, though a session wants it: the daemon counts that when it
 * comes to it, which may be after our end. Over a connection of its own: the other one is the listener's. Does not wait.
 * `buf` as above. */
void provider_attach_late(struct provider_dest *d, uint32_t index, void *buf, size_t cap);
/* Close the socket; the memory stays. */
void provider_attach_hang_up(struct provider_attached *at);
/* Replace its memory by zeros (in-flight writers may still look), close the socket. */
void provider_attach_retire(struct provider_attached *at);
/* The entry at that offset, or NULL when the daemon talks nonsense. */
const struct ctl_entry *provider_attach_entry(const struct provider_attached *at, uint32_t offset);

/* ---- provider_adopt.c: listener thread, before its sender runs ----------------------------------
 */

/* The current attachment, which nobody writes through any more, joins d->old. The lock is held. */
void provider_adopt_keep_locked(struct provider_dest *d);
/* Offer all old pools to the daemon at d->at. Takes the lock. */
void provider_adopt_offer(struct provider_dest *d);
/* The daemon has drained one, or (status not 0) does not take it. The lock is held. */
void provider_adopt_answered_locked(struct provider_dest *d, uint32_t serial, uint32_t status);

/* ---- provider_listener.c ----------------------------------------------------------------------
 */

void *provider_listener_main(void *dest);

/* ---- provider_fds.c: sockets that survive what the application does to descriptors -------------
 */

/* A private descriptor table with nothing but `keep` (-1: nothing). False: the kernel says no. */
bool provider_fds_unshare(int keep);
/* Move a fresh fd where nobody expects it; returns the new number or -errno (fd closed). */
int provider_fd_park(int fd, bool private_table);
uint64_t provider_fd_cookie(int fd);

/* ---- provider_wait.c ---------------------------------------------------------------------------
 */

/* Map the wait page, creating directory and file for the user's instance. NULL: no such page. */
const struct proto_wait_page *provider_wait_map(struct provider_dest *d);
void provider_wait_unmap(const struct proto_wait_page *page);
/* Sleep until a daemon starts, or the time is over. `word` may be NULL. */
void provider_wait_sleep(const uint32_t *word, uint32_t seen, uint32_t timeout_ms);
/* A word of somebody's, and what it was when its owner's wishes were last looked at. */
struct provider_word {
	const uint32_t *at;
	uint32_t seen;
	bool shared; /* with other processes */
};
#define PROVIDER_WORDS_MAX 3
/* Sleep until one of them changes, or the time is over. 0; -ENOSYS, -EPERM: not here. */
int provider_words_sleep(const struct provider_word *words, uint32_t n, uint32_t timeout_ms);

/* ---- provider_patience.c: how long an application thread waits --------------------------------- */

/* What this process may wait in its life beyond provider_wait_ms() each time. */
void provider_patience_init(uint32_t extra_ms);
int provider_left_ms(const struct timespec *until);
/* A forked child is a process of its own. */
void provider_patience_renew(void);
/* The time is up and this daemon has not answered: wait on, until the new *until? Only while
 * something is to be missed (`wanted`), the daemon lives and is not stopped, and the process has
 * not waited long before. d NULL: it is a thread of our own that is waited for. The lock is held,
 * or nobody else can be here. context: async-signal-safe */
bool provider_patience_more(const struct provider_dest *d, bool wanted, struct timespec *until);
/* This thread runs, or would if it got a processor. */
bool provider_patience_runnable(uint32_t tid);
/* May one more registration be told late (provider_attach_late())? */
bool provider_patience_late(void);
/* Some session wants this provider, or a group that its traits name. */
bool provider_patience_wanted(const struct provider_dest *d, const struct provider_registration *reg);

#endif
