/* SPDX-License-Identifier: MIT
 *
 * What went wrong in a trace: the first lines of report.
 *
 * The pass that makes report's tables also adds up, for each thread, the time that it lost to each of six causes:
 * locks, flushing files, other processes on its processor, page faults, answers of peers, garbage collection. Each
 * cause is a file of its own, report_cause_*.c. When all events are read it says what it found; the findings that
 * cost most time are printed. docs/causes.md says how each cause is recognised, and what its limits are.
 *
 * Times are in units of 100 ns, as the events' are. Memory grows with the number of threads, connections and
 * different addresses in stacks, not with the length of the trace.
 */
#ifndef TOOLS_OPENETW_REPORT_CAUSE_H
#define TOOLS_OPENETW_REPORT_CAUSE_H

#include "base/map.h"
#include "tools/tables/function_names.h"
#include "tools/tables/kernel_event.h"

#define CAUSES_SHOWN 3          /* lines */
#define CAUSE_MOST   (1u << 22) /* threads, connections, pairs */
#define CAUSE_SLICES 512        /* kept of each processor */
#define CAUSE_CPUS   1024
#define CAUSE_NOBODY UINT32_MAX

/* What the functions of a stack say that its thread does. */
enum {
	CAUSE_IN_LOCK = 1u << 0,   /* takes a lock */
	CAUSE_IN_SIGNAL = 1u << 1, /* waits to be told something: condition variables, ends of threads */
	CAUSE_IN_FLUSH = 1u << 2,  /* fsync and its like */
	CAUSE_IN_FAULT = 1u << 3,
	CAUSE_IN_MEMORY = 1u << 4, /* mmap, munmap and their like */
	CAUSE_IN_GC = 1u << 5,
	CAUSE_IN_SLEEP = 1u << 6,
	CAUSE_IN_SEMAPHORE = 1u << 7, /* which may be a lock, or not: cause_lock_find() */
	CAUSE_IN_FUTEX = 1u << 8,     /* with CAUSE_IN_SEMAPHORE: in no function of a library that is known */
	CAUSE_IN_ACCEPT = 1u << 9,    /* of a Unix socket */
	CAUSE_IN_LOCAL = 1u << 10,    /* waits for what comes over one */
};

enum cause_kind {
	CAUSE_LOCK,
	CAUSE_FLUSH,
	CAUSE_NEIGHBOUR,
	CAUSE_FAULTS,
	CAUSE_PEER,
	CAUSE_GC,
};

struct cause_sum {
	uint64_t time, longest, count;
};

struct cause_thread {
	uint32_t tid, pid;
	uint64_t seen; /* FILETIME: last */
	/* Where it is: */
	uint64_t since; /* it left the processor; 0: it runs, or nobody knows */
	uint64_t ready; /* it could have run from then on; 0: nobody told */
	uint64_t early; /* it was woken then, before the switch away from it was seen; 0: no */
	uint8_t state, by;
	bool told;          /* who ended its wait */
	bool ran, moved;    /* at all; on several processors */
	bool takes_turns;   /* at semaphores */
	bool together;      /* its wait was ended with those of others, by the same thread at the same time */
	uint64_t last_wake; /* it ended a wait then */
	uint32_t last_woken;
	uint32_t cpu;
	uint32_t waker_pid, waker_tid;
	uint64_t call, call_time; /* system call; 0: none */
	/* What became of its time: */
	uint64_t running;
	uint64_t unready; /* it could run and did not */
	struct cause_sum locks, semaphores, fault_waits, flush_waits, flush_calls, flush_ops;
	uint64_t lock_site;             /* of the longest */
	uint64_t lock_from, lock_until; /* its last wait for a lock */
	uint32_t lock_holder;           /* who had it then; 0: not told */
	uint64_t answerable;            /* waits that no timer ended, added up */
	uint64_t answered;              /* how many of these are taken as waits for answers */
	uint64_t last_from, last_until; /* its last wait that was not for a lock, and in what */
	uint32_t last_in;
	uint32_t samples, fault_samples, memory_samples, flush_samples, gc_samples;
	uint64_t faults, hard_faults;
};

struct cause_slice { /* a thread ran */
	uint32_t thread;
	uint64_t from, until;
};
struct cause_cpu {
	bool known;
	uint32_t tid, thread; /* that runs; CAUSE_NOBODY: the idle one */
	uint64_t since;
	uint64_t slices;           /* so far; the last CAUSE_SLICES are kept */
	struct cause_slice *slice; /* NULL: none yet */
};

/* Times between two of whatever the cause says. */
struct cause_pair {
	uint32_t a, b;
	struct cause_sum sum;
};
struct cause_pairs {
	struct cause_pair *pair;
	size_t count, cap;
	struct map of;
};

struct cause_finding {
	enum cause_kind kind;
	uint64_t lost, of;             /* of the time that it was there */
	uint32_t pid, tid;             /* tid CAUSE_NOBODY: the whole process */
	uint32_t other_pid, other_tid; /* who caused it; CAUSE_NOBODY: nobody is named */
	uint64_t time;                 /* when they had these numbers */
	uint64_t count;
	bool recorded; /* of the program that the recorder ran */
	char *text;
};

struct cause_connection;
struct cause_gc;
struct cause_flush;
struct causes {
	struct openetw_state *state;
	const struct names *names;
	struct cause_thread *thread;
	size_t thread_count, thread_cap;
	struct map thread_of; /* by tid */
	struct cause_cpu cpu[CAUSE_CPUS];
	struct map class_of;      /* of the code at an address of a process */
	uint64_t first, last;     /* kernel events, garbage collections */
	uint64_t sample_interval; /* 0: not told */
	uint64_t samples, switches, wakes, stacks, file_ops, net_ops, faults, calls, gc_events;
	struct cause_pairs neighbours; /* a: thread, b: pid that ran instead */
	struct cause_pairs wakers;     /* of waits for locks. a: pid, b: thread that ended them */
	struct cause_pairs handed;     /* waits for semaphores. a: thread, b: thread that ended them */
	struct cause_pairs local;      /* waits for answers over Unix sockets. a: thread, b: pid that ended them */
	struct map server_of;          /* by pids of client and server: 1 */
	struct cause_pairs chains;     /* what these waited for meanwhile. a: pid, b: CAUSE_IN_… */
	struct cause_connection *connection;
	size_t connection_count, connection_cap;
	struct map connection_of;
	struct cause_gc *gc;
	size_t gc_count, gc_cap;
	struct cause_flush *flush; /* operations without an end yet */
	size_t flush_count, flush_cap;
	struct cause_finding *finding;
	size_t finding_count, finding_cap;
	bool failed; /* no memory */
};

/* ---- for report ------------------------------------------------------------------------------------ */

/* NULL: no memory. What it gets has to live as long. */
struct causes *causes_create(struct openetw_state *state, const struct names *names);
void causes_destroy(struct causes *c);
/* Every event. `k`: what it is of the kernel's; NULL: none of those. */
void causes_event(struct causes *c, const EVENT_RECORD *e, const struct kevent *k);
/* Does the trace have anything in which a cause could be seen? */
bool causes_any(const struct causes *c);
/* Of which threads and processes; NULL: of those that matter. The thread may be CAUSE_NOBODY, the name NULL. */
typedef bool (*causes_wanted_fn)(void *context, uint32_t pid, uint32_t tid, const char *process);
/* False: no memory. */
bool causes_print(struct causes *c, causes_wanted_fn wanted, void *context, bool json);

/* ---- for the files of causes ----------------------------------------------------------------------- */

struct cause_thread *cause_thread(struct causes *c, uint32_t tid, uint64_t time); /* NULL: nobody, or no memory */
static inline uint32_t cause_thread_number(const struct causes *c, const struct cause_thread *t)
{
	return (uint32_t)(t - c->thread);
}
/* CAUSE_IN_… of the event's stack. `ret_site`, which may be NULL, gets the address of who called the lock. */
uint32_t cause_stack(struct causes *c, const EVENT_RECORD *e, uint32_t pid, uint64_t time, uint64_t *ret_site);
uint32_t cause_class(struct causes *c, uint32_t pid, uint64_t address, uint64_t time);
void cause_add(struct cause_sum *s, uint64_t time);
void cause_pair_add(struct causes *c, struct cause_pairs *p, uint32_t a, uint32_t b, uint64_t time);
void cause_pairs_free(struct cause_pairs *p);
/* By a, then b, so that cause_pairs_of() finds them. No more can be added after that. */
void cause_pairs_sort(struct cause_pairs *p);
/* The pairs of `a`, which are beside each other. */
const struct cause_pair *cause_pairs_of(const struct cause_pairs *p, uint32_t a, size_t *ret_count);
/* Numbers of all threads, those of a process beside each other; for the caller to free. NULL: no memory. */
uint32_t *cause_by_process(struct causes *c);
/* Behind the last thread that is of the same process as the one at `from`. */
size_t cause_process_end(const struct causes *c, const uint32_t *order, size_t from);

/* How long the thread ran in what so many of its samples show; 0: it has too few to tell. */
uint64_t cause_sampled(const struct causes *c, const struct cause_thread *t, uint64_t samples);
/* How long the thread was there while the trace was recorded; CAUSE_NOBODY: the process. */
uint64_t cause_presence(struct causes *c, uint32_t pid, uint32_t tid, uint64_t time);
/* Is so much lost of so much worth a line? */
bool cause_counts(const struct causes *c, uint64_t lost, uint64_t of);
/* One of OpenETW's own programs. */
bool cause_is_recorder(struct causes *c, uint32_t pid, uint64_t time);
/* "Thread logger (120) of db (100)" */
#define CAUSE_WHO (2 * KEVENT_THREAD_SIZE)
const char *cause_who(struct causes *c, uint32_t pid, uint32_t tid, uint64_t time, char out[CAUSE_WHO]);
/* "8.1 s", "350 ms" */
#define CAUSE_TIME 32
const char *cause_time(uint64_t time, char out[CAUSE_TIME]);
/* The text follows "Thread … of …" and a space. */
void cause_found(struct causes *c, const struct cause_finding *f, const char *fmt, ...) BASE_PRINTF(3, 4);

/* A wait that is over. */
struct cause_wait {
	uint64_t from, until; /* until it could run again */
	uint32_t in;          /* CAUSE_IN_… */
	uint64_t site;
};
void cause_lock_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w);
void cause_semaphore_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w);
void cause_lock_find(struct causes *c);
void cause_flush_event(struct causes *c, const struct kevent *k);
void cause_flush_find(struct causes *c);
/* The thread, which now has this processor, could have run from then on. */
void cause_neighbour_ready(struct causes *c, const struct cause_thread *t, const struct cause_cpu *cpu, uint64_t from,
			   uint64_t until);
void cause_neighbour_find(struct causes *c);
void cause_fault_find(struct causes *c);
void cause_peer_event(struct causes *c, const EVENT_RECORD *e, const struct kevent *k);
/* A wait in CAUSE_IN_ACCEPT or CAUSE_IN_LOCAL. */
void cause_local_wait(struct causes *c, struct cause_thread *t, const struct cause_wait *w);
void cause_local_find(struct causes *c);
void cause_peer_find(struct causes *c);
void cause_peer_free(struct causes *c);
void cause_gc_event(struct causes *c, const EVENT_RECORD *e);
void cause_gc_find(struct causes *c);

#endif
