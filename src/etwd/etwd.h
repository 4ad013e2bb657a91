/* SPDX-License-Identifier: MIT
 *
 * etwd: hosts trace sessions. Front door, for the files of this folder and its tests.
 *
 * One thread and one loop do everything that decides anything: messages, enables, the drain pass
 * and the real-time feed. So no state here has a lock, a pass sees one consistent configuration,
 * and a message is never half applied. What may block on a disk (opening, closing and waiting for
 * log files) runs as a job on a thread of its own and comes back as an event of the loop; writing
 * is the file thread's business inside the sink. (A second thread for the drain was weighed: it
 * would hold the state for the length of a pass anyway, since every record needs the filters.)
 *
 *   etwd_main.c      options, daemon, lock, sockets, signals; etwd_clean.c: what it inherited
 *   etwd_loop.c      epoll, timers, job threads
 *   etwd_conn.c      connections: receive, bounded queue, throttle, replies
 *   etwd_foreign.c, etwd_take.c
 *                    descriptors that strangers sent: never closed, or received, here
 *   etwd_dispatch.c  message -> handler; the fuzz target's entry
 *   etwd_process.c   provider processes: control block, segments, death
 *   etwd_adopt.c     pools of an earlier etwd
 *   etwd_binary.c    where a provider's code lies
 *   etwd_described.c descriptions of events that programs carry
 *   etwd_embed.c     the same for files that are finished, by a helper
 *   etwd_images.c    images of processes whose stacks are recorded
 *   etwd_thread.c    thread ids of other pid namespaces
 *   etwd_ctl.c       heap of entries and filter tables inside a control block
 *   etwd_register.c  registrations, traits, groups
 *   etwd_enable.c    who enabled what; generations of filter tables
 *   etwd_notify.c    ENABLE requests: changes, callbacks, their acknowledgements
 *   etwd_enable_filter.c  filters of an enable: parsing, evaluation
 *   etwd_session*.c  finding, start, control; etwd_stop.c: stop, update
 *   etwd_limits.c    sessions that end by themselves: expiry, quota, owner
 *   etwd_share.c     what one user may have of the instance for all
 *   etwd_autolog.c   sessions from configuration files
 *   etwd_program.c   programs that do something for it
 *   etwd_private*.c  private sessions that controllers start in other processes (etwd_private.h)
 *   etwd_schedule.c  saved collectors that begin at a time
 *   etwd_reach.c     a directory is looked up before the loop opens a file in it
 *   etwd_drain.c     when to drain; a pass; losses
 *   etwd_route.c     a record -> the sessions that want it, in ETW form
 *   etwd_route_run.c the same for many records of one kind at once
 *   etwd_fair.c      processes that write too much for the others of their session
 *   etwd_realtime.c  rings of real-time consumers
 *   etwd_query.c     lists and counters
 *   etwd_info.c      information classes, provider groups
 *   etwd_access.c    rights on GUIDs
 *   etwd_kernel.c, etwd_collector.c, etwd_kernel_ring.c
 *                    sessions with kernel events and the process that supplies them
 *
 * Nouns: process (one attached connection of one provider process), registration (one provider
 * handle in it), provider (a GUID somebody registered or enabled), enable (session x provider),
 * config (what one generation of a registration's filter table meant).
 *
 * Everything that comes from a socket or from a pool is hostile. Identity is the socket's.
 */
#ifndef ETWD_ETWD_H
#define ETWD_ETWD_H

#include "base/base.h"
#include "etwd/etwd_limits.h"
#include "filter/filter_event_id.h"
#include "pool/pool.h"
#include "proto/proto.h"
#include "proto/proto_wait.h"
#include "session/session_modes.h"
#include "sink/sink.h"
#include "etw/values/access_rights.h"
#include "etw/values/enable_properties.h"
#include "etw/values/errors.h"
#include "etw/values/provider_control.h"
#include "etw/values/session_control.h"
#include "etw/values/session_modes.h"

#include <sys/queue.h>
#include <sys/types.h>

struct etwd;
struct conn;
struct process;
struct session;
struct thread_map;
struct fair;
struct scan_job;

/* ---- loop ------------------------------------------------------------------------------------ */

/* Something epoll watches; embedded first in its owner. */
struct source {
	void (*ready)(struct etwd *d, struct source *s, uint32_t events);
	int fd;
};

/* Work that may block. `run` on a thread of its own: it may touch nothing but the job. `done` on
 * the loop, which then frees the job. */
struct job {
	void (*run)(struct job *j);
	void (*done)(struct etwd *d, struct job *j);
	struct etwd *d;
	STAILQ_ENTRY(job) link;
};

int etwd_loop_init(struct etwd *d);
void etwd_loop_finish(struct etwd *d);
int etwd_loop_add(struct etwd *d, struct source *s, uint32_t events);
void etwd_loop_change(struct etwd *d, struct source *s, uint32_t events);
void etwd_loop_remove(struct etwd *d, struct source *s);
/* Until d->exiting and everything has ended. */
void etwd_loop_run(struct etwd *d);
/* One turn; waits at most timeout_ms. For tests. */
void etwd_loop_turn(struct etwd *d, int timeout_ms);
/* Takes the job (heap). Runs it in place when no thread can be had. */
void etwd_job_start(struct etwd *d, struct job *j);
/* Takes it only if a thread can be had. */
bool etwd_job_try(struct etwd *d, struct job *j);
uint64_t etwd_now_ns(void);
void etwd_log(struct etwd *d, const char *fmt, ...) BASE_PRINTF(2, 3);
/* The same for what a user can cause as often as they like: lines have a rate then. */
void etwd_log_of(struct etwd *d, uid_t uid, const char *fmt, ...) BASE_PRINTF(3, 4);
void etwd_log_left_out(struct etwd *d, uid_t uid, uint64_t lines);
void etwd_log_open(struct etwd *d); /* DIR/etwd.log */

/* ---- shares ---------------------------------------------------------------------------------- */

/* What there is only so much of. See etwd_share.c and docs/limits.md. */
enum share {
	SHARE_PROCESSES,
	SHARE_REGISTRATIONS,
	SHARE_POOL_BYTES,
	SHARE_SESSIONS,
	SHARE_BUFFER_BYTES, /* with backlogs, and rings of consumers */
	SHARE_KERNEL_SESSIONS,
	SHARE_PRIVATES,
	SHARE_CONNECTIONS,
	SHARE_QUEUE_BYTES,
	SHARE_JOBS,
	SHARE_WAITING,
	SHARE_ENABLE_BYTES,
	SHARE_IMAGE_BYTES, /* also of processes that ended, while a session remembers them */
	SHARE_CONFIG_BYTES,
	SHARE_COUNT,
};
/* NULL: taken; else why not, in words. */
const char *etwd_share_take(struct etwd *d, uid_t uid, enum share what, uint64_t n);
void etwd_share_add(struct etwd *d, uid_t uid, enum share what, uint64_t n); /* whatever the limit */
void etwd_share_give(struct etwd *d, uid_t uid, enum share what, uint64_t n);
uint64_t etwd_share_of(const struct etwd *d, uid_t uid, enum share what);
bool etwd_share_fits(const struct etwd *d, uid_t uid, enum share what, uint64_t n);
bool etwd_share_whole(const struct etwd *d, uid_t uid); /* no part is set for this one */
/* On the disk; NULL: any. As long as the user has a session. -ENOMEM. */
int etwd_share_spool(struct etwd *d, uid_t uid, struct sink_quota **ret);
/* The loop worked for this user; may it go on to? */
void etwd_share_busy(struct etwd *d, uid_t uid, uint64_t from_ns, uint64_t to_ns);
bool etwd_share_has_time(struct etwd *d, uid_t uid, uint64_t now_ns);
/* May the log have one more line about this user now? *ret_left_out: lines that it did not get since the last. */
bool etwd_share_log_line(struct etwd *d, uid_t uid, uint64_t now_ns, uint64_t *ret_left_out);
void etwd_share_tick(struct etwd *d, uint64_t now_ns);
void etwd_share_finish(struct etwd *d);

/* ---- connections ----------------------------------------------------------------------------- */

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

/* ---- descriptors of strangers ----------------------------------------------------------------- */

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

/* ---- dispatch -------------------------------------------------------------------------------- */

#define ETWD_CUT_OFF_TEXT "descriptors that processes of this user passed do not let themselves be closed"
/* One message as received. Takes the fds, which are of files in memory. */
void etwd_dispatch(struct etwd *d, struct conn *c, const uint8_t *p, size_t n, int *fds, int fd_count);

/* ---- provider processes ---------------------------------------------------------------------- */

#define CTL_CLASSES 5u /* tables of 4, 8, 16, 32, 64 rows */

/* Offsets in use inside one control block. The block itself is never read back. */
struct ctl_heap {
	uint8_t *mem;
	uint32_t bump;
	struct {
		uint32_t *at;
		uint32_t count, cap;
	} free[CTL_CLASSES + 1]; /* the last one: entries */
};
int etwd_ctl_create(struct etwd *d, struct ctl_heap *h, int *ret_fd);
void etwd_ctl_destroy(struct ctl_heap *h);
int etwd_ctl_entry_alloc(struct ctl_heap *h, uint32_t *ret_offset);
void etwd_ctl_entry_free(struct ctl_heap *h, uint32_t offset);
int etwd_ctl_table_alloc(struct ctl_heap *h, unsigned class, uint32_t *ret_offset);
void etwd_ctl_table_free(struct ctl_heap *h, unsigned class, uint32_t offset);
/* The process's helper sleeps on a word in there: something waits for it on its socket, or an entry
 * changed in a way that it has to prepare for. */
void etwd_ctl_ring(struct ctl_heap *h);

struct process {
	LIST_ENTRY(process) link;
	struct conn *conn; /* NULL once dead */
	struct source pidfd;
	pid_t pid;
	uid_t uid;
	bool dead;          /* to be drained for the last time and dropped */
	bool drained_last;  /* that has happened */
	bool quarantined;   /* broke the rules too often: behaves as disabled */
	bool eager;         /* its pool is to grow ahead of need, when there is time */
	uint32_t described; /* modules it told of */
	bool foreign_pids;  /* lives in another pid namespace: thread ids need translation */
	uint32_t terminal_session;
	uint64_t start_key;
	uint64_t traits_until_ns; /* it registered lately and may still say its traits */
	uint8_t pool_id[16];
	char exe[256]; /* file name, attested by /proc */
	struct ctl_heap ctl;
	struct pool_view *view; /* NULL until the first enable */
	void *segment[POOL_SEGMENTS_MAX];
	uint64_t segment_bytes[POOL_SEGMENTS_MAX];
	uint32_t segment_count;
	uint64_t pool_bytes;

	struct registration **reg; /* by index */
	uint32_t reg_cap;
	uint32_t reg_live;

	/* Session bits. An owner keeps its bit until somebody else needs it, so that a late loss
	 * still finds it. */
	struct session *bit_owner[POOL_SESSION_BITS];
	uint32_t bit_uses[POOL_SESSION_BITS];
	uint32_t bit_next;

	uint64_t lost_at_ns; /* last time losses were taken */
	uint64_t lost_cause_seen[8];
	uint64_t rejected_seen;
	uint64_t torn_seen;
	struct fair *fair; /* by session bit, see etwd_fair.h; NULL: it wrote nothing yet */
	uint64_t lost_total;
	uint64_t disbelieved; /* losses that it claimed after its counters were seen to lie */
	uint64_t lost_cpu_ns; /* processor time that it had had when it lost something last */
	bool lied;
	uint64_t violations_at_ns;
	uint64_t violations_base;
	struct thread_map *threads;   /* see etwd_thread.c */
	struct image_list *images;    /* NULL: it told none */
	uint64_t since_raw, since_ns; /* HELLO */

	/* A ghost: the pool of an earlier etwd, drained once more. See etwd_adopt.c. */
	struct process *heir; /* NULL: an ordinary process */
	uint64_t adopted_ns;
	uint64_t adopted_events, adopted_unclaimed, adopted_lost;
	struct reply_to adopt_reply;
};

void etwd_process_hello(struct etwd *d, struct conn *c, const struct proto_message *m);
/* The connection or the process ended. It is drained and freed by the next pass. */
void etwd_process_gone(struct etwd *d, struct process *p);
void etwd_process_destroy(struct etwd *d, struct process *p);
int etwd_process_ready_pool(struct etwd *d, struct process *p); /* before its first enable */
/* Once a turn: an enable of many processes is not held up by making room for their first bursts. */
#define ETWD_EAGER_A_TURN 8u
void etwd_process_grow_some(struct etwd *d);
void etwd_process_grow(struct etwd *d, struct process *p, const struct pool_view_stats *st);
/* Unique per process and boot; 0 when no such process lives. */
uint64_t etwd_process_start_key(uint32_t pid);
void etwd_process_quarantine(struct etwd *d, struct process *p);
/* The id of a thread of that process in our pid namespace, as far as it is known; in a pass. */
uint32_t etwd_thread_id(struct etwd *d, struct process *p, uint32_t theirs);
void etwd_thread_prepare(struct etwd *d, struct process *p); /* before its first enable */
void etwd_thread_forget(struct process *p);
/* Bit of a session in a process; takes one use. */
uint32_t etwd_process_bit_get(struct etwd *d, struct process *p, struct session *s);
void etwd_process_bit_put(struct process *p, uint32_t bit);

/* fds stay the caller's. */
void etwd_adopt(struct etwd *d, struct conn *c, const struct proto_message *m, const int *fds, int count);
/* May this ghost be drained (for good) in a pass now? */
bool etwd_adopt_ready(struct etwd *d, struct process *ghost, uint64_t now_ns);
void etwd_adopt_heir_gone(struct etwd *d, struct process *heir);
void etwd_adopt_done(struct etwd *d, struct process *ghost); /* before it is destroyed */
uint64_t etwd_session_name_hash(const struct session *s);

/* ---- enables and registrations ----------------------------------------------------------------
 */

#define ETWD_PROPERTIES_KNOWN 0xFFFu /* EVENT_ENABLE_PROPERTY_*, all of them */

/* What one EnableTraceEx2 call asked for. Immutable and shared by every config that refers to it.
 */
struct enable_args {
	uint32_t refs;
	uint8_t level;
	uint32_t properties; /* EVENT_ENABLE_PROPERTY_* */
	uint64_t any, all;   /* any: as given; 0 means everything */
	uint64_t since_ts;   /* raw clock: when it was asked for */
	struct guid source_id;
	struct guid provider;        /* or group */
	struct filter_select select; /* points into raw */
	bool has_pids, has_exes, has_packages;
	uint32_t pid_count;
	uint64_t pid_key[8];     /* start keys; 0: did not live when asked */
	char exes[1024 * 3 + 1]; /* ";"-separated UTF-8 */
	bool has_containers;
	char containers[1024 * 3 + 1]; /* likewise */
	uint32_t raw_count;
	struct {
		uint32_t type, bytes;
		uint8_t *data;
	} raw[ETWD_FILTERS_MAX];
};
/* Into args whose properties are read. 0, -EINVAL, -ENOMEM, -EOPNOTSUPP; d says which filter. */
int etwd_filter_parse(const struct proto_message *m, struct enable_args *a, struct diag *diag);
void etwd_enable_args_unref(struct enable_args *a);
/* The process belongs to one of these containers or control groups (etwd_container.c). */
bool etwd_container_matches(const char *list, const char *path); /* for tests */
bool etwd_container_listed(const char *list, const struct process *p);
bool etwd_filter_scope(const struct enable_args *a, const struct process *p);
/* Per-event part, after level and keywords. schema: TraceLogging metadata item's data, or NULL. */
bool etwd_filter_event(const struct enable_args *a, const struct pool_event *ev, const uint8_t *schema,
		       uint32_t schema_bytes);
bool etwd_filter_stack(const struct enable_args *a, const struct pool_rec *rec, const uint8_t *schema,
		       uint32_t schema_bytes);

struct enable {
	struct provider *provider;
	struct session *session;
	struct enable_args *args;
	uint64_t order; /* most recent enabler has the highest */
	uint64_t bytes; /* charged to the session's user */
	LIST_ENTRY(enable) of_provider;
	LIST_ENTRY(enable) of_session;
};

/* A GUID that is registered, enabled, or a group's. */
struct provider {
	struct guid guid;
	LIST_ENTRY(provider) bucket;
	LIST_HEAD(, registration) regs;
	LIST_HEAD(, registration) members; /* registrations whose traits name this GUID as group */
	LIST_HEAD(, enable) enables;
	/* What a controller called it; shown while no registration says better. Heap or NULL. */
	char *name;
};

/* A registration that was, whether or not its process still is. */
enum { ETWD_RECENT_MAX = 128 };
struct recent {
	uint64_t number;         /* they are counted from 1; 0: none */
	struct guid guid, group; /* group: zeros when it is in none */
	pid_t pid;
	uid_t uid;
	char name[128], exe[64]; /* name: of the traits, or "" */
};

enum route_flags {
	ROUTE_IGNORE_KEYWORD_0 = 1u << 0,
	ROUTE_EXCLUDE_INPRIVATE = 1u << 1,
	ROUTE_FILTERED = 1u << 2, /* args has per-event filters */
	ROUTE_STACK = 1u << 3,    /* wants stacks */
	ROUTE_STACK_FILTERED = 1u << 4,
	ROUTE_EXTRA_ITEMS = 1u << 5, /* wants items that we add */
};
struct route_row {
	struct session *session;  /* ref */
	struct enable_args *args; /* ref */
	uint64_t any, all;        /* any: never 0 */
	uint8_t bit, level;
	uint16_t flags;
	uint32_t properties;
};
/* Meaning of one generation of a registration's filter table. */
struct config {
	struct config *older;
	uint64_t retired_ts; /* raw clock; UINT64_MAX while it is the current one */
	uint32_t gen;
	uint32_t rows;
	bool fast;             /* no row needs a look beyond level, keywords and the payload */
	struct traits *traits; /* ref; NULL none */
	uint8_t head[0x50];    /* EVENT_HEADER with all that does not change: type, pid, GUID */
	struct route_row row[];
};
struct traits {
	uint32_t refs;
	uint32_t bytes;
	uint8_t data[];
};

struct registration {
	struct process *process;
	struct provider *provider; /* NULL once unregistered */
	struct provider *group;    /* NULL: none */
	LIST_ENTRY(registration) of_provider;
	LIST_ENTRY(registration) of_group;
	struct guid guid;
	uint32_t index;
	uint32_t flags; /* enum proto_reg_flags */
	uint32_t entry; /* offset in the control block */
	uint32_t gen;
	uint32_t table[2];
	int table_class[2];    /* -1 none */
	uint32_t next_table;   /* the one the next publish writes */
	struct config *config; /* current; NULL before the first publish */
	uint32_t history;
	struct traits *traits;
	char *binary; /* UTF-8 path; NULL: not told */
	char name[256];
};

struct provider *etwd_provider_find(struct etwd *d, const struct guid *g, bool create);
void etwd_provider_release(struct etwd *d, struct provider *p); /* frees it when nothing refers to it */

void etwd_register(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_unregister(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_traits(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_binary_track(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Tell a session that has just enabled it. */
/* A module of this process describes its events: a copy goes where decoders look. */
void etwd_described(struct etwd *d, struct conn *c, const struct proto_message *m);
/* For jobs: waits until what was told so far is in its place, but not for ever. */
void etwd_described_wait(void);
/* A process says which images it has mapped. */
void etwd_images(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Before a record with this stack (item data) goes to the session: it is told what the process has mapped. `ts` is the
 * record's, of the raw clock. */
void etwd_images_stack(struct etwd *d, struct process *p, struct session *s, uint16_t cpu, uint64_t ts,
		       const uint8_t *stack, uint32_t bytes);
void etwd_images_gone(struct etwd *d, struct process *p);
/* A file was opened, a consumer came: what follows explains itself. The first on any thread. */
void etwd_images_file(struct session *s);
void etwd_images_anew(struct session *s);
/* What is in memory has to be explained in a copy, by etwd_images_again() after sink_flush_held(). */
bool etwd_images_explain(const struct session *s);
void etwd_images_again(struct etwd *d, struct session *s);
void etwd_images_stop(struct etwd *d, struct session *s); /* its last records */
void etwd_images_forget(struct etwd *d, struct session *s);
/* Files of sessions: what their events mean is written into them. Once, before sessions; takes care of
 * those an earlier etwd left. Without it (in tests) nothing happens. */
void etwd_embed_start(struct etwd *d);
void etwd_embed_on_file(void *session, const char *path, enum sink_file_event event);
/* For jobs: the last file of a session whose sink has ended. */
void etwd_embed_last(const char *path, bool by_controller);
/* For jobs: until nothing is under way, or nothing of an earlier etwd's, but not for ever. */
void etwd_embed_wait(bool left_only);
/* For jobs: until nothing is done to that file, but not for ever. */
void etwd_embed_wait_for(const char *path);
void etwd_binary_write(struct etwd *d, struct session *s, const struct registration *r);
void etwd_registration_destroy(struct etwd *d, struct registration *r);

void etwd_enable(struct etwd *d, struct conn *c, const struct proto_message *m);
/* What processes that register from now on find wanted. */
void etwd_publish_wanted(struct etwd *d);
void etwd_enable_remove_session(struct etwd *d, struct session *s);
/* Compute and publish a registration's rows. True when it is enabled afterwards. */
bool etwd_enable_publish(struct etwd *d, struct registration *r);
/* Some enable of this session applies to that registration. */
bool etwd_enable_reaches(struct etwd *d, const struct registration *r, const struct session *s);
struct enable_merge {
	uint8_t level;
	uint64_t any, all;
	uint32_t sessions;
	struct session *classic;
};
void etwd_enable_merge(const struct registration *r, struct enable_merge *ret);
/* The tags of a NOTIFY for the present state; or, with `only`, for the wish of session `of`. */
void etwd_enable_put(struct proto_writer *w, const struct registration *r, uint32_t code, const struct guid *source,
		     const struct enable_args *only, const struct session *of);
void etwd_notified(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Notifications that can no longer be answered. */
void etwd_notify_forget(struct etwd *d, struct process *p);
void etwd_pending_tick(struct etwd *d, uint64_t now_ns);
void etwd_config_free(struct etwd *d, struct process *p, struct config *c);

/* ---- sessions -------------------------------------------------------------------------------- */

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
	struct guid guid;
	uint16_t *name, *log_file;   /* terminated; log_file may be NULL */
	char *path;                  /* may be NULL */
	char *last_file;             /* what the sink closed last, when it has ended */
	char *spool;                 /* where a real-time backlog may lie; may be NULL */
	char *keep;                  /* where it outlives etwd; may be NULL */
	char label[128];             /* for the log */
	struct sink_options options; /* its props as asked for, adjusted; guid, mode and clock are below */
	struct sink *sink;           /* NULL unless RUNNING or STOPPING */
	struct sink_stats stats;
	uint32_t clock;
	uint32_t flags, latency_us;
	uint32_t mode;
	uint64_t start_ns;
	uint64_t loss[PROTO_LOSS_COUNT]; /* what the sink does not know */
	uint32_t sequence;               /* TraceMessage */
	struct {                         /* who writes how much, see etwd_fair.h */
		uint64_t at_ns, bytes, bytes_before;
		uint32_t epoch, writers, writers_before;
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
	struct session_kernel *kernel; /* NULL: cannot have kernel events */
	/* Images, see etwd_images.c: what was said under this number, since when, with which file, and, when it is
	 * needed again, of whom. */
	uint64_t images_serial, images_since_ns, images_records;
	uint32_t files_opened, images_files; /* the first one counts up on any thread */
	struct image_list **images_told;
	uint32_t images_told_count;
};
/* struct session.clock beside 1, 2, 3: nanoseconds of CLOCK_MONOTONIC on a machine whose raw clock is
 * another; of sessions with kernel events, which come in that time. To the outside it is 1. */
#define SESSION_CLOCK_SYSTEM 4u
static inline bool etwd_session_raw(const struct session *s)
{
	return s->clock != 2 && s->clock != SESSION_CLOCK_SYSTEM;
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

/* ---- private sessions --------------------------------------------------------------------------- */

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

/* ---- autologgers ------------------------------------------------------------------------------ */

/* Start the sessions of the configuration files. Their mistakes are only logged. */
void etwd_autolog_start(struct etwd *d);

/* ---- other programs ------------------------------------------------------------------------------- */

/* May this one be executed; one of that name at these places (NULL ends), relative to
 * etwd's own; the command `openetw`. */
bool etwd_program_usable(const char *path);
bool etwd_program_find(const char *name, const char *const *places, char *out, size_t cap);
bool etwd_program_find_cli(char *out, size_t cap);
/* For jobs: runs it, in a session of its own, without terminal, with `file` (-1: none) as descriptor 3; its exit
 * status, or a negative errno. */
int etwd_program_run(const char *program, char *const *argv, char *const *env, int file);

/* ---- saved collectors that begin at a time ------------------------------------------------------ */

void etwd_schedule_start(struct etwd *d);
void etwd_schedule_reload(struct etwd *d, struct conn *c, const struct proto_message *m);
bool etwd_schedule_pending(const struct etwd *d);                  /* then etwd stays */
void etwd_schedule_ended(struct etwd *d, const struct session *s); /* its command */
void etwd_schedule_finish(struct etwd *d);
/* FILETIME of the next time after `now`, or 0. Daily: at that time of day in the local zone. */
uint64_t etwd_schedule_next(uint64_t begin, bool daily, uint64_t now);

/* ---- kernel events, see etwd_kernel.h ---------------------------------------------------------- */

int etwd_kernel_init(struct etwd *d);
void etwd_kernel_finish(struct etwd *d);
/* What a START says of kernel events, into the session. Win32 code; *ret_why says more. */
uint32_t etwd_kernel_read(struct etwd *d, struct conn *c, const struct proto_message *m, const struct proto_session *p,
			  struct session *s, const char **ret_why);
void etwd_kernel_free(struct session *s);
/* The session wishes something: `job` creates its sink once there is a collector. False: nothing is
 * needed, start the job. */
bool etwd_kernel_begin(struct etwd *d, struct session *s, struct job *job);
/* It has its sink. False: nothing is needed; else etwd_session_running or _refuse will be called. */
bool etwd_kernel_attach(struct etwd *d, struct session *s);
/* No more kernel events. While it holds, closing rundowns are under way. */
void etwd_kernel_stop(struct etwd *d, struct session *s);
bool etwd_kernel_holds(const struct session *s);
/* A copy of what is in memory needs what explains the kernel's events in it. Then it is begun with sink_flush_held(),
 * and completed, and the request answered, when the collector has said it. */
bool etwd_kernel_explains(const struct etwd *d, const struct session *s);
void etwd_kernel_explain(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s);
/* UPDATE with other flags. True: taken, and answered later. */
bool etwd_kernel_update(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			const struct proto_session *p, uint32_t *ret_code, const char **ret_why);
/* ENABLE of a system provider. True: it is one, and is answered. */
bool etwd_kernel_enable(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			const struct guid *g, uint32_t control, const struct enable_args *a);
/* SET_INFO, QUERY_INFO. True: a class of the kernel's, and it is answered. */
bool etwd_kernel_set_info(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			  uint32_t class, const uint8_t *p, size_t n);
bool etwd_kernel_query_info(struct etwd *d, struct conn *c, const struct proto_message *m, struct session *s,
			    uint32_t class);
void etwd_kernel_put(struct etwd *d, const struct session *s, struct proto_writer *w);
uint32_t etwd_kernel_flags(const struct session *s);
uint64_t etwd_kernel_drain(struct etwd *d);
uint32_t etwd_kernel_fill(const struct etwd *d);
/* The time up to which nothing can come any more, in the session's clock. */
uint64_t etwd_kernel_watermark(const struct etwd *d, const struct session *s, uint64_t time);
void etwd_kernel_tick(struct etwd *d, uint64_t now_ns);
void etwd_kernel_stats(const struct etwd *d, struct strbuf *b); /* JSON members */

/* ---- drain ----------------------------------------------------------------------------------- */

int etwd_drain_init(struct etwd *d);
void etwd_drain_finish(struct etwd *d);
/* A pass now. flags: enum pool_pass_flags. */
void etwd_drain_pass(struct etwd *d, uint32_t flags);
void etwd_drain_bell(struct etwd *d);
/* Milliseconds until the next pass; -1: none is needed. */
int etwd_drain_wait_ms(struct etwd *d, uint64_t now_ns);
void etwd_drain_losses(struct etwd *d, struct process *p);
void etwd_drain_bit_losses(struct etwd *d, struct process *p, uint32_t bit, uint64_t elapsed_ns, enum proto_loss cause);
/* Session clock of a raw tick, and of a time of CLOCK_MONOTONIC. */
uint64_t etwd_session_time(const struct etwd *d, const struct session *s, uint64_t raw);
uint64_t etwd_session_time_ns(const struct etwd *d, const struct session *s, uint64_t ns);
void etwd_session_lost(struct session *s, uint64_t n, enum proto_loss cause, bool counts);

/* pool_emit_run_fn; ctx is the daemon, cookie the process. */
uint64_t etwd_route_run(void *ctx, void *cookie, const uint8_t *at, const uint8_t *end);
/* One record, whatever it is. */
void etwd_route(struct etwd *d, const struct pool_event *ev);
const struct config *etwd_config_find(const struct registration *r, uint16_t gen);
static inline bool etwd_row_matches(const struct route_row *row, const struct pool_rec *rec)
{
	if (row->level != 0 && rec->level > row->level) {
		return false;
	}
	if (rec->keyword == 0) {
		return !(row->flags & ROUTE_IGNORE_KEYWORD_0);
	}
	return (rec->keyword & row->any) != 0 && (rec->keyword & row->all) == row->all;
}

/* After the emission, before commit: sessions with one stream for all processors, in order of time.
 */
void etwd_route_deferred(struct etwd *d);

/* ---- real time ------------------------------------------------------------------------------- */

struct consumer {
	struct conn *conn;
	struct session *session;
	LIST_ENTRY(consumer) link;
	uint8_t *ring;
	uint64_t ring_bytes;
	uid_t uid; /* who pays for it */
	uint32_t slots, slot_bytes;
	uint64_t sent, acked; /* sequence numbers; the first buffer is 1 */
	uint64_t lost_events, lost_buffers;
	uint64_t base_events, base_buffers; /* the session's own losses when it came */
};
void etwd_realtime_open(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_realtime_ack(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_realtime_close(struct etwd *d, struct consumer *k);
bool etwd_realtime_deliver(void *ctx, const uint8_t *buf, uint32_t bytes, uint16_t cpu);
/* After a pass: tell everybody how far the delivery has come. */
void etwd_realtime_round(struct etwd *d, struct session *s, uint64_t watermark, uint64_t now_ns);
void etwd_realtime_end(struct etwd *d, struct session *s);

/* ---- lists ----------------------------------------------------------------------------------- */

void etwd_query_guids(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_guid_info(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Takes the name a message says, unless the provider has one: others might want to mislead. */
void etwd_provider_name(struct provider *p, const struct proto_message *m);
void etwd_name_provider(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_stats(struct etwd *d, struct conn *c, const struct proto_message *m);
/* Registrations of the last time: noted when they come and when they say their names. */
void etwd_recent_note(struct etwd *d, const struct registration *r);
void etwd_query_recent(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_query_processes(struct etwd *d, struct conn *c, const struct proto_message *m);

#define ETWD_ENABLE_INFO_BYTES 32u
void etwd_query_enable_info(uint8_t out[ETWD_ENABLE_INFO_BYTES], const struct session *s, const struct enable_args *a);

/* ---- information classes --------------------------------------------------------------------- */

void etwd_info_set(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_info_query(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_info_reply(struct etwd *d, struct conn *c, const struct proto_message *m, const void *p, size_t n);
void etwd_info_tick(struct etwd *d, struct session *s, uint64_t now_ns);
bool etwd_guid_listed(const struct guid_list *l, const struct guid *g);
/* Ask every registration of this GUID that the session has for a rundown. */
void etwd_enable_capture(struct etwd *d, struct session *s, const struct guid *g);

/* ---- rights ---------------------------------------------------------------------------------- */

int etwd_access_load(struct etwd *d);
void etwd_access_finish(struct etwd *d);
void etwd_access_set(struct etwd *d, struct conn *c, const struct proto_message *m);
void etwd_access_query(struct etwd *d, struct conn *c, const struct proto_message *m);
/* The peer of c has all of these rights on the GUID. */
bool etwd_access_allows(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights);
/* The same by an entry of this very GUID that says so. */
bool etwd_access_grants(struct etwd *d, const struct guid *g, const struct conn *c, uint32_t rights);
bool etwd_access_listed(struct etwd *d, const struct guid *g);

/* ---- the daemon ------------------------------------------------------------------------------ */

#define ETWD_BUCKETS 4096u

struct pending;
struct access;
struct taker;
struct user;
struct etwd {
	char dir[512];
	struct proto_wait_page *wait_page; /* NULL: processes are not told what is wanted */
	bool system;
	bool exiting;
	uid_t uid;
	uint32_t idle_exit_s; /* 0: never */
	uint32_t cpus;
	int log_fd;
	bool log_is_file;
	uint64_t log_bytes;
	int epoll;
	struct source listeners[2];
	bool listeners_carry; /* descriptors may come over new connections */
	bool foreign_waits;
	int take_ms;
	LIST_HEAD(, taker) takers;
	struct source signals;
	struct source jobs_done;
	void *job_lock; /* pthread_mutex_t: the only one; guards done_jobs */
	STAILQ_HEAD(, job) done_jobs;
	uint32_t jobs_running;
	struct schedule *schedule;     /* NULL: there is none */
	struct private_side *privates; /* NULL: there never was one */

	LIST_HEAD(, user) users;
	uint64_t share_all[SHARE_COUNT], share_users[SHARE_COUNT]; /* the latter without root's */
	uint64_t share_tick_ns;

	struct guid instance;
	uint64_t bucket_key; /* so that nobody knows which GUIDs share a bucket */
	enum clock_kind clock_kind;
	uint64_t clock_freq;
	/* Session clock 2: raw tick -> FILETIME by one multiplication. */
	uint64_t time_raw, time_ft, time_mult; /* ft += delta * mult >> 32 */
	uint64_t time_checked_ns;
	/* CLOCK_MONOTONIC at two moments: that of the last pass as a raw tick, and that of time_raw. */
	uint64_t system_raw, system_ns, time_ns;
	struct kernel_side *kernel;

	TAILQ_HEAD(, conn) conns;
	uint32_t conn_count, control_count;
	uint32_t throttled_count;
	uint64_t strangers_at_ns;
	LIST_HEAD(, process) processes;
	LIST_HEAD(, scan_job) scans; /* of thread ids */
	uint32_t scan_count;
	uint32_t process_count, dead_count;
	uint32_t eager_count, eager_left;
	LIST_HEAD(, provider) bucket[ETWD_BUCKETS];
	struct recent recent[ETWD_RECENT_MAX];
	uint64_t recent_number; /* of the last one */

	struct session *session[ETWD_SESSIONS_MAX + 1]; /* by id; 0 unused */
	uint32_t session_count;
	uint32_t session_next;
	uint64_t session_end_ns; /* when the last one ended */
	uint64_t enable_order;
	uint32_t sequence; /* TraceMessage, global */
	LIST_HEAD(, access) access;
	uint32_t access_count;
	uint64_t event_key;

	TAILQ_HEAD(, pending) pending;
	uint32_t notify_id;

	struct pool_pass *pass;
	bool in_pass;
	bool drain_now;
	bool hurry; /* some pool is more than half full: the next pass holds nothing back */
	struct deferred *deferred;
	uint32_t deferred_count, deferred_cap;
	uint64_t pass_ns; /* when the last one began */
	uint64_t interval_ns;
	uint64_t tick_ns;
	uint64_t watermark; /* raw clock; what the last pass delivered up to */

	uint64_t images_serial, images_dropped;
	uint32_t ghost_count;
	uint64_t adopted_pools, adopted_events, adopted_unclaimed, adopted_lost;
	uint64_t events, passes, messages, bad_messages, rejected_connections, late_events;
	uint64_t session_tick_ns;
	uint8_t *recv_buf; /* 8-aligned, PROTO_MESSAGE_MAX */
	uint8_t *send_buf;
	uint8_t *settle_buf; /* recv_buf may hold the message whose handler wants the pass */
};

/* Everything but sockets, lock and signals. 0 or -errno. */
int etwd_create(struct etwd **ret, bool system);
void etwd_destroy(struct etwd *d);

#endif
