/* SPDX-License-Identifier: MIT
 *
 * Sessions, and private ones (etwd_private.h) as far as others need to know of them.
 */
#ifndef ETWD_ETWD_SESSION_H
#define ETWD_ETWD_SESSION_H

#include "etwd/etwd_conn.h"
#include "proto/proto.h"
#include "session/session_modes.h"
#include "sink/sink.h"

struct consumer;
struct enable;
struct image_list;
struct process;
struct proto_wait_page;
struct registration;
struct etwd_session_kernel;

enum session_state {
	SESSION_STARTING,
	SESSION_RUNNING,
	SESSION_STOPPING, /* enables gone; consumers get the last buffers */
	SESSION_CLOSING,  /* the sink is being closed by a job */
	SESSION_DEAD,     /* only configs still refer to it */
};

struct guid_list {
	struct guid *at;
	uint32_t count;
};

struct session {
	struct etwd *daemon;
	uint32_t refs;
	enum session_state state;
	uint16_t id;
	uid_t uid;
	uint16_t *name, *log_file; /* terminated; log_file may be NULL */
	char *path;                /* may be NULL */
	char *last_file;           /* what the sink closed last, when it has ended */
	char label[128];           /* for the log */
	/* As asked for, adjusted, and as they are now. The flush timer is in seconds, whatever the mode says; the flags
	 * are those of the start: what a kernel session records is in `kernel`. */
	struct session_properties props;
	bool system_clock; /* a raw clock (1) that counts nanoseconds of CLOCK_MONOTONIC, whatever this machine's raw
			    * clock is: of sessions with kernel events, which come in that time */
	struct sink *sink; /* NULL unless RUNNING or STOPPING */
	struct sink_stats stats;
	uint32_t flags, latency_us;
	uint64_t start_ns;
	uint64_t loss[PROTO_LOSS_COUNT]; /* what the sink does not know */
	uint32_t sequence;               /* TraceMessage */
	struct {                         /* who writes how much, see etwd_fair.h */
		uint64_t at_ns, bytes, bytes_before;
		uint32_t epoch, writers, writers_before;
		uint32_t little; /* bytes: who writes no more is never refused for the others' sake */
	} fair;
	uint64_t buffer_bytes; /* of its buffers, and what else is charged to its user */
	LIST_HEAD(, enable) enables;
	LIST_HEAD(, consumer) consumers;
	uint32_t consumer_count;
	bool delivered, blocked; /* in this round */
	uint64_t round_ns;
	uint32_t jobs; /* flush waits; the sink stays until they are done */
	bool stop_wanted;
	bool no_binaries;            /* where providers lie is not to be recorded */
	struct guid_list disallowed; /* group members this session does not want */
	struct guid_list capture;    /* told to capture state every capture_s seconds */
	uint32_t capture_s;
	uint64_t capture_next_ns;
	uint64_t stop_deadline_ns, stop_limit_ns;
	uint64_t stop_acked; /* by all consumers, when last looked */
	/* limits, see etwd_limits.c */
	uint64_t expires_filetime, quota_bytes;
	uint64_t rotate_ns, rotate_next_ns; /* NEWFILE: the next file so often; 0: by size only */
	uint32_t owner_pid;
	int owner_fd; /* its pidfd while owner_pid != 0 */
	struct reply_to stop_reply, start_reply;
	uint32_t refusal_code; /* what start_reply is told when a session that was refused is gone */
	char *refusal;
	struct etwd_session_kernel *kernel; /* NULL: cannot have kernel events */
	/* Images, see etwd_images.c: what was said under this number, since when, with which file, and, when it is
	 * needed again, of whom. */
	uint64_t images_serial, images_since_ns, images_records;
	uint32_t files_opened, images_files; /* the first one counts up on any thread */
	struct image_list **images_told;
	uint32_t images_told_count, images_told_cap;
};
/* Its records have this machine's raw times. */
static inline bool etwd_session_raw(const struct session *s)
{
	return s->props.clock != 2 && !s->system_clock;
}
/* A session whose log file is open, and which has its kernel events: its starter hears of it. */
void etwd_session_running(struct etwd *d, struct session *s);
/* The other way. */
void etwd_session_refuse(struct etwd *d, struct session *s, uint32_t code, const char *text);
void etwd_session_reply(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s);

/* What a session with so many buffers is charged. */
uint64_t etwd_session_bytes(const struct etwd *d, const struct session *s, uint32_t buffers);
void etwd_session_start(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_session_control(struct etwd *d, struct conn *c, const struct proto_message *m);
/* The same request after etwd_reach_first(). */
void etwd_session_control_reached(struct etwd *d, struct conn *c, const struct proto_message *m);
/* sink_flush(), or, of what is in memory, with what explains it: the kernel's part comes with etwd_kernel_explain(). */
int etwd_session_copy(struct etwd *d, struct session *s, const char *path, struct diag *diag);
/* Answers when the disk has what was ordered to be written: what the controller does next finds a file that is
 * complete, and a sink that takes the next change. False: no memory. */
bool etwd_session_answer_after_disk(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s);
/* Look the path's directory up in a job, then come back with the request. False: go on at once. */
bool etwd_reach_first(struct etwd *d, struct conn *c, const struct proto_message *m, const char *path);
void etwd_session_list(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Of those that c may see, or on which it was given these rights (0: not looked at). */
#define ETWD_RIGHTS_TO_CONTROL UINT32_MAX /* what starting it would take */
struct session *etwd_session_find(struct etwd *d, const struct proto_message *m, struct conn *c, uint32_t rights);
/* Answer a kept reply, if its connection still lives. */
void etwd_session_answer(struct etwd *d, struct session *s, struct reply_to *r, uint32_t code, const char *text);
/* An absolute path this connection may have written to; heap. `except`: the session it is for. */
uint32_t etwd_session_path(struct etwd *d, struct conn *c, const uint16_t *name, size_t units,
			   const struct session *except, char **ret, const char **ret_why);
uint32_t etwd_session_update(struct etwd *d, struct conn *c, struct session *s, const struct proto_session *p,
			     struct diag *diag, const char **ret_why);
uint32_t etwd_session_timer(struct session *s, uint32_t timer);
/* SESSION_RUNNER_AUTOLOGGER for the connections of this process, see etwd_autolog.c. */
enum session_runner etwd_session_runner(const struct conn *c);
/* Expiry, quota and owner as the description says. Win32 code. */
uint32_t etwd_limits_set(struct session *s, const struct proto_session *p, const char **ret_why);
void etwd_limits_clear(struct session *s);
/* Takes another owner (0: none) into *pid and *fd, the latter of a pidfd while the former is not 0. */
uint32_t etwd_limits_owner(uint32_t wanted, uint32_t *pid, int *fd, const char **ret_why);
/* Ten times a second; true when the session is being stopped now. */
bool etwd_limits_tick(struct etwd *d, struct session *s);
void etwd_session_describe(struct etwd *d, struct session *s, struct proto_session *ret);
/* Who waits for it was kept in stop_reply before. */
void etwd_session_stop(struct etwd *d, struct session *s);
void etwd_session_stop_step(struct etwd *d, struct session *s, uint64_t now_ns);
void etwd_session_tick(struct etwd *d, uint64_t now_ns);
void etwd_session_ref(struct session *s);
void etwd_session_unref(struct session *s);
void etwd_session_forget(struct etwd *d, struct session *s); /* out of the table */
bool etwd_session_allows(const struct etwd *d, const struct session *s, const struct process *p);
bool etwd_session_may_see(const struct etwd *d, const struct session *s, const struct conn *c);
/* What it takes to start, change or stop a session of that mode. */
uint32_t etwd_session_rights(uint32_t mode, bool file);
/* Win32 code of what a sink said about its file. */
uint32_t etwd_session_code_of_create(int err);

/* ---- private sessions ----------------------------------------------------------------------- */

/* START, CONTROL and ENABLE of those; false: it is none, or (CONTROL) none of that id or name. */
bool etwd_private_start(struct etwd *d, struct conn *c, const struct proto_message *m);
bool etwd_private_control(struct etwd *d, struct conn *c, const struct proto_message *m);
bool etwd_private_enable(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_private_list(struct etwd *d, struct conn *c, const struct proto_message *m);
/* A registration came: its process hosts what is wanted of that provider. Before it is answered. */
void etwd_private_registered(struct etwd *d, const struct registration *r);
void etwd_private_done(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_private_gone(struct etwd *d, struct process *p);
void etwd_private_tick(struct etwd *d, uint64_t now_ns);
/* When something is due, -1: nothing. */
int etwd_private_wait_ms(const struct etwd *d);
uint32_t etwd_private_count(const struct etwd *d);
void etwd_private_finish(struct etwd *d);
void etwd_private_want(const struct etwd *d, struct proto_wait_page *page);

#endif
