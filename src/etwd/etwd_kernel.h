/* SPDX-License-Identifier: MIT
 *
 * Kernel sessions: what they want, and the collector process that supplies it.
 *
 * A session is one for kernel events by its name ("NT Kernel Logger", "Circular Kernel Context
 * Logger") or by EVENT_TRACE_SYSTEM_LOGGER_MODE. It has a wish: group masks, from EnableFlags and from
 * system providers, hooks with stacks, processes. While any session wishes something, one collector
 * (openetw-kernel) runs as our child. Requests to it are calls; each comes back once, or fails when it
 * dies. Killed, it is started again and told the wishes of all running sessions; what happened in
 * between is missing and counted.
 *
 *   etwd_kernel.c       wishes, and the requests that change them
 *   etwd_collector.c    the process, its calls
 *   etwd_kernel_ring.c  its records into the sessions' buffers
 */
#ifndef ETWD_ETWD_KERNEL_H
#define ETWD_ETWD_KERNEL_H

#include "etwd/etwd_conn.h"
#include "etwd/etwd_loop.h"
#include "proto/proto_kernel.h"

/* ---- for the rest of etwd -------------------------------------------------------------------- */

struct enable_args;
struct etwd_kernel_side;
struct session;

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

/* ---- wishes ----------------------------------------------------------------------------------- */

#define ETWD_KERNEL_SOURCES_SET   64u
#define ETWD_KERNEL_PROVIDERS_MAX 20u /* system providers there are, and some */

struct etwd_kernel_wish {
	struct kernel_mask base; /* EnableFlags, TraceSystemTraceEnableFlagsInfo */
	struct {
		struct guid guid;
		struct kernel_mask mask;
		bool stacks;
	} provider[ETWD_KERNEL_PROVIDERS_MAX];
	uint32_t providers;
	uint16_t stack[KERNEL_STACKS_MAX];
	uint32_t stacks;
	uint32_t pid[8];
	uint32_t pids;
	/* Counters (pmc/pmc.h), and the hooks whose records have their values. */
	uint32_t counter[PMC_COUNTERS_MAX], counters;
	uint16_t counted[PMC_EVENTS_MAX];
	uint32_t counteds;
};

struct etwd_session_kernel {
	struct etwd_kernel_wish wish;
	int slot;      /* -1: the collector does not know it */
	bool confined; /* a user's: that user's processes only */
	uint32_t uid;
	bool removing;
	uint32_t explaining; /* copies of what is in memory that wait for what explains it */
	uint32_t restarts;   /* of the collector, under this session */
	/* How many events there are in a second, in the last one that was whole; for what is missed while
	 * no collector runs. */
	uint64_t events, rate, rate_events, rate_since;
	uint64_t gap_since; /* nothing is recorded since then; 0: it is */
	char note[512];     /* what is missing, and why; "": nothing */
};

/* What a wish comes to. */
void etwd_kernel_wish_mask(const struct etwd_kernel_wish *w, struct kernel_mask *ret);

/* The same of a session, with what must be there beside it. */
void etwd_kernel_session_mask(const struct etwd_session_kernel *k, struct kernel_mask *ret);

/* ---- counters and sources of samples (etwd_pmc.c) ------------------------------------------------ */

/* What samples are taken by, into a message to the collector. */
void etwd_kernel_fill_sampled(const struct etwd_kernel_side *k, struct proto_kernel_message *m);
/* The interval of a source that exists. */
uint32_t etwd_kernel_source_interval(const struct etwd_kernel_side *k, const struct pmc_source *s);
void etwd_kernel_set_source_interval(struct etwd_kernel_side *k, uint32_t source, uint32_t interval);
/* Counters, events with counters, sources: into the wish or the machine's settings. Win32 code, with the reason
 * in `why`. */
uint32_t etwd_kernel_set_counters(struct etwd_kernel_wish *w, const uint8_t *p, size_t n, char *why, size_t cap);
uint32_t etwd_kernel_set_counted(struct etwd_kernel_wish *w, const uint8_t *p, size_t n, char *why, size_t cap);
uint32_t etwd_kernel_set_sources(struct etwd_kernel_side *k, const uint8_t *p, size_t n, char *why, size_t cap);
/* ETW_PMC_COUNTER_OWNERSHIP_STATUS and ETW_PMC_SESSION_INFO of the sessions that this caller may see. */
void etwd_kernel_put_owners(const struct etwd *d, const struct conn *c, struct strbuf *b);
void etwd_kernel_put_counting(const struct etwd *d, const struct conn *c, struct strbuf *b);

/* ---- calls ------------------------------------------------------------------------------------ */

struct etwd_kernel_call;
typedef void (*etwd_kernel_call_fn)(struct etwd *d, struct etwd_kernel_call *call, int result,
				    const struct proto_kernel_message *m, const char *why);
struct etwd_kernel_call {
	STAILQ_ENTRY(etwd_kernel_call) link;
	etwd_kernel_call_fn done; /* m: the answer, NULL when there is none; frees nothing */
	uint32_t type;            /* PROTO_KERNEL_OPEN: only waits until the collector is ready */
	uint32_t id;
	bool sent;
	uint64_t since_ns;
	uint32_t interval_us;
	struct session *session; /* ref; may be NULL */
	struct reply_to reply;
	struct job *job;                /* to start when done */
	struct proto_kernel_left left;  /* of a ring that is explained, or closed */
	struct etwd_kernel_wish before; /* to go back to when it fails */
};
/* Heap; takes a reference on the session. NULL: no memory. */
struct etwd_kernel_call *etwd_kernel_call_create(uint32_t type, struct session *s, etwd_kernel_call_fn done);
/* Starts the collector when there is none; the call may be done before this returns. */
void etwd_kernel_call_start(struct etwd *d, struct etwd_kernel_call *call);
/* Calls of the session that have not been sent: failed. */
void etwd_kernel_call_drop(struct etwd *d, struct session *s);

/* ---- the collector ----------------------------------------------------------------------------- */

struct collector {
	struct source socket, child; /* child: readable when it has ended (etwd_start.h) */
	pid_t pid;
	int pidfd;   /* -1: this kernel has none */
	bool open;   /* has its engine */
	bool gone;   /* its end has been seen to; freed when its process has ended */
	bool ending; /* told to go */
	bool killed; /* it did not answer */
	struct proto_kernel_ring_head *head;
	uint8_t *data;
	uint64_t tail;
	struct session *slot[PROTO_KERNEL_SLOTS];
	uint64_t lost_seen[PROTO_KERNEL_SLOTS];
	struct collector *next; /* among those that are ending */
};

struct etwd_kernel_side {
	struct collector *collector; /* NULL: none */
	struct collector *ending;
	STAILQ_HEAD(, etwd_kernel_call) calls;
	uint32_t call_id;
	uint32_t interval_us; /* between samples */
	/* Beside the timer: intervals that were set, and what samples are taken by. */
	struct {
		uint32_t source, interval;
	} set[ETWD_KERNEL_SOURCES_SET];
	uint32_t sets;
	uint32_t sampled[PMC_SAMPLED_MAX], sampleds;
	uint32_t deaths;   /* of the last minute */
	uint64_t death_ns; /* when that began */
	uint32_t restarts;
	uint64_t events, rejected;
	uint64_t watermark; /* ns: everything until then has been delivered */
};

/* Everything up to the collector's head into the sessions; how many. */
uint64_t etwd_kernel_ring_drain(struct etwd *d, struct collector *c);
/* How full, in 1/256. */
uint32_t etwd_kernel_ring_fill(const struct collector *c);
/* Running sessions are to be told to a new collector. */
void etwd_kernel_resume(struct etwd *d);
/* The collector has ended under this session. */
void etwd_kernel_session_orphan(struct etwd *d, struct session *s, const char *why);

#endif
