/* SPDX-License-Identifier: MIT
 *
 * Private sessions that a controller starts for the provider of other processes (tracelog -um,
 * logman -ul): each process that registered the GUID, now or later, hosts a session of its own, with a
 * file of its own. Here is only what they have in common: who asked, the enables, the sums.
 *
 *   etwd_private.c          the sessions: finding, describing, listing; what is due by now
 *   etwd_private_request.c  what controllers ask for
 *   etwd_private_host.c     the processes: telling them, what they said
 *   etwd_private_limits.c   sessions that end by themselves
 *
 * A request goes to the processes and is answered when all have answered, or after a while: one that is
 * stopped does what it was told when it goes on. Nothing here outlives this etwd, and the processes end
 * their sessions when it goes.
 */
#ifndef ETWD_ETWD_PRIVATE_H
#define ETWD_ETWD_PRIVATE_H

#include "etwd/etwd_conn.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_session.h"

#define ETWD_PRIVATE_ENABLES_MAX 64u
/* A user in more groups than that is asked for with those that there is room for. */
#define ETWD_PRIVATE_GROUPS_MAX 256u

struct member {
	LIST_ENTRY(member) link;
	struct process *process;
	bool running, failed;
	bool asked;                /* for its sums, by the limits */
	struct proto_session last; /* no strings */
};
struct stored_enable {
	struct guid guid;
	struct enable_args *args;
	uint8_t *body; /* of the controller's message */
	size_t bytes;
};
struct private_session {
	LIST_ENTRY(private_session) link;
	uint64_t id;
	uid_t uid;
	uint32_t group[ETWD_PRIVATE_GROUPS_MAX], groups; /* of who started it: the group, then the others */
	bool stopping;
	bool plain_taken;       /* some process was told the file's plain name */
	struct proto_session p; /* as asked for; the strings are ours, and the limits are here */
	int owner_fd;           /* while p.owner_pid is not 0 */
	struct enable_args *scope;
	LIST_HEAD(, member) members;
	struct stored_enable enable[ETWD_PRIVATE_ENABLES_MAX];
	uint32_t enables;
	size_t bytes;
	struct proto_session ended; /* sums of processes that are gone */
};
/* One request of a controller that processes are at. */
struct ask {
	TAILQ_ENTRY(ask) link;
	struct reply_to reply;
	uint64_t id, deadline_ns;
	uint32_t op, left, ok, failed, code;
	uint16_t *file; /* UPDATE: the session's when it was not refused; may be NULL */
	uint32_t file_len;
	char text[300];
	uint32_t count, cap;
	struct {
		uint32_t id;
		struct process *process; /* NULL: has answered */
	} * at;
};
struct private_side {
	LIST_HEAD(, private_session) sessions;
	TAILQ_HEAD(, ask) asks;
	uint32_t count;
	uint64_t next_id, retry_ns;
	bool retry;
	uint64_t look_ns, ask_ns; /* the limits */
};

/* etwd_private.c. The side is NULL without memory. */
struct private_side *etwd_private_side(struct etwd *d);
struct private_session *etwd_private_by_id(const struct etwd *d, uint64_t id);
void etwd_private_free(struct etwd *d, struct private_session *s);
void etwd_private_enable_forget(struct stored_enable *e);
void etwd_private_add(struct proto_session *to, const struct proto_session *m);
void etwd_private_reply(struct etwd *d, struct conn *c, const struct proto_message *m, const struct private_session *s);
bool etwd_private_may_see(const struct etwd *d, const struct private_session *s, const struct conn *c);

/* etwd_private_host.c. `a` may be NULL: nobody waits for what they answer. */
struct ask *etwd_private_ask(struct etwd *d, struct conn *c, const struct proto_message *m,
			     const struct private_session *s, uint32_t op, uint64_t patience_ns);
void etwd_private_ask_finish(struct etwd *d, struct ask *a);
void etwd_private_tell(struct etwd *d, struct private_session *s, uint32_t op, struct process *p,
		       const struct proto_session *said, struct ask *a);
void etwd_private_tell_all(struct etwd *d, struct private_session *s, uint32_t op, const struct proto_session *said,
			   struct ask *a);
void etwd_private_tell_enable(struct etwd *d, struct private_session *s, struct process *p,
			      const struct stored_enable *e, struct ask *a);
void etwd_private_host_all(struct etwd *d, struct private_session *s, struct ask *a);

/* etwd_private_limits.c. A Win32 code; *ret_why says more. */
uint32_t etwd_private_limits_set(struct private_session *s, const struct proto_session *p, const char **ret_why);
void etwd_private_limits_clear(struct private_session *s);
bool etwd_private_limited(const struct private_session *s);
void etwd_private_limits_tick(struct etwd *d, uint64_t now_ns);

#endif
