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
 * Headers, by noun: etwd_loop.h, etwd_conn.h, etwd_share.h and etwd_limits.h; etwd_process.h, etwd_provider.h
 * (registrations, enables), etwd_explain.h; etwd_session.h, etwd_schedule.h, etwd_realtime.h, etwd_private.h; etwd_route.h
 * and etwd_fair.h; etwd_query.h; etwd_kernel.h. Here is only what they all stand in: struct etwd.
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
#include "base/map.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_loop.h"
#include "etwd/etwd_query.h"
#include "etwd/etwd_share.h"

#include <sys/queue.h>

struct conn;
struct deferred;
struct etwd_kernel_side;
struct pool_pass;
struct private_side;
struct process;
struct proto_wait_page;
struct provider;
struct scan_job;
struct schedule;
struct session;

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
	enum clock_kind clock_kind;
	uint64_t clock_freq;
	/* Session clock 2: raw tick -> FILETIME by one multiplication. */
	uint64_t time_raw, time_ft, time_mult; /* ft += delta * mult >> 32 */
	uint64_t time_checked_ns;
	/* CLOCK_MONOTONIC at two moments: that of the last pass as a raw tick, and that of time_raw. */
	uint64_t system_raw, system_ns, time_ns;
	struct etwd_kernel_side *kernel;

	TAILQ_HEAD(, conn) conns;
	uint32_t conn_count, control_count;
	uint32_t throttled_count;
	uint64_t strangers_at_ns;
	LIST_HEAD(, process) processes;
	LIST_HEAD(, scan_job) scans; /* of thread ids */
	uint32_t scan_count;
	uint32_t process_count, dead_count;
	uint32_t eager_count, eager_left;
	struct map providers; /* by GUID */
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
