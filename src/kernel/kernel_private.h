/* SPDX-License-Identifier: MIT
 * Shared by the files of kernel.
 */
#ifndef KERNEL_KERNEL_PRIVATE_H
#define KERNEL_KERNEL_PRIVATE_H

#include "kernel/kernel.h"

#include "format/etl_layout.h"
#include "unwind/unwind.h"

#define KERNEL_FRAMES_MAX 192u /* as many as Windows keeps */
#define KERNEL_PID_SYSTEM 4u   /* owner of the kernel's own threads, as there */
#define KERNEL_NO_ID      UINT32_MAX
#define KERNEL_SPACE      0xFFFF000000000000ull /* addresses from here on are the kernel's */
#define KERNEL_DYING      4096u                 /* threads that ended last are known */

/* ---- record --------------------------------------------------------------------------------- */

/* One record under construction, in the caller's memory. */
struct kernel_record {
	uint16_t hook; /* group << 8 | type */
	uint8_t version;
	bool perfinfo;            /* header without process and thread */
	const struct guid *class; /* a full header with this class, as events added by a merge have */
	uint16_t cpu;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t sessions;     /* 0: whoever wants the hook, of this thread */
	bool live;             /* of `sessions`, those that want the hook (others are told as it is said) */
	uint32_t n;            /* bytes of payload */
	uint8_t payload[9216]; /* a path has 4,095 bytes at most */
};
/* Everything but the payload, which is big: for records that come by the million. */
static inline void kernel_record_clear(struct kernel_record *r)
{
	memset(r, 0, offsetof(struct kernel_record, payload));
}
void kernel_put(struct kernel_record *r, uint64_t value, unsigned bytes);
/* UTF-8 to a terminated string of UTF-16 units or of bytes; cut to `max` units. */
void kernel_put_wide(struct kernel_record *r, const char *s, size_t max);
void kernel_put_text(struct kernel_record *r, const char *s, size_t max);
/* Exactly `units` UTF-16 units, filled up with zeros. */
void kernel_put_fixed(struct kernel_record *r, const char *s, size_t units);
/* TOKEN_USER and S-1-22-1-uid, which names Unix users. */
void kernel_put_user(struct kernel_record *r, uint32_t uid);

/* ---- engine --------------------------------------------------------------------------------- */

struct kernel_perf;
struct kernel_perf_record;
struct kernel_tracepoints;
struct kernel_table;
struct kernel_processes;
struct kernel_thread;
struct kernel_pmc;

/* Something that supplies events. All of it on the engine's thread; `state` is the source's own. */
struct kernel_source {
	const char *name;
	/* Cheap: is it there? *ret_can: the bits it can supply. A failure leaves the engine without
	 * it; what it says in `d` is told whoever asks for those bits. */
	int (*open)(struct kernel *k, void **ret_state, struct kernel_mask *ret_can, struct diag *d);
	/* What is wanted has changed: kernel_wants(), kernel_wants_stack(). To say that single bits cannot be had after
	 * all: kernel_cannot(). */
	void (*update)(struct kernel *k, void *state);
	/* Puts out what has come; true: something had. */
	bool (*drain)(struct kernel *k, void *state);
	/* What sessions that begin or end must be told beside processes. NULL: nothing. */
	void (*rundown)(struct kernel *k, void *state, uint64_t sessions, bool end);
	void (*close)(struct kernel *k, void *state);
};
#define KERNEL_SOURCES_MAX 8u
extern const struct kernel_source kernel_source_memory, kernel_source_packets, kernel_source_marks;

struct kernel_naming;
struct kernel_slot {
	bool used;
	struct kernel_session want;
	struct kernel_naming *naming; /* this is being looked up for it: it ends, or */
	bool explaining;              /* it goes on, see kernel_explain() */
	struct unwind_stats before;   /* when it began: what was not kept since then is said */
	uint64_t jits_before;
	char shortage[400]; /* when it has ended: what was not kept, a line each */
};

struct kernel {
	struct kernel_engine_options o;
	struct kernel_output out;
	struct kernel_perf *perf;
	struct kernel_perf_record *ahead; /* the next record, when `has` */
	bool has;
	struct kernel_walk *walk;
	struct kernel_tracepoints *tracepoints; /* BPF */
	struct kernel_table *threads;
	struct kernel_processes *processes;
	struct kernel_pmc *pmc;
	struct kernel_stats stats;
	/* What kernel_out did last: a stack that follows belongs to it. */
	uint16_t last_hook;
	uint64_t last_sessions;
	uint64_t cpu_at_start;
	uint32_t self[3];
	int wake_fd;
	uint64_t watermark;

	struct kernel_slot slot[KERNEL_SESSIONS_MAX];
	uint64_t active;            /* slots in use */
	uint64_t filtered;          /* of which those for some processes only */
	uint64_t follow;            /* of which those for their children too */
	uint64_t confined;          /* of which those of users, for what is theirs */
	uint64_t forgetful;         /* of which those that overwrite what is oldest */
	struct kernel_ended *ended; /* for them; NULL: nothing yet */
	uint64_t explained;         /* what is put out now explains what this one has, see kernel_explain() */
	bool confine_due;           /* whose processes are is to be found out again */
	uint64_t confined_ns;
	/* By hook: who wants it, with stacks, and with counters. */
	uint64_t want[KERNEL_HOOKS], stack[KERNEL_HOOKS], counted[KERNEL_HOOKS];
	struct kernel_exited {
		uint32_t pid, tid;
		uint64_t watchers;
	} * exited; /* by processor: the last thread that ended there */
	/* Threads whose end was told, by their number; see kernel_ended_seen(). */
	struct kernel_dying {
		uint32_t pid, tid;
		uint64_t seen; /* its last event; 0: none since its end */
	} dying[KERNEL_DYING];
	uint32_t cpus;
	const uint64_t *values; /* of the engine's counters, at what is being put out; NULL: not known */

	void *source_state[KERNEL_SOURCES_MAX];
	bool source_open[KERNEL_SOURCES_MAX];
	struct kernel_mask can, cannot;
	struct diag why_not;   /* the first reason */
	char packets_why[160]; /* there are none, though somebody wants them */
	char rights[256];      /* that are missing to know all there is */
	char *missing;
};

/* Sessions that want this hook at all, or with stacks. */
static inline uint64_t kernel_wants(const struct kernel *k, uint16_t hook)
{
	return k->want[hook];
}
static inline uint64_t kernel_wants_stack(const struct kernel *k, uint16_t hook)
{
	return k->want[hook] & k->stack[hook];
}
/* The same, of one thread: sessions for other processes do not count. */
uint64_t kernel_wants_of(struct kernel *k, uint16_t hook, uint32_t tid);
/* Sessions whose masks have one of these bits; those whose processes this is one of. */
uint64_t kernel_masked(const struct kernel *k, uint32_t bits);
uint64_t kernel_watchers(const struct kernel *k, uint32_t pid);
/* Does any session want one of these bits (KERNEL_BIT_*)? */
static inline bool kernel_wants_bits(const struct kernel *k, uint32_t bits)
{
	return kernel_masked(k, bits) != 0;
}
/* This process, or the daemon it works for: what they do is not traced. */
static inline bool kernel_is_self(const struct kernel *k, uint32_t pid)
{
	return pid != 0 && (pid == k->self[0] || pid == k->self[1] || pid == k->self[2]);
}
/* Whoever asked for the session that begins does not want it any more. */
static inline bool kernel_given_up(const struct kernel *k)
{
	return k->o.give_up && k->o.give_up();
}
/* To whoever wants it. Short headers; times in nanoseconds of CLOCK_MONOTONIC. */
void kernel_out(struct kernel *k, const struct kernel_record *r);
/* The stack of an event that has been put out: to those `sessions`. Innermost frame first. */
void kernel_out_stack(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t event_time, uint64_t time,
		      uint32_t pid, uint32_t tid, const uint64_t *frames, uint32_t count);
/* A record of a manifest provider: id, version, channel, level, opcode, task, keywords in 16 bytes. */
void kernel_out_event(struct kernel *k, uint64_t sessions, const struct guid *provider, const uint8_t descriptor[16],
		      uint32_t pid, const uint8_t *payload, uint32_t bytes);
/* Events of that hook that a full ring did not take; hook 0: of any. Counted, and told to the sessions
 * that wanted it: `what` on which processor (KERNEL_NO_ID: unknown). */
void kernel_lost(struct kernel *k, uint16_t hook, uint32_t cpu, const char *what, uint64_t events);
/* Rundowns take long, and meanwhile the rings must not fill: puts out what has come. Returns the time
 * that records of a rundown have then, not before what was put out and not after what comes. */
uint64_t kernel_breathe(struct kernel *k);
/* A whole record, to those sessions. */
void kernel_put_out(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head,
		    uint32_t head_bytes, const void *body, uint32_t body_bytes);

/* Ends of processes, threads and images, and names of threads, for sessions that forget (kernel_ended.c). */
bool kernel_ended_is(uint16_t hook);
void kernel_ended_keep(struct kernel *k, uint64_t sessions, uint16_t cpu, uint64_t time, uint32_t pid, const void *head,
		       uint32_t head_bytes, const void *body, uint32_t body_bytes);
/* Says those again that the session has forgotten: last of all, for everything makes it forget. */
void kernel_ended_say(struct kernel *k, uint32_t slot);
/* A thread's end has been told, and its entry in k->threads is gone. But it may run on for long: since Linux 6.16 the
 * kernel tells the end before it takes the memory of a program apart. So there may be events of a thread after its end;
 * kernel_ended_seen() remembers that, and such an end is told as long as those events are there. */
void kernel_ended_thread(struct kernel *k, uint32_t pid, uint32_t tid);
void kernel_ended_seen(struct kernel *k, uint32_t tid, uint64_t time);
/* The number belongs to a new thread. */
void kernel_ended_not(struct kernel *k, uint32_t tid);
/* Which processes the session sees. */
void kernel_emit_filter(struct kernel *k, uint32_t slot);
/* These bits cannot be had on this machine. */
void kernel_cannot(struct kernel *k, uint32_t bits, const char *fmt, ...) BASE_PRINTF(3, 4);
/* What this thread is known as; added when it was not known. */
struct kernel_thread *kernel_thread_of(struct kernel *k, uint32_t tid, uint32_t pid);

/* ---- sessions of users without rights (kernel_confine.c) ---------------------------------------- */

struct kernel_process;
/* Of these sessions, all or those confined ones that may have this record. */
uint64_t kernel_confine(struct kernel *k, const struct kernel_record *r, uint64_t sessions);
uint64_t kernel_confine_stack(struct kernel *k, uint64_t sessions, uint32_t pid, uint64_t time);
/* Whose processes this one is of: confined sessions. */
uint64_t kernel_confined_to(const struct kernel *k, const struct kernel_process *p);
/* Finds out whose it is, if that is to be known and is not. */
void kernel_confine_learn(struct kernel *k, struct kernel_process *p);
/* Nobody's, if it does not belong to its known user any more. */
void kernel_confine_check(struct kernel *k, struct kernel_process *p);
/* Something was missed: nothing is anybody's until whose it is has been found out again. */
void kernel_confine_again(struct kernel *k);
void kernel_confine_tick(struct kernel *k);

/* ---- what perf says, as events ---------------------------------------------------------------- */

struct kernel_perf_record;
/* A thread leaves a processor to another: by perf or by BPF. */
struct kernel_switch {
	uint16_t cpu;
	uint64_t time, sessions;
	uint32_t prev, prev_pid, next;
	uint8_t prev_prio, next_prio;
	uint8_t wait;   /* KWAIT_REASON of an ordinary wait */
	uint64_t state; /* prev_state of sched_switch: bits */
};
#define KERNEL_WAIT_USER_REQUEST 6u
void kernel_on_switch(struct kernel *k, const struct kernel_switch *s, const uint64_t *frames, uint32_t count);
/* What woke a thread; as ReadyThread says it in its last byte. */
enum kernel_waker { KERNEL_BY_THREAD, KERNEL_BY_INTERRUPT, KERNEL_BY_SOFTIRQ, KERNEL_BY_TIMER };
struct kernel_waking {
	uint16_t cpu;
	uint64_t time, sessions;
	uint32_t pid, tid, woken; /* who ran: the waker, or whom what woke it interrupted */
	enum kernel_waker waker;
};
void kernel_on_waking(struct kernel *k, const struct kernel_waking *w, const uint64_t *frames, uint32_t count);
void kernel_on_record(struct kernel *k, struct kernel_perf_record *p);
void kernel_emit_masks(struct kernel *k, uint64_t sessions, uint16_t hook, const struct kernel_mask *m);
void kernel_emit_interval(struct kernel *k, uint64_t sessions, uint16_t hook, uint32_t old_us);
void kernel_emit_plain(struct kernel *k, uint64_t sessions, uint16_t hook);

enum {
	KERNEL_HOOK_MASKS = 0x0005,
	KERNEL_HOOK_RUNDOWN_DONE = 0x0008,
	KERNEL_HOOK_MASKS_END = 0x0020,
	KERNEL_HOOK_PROCESS_START = 0x0301,
	KERNEL_HOOK_CSWITCH = 0x0524,
	KERNEL_HOOK_READY_THREAD = 0x0532,
	KERNEL_HOOK_SAMPLE = 0x0F2E,
	KERNEL_HOOK_PMC_SAMPLE = 0x0F2F,
	KERNEL_HOOK_PMC_CONFIG = 0x0F30,
	KERNEL_HOOK_INTERVAL = 0x0F48,
	KERNEL_HOOK_INTERVAL_DC = 0x0F49,
	KERNEL_HOOK_INTERVAL_END = 0x0F4A,
};

/* ---- perf ------------------------------------------------------------------------------------ */

enum kernel_event_kind { /* of a sample, by the event it came from */
			 KERNEL_EV_NONE,
			 KERNEL_EV_CPU,
			 KERNEL_EV_SWITCH,
			 KERNEL_EV_WAKING,
			 KERNEL_EV_PMC, /* as many as there are sources of samples */
			 KERNEL_EV_COUNT = KERNEL_EV_PMC + (int)PMC_SAMPLED_MAX,
};

/* One perf record, taken apart. */
struct kernel_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	enum kernel_event_kind kind;
	uint64_t time;
	uint16_t cpu;
	uint32_t pid, tid;
	uint64_t ip;
	const uint8_t *body; /* of other than samples: after the header */
	uint32_t body_bytes;
	const uint8_t *raw; /* of tracepoints */
	uint32_t raw_bytes;
	bool user; /* registers and stack of user mode are there */
	struct unwind_regs regs;
	const uint8_t *stack; /* memory at the stack pointer */
	uint32_t stack_bytes;
	uint32_t reads; /* counters that came with a sample of the timer, in the order in which they joined it */
	uint64_t read[8];
	uint32_t frames;
	uint64_t frame[KERNEL_FRAMES_MAX]; /* without context markers, innermost first */
};

/* Which kinds of samples the rings bring, and which of them with stacks. */
struct kernel_perf_plan {
	bool on[KERNEL_EV_COUNT], stack[KERNEL_EV_COUNT];
	uint32_t interval_us;
	bool read; /* samples of the timer bring the counters that joined it (kernel_perf_leader) */
	struct kernel_perf_source {
		uint32_t id, type, period;
		uint64_t config[3];
	} pmc[PMC_SAMPLED_MAX];
};
/* How user stacks come with those: the kernel follows frame pointers, or copies so many bytes. */
struct kernel_perf_stacks {
	bool frame_pointers;
	uint32_t bytes; /* 0: as many as suit the kind */
};
/* Rings with the stream of forks, mappings and exits, running. */
int kernel_perf_open(uint32_t ring_pages, const struct kernel_perf_stacks *stacks, struct kernel_perf **ret,
		     struct diag *d);
/* Opens and closes events of the rings. On failure the earlier plan is in force. Records of events
 * that are closed by it and still lie in the rings are dropped: drain before. */
int kernel_perf_update(struct kernel_perf *p, const struct kernel_perf_plan *plan, struct diag *d);
/* Waits until a ring is part full, or `fd` (-1: none) is readable. */
void kernel_perf_wait(struct kernel_perf *p, int fd, int timeout_ms);
/* The next record of all rings in the order of time, valid until the next call; false: none left of
 * those that were there when kernel_perf_begin was called. */
void kernel_perf_begin(struct kernel_perf *p);
bool kernel_perf_next(struct kernel_perf *p, struct kernel_perf_record *ret);
/* A field of a tracepoint's raw data, by name; 0 when this kernel does not have it. */
uint64_t kernel_perf_field(const struct kernel_perf *p, const struct kernel_perf_record *r, unsigned field);
/* Of a sample of kind KERNEL_EV_PMC and more: the source's number. */
uint32_t kernel_perf_source_of(const struct kernel_perf *p, enum kernel_event_kind kind);
/* The timer's event on a processor, which counters join; -1: none. *ret_generation changes when it is another. */
int kernel_perf_leader(const struct kernel_perf *p, uint32_t cpu, uint32_t *ret_generation);
enum kernel_switch_field {
	SWITCH_PREV_PID,
	SWITCH_PREV_PRIO,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_PID,
	SWITCH_NEXT_PRIO,
	WAKING_PID,
	WAKING_FLAGS,
	KERNEL_FIELDS
};
void kernel_perf_close(struct kernel_perf *p);

/* ---- BPF programs on tracepoints, as one source (kernel_bpf.h) ---------------------------------- */

struct kbpf_record;
/* Cheap: programs are loaded when something is wanted of them. */
int kernel_tracepoints_open(struct kernel *k, struct kernel_tracepoints **ret);
/* Bits that programs of this build supply. */
void kernel_tracepoints_can(const struct kernel_tracepoints *s, struct kernel_mask *inout_can);
/* Sessions, their hooks, stacks or processes have changed: loads and attaches what is wanted now, which
 * takes a while, and says what cannot be had. Records go by the old wants until begin. */
void kernel_tracepoints_prepare(struct kernel_tracepoints *s);
void kernel_tracepoints_begin(struct kernel_tracepoints *s);
/* Is this hook of Windows' brought by a program, where perf could bring it as well? */
bool kernel_tracepoints_replace_perf(const struct kernel_tracepoints *s, uint16_t windows);
/* What areas know of what was there before, for those sessions. */
void kernel_tracepoints_rundown(struct kernel_tracepoints *s, uint64_t sessions, bool end);
/* What programs wrote until then, of all processors in the order of time: what a file is called may
 * have been said on another one. First drain_begin, then drain what is older than `before`; true: something
 * was. */
void kernel_tracepoints_drain_begin(struct kernel_tracepoints *s, uint64_t until);
bool kernel_tracepoints_drain(struct kernel_tracepoints *s, uint64_t before, uint64_t until);
/* Counts what rings did not take, now and then or for certain. */
void kernel_tracepoints_losses(struct kernel_tracepoints *s, bool now_at_last);
size_t kernel_tracepoints_loss_list(const struct kernel_tracepoints *s, struct kernel_loss *ret, size_t cap);
/* A process began, or ended, for programs that follow children. */
void kernel_tracepoints_forked(struct kernel_tracepoints *s, uint32_t parent, uint32_t pid);
void kernel_tracepoints_ended(struct kernel_tracepoints *s, uint32_t pid);
/* Is there a program that serves a hook of ours (kernel_bpf.h)? */
bool kernel_tracepoints_serves(const struct kernel_tracepoints *s, unsigned hook);
/* Is there one that makes this hook of Windows', and so can read counters with it? */
bool kernel_tracepoints_make(const struct kernel_tracepoints *s, uint16_t windows);
/* Does it tell of what happened at that time? */
bool kernel_tracepoints_tells(const struct kernel_tracepoints *s, unsigned hook, uint64_t time);
/* What is wanted and cannot be had, a line each. */
const char *kernel_tracepoints_missing(const struct kernel_tracepoints *s);
/* Confined sessions watch this process, or no longer. */
void kernel_tracepoints_owned(struct kernel_tracepoints *s, uint32_t pid, uint64_t sessions);
/* These sessions have ended: what they watched is nobody's. */
void kernel_tracepoints_unwatch(struct kernel_tracepoints *s, uint64_t sessions);
void kernel_tracepoints_close(struct kernel_tracepoints *s);

/* ---- counters (kernel_pmc.c) ------------------------------------------------------------------- */

#define KERNEL_COUNTERS_MAX 8u /* of all sessions */
struct kernel_bpf;
int kernel_pmc_create(struct kernel_pmc **ret);
void kernel_pmc_destroy(struct kernel_pmc *p);
/* Sessions, or what they count, have changed: opens and closes counters. */
void kernel_pmc_update(struct kernel *k);
/* To the programs, by processor. */
void kernel_pmc_tell(const struct kernel_pmc *p, struct kernel_bpf *b);
/* From that time on programs read what was told. */
void kernel_pmc_begin(struct kernel_pmc *p, uint64_t now);
/* The values that a session's record of that time has: how many, into `ret`; 0: none yet. */
uint32_t kernel_pmc_values(const struct kernel *k, uint32_t slot, uint64_t time, const uint64_t *values,
			   uint64_t ret[PMC_COUNTERS_MAX]);
/* Those of `sessions` that count the same as the one in that slot. */
uint64_t kernel_pmc_same(const struct kernel *k, uint64_t sessions, uint32_t slot);
/* What is to be sampled from the next update on. */
int kernel_pmc_choose(struct kernel *k, const struct kernel_sampled *s, uint32_t count, struct diag *d);
/* What samples are taken by beside the timer, as far as it can be had. */
uint32_t kernel_pmc_plan(struct kernel *k, struct kernel_perf_source ret[PMC_SAMPLED_MAX]);
/* After the rings are as they are to be: counters join samples, when those are to have them. */
void kernel_pmc_join(struct kernel *k, bool read);
/* Their values at a sample, by place; NULL: it has none. */
const uint64_t *kernel_pmc_of_sample(struct kernel *k, const struct kernel_perf_record *p);
/* Says what is to be counted and cannot be, for want of a program. */
void kernel_pmc_check(struct kernel *k);
/* Names of counters, and intervals of sources, to sessions that begin or end. */
void kernel_pmc_rundown(struct kernel *k, uint64_t sessions, uint16_t interval_hook);
/* What cannot be counted, a line each; "" for nothing. */
const char *kernel_pmc_missing(const struct kernel_pmc *p);

/* ---- what is known of processes ---------------------------------------------------------------- */

struct kernel_thread {
	uint32_t tid, pid; /* pid as reported: KERNEL_PID_SYSTEM for the kernel's threads */
	uint64_t out_time; /* when it was last switched out, 0 unknown */
	uint32_t frames;   /* its stack at that moment */
	uint32_t room;     /* frames that fit */
	uint64_t *frame;
	uint64_t watchers; /* sessions for some processes, of which this one's */
	bool in_exec;      /* and has not been seen in the new program yet */
};
struct kernel_table *kernel_table_create(void);
void kernel_table_destroy(struct kernel_table *t);
struct kernel_thread *kernel_table_find(struct kernel_table *t, uint32_t tid);
struct kernel_thread *kernel_table_add(struct kernel_table *t, uint32_t tid, uint32_t pid); /* NULL: no memory */
void kernel_table_remove(struct kernel_table *t, uint32_t tid);
void kernel_table_each(const struct kernel_table *t, void (*fn)(void *ctx, const struct kernel_thread *t), void *ctx);
void kernel_table_unwatch(struct kernel_table *t, uint64_t sessions);

/* ---- rights ---------------------------------------------------------------------------------- */

/* What cannot be looked at and which capability it takes, a line each; "" for nothing. */
void kernel_rights_say(char *out, size_t cap);

/* ---- rundown --------------------------------------------------------------------------------- */

/* Every process with its threads and images, and the kernel with its modules, to those sessions that
 * want them; as DCStart or DCEnd. */
int kernel_rundown(struct kernel *k, uint64_t sessions, bool end);
/* One thread. sessions 0: who wants it. Processes and images: kernel_process.h. */
void kernel_emit_thread(struct kernel *k, uint64_t sessions, uint16_t hook, uint64_t time, uint16_t cpu, uint32_t pid,
			uint32_t tid, const char *name);
uint32_t kernel_reported_pid(uint32_t pid); /* reads /proc: a kernel thread? */

#endif
